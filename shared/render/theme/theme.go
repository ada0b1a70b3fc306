// Package theme is the document around a page's body: head, header, sidebar,
// contents, footer, and the style sheet and scripts they need.
//
// A Theme is made once for a site (New) and is then safe for concurrent use.
// For each page, Document appends a whole HTML document to a byte slice: fixed
// parts are prepared, and the sidebar is rendered once for each section and
// depth of folder (Theme.Sidebar) and only marked for each page. What the
// theme needs to know of a page is View; of other rooms it imports words alone.
//
//	theme.go     Config, New, the files with their hashes
//	view.go      View: what is known of one page
//	document.go  the whole document; head.go: its head
//	header.go    the rows at the top; sidebar.go: the column at the side
//	listing.go   all pages of a section that is too large for a sidebar
//	special.go   404 and redirect pages
//	tokens.go    colours and fonts as custom properties; color.go: contrast;
//	             contrast.go: what of the site's colours is changed
//	typeface.go  the fonts of a site: faces, stand-ins, stacks
//	math.go      the font of formulas
//	services.go  the button of an assistant, ratings of pages
//	preview/     pictures for links to pages
//	analytics/   the script that loads a site's analytics services
//	actions.go   the menu of a page, what stands under the article
//	icons/       icons by name from three free libraries
//	fonts/       the bundled families
//	assets/      styles and scripts
//
// Pages work from a folder (file://), under any sub-path and without
// JavaScript: every address is relative, scripts are classic and external (no
// inline script or handler, so a strict content security policy needs no
// exception), menus are <details> and popovers. The whole style sheet stands in
// the cascade layer "bindery", before the layer "utilities". The page for unknown
// addresses, which is served at any of them and can load nothing, is the one
// exception: its script stands in it, and the policy names its digest.
package theme

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/theme/fonts"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
)

//go:embed assets
var assets embed.FS

// notices name the licences of what pages hold of others' work.
const notices = "Icons: Font Awesome Free (https://fontawesome.com), CC BY 4.0; Lucide (https://lucide.dev), ISC; Tabler Icons (https://tabler.io/icons), MIT. Fonts: SIL Open Font License 1.1."

// Config is what is the same on all pages of a site.
type Config struct {
	// SiteName is shown beside the logo's place and in titles.
	SiteName string
	// SiteKey distinguishes this site's stored reader settings from those of other
	// sites on the same host; the domain does. Empty means SiteName.
	SiteKey string
	// Lang is the site's language (BCP 47), "en" if empty.
	Lang string

	Colors Colors
	Fonts  Fonts
	Logo   Logo
	// Favicon and FaviconDark are paths from the bundle's root.
	Favicon, FaviconDark string
	// Appearance is "system" (or empty), "light" or "dark": what a reader
	// sees first. Strict takes the choice away.
	Appearance string
	Strict     bool

	// Decoration is a pattern in the background of pages: "gradient", "grid", "windows" or
	// empty.
	Decoration string
	// BackgroundImage and BackgroundImageDark are background pictures: paths
	// from the bundle's root or absolute addresses.
	BackgroundImage, BackgroundImageDark string
	// Sharp leaves corners square.
	Sharp bool
	// Theme is the look of the source language that the site names: a class for
	// its styles and scripts, and nothing else.
	Theme string
	// SearchPrompt is the author's text of an empty search field.
	SearchPrompt string
	// Drilldown is whether opening a group of the sidebar goes to its first
	// page; nil leaves it to the theme.
	Drilldown *bool

	// IconLibrary is where icon names are looked up first: "fontawesome",
	// "lucide" or "tabler"; empty means fontawesome.
	IconLibrary string
	// Icons may be shared by many themes; nil means a set of its own.
	Icons *icons.Set

	// CSS and JS are parts of the style sheet and of the script that other
	// rooms own (components, highlighting), added after the theme's.
	CSS, JS []string

	// Assistant means that pages have a button that leads to an AI assistant
	// (Header.Assistant).
	Assistant bool
	// Ratings is the address that readers' ratings of pages are sent to; empty
	// leaves the question out.
	Ratings string

	// NotFoundTitle and NotFoundText replace the words of the 404 page.
	NotFoundTitle, NotFoundText string
}

