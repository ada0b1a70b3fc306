package tool

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/edit"
)

// pathSign stands between the labels of a path in the navigation.
const pathSign = " > "

var navigationTool = definition{
	name: "navigation",
	about: "Shows or edits the navigation in the configuration (docs.json), which keeps its formatting. An entry is a page by its path " +
		"(guides/start), or a group, tab or other part by its labels from the top (Guides > Basics); the last labels are enough where they are unique.",
	params: []param{
		{name: "action", required: true, values: []string{"show", "add", "move", "remove", "rename"}, about: "What to do."},
		{name: "entry", about: "The entry to show, move, remove or rename; with add the page to add, or nothing for a group."},
		{name: "group", about: "With add: the label of a new group."},
		{name: "pages", kind: texts, about: "With add and group: the pages of the new group."},
		{name: "into", about: "With add and move: the part to whose end the entry goes. Default: the one that before or after is in, or the top."},
		{name: "before", about: "With add and move: the entry before which it goes."},
		{name: "after", about: "With add and move: the entry after which it goes."},
		{name: "to", about: "With rename: the new label, or the new path of a page."},
	},
	call: (*Set).navigation,
}

// navEntry is an entry of the navigation.
type navEntry struct {
	// page is the path of a page or an address, "" for other entries.
	page string
	// labels are those from the top, with its own at the end; a page has those of
	// what it is in.
	labels []string
	// value is the entry as it stands in list at a place, and name the text that
	// is its label or its page, in doc.
	value, list, name *json.Value
	at                int
	doc, nameDoc      *document
	// inner is what holds the entry's own entries, in innerDoc.
	inner    *json.Value
	innerDoc *document
	depth    int
}

func (e *navEntry) String() string {
	if e.page != "" {
		return e.page
	}
	return strings.Join(e.labels, pathSign)
}

// navLists are the members that hold entries, labelNames those with labels.
var (
	navLists   = []string{"languages", "versions", "products", "dropdowns", "tabs", "anchors", "menu", "groups", "pages"}
	labelNames = []string{"group", "tab", "anchor", "dropdown", "version", "language", "product", "item", "name", "title", "label"}
)

// maxNavDepth is how deep entries may be nested.
const maxNavDepth = 30

// navigator reads the navigation of a configuration.
type navigator struct {
	documents map[string]*document
	top       *navEntry
	all       []*navEntry
}

func (t *Tree) navigator() (*navigator, error) {
	file := t.configFile()
	n := &navigator{documents: t.configDocuments()}
	d := n.documents[file]
	if d == nil {
		return nil, refuse("the site has no docs.json that can be read")
	}
	nav := member(d.root, "navigation")
	if nav == nil {
		return nil, refuse("%s has no navigation", file)
	}
	n.top = &navEntry{doc: d, value: nav, inner: nav, innerDoc: d}
	n.top.inner, n.top.innerDoc = n.deref(nav, d, 0)
	n.read(n.top.inner, n.top.innerDoc, nil, 0)
	if global := member(n.top.inner, "global"); global != nil {
		n.read(global, n.top.innerDoc, nil, 0)
	}
	return n, nil
}

// deref follows a reference to another file.
func (n *navigator) deref(v *json.Value, d *document, depth int) (*json.Value, *document) {
	ref := member(v, "$ref")
	if ref == nil || depth > maxNavDepth {
		return v, d
	}
	if other := n.documents[refFile(d.file, ref.Text)]; other != nil {
		return n.deref(other.root, other, depth+1)
	}
	return v, d
}

// read reads the entries that v holds.
func (n *navigator) read(v *json.Value, d *document, labels []string, depth int) {
	if depth > maxNavDepth {
		return
	}
	if v.Kind == json.Array {
		n.list(v, d, labels, depth)
		return
	}
	for _, m := range v.Members {
		if slices.Contains(navLists, m.Name) {
			if list, in := n.deref(m.Value, d, depth); list.Kind == json.Array {
				n.list(list, in, labels, depth)
			}
		}
	}
}

