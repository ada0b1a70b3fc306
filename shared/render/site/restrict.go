package site

import (
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// restriction says for whom the author keeps a part of the site, and where.
type restriction struct {
	// groups are those whose readers may see it, any of them; none lets nobody in.
	groups       reference.Audience
	file         string
	line, column int
	// unread means that the head that restricts can't be read.
	unread bool
}

// access is what one place, a page's head or a part of the navigation, says
// about who may read.
type access struct {
	only *restriction
	// public undoes what the navigation says above; it does not undo only.
	public bool
}

// lets reports whether the export was asked to have what is for any of these
// groups, and remembers that the site knows them.
func (r *configReader) lets(groups []string) bool {
	in := false
	for _, g := range groups {
		if r.known == nil {
			r.known = make(map[string]bool)
		}
		r.known[g] = true
		in = in || slices.Contains(r.groups, g)
	}
	return in
}

// groupsLine matches the field of a head that restricts its page.
var groupsLine = lazy.Regexp(`(?m)^["']?groups["']?[ \t]*:`)

// pageAccess reads what a page's head says. A head that can't be read and has
// the field lets nobody in: what it says is unknown.
func (r *configReader) pageAccess(source string, yaml []byte, head map[string]field, unread bool) (a access) {
	a.public = head["public"].isTrue()
	f, said := head["groups"]
	said = said && f.present
	at := groupsLine().FindIndex(yaml)
	if !said && (!unread || at == nil) {
		return a
	}
	a.only = &restriction{file: source, line: 1, column: 1, unread: !said}
	if at != nil { // the head begins on the page's second line
		a.only.line = 2 + strings.Count(string(yaml[:at[0]]), "\n")
	}
	list := f.list
	if f.text != "" {
		list = strings.Split(f.text, ",")
	}
	a.only.groups = r.groupNames(list)
	return a
}

// maxAudience is how many groups something may be kept for; others are not let
// in.
const maxAudience = 100

// groupNames expands and cleans the names of groups, each once.
func (r *configReader) groupNames(list []string) (names []string) {
	for _, g := range list[:min(len(list), maxAudience)] {
		if g = strings.TrimSpace(r.expand(g)); g != "" && !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	return names
}

// navAccess reads what an entry of the navigation says. "groups" lists the
// readers where it holds names alone and the entry has its content elsewhere;
// else it is the list of the groups below.
func (r *configReader) navAccess(v *value) (a access) {
	a.public = r.boolean(v.get("public"))
	if names := r.readers(v); names != nil {
		g := v.get("groups")
		a.only = &restriction{groups: names, file: g.file, line: g.line, column: g.column}
	}
	return a
}

// readers returns the groups of readers that an entry names; nil for none.
func (r *configReader) readers(v *value) []string {
	g := v.get("groups")
	var names []string
	if s, ok := g.text(); ok {
		names = strings.Split(s, ",")
	}
	for _, i := range g.list() {
		s, ok := i.text()
		if !ok {
			return nil
		}
		names = append(names, s)
	}
	content := slices.ContainsFunc(v.members(), func(m member) bool {
		switch m.key {
		case "pages", "page", "openapi", "asyncapi", "root", "href", "url":
			return true
		}
		return slices.ContainsFunc(divisions[:], func(d division) bool { return d.list == m.key })
	})
	if names = r.groupNames(names); !content {
		return nil
	}
	return names
}

// restrictor takes out of a site what its author keeps for others than those
// whom the export lets in.
type restrictor struct {
	*configReader
	site *Site
	// barred are the parts of the navigation that the export has not.
	barred map[*Node]*restriction
	// open are the pages that stand in the navigation for all who are let in;
	// closed those that stand where they are not.
	open   map[int]bool
	closed map[int]*restriction
	gone   map[int]*restriction
}

// restrict leaves out pages and parts of the navigation, and reports them.
func (r *configReader) restrict(s *Site) {
	w := &restrictor{
		configReader: r, site: s,
		barred: map[*Node]*restriction{}, open: map[int]bool{}, closed: map[int]*restriction{}, gone: map[int]*restriction{},
	}
	w.visit(s.Nav, nil)
	for _, g := range s.Global {
		w.visit(g, nil)
	}
	for i := range s.Pages {
		own := r.heads[s.Pages[i].Source]
		switch {
		case own.only != nil && !r.lets(own.only.groups):
			w.gone[i] = own.only
		case w.closed[i] != nil && !w.open[i] && !own.public:
			w.gone[i] = w.closed[i]
		}
	}
	if len(w.barred)+len(w.gone) > 0 {
		if !w.prune(s.Nav) { // there is always a root
			s.Nav = &Node{Kind: KindRoot, Page: -1, Root: -1}
		}
		s.Global = slices.DeleteFunc(s.Global, func(g *Node) bool { return !w.prune(g) })
		w.drop()
	}
}

// visit notes who may see a part of the navigation, and the pages in it. above
// are the restrictions of what it stands in.
func (w *restrictor) visit(n *Node, above []*restriction) {
	if n.access.public {
		above = nil
	}
	if n.access.only != nil {
		above = append(slices.Clip(above), n.access.only)
	}
	var bar *restriction
	for _, x := range above {
		if !w.lets(x.groups) && bar == nil {
			bar = x
		}
	}
	if bar != nil {
		w.barred[n] = bar
	}
	for _, p := range [...]int{n.Page, n.Root} {
		switch {
		case p < 0:
		case bar == nil:
			w.open[p] = true
		case w.closed[p] == nil:
			w.closed[p] = bar
		}
	}
	for _, c := range n.Children {
		w.visit(c, above)
	}
}

// prune reports whether a part of the navigation stays, after what must not be
// there is gone from it. A part that is for other readers goes whole: a page in
// it that is public stands in no navigation. A part that has lost all it had goes
// too.
func (w *restrictor) prune(n *Node) bool {
	stays := w.stays(n)
	if !stays {
		w.conceal(n)
	}
	return stays
}

func (w *restrictor) stays(n *Node) bool {
	switch {
	case w.barred[n] != nil:
		return false
	case n.Kind == KindPage:
		return w.gone[n.Page] == nil
	case n.Kind == KindLink:
		return true
	}
	had := len(n.Children)
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool { return !w.prune(c) })
	lost := len(n.Children) < had
	if n.Root >= 0 && w.gone[n.Root] != nil {
		n.Root, lost = -1, true
	}
	return !lost || len(n.Children) > 0 || n.Root >= 0 || n.Href != ""
}

// drop takes the pages out, with what was said about them: messages repeat
// what pages say.
func (w *restrictor) drop() {
	s := w.site
	sources, order := map[string]bool{}, make([]int, 0, len(s.Pages))
	var found []mdx.Diagnostic
	told := map[mdx.Diagnostic]bool{}
	for i := range s.Pages {
		p, bar := &s.Pages[i], w.gone[i]
		if bar == nil {
			order = append(order, i)
			continue
		}
		s.Withheld = append(s.Withheld, Withheld{Address: p.Address, Source: p.Source, Groups: bar.groups})
		if p.Old != "" {
			s.Withheld = append(s.Withheld, Withheld{Address: p.Old, Source: p.Source, Groups: bar.groups})
		}
		s.Concealed.add(p.Title, p.SidebarTitle)
		if p.Reference != nil {
			w.specsGone[p.Reference.File] = true
		}
		what := "the page " + p.Source
		if p.From != "" { // its name is made from what the specification says
			what = "each page made from " + p.From + " here"
		} else {
			sources[p.Source] = true
		}
		why := "it is for " + bar.groups.String()
		if bar.unread {
			why = "its front matter has the field \"groups\" and can't be read"
		}
		d := mdx.Diagnostic{
			Severity: mdx.Notice, Code: "page-restricted", File: bar.file, Line: bar.line, Column: bar.column,
			Message: short(what + " is left out: " + why),
		}
		if !told[d] {
			told[d] = true
			found = append(found, d)
		}
	}
	w.diags = append(slices.DeleteFunc(w.diags, func(d mdx.Diagnostic) bool { return sources[d.File] }), found...)
	s.arrange(order)
}

// settleGroups reports groups that the export lets in and nothing is for, and hides
// the names of the others.
func (r *configReader) settleGroups(s *Site, config *value, known []string) {
	for g := range r.known {
		if !slices.Contains(r.groups, g) {
			s.Concealed.add(g)
		}
	}
	for _, g := range known {
		if !slices.Contains(r.groups, g) {
			s.Concealed.add(g)
		}
	}
	for _, g := range r.groups {
		if !r.known[g] && !slices.Contains(known, g) {
			r.report(config, mdx.Warning, "group-unused", "nothing in this site is for the group %q that the export lets in", g)
		}
	}
}

// dropRedirects takes out redirects to what is withheld: links to their
// addresses are links to it.
func (s *Site) dropRedirects(gone map[int]reference.Audience) {
	if len(gone) == 0 {
		return
	}
	var kept []Redirect
	for i, d := range s.Redirects {
		groups, out := gone[i]
		if !out {
			kept = append(kept, d)
			continue
		}
		if from, wild := d.Path(); wild {
			s.GoneRedirects = append(s.GoneRedirects, d)
		} else {
			s.Withheld = append(s.Withheld, Withheld{Address: path.Clean(from), Groups: groups})
		}
	}
	s.Redirects = kept
}
