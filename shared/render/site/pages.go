package site

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
)

type fileKind uint8

const (
	staticFile fileKind = iota
	pageFile
	sourceFile  // a snippet or a component's source: shown by pages, not by itself
	ignoredFile // nothing that readers should see
)

// ignoredNames are files about a repository that hosts of documentation leave
// out, unless the navigation names them.
var ignoredNames = map[string]bool{"readme.md": true, "license.md": true, "changelog.md": true, "contributing.md": true}

// classify returns what a file is by its path. named reports whether the
// navigation names a page by this path without its extension.
func classify(p string, named func(string) bool) fileKind {
	elements := strings.Split(p, "/")
	if snippetFolder(p) && path.Ext(p) == ".mdx" { // one about .env may have its name
		elements = elements[:len(elements)-1]
	}
	for _, e := range elements {
		if strings.HasPrefix(e, ".") && e != ".well-known" || e == "node_modules" {
			return ignoredFile
		}
	}
	snippet := snippetFolder(p)
	switch ext := path.Ext(p); ext {
	case ".mdx", ".md":
		if snippet && !named(strings.TrimSuffix(p, ext)) {
			return sourceFile
		}
		if ext == ".md" && ignoredNames[strings.ToLower(path.Base(p))] && !named(strings.TrimSuffix(p, ext)) {
			return ignoredFile
		}
		return pageFile
	case ".jsx", ".tsx":
		return sourceFile
	case ".js", ".ts":
		if snippet {
			return sourceFile
		}
	}
	return staticFile
}

// snippetFolder reports whether a file lies in a folder of snippets.
func snippetFolder(p string) bool {
	return strings.HasPrefix(p, "snippets/") || strings.HasPrefix(p, "_snippets/") || strings.Contains(p, "/_snippets/")
}

// RulesFile is the file beside the configuration in which authors set which
// findings they want to see. Bundles don't have it.
const RulesFile = rulesfile.Name

// Reserved reports whether a path is one that bundles or previews keep for themselves:
// their folders, a page at the address of one, a bundle's description and the rules.
// Other names that begin with "bindery" are the author's.
func Reserved(p string) bool {
	first, _, _ := strings.Cut(strings.ToLower(p), "/")
	switch first {
	case "bindery", "bindery.html", "bindery.md", "bindery.mdx", "bindery-dev", RulesFile, "bindery.yml":
		return true
	}
	return strings.HasPrefix(first, "bindery.json") // also compressed
}

// newPage makes a page from its path and its head; expand puts variables into
// texts. The problem, if any, says which field could not be used.
func newPage(source string, head map[string]field, expand func(string) string) (p Page, problem string) {
	address := strings.TrimSuffix(source, path.Ext(source))
	p = Page{Source: source, Address: address, Output: address + ".html"}
	text := func(key string) string { return norm.NFC.String(expand(strings.TrimSpace(head[key].text))) }
	p.Title = text("title")
	p.Title = cmp.Or(p.Title, titleOf(address))
	p.SidebarTitle, p.Description = text("sidebarTitle"), text("description")
	p.SidebarTitle = cmp.Or(p.SidebarTitle, text("shortTitle"))
	p.Icon = Icon{Name: text("icon"), Style: text("iconType")}
	if f := head["icon"].fields; f != nil {
		p.Icon.Name, p.Icon.Library = f["name"], f["library"]
		if f["style"] != "" {
			p.Icon.Style = f["style"]
		}
	}
	if p.Icon.Name == "" {
		p.Icon = Icon{}
	}
	p.Tag, p.URL, p.Canonical = text("tag"), text("url"), text("canonical")
	switch m := text("mode"); m {
	case "wide", "custom", "frame", "center":
		p.Mode = m
	case "", "default":
	default:
		problem = fmt.Sprintf("pages have no mode %q: this one is shown as usual", m)
	}
	p.OpenAPI, p.AsyncAPI, p.OpenAPISchema = text("openapi"), text("asyncapi"), text("openapi-schema")
	p.API = text("api")
	p.Keywords = head["keywords"].list
	if k := text("keywords"); k != "" {
		for _, w := range strings.Split(k, ",") {
			if w = strings.TrimSpace(w); w != "" {
				p.Keywords = append(p.Keywords, w)
			}
		}
	}
	if b, err := strconv.ParseFloat(text("boost"), 64); err == nil && b > 0 && b <= 1e9 {
		p.Boost = b
	}
	said := func(key string) *bool {
		t := text(key)
		if t != "true" && t != "false" {
			return nil
		}
		yes := t == "true"
		return &yes
	}
	p.RSS, p.NoNeighbours = head["rss"].isTrue(), head["hideFooterPagination"].isTrue()
	p.NoActions = text("contextual") == "false"
	if day, _, _ := strings.Cut(text("lastUpdatedDate"), "T"); day != "" {
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			p.Updated = day
		} else {
			problem = fmt.Sprintf("lastUpdatedDate %q is not a date such as 2026-03-31", day)
		}
	}
	switch d := text("playground"); d {
	case "interactive", "simple", "none", "auth":
		p.Playground = d
	}
	p.Timestamp, p.Searchable = said("timestamp"), said("searchable")
	for _, key := range slices.Sorted(maps.Keys(head)) {
		if strings.HasPrefix(key, "og:") || strings.HasPrefix(key, "twitter:") || strings.HasPrefix(key, "article:") {
			if v := text(key); v != "" {
				p.Meta = append(p.Meta, Meta{Name: key, Content: v})
			}
		}
	}
	p.Hidden, p.NoIndex, p.Deprecated = head["hidden"].isTrue(), head["noindex"].isTrue(), head["deprecated"].isTrue()
	if strings.Contains(strings.ToLower(text("robots")), "noindex") {
		p.NoIndex = true
	}
	return p, problem
}

