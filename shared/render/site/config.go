package site

import "strings"

// Config holds what a site's configuration says about the whole site. Zero
// values mean "not said".
type Config struct {
	// Theme is the name of the look that the site was designed for.
	Theme             string `json:",omitempty"`
	Name, Description string
	Colors            Colors
	Logo              Logo
	// Favicon holds the icon for light and dark; Href is unused.
	Favicon    Logo
	Fonts      Fonts
	Icons      Icons
	Navbar     Navbar
	Footer     Footer
	Banner     Banner
	Appearance Appearance
	Background Background
	SEO        SEO
	Styling    Styling
	NotFound   NotFound
	API        API
	// Variables stand in pages and in the configuration as {{name}}.
	Variables  map[string]string `json:",omitempty"`
	Contextual Contextual
	Thumbnails Thumbnails
	// SearchPrompt is the text of an empty search field.
	SearchPrompt string `json:",omitempty"`
	// Drilldown is whether opening a group leads to its first page; nil
	// leaves it to the look.
	Drilldown *bool `json:",omitempty"`
	// Timestamp shows when pages changed last.
	Timestamp  bool `json:",omitempty"`
	Repository Repository
	// Ratings asks readers whether a page helped, where there is a service that
	// takes their answers.
	Ratings bool `json:",omitempty"`
	// Integrations are services by name, with their settings by name. Whether
	// pages load them is the deployment's decision.
	Integrations map[string]map[string]string `json:",omitempty"`
}

// Colors are brand colours as CSS hex values; Light is for dark backgrounds,
// Dark for pressed buttons and light backgrounds.
type Colors struct{ Primary, Light, Dark string }

// Logo is a picture for light and for dark backgrounds, and where it leads.
type Logo struct {
	Light, Dark string
	Href        string `json:",omitempty"`
}

// Font is a font family; Source is a file or an address.
type Font struct {
	Family string `json:",omitempty"`
	Source string `json:",omitempty"`
	Format string `json:",omitempty"`
	Weight string `json:",omitempty"`
}

// Fonts are the fonts for headings and for everything else.
type Fonts struct{ Heading, Body Font }

// Icon is a name in Library (empty: the site's) and Style (empty: any), or the
// path or address of a picture.
type Icon struct {
	Name    string `json:",omitempty"`
	Library string `json:",omitempty"`
	Style   string `json:",omitempty"`
}

// Icons names the library that icon names are looked up in first:
// "fontawesome", "lucide", "tabler", or empty.
type Icons struct {
	Library string `json:",omitempty"`
}

// NavLink is a link in the header.
type NavLink struct {
	Label, Href string
	Icon        Icon `json:",omitzero"`
	// Type is "button", "github", "discord" or empty.
	Type string `json:",omitempty"`
	// Shape of a button is "pill", "roundedRectangle" or empty; Arrow puts an
	// arrow after its label.
	Shape string `json:",omitempty"`
	Arrow bool   `json:",omitempty"`
	// IconOnly is set on a link that has an icon and no label of its own: Label is
	// then its address, which is not shown.
	IconOnly bool `json:",omitempty"`
}

// Navbar is the header.
type Navbar struct {
	Links   []NavLink `json:",omitempty"`
	Primary *NavLink  `json:",omitempty"`
}

// Social is a link to a profile; Name is the network, such as "github".
type Social struct{ Name, URL string }

// FooterColumn is one column of links.
type FooterColumn struct {
	Header string
	Items  []NavLink
}

// Footer stands at the end of every page. Both lists keep the written order.
type Footer struct {
	Socials []Social       `json:",omitempty"`
	Links   []FooterColumn `json:",omitempty"`
}

// Banner is a message above every page, in inline Markdown. Type is "info",
// "warning", "critical" or empty; the colours, CSS hex values, win over it.
type Banner struct {
	Content               string `json:",omitempty"`
	Dismissible           bool   `json:",omitempty"`
	Type                  string `json:",omitempty"`
	ColorLight, ColorDark string `json:",omitempty"`
}

// Contextual is the menu that a page offers for its own text. Display is
// "header", "toc" or empty.
type Contextual struct {
	Options []ContextualOption `json:",omitempty"`
	Display string             `json:",omitempty"`
}

