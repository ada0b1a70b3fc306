// Command sbom writes a software bill of materials of a program, in CycloneDX's
// form: the Go modules that are linked into it, by what its own build information
// says, the Go release, and the JavaScript libraries that package script embeds.
//
//	go run ./infra/sbom bin/bindery bindery.cdx.json
//
// It knows no time and no random number: the same program has the same list.
package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lockFile is what pins the embedded libraries, in the checkout.
const lockFile = "shared/render/script/internal/bundlegen/package-lock.json"

// bom is the part of CycloneDX 1.6 that is used here.
type bom struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	Expression string `json:"expression"`
}

func main() {
	dist := flag.String("dist", "", "the folder that names of files begin at (default: the working directory)")
	version := flag.String("version", "", "the program's version (default: that of its build information)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: sbom [-dist DIR] [-version VERSION] PROGRAM FILE, in the checkout that the program was built from")
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	in := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(*dist, name)
	}
	if err := run(in(flag.Arg(0)), in(flag.Arg(1)), *version); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, out, version string) error {
	list, err := list(program, version)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(list); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// list returns the bill of a program. Its version is that of its build
// information where none is given.
func list(program, version string) (*bom, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	b := &bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	b.Metadata.Component = golang(info.Main.Path, cmp.Or(version, info.Main.Version))
	b.Metadata.Component.Type, b.Metadata.Component.Name = "application", name
	b.Metadata.Component.Licenses = []license{{"Apache-2.0"}}
	b.Components = append(b.Components, golang("std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, golang(m.Path, m.Version))
	}
	if name == "bindery" { // bindery-serve embeds none
		libraries, err := embedded()
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, libraries...)
	}
	return b, nil
}

func golang(path, version string) component {
	purl := "pkg:golang/" + path + "@" + url.PathEscape(version)
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}

// embedded are the JavaScript libraries, with those that they stand on.
func embedded() ([]component, error) {
	raw, err := os.ReadFile(filepath.FromSlash(lockFile))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License string `json:"license"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", lockFile, err)
	}
	var all []component
	for path, p := range lock.Packages {
		_, name, ok := cutLast(path, "node_modules/")
		if !ok || p.Dev {
			continue
		}
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + url.PathEscape(p.Version)
		c := component{Type: "library", Ref: purl, Name: name, Version: p.Version, PURL: purl}
		if p.License != "" {
			c.Licenses = []license{{p.License}}
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New(lockFile + " names no library")
	}
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.PURL, b.PURL) })
	return slices.CompactFunc(all, func(a, b component) bool { return a.PURL == b.PURL }), nil
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(separator):], true
}
