package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/ignore"
	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// Options say how to read a site.
type Options struct {
	// Domain is the host name that the site is published under.
	Domain string
	// Base is the path below it, without slashes at its ends; empty for the root.
	Base string
	// Prefixes, if any, are the addresses whose pages are wanted: a page is
	// when its address is one of them or lies below it.
	Prefixes []string
	// Prefetch, if not nil, is told which files are read next, some hundred
	// at a time, so that a remote file system can read them together.
	Prefetch func(ctx context.Context, paths []string) error
	// Heads, if not nil, has the heads of pages that were read before.
	Heads Heads
	// Groups are groups of readers, sorted: what the site's author keeps for
	// one of them is let in. What is for others is left out.
	Groups []string
	// Reference reads the site's specifications, for the same Groups; nil means
	// one of Load's own.
	Reference *reference.Reader
	// Publish selects files that are published although the format does not serve
	// them.
	Publish ignore.Rules
}

// Heads keeps the heads of pages, so that a page that did not change need not be
// read again to learn what its head says.
type Heads interface {
	// Head returns the YAML of a page's head; false where it is not known.
	Head(source string) ([]byte, bool)
	// Keep is called with each head that was not known, which is the caller's.
	Keep(source string, yaml []byte)
}

// prefetchPages is how many pages are announced to Options.Prefetch at once.
const prefetchPages = 512

// Load reads a site from fsys. paths are all its files, sorted. What is wrong
// with single pages or fields is returned as diagnostics; the error is a
// *ConfigError when the site can't be used at all, or what fsys or ctx said.
func Load(ctx context.Context, fsys fs.FS, paths []string, opt Options) (*Site, []mdx.Diagnostic, error) {
	r := &configReader{ctx: ctx, fsys: fsys, groups: opt.Groups, heads: make(map[string]access), specsGone: make(map[string]bool)}
	s := &Site{Domain: strings.ToLower(opt.Domain), Base: strings.Trim(opt.Base, "/")}
	for _, p := range opt.Prefixes {
		s.Prefixes = append(s.Prefixes, strings.Trim(path.Clean("/"+p), "/"))
	}
	slices.Sort(s.Prefixes)

	config, err := r.find(s)
	if err != nil {
		return nil, nil, err
	}
	s.Config = r.settings(config, s.legacy())
	var redirects []*value
	s.Redirects, redirects = r.redirects(config.get("redirects"))
	names, err := r.files(s, config, paths, opt)
	if err != nil {
		return nil, nil, err
	}
	r.assets(s, config)
	specs := opt.Reference
	if specs == nil {
		specs = reference.NewReader(fsys)
		specs.LetIn(opt.Groups)
	}
	specs.Label(s.Config.API.Labels)
	var generated bool
	s.Nav, generated = r.navigation(s, config, func(addresses map[string]int) *apiReader {
		return r.newAPIReader(s, specs, paths, names, addresses)
	})
	if generated {
		s.sortPages()
	}
	r.restrict(s)
	if err := r.restrictFiles(s, config, specs, paths, opt.Prefetch); err != nil {
		return nil, nil, err
	}
	r.settleGroups(s, config, specs.Groups())
	r.diags = append(r.diags, specs.Diagnostics()...)
	shown := make(map[int]bool, len(s.Pages))
	s.Nav.shown(shown)
	for i := range s.Pages {
		p := &s.Pages[i]
		p.Excluded = !included(p, s.Prefixes)
		if s.Config.SEO.NoIndex || (p.Hidden || !shown[i]) && s.Config.SEO.Indexing != "all" {
			p.NoIndex = true
		}
	}
	for _, prefix := range s.Prefixes {
		if !slices.ContainsFunc(s.Pages, func(p Page) bool { return included(&p, []string{prefix}) }) {
			r.report(config, mdx.Warning, "path-empty", "no page lies below the path %q that was asked for", prefix)
		}
	}
	r.unread(config, "the configuration")
	r.follow(s, redirects)
	s.keepOldAddresses()
	if r.more > 0 {
		r.diags = append(r.diags, mdx.Diagnostic{
			Severity: mdx.Error, Code: "list-cut", File: s.ConfigFile,
			Message: fmt.Sprintf("the configuration has %d more findings like these, which are not listed", r.more),
		})
	}
	return s, r.diags, nil
}

