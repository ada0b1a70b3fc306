// Package redirect reads the redirects of a site's configuration: when a source
// is a pattern, which paths it matches, and what a destination becomes by that.
// Links are resolved with it during an export, and requests answered with it by
// a server, so that both lead to the same place.
//
// A source is a path of elements. ":name" is one element, ":name*" and ":name+"
// any number of them, and "*" at the end of an element any rest, slashes too.
// Only the first that takes any number is one. What an expression after a name
// allows, as in ":id(\\d+)", is not looked at, except "(.*)" and "(.+)", which
// take any number. Everything else represents itself: the star in "/a*b" is a
// star. A "?" after the last name makes it optional.
//
//	redirect.go  Source, Pattern: parse, compile, match, fill
package redirect

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// MaxHops bounds a chain of redirects; browsers give up after about as many.
const MaxHops = 20

// Source is the source of a redirect, taken apart.
type Source struct {
	// Path is unescaped and has no slashes at its ends.
	Path string
	// Query and Fragment are what links must have besides, as written.
	Query, Fragment string
	// Optional reports that the path's last element may be missing.
	Optional bool
}

// Parse takes a source apart. Escapes that can't be read stay as written.
func Parse(source string) Source {
	var s Source
	source, s.Fragment, _ = strings.Cut(source, "#")
	source, query, asked := strings.Cut(source, "?")
	s.Query = query
	if plain, err := url.PathUnescape(source); err == nil {
		source = plain
	}
	s.Path = strings.Trim(source, "/")
	if asked && query == "" {
		name, _ := parameter(s.Path[strings.LastIndexByte(s.Path, '/')+1:])
		s.Optional = name != ""
	}
	return s
}

// Short returns the path and the destination of a redirect whose optional last
// element is missing.
func (s Source) Short(destination string) (path, to string) {
	i := strings.LastIndexByte(s.Path, '/')
	name, _ := parameter(s.Path[i+1:])
	last := Pattern{Elements: []Element{{Name: name}}, Rest: -1}
	return s.Path[:max(i, 0)], last.Fill(destination, []string{""})
}

// Pattern represents the paths of a source with wildcards. An expression would
// do the same, and take twenty times the memory: sites that moved have
// thousands.
type Pattern struct {
	Elements []Element
	// Rest is the index of the element that takes any number, -1 for none.
	Rest int
}

// Element is one element of a pattern.
type Element struct {
	// Name is what the matched text goes by, "*" for a rest without a name, and
	// empty for an element that represents itself.
	Name string
	// Literal is what must be there, and before a rest what it begins with.
	Literal string
}

