package tool

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
)

var moveTool = definition{
	name: "move",
	about: "Moves or renames a file or a folder. Links to and on the moved pages, imports, and the configuration's entries are rewritten, " +
		"and redirects from the old addresses are added to the configuration.",
	params: []param{
		{name: "from", required: true, about: "The file or folder."},
		{name: "to", required: true, about: "Its new path, with the file's name."},
		{name: "redirect", kind: yesNo, about: "Whether old addresses of pages lead to the new ones. Default true; false only for pages that were never published."},
	},
	call: (*Set).move,
}

// mover works out what a move changes.
type mover struct {
	from, to *Tree
	// moved are the new paths of files by their old ones; folder reports that all
	// of a folder named old becomes one named now.
	moved    map[string]string
	old, now string
	folder   bool
	// was and is are the site before and after.
	was, is *site.Site

	links, entries, left int
	// may returns an error for files that an agent may not write.
	may       func(p string, content []byte) error
	files     map[string]bool
	redirects []string
}

func (s *Set) move(ctx context.Context, a args) (Result, error) {
	from, err := a.path("from")
	if err != nil {
		return Result{}, err
	}
	to, err := a.path("to")
	if err != nil {
		return Result{File: from}, err
	}
	m := &mover{from: s.tree, to: s.tree.clone(), files: map[string]bool{}, may: s.mayWrite}
	stay, err := m.name(s, from, to, strings.HasSuffix(a.text("to"), "/"))
	if err != nil {
		return Result{File: from}, err
	}
	noRedirect := a["redirect"] != nil && !a.yes("redirect")
	contents, err := m.contents(ctx, !noRedirect)
	if err != nil {
		return Result{File: from}, err
	}
	if err := s.edit(ctx, contents); err != nil {
		return Result{File: from}, err
	}
	var b pages
	if m.folder {
		b.add("Moved %s from %s to %s.", Plural(len(m.moved), "file"), m.old, m.now)
	} else {
		b.add("Moved %s to %s.", m.old, m.now)
	}
	b.add("%s rewritten in %s; %s changed.", Plural(m.links, "address"), Plural(len(m.files), "file"), Plural(m.entries, "entry")+" of the configuration")
	for _, r := range m.redirects {
		b.add("Redirect: %s", r)
	}
	if m.left > 0 {
		b.add("%s could not be rewritten, in files that are not parts of the site or where they are written with escapes: search for the old path.", Plural(m.left, "address"))
	}
	for _, p := range stay {
		b.add("%s stays: it is not text, or not an agent's to move.", p)
	}
	return Result{Text: b.end("lines", "diff shows all"), File: m.now, Outcome: "moved from " + from}, nil
}

// name determines the new paths. stay are files of a folder that can't be moved.
func (m *mover) name(s *Set, from, to string, into bool) (stay []string, err error) {
	if from == "" {
		return nil, refuse("from: the site's folder itself can't be moved")
	}
	for _, ext := range []string{".mdx", ".md"} { // models name pages by their addresses
		if !s.tree.exists(from) && len(s.tree.below(from)) == 0 && s.tree.exists(from+ext) {
			from += ext
		}
	}
	m.moved = map[string]string{}
	switch {
	case s.tree.exists(from):
		if into || to == "" || len(s.tree.below(to)) > 0 {
			to = path.Join(to, path.Base(from))
		} else if isPage(from) && path.Ext(to) != ".mdx" && path.Ext(to) != ".md" {
			to += path.Ext(from)
		}
		m.moved[from] = to
	case len(s.tree.below(from)) > 0:
		if stay, err = m.nameFolder(s, from, to); err != nil {
			return nil, err
		}
	default:
		return nil, s.missing(from)
	}
	m.old, m.now = from, to
	for _, old := range sortedKeys(m.moved) {
		now := m.moved[old]
		if old == "docs.json" || old == "mint.json" {
			return nil, refuse("%s: the configuration must stay where it is", old)
		}
		if _, goes := m.moved[now]; s.tree.exists(now) && !goes || old == now {
			return nil, refuse("%s: the file exists already", now)
		}
	}
	return stay, nil
}