// legacy reports whether the configuration has the older form.
func (s *Site) legacy() bool { return s.ConfigFile == "mint.json" }

// settings reads the configuration's fields, the navigation and the redirects
// excepted.
func (r *configReader) settings(config *value, legacy bool) Config {
	r.variables = r.readVariables(config.get("variables"))
	read := r.config
	if legacy {
		read = r.legacyConfig
	}
	c := read(config)
	if c.Name == "" {
		c.Name = "Documentation"
		r.report(config, mdx.Warning, "config-name", "the site has no name")
	}
	return c
}

// files finds the site's pages and static files, and returns their names in the
// bundle. A file that the navigation names is a page whatever it is called.
func (r *configReader) files(s *Site, config *value, paths []string, opt Options) (*names, error) {
	var entries []string
	collectStrings(config.get("navigation"), &entries)
	mentioned := make(map[string]bool, len(entries))
	for _, e := range entries {
		mentioned[strings.TrimSuffix(strings.TrimSuffix(strings.Trim(r.expand(e), "/"), ".mdx"), ".md")] = true
	}
	sources, static, err := r.sort(s, config, paths, opt.Publish, func(p string) bool { return mentioned[p] })
	if err != nil {
		return nil, err
	}
	if err := r.pages(s, sources, opt); err != nil {
		return nil, err
	}
	names, diags := s.placePages(static)
	r.diags = append(r.diags, diags...)
	r.diags = append(r.diags, s.placeFiles(names, static)...)
	return names, nil
}

// navigation reads the navigation, and makes the pages about operations that it
// asks for, and reports whether there are such. apiOf returns what makes them,
// for the existing pages, by address.
func (r *configReader) navigation(s *Site, config *value, apiOf func(map[string]int) *apiReader) (root *Node, generated bool) {
	byAddress := make(map[string]int, 2*len(s.Pages))
	for i := range s.Pages {
		byAddress[s.Pages[i].Address] = i
	}
	for i := range s.Pages {
		addresses(byAddress).addOld(&s.Pages[i], i)
	}
	page := func(name string) (int, bool) {
		name = strings.Trim(name, "/")
		for _, a := range [...]string{name, strings.TrimSuffix(name, ".mdx"), strings.TrimSuffix(name, ".md"), name + "/index"} {
			if i, ok := byAddress[a]; ok {
				return i, true
			}
		}
		i, ok := byAddress["index"]
		return i, ok && name == ""
	}
	api := apiOf(byAddress)
	api.read(config, page)
	n := &navReader{configReader: r, site: s, page: page, used: func(p int) { s.Pages[p].InNav = true }, api: api}
	if s.legacy() {
		root = n.legacyRoot(config)
	} else {
		root = n.root(config.get("navigation"))
	}
	if len(root.Children) == 0 && len(s.Pages) > 0 {
		r.report(config, mdx.Warning, "nav-empty", "the navigation names no page: all pages are listed")
		for i := range s.Pages {
			if !s.Pages[i].Hidden {
				root.Children = append(root.Children, &Node{Kind: KindPage, Page: i, Root: -1})
				s.Pages[i].InNav = true
			}
		}
	}
	return root, api.generated
}

