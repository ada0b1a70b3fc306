package tool

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Review is the result of Look. Each line has a place, as "host (path:line)" or
// "path:line: what it is". It never contains a secret that was found.
type Review struct {
	// Refused are reasons for which the changes must not be published.
	Refused []string
	// NewHosts are hosts of other sites in links, pictures and files that the
	// repository did not name in such a place before, each at its first.
	NewHosts []string
	// Executable is what runs in the browsers of readers and was not there
	// before.
	Executable []string
}

// Look reviews changes of a repository without trusting whoever made them. Results
// are in the order of their places; root is the folder of the site. It doesn't check
// paths; see Allowed.
func Look(base Base, root string, changes []Change) Review {
	r := reviewer{base: base, root: root, entries: map[string]Entry{}, old: map[string]string{}, ran: map[string]bool{}}
	for _, e := range base.Paths() {
		r.entries[e.Path] = e
	}
	for _, c := range changes {
		if e, ok := r.entries[c.Path]; ok && e.Text {
			if b, err := base.Read(c.Path); err == nil {
				r.old[c.Path] = string(b)
				for _, x := range executable(c.Path, b) {
					r.ran[x.kind+x.text] = true
				}
			}
		}
	}
	changes = slices.SortedFunc(slices.Values(changes), func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range changes {
		r.file(c)
	}
	r.known()
	return r.Review
}

type remark struct {
	path string
	line int
	what string
}

type reviewer struct {
	Review
	// hosts are new to the files in which they stand, at lines of these.
	hosts   []remark
	base    Base
	root    string
	entries map[string]Entry
	// old are the former texts of changed files, ran what was executable in them:
	// a page that moves takes it along.
	old map[string]string
	ran map[string]bool
}

func (r *reviewer) refuse(p string, line int, format string, args ...any) {
	place := p
	if line > 0 {
		place = fmt.Sprintf("%s:%d", p, line)
	}
	r.Refused = append(r.Refused, place+": "+fmt.Sprintf(format, args...))
}

func (r *reviewer) file(c Change) {
	root := ""
	// A name that a bundle reserves at a site's root may be a folder in a repository.
	if first, _, nested := strings.Cut(strings.ToLower(c.Path), "/"); nested && strings.HasPrefix(first, "bindery") {
		root = c.Path[:len(first)]
	}
	if err := Allowed(c.Path, root); err != nil {
		r.Refused = append(r.Refused, err.Error())
		return
	}
	if e, ok := r.entries[c.Path]; ok && !e.Plain {
		r.refuse(c.Path, 0, "is a link, a submodule or executable")
		return
	}
	if c.Delete {
		return
	}
	if !isText(c.Content) {
		r.refuse(c.Path, 0, "is not text")
		return
	}
	old := r.old[c.Path]
	for _, s := range freshSecrets(c.Path, string(c.Content), old, r.wasThere) {
		r.refuse(c.Path, lineOf(c.Content, s.at), "looks like a secret: %s", s.kind)
	}
	was := map[string]bool{}
	for _, h := range hostsOf(c.Path, []byte(old)) {
		was[h.text] = true
	}
	for _, h := range hostsOf(c.Path, c.Content) {
		if !was[h.text] {
			was[h.text] = true
			r.hosts = append(r.hosts, remark{c.Path, lineOf(c.Content, h.at), h.text})
		}
	}
	ran := map[string]int{}
	for _, x := range executable(c.Path, []byte(old)) {
		ran[x.kind+x.text]++
	}
	for _, x := range executable(c.Path, c.Content) {
		if ran[x.kind+x.text]--; ran[x.kind+x.text] < 0 && !(old == "" && r.ran[x.kind+x.text]) {
			r.Executable = append(r.Executable, fmt.Sprintf("%s:%d: %s", c.Path, lineOf(c.Content, x.at), x.kind))
		}
	}
}

// wasThere reports whether a file of the site had a text: then it was published
// before, perhaps on a page that was moved.
func (r *reviewer) wasThere(text string) bool {
	for p := range r.entries {
		if rel, err := below(p, r.root); err == nil && IsSource(p) && !dotted(rel) {
			if src, err := r.base.Read(p); err == nil && bytes.Contains(src, []byte(text)) {
				return true
			}
		}
	}
	return false
}

// known fills NewHosts with the hosts that the rest of the repository does not
// name, each once.
func (r *reviewer) known() {
	left := map[string]bool{}
	for _, h := range r.hosts {
		left[h.what] = true
	}
	unnamed(r.base, left)
	for _, h := range r.hosts {
		if left[h.what] {
			delete(left, h.what)
			r.NewHosts = append(r.NewHosts, fmt.Sprintf("%s (%s:%d)", h.what, h.path, h.line))
		}
	}
}

// unnamed removes from left the hosts that a repository names in links, pictures and
// files.
func unnamed(base Base, left map[string]bool) {
	for _, e := range base.Paths() {
		if len(left) == 0 {
			return
		}
		if !e.Text || !allowedExtensions[strings.ToLower(path.Ext(e.Path))] {
			continue
		}
		src, err := base.Read(e.Path)
		if err != nil {
			continue
		}
		lower := bytes.ToLower(src)
		for host := range left {
			if bytes.Contains(lower, []byte(host)) && slices.ContainsFunc(hostsOf(e.Path, src), func(h mark) bool { return h.text == host }) {
				delete(left, host)
			}
		}
	}
}

// mark is something found in a text.
type mark struct {
	at         int
	kind, text string
}

func lineOf(src []byte, at int) int { return 1 + bytes.Count(src[:min(at, len(src))], []byte("\n")) }

var (
	// scriptMark finds what runs in HTML and SVG.
	scriptMark = lazy.Regexp(`(?i)<(?:script|iframe|object|embed|foreignObject)\b|\son[a-z]{3,20}\s*=|javascript:`)
	// calling finds what an expression does besides naming a value.
	calling = lazy.Regexp(`\w\s*(?:\?\.)?\(|=>|\bnew\b|\bimport\b|\x60`)
	// naming matches an expression that names a value, which is elsewhere.
	naming = lazy.Regexp(`^[\s.]*[\w$]+(?:\??\.[\w$]+)*\s*$`)
	// joining finds a text that is put together.
	joining = lazy.Regexp(`["']\s*\+|\+\s*["']`)
)

// executable returns the parts of a file that run in browsers or when the page is
// rendered.
func executable(p string, src []byte) []mark {
	if len(src) == 0 {
		return nil
	}
	var all []mark
	add := func(at int, kind, text string) { all = append(all, mark{at, kind, strings.TrimSpace(text)}) }
	switch {
	case edit.IsScript(p):
		return []mark{{0, "a script", string(src)}}
	case path.Ext(p) == ".svg" || path.Ext(p) == ".html" || path.Ext(p) == ".xml":
		for _, m := range scriptMark().FindAllIndex(src, -1) {
			add(m[0], "a script in a file", string(src[m[0]:min(m[0]+200, len(src))]))
		}
		return all
	case !isPage(p):
		return nil
	}
	f, _ := mdx.Parse(src, (&site.Site{}).Syntax(p))
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.ESM:
			imports, exports, _, _ := expr.ParseModule(n.Value)
			kind := "an import"
			if len(exports) > 0 || len(imports) == 0 {
				kind = "an export"
			}
			add(n.Pos.Offset, kind, n.Value)
		case mdx.Expression:
			if calling().MatchString(n.Value) && !strings.HasPrefix(strings.TrimSpace(n.Value), "/*") {
				add(n.Pos.Offset, "an expression", n.Value)
			}
		case mdx.Element:
			switch strings.ToLower(n.Name) {
			case "script", "iframe", "object", "embed":
				src, _ := n.Attr("src")
				add(n.Pos.Offset, "<"+n.Name+">", src.Value+mdx.PlainText(n))
			}
			for _, a := range n.Attrs {
				if kind := runs(a); kind != "" {
					add(a.Pos.Offset, kind, a.Value)
				}
			}
		case mdx.Link, mdx.Image, mdx.Definition:
			if !html.SafeURL(n.URL) {
				add(n.Pos.Offset, "an address that runs code", n.URL)
			}
		}
		return true
	})
	return all
}

// loads are attributes with which an element loads something or leads somewhere, in
// lower case.
var loads = wordSet(`action archive background cite classid codebase content data formaction href img imagesrcset link manifest ping poster profile
	src srcset url xlink:href xlinkhref`)

// runs describes the executable part of an attribute, "" for none.
func runs(a mdx.Attr) string {
	lower := strings.ToLower(a.Name)
	switch {
	case len(lower) > 3 && strings.HasPrefix(lower, "on"), lower == "dangerouslysetinnerhtml", lower == "srcdoc":
		return "the attribute " + a.Name
	case (a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread) && !isLiteral(a) && calling().MatchString(a.Value):
		return "an expression"
	case (a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread) && !isLiteral(a) && !naming().MatchString(a.Value) &&
		(joining().MatchString(a.Value) || loads()[lower] || a.Kind == mdx.AttrSpread):
		return "a computed address"
	case edit.IsAddress(a.Name) && !html.SafeURL(a.Value):
		return "an address that runs code"
	}
	return ""
}
