package site

import (
	"fmt"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/reference"
)

// Site is a documentation site, read and resolved.
type Site struct {
	// Domain is the host name that the site is published under, without a
	// scheme. Links to it are links within the site.
	Domain string
	// Base is the path below the domain that the site is served at, without slashes
	// at its ends; empty for the root.
	Base string `json:",omitempty"`
	// Prefixes are the address prefixes that were asked for; empty means all
	// pages. See Page.Excluded.
	Prefixes []string `json:",omitempty"`
	// ConfigFile is the name of the file that Config was read from.
	ConfigFile string
	Config     Config
	// Pages are all pages, sorted by Source.
	Pages []Page
	// Nav is the root of the navigation. It is never nil; its Kind is KindRoot.
	Nav *Node
	// Global are links and divisions that are shown on every page, whatever
	// its place.
	Global    []*Node    `json:",omitempty"`
	Redirects []Redirect `json:",omitempty"`
	// Files are the static files of the site by their names in the bundle, sorted:
	// everything that readers get and that is not a page.
	Files []string `json:",omitempty"`
	// Renamed are those of Files that have another name in the bundle than in the
	// site, because not every disk and archive can carry theirs: the bundle's name →
	// the site's. See SourceOf.
	Renamed map[string]string `json:",omitempty"`
	// LeftOut are files that the bundle does not have because the format does not serve
	// them, sorted.
	LeftOut []string `json:",omitempty"`
	// Withheld is what the bundle does not have because its author keeps it
	// for groups of readers whom the export does not let in. Links to it are
	// Restricted.
	Withheld []Withheld `json:",omitempty"`
	// GoneRedirects are redirects with wildcards that the bundle does not have because
	// they name what is withheld. Links still follow them.
	GoneRedirects []Redirect `json:",omitempty"`
	// Concealed has more that the bundle must not name.
	Concealed Concealed `json:",omitzero"`
	// Styles and Scripts are those of Files that every page loads, in order.
	// Load leaves addresses of other hosts among them, which Outside lists:
	// whoever makes a bundle puts their copies there, or takes them out.
	Styles  []string  `json:",omitempty"`
	Scripts []string  `json:",omitempty"`
	Outside []Outside `json:"-"`
	// Remote are files of the bundle that are copies of what lies on other
	// hosts, by their addresses there, without fragments.
	Remote map[string]string `json:",omitempty"`
	// Sources are what a content security policy must allow besides 'self' for what
	// Styles and Scripts load from other hosts, by directive.
	Sources map[string][]string `json:",omitempty"`

	once sync.Once
	idx  *index
}

// Withheld is a page, a file or a redirect that is kept from a bundle.
type Withheld struct {
	// Address is a page's Address, a file's path, or the address that a
	// redirect leads from.
	Address string
	// Source is the file that must not be read; "" where there is none.
	Source string `json:",omitempty"`
	// Groups are those whose readers may see it.
	Groups reference.Audience `json:",omitempty"`
}

// Outside is a style sheet or a script of another host that the configuration
// names for every page, and where it does.
type Outside struct {
	// Address is absolute and has no fragment.
	Address string
	File    string
	// Line and Column begin at 1.
	Line, Column int
}

