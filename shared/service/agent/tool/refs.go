package tool

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// ref is an address in a file, with its place.
type ref struct {
	span
	// value is the address as it is understood, file reports that it names a file
	// of the sources and not something of the finished site.
	value string
	file  bool
}

// addressAttrs are attributes that hold an address, whatever the element; those
// of components are in their own descriptions.
var addressAttrs = map[string]bool{
	"href": true, "src": true, "poster": true, "img": true, "xlinkHref": true, "xlink:href": true, "action": true, "data": true,
}

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

// isSource reports whether a file's addresses can be found: it is a page, a snippet or
// a script with imports.
func isSource(p string) bool { return isPage(p) || isScript(p) }

func isScript(p string) bool {
	switch path.Ext(p) {
	case ".js", ".jsx", ".mjs", ".ts", ".tsx":
		return true
	}
	return false
}

// refs returns the addresses in a source by their place. It omits those whose place is
// unknown, as in JavaScript.
func (t *Tree) refs(p string, src []byte) []ref {
	if isScript(p) {
		return scriptRefs(src)
	}
	f, _ := mdx.Parse(src, t.settings().Syntax(p))
	var all []ref
	add := func(from, to int, value string, file bool) {
		all = append(all, ref{span{from, to}, value, file})
	}
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Link, mdx.Image, mdx.Definition:
			if from, to, ok := n.URLPlace(src); ok {
				add(from, to, n.URL, false)
			}
		case mdx.ESM:
			for _, r := range importRefs(n.Value) {
				from := n.Pos.Offset + r.from
				if to := n.Pos.Offset + r.to; to <= len(src) && string(src[from:to]) == r.value {
					add(from, to, r.value, true)
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
					add(from, to, value, file)
				}
			}
		}
		return true
	})
	all = append(all, headRefs(src)...)
	slices.SortFunc(all, func(a, b ref) int { return a.from - b.from })
	// The parser may meet a definition twice; it is one address.
	return slices.CompactFunc(all, func(a, b ref) bool { return a.from == b.from })
}

// importRefs returns the addresses of the imports in a statement.
func importRefs(statement string) []ref {
	imports, _, _, _ := expr.ParseModule(statement)
	var all []ref
	for _, im := range imports {
		for _, quote := range []string{`"`, `'`} {
			if i := strings.Index(statement, quote+im.Path+quote); i >= 0 && im.Path != "" {
				all = append(all, ref{span{i + 1, i + 1 + len(im.Path)}, im.Path, true})
			}
		}
	}
	return all
}

// scriptImport finds the module that a line of JavaScript imports.
var scriptImport = regexp.MustCompile(`(?m)^(?:import|export)\b[^"'\n]*["']([^"'\n]+)["']`)

func scriptRefs(src []byte) []ref {
	var all []ref
	for _, m := range scriptImport.FindAllSubmatchIndex(src, -1) {
		all = append(all, ref{span{m[2], m[3]}, string(src[m[2]:m[3]]), true})
	}
	return all
}

// headAddress finds a line of a page's head that holds an address.
var headAddress = regexp.MustCompile(`(?m)^(url|icon|openapi|asyncapi|openapi-schema):[ \t]*["']?([^"'\s]+)`)

// headRefs returns the addresses in a page's head.
func headRefs(src []byte) []ref {
	yaml, _ := mdx.SplitFrontMatter(src)
	if len(yaml) == 0 {
		return nil
	}
	at := bytes.Index(src, yaml)
	var all []ref
	for _, m := range headAddress.FindAllSubmatchIndex(yaml, -1) {
		value, key := string(yaml[m[4]:m[5]]), string(yaml[m[2]:m[3]])
		if strings.ContainsAny(value, "./") {
			all = append(all, ref{span{at + m[4], at + m[5]}, value, strings.HasSuffix(key, "api") || strings.HasPrefix(key, "openapi")})
		}
	}
	return all
}

// importPath returns the file of the sources that an address in the file p names;
// "" for a module of elsewhere.
func importPath(p, value string) string {
	switch {
	case strings.Contains(value, "://"):
		return ""
	case strings.HasPrefix(value, "/"):
		return strings.TrimPrefix(path.Clean(value), "/")
	case strings.HasPrefix(value, "."):
		return path.Join(path.Dir(p), value)
	}
	return ""
}

// sources returns the files of the site whose addresses are known.
func (t *Tree) sources() []string {
	var all []string
	for _, p := range t.files() {
		if isSource(p) && t.text(p) && !dotted(p) {
			all = append(all, p)
		}
	}
	return all
}

// sourceOf returns the file that a target is or is made from, "" for none of the
// site's.
func sourceOf(s *site.Site, target site.Target) string {
	switch target.Kind {
	case site.ToPage, site.ToAnchor:
		if target.Page >= 0 {
			return s.Pages[target.Page].Source
		}
	case site.ToFile:
		return target.Path
	}
	return ""
}

// pageOf returns the index of the page that is made from a source, or -1.
func pageOf(s *site.Site, source string) int {
	i, ok := slices.BinarySearchFunc(s.Pages, source, func(p site.Page, want string) int { return strings.Compare(p.Source, want) })
	if !ok {
		i = slices.IndexFunc(s.Pages, func(p site.Page) bool { return p.Source == source })
	}
	return i
}

// pathPart returns the part of an address before its query and fragment.
func pathPart(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		return address[:i]
	}
	return address
}

// isElsewhere reports whether an address leads out of the site or only to a place on
// its own page.
func isElsewhere(address string) bool {
	address = strings.TrimSpace(address)
	part := pathPart(address)
	return part == "" || strings.HasPrefix(part, "//") || strings.Contains(strings.SplitN(part, "/", 2)[0], ":") || strings.Contains(part, "{{")
}

// escapeAddress writes a path so that it means the same in Markdown, in quotes of
// any kind and in JSON.
func escapeAddress(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/@+,=$!", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// relative returns the address that leads from a folder to a path.
func relative(folder, to string) string {
	var from []string
	if folder != "." && folder != "" {
		from = strings.Split(folder, "/")
	}
	parts := strings.Split(to, "/")
	same := 0
	for same < len(from) && same < len(parts)-1 && from[same] == parts[same] {
		same++
	}
	return strings.Repeat("../", len(from)-same) + strings.Join(parts[same:], "/")
}

// change replaces a span by a text.
type change struct {
	span
	text string
}

// splice applies changes, which must not overlap, to src.
func splice(src []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	out := make([]byte, 0, len(src)+64)
	at := 0
	for _, c := range changes {
		if c.from < at {
			continue
		}
		out = append(append(out, src[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, src[at:]...)
}
