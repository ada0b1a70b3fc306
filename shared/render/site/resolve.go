package site

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// index holds the tables that are built when first asked for.
type index struct {
	// address maps every address of a page, with and without "index", to it;
	// withheld does the same for Site.Withheld.
	address  addresses
	withheld addresses // in lower case: a link that is nearly right names it too
	files    map[string]struct{}
	// schemas are the pages that show a schema of a specification.
	schemas map[Reference]int
	// renamed has the bundle's names of files that have another one in the site.
	renamed map[string]string
	// meant has the neighbours of addresses that were missing.
	meant struct {
		sync.Mutex
		words []string
		known map[string]string
	}
	// exact redirects by path, or by path, query and fragment; loose are those
	// of the second kind by path alone.
	exact, loose map[string]string
	patterns     patternIndex

	trails   [][]*Node // per page
	sections []*Node   // per page
	next     []int32   // per page, -1
	prev     []int32
	first    map[*Node]int
	entries  map[*Node]int // of divisions
	parents  map[*Node]*Node
	near     map[string]*Node // by folder: the section of its first page

	twinsOnce sync.Once
	twins     map[*Node]*twinSet
}

// generated are files that every bundle has, so links to them lead somewhere.
var generated = [...]string{"index.html", "404.html", "sitemap.xml", "robots.txt", "llms.txt"}

// tables returns the look-up tables, building them on first use.
func (s *Site) tables() *index {
	s.once.Do(func() {
		x := &index{
			address: make(addresses, 2*len(s.Pages)), withheld: make(addresses),
			files: make(map[string]struct{}, len(s.Files)+len(generated)),
		}
		for i := range s.Pages {
			x.address[s.Pages[i].Address] = i
		}
		for i := range s.Pages {
			x.address.addShort(s.Pages[i].Address, i)
		}
		for i := range s.Pages {
			x.address.addOld(&s.Pages[i], i)
		}
		x.schemas = map[Reference]int{}
		for i := range s.Pages {
			if r := s.Pages[i].Reference; r != nil && r.Key.Kind == reference.KindSchema {
				if _, known := x.schemas[*r]; !known {
					x.schemas[*r] = i
				}
			}
		}
		x.renamed = make(map[string]string, len(s.Renamed))
		for name, source := range s.Renamed {
			x.renamed[source] = name
		}
		for i := range s.Withheld {
			x.withheld[strings.ToLower(s.Withheld[i].Address)] = i
		}
		for i := range s.Withheld {
			x.withheld.addShort(strings.ToLower(s.Withheld[i].Address), i)
		}
		for _, f := range s.Files {
			x.files[f] = struct{}{}
		}
		for _, f := range generated {
			x.files[f] = struct{}{}
		}
		x.addRedirects(s.Redirects)
		x.addRedirects(s.GoneRedirects)
		s.idx = x
		s.buildTree(x)
	})
	return s.idx
}

// withoutIndex cuts "/index" off an address.
func withoutIndex(address string) (string, bool) {
	if address == "index" {
		return "", true
	}
	return strings.CutSuffix(address, "/index")
}

// CleanAddress is the address that the page goes by on the domain: its
// Address, without "index" at the end. Empty for the site's root.
func (p *Page) CleanAddress() string {
	short, _ := withoutIndex(p.Address)
	return short
}

// Lookup finds a page by its address, with or without a leading slash, a
// trailing slash, "index", or an extension (.mdx, .md, .html).
func (s *Site) Lookup(address string) (int, bool) {
	return s.tables().address.lookup(norm.NFC.String(strings.Trim(address, "/")))
}

// addresses are indices by address.
type addresses map[string]int

func (a addresses) lookup(address string) (int, bool) {
	if i, ok := a[address]; ok {
		return i, true
	}
	for _, ext := range [...]string{".mdx", ".md", ".html", ".htm"} {
		if short, ok := strings.CutSuffix(address, ext); ok {
			i, ok := a[short]
			return i, ok
		}
	}
	return -1, false
}