// Compile reads a path such as "docs/:version/api/:rest*". It is not ok if the
// path has no wildcard and so represents itself alone.
func Compile(path string) (p Pattern, ok bool) {
	p.Rest = -1
	if !strings.ContainsAny(path, ":*") {
		return p, false
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	p.Elements = make([]Element, len(parts))
	for i, part := range parts {
		name, many := parameter(part)
		prefix, star := strings.CutSuffix(part, "*")
		e := Element{Literal: part}
		switch {
		case name != "" && !many:
			e = Element{Name: name}
		case name != "" && p.Rest < 0: // may be nothing at all, and no slash then
			e, p.Rest = Element{Name: name}, i
		case name == "" && star && p.Rest < 0:
			e, p.Rest = Element{Name: "*", Literal: prefix}, i
		}
		p.Elements[i] = e
		ok = ok || e.Name != ""
	}
	return p, ok
}

// parameter reads ":name", ":name*", ":name+" and ":name(expression)"; the name
// is empty for any other element. many reports that it takes any number
// of elements.
func parameter(element string) (name string, many bool) {
	name, ok := strings.CutPrefix(element, ":")
	if !ok || name == "" {
		return "", false
	}
	if i := strings.IndexByte(name, '('); i > 0 {
		return name[:i], strings.HasPrefix(name[i:], "(.*)") || strings.HasPrefix(name[i:], "(.+)")
	}
	if last := len(name) - 1; last > 0 && (name[last] == '*' || name[last] == '+') {
		return name[:last], true
	}
	return name, false
}

// Match reports whether a path without slashes at its ends matches, and returns
// the texts of the elements with names, in their order.
func (p *Pattern) Match(path string) (values []string, ok bool) {
	var parts []string
	if path != "" {
		parts = strings.Split(path, "/")
	}
	if p.Rest >= 0 {
		end := len(parts) - (len(p.Elements) - p.Rest - 1)
		if end < p.Rest {
			return nil, false
		}
		taken, ok := strings.CutPrefix(strings.Join(parts[p.Rest:end], "/"), p.Elements[p.Rest].Literal)
		if !ok {
			return nil, false
		}
		parts = slices.Replace(parts, p.Rest, end, taken)
	}
	if len(parts) != len(p.Elements) {
		return nil, false
	}
	for i, e := range p.Elements {
		switch {
		case i == p.Rest, e.Name != "" && parts[i] != "":
			values = append(values, parts[i])
		case e.Name != "" || e.Literal != parts[i]:
			return nil, false
		}
	}
	return values, true
}

// Fill returns a destination with the values of Match in it: for ":name",
// ":name*" and a "*" at the end of an element of its path, and for ":name" in its
// query and fragment. Elements that become empty are left out. In an absolute address
// the scheme's colon is left alone.
func (p *Pattern) Fill(destination string, values []string) string {
	path, tail := cutTail(destination)
	scheme := ""
	if i := strings.Index(path, "://"); i >= 0 {
		scheme, path = path[:i+3], path[i+3:]
	}
	parts := strings.Split(path, "/")
	filled := parts[:0]
	for _, part := range parts {
		if made := p.fill(part, values); made != "" || part == "" {
			filled = append(filled, made)
		}
	}
	return scheme + strings.Join(filled, "/") + p.fillTail(tail, values)
}

// cutTail divides a destination before its query or fragment.
func cutTail(destination string) (path, tail string) {
	if i := strings.IndexAny(destination, "?#"); i >= 0 {
		return destination[:i], destination[i:]
	}
	return destination, ""
}

// tailName finds the names in a query or fragment.
var tailName = lazy.Regexp(`:([A-Za-z0-9_-]+)[*+]?`)

// tailValue escapes a value so that it stays one value of a query.
var tailValue = strings.NewReplacer("&", "%26", "=", "%3D", "+", "%2B", "#", "%23", "?", "%3F", " ", "%20")

// fillTail is Fill for a query with its question mark, or a fragment.
func (p *Pattern) fillTail(tail string, values []string) string {
	if !strings.Contains(tail, ":") {
		return tail
	}
	return tailName().ReplaceAllStringFunc(tail, func(found string) string {
		name, filled, at := strings.TrimRight(found[1:], "*+"), found, 0
		for _, e := range p.Elements {
			if e.Name == "" {
				continue
			}
			if e.Name == name {
				filled = tailValue.Replace(values[at])
			}
			at++
		}
		return filled
	})
}

// Unknown returns the first name in a destination, as it is written, that the pattern
// does not have. It stays as it is in addresses. Empty means that there is none.
func (p *Pattern) Unknown(destination string) string {
	has := func(name string) bool {
		return slices.ContainsFunc(p.Elements, func(e Element) bool { return e.Name == name })
	}
	path, tail := cutTail(destination)
	if i := strings.Index(path, "://"); i >= 0 {
		path = path[i+3:]
	}
	for part := range strings.SplitSeq(path, "/") {
		if name, _ := parameter(part); name != "" && !has(name) {
			return part
		}
	}
	for _, found := range tailName().FindAllStringSubmatch(tail, -1) {
		if strings.Trim(found[1], "0123456789") != "" && !has(found[1]) { // a number is a port or a time
			return found[0]
		}
	}
	return ""
}

// Inert returns the first element of a path with a name or a star that represents
// itself, because it is only a part of the element: "/pre-:x", "/a*b". Empty means that
// there is none.
func Inert(path string) string {
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name, _ := parameter(part); name != "" {
			continue
		}
		if inert().MatchString(strings.TrimSuffix(part, "*")) {
			return part
		}
	}
	return ""
}

var inert = lazy.Regexp(`:[A-Za-z]|\*`)

// fill is Fill for one element. Of two values with the same name the last counts.
func (p *Pattern) fill(part string, values []string) string {
	filled := part
	name, _ := parameter(part)
	prefix, star := strings.CutSuffix(part, "*")
	star = star && !strings.HasPrefix(part, ":")
	at := 0
	for _, e := range p.Elements {
		if e.Name == "" {
			continue
		}
		if e.Name == "*" && star {
			filled = prefix + values[at]
		} else if e.Name == name {
			filled = values[at]
		}
		at++
	}
	return filled
}