// Logo is a site's logo as paths from the bundle's root or absolute addresses.
// Without one the site's name stands in its place.
type Logo struct {
	Light, Dark string
	// Href is where the logo leads if not to View.Home.
	Href string
}

// Asset is a file of the theme.
type Asset struct {
	// Path is the file's path in the bundle; it carries the content's hash.
	Path string
	Data []byte
}

// Theme renders documents of one site.
type Theme struct {
	cfg    Config
	icons  *icons.Set
	assets []Asset
	css    string // path of the style sheet
	js     string // path of the script
	boot   string // path of the script that runs before the first paint
	away   string // path of the script of pages that lead to others

	headSite []byte // head elements that are the same on all pages
	plain    string // styles of the pages that stand alone
	lost     string // script of the page for addresses that don't exist
}

// New makes the theme of a site. It fails only if a part of the style sheet or
// of the script can't be read.
func New(cfg Config) (*Theme, error) {
	t := &Theme{cfg: cfg, icons: cfg.Icons}
	if t.icons == nil {
		t.icons = icons.New()
	}
	t.cfg.Lang = cmp.Or(t.cfg.Lang, "en")
	t.cfg.SiteKey = cmp.Or(t.cfg.SiteKey, t.cfg.SiteName)
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	m.AddFunc("text/javascript", js.Minify)
	var failed error
	part := func(name string, more ...string) string {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("theme: %w", err))
		}
		return strings.Join(append([]string{string(b)}, more...), "\n")
	}
	add := func(stem, ext, mediatype, src string) string {
		min, err := m.String(mediatype, src)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("theme: minify %s.%s: %w", stem, ext, err))
		}
		sum := sha256.Sum256([]byte(min))
		path := "bindery/" + stem + "." + hex.EncodeToString(sum[:6]) + "." + ext
		t.assets = append(t.assets, Asset{Path: path, Data: []byte(min)})
		return path
	}
	faces, err := newTypefaces(&t.cfg)
	if err != nil {
		return nil, err
	}
	t.assets = append(t.assets, faces.files...)
	licences, err := addLicences(t, faces.used)
	if err != nil {
		return nil, err
	}
	sheets, scripts := slices.Clip(cfg.CSS), slices.Clip(cfg.JS)
	if cfg.Assistant {
		sheets = append(sheets, part("assistant.css"))
	}
	if cfg.Ratings != "" {
		sheets, scripts = append(sheets, part("rating.css")), append(scripts, part("rating.js"))
	}
	folder := path.Base(add("folder", "css", "text/css", faces.folderSheet()))
	// All in one layer: a site's own styles are in none and win, whatever their
	// selectors are. Its utility classes come between. The layers before ours have
	// Tailwind's names: a site's own build of Tailwind resets no margins of ours.
	t.css = add("theme", "css", "text/css", "/*! "+notices+" Texts: "+licences+" */\n"+
		"@layer properties,theme,reset,base,bindery,components,utilities;@layer bindery{"+faces.rules.String()+faces.local.String()+tokensCSS(&t.cfg, faces)+"\n"+part("theme.css", sheets...)+"}")
	t.js = add("theme", "js", "text/javascript", part("theme.js", scripts...))
	inBoot, err := json.Marshal([]any{append([]string{}, faces.early...), append([]string{}, faces.loaded...), faces.fitted, folder})
	if err != nil {
		return nil, fmt.Errorf("theme: %w", err)
	}
	t.boot = add("boot", "js", "text/javascript", strings.Replace(part("boot.js"), "SITE_FONTS", string(inBoot), 1))
	t.away = add("redirect", "js", "text/javascript", part("redirect.js"))
	if t.lost, err = m.String("text/javascript", part("notfound.js")); err != nil {
		return nil, fmt.Errorf("theme: minify notfound.js: %w", err)
	}
	if failed != nil {
		return nil, failed
	}
	t.headSite = t.siteHead()
	t.plain = plainCSS(&t.cfg)
	return t, nil
}

