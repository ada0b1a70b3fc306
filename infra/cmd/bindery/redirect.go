package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"

	"github.com/bindery-docs/bindery/shared/bundle"
)

// redirectRule is a redirect of a bundle. A redirect from one address is a
// page of the bundle already, where a file can have its name; those with
// patterns are what needs a server.
type redirectRule struct {
	from  *regexp.Regexp
	names []string // what the groups of from stand for in to
	to    string
}

// readRedirects reads the redirects of an unpacked bundle: none of a folder
// without a description.
func readRedirects(site fs.FS) ([]redirectRule, error) {
	raw, err := fs.ReadFile(site, bundle.InfoPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var info bundle.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.InfoPath, err)
	}
	var rules []redirectRule
	for _, r := range info.Redirects {
		rule, err := newRedirectRule(r)
		if err != nil {
			return nil, fmt.Errorf("%s: the redirect from %q: %w", bundle.InfoPath, r.From, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// newRedirectRule reads a source such as "/docs/:version/api/:rest*": ":name"
// is one element, ":name*" any number of them, and "*" at the end of an
// element any rest. Only the first that takes any number is one.
func newRedirectRule(r bundle.Redirect) (redirectRule, error) {
	rule := redirectRule{to: r.To}
	var b strings.Builder
	b.WriteString("^")
	rest := false
	for element := range strings.SplitSeq(strings.Trim(r.From, "/"), "/") {
		name, isName := strings.CutPrefix(element, ":")
		prefix, isRest := strings.CutSuffix(element, "*")
		isRest = isRest && !rest
		switch {
		case isRest && (isName || prefix == ""): // may be nothing at all, and no slash then
			rule.names = append(rule.names, strings.TrimSuffix(name, "*"))
			b.WriteString("(?:/(.*))?")
		case isRest:
			rule.names = append(rule.names, "")
			b.WriteString("/" + regexp.QuoteMeta(prefix) + "(.*)")
		case isName && name != "":
			rule.names = append(rule.names, name)
			b.WriteString("/([^/]+)")
		default:
			b.WriteString("/" + regexp.QuoteMeta(element))
		}
		rest = rest || isRest
	}
	b.WriteString("$")
	var err error
	rule.from, err = regexp.Compile(b.String())
	return rule, err
}

// follow gives the address that the first redirect leads to from a path
// without slashes at its ends.
func follow(rules []redirectRule, path string) (string, bool) {
	for _, rule := range rules {
		if m := rule.from.FindStringSubmatch("/" + path); m != nil {
			return rule.destination(m[1:]), true
		}
	}
	return "", false
}

// destination puts what was matched into the destination.
func (r *redirectRule) destination(values []string) string {
	scheme, to := "", r.to
	if i := strings.Index(to, "://"); i >= 0 {
		scheme, to = to[:i+3], to[i+3:]
	}
	var out []string
	for element := range strings.SplitSeq(to, "/") {
		made := element
		for i, name := range r.names {
			value := (&url.URL{Path: values[i]}).EscapedPath()
			switch {
			case name == "" && strings.HasSuffix(element, "*") && !strings.HasPrefix(element, ":"):
				made = strings.TrimSuffix(element, "*") + value
			case name != "" && (element == ":"+name || element == ":"+name+"*"):
				made = value
			}
		}
		if made != "" || element == "" {
			out = append(out, made)
		}
	}
	if scheme != "" {
		return scheme + strings.Join(out, "/")
	}
	// Never "//host": a path that was asked for must not name a host.
	return "/" + strings.TrimLeft(strings.Join(out, "/"), "/\\")
}