func (n *navigator) list(list *json.Value, d *document, labels []string, depth int) {
	for i, v := range list.Items {
		e := &navEntry{value: v, list: list, at: i, doc: d, depth: depth, labels: labels}
		n.all = append(n.all, e)
		if v.Kind == json.String {
			e.page, e.name, e.nameDoc = v.Text, v, d
			continue
		}
		e.inner, e.innerDoc = n.deref(v, d, depth)
		if page := member(e.inner, "page"); page != nil && page.Kind == json.String {
			e.page, e.name, e.nameDoc = page.Text, page, e.innerDoc
			continue
		}
		label := "(no label)"
		// Members next to a reference override those of its target.
		if e.name, e.nameDoc = labelOf(v), d; e.name == nil {
			e.name, e.nameDoc = labelOf(e.inner), e.innerDoc
		}
		if e.name != nil {
			label = e.name.Text
		}
		e.labels = append(labels[:len(labels):len(labels)], label)
		n.read(e.inner, e.innerDoc, e.labels, depth+1)
	}
}

// labelOf returns the label of an entry, or nil.
func labelOf(v *json.Value) *json.Value {
	for _, name := range labelNames {
		if l := member(v, name); l != nil && l.Kind == json.String {
			return l
		}
	}
	return nil
}

// pageName normalizes a page's path for comparisons.
func pageName(s string) string {
	s = strings.Trim(s, "/")
	switch path.Ext(s) {
	case ".mdx", ".md":
		return strings.TrimSuffix(s, path.Ext(s))
	}
	return s
}

// find returns the only entry with that name, or an error.
func (n *navigator) find(field, what string) (*navEntry, error) {
	if what == "" {
		return nil, refuse("%s: is missing", field)
	}
	labels := strings.Split(what, strings.TrimSpace(pathSign))
	for i := range labels {
		labels[i] = strings.TrimSpace(labels[i])
	}
	var exact, near []*navEntry
	for _, e := range n.all {
		switch {
		case e.page != "":
			if pageName(e.page) == pageName(what) {
				exact = append(exact, e)
			}
		case slices.Equal(e.labels, labels):
			exact = append(exact, e)
		case len(e.labels) > len(labels) && slices.Equal(e.labels[len(e.labels)-len(labels):], labels):
			near = append(near, e)
		}
	}
	if len(exact) == 0 {
		exact = near
	}
	switch len(exact) {
	case 1:
		return exact[0], nil
	case 0:
		return nil, refuse("%s: the navigation has no entry %.200q; action=show lists them", field, what)
	}
	var names []string
	for _, e := range exact[:min(len(exact), 5)] {
		if e.page != "" {
			names = append(names, fmt.Sprintf("line %d, in %s", e.value.Line, strings.Join(e.labels, pathSign)))
		} else {
			names = append(names, e.String())
		}
	}
	return nil, refuse("%s: the navigation has %d entries %.200q: %s", field, len(exact), what, strings.Join(names, "; "))
}

