package frame

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// ownFiles writes what Files does.
type ownFiles struct {
	views *Views
	// taken are the names of the bundle, and folders those of its folders, in
	// lower case.
	taken, folders map[string]struct{}
	add            func(name string, data []byte) error
	root           []byte // the document at the root, nil for a redirect
	err            error  // the first one; nothing is added after it
}

// Files calls add with each file that a bundle has besides the site's, root being
// the document of the root where no page is (see site.AtRoot), always in the same
// order: those of the theme, the page for addresses that don't exist,
// redirects, pages that list large sections, and the lists for search engines and
// language models. A file that the site itself has wins over one of these. Files
// returns the first error of add as it is; others are faults of our own.
func (v *Views) Files(root []byte, add func(name string, data []byte) error) error {
	o := newOwnFiles(v, add)
	o.root = root
	for i := range v.site.Pages {
		if p := &v.site.Pages[i]; !p.Excluded {
			o.take(p.Output)
			o.take(p.MarkdownPath())
		}
	}
	for _, f := range v.site.Files {
		o.take(f)
	}
	for _, step := range []func(){o.theme, o.pictures, o.contentsPages, o.index, o.redirects, o.sitemaps, o.robots, o.llms} {
		if step(); o.err != nil {
			break
		}
	}
	return o.err
}

func newOwnFiles(v *Views, add func(name string, data []byte) error) *ownFiles {
	return &ownFiles{
		views: v, add: add,
		taken: make(map[string]struct{}, 2*len(v.site.Pages)+len(v.site.Files)), folders: make(map[string]struct{}),
	}
}

// take notes a name and its folders.
func (o *ownFiles) take(name string) {
	name = strings.ToLower(name)
	o.taken[name] = struct{}{}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := o.folders[dir]; ok {
			break
		}
		o.folders[dir] = struct{}{}
	}
}

// free reports whether a name can still be given: it is neither a file nor a folder, and
// none of its own folders is a file.
func (o *ownFiles) free(name string) bool {
	name = strings.ToLower(name)
	if _, ok := o.folders[name]; ok {
		return false
	}
	for at := name; at != "."; at = path.Dir(at) {
		if _, ok := o.taken[at]; ok {
			return false
		}
	}
	return true
}

// put adds a file unless the site has one of the name.
func (o *ownFiles) put(name string, data []byte) {
	if o.err == nil && o.free(name) {
		o.take(name)
		o.err = o.add(name, data)
	}
}

func (o *ownFiles) theme() {
	for _, a := range o.views.theme.Assets() {
		o.put(a.Path, a.Data)
	}
	if a := o.views.services.analytics; a != nil {
		o.put(a.Path, a.Data)
	}
	v := o.views
	o.put("404.html", v.theme.NotFound(v.site.AbsoluteURL(""), v.parts(), v.finder != nil))
}

// parts are the tabs of the section that readers see first, or without tabs its
// groups, by absolute addresses.
func (v *Views) parts() []theme.Link {
	var out []theme.Link
	add := func(label, href string) {
		if href != "" && !isExternal(href) {
			href = v.site.AbsoluteURL("") + href
		}
		if href != "" {
			out = append(out, theme.Link{Label: label, Href: href})
		}
	}
	f := v.frame(v.fallback, 0)
	for _, tab := range f.header.Tabs {
		add(tab.Label, tab.Href)
	}
	if len(out) > 0 || v.fallback == nil {
		return out
	}
	l := &linker{views: v}
	for _, n := range v.fallback.Children {
		if n.Kind == site.KindGroup && !n.Hidden {
			add(n.Label, l.target(n))
		}
	}
	return out
}

// index is what a site has at its root that has no page there: the document of
// its first page, or a page that leads elsewhere.
func (o *ownFiles) index() {
	s := o.views.site
	const name = "index.html"
	if o.root != nil {
		o.put(name, o.root)
		return
	}
	to, canonical := "404.html", ""
	if t, home := s.Resolve(-1, "/"), s.Home(); t.Kind == site.External {
		to = t.Href
	} else if t.Kind == site.ToFile && t.Path != name {
		to = site.Rel(name, t.Path) + t.AfterPath()
	} else if home >= 0 {
		p := &s.Pages[home]
		to, canonical = site.Rel(name, p.Output), o.views.canonical(p)
	}
	o.put(name, o.views.theme.RedirectPage("", to, canonical))
}