// titleOf makes a title from a page's address: the words of the file's name,
// for an index those of its folder.
func titleOf(address string) string {
	name := path.Base(address)
	if dir, ok := strings.CutSuffix(address, "/index"); ok {
		name = path.Base(dir)
	}
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return ' '
		}
		return r
	}, name))
	r, n := utf8.DecodeRuneInString(name)
	if name == "" || r == utf8.RuneError {
		return "Untitled"
	}
	return string(unicode.ToUpper(r)) + name[n:]
}

// included reports whether a page's address is among the wanted prefixes, which
// have no slashes at their ends.
func included(p *Page, prefixes []string) bool {
	for _, prefix := range prefixes {
		if prefix == "" {
			return true
		}
		for _, a := range [...]string{p.CleanAddress(), p.Address, p.Old} {
			if a == prefix || strings.HasPrefix(a, prefix) && a[len(prefix)] == '/' {
				return true
			}
		}
	}
	return len(prefixes) == 0
}

// names are the files and folders of a bundle, with their case folded: many disks
// don't distinguish cases.
type names struct {
	files   map[string]string // → the source
	folders map[string]string // → a source in it
}

// clash returns the source that stands in the way of a file, or "".
func (n *names) clash(name string) string {
	name = filename.Fold(name)
	if source := n.folders[name]; source != "" {
		return source
	}
	for at := name; at != "."; at = path.Dir(at) {
		if source := n.files[at]; source != "" {
			return source
		}
	}
	return ""
}

func (n *names) add(name, source string) {
	name = filename.Fold(name)
	n.files[name] = source
	for dir := path.Dir(name); dir != "." && n.folders[dir] == ""; dir = path.Dir(dir) {
		n.folders[dir] = source
	}
}