// follow looks where the configuration's links and redirects lead.
func (r *configReader) follow(s *Site, redirects []*value) {
	for _, f := range r.refers {
		switch t := s.Resolve(-1, f.href); {
		case t.Kind == Unsafe:
			r.report(f.at, mdx.Warning, "link-unsafe", "a link to %q is left out: its scheme is not safe on a page", f.href)
		case t.Kind == Restricted:
			r.report(f.at, mdx.Warning, "link-restricted", "a link is left out: %s", s.WhyRestricted(t))
		case t.Kind == Missing && f.asset:
			r.report(f.at, mdx.Warning, "file-missing", "there is no file %s%s", t.Path, s.WhyMissing(t))
		case t.Kind == Missing:
			r.report(f.at, mdx.Warning, "link-missing", "there is no page or file %s in this site: the link leads to the site's domain%s", t.Path, s.WhyMissing(t))
		}
	}
	for i := range s.Pages {
		p := &s.Pages[i]
		if t := s.Resolve(-1, p.Canonical); p.Canonical != "" && t.Kind == Restricted {
			p.Canonical = ""
			r.report(top(p.Source), mdx.Warning, "link-restricted", "the canonical address is left out: %s", s.WhyRestricted(t))
		}
		if p.URL == "" {
			continue
		}
		switch t := s.Resolve(-1, p.URL); t.Kind {
		case Missing:
			r.report(top(p.Source), mdx.Warning, "link-missing", "there is no page or file %s in this site: the url leads to the site's domain", t.Path)
		case Restricted:
			r.report(top(p.Source), mdx.Warning, "link-restricted", "the url is left out: %s", s.WhyRestricted(t))
		}
	}
	s.checkRedirects(r, redirects)
}

// checkRedirects reports redirects that lead nowhere, in a circle, or not at once.
func (s *Site) checkRedirects(r *configReader, places []*value) {
	gone, names := make(map[int]reference.Audience), s.namesWithheld()
	first := make(map[string]int, len(s.Redirects)) // by source
	for i, d := range s.Redirects {
		source := redirect.Parse(d.Source)
		from := source.Path
		p, wild := redirect.Compile(from)
		if wild {
			from = samplePath(p)
		}
		_, open := redirect.Compile(d.Destination)
		key := source.Path + conditionOf(source).suffix()
		before, again := first[key]
		if !again {
			first[key] = i
		}
		inert, unknown := redirect.Inert(source.Path), p.Unknown(d.Destination)
		var page Target
		taken := !wild && from != "" && conditionOf(source).empty() && s.found(s.tables(), from, &page)
		passed, named, loop := s.way(from)
		switch t := s.Resolve(-1, "/"+escapePath(from)+conditionOf(source).suffix()); {
		case loop:
			r.report(places[i], mdx.Warning, "redirect-loop", "the redirect from %q to %q leads in a circle", d.Source, d.Destination)
		case t.Kind == Restricted:
			gone[i] = s.withheld(t).Groups
			r.report(places[i], mdx.Warning, "redirect-restricted", "the redirect from %q is left out: %s", d.Source, s.WhyRestricted(t))
		case names(d):
			gone[i] = nil
			r.report(places[i], mdx.Warning, "redirect-restricted", "the redirect from %q to %q is left out: what it names is for other readers", d.Source, d.Destination)
		case again:
			r.report(places[i], mdx.Warning, "redirect-unused", "the redirect from %q has no effect: the one in line %d has the same source", d.Source, places[before].line)
		case taken:
			r.report(places[i], mdx.Warning, "redirect-unused", "the redirect from %q has no effect: there is a page or file at this address", d.Source)
		case inert != "":
			r.report(places[i], mdx.Warning, "redirect-pattern", "%q in the source %q represents itself: names are whole elements of a path, and a star ends one", inert, d.Source)
		case unknown != "":
			r.report(places[i], mdx.Warning, "redirect-pattern", "%q in the destination %q stays as it is: the source %q has no such name", unknown, d.Destination, d.Source)
		case t.Kind == Missing && !(wild && open):
			r.report(places[i], mdx.Warning, "redirect-missing", "the redirect from %q to %q leads nowhere", d.Source, d.Destination)
		case !wild && conditionOf(source).empty() && t.Kind != Missing && filename.Fault(strings.Trim(from, "/"), filename.Page) != "" && from != "":
			r.report(places[i], mdx.Notice, "redirect-name", "the redirect from %q needs a server that reads bindery.json: no file can stand there, because %s", d.Source, filename.Fault(strings.Trim(from, "/"), filename.Page))
		case named && len(passed) > 1 && t.Kind != Missing:
			r.report(places[i], mdx.Notice, "redirect-chain", "the redirect from %q leads on from %q: it could lead to %q at once", d.Source, d.Destination, passed[len(passed)-1])
		}
	}
	if _, more := s.OldAddresses(); more {
		r.report(places[0], mdx.Notice, "redirect-cut", "the patterns among the redirects stand for more addresses than the bundle has pages for; its description has the patterns")
	}
	s.dropRedirects(gone)
}