// Page is one page of a site: what its place and its front matter say.
type Page struct {
	// Source is the file the page is written in, such as "guides/start.mdx".
	Source string
	// Address is the page's path on the site without a leading slash and
	// without an extension: "guides/start", or "guides/index" for an index.
	Address string
	// Output is the page's file in a bundle: "guides/start.html", or "guides.html" for
	// the index of "guides".
	Output string
	// Beside is set for the index of a folder that has its files beside the folder:
	// guides.html and guides.md instead of guides/index.html and guides/index.md.
	Beside bool `json:",omitempty"`
	// Old is the address that the name of the source gives the page, where it has
	// another because not every disk and archive can carry that name; else "".
	Old string `json:",omitempty"`

	// Title is never empty: without one in the front matter it is made from
	// the file's name.
	Title        string
	SidebarTitle string `json:",omitempty"`
	Description  string `json:",omitempty"`
	Icon         Icon   `json:",omitzero"`
	Tag          string `json:",omitempty"`
	// Mode is the page's layout: "", "wide", "custom", "frame" or "center".
	Mode string `json:",omitempty"`
	// URL, if set, is where the navigation leads instead of to the page.
	URL string `json:",omitempty"`
	// Canonical is an absolute address that the page names as its own.
	Canonical string `json:",omitempty"`
	// OpenAPI, OpenAPISchema and AsyncAPI are the operation, the schema or the channel that the page
	// documents, as written.
	OpenAPI       string `json:",omitempty"`
	AsyncAPI      string `json:",omitempty"`
	OpenAPISchema string `json:",omitempty"`
	// API is the call that the author describes on the page by hand, as written:
	// "GET /users", with an address or a path.
	API string `json:",omitempty"`
	// Reference is what the page shows of a specification, nil for nothing:
	// what OpenAPI or AsyncAPI name, or a schema.
	Reference *Reference `json:",omitempty"`
	// ReferenceAway is set where there is no Reference because the specification that
	// has it may be on another host.
	ReferenceAway bool
	// From is the specification that a page without a source of its own is made
	// from; the file Source does not exist then.
	From     string   `json:",omitempty"`
	Keywords []string `json:",omitempty"`
	// Meta is for the page's head: entries such as "og:image".
	Meta []Meta `json:",omitempty"`
	// Boost weighs the page in search results; 0 means 1.
	Boost float64 `json:",omitempty"`
	// Searchable takes the page out of the site's search or puts it in although
	// it is hidden; nil leaves that to the navigation.
	Searchable *bool `json:",omitempty"`
	// Timestamp shows when the page changed last, or hides it; nil leaves it to
	// the site's setting.
	Timestamp *bool `json:",omitempty"`
	// Updated is the day when the page changed last by its author's word, as
	// 2006-01-02; it is shown whatever Timestamp says.
	Updated string `json:",omitempty"`
	// NoActions leaves the page's menu away.
	NoActions bool `json:",omitempty"`
	// NoNeighbours leaves the links to the pages before and after away.
	NoNeighbours bool `json:",omitempty"`
	// Playground is how requests of this page can be tried, as API.Playground;
	// empty leaves it to the site.
	Playground string `json:",omitempty"`

	// RSS shows readers the feed of the page's updates.
	RSS bool `json:",omitempty"`

	// Hidden pages can be reached, but stand in no navigation and no list.
	Hidden bool `json:",omitempty"`
	// NoIndex pages ask search engines to stay away.
	NoIndex bool `json:",omitempty"`
	// InNav is whether the navigation names the page.
	InNav bool `json:",omitempty"`
	// Excluded pages lie outside the prefixes that were asked for: they are
	// not in the bundle, and links to them go to the site's domain.
	Excluded bool `json:",omitempty"`
	// Deprecated is set where the front matter says so.
	Deprecated bool `json:",omitempty"`
	// Size is the source's size in bytes.
	Size int64
}

// File is the file that the page is made from: its source, or a specification.
func (p *Page) File() string {
	if p.From != "" {
		return p.From
	}
	return p.Source
}

// SourceOf returns the path in the site of a file of the bundle.
func (s *Site) SourceOf(name string) string {
	if source, ok := s.Renamed[name]; ok {
		return source
	}
	return name
}

// Name is what the navigation calls the page.
func (p *Page) Name() string {
	if p.SidebarTitle != "" {
		return p.SidebarTitle
	}
	return p.Title
}

// MarkdownPath is the file of the page's Markdown copy.
func (p *Page) MarkdownPath() string {
	if p.Beside {
		return p.CleanAddress() + ".md"
	}
	return p.Address + ".md"
}

// Listed reports whether lists for search engines and language models name the
// page.
func (p *Page) Listed() bool { return !p.Excluded && !p.NoIndex && p.URL == "" }

// NodeKind is what a Node of the navigation is.
type NodeKind string

// Kinds of navigation nodes. Product to Item are divisions: a reader sees one
// of a kind at a time and switches between them.
const (
	KindRoot     NodeKind = "root"
	KindProduct  NodeKind = "product"
	KindVersion  NodeKind = "version"
	KindLanguage NodeKind = "language"
	KindTab      NodeKind = "tab"
	KindAnchor   NodeKind = "anchor"
	KindDropdown NodeKind = "dropdown"
	KindMenu     NodeKind = "menu" // an item of a tab's menu
	KindGroup    NodeKind = "group"
	KindPage     NodeKind = "page"
	KindLink     NodeKind = "link"
)