// redirects makes a page for each redirect from one address, for those old
// addresses of pages that follow from the patterns among the redirects, and for the
// folder's own files of a page beside it (site.Page.Beside). The
// patterns themselves are in the bundle's description, for servers.
func (o *ownFiles) redirects() {
	s := o.views.site
	for _, r := range s.Redirects {
		if from, wild := r.Path(); !wild {
			o.redirect(from)
		}
	}
	old, _ := s.OldAddresses() // more are reported by site.Load
	for _, from := range old {
		o.redirect(from)
	}
	for i := range s.Pages {
		p := &s.Pages[i]
		if p.Beside && !p.Excluded {
			name := p.Address + ".html"
			o.put(name, o.views.theme.RedirectPage(strings.Repeat("../", strings.Count(name, "/")), site.Rel(name, p.Output), o.views.canonical(p)))
			name = p.Address + ".md"
			o.put(name, []byte("[Moved](<"+site.Rel(name, p.MarkdownPath())+">)\n"))
		}
	}
}

// redirect makes the page at an old address.
func (o *ownFiles) redirect(from string) {
	s := o.views.site
	name, ok := redirectFile(from)
	if !ok {
		return
	}
	if _, page := s.Lookup(strings.TrimSuffix(name, ".html")); page || !o.free(name) {
		return
	}
	t := s.Resolve(-1, "/"+escapedPath(from))
	to, canonical := t.Href, ""
	switch t.Kind {
	case site.ToPage:
		to, canonical = site.Rel(name, t.Path)+t.AfterPath(), o.views.canonical(&s.Pages[t.Page])
	case site.ToFile:
		to = site.Rel(name, t.Path) + t.AfterPath()
	case site.External:
	default: // reported by site.Load
		return
	}
	o.put(name, o.views.theme.RedirectPage(strings.Repeat("../", strings.Count(name, "/")), to, canonical))
}

// escapedPath is a path as it can stand in an address.
func escapedPath(p string) string { return (&url.URL{Path: p}).EscapedPath() }

// redirectFile is the file that answers at a redirect's address, where there
// can be one: not for patterns, and not for names that no file should have.
func redirectFile(source string) (string, bool) {
	name := strings.TrimPrefix(path.Clean("/"+source), "/")
	if strings.ContainsAny(source, "#%") || site.Reserved(name) || filename.Fault(name, filename.Page) != "" {
		return "", false
	}
	if strings.Contains("/"+name+"/", "/rss.xml/") { // a page's feed is a file
		return "", false
	}
	if !strings.HasSuffix(name, ".html") {
		name += ".html"
	}
	return name, true
}

// sitemapURLs is how many addresses a sitemap may hold (sitemaps.org).
const sitemapURLs = 50_000

const (
	xmlHead   = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	sitemapNS = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
)

// sitemaps writes sitemap.xml, or for large sites several and their index.
func (o *ownFiles) sitemaps() {
	if !o.free("sitemap.xml") {
		return
	}
	var names []string
	var b []byte
	n := 0
	flush := func(name string) {
		names = append(names, name)
		o.put(name, append(append([]byte(xmlHead+`<urlset`+sitemapNS), b...), "</urlset>\n"...))
		b, n = nil, 0
	}
	for i := range o.views.site.Pages {
		p := &o.views.site.Pages[i]
		if !p.Listed() || o.views.elsewhere(i) {
			continue
		}
		if n == sitemapURLs {
			flush(fmt.Sprintf("sitemap-%d.xml", len(names)+1))
		}
		n++
		b = append(b, "<url><loc>"...)
		b = html.AppendText(b, o.views.address(p))
		b = append(b, "</loc>"...)
		if modified := o.views.modified(p.File()); !modified.IsZero() {
			b = append(b, "<lastmod>"...)
			b = modified.UTC().AppendFormat(b, time.RFC3339)
			b = append(b, "</lastmod>"...)
		}
		b = append(b, "</url>\n"...)
	}
	if len(names) == 0 {
		flush("sitemap.xml")
		return
	}
	if n > 0 {
		flush(fmt.Sprintf("sitemap-%d.xml", len(names)+1))
	}
	list := []byte(xmlHead + `<sitemapindex` + sitemapNS)
	for _, name := range names {
		list = append(list, "<sitemap><loc>"...)
		list = html.AppendText(list, o.views.site.AbsoluteURL(name))
		list = append(list, "</loc></sitemap>\n"...)
	}
	o.put("sitemap.xml", append(list, "</sitemapindex>\n"...))
}

// elsewhere reports whether the canonical address of a page is another page. A sitemap
// lists canonical addresses only.
func (v *Views) elsewhere(i int) bool {
	address := v.site.Pages[i].Canonical
	if address == "" {
		return false
	}
	t := v.site.Resolve(-1, address)
	return t.Kind != site.ToPage || t.Page != i
}

func (o *ownFiles) robots() {
	rule := "Allow: /"
	if o.views.site.Config.SEO.NoIndex {
		rule = "Disallow: /"
	}
	o.put("robots.txt", []byte("User-agent: *\n"+rule+"\nSitemap: "+o.views.site.AbsoluteURL("sitemap.xml")+"\n"))
}