func (r *configReader) find(s *Site) (*value, error) {
	for _, name := range [...]string{"docs.json", "mint.json"} {
		v, err := r.read(name, nil)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, ok := v.v.([]member); !ok {
			return nil, &ConfigError{File: name, Line: v.line, Column: v.column, Message: "expected an object, found " + v.kind()}
		}
		s.ConfigFile = name
		return v, nil
	}
	return nil, &ConfigError{File: "docs.json", Message: "the folder has no such file, which says what the site consists of; bindery init writes one"}
}

func collectStrings(v *value, out *[]string) {
	if v == nil {
		return
	}
	if s, ok := v.text(); ok {
		*out = append(*out, s)
	}
	for _, i := range v.list() {
		collectStrings(i, out)
	}
	for _, m := range v.members() {
		collectStrings(m.val, out)
	}
}

func configFiles(v *value, out map[string]bool) {
	if v == nil {
		return
	}
	if v.file != "" {
		out[v.file] = true
	}
	for _, i := range v.list() {
		configFiles(i, out)
	}
	for _, m := range v.members() {
		configFiles(m.val, out)
	}
}

// sort divides files into sources of pages and static files. It notes those that the
// format does not serve, unless publish selects them.
func (r *configReader) sort(s *Site, config *value, paths []string, publish ignore.Rules, named func(string) bool) (sources, static []string, err error) {
	left := leftOut{}
	configs := map[string]bool{"docs.json": true, "mint.json": true, RulesFile: true}
	configFiles(config, configs)
	taken := make(map[string]bool)
	for i, p := range paths {
		if i%1024 == 0 && r.ctx.Err() != nil {
			return nil, nil, r.ctx.Err()
		}
		if configs[p] {
			continue
		}
		kind := classify(p, named)
		if kind == ignoredFile && hidden(p) && publish.Selects(p) {
			kind = staticFile
		}
		if kind == staticFile {
			if not := unserved(p); not != "" && !publish.Selects(p) {
				left.add(not, p)
				s.LeftOut = append(s.LeftOut, p)
				continue
			}
		}
		if Reserved(p) && kind != ignoredFile && kind != sourceFile {
			r.report(&value{file: p}, mdx.Error, "name-reserved", "the name is kept for the bundle's own files: the file is left out")
			continue
		}
		switch kind {
		case staticFile:
			static = append(static, p)
		case pageFile:
			if address, ok := strings.CutSuffix(p, ".mdx"); ok {
				taken[strings.ToLower(address)] = true
			}
			sources = append(sources, p)
		}
	}
	kept := sources[:0]
	for _, p := range sources {
		if address, ok := strings.CutSuffix(p, ".md"); ok && taken[strings.ToLower(address)] {
			r.report(&value{file: p}, mdx.Warning, "page-shadowed", "the page is left out: one that ends in .mdx has the same address")
			continue
		}
		kept = append(kept, p)
	}
	slices.Sort(kept)
	slices.Sort(static)
	slices.Sort(s.LeftOut)
	r.diags = append(r.diags, left.report()...)
	return kept, static, nil
}

