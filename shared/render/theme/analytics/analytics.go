// Package analytics makes the script that brings a site's analytics services to
// its pages: one classic script, with the snippets of the services that are
// configured and of no others. It imports no other room.
//
//	analytics.go  Build: from services and their settings to the script
//	providers.go  the services: settings, hosts
//	providers/    their snippets; loader.js and consent.js stand around them
//
// Settings come from page authors. They are checked by their form, and stand in
// the script as data.
package analytics

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed loader.js consent.js providers
var files embed.FS

// Script is what pages load, and what it loads.
type Script struct {
	// Path is the script's path in a bundle; it carries the content's hash.
	Path string
	Data []byte
	// Sources are what a content security policy must allow besides 'self' for
	// the services, by directive.
	Sources map[string][]string
}

// Problem is why a service does not load.
type Problem struct {
	// Service is its name, as configured.
	Service string
	// Reason completes "the service … is left out: ".
	Reason string
	// Unknown means that this package does not know the service.
	Unknown bool
}

// Services are settings by their names, by the names of services.
type Services map[string]map[string]string

// Build makes the script for services, nil if none of them can load. Problems
// are sorted by service. "cookies" is not a service: it names the entry of the
// browser's local storage that says that a reader agreed.
func Build(services Services) (*Script, []Problem, error) {
	var problems []Problem
	var body bytes.Buffer
	out := &Script{Sources: map[string][]string{}}
	known := providers()
	for _, name := range slices.Sorted(maps.Keys(services)) {
		p, ok := known[name]
		switch {
		case name == "cookies" || name == "telemetry":
			continue // neither loads anything
		case !ok:
			problems = append(problems, Problem{name, "a bundle knows no service of this name", true})
			continue
		}
		settings, reason := p.settings(services[name])
		if reason != "" {
			problems = append(problems, Problem{name, reason, false})
			continue
		}
		if err := addSnippet(&body, name, settings); err != nil {
			return nil, nil, err
		}
		for directive, hosts := range p.sources(settings) {
			for _, h := range hosts {
				if !slices.Contains(out.Sources[directive], h) {
					out.Sources[directive] = append(out.Sources[directive], h)
				}
			}
			slices.Sort(out.Sources[directive])
		}
	}
	if body.Len() == 0 {
		return nil, problems, nil
	}
	loader, err := files.ReadFile("loader.js")
	if err != nil {
		return nil, nil, fmt.Errorf("analytics: %w", err)
	}
	var src bytes.Buffer
	src.WriteString("(function () {\n\"use strict\";\n")
	src.Write(loader)
	if c := services["cookies"]; c["key"] != "" {
		asked, err := files.ReadFile("consent.js")
		if err != nil {
			return nil, nil, fmt.Errorf("analytics: %w", err)
		}
		data, err := json.Marshal(map[string]string{"key": c["key"], "value": c["value"]})
		if err != nil {
			return nil, nil, fmt.Errorf("analytics: %w", err)
		}
		fmt.Fprintf(&src, "var consent = %s;\n%s", data, asked)
	}
	src.Write(body.Bytes())
	src.WriteString("})();\n")
	m := minify.New()
	m.AddFunc("text/javascript", js.Minify)
	if out.Data, err = m.Bytes("text/javascript", src.Bytes()); err != nil {
		return nil, nil, fmt.Errorf("analytics: %w", err)
	}
	sum := sha256.Sum256(out.Data)
	out.Path = "bindery/analytics." + hex.EncodeToString(sum[:6]) + ".js"
	return out, problems, nil
}

// addSnippet adds a service's snippet with its settings as s.
func addSnippet(b *bytes.Buffer, name string, settings map[string]string) error {
	snippet, err := files.ReadFile("providers/" + name + ".js")
	if err != nil {
		return fmt.Errorf("analytics: %w", err)
	}
	// JSON is JavaScript (since ES2019 all of it): a setting stays a string.
	data, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("analytics: %w", err)
	}
	fmt.Fprintf(b, "(function (s) {\n%s})(%s);\n", snippet, data)
	return nil
}
