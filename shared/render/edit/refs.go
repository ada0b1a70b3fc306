package edit

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Ref is an address in a file, with its place.
type Ref struct {
	Span
	// Value is the address as it is understood.
	Value string
	// File is set if it names a file of the sources and not something of the
	// finished site.
	File bool
	// Definition is set where links by reference have their address.
	Definition bool
	// At is where the link or the element begins that has the address, Attr where
	// the attribute does; it is At for a link. Both are zero outside of pages' bodies.
	At, Attr mdx.Pos
}

// addressAttrs are attributes that hold an address, whatever the element; those
// of components are in their own descriptions.
var addressAttrs = map[string]bool{
	"href": true, "src": true, "poster": true, "img": true, "xlinkHref": true, "xlink:href": true, "action": true, "data": true,
}

// IsAddress reports whether an attribute of this name holds an address, whatever the
// element.
func IsAddress(attr string) bool { return addressAttrs[attr] }

// componentAttrs are the attributes of the built-in components that hold
// addresses, or icons, which may be pictures.
var componentAttrs = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, c := range component.Builtin().All() {
		for _, a := range c.Attrs {
			if a.Type == "address" || a.Type == "icon" {
				known[c.Name+" "+a.Name] = true
			}
		}
	}
	return known
})

// IsScript reports whether a file is JavaScript, of which only imports are found.
func IsScript(p string) bool {
	switch path.Ext(p) {
	case ".js", ".jsx", ".mjs", ".ts", ".tsx":
		return true
	}
	return false
}

// Refs returns the addresses in a source by their place: syntax names its file, and
// says how it is read. It omits those whose place is unknown, as in JavaScript.
func Refs(src []byte, syntax mdx.Options) []Ref {
	if IsScript(syntax.File) {
		return scriptRefs(src)
	}
	f, _ := mdx.Parse(src, syntax)
	var all []Ref
	add := func(n *mdx.Node, from, to int, value string) {
		all = append(all, Ref{Span: Span{from, to}, Value: value, At: n.Pos, Attr: n.Pos})
	}
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Link, mdx.Image, mdx.Definition:
			if from, to, ok := n.URLPlace(src); ok {
				add(n, from, to, n.URL)
				all[len(all)-1].Definition = n.Kind == mdx.Definition
			}
		case mdx.ESM:
			for _, r := range importRefs(n.Value) {
				from := n.Pos.Offset + r.From
				if to := n.Pos.Offset + r.To; to <= len(src) && string(src[from:to]) == r.Value {
					add(n, from, to, r.Value)
					all[len(all)-1].File = true
				}
			}
		case mdx.Element:
			for _, a := range n.Attrs {
				file := n.Name == "Snippet" && a.Name == "file"
				if !file && !addressAttrs[a.Name] && !componentAttrs()[n.Name+" "+a.Name] {
					continue
				}
				if from, to, ok := a.ValuePlace(src); ok {
					value := a.Value
					if a.Kind == mdx.AttrExpr {
						value = string(src[from:to])
					}
					add(n, from, to, value)
					all[len(all)-1].File, all[len(all)-1].Attr = file, a.Pos
				}
			}
		}
		return true
	})
	all = append(all, headRefs(src)...)
	slices.SortFunc(all, func(a, b Ref) int { return a.From - b.From })
	// The parser may meet a definition twice; it is one address.
	return slices.CompactFunc(all, func(a, b Ref) bool { return a.From == b.From })
}

// importRefs returns the addresses of the imports in a statement.
func importRefs(statement string) []Ref {
	imports, _, _, _ := expr.ParseModule(statement)
	var all []Ref
	for _, im := range imports {
		for _, quote := range []string{`"`, `'`} {
			if i := strings.Index(statement, quote+im.Path+quote); i >= 0 && im.Path != "" {
				all = append(all, Ref{Span: Span{i + 1, i + 1 + len(im.Path)}, Value: im.Path, File: true})
			}
		}
	}
	return all
}

// scriptImport finds the module that a line of JavaScript imports.
var scriptImport = lazy.Regexp(`(?m)^(?:import|export)\b[^"'\n]*["']([^"'\n]+)["']`)

func scriptRefs(src []byte) []Ref {
	var all []Ref
	for _, m := range scriptImport().FindAllSubmatchIndex(src, -1) {
		all = append(all, Ref{Span: Span{m[2], m[3]}, Value: string(src[m[2]:m[3]]), File: true})
	}
	return all
}

// headAddress finds a line of a page's head that holds an address.
var headAddress = lazy.Regexp(`(?m)^(url|icon|openapi|asyncapi|openapi-schema):[ \t]*["']?([^"'\s]+)`)

// headRefs returns the addresses in a page's head.
func headRefs(src []byte) []Ref {
	yaml, _ := mdx.SplitFrontMatter(src)
	if len(yaml) == 0 {
		return nil
	}
	at := bytes.Index(src, yaml)
	var all []Ref
	for _, m := range headAddress().FindAllSubmatchIndex(yaml, -1) {
		value, key := string(yaml[m[4]:m[5]]), string(yaml[m[2]:m[3]])
		if strings.ContainsAny(value, "./") {
			all = append(all, Ref{Span: Span{at + m[4], at + m[5]}, Value: value, File: strings.HasSuffix(key, "api") || strings.HasPrefix(key, "openapi")})
		}
	}
	return all
}