func (r *configReader) pages(s *Site, sources []string, opt Options) error {
	s.Pages = make([]Page, 0, len(sources))
	heads := make([][]byte, 0, prefetchPages) // of the pages that were announced; nil where they must be read
	for i, source := range sources {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if i%prefetchPages == 0 {
			var err error
			if heads, err = r.headsOf(heads[:0], sources[i:min(i+prefetchPages, len(sources))], opt); err != nil {
				return err
			}
		}
		yaml, size, err := readHead(r.fsys, source, heads[i%prefetchPages])
		if err != nil {
			return err
		}
		if opt.Heads != nil && heads[i%prefetchPages] == nil {
			opt.Heads.Keep(source, yaml)
		}
		head, diag := frontMatter(source, yaml)
		if diag != nil {
			r.diags = append(r.diags, *diag)
		}
		if a := r.pageAccess(source, yaml, head, diag != nil); a != (access{}) {
			r.heads[source] = a
		}
		heading := head[headingKey].text
		delete(head, headingKey)
		r.tellHead(source, yaml, head)
		p, problem := newPage(source, head, r.expand)
		if heading != "" && strings.TrimSpace(head["title"].text) == "" {
			p.Title = heading
		}
		if problem != "" {
			r.report(top(source), mdx.Warning, "front-matter-mode", "%s", problem)
		}
		if to := cleanHref(p.URL); !html.SafeURL(to) || schemeOf(to) == "data" {
			r.report(top(source), mdx.Warning, "link-unsafe", "the url %q is left out: its scheme is not safe on a page", p.URL)
			p.URL = ""
		}
		for j := range p.Meta {
			if m := &p.Meta[j]; m.Picture() {
				m.Line = headField(source, yaml, m.Name).line
			}
		}
		p.Size = size
		s.Pages = append(s.Pages, p)
	}
	r.headsTold()
	return nil
}

// headsOf appends the heads of pages as far as they are known, nil for the others,
// and announces those.
func (r *configReader) headsOf(dst [][]byte, sources []string, opt Options) ([][]byte, error) {
	var unknown []string
	for _, source := range sources {
		var head []byte
		if opt.Heads != nil {
			if yaml, ok := opt.Heads.Head(source); ok {
				if head = yaml; head == nil {
					head = []byte{}
				}
			}
		}
		if dst = append(dst, head); head == nil {
			unknown = append(unknown, source)
		}
	}
	if opt.Prefetch == nil || len(unknown) == 0 {
		return dst, nil
	}
	return dst, opt.Prefetch(r.ctx, unknown)
}

// readHead returns the YAML of a page's head, which is known unless it is nil, and
// the size of its source. Of a huge page it reads only the beginning.
func readHead(fsys fs.FS, name string, known []byte) (yaml []byte, size int64, err error) {
	const huge, enough = 16 << 20, 2 * maxFrontMatter
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	if known != nil {
		return known, info.Size(), nil
	}
	var src []byte
	if info.Size() <= huge {
		src, err = fs.ReadFile(fsys, name)
		size = int64(len(src))
	} else {
		src, err = readBeginning(fsys, name, enough)
		size = info.Size()
	}
	if err != nil {
		return nil, 0, err
	}
	return Head(src), size, nil
}

func readBeginning(fsys fs.FS, name string, size int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

// assets finds the site's own style sheets and scripts: those that the
// configuration names first, in its order, then all others by path.
func (r *configReader) assets(s *Site, config *value) {
	have := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		have[f] = true
	}
	pick := func(key, ext string) []string {
		var out []string
		done := make(map[string]bool)
		list := config.get(key)
		entries := list.list()
		if _, single := list.text(); single {
			entries = []*value{list}
		}
		for _, v := range entries {
			name, ok := v.text()
			if !ok {
				continue
			}
			if name = r.expand(name); strings.HasPrefix(name, "//") || strings.Contains(name, "://") {
				address, _, _ := strings.Cut(strings.TrimSpace(name), "#")
				if strings.HasPrefix(address, "//") {
					address = "https:" + address
				}
				if !done[address] {
					done[address] = true
					out = append(out, address)
					s.Outside = append(s.Outside, Outside{Address: address, File: v.file, Line: v.line, Column: v.column})
				}
				continue
			}
			f := strings.Trim(path.Clean("/"+name), "/")
			if !have[f] {
				r.report(v, mdx.Warning, "file-missing", "there is no file %s", f)
				continue
			}
			if !done[f] {
				done[f] = true
				out = append(out, f)
			}
		}
		for _, f := range s.Files {
			if strings.HasSuffix(f, ext) && !done[f] {
				out = append(out, f)
			}
		}
		return out
	}
	s.Styles, s.Scripts = pick("styles", ".css"), pick("scripts", ".js")
}