// placePages gives pages their names in the bundle. Those whose files can't stand
// beside those of others (a.html/b.mdx beside a.mdx; the one in fewer folders stays) are
// left out, and those with names that not every disk and archive can carry get others.
// The page guides/index.mdx is guides.html, unless another page or a static file has
// that name: its relative links are right then at /guides, on servers that answer there
// without a redirect to /guides/.
// It returns the names of the pages that stay.
func (s *Site) placePages(static []string) (taken *names, diags []mdx.Diagnostic) {
	n := &names{files: make(map[string]string, 2*len(s.Pages)), folders: make(map[string]string)}
	order := make([]int, len(s.Pages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return strings.Count(s.Pages[a].Source, "/") - strings.Count(s.Pages[b].Source, "/")
	})
	out := make(map[int]bool)
	var rename []int
	for _, i := range order {
		p := &s.Pages[i]
		if filename.Fault(p.Address, filename.Page) != "" {
			rename = append(rename, i) // once all others have their names
			continue
		}
		clash := cmp.Or(n.clash(p.Output), n.clash(p.MarkdownPath()))
		switch {
		case clash == "":
			n.addPage(p)
		case filename.Fold(clash) == filename.Fold(p.Source) && clash != p.Source:
			rename = append(rename, i)
		default:
			diags = append(diags, mdx.Diagnostic{Severity: mdx.Error, Code: "page-shadowed", File: p.Source,
				Message: "the page is left out: in the bundle the page " + clash + " has its name, or the name of its folder"})
			out[i] = true
		}
	}
	for _, i := range rename {
		p := &s.Pages[i]
		reason := cmp.Or(filename.Fault(p.Address, filename.Page), "another name differs from it only by case")
		p.Old, p.Address = p.Address, n.freePage(p.Address)
		p.Output = p.Address + ".html"
		n.addPage(p)
		diags = append(diags, renamed(p.Source, reason, "the page", "/"+p.CleanAddress()))
	}
	var files map[string]bool
	for i := range s.Pages {
		p := &s.Pages[i]
		dir, ok := strings.CutSuffix(p.Address, "/index")
		if !ok || out[i] || n.clash(dir+".html") != "" || n.clash(dir+".md") != "" {
			continue
		}
		if files == nil {
			files = make(map[string]bool, len(static))
			for _, f := range static {
				files[filename.Fold(f)] = true
			}
		}
		if !files[filename.Fold(dir+".html")] {
			p.Output, p.Beside = dir+".html", true
			n.addPage(p)
		}
	}
	if len(out) > 0 {
		kept := make([]Page, 0, len(s.Pages)-len(out))
		for i := range s.Pages {
			if !out[i] {
				kept = append(kept, s.Pages[i])
			}
		}
		s.Pages = kept
	}
	return n, diags
}

// renamed is the finding about a file that has another name in the bundle.
func renamed(file, reason, what, name string) mdx.Diagnostic {
	return mdx.Diagnostic{Severity: mdx.Warning, Code: "file-renamed", File: file,
		Message: what + " is " + name + " in the bundle, and links lead there: not every disk and archive can carry its own name (" + reason + ")"}
}

// addPage adds the names of a page's files.
func (n *names) addPage(p *Page) {
	n.add(p.Output, p.Source)
	n.add(p.MarkdownPath(), p.Source)
}

// freePage returns the new address of a page with a name that is refused or taken.
func (n *names) freePage(address string) string {
	return filename.Numbered(filename.Portable(address, filename.Page), true, func(a string) bool {
		return n.clash(a+".html") != "" || n.clash(a+".md") != ""
	})
}

// placeFiles settles which names of the bundle belong to pages and which to
// static files, so that none stands twice (also not in another case) and none
// is both a file and a folder. Names that not every disk and archive can carry are
// replaced.
func (s *Site) placeFiles(n *names, static []string) (diags []mdx.Diagnostic) {
	var rename []string
	for _, f := range static {
		if filename.Fault(f, filename.Compressed) != "" {
			rename = append(rename, f)
			continue
		}
		clash := n.clash(f)
		switch {
		case clash == "":
			n.add(f, f)
			s.Files = append(s.Files, f)
		case filename.Fold(clash) == filename.Fold(f):
			rename = append(rename, f)
		default:
			diags = append(diags, mdx.Diagnostic{Severity: mdx.Warning, Code: "file-shadowed", File: f,
				Message: "the file is left out of the bundle: " + clash + " has its name, or the name of its folder"})
		}
	}
	for _, f := range rename {
		reason := cmp.Or(filename.Fault(f, filename.Compressed), "another name differs from it only by case")
		name := filename.Numbered(filename.Portable(f, filename.Compressed), false, func(p string) bool { return n.clash(p) != "" })
		n.add(name, f)
		s.Files = append(s.Files, name)
		if s.Renamed == nil {
			s.Renamed = make(map[string]string)
		}
		s.Renamed[name] = f
		diags = append(diags, renamed(f, reason, "the file", name))
	}
	slices.Sort(s.Files)
	return diags
}

// keepOldAddresses adds redirects from the addresses that pages and files would have by
// their own names. Servers answer with them; no file can stand there.
func (s *Site) keepOldAddresses() {
	add := func(old, to string) {
		if _, pattern := redirect.Compile(old); !pattern && utf8.ValidString(old) {
			s.Redirects = append(s.Redirects, Redirect{Source: "/" + escapePath(old), Destination: "/" + escapePath(to), Permanent: true})
		}
	}
	for i := range s.Pages {
		if p := &s.Pages[i]; p.Old != "" {
			old, _ := withoutIndex(p.Old)
			add(old, p.CleanAddress())
		}
	}
	for _, name := range s.Files {
		if source, ok := s.Renamed[name]; ok {
			add(source, name)
		}
	}
}