// Division reports whether nodes of this kind divide the site into parts.
func (k NodeKind) Division() bool {
	switch k {
	case KindProduct, KindVersion, KindLanguage, KindTab, KindAnchor, KindDropdown, KindMenu:
		return true
	}
	return false
}

// Node is one node of the navigation.
type Node struct {
	Kind        NodeKind
	Label       string `json:",omitempty"`
	Icon        Icon   `json:",omitzero"`
	Tag         string `json:",omitempty"`
	Description string `json:",omitempty"`
	// Href is where a KindLink leads, or a division that is only a link.
	Href string `json:",omitempty"`
	// Page is the index into Site.Pages of a KindPage, else -1.
	Page int
	// Root is the page that a group's own label leads to, else -1.
	Root int
	// OpenAPI and AsyncAPI are specifications whose operations belong here, as
	// written; the directories are those of pages made from them.
	OpenAPI           string `json:",omitempty"`
	OpenAPIDirectory  string `json:",omitempty"`
	AsyncAPI          string `json:",omitempty"`
	AsyncAPIDirectory string `json:",omitempty"`
	// Directory is how a group shows its pages on its root page: "card",
	// "accordion" or "". Groups have what the nodes above say, unless they say
	// otherwise themselves.
	Directory string `json:",omitempty"`
	Expanded  bool   `json:",omitempty"`
	Hidden    bool   `json:",omitempty"`
	Default   bool   `json:",omitempty"`
	// ColorLight and ColorDark are an anchor's own colours.
	ColorLight string `json:",omitempty"`
	ColorDark  string `json:",omitempty"`
	// Boost weighs what is below in search results, 0 means 1; Searchable
	// takes it out of them or puts it in although it is hidden, nil leaves
	// that to Hidden.
	Boost      float64 `json:",omitempty"`
	Searchable *bool   `json:",omitempty"`
	// Navbar, Footer and Banner stand on the pages below in place of the
	// site's; languages have them.
	Navbar *Navbar `json:",omitempty"`
	Footer *Footer `json:",omitempty"`
	Banner *Banner `json:",omitempty"`

	Children []*Node `json:",omitempty"`

	// specs, access and at, its place in the configuration, matter while the
	// navigation is read.
	specs  specsOf
	access access
	at     *value
}

// Redirect leads from one address to another.
type Redirect struct {
	// Source and Destination as written: paths with a leading slash, in which
	// ":name" matches one element, ":name*" for any number, and "*" for
	// any rest. Destination may be an absolute address.
	Source, Destination string
	Permanent           bool `json:",omitempty"`
}

// ConfigError says why a site can't be used at all. Line and Column count
// from 1; 0 means that the place is unknown.
type ConfigError struct {
	File         string
	Line, Column int
	Message      string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// TargetKind is what a link points at.
type TargetKind uint8

// Kinds of link targets.
const (
	// Missing: within the site, but no such page or file exists.
	Missing TargetKind = iota
	// ToPage: a page of the bundle.
	ToPage
	// ToFile: a static file, or one that every bundle has (such as sitemap.xml).
	ToFile
	// ToAnchor: a place on the same page.
	ToAnchor
	// External: another site, or a page that is not in this bundle.
	External
	// Other: another scheme, such as mailto or tel; without Href, a place in a
	// specification that no page shows.
	Other
	// Unsafe: a scheme that runs code or reads local files; Href is empty.
	Unsafe
	// Restricted: what the bundle does not have because it is for others than
	// the export lets in; Path is its address, and Href is empty.
	Restricted
)

// Target is what a link points at.
type Target struct {
	Kind TargetKind
	// Page is the index into Site.Pages, or -1.
	Page int
	// Path is the file in the bundle for ToPage, ToFile and ToAnchor; for
	// Missing it is the path that was looked for, without a leading slash.
	Path string
	// Fragment is percent-decoded and without its hash.
	Fragment string
	// Href is ready to stand on the page the link was resolved for: relative,
	// percent-encoded, redirects followed. HTML escaping is left to the writer.
	Href string
}

// AfterPath returns the query and the fragment of t.Href, with their marks.
func (t Target) AfterPath() string {
	if i := strings.IndexAny(t.Href, "?#"); i >= 0 {
		return t.Href[i:]
	}
	return ""
}