// addShort adds an index's address without "index", unless it is taken.
func (a addresses) addShort(address string, i int) {
	if short, ok := withoutIndex(address); ok {
		if _, taken := a[short]; !taken {
			a[short] = i
		}
	}
}

// addOld adds the address that a page has by its source's name.
func (a addresses) addOld(p *Page, i int) {
	if p.Old == "" {
		return
	}
	if _, taken := a[p.Old]; !taken {
		a[p.Old] = i
	}
	a.addShort(p.Old, i)
}

// WhyRestricted says why a Restricted target is not in the bundle, as a sentence
// without its end.
func (s *Site) WhyRestricted(t Target) string {
	if w := s.withheld(t); w.Source == "" || w.Source != w.Address {
		return t.Path + " is for " + w.Groups.String()
	}
	return "the file " + t.Path + " is for groups of readers whom this export does not let in"
}

// withheld returns what a Restricted target is.
func (s *Site) withheld(t Target) Withheld {
	if i, ok := s.tables().withheld[strings.ToLower(t.Path)]; ok {
		return s.Withheld[i]
	}
	return Withheld{}
}

// Resolve returns what href, written on page from, points at. With from -1 the
// link stands at the site's root, as those of the navigation do.
//
// A relative link is looked for beside the page's file, then, as some authors
// mean it, beside the page's address and at the root. Redirects are followed,
// but a page or file wins over a redirect from its own address.
func (s *Site) Resolve(from int, href string) Target {
	x := s.tables()
	output := "index.html"
	if from >= 0 {
		output = s.Pages[from].Output
	}
	href = cleanHref(href)
	if t, ok := s.inSpecification(x, from, output, href); ok {
		return t
	}
	if href == "" || href[0] == '#' {
		t := Target{Kind: ToAnchor, Page: from, Path: output}
		t.setFragment(strings.TrimPrefix(href, "#"))
		t.Href = "#" + escapeFragment(strings.TrimPrefix(href, "#"))
		return t
	}
	rest, elsewhere, ok := s.onDomain(href, output)
	if !ok {
		return elsewhere
	}

	ref, fragment, _ := strings.Cut(rest, "#")
	ref, query, _ := strings.Cut(ref, "?")
	t := Target{Page: -1}
	t.setFragment(fragment)
	if ref == "" { // a query alone stays on the page
		t.Kind, t.Page, t.Path = ToPage, from, output
		t.Href = Rel(output, output) + suffix(query, fragment)
		return t
	}
	candidates := s.candidates(from, unescape(ref))
	for _, c := range candidates {
		if s.found(x, c, &t) {
			s.finish(x, from, output, query, fragment, &t)
			return t
		}
	}
	for _, c := range candidates {
		if s.redirected(x, c, &t, &query, &fragment) {
			s.finish(x, from, output, query, fragment, &t)
			return t
		}
	}
	t.Kind, t.Path = Missing, candidates[0]
	t.Href = Rel(output, t.Path) + suffix(query, fragment)
	return t
}

// inSpecification resolves a reference such as "#/components/schemas/User", which
// descriptions in a specification have as the address of a link: the page of the
// schema, else Other without an address. ok is false for other links.
func (s *Site) inSpecification(x *index, from int, output, href string) (t Target, ok bool) {
	pointer, ok := strings.CutPrefix(href, "#/")
	if !ok || from < 0 || s.Pages[from].Reference == nil {
		return Target{}, false
	}
	switch root, _, _ := strings.Cut(pointer, "/"); root {
	case "components", "definitions", "parameters", "responses", "securityDefinitions", "paths", "tags":
	default:
		return Target{}, false
	}
	name, is := strings.CutPrefix(pointer, "components/schemas/")
	if !is {
		name, is = strings.CutPrefix(pointer, "definitions/")
	}
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(unescape(name))
	page, known := x.schemas[Reference{File: s.Pages[from].Reference.File, Key: reference.Key{Kind: reference.KindSchema, Path: name}}]
	if !is || !known {
		return Target{Kind: Other, Page: -1}, true
	}
	t = Target{Kind: ToPage, Page: page, Path: s.Pages[page].Output}
	s.finish(x, from, output, "", "", &t)
	return t, true
}