// ContextualOption is one entry: a built-in one by Name, such as "copy", or one
// of the author's own with a title and a link. In Href and in the values of
// Query, "$path" becomes the page's path and "$page" the page.
type ContextualOption struct {
	Name               string `json:",omitempty"`
	Title, Description string `json:",omitempty"`
	Icon               Icon
	Href               string       `json:",omitempty"`
	Query              []QueryField `json:",omitempty"`
}

// QueryField is one field of an address's query, not yet escaped.
type QueryField struct{ Key, Value string }

// Thumbnails say how pictures for link previews are made.
type Thumbnails struct {
	// Appearance is "light", "dark" or empty.
	Appearance string `json:",omitempty"`
}

// Repository is where a site's sources live. URL is empty where only links are
// asked for: then the project's repository is meant. Branch is empty for the
// forge's default one. Directory is the way from the repository's root to the
// site's, without slashes at its ends.
type Repository struct {
	URL               string `json:",omitempty"`
	Branch, Directory string `json:",omitempty"`
	// Edit and Issues ask for links to the editor and to new issues.
	Edit   bool `json:",omitempty"`
	Issues bool `json:",omitempty"`
}

// Appearance is the colour scheme: Default is "system", "light" or "dark";
// Strict takes the switch away.
type Appearance struct {
	Default string `json:",omitempty"`
	Strict  bool   `json:",omitempty"`
}

// Background is the background of pages.
type Background struct {
	Decoration            string `json:",omitempty"`
	ColorLight, ColorDark string `json:",omitempty"`
	ImageLight, ImageDark string `json:",omitempty"`
}

// Meta is one meta element of a head: of a page's own, or of every page's.
type Meta struct {
	Name, Content string
	// Line is where a page's own picture for links is in its source.
	Line int `json:",omitempty"`
}

// Picture reports whether the content is the address of a picture, which services
// show beside links to a page. They need it whole.
func (m *Meta) Picture() bool {
	switch strings.ToLower(m.Name) {
	case "og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src":
		return true
	}
	return false
}

// SEO is what search engines are told. Indexing is "navigable" (pages of the
// navigation; the default) or "all".
type SEO struct {
	Indexing string `json:",omitempty"`
	// NoIndex keeps search engines away from the whole site.
	NoIndex  bool   `json:",omitempty"`
	Metatags []Meta `json:",omitempty"`
	// Canonical is the address that pages without one of their own name as
	// theirs, their path after it; without a slash at its end.
	Canonical string `json:",omitempty"`
}

// Styling is small choices of looks.
type Styling struct {
	// Eyebrows is what stands above a title: "section" or "breadcrumbs".
	Eyebrows string `json:",omitempty"`
	// DarkCode shows blocks of code dark, on light pages too.
	DarkCode bool `json:",omitempty"`
	// Latex is whether pages have formulas; nil means: look.
	Latex *bool `json:",omitempty"`
	// Sharp leaves corners square.
	Sharp bool `json:",omitempty"`
}

// NotFound is the page for addresses that do not exist.
type NotFound struct{ Title, Description string }

// API is what API pages take as given.
type API struct {
	// OpenAPI and AsyncAPI are specifications: paths or addresses, in order.
	OpenAPI  []string `json:",omitempty"`
	AsyncAPI []string `json:",omitempty"`
	// OpenAPIDirectory and AsyncAPIDirectory are the folders of pages made
	// from them.
	OpenAPIDirectory, AsyncAPIDirectory string `json:",omitempty"`
	// Playground is how requests can be tried: "interactive", "simple",
	// "none", "auth" or empty. Credentials are sent along.
	Playground  string `json:",omitempty"`
	Credentials bool   `json:",omitempty"`
	// Params is "all" or "closed": how parameters of objects are shown first.
	Params string `json:",omitempty"`
	// Labels are the members of schemas whose values fields show beside their
	// names.
	Labels []string `json:",omitempty"`
	// URL is "full" to show the whole address.
	URL      string `json:",omitempty"`
	Examples APIExamples
	// MaintainOrder keeps the specification's order of fields.
	MaintainOrder bool `json:",omitempty"`
}

// APIExamples are the examples of requests.
type APIExamples struct {
	Languages []string `json:",omitempty"`
	// Defaults is "required" or "all": the parameters that examples name.
	Defaults     string `json:",omitempty"`
	Prefill      bool   `json:",omitempty"`
	Autogenerate *bool  `json:",omitempty"`
}
