package theme

import "time"

// View is everything that Document needs to know about one page. All
// addresses in it are ready to be written into the page: relative to the page,
// or absolute for another site. Texts are plain; the theme escapes them. Only
// Body and Banner.HTML are HTML, and trusted.
type View struct {
	// Lang is the page's language (BCP 47). Empty means the site's.
	Lang string
	// Dir is "ltr" or "rtl". Empty means what Lang's script asks for.
	Dir string

	// Title is the page's heading and, with the site's name, its <title>.
	Title       string
	Description string
	// Lead is the description as inline HTML, as it stands below the title;
	// empty means Description's text.
	Lead []byte
	// Canonical is the page's absolute address; empty leaves it out.
	Canonical string
	// Image is the absolute address of a picture for link previews; ImageDrawn
	// means that package preview drew it, so that its size is known.
	Image      string
	ImageDrawn bool
	NoIndex    bool
	// Trail is the way to the page in absolute addresses, the page itself last,
	// for search engines; empty where there is none.
	Trail []Link
	// Meta is added to the head after the theme's own. A name that begins
	// with "og:", "article:" or "fb:" is written as a property.
	Meta []Meta

	// Path is the page's address from the site's root, with a slash before it, for
	// styles that concern some pages alone; empty leaves it out.
	Path string
	// Root leads from the page to the bundle's root: "", "../", "../../"…
	Root string
	// Home is where the logo leads, relative to the page; empty means
	// Root + "index.html".
	Home string
	// Markdown is the address of the page's Markdown copy, if there is one.
	Markdown string
	// Feed is the address of the page's feed, if there is one; FeedShown shows
	// it to readers.
	Feed      string
	FeedShown bool
	Mode      Mode
	// Tag is a short word shown beside the title, such as "Beta".
	Tag string
	// Deprecated marks the title as no longer recommended.
	Deprecated bool

	Banner *Banner
	Header Header

	// Sidebar is shared by all pages of one section and depth; nil leaves
	// the column out.
	Sidebar *Sidebar
	// CurrentKey is the NavItem.Key of this page in Sidebar; a key that is
	// not there (-1) marks nothing.
	CurrentKey int

	// Breadcrumbs are what stands above the title: the whole way to the page,
	// or with the site's choice of "section" its innermost group alone.
	Breadcrumbs []Link
	// Alternates are this page in the site's languages, itself among them,
	// for hreflang; empty where there is no other.
	Alternates []Alternate
	// EditURL leads to the page's source in the forge's editor, IssueURL to a
	// new issue about the page. Empty where the site names no repository.
	EditURL, IssueURL string
	// Modified is when the page's source changed last, where the site wants
	// that shown; zero where not.
	Modified time.Time
	// Actions are the menu of what can be done with the page's text, the
	// first one its default. ActionsInContents asks for them beside the
	// contents instead of beside the title.
	Actions           []Action
	ActionsInContents bool
	// Contents are the headings of "On this page", in order.
	Contents []Heading
	// Body is the article's HTML, without the title.
	Body []byte
	// Beside means that the body has a column beside its text.
	Beside     bool
	Prev, Next *Link
	Footer     Footer

	// Styles and Scripts are the site's own files, loaded in order after
	// the theme's.
	Styles  []string
	Scripts []string

	// taken are the ids among the hooks that the page has itself.
	taken map[string]bool
}

// Mode says which parts stand around the body. The names are those of the
// "mode" key of a page's front matter.
type Mode string

// Modes. An unknown mode is Default.
const (
	ModeDefault Mode = ""
	// ModeWide gives the article the space of the contents column.
	ModeWide Mode = "wide"
	// ModeCustom leaves only the header: no sidebar, title or footer links.
	ModeCustom Mode = "custom"
	// ModeFrame is ModeCustom with the sidebar.
	ModeFrame Mode = "frame"
	// ModeCenter has neither sidebar nor contents and centres the article.
	ModeCenter Mode = "center"
)

// Meta is one <meta> element.
type Meta struct{ Name, Content string }

// Link is a labelled address. Icon is an icon's name, alone or as
// "library:name" or "library:style:name", or the address of a picture; empty
// for none. All icons of a View are written so.
type Link struct {
	Label, Href, Icon string
	// IconOnly hides the label, but not from screen readers.
	IconOnly bool
}

// Alternate is a page in another language. Href is absolute, as hreflang needs
// it; Lang is BCP 47, or "x-default".
type Alternate struct{ Lang, Href string }

// Action is one thing that can be done with a page's text.
type Action struct {
	// Name is "copy" (copy the Markdown, Href leads to it), "view" (show it),
	// the name of a service such as "claude", or empty for one of the
	// author's own. Copy and view have words of the theme's in each language.
	Name string
	// Label and Description are empty for "copy" and "view".
	Label, Description string
	// Href is ready to be written. External ones leave the site.
	Href     string
	Icon     string
	External bool
}

// Heading is one entry of the page's contents. Level is 2 to 6.
type Heading struct {
	ID, Text string
	Level    int
}

// Banner is a message over the whole width, above the header.
type Banner struct {
	// HTML is the message, trusted.
	HTML []byte
	// Dismissible offers a button that hides this message for the reader,
	// until its text changes.
	Dismissible bool
	// Kind is "info" (or empty), "warning" or "critical".
	Kind string
	// ColorLight and ColorDark are the author's own background as CSS hex
	// colours; they win over Kind. Empty for none.
	ColorLight, ColorDark string
}

// Header is the row at the top of every page.
type Header struct {
	Tabs     []Tab
	Switches []Switch
	// Search is the search field, which opens a dialog; nil for none.
	Search *Search
	// Assistant is where the button of the AI assistant leads; empty for none.
	Assistant string
	// Links stand at the end of the row; Primary is shown as a button.
	Links   []Link
	Primary *Link
}

// Search is where a page's search field finds what it needs, relative to the
// page: the index's first file, and the script of the dialog. Without JavaScript
// the field is not shown.
type Search struct{ Index, Script string }

// Tab is one division of the site in the header's second row.
type Tab struct {
	Label, Href, Icon string
	Current           bool
	// Menu holds the entries of a tab that opens a menu; its Href is then
	// not used.
	Menu []Option
}

// Switch is a menu of parallel divisions: versions, languages, products.
type Switch struct {
	// Kind is "version", "language", "product" or "dropdown"; it names the
	// menu for screen readers.
	Kind    string
	Options []Option
}

// Option is one entry of a Switch or of a Tab's menu.
type Option struct {
	Label, Href, Icon, Description, Tag string
	// Lang is the language of the target (BCP 47), for language switches.
	Lang    string
	Current bool
}

// Footer stands under the article.
type Footer struct {
	// Socials are shown as icons; Label is read aloud.
	Socials []Link
	Columns []FooterColumn
}

// FooterColumn is a list of links under a heading.
type FooterColumn struct {
	Title string
	Links []Link
}
