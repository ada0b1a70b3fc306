package site

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// Reference is what a page shows of a specification.
type Reference struct {
	// File is the specification's path in the site.
	File string
	Key  reference.Key
}

// generatedSize is taken for the size of pages that have no source, where work is
// divided by size.
const generatedSize = 16 << 10

// defaultDirectory is where pages made from a specification lie, unless the
// navigation says otherwise.
const defaultDirectory = "api-reference"

// apiReader finds what pages show of specifications, and makes the pages that
// the navigation asks for.
type apiReader struct {
	*configReader
	site   *Site
	reader *reference.Reader
	names  *names
	// files are the specifications that the site may have, by path.
	files map[string]bool
	// known are those that the configuration names, in its order.
	known []string
	// found are all specifications of the site, once they were asked for.
	found func() []string
	// remote means that the configuration names some on other hosts.
	remote bool
	// near are the specifications of the closest part of the navigation that
	// names any, by page.
	near map[int][]string
	// documented are the pages about each operation; addresses those of all.
	documented map[Reference]int
	addresses  map[string]int
	// made are the pages that were made, by where the navigation asked for them.
	made      map[madeFor]int
	generated bool
}

// specsOf are the specifications that a part of the navigation works with:
// its own, or those of what it lies in.
type specsOf struct {
	open, async                   []string // files
	openDirectory, asyncDirectory string
	// division is the language, version or product that the part lies in, nil
	// where the site has none.
	division *Node
}

// madeFor is what a page was made for: an operation in a division of the site.
type madeFor struct {
	Reference
	division *Node
}

func (r *configReader) newAPIReader(s *Site, reader *reference.Reader, paths []string, n *names, addresses map[string]int) *apiReader {
	a := &apiReader{
		configReader: r, site: s, reader: reader, names: n, addresses: addresses,
		files: map[string]bool{}, near: map[int][]string{}, documented: map[Reference]int{}, made: map[madeFor]int{},
	}
	for _, p := range paths {
		switch path.Ext(p) {
		case ".json", ".yaml", ".yml":
			a.files[p] = true
		}
	}
	a.found = sync.OnceValue(a.allSpecifications)
	return a
}

// read finds all specifications that the configuration names, and what pages
// show by their front matter.
func (a *apiReader) read(config *value, page func(string) (int, bool)) {
	a.announce(config)
	for _, key := range [...]string{"api", "openapi", "asyncapi"} { // the last two: the older form
		a.walk(config.get(key), key, nil, page)
	}
	a.walk(config.get("navigation"), "", nil, page)
	for i := range a.site.Pages {
		p := &a.site.Pages[i]
		ref, ok := a.refer(i, p)
		if !ok {
			if named := p.OpenAPI + p.OpenAPISchema + p.AsyncAPI; named != "" {
				file, _, _ := reference.ParseKey(p.OpenAPI)
				p.ReferenceAway = a.remote || reference.Remote(cmp.Or(file, p.OpenAPISchema, p.AsyncAPI))
			}
			continue
		}
		p.Reference = &ref
		if _, twice := a.documented[ref]; !twice {
			a.documented[ref] = i
		}
		o := a.reader.Spec(ref.File).Find(ref.Key)
		p.Deprecated = p.Deprecated || o.Deprecated
		if p.Title == titleOf(cmp.Or(p.Old, p.Address)) { // the front matter has none
			p.Title = o.Name()
			if o.SidebarTitle != "" && p.SidebarTitle == "" {
				p.SidebarTitle = o.SidebarTitle
			}
		}
	}
}