// nameFolder is name for a folder.
func (m *mover) nameFolder(s *Set, from, to string) (stay []string, err error) {
	m.folder = true
	if to == "" || to == from || strings.HasPrefix(to, from+"/") && s.tree.exists(to) {
		return nil, refuse("to: %q is not a new path in the folder", to)
	}
	for _, p := range s.tree.below(from) {
		if s.tree.text(p) && Allowed(s.tree.full(p), s.tree.root) == nil && s.tree.entries[p].plainOrNew(s.tree, p) && s.mayMove(p, to+p[len(from):]) {
			m.moved[p] = to + p[len(from):]
		} else {
			stay = append(stay, p)
		}
	}
	if len(m.moved) == 0 {
		return nil, refuse("no file in %s is text that an agent may move", from)
	}
	return stay, nil
}

// mayMove reports whether an agent may write a file at both of two paths.
func (s *Set) mayMove(from, to string) bool {
	src, err := s.tree.read(from)
	return err == nil && s.mayWrite(from, nil) == nil && s.mayWrite(to, src) == nil
}

// plainOrNew reports whether a file is plain, as new ones are.
func (e Entry) plainOrNew(t *Tree, p string) bool {
	_, old := t.entries[p]
	return !old || e.Plain
}

// contents returns the new text of all files that the move changes.
func (m *mover) contents(ctx context.Context, redirects bool) (map[string][]byte, error) {
	var err error
	if m.was, err = m.from.site(ctx); err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for old, now := range m.moved {
		b, err := m.from.read(old)
		if err != nil {
			return nil, refuse("%s: %v", old, err)
		}
		texts[now] = b
	}
	for _, old := range sortedKeys(m.moved) {
		if err := m.to.put(old, nil); err != nil {
			return nil, err
		}
	}
	for _, now := range sortedKeys(texts) {
		if err := m.to.put(now, texts[now]); err != nil {
			return nil, err
		}
	}
	if err := m.configuration(redirects); err != nil {
		return nil, err
	}
	if m.is, err = m.to.site(ctx); err != nil {
		return nil, err
	}
	if redirects {
		if err := m.missingRedirects(); err != nil {
			return nil, err
		}
		if m.is, err = m.to.site(ctx); err != nil {
			return nil, err
		}
	}
	for _, old := range sortedKeys(m.moved) {
		if now := m.moved[old]; pageOf(m.was, old) >= 0 && pageOf(m.is, now) < 0 {
			return nil, refuse("%s would not be a page, and links to it would lead nowhere: move %s to another folder, or write a snippet and delete the page", now, old)
		}
	}
	for _, p := range m.from.sources() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.source(p); err != nil {
			return nil, err
		}
	}
	return m.to.since(m.from), nil
}

// site reads the whole site. It fails only if the configuration can't be read.
func (t *Tree) site(ctx context.Context) (*site.Site, error) {
	s, _, err := site.Load(ctx, t.FS(), t.files(), site.Options{})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, refuse("the site can't be read: %v", err)
	}
	return s, nil
}

// path returns where a file is after the move.
func (m *mover) path(p string) string {
	if now, ok := m.moved[p]; ok {
		return now
	}
	return p
}

// source rewrites the addresses in one file; p is its old path.
func (m *mover) source(p string) error {
	now := m.path(p)
	src, err := m.to.read(now)
	if err != nil {
		return nil
	}
	if now == p && !m.mayName(src) {
		return nil
	}
	var changes []edit.Change
	before, after := pageOf(m.was, p), pageOf(m.is, now)
	for _, r := range edit.Refs(src, m.from.settings().Syntax(p)) {
		part := pathPart(r.Value)
		var want string
		var ok bool
		if r.File {
			want, ok = m.fileAddress(p, now, part)
		} else {
			want, ok = m.address(p, now, before, after, r.Value)
		}
		if !ok || want == part {
			continue
		}
		if !strings.HasPrefix(string(src[r.From:r.To]), part) {
			m.left++
			continue
		}
		changes = append(changes, edit.Change{Span: edit.Span{From: r.From, To: r.From + len(part)}, Text: want})
	}
	if len(changes) == 0 {
		return nil
	}
	out := edit.Splice(src, changes)
	if now == p && m.may(p, out) != nil {
		m.left += len(changes)
		return nil
	}
	m.links += len(changes)
	m.files[now] = true
	return m.to.put(now, out)
}