// Moved reports whether a link within the site arrives only because redirects lead on
// from where it points, each from one address to another of the site: there is no
// pattern among them.
func (s *Site) Moved(from int, href string) bool {
	rest, _, ok := s.onDomain(cleanHref(href), "index.html")
	ref, _, _ := strings.Cut(rest, "#")
	ref, _, _ = strings.Cut(ref, "?")
	if !ok || ref == "" {
		return false
	}
	x := s.tables()
	candidates := s.candidates(from, unescape(ref))
	var t Target
	if slices.ContainsFunc(candidates, func(c string) bool { return s.found(x, c, &t) }) {
		return false
	}
	for _, c := range candidates {
		passed, named, loop := s.way(c)
		if len(passed) == 0 {
			continue
		}
		end, inside := s.inside(passed[len(passed)-1])
		return named && !loop && inside && s.found(x, end, &t)
	}
	return false
}

// onDomain returns the part of href after the site's own domain; without a
// scheme and a host that is all of it. A link that leads elsewhere is returned as
// a target, with false.
func (s *Site) onDomain(href, output string) (rest string, elsewhere Target, ok bool) {
	rest = href
	switch scheme := schemeOf(href); scheme {
	case "":
	case "http", "https":
		rest = href[len(scheme)+1:]
		if !strings.HasPrefix(rest, "//") {
			return "", Target{Kind: External, Page: -1, Href: href}, false
		}
	default:
		if !html.SafeURL(href) {
			return "", Target{Kind: Unsafe, Page: -1}, false
		}
		return "", Target{Kind: Other, Page: -1, Href: href}, false
	}
	after, hosted := strings.CutPrefix(rest, "//")
	if !hosted {
		return rest, Target{}, true
	}
	host := after
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		host = after[:i]
	}
	if s.Domain == "" || !strings.EqualFold(host, s.Domain) {
		if rest == href { // without a scheme it would mean file:// in a folder
			href = "https:" + href
		}
		return "", s.external(href, output), false
	}
	if rest = after[len(host):]; rest == "" || rest[0] != '/' {
		rest = "/" + rest
	}
	if rest, ok = s.belowBase(rest); !ok {
		return "", Target{Kind: External, Page: -1, Href: href}, false
	}
	return rest, Target{}, true
}

// belowBase returns the part of a path on the domain that is below Base, and
// whether it is below.
func (s *Site) belowBase(path string) (string, bool) {
	if s.Base == "" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, "/"+s.Base)
	if !ok || rest != "" && !strings.ContainsRune("/?#", rune(rest[0])) {
		return "", false
	}
	if rest == "" || rest[0] != '/' {
		rest = "/" + rest
	}
	return rest, true
}

// external is the target of an address of another host: the bundle's copy of
// what is there, if it has one.
func (s *Site) external(href, output string) Target {
	copied, marked, _ := strings.Cut(href, "#")
	if s.Remote[copied] == "" {
		return Target{Kind: External, Page: -1, Href: href}
	}
	t := Target{Kind: ToFile, Page: -1, Path: s.Remote[copied]}
	t.setFragment(marked)
	t.Href = Rel(output, t.Path) + suffix("", marked)
	return t
}