// announce names to the reader all specifications on other hosts that the
// configuration and pages name.
func (a *apiReader) announce(config *value) {
	var all []string
	add := func(name string) {
		if name = strings.TrimSpace(name); reference.Remote(name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	var walk func(v *value)
	walk = func(v *value) {
		for _, m := range v.members() {
			if m.key == "openapi" || m.key == "asyncapi" {
				for _, name := range a.sources(m.val) {
					add(name)
				}
				continue
			}
			walk(m.val)
		}
		for _, i := range v.list() {
			walk(i)
		}
	}
	walk(config)
	for i := range a.site.Pages {
		p := &a.site.Pages[i]
		for _, named := range []func() (string, reference.Key, bool){
			func() (string, reference.Key, bool) { return reference.ParseKey(p.OpenAPI) },
			func() (string, reference.Key, bool) {
				return reference.ParseName(p.OpenAPISchema, reference.KindSchema)
			},
			func() (string, reference.Key, bool) { return reference.ParseName(p.AsyncAPI, reference.KindChannel) },
		} {
			if file, _, ok := named(); ok {
				add(file)
			}
		}
	}
	a.reader.Announce(all)
}

// walk looks through a part of the configuration for specifications, and notes
// which are closest to each page.
func (a *apiReader) walk(v *value, key string, near []string, page func(string) (int, bool)) {
	if v == nil {
		return
	}
	if key == "openapi" || key == "asyncapi" {
		for _, name := range a.sources(v) {
			if file, ok := a.file(v, name); ok && !slices.Contains(a.known, file) {
				a.known = append(a.known, file)
			}
		}
		return
	}
	for _, m := range v.members() {
		if m.key == "openapi" {
			if own := a.spec(m.val); own != nil {
				near = own
			}
		}
	}
	for _, m := range v.members() {
		a.walk(m.val, m.key, near, page)
	}
	for _, i := range v.list() {
		if name, ok := i.text(); ok {
			if p, found := page(name); found && near != nil {
				if _, before := a.near[p]; !before {
					a.near[p] = near
				}
			}
			continue
		}
		a.walk(i, "", near, page)
	}
}

// sources are the names of specifications in one of the forms of the field.
func (a *apiReader) sources(v *value) []string {
	var out []string
	if s, ok := v.text(); ok {
		return []string{a.expand(s)}
	}
	for _, i := range v.list() {
		if s, ok := i.text(); ok {
			out = append(out, a.expand(s))
		}
	}
	for _, m := range v.members() {
		if m.key == "source" {
			out = append(out, a.sources(m.val)...)
		}
	}
	return out
}

// spec are the files that a field names.
func (a *apiReader) spec(v *value) []string {
	var out []string
	for _, name := range a.sources(v) {
		if file, ok := a.find(name); ok {
			out = append(out, file)
		}
	}
	return out
}

// beside finds a specification that a page names: by a path relative to the page, or
// as find does.
func (a *apiReader) beside(p *Page, name string) (string, bool) {
	if reference.Remote(name) {
		return a.find(name)
	}
	if !strings.HasPrefix(name, "/") {
		relative := strings.TrimPrefix(path.Join("/", path.Dir(p.Source), name), "/")
		inRoot := path.Clean("/" + name)[1:]
		if up := strings.HasPrefix(name, "."); up || !a.have(inRoot) {
			if file, ok := a.exact(relative); ok {
				return file, true
			}
		}
	}
	return a.find(name)
}

// exact finds a specification by its path in the site, with or without its
// extension.
func (a *apiReader) exact(name string) (string, bool) {
	for _, ext := range [...]string{"", ".json", ".yaml", ".yml"} {
		if a.files[name+ext] {
			return name + ext, true
		}
	}
	return "", false
}

func (a *apiReader) have(name string) bool {
	_, ok := a.exact(name)
	return ok
}

// file finds a specification, and reports one that is not here.
func (a *apiReader) file(v *value, name string) (string, bool) {
	if name = strings.TrimSpace(name); name == "" {
		return "", false
	}
	if reference.Remote(name) {
		problem := a.reader.Fetch(name)
		if problem == "" {
			return name, true
		}
		a.remote = true
		a.report(v, mdx.Warning, "api-remote", "the specification %s %s: its pages show what their authors wrote; put a copy into the site", name, problem)
		return "", false
	}
	file, ok := a.find(name)
	if !ok {
		a.report(v, mdx.Error, "api-missing", "there is no specification %q in this site", name)
	}
	return file, ok
}

// find finds a specification by its path, with or without its extension, or by
// its name alone among those that are known.
func (a *apiReader) find(name string) (string, bool) {
	if reference.Remote(name) {
		return name, a.reader.Fetch(name) == ""
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if file, ok := a.exact(name); ok {
		return file, true
	}
	for _, f := range a.known {
		if base := path.Base(f); base == name || strings.TrimSuffix(base, path.Ext(base)) == name {
			return f, true
		}
	}
	return "", false
}

// restricted reports whether an entry of the navigation names an operation that
// is for other readers.
func (a *apiReader) restricted(above *Node, name string) bool {
	file, key, ok := reference.ParseKey(name)
	candidates := slices.Concat(above.specs.open, a.known)
	if !ok {
		file, key, _ = reference.ParseName(name, reference.KindChannel)
		candidates = above.specs.async
	}
	if f, found := a.find(file); file != "" && found {
		candidates = []string{f}
	}
	for _, f := range candidates {
		if spec := a.reader.Spec(f); spec != nil {
			if _, out := spec.Restricted(key); out {
				return true
			}
		}
	}
	return false
}

// refer finds what a page shows, and reports what there is not.
func (a *apiReader) refer(i int, p *Page) (ref Reference, ok bool) {
	file, key, ok := "", reference.Key{}, false
	text := p.OpenAPI
	switch {
	case p.OpenAPI != "":
		file, key, ok = reference.ParseKey(p.OpenAPI)
	case p.OpenAPISchema != "":
		text = p.OpenAPISchema
		file, key, ok = reference.ParseName(p.OpenAPISchema, reference.KindSchema)
	case p.AsyncAPI != "":
		text = p.AsyncAPI
		file, key, ok = reference.ParseName(p.AsyncAPI, reference.KindChannel)
	default:
		return ref, false
	}
	say := func(severity mdx.Severity, code, format string, args ...any) {
		a.report(top(p.Source), severity, code, format, args...)
	}
	if !ok {
		// A specification alone says where the page's operation would be, and names
		// none: the page shows what its author wrote.
		if alone, is := reference.ParseFile(text); is && p.OpenAPI != "" {
			if reference.Remote(alone) {
				return ref, false
			}
			if _, found := a.beside(p, alone); !found {
				say(mdx.Error, "api-missing", "there is no specification %q in this site", alone)
			}
			return ref, false
		}
		say(mdx.Error, "api-operation", "%q names no operation such as \"GET /users\"", text)
		return ref, false
	}
	var candidates []string
	all := false // of the site
	switch {
	case reference.Remote(file):
		if problem := a.reader.Fetch(file); problem != "" {
			say(mdx.Warning, "api-remote", "the specification %s %s", file, problem)
			return ref, false
		}
		candidates = []string{file}
	case file != "":
		f, found := a.beside(p, file)
		if !found {
			say(mdx.Error, "api-missing", "there is no specification %q in this site", file)
			return ref, false
		}
		candidates = []string{f}
	default:
		candidates, all = slices.Concat(a.near[i], a.known), true
	}
	for k := 0; k < len(candidates) || all; k++ {
		if k == len(candidates) { // it is in none that the configuration names
			all = false
			for _, f := range a.found() {
				if !slices.Contains(candidates, f) {
					candidates = append(candidates, f)
				}
			}
			if k == len(candidates) {
				break
			}
		}
		f := candidates[k]
		if spec := a.reader.Spec(f); spec != nil {
			if o := spec.Find(key); o != nil {
				return Reference{File: f, Key: o.Key}, true
			}
			if only, out := spec.Restricted(key); out {
				if own := a.heads[p.Source]; own.only == nil || a.lets(own.only.groups) {
					a.heads[p.Source] = access{only: &restriction{groups: only, file: p.Source, line: 1, column: 1}}
				}
				return ref, false
			}
		}
	}
	switch {
	case len(candidates) > 0 && !a.remote:
		say(mdx.Error, "api-operation", "%s is in none of the specifications %s", key, listed(candidates))
	case len(candidates) > 0:
		say(mdx.Warning, "api-operation", "%s is in none of the specifications that are in this site", key)
	case !a.remote:
		say(mdx.Error, "api-missing", "the site has no specification that could have %s", key)
	}
	return ref, false
}

// listed names the first specifications of a list, and says how many more there are.
func listed(files []string) string {
	const most = 5
	var names []string
	for _, f := range files {
		if !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// allSpecifications are all specifications of the site, sorted.
func (a *apiReader) allSpecifications() []string {
	var out []string
	for _, f := range slices.Sorted(maps.Keys(a.files)) {
		if a.reader.IsSpecification(f) {
			out = append(out, f)
		}
	}
	return out
}

// own reads the specifications that a node of the navigation names; what lies
// above has a say where it names none.
func (a *apiReader) own(node, above *Node, open, async *value) (named bool) {
	node.specs = above.specs
	switch node.Kind {
	case KindLanguage, KindVersion, KindProduct:
		node.specs.division = node
	}
	if open != nil {
		node.specs.open, named = a.spec(open), true
		if node.OpenAPIDirectory != "" {
			node.specs.openDirectory = node.OpenAPIDirectory
		}
	}
	if async != nil {
		node.specs.async, named = a.spec(async), true
		if node.AsyncAPIDirectory != "" {
			node.specs.asyncDirectory = node.AsyncAPIDirectory
		}
	}
	return named
}

// operation finds or makes the page of an entry such as "GET /users".
func (a *apiReader) operation(above *Node, name string) (int, bool) {
	file, key, ok := reference.ParseKey(name)
	directory := above.specs.openDirectory
	candidates := slices.Concat(above.specs.open, a.known)
	if !ok {
		if len(above.specs.async) == 0 {
			return -1, false
		}
		file, key, _ = reference.ParseName(name, reference.KindChannel)
		directory, candidates = above.specs.asyncDirectory, above.specs.async
	}
	if file != "" {
		f, found := a.find(file)
		if !found {
			return -1, false
		}
		candidates = []string{f}
	}
	for _, f := range candidates {
		if spec := a.reader.Spec(f); spec != nil {
			if o := spec.Find(key); o != nil {
				return a.page(f, o, directory, above.specs.division)
			}
		}
	}
	return -1, false
}

// all makes the pages of all operations of a node's own specifications, grouped
// by tag in the order of the file.
func (a *apiReader) all(node *Node, open, async bool, used func(int)) []*Node {
	var out []*Node
	groups := map[string]*Node{}
	add := func(files []string, directory string) {
		for _, f := range files {
			spec := a.reader.Spec(f)
			if spec == nil {
				continue
			}
			for i := range spec.Operations {
				o := &spec.Operations[i]
				if o.Excluded {
					continue
				}
				p, ok := a.page(f, o, directory, node.specs.division)
				if !ok || o.Hidden {
					continue
				}
				used(p)
				entry := &Node{Kind: KindPage, Page: p, Root: -1}
				if o.Group == "" {
					out = append(out, entry)
					continue
				}
				g := groups[o.Group]
				if g == nil {
					g = &Node{Kind: KindGroup, Page: -1, Root: -1, Label: o.Group, Directory: node.Directory}
					groups[o.Group] = g
					out = append(out, g)
				}
				g.Children = append(g.Children, entry)
			}
		}
	}
	if open {
		add(node.specs.open, node.specs.openDirectory)
	}
	if async {
		add(node.specs.async, node.specs.asyncDirectory)
	}
	return out
}

// maxTwice bounds the pages of a site where operations get a page in each
// division, so that a small docs.json can't make a page of each of many
// divisions and operations.
const maxTwice = 50_000

// page returns the page about an operation: the author's, else one that is made.
// There is one, unless another language, version or product of the site asks for
// it in another directory: readers stay where they are.
func (a *apiReader) page(file string, o *reference.Operation, directory string, division *Node) (int, bool) {
	ref := Reference{File: file, Key: o.Key}
	directory = cmp.Or(directory, defaultDirectory)
	if i, ok := a.made[madeFor{ref, division}]; ok {
		return i, true
	}
	if i, ok := a.documented[ref]; ok {
		again := i >= 0 && a.site.Pages[i].From != "" && o.Href == "" && len(a.site.Pages) < maxTwice &&
			!strings.HasPrefix(a.site.Pages[i].Address, strings.Trim(path.Clean("/"+directory), "/")+"/")
		if !again {
			return i, i >= 0
		}
	}
	address := o.Href
	if address == "" {
		address = path.Join(strings.Trim(path.Clean("/"+directory), "/"), slugOf(cmp.Or(o.Folder, o.Group)), cmp.Or(slugOf(o.Name()), slugOf(o.Key.String()), "operation"))
	} else {
		address = strings.Trim(path.Clean("/"+address), "/")
	}
	if Reserved(address) {
		a.report(&value{file: file, line: max(o.Line, 1), column: 1}, mdx.Error, "name-reserved", "its address is kept for the bundle's own files: %s has no page", o.Key)
		a.documented[ref] = -1
		return -1, false
	}
	old := ""
	if reason := filename.Fault(address, filename.Page); reason != "" {
		old, address = address, filename.Portable(address, filename.Page)
		a.report(&value{file: file, line: max(o.Line, 1), column: 1}, mdx.Warning, "file-renamed",
			"the page of %s is /%s, not /%s: not every disk and archive can carry that name (%s)", o.Key, address, old, reason)
	}
	if i, taken := a.addresses[address]; taken && o.Href != "" && a.site.Pages[i].From == "" {
		a.report(&value{file: file, line: max(o.Line, 1), column: 1}, mdx.Notice, "api-extension",
			"%s leads to the page %s, which has its address and shows nothing of the specification: write \"openapi: %[1]s\" into that page's front matter", o.Key, a.site.Pages[i].Source)
		a.documented[ref] = i
		return i, true
	}
	for n, base := 2, address; ; n++ {
		if _, taken := a.addresses[address]; !taken && a.names.clash(address+".html") == "" && a.names.clash(address+".md") == "" {
			break
		}
		if n > 1000 || o.Href != "" {
			a.report(&value{file: file, line: max(o.Line, 1), column: 1}, mdx.Error, "page-shadowed", "%s has no page: another has its address %s", o.Key, base)
			a.documented[ref] = -1
			return -1, false
		}
		address = fmt.Sprintf("%s-%d", base, n)
	}
	p := a.headed(file, address, o)
	p.Old = old
	p.From, p.Title, p.Reference, p.Size = file, o.Name(), &ref, generatedSize
	p.Deprecated, p.Hidden = p.Deprecated || o.Deprecated, p.Hidden || o.Hidden
	switch o.Key.Kind {
	case reference.KindChannel:
		p.AsyncAPI = o.Key.Path
	case reference.KindWebhook:
		p.OpenAPI = "WEBHOOK " + o.Key.Path
	default:
		p.OpenAPI = o.Key.String()
	}
	i := len(a.site.Pages)
	a.site.Pages = append(a.site.Pages, p)
	a.names.add(p.Output, file)
	a.names.add(address+".md", file)
	a.addresses[address], a.made[madeFor{ref, division}], a.generated = i, i, true
	if _, before := a.documented[ref]; !before {
		a.documented[ref] = i
	}
	return i, true
}

// headed returns a page about an operation with what the operation says for its
// front matter. The description is left to the page's own part about the
// operation, and who may read it to the reader of the specification.
func (a *apiReader) headed(file, address string, o *reference.Operation) Page {
	at := &value{file: file, line: max(o.Line, 1), column: 1}
	head, diag := frontMatter(file, o.Head)
	if diag != nil {
		a.report(at, mdx.Warning, diag.Code, "%s: %s", o.Key, diag.Message)
	}
	for _, key := range slices.Sorted(maps.Keys(head)) {
		if head[key].present && head[key].text != "false" {
			a.tell(at, capability.Head, key)
		}
	}
	if head["public"].isTrue() {
		a.heads[address+".mdx"] = access{public: true}
	}
	for _, key := range [...]string{"openapi", "openapi-schema", "asyncapi", "url"} {
		delete(head, key)
	}
	p, problem := newPage(address+".mdx", head, a.expand)
	if problem != "" {
		a.report(at, mdx.Warning, "front-matter-mode", "%s: %s", o.Key, problem)
	}
	p.Description = ""
	return p
}

// slugOf makes an element of an address from a text, "" from one without letters and
// digits.
func slugOf(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFC.String(strings.ToLower(text)) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
		if b.Len() > 100 {
			break
		}
	}
	return b.String()
}

// sortPages puts the pages into the order of their sources after some were
// added, and updates the navigation.
func (s *Site) sortPages() {
	order := make([]int, len(s.Pages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return strings.Compare(s.Pages[x].Source, s.Pages[y].Source) })
	s.arrange(order)
}

// arrange makes order, indices of the pages, the list of the pages, and adapts
// the navigation, which names no page that is not in it.
func (s *Site) arrange(order []int) {
	pages, moved := make([]Page, len(order)), make([]int, len(s.Pages))
	for to, from := range order {
		pages[to], moved[from] = s.Pages[from], to
	}
	s.Pages = pages
	var walk func(n *Node)
	walk = func(n *Node) {
		if n.Page >= 0 {
			n.Page = moved[n.Page]
		}
		if n.Root >= 0 {
			n.Root = moved[n.Root]
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(s.Nav)
	for _, g := range s.Global {
		walk(g)
	}
}
