package theme

import (
	"cmp"
	"math"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// Colors are the colours of a site's brand, as docs.json names them. Each is
// #rgb or #rrggbb; one that can't be read counts as missing.
type Colors struct {
	// Primary is the brand colour: links and marks on light pages.
	Primary string
	// Light stands in for Primary on dark pages.
	Light string
	// Dark is the fill of buttons.
	Dark string
	// BackgroundLight and BackgroundDark replace the theme's page colours.
	BackgroundLight, BackgroundDark string
}

// defaultPrimary is the brand colour of sites that name none.
const defaultPrimary = "#2f5fd0"

// token is one custom property of the style sheet.
type token struct {
	name  string
	value rgb
}

// palette is the set of colours of one appearance.
type palette struct {
	dark   bool
	tokens []token
}

func (p *palette) set(name string, c rgb) { p.tokens = append(p.tokens, token{name, c}) }

// get returns the colour of a token; black if there is none.
func (p *palette) get(name string) rgb {
	for i := range p.tokens {
		if p.tokens[i].name == name {
			return p.tokens[i].value
		}
	}
	return rgb{}
}

func (p *palette) css(b *strings.Builder) {
	for _, t := range p.tokens {
		b.WriteString("--c-")
		b.WriteString(t.name)
		b.WriteByte(':')
		b.WriteString(t.value.String())
		b.WriteByte(';')
	}
}

// Contrast that text and marks must reach (WCAG 2.2, 1.4.3 and 1.4.11).
const (
	textContrast = 4.5
	markContrast = 3.0
	// darkLinkContrast is for links on dark pages whose colour no author chose.
	darkLinkContrast = 6.0
	// maxCodeChroma keeps the background of code so pale that colours show on it.
	maxCodeChroma = 0.03
	// What lies on a strong page is paler, and on a page that is hardly dark it
	// is no lighter than what white words are readable on.
	maxSurfaceChroma = 0.06
	maxDarkSurface   = 0.46
)

// semantic are the meanings of callouts, badges and diagrams, by hue (degrees
// of OKLCH) and strength.
var semantic = [...]struct {
	name   string
	hue    float64
	chroma float64
}{
	{"note", 255, 1},
	{"tip", 158, 1},
	{"warning", 75, 1},
	{"danger", 25, 1.1},
	{"info", 250, 0.22},
	{"check", 148, 1},
	{"accent", 300, 1},
}

// newPalette derives all colours of one appearance from the brand's. Greys
// lean a little towards the brand's hue, so that they belong together, or towards
// that of the page where the site has a colour for it; texts
// and links change lightness until they are readable, whatever the brand is.
func newPalette(c Colors, dark bool) *palette {
	p := &palette{dark: dark}
	brand, ok := parseHex(c.Primary)
	if !ok {
		brand = mustHex(defaultPrimary)
	}
	hue := brand.oklch()
	tint := 1.0
	if hue.c < 0.02 {
		tint = 0 // a grey has no hue to lean towards
	}
	grey := func(l, chroma float64) rgb {
		return mustHex(oklch{l, chroma * tint, hue.h}.rgb().String())
	}
	if dark {
		if x, ok := parseHex(c.Light); ok {
			brand = x
		}
	}

	bg := rgb{1, 1, 1}
	custom := c.BackgroundLight
	if dark {
		bg = grey(0.178, 0.008)
		custom = c.BackgroundDark
	}
	// A page colour of the other appearance's kind would leave no readable
	// text; it is not taken.
	// What lies on the page keeps its distance to it: as light and as colourful
	// as on the theme's own page, and more or less by as much as the page is.
	// Behind code it is never lighter or darker: the colours of code are made for it.
	shade, behindCode := grey, grey
	if x, ok := parseHex(custom); ok && x != bg && (x.luminance() < 0.12) == dark && (dark || x.luminance() > 0.6) {
		page, own := x.oklch(), bg.oklch()
		lift, more := page.l-own.l, page.c-own.c
		if dark {
			lift = max(lift, 0) // black has no room below it
		}
		behindCode = func(l, chroma float64) rgb {
			return mustHex(oklch{l, min(max(chroma+more, 0), maxCodeChroma), page.h}.rgb().String())
		}
		shade = func(l, chroma float64) rgb {
			l += lift
			if dark {
				l = min(l, maxDarkSurface)
			}
			return mustHex(oklch{l, min(max(chroma+more, 0), maxSurfaceChroma), page.h}.rgb().String())
		}
		bg = x
	}
	p.set("bg", bg)
	var surface, surface2 rgb
	if dark {
		surface, surface2 = shade(0.212, 0.009), shade(0.258, 0.010)
		p.set("surface", surface)
		p.set("hover", surface2)
		p.set("line", shade(0.305, 0.011))
		p.set("edge", shade(0.42, 0.012))
		p.set("text", readable(grey(0.845, 0.008), 7, bg, surface, surface2))
		p.set("muted", readable(grey(0.70, 0.012), textContrast, bg, surface, surface2))
		p.set("title", readable(grey(0.965, 0.004), 7, bg, surface, surface2))
		p.set("code", behindCode(0.205, 0.009))
	} else {
		surface, surface2 = shade(0.984, 0.003), shade(0.962, 0.005)
		p.set("surface", surface)
		p.set("hover", surface2)
		p.set("line", shade(0.918, 0.007))
		p.set("edge", shade(0.83, 0.010))
		p.set("text", readable(grey(0.345, 0.016), 7, bg, surface, surface2))
		p.set("muted", readable(grey(0.52, 0.016), textContrast, bg, surface, surface2))
		p.set("title", readable(grey(0.215, 0.018), 7, bg, surface, surface2))
		p.set("code", behindCode(0.979, 0.004))
	}

	// The brand: as it is where it fills, made readable where it is text.
	soft := brand.over(bg, 0.09)
	if dark {
		soft = brand.over(bg, 0.14)
	}
	soft = mustHex(soft.String())
	linkContrast := textContrast
	if _, own := parseHex(c.Light); dark && !own {
		// A colour that was chosen for white paper looks dull on black.
		linkContrast = darkLinkContrast
	}
	link := readable(brand, linkContrast, bg, surface, surface2, soft)
	p.set("link", link)
	p.set("soft", soft)
	fill := brand
	if x, ok := parseHex(c.Dark); ok && !dark {
		fill = x
	}
	fill = readable(fill, 1.5, bg) // a white button on white would be no button
	p.set("primary", fill)
	p.set("on-primary", contrastText(fill))
	p.set("focus", readable(brand, markContrast, bg, surface, surface2))

	for _, s := range semantic {
		h := s.hue * math.Pi / 180
		var fg, sbg rgb
		if dark {
			sbg = mustHex(oklch{0.238, 0.034 * s.chroma, h}.rgb().String())
			fg = oklch{0.80, 0.115 * s.chroma, h}.rgb()
		} else {
			sbg = mustHex(oklch{0.978, 0.017 * s.chroma, h}.rgb().String())
			fg = oklch{0.50, 0.135 * s.chroma, h}.rgb()
		}
		p.set(s.name, readable(fg, textContrast, bg, surface, sbg))
		p.set(s.name+"-bg", sbg)
	}
	return p
}

// tokensCSS are the custom properties that depend on the site.
func tokensCSS(cfg *Config, faces *typefaces) string {
	var b strings.Builder
	b.WriteString(":root{")
	newPalette(cfg.Colors, false).css(&b)
	b.WriteString(faces.variables(func(s stack) string { return s.standIn }))
	if !faces.ownBody {
		// The theme's sizes are made for its own family, which is drawn
		// smaller than most.
		b.WriteString("--root:100%;")
	}
	if cfg.Sharp {
		b.WriteString("--r-sm:0;--r:0;--r-lg:0;")
	}
	if w := fontWeight(cfg.Fonts.Body.Weight); w != "" {
		b.WriteString("--weight-body:" + w + ";")
	}
	if w := fontWeight(cfg.Fonts.Heading.Weight); w != "" {
		b.WriteString("--weight-heading:" + w + ";")
	}
	backdrop(&b, cfg.BackgroundImage)
	// The classes are there once the reader has fonts (boot.js).
	b.WriteString("}:root:is(.bdy-fonts,:not(.bdy-js)){" + faces.variables(stack.full))
	b.WriteString("}:root.bdy-title-fonts{--font-heading:" + cmp.Or(faces.heading, faces.sans).full())
	// Paper is white, whatever the screen was.
	b.WriteString("}@media not print{.dark{color-scheme:dark;")
	newPalette(cfg.Colors, true).css(&b)
	backdrop(&b, cfg.BackgroundImageDark)
	b.WriteString("--shadow:0 .5rem 1.75rem rgb(0 0 0/.5)}}")
	return b.String()
}

func backdrop(b *strings.Builder, picture string) {
	if picture = html.Safe(picture); picture == "" || picture == "#" {
		return
	}
	if !isAbsolute(picture) {
		picture = "../" + strings.TrimLeft(picture, "/") // the sheet lies in bindery/
	}
	b.WriteString("--backdrop:url(" + cssString(picture) + ");")
}

// isAbsolute reports whether an address is of another site, not a path of this one.
func isAbsolute(u string) bool {
	if strings.HasPrefix(u, "//") {
		return true
	}
	i := strings.IndexByte(u, ':')
	return i > 0 && !strings.ContainsAny(u[:i], "/?#")
}

// Properties returns the colours of a brand in one appearance as custom
// properties, such as "--c-bg:#ffffff;": for pages that stand beside a site's and
// should look as if they belonged to it.
func Properties(c Colors, dark bool) string {
	var b strings.Builder
	newPalette(c, dark).css(&b)
	return b.String()
}