// candidates returns the paths that a reference on page from may mean, each
// once, the likeliest first.
func (s *Site) candidates(from int, ref string) []string {
	list := make([]string, 0, 3)
	add := func(p string) {
		if p = strings.TrimPrefix(path.Clean("/"+p), "/"); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	switch {
	case strings.HasPrefix(ref, "/"):
	case from >= 0:
		add(path.Dir(s.Pages[from].Source) + "/" + ref)
		add(path.Dir("/"+s.Pages[from].CleanAddress()) + "/" + ref)
	}
	add(ref)
	return list
}

// found looks for a page or a file at p.
func (s *Site) found(x *index, p string, t *Target) bool {
	if i, ok := x.address[p]; ok {
		t.Kind, t.Page, t.Path = ToPage, i, s.Pages[i].Output
		return true
	}
	if _, ok := x.files[p]; ok && p != "index.html" {
		t.Kind, t.Path = ToFile, p
		return true
	}
	if name, ok := x.renamed[p]; ok {
		t.Kind, t.Path = ToFile, name
		return true
	}
	if i, ok := x.address.lookup(p); ok {
		t.Kind, t.Page, t.Path = ToPage, i, s.Pages[i].Output
		return true
	}
	if p == "" || p == "index.html" {
		if _, ok := x.exact[""]; ok && p == "" {
			return false // the redirect from the root says where it leads
		}
		t.Kind, t.Path = ToFile, "index.html"
		return true
	}
	if i, ok := x.withheld.lookup(strings.ToLower(p)); ok {
		t.Kind, t.Path = Restricted, s.Withheld[i].Address
		return true
	}
	return false
}

// redirected follows redirects from p until a page, a file or another site.
// It gives up where they run in a circle.
func (s *Site) redirected(x *index, p string, t *Target, query, fragment *string) bool {
	for range redirect.MaxHops {
		destination, met, ok := x.redirect(p, condition{*query, *fragment})
		if !ok {
			return false
		}
		if met.query != "" {
			*query = ""
		}
		if met.fragment != "" {
			*fragment = ""
			t.setFragment("")
		}
		if scheme := schemeOf(destination); scheme != "" || strings.HasPrefix(destination, "//") {
			inner, own := s.ownPath(destination)
			if !own {
				if scheme != "" && scheme != "http" && scheme != "https" {
					return false
				}
				t.Kind, t.Page, t.Path, t.Href = External, -1, "", destination
				return true
			}
			destination = inner
		}
		ref, frag, _ := strings.Cut(destination, "#")
		ref, q, _ := strings.Cut(ref, "?")
		if *fragment == "" && frag != "" {
			*fragment = frag
			t.setFragment(frag)
		}
		if *query == "" && q != "" {
			*query = q
		}
		p = strings.TrimPrefix(path.Clean("/"+unescape(ref)), "/")
		if s.found(x, p, t) {
			return true
		}
	}
	return false
}

// ownPath returns the path of an absolute address on the site's own domain.
func (s *Site) ownPath(address string) (string, bool) {
	i := strings.Index(address, "//")
	if i < 0 || s.Domain == "" {
		return "", false
	}
	rest := address[i+2:]
	end := len(rest)
	if j := strings.IndexAny(rest, "/?#"); j >= 0 {
		end = j
	}
	if !strings.EqualFold(rest[:end], s.Domain) {
		return "", false
	}
	return s.belowBase(rest[end:])
}

// finish makes the link for what was found.
func (s *Site) finish(x *index, from int, output, query, fragment string, t *Target) {
	switch t.Kind {
	case Restricted:
		return
	case External:
		if fragment != "" && !strings.Contains(t.Href, "#") {
			t.Href += "#" + escapeFragment(fragment)
		}
		return
	case ToPage:
		p := &s.Pages[t.Page]
		if p.Excluded {
			t.Kind, t.Path = External, ""
			t.Href = s.URL(p, false) + suffix(query, fragment)
			return
		}
		if t.Page == from && fragment != "" && query == "" {
			t.Kind, t.Href = ToAnchor, "#"+escapeFragment(fragment)
			return
		}
	}
	t.Href = Rel(output, t.Path) + suffix(query, fragment)
}

// URL is a page's absolute address on the site's domain: clean, or with html
// that of its file, for hosts that can't rewrite addresses.
func (s *Site) URL(p *Page, html bool) string {
	if html {
		return s.AbsoluteURL(p.Address + ".html")
	}
	return s.AbsoluteURL(p.CleanAddress())
}

// AbsoluteURL is the absolute address of one of the site's paths.
func (s *Site) AbsoluteURL(path string) string {
	base := "https://" + s.Domain + "/"
	if s.Base != "" {
		base += s.Base + "/"
	}
	return base + escapePath(path)
}

func (t *Target) setFragment(raw string) { t.Fragment = unescape(raw) }

func suffix(query, fragment string) string {
	s := ""
	if query != "" {
		s = "?" + escapeIn(query, querySafe)
	}
	if fragment != "" {
		s += "#" + escapeFragment(fragment)
	}
	return s
}

// cleanHref does what browsers do before they look at an address: white space
// around it and control characters inside vanish.
func cleanHref(href string) string {
	href = strings.TrimSpace(href)
	if strings.IndexFunc(href, isControl) < 0 {
		return href
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, href))
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// schemeOf returns the scheme of an address in lower case, or "".
func schemeOf(href string) string {
	for i := 0; i < len(href); i++ {
		switch c := href[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0:
			return strings.ToLower(href[:i])
		default:
			return ""
		}
	}
	return ""
}

// unescape decodes percent escapes; what is not valid stays as written.
func unescape(s string) string {
	if strings.Contains(s, "%") {
		if u, err := url.PathUnescape(s); err == nil {
			s = u
		}
	}
	return norm.NFC.String(s)
}

// Rel returns the reference that leads from one file of a bundle to another,
// percent-encoded. Both paths have no leading slash.
func Rel(from, to string) string {
	// The directories that both share are left out.
	common := 0
	for i := 0; i < len(from) && i < len(to) && from[i] == to[i]; i++ {
		if from[i] == '/' {
			common = i + 1
		}
	}
	up := strings.Count(from[common:], "/")
	tail := to[common:]
	b := make([]byte, 0, 3*up+len(tail)+2)
	for range up {
		b = append(b, "../"...)
	}
	if up == 0 {
		if tail == "" {
			return "./"
		}
		first := tail
		if i := strings.IndexByte(tail, '/'); i >= 0 {
			first = tail[:i]
		}
		if strings.IndexByte(first, ':') >= 0 || first == "" {
			b = append(b, "./"...)
		}
	}
	return string(appendEscaped(b, tail, pathSafe))
}

func escapePath(s string) string { return escapeIn(s, pathSafe) }

// Characters besides letters and digits that need no escape (RFC 3986).
// In a query a percent sign is taken for an escape that the author wrote.
const (
	pathSafe     = "-._~!$&()*+,;=:@/"
	fragmentSafe = pathSafe + "?"
	querySafe    = fragmentSafe + "%"
)

// escapeFragment writes a fragment, escaped or not, in the spelling of the id
// that it names: letters of all scripts as they are. Browsers find a place by
// the fragment as it stands before they try it decoded, and other readers only
// do the first.
func escapeFragment(raw string) string {
	s, err := url.PathUnescape(raw)
	if err != nil || !utf8.ValidString(s) {
		return escapeIn(raw, querySafe) // no escapes, or none of text
	}
	s = norm.NFC.String(s)
	for i, r := range s {
		if r < utf8.RuneSelf && !isSafe(s[i], fragmentSafe) || r >= utf8.RuneSelf && !isFragmentRune(r) {
			b := append(make([]byte, 0, len(s)+8), s[:i]...)
			for _, r := range s[i:] {
				if r >= utf8.RuneSelf && isFragmentRune(r) {
					b = utf8.AppendRune(b, r)
				} else {
					b = appendEscaped(b, string(r), fragmentSafe)
				}
			}
			return string(b)
		}
	}
	return s
}

// isFragmentRune takes what has a shape of its own, and the two joiners, without
// which some words and signs can't be written.
func isFragmentRune(r rune) bool {
	return unicode.IsPrint(r) && r != utf8.RuneError || r == '\u200c' || r == '\u200d'
}

func escapeIn(s, safe string) string {
	for i := 0; i < len(s); i++ {
		if !isSafe(s[i], safe) {
			return string(appendEscaped(make([]byte, 0, len(s)+8), s, safe))
		}
	}
	return s
}

func isSafe(c byte, safe string) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(safe, c) >= 0
}

func appendEscaped(b []byte, s, safe string) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		if c := s[i]; isSafe(c, safe) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}