func (s *Set) navigation(ctx context.Context, a args) (Result, error) {
	n, err := s.tree.navigator()
	if err != nil {
		return Result{}, err
	}
	file := s.tree.configFile()
	r := Result{File: file}
	var edits []docChange
	switch a.text("action") {
	case "show":
		return s.showNavigation(n, a.text("entry"))
	case "add":
		edits, err = s.addEntry(n, a)
	case "move":
		edits, err = n.moveEntry(a)
	case "remove":
		var e *navEntry
		if e, err = n.find("entry", a.text("entry")); err == nil {
			edits = []docChange{{e.doc, e.doc.remove(e.list, e.at)}}
		}
	case "rename":
		edits, err = s.renameEntry(n, a)
	}
	if err != nil {
		return r, err
	}
	byFile := map[string][]edit.Change{}
	for _, e := range edits {
		byFile[e.doc.file] = append(byFile[e.doc.file], e.Change)
	}
	contents := map[string][]byte{}
	for name, changes := range byFile {
		src := n.documents[name].src
		if contents[name] = edit.Splice(src, changes); bytes.Equal(src, contents[name]) {
			return r, refuse("that changes nothing: it is so already")
		}
	}
	if err := s.edit(ctx, contents); err != nil {
		return r, err
	}
	var b strings.Builder
	for _, name := range sortedKeys(contents) {
		text, _, _ := Diff(name, n.documents[name].src, contents[name])
		b.WriteString(text)
	}
	r.Text, r.Outcome = b.String(), "navigation: "+a.text("action")+" "+cutLine(firstOf(a.text("entry"), a.text("group")))
	return r, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// docChange is a change of a document.
type docChange struct {
	doc *document
	edit.Change
}

// showNavigation lists the entries below one, or all.
func (s *Set) showNavigation(n *navigator, below string) (Result, error) {
	var top *navEntry
	if below != "" {
		var err error
		if top, err = n.find("entry", below); err != nil {
			return Result{}, err
		}
	}
	var b pages
	shown := 0
	for _, e := range n.all {
		depth := e.depth
		if top != nil {
			if e.doc != top.innerDoc && e != top || e != top && (e.value.Offset < top.value.Offset || e.value.End > top.value.End) && e.doc == top.doc {
				continue
			}
			depth -= top.depth
		}
		name := e.page
		if name == "" {
			name = e.labels[len(e.labels)-1]
			if count := len(n.inside(e)); count > 0 {
				name += fmt.Sprintf(" (%s)", Plural(count, "entry"))
			}
		} else if page := pageName(e.page); !strings.Contains(page, "://") && !strings.Contains(page, " ") &&
			!s.tree.exists(page+".mdx") && !s.tree.exists(page+".md") {
			name += " (no such page)"
		}
		shown++
		b.add("%s%s", strings.Repeat("  ", max(depth, 0)), name)
	}
	return Result{Text: b.end("entries", "name an entry to see what is below it"), File: s.tree.configFile(), Outcome: Plural(shown, "entry")}, nil
}

// inside returns the entries that an entry itself holds.
func (n *navigator) inside(of *navEntry) (all []*navEntry) {
	for _, e := range n.all {
		if e.list != nil && holds(of.inner, e.list) {
			all = append(all, e)
		}
	}
	return all
}

// holds reports whether list is one of the lists of entries in v.
func holds(v, list *json.Value) bool {
	if v == list {
		return true
	}
	for _, m := range v.Members {
		if m.Value == list && slices.Contains(navLists, m.Name) {
			return true
		}
	}
	return false
}

// target is where an entry goes: at a place of a list, or, where list is nil, into
// a new list named name.
type target struct {
	doc  *document
	list *json.Value
	at   int
	of   *json.Value
	name string
}

// place returns the change that puts a value there.
func (t target) place(v any) docChange {
	if t.list == nil {
		return docChange{t.doc, t.doc.insert(t.of, len(t.of.Members), t.name, []any{v})}
	}
	return docChange{t.doc, t.doc.insert(t.list, t.at, "", v)}
}

// target determines where an entry goes. group is set for a group, which some parts
// keep in a list of their own.
func (n *navigator) target(a args, group bool) (target, error) {
	before, after, into := a.text("before"), a.text("after"), a.text("into")
	if before != "" && after != "" {
		return target{}, refuse("before and after can't be used together")
	}
	if before != "" || after != "" {
		field := "before"
		if after != "" {
			field = "after"
		}
		e, err := n.find(field, before+after)
		if err != nil {
			return target{}, err
		}
		at := e.at
		if after != "" {
			at++
		}
		return target{doc: e.doc, list: e.list, at: at}, nil
	}
	in, d := n.top.inner, n.top.innerDoc
	if into != "" {
		e, err := n.find("into", into)
		if err != nil {
			return target{}, err
		}
		if e.page != "" {
			return target{}, refuse("into: %s is a page and holds no entries", e)
		}
		in, d = e.inner, e.innerDoc
	}
	if in.Kind == json.Array {
		return target{doc: d, list: in, at: len(in.Items)}, nil
	}
	var found []string
	for _, name := range []string{"pages", "groups"} {
		list := member(in, name)
		if list == nil {
			continue
		}
		list, listDoc := n.deref(list, d, 0)
		if list.Kind == json.Array && (name == "pages" || group) {
			return target{doc: listDoc, list: list, at: len(list.Items)}, nil
		}
		found = append(found, name)
	}
	for _, name := range navLists[:len(navLists)-2] {
		if member(in, name) != nil {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		return target{}, refuse("into: it holds %s; name the one that the entry belongs to", strings.Join(found, " and "))
	}
	return target{doc: d, of: in, name: "pages"}, nil
}

// addEntry returns the changes that add a page or a group.
func (s *Set) addEntry(n *navigator, a args) ([]docChange, error) {
	entry, group := a.text("entry"), a.text("group")
	if (entry == "") == (group == "") {
		return nil, refuse("entry, the page to add, or group, the label of a new group, is required")
	}
	names := a.texts("pages")
	if entry != "" {
		names = []string{entry}
	}
	var list []any
	for _, p := range names {
		p = pageName(p)
		if p == "" || !strings.Contains(p, "://") && !s.tree.exists(p+".mdx") && !s.tree.exists(p+".md") {
			return nil, refuse("there is no page %.200q: write it first", p+".mdx")
		}
		for _, e := range n.all {
			if pageName(e.page) == p && entry != "" {
				return nil, refuse("the navigation already has the entry %s, at line %d; use move", p, e.value.Line)
			}
		}
		list = append(list, p)
	}
	to, err := n.target(a, group != "")
	if err != nil {
		return nil, err
	}
	if group == "" {
		return []docChange{to.place(list[0])}, nil
	}
	return []docChange{to.place(pairs{{"group", group}, {"pages", list}})}, nil
}

// moveEntry returns the changes that put an entry elsewhere.
func (n *navigator) moveEntry(a args) ([]docChange, error) {
	e, err := n.find("entry", a.text("entry"))
	if err != nil {
		return nil, err
	}
	to, err := n.target(a, e.page == "")
	if err != nil {
		return nil, err
	}
	place := to.list
	if place == nil {
		place = to.of
	}
	if to.doc == e.doc && place.Offset >= e.value.Offset && place.End <= e.value.End && place != e.list {
		return nil, refuse("an entry can't go into itself")
	}
	if to.list == e.list && (to.at == e.at || to.at == e.at+1) {
		return nil, refuse("the entry is there already")
	}
	return []docChange{{e.doc, e.doc.remove(e.list, e.at)}, to.place(e.doc.rawOf(e.value))}, nil
}

// renameEntry returns the change of an entry's label, or of the page that it
// names.
func (s *Set) renameEntry(n *navigator, a args) ([]docChange, error) {
	e, err := n.find("entry", a.text("entry"))
	if err != nil {
		return nil, err
	}
	to := a.text("to")
	switch {
	case strings.TrimSpace(to) == "":
		return nil, refuse("to: is missing")
	case e.name == nil:
		return nil, refuse("the entry has no label")
	case e.page != "" && !strings.Contains(to, "://"):
		to = pageName(to)
		if !s.tree.exists(to+".mdx") && !s.tree.exists(to+".md") {
			return nil, refuse("to: there is no page %.200q", to+".mdx")
		}
	}
	return []docChange{{e.nameDoc, edit.Change{Span: edit.Span{From: e.name.Offset, To: e.name.End}, Text: quote(to)}}}, nil
}
