package site

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
	// Variables stand in pages as {{name}}.
	Variables map[string]string `json:",omitempty"`
	// Contextual are the options of the menu that a page offers for its own
	// text, such as "copy" and "view".
	Contextual []string `json:",omitempty"`
	// Thumbnails is a picture behind link previews.
	Thumbnails string `json:",omitempty"`
	// SearchPrompt is the text of an empty search field.
	SearchPrompt string `json:",omitempty"`
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

// Icons names the library that icon names are looked up in first:
// "fontawesome", "lucide", "tabler", or empty.
type Icons struct {
	Library string `json:",omitempty"`
}

// NavLink is a link in the header.
type NavLink struct {
	Label, Href string
	Icon        string `json:",omitempty"`
	// Type is "button", "github", "discord" or empty.
	Type string `json:",omitempty"`
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

// Banner is a message above every page, in inline Markdown.
type Banner struct {
	Content     string `json:",omitempty"`
	Dismissible bool   `json:",omitempty"`
}

// Appearance is the colour scheme: Default is "system", "light" or "dark";
// Strict takes the switch away.
type Appearance struct {
	Default string `json:",omitempty"`
	Strict  bool   `json:",omitempty"`
}

// Background is what lies behind pages.
type Background struct {
	Decoration            string `json:",omitempty"`
	ColorLight, ColorDark string `json:",omitempty"`
	ImageLight, ImageDark string `json:",omitempty"`
}

// Meta is one meta element of every page's head.
type Meta struct{ Name, Content string }

// SEO is what search engines are told. Indexing is "navigable" (pages of the
// navigation; the default) or "all".
type SEO struct {
	Indexing string `json:",omitempty"`
	// NoIndex keeps search engines away from the whole site.
	NoIndex  bool   `json:",omitempty"`
	Metatags []Meta `json:",omitempty"`
}

// Styling is small choices of looks.
type Styling struct {
	// Eyebrows is what stands above a title: "section" or "breadcrumbs".
	Eyebrows string `json:",omitempty"`
	// CodeTheme names a colour theme of code blocks.
	CodeTheme string `json:",omitempty"`
}

// NotFound is the page for addresses that there are not. Redirect is what the
// configuration says, nil when it says nothing.
type NotFound struct {
	Redirect           *bool `json:",omitempty"`
	Title, Description string
}

// API is what API pages take as given.
type API struct {
	// OpenAPI and AsyncAPI are specifications: paths or addresses, in order.
	OpenAPI  []string `json:",omitempty"`
	AsyncAPI []string `json:",omitempty"`
	// Playground is how requests can be tried: "interactive", "simple",
	// "none" or empty.
	Playground string `json:",omitempty"`
	// Servers, AuthMethod and AuthName serve pages without a specification.
	Servers              []string `json:",omitempty"`
	AuthMethod, AuthName string   `json:",omitempty"`
}