// mayName reports whether a text could hold an address of what moves: reading
// all pages of a large site takes long.
func (m *mover) mayName(src []byte) bool {
	const most = 50
	if len(m.moved) > most {
		return true
	}
	for old := range m.moved {
		p := strings.TrimSuffix(old, path.Ext(old))
		name := path.Base(p)
		if name == "index" {
			name = path.Base(path.Dir(p))
		}
		if name == "." || edit.EscapeAddress(name) != name || bytes.Contains(src, []byte(name)) {
			return true
		}
	}
	return false
}

// address returns the path part of a link's new address; it is not ok where the
// link stays as it is.
func (m *mover) address(p, now string, before, after int, value string) (string, bool) {
	if isElsewhere(value) || before < 0 && !strings.HasPrefix(value, "/") {
		return "", false // what is relative in a snippet depends on who shows it
	}
	target := sourceOf(m.was, m.was.Resolve(before, value))
	if target == "" {
		return "", false
	}
	want := m.path(target)
	part := pathPart(value)
	leads := func(address string) bool {
		return sourceOf(m.is, m.is.Resolve(after, address)) == want
	}
	if want == target && (p == now || leads(part)) {
		return "", false
	}
	if strings.HasPrefix(part, "/") && leads(part) {
		if _, direct := m.was.Lookup(part); !direct && isPage(target) {
			return "", false // by a redirect that leads on
		}
	}
	for _, c := range edit.Addresses(part, path.Dir(now), edit.NameOf(want, part), edit.NameOf(target, part)) {
		if leads(c) {
			return c, true
		}
	}
	return "", false
}

// fileAddress is address for the name of a source.
func (m *mover) fileAddress(p, now, part string) (string, bool) {
	target := importPath(p, part)
	bare := target == "" && !strings.Contains(part, "://")
	if bare { // from the root, or among the snippets
		if target = part; m.moved[target] == "" && m.moved["snippets/"+part] != "" {
			target = "snippets/" + part
		}
	}
	if !m.from.exists(target) {
		return "", false
	}
	want := m.path(target)
	switch {
	case strings.HasPrefix(part, "/"):
		return "/" + want, want != target
	case bare && target == part:
		return want, want != target
	case bare:
		if rest, ok := strings.CutPrefix(want, "snippets/"); ok {
			return rest, true
		}
		return "/" + want, want != target
	}
	rel := edit.Relative(path.Dir(now), want)
	if !strings.HasPrefix(rel, ".") {
		rel = "./" + rel
	}
	return rel, importPath(now, part) != want
}

// configuration rewrites the entries of the configuration, and adds redirects.
func (m *mover) configuration(redirects bool) error {
	addresses := m.addresses()
	documents := m.to.configDocuments()
	for _, file := range sortedKeys(documents) {
		d := documents[file]
		var changes []edit.Change
		walkTexts(d.root, nil, func(v *json.Value, keys []string) {
			if now, ok := m.entry(file, v.Text, keys, addresses); ok && now != v.Text {
				changes = append(changes, edit.Change{Span: edit.Span{From: v.Offset, To: v.End}, Text: quote(now)})
			}
		})
		if len(changes) == 0 {
			continue
		}
		m.entries += len(changes)
		if err := m.to.put(file, edit.Splice(d.src, changes)); err != nil {
			return err
		}
	}
	if !redirects {
		return nil
	}
	return m.addRedirects()
}

// addresses maps the addresses of pages that move to their new ones.
func (m *mover) addresses() map[string]string {
	all := map[string]string{}
	for old, now := range m.moved {
		if isPage(old) && isPage(now) {
			a, b := strings.TrimSuffix(old, path.Ext(old)), strings.TrimSuffix(now, path.Ext(now))
			all[a] = b
			if short := cleanAddress(a); short != a && all[short] == "" {
				all[short] = cleanAddress(b)
			}
		}
	}
	return all
}

// cleanAddress returns a page's address without index at its end.
func cleanAddress(address string) string {
	if address == "index" {
		return ""
	}
	return strings.TrimSuffix(address, "/index")
}