// addLicences puts the texts of the licences into the bundle: of the icons, and
// of the families that it holds. It returns the file's name.
func addLicences(t *Theme, families []*fonts.Family) (string, error) {
	text, err := icons.Licences()
	if err != nil {
		return "", fmt.Errorf("theme: %w", err)
	}
	for _, f := range families {
		b, err := f.Licence()
		if err != nil {
			return "", fmt.Errorf("theme: %w", err)
		}
		text = append(append(text, '\n'), b...)
	}
	sum := sha256.Sum256(text)
	name := "licences." + hex.EncodeToString(sum[:6]) + ".txt"
	t.assets = append(t.assets, Asset{Path: "bindery/" + name, Data: text})
	return name, nil
}

// CSS returns the parts of the style sheet that are the theme's own.
func CSS() string {
	var out strings.Builder
	for _, name := range []string{"theme.css", "assistant.css", "rating.css"} {
		if b, err := assets.ReadFile("assets/" + name); err == nil { // New reports what is missing
			out.Write(append(b, '\n'))
		}
	}
	return out.String()
}

// Assets are the files that pages refer to; the bundle must hold them. The
// same Config makes the same bytes.
func (t *Theme) Assets() []Asset {
	out := make([]Asset, len(t.assets))
	for i, a := range t.assets {
		out[i] = Asset{Path: a.Path, Data: bytes.Clone(a.Data)}
	}
	return out
}

// Icon returns the inline SVG of an icon. Library is "fontawesome", "lucide",
// "tabler" or empty for the site's; the others are tried after it. Style is the
// style of Font Awesome ("solid", "regular", "brands"…), empty for any.
func (t *Theme) Icon(name, library, style string) (svg string, ok bool) {
	library = cmp.Or(library, t.cfg.IconLibrary)
	return t.icons.SVG(name, library, style)
}

// Pro reports whether a name is one as Font Awesome Pro makes them.
func (t *Theme) Pro(name string) bool { return t.icons.Pro(name) }

// Names returns the names of all icons, sorted. The caller must not change it.
func (t *Theme) Names() []string { return t.icons.Names() }

// appendText appends text, escaped, between two pieces of HTML.
func appendText(dst []byte, before, text, after string) []byte {
	return append(html.AppendText(append(dst, before...), text), after...)
}

// appendLabel appends the label that screen readers say between two pieces of
// HTML, within a tag.
func appendLabel(dst []byte, before, label, after string) []byte {
	return append(html.AppendAttr(append(dst, before...), "aria-label", label), after...)
}

// appendTag appends the small word after a name, if there is one.
func appendTag(dst []byte, tag string) []byte {
	if tag == "" {
		return dst
	}
	return appendText(dst, `<span class="bdy-tag">`, tag, `</span>`)
}

// appendIf appends a piece of HTML on a condition.
func appendIf(dst []byte, condition bool, piece string) []byte {
	if condition {
		dst = append(dst, piece...)
	}
	return dst
}

// appendHref writes a complete href attribute with the space before it.
// Addresses that would run a script are replaced by "#".
func appendHref(dst []byte, href string) []byte {
	return html.AppendAttr(dst, "href", html.Safe(href))
}

// appendIcon writes an icon by name, or a picture by address; nothing if there
// is no such icon.
func (t *Theme) appendIcon(dst []byte, icon string) []byte {
	if icon == "" {
		return dst
	}
	if isPicture(icon) {
		dst = append(dst, `<img class="icon bdy-icon"`...)
		dst = html.AppendAttr(dst, "src", html.Safe(icon))
		return append(dst, ` alt="">`...)
	}
	name, library, style := splitIcon(icon)
	if svg, ok := t.Icon(name, library, style); ok {
		dst = append(dst, svg...)
	} else if t.icons.Pro(name) {
		dst = append(dst, `<svg class="icon bdy-icon" viewBox="0 0 24 24" aria-hidden="true"></svg>`...) // an empty box, so that the layout stays
	}
	return dst
}

// splitIcon takes "name", "library:name" and "library:style:name" apart; the
// library may be empty.
func splitIcon(icon string) (name, library, style string) {
	before, name, ok := strings.Cut(icon, ":")
	if !ok {
		return icon, "", ""
	}
	if middle, last, ok := strings.Cut(name, ":"); ok {
		return last, before, middle
	}
	return name, before, ""
}

// isPicture reports whether a text is the address of a picture, not the name of an icon.
func isPicture(icon string) bool {
	return strings.ContainsAny(icon, "/.")
}
