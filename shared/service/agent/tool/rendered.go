package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	basehtml "github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/css"
)

// Seen collects the hosts and the code in files of a bundle, read as browsers read them.
// The zero value is empty and ready to use.
type Seen struct {
	// Hosts are the hosts of other sites.
	Hosts map[string]bool
	// Code describes what browsers run, by a digest of its text.
	Code map[string]string
}

func (s *Seen) host(text string, lists bool) {
	for _, t := range []string{text, address(text)} {
		for _, m := range hostsIn(t, lists) {
			if s.Hosts == nil {
				s.Hosts = map[string]bool{}
			}
			s.Hosts[m.text] = true
		}
	}
}

func (s *Seen) code(kind, text string) {
	if s.Code == nil {
		s.Code = map[string]string{}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", kind, text))
	s.Code[hex.EncodeToString(sum[:])] = kind
}

// Add adds what another Seen has.
func (s *Seen) Add(other Seen) {
	if s.Hosts == nil {
		s.Hosts = map[string]bool{}
	}
	if s.Code == nil {
		s.Code = map[string]string{}
	}
	maps.Copy(s.Hosts, other.Hosts)
	maps.Copy(s.Code, other.Code)
}

// Script adds a script that readers' browsers run. What it computes can't be known, so
// it counts as code as a whole.
func (s *Seen) Script(kind string, src []byte) {
	s.host(string(src), true)
	s.code(kind, string(src))
}

// Sheet adds a style sheet.
func (s *Seen) Sheet(sheet []byte) {
	for a := range css.Addresses(sheet) {
		s.host(a, true)
	}
	// Some functions, such as image-set, take addresses in strings.
	s.host(string(sheet), true)
}

// Classes adds the class names of a page, which may have addresses in them.
func (s *Seen) Classes(names []string) {
	for _, name := range names {
		s.host(name, true)
	}
}

// maxNested is how many documents within documents are read.
const maxNested = 4

// Document adds an HTML document, or a picture of SVG.
func (s *Seen) Document(doc []byte) { s.document(doc, maxNested) }

func (s *Seen) document(doc []byte, depth int) {
	if depth == 0 {
		s.code("a document in a document", string(doc))
		return
	}
	root, err := html.Parse(bytes.NewReader(doc))
	if err != nil { // deeper than any document of ours: read it as text
		s.code("a document that can't be read", string(doc))
		s.host(string(doc), true)
		return
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			s.element(n, depth)
		}
	}
}

// refresh finds the address of a document that takes the place of another one.
var refresh = lazy.Regexp(`(?is)^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?["']?(.*)$`)

func (s *Seen) element(n *html.Node, depth int) {
	name := strings.ToLower(n.Data)
	attrs := map[string]string{}
	for _, a := range n.Attr {
		key := strings.ToLower(a.Key)
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		attrs[key] = a.Val
		s.attribute(name, key, a.Val, depth)
	}
	switch name {
	case "style":
		s.Sheet([]byte(inner(n)))
	case "script":
		kind := strings.ToLower(strings.TrimSpace(attrs["type"]))
		switch text := inner(n); {
		case attrs["src"] != "" && strings.TrimSpace(text) == "":
			s.loaded(attrs["src"])
		case runsAs(kind):
			s.Script("an inline script", []byte(text))
		case kind != "application/ld+json": // which describes the page to search engines
			s.host(text, false)
		}
	case "noscript": // a browser that runs no scripts reads it
		s.document([]byte(inner(n)), depth-1)
	case "iframe", "frame", "object", "embed", "portal":
		s.code("<"+name+">", attrs["src"]+attrs["data"]+attrs["srcdoc"])
	case "meta":
		if strings.EqualFold(strings.TrimSpace(attrs["http-equiv"]), "refresh") {
			if m := refresh().FindStringSubmatch(attrs["content"]); m != nil {
				s.host(m[1], true)
				s.runs(m[1])
			}
		}
	}
	if isMermaid(n) {
		s.host(inner(n), true)
	}
}

// loaded adds a script that an element loads from another site.
func (s *Seen) loaded(src string) {
	other := Seen{}
	other.host(src, true)
	if len(other.Hosts) > 0 {
		s.code("a script of "+strings.Join(slices.Sorted(maps.Keys(other.Hosts)), ", "), src)
	}
}

// isMermaid reports whether an element has the text of a drawing, which may have links.
func isMermaid(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "class" && slices.Contains(strings.Fields(a.Val), "mermaid") {
			return n.Type == html.ElementNode
		}
	}
	return false
}

// runsAs reports whether browsers run the text of a script element of this type.
func runsAs(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return kind == "" || kind == "module" || kind == "importmap" || kind == "speculationrules" ||
		strings.Contains(kind, "javascript") || strings.Contains(kind, "ecmascript") || strings.Contains(kind, "jscript")
}

func (s *Seen) attribute(element, key, value string, depth int) {
	switch {
	case key == "xmlns" || strings.HasPrefix(key, "xmlns:"): // a name, which nobody loads
	case len(key) > 2 && strings.HasPrefix(key, "on"):
		s.Script("the attribute "+key, []byte(value))
	case key == "style":
		s.Sheet([]byte("a{" + value + "}"))
	case key == "srcdoc":
		s.document([]byte(value), depth-1)
	case key == "content" && element == "meta":
		s.whole(value) // the rest of a text leads nowhere
	case loads()[key], animates(element, key):
		s.host(value, true)
		s.runs(value)
	default: // a presentation attribute of SVG, or one that a script may read
		s.whole(value)
		if strings.Contains(value, "(") {
			for a := range css.Addresses([]byte("a{b:" + value + "}")) {
				s.host(a, true)
			}
		}
	}
}

// animates reports whether an attribute has values that an animation of SVG gives another
// attribute, such as an address.
func animates(element, key string) bool {
	return (element == "set" || strings.HasPrefix(element, "animate")) && (key == "to" || key == "from" || key == "by" || key == "values")
}

// wholeAddress matches a text that is an address of another site, or a list of them.
var wholeAddress = lazy.Regexp(`(?i)^(?:(?:https?|wss?|ftp):|[/\\]{2})`)

// whole adds the hosts of a text that is an address.
func (s *Seen) whole(text string) {
	if a := address(text); wholeAddress().MatchString(a) {
		s.host(a, true)
	}
}

// runs adds an address that runs code.
func (s *Seen) runs(value string) {
	if value != "data:," && !basehtml.SafeURL(value) { // that one is an empty picture
		s.Script("an address that runs code", []byte(value))
	}
}

// inner returns the text in an element, as it is written for elements with raw text.
func inner(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// Named returns those of hosts that a repository names in links, pictures and files.
func Named(base Base, hosts []string) map[string]bool {
	left := map[string]bool{}
	for _, h := range hosts {
		left[h] = true
	}
	named := maps.Clone(left)
	unnamed(base, left)
	for h := range left {
		delete(named, h)
	}
	return named
}