// entry returns the new text of an entry of the configuration. keys are the names
// of the members around it.
func (m *mover) entry(file, value string, keys []string, addresses map[string]string) (string, bool) {
	key := ""
	if len(keys) > 0 {
		key = keys[len(keys)-1]
	}
	inRedirects := slices.Contains(keys, "redirects") || !slices.Contains([]string{"docs.json", "mint.json"}, file) && key == "source"
	if inRedirects && key == "source" || isElsewhere(value) && !strings.Contains(value, ":") {
		return "", false
	}
	if key == "$ref" {
		target := refFile(file, value)
		want, ok := m.moved[target]
		if strings.HasPrefix(value, "/") {
			return "/" + want, ok
		}
		return edit.Relative(path.Dir(file), want), ok
	}
	if key == "destination" && m.folder {
		if rest, ok := strings.CutPrefix(value, "/"+m.old+"/"); ok && strings.ContainsAny(rest, ":*") {
			return "/" + m.now + "/" + rest, true
		}
	}
	if isElsewhere(value) {
		return "", false
	}
	part, rest, spaced := strings.Cut(value, " ") // a specification and what of it
	if spaced {
		rest = " " + rest
	} else {
		part = pathPart(value)
		rest = value[len(part):]
	}
	core := strings.TrimPrefix(strings.TrimPrefix(part, "./"), "/")
	lead := part[:len(part)-len(core)]
	if now, ok := m.moved[core]; ok {
		return lead + now + rest, true
	}
	if spaced {
		return "", false
	}
	names := lead != "" || slices.Contains(keys, "navigation") || file != "docs.json"
	switch key {
	case "href", "url", "root", "page", "destination":
		names = true
	}
	short := strings.TrimSuffix(core, "/")
	if now, ok := addresses[short]; ok && names && short != "" {
		return lead + now + core[len(short):] + rest, true
	}
	return "", false
}

// redirectPairs are the addresses that should lead elsewhere after the move: for a
// folder one pattern, if it can be one.
func (m *mover) redirectPairs() (all [][2]string) {
	for _, p := range m.was.Pages {
		if now := m.moved[p.Source]; now != "" && p.From == "" && isPage(now) {
			old, to := p.CleanAddress(), cleanAddress(strings.TrimSuffix(now, path.Ext(now)))
			if old != to {
				all = append(all, [2]string{"/" + edit.EscapeAddress(old), "/" + edit.EscapeAddress(to)})
			}
		}
	}
	nested := strings.HasPrefix(m.now, m.old+"/") || strings.HasPrefix(m.old, m.now+"/")
	stays := slices.ContainsFunc(m.was.Pages, func(p site.Page) bool {
		return m.moved[p.Source] == "" && strings.HasPrefix(p.Address, m.old+"/")
	})
	if m.folder && len(all) > 2 && !nested && !stays {
		return [][2]string{{"/" + edit.EscapeAddress(m.old) + "/:slug*", "/" + edit.EscapeAddress(m.now) + "/:slug*"}}
	}
	return all
}

// addRedirects writes the redirects of a move.
func (m *mover) addRedirects() error {
	wanted := m.redirectPairs()
	if len(wanted) == 0 {
		return nil
	}
	gone := map[string]bool{} // a redirect from where a page is now would never be followed
	for _, now := range m.moved {
		gone[cleanAddress(strings.TrimSuffix(now, path.Ext(now)))] = true
	}
	return m.to.redirect(wanted, gone, func(source, to string) { m.redirects = append(m.redirects, source+" → "+to) })
}

// missingRedirects adds redirects for those pages whose old address leads
// elsewhere, because another redirect comes first.
func (m *mover) missingRedirects() error {
	var wanted [][2]string
	for _, p := range m.was.Pages {
		now := m.moved[p.Source]
		if now == "" || p.From != "" || !isPage(now) {
			continue
		}
		old := "/" + edit.EscapeAddress(p.CleanAddress())
		if sourceOf(m.is, m.is.Resolve(-1, old)) != now {
			wanted = append(wanted, [2]string{old, "/" + edit.EscapeAddress(cleanAddress(strings.TrimSuffix(now, path.Ext(now))))})
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return m.to.redirect(wanted, nil, func(source, to string) { m.redirects = append(m.redirects, source+" → "+to) })
}
