package theme

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
)

// brands are colours that real sites have, and those that make trouble.
var brands = []string{"", "#000000", "#ffffff", "#ffff00", "#00ff00", "#0000ff", "#ff0000", "#808080", "#7f7f7f", "#fafafa", "#0055aa", "#16a34a", "#A8FF53", "#0D9373", "#fff", "nonsense", "#12", "#11223344"}

// checkPalette holds a palette against WCAG 2.2: text 4.5, marks 3.
func checkPalette(t interface{ Errorf(string, ...any) }, what string, p *palette) {
	text := func(fg string, bgs ...string) {
		for _, bg := range bgs {
			if c := contrast(p.get(fg), p.get(bg)); c < textContrast {
				t.Errorf("%s: %s %s on %s %s has contrast %.2f", what, fg, p.get(fg), bg, p.get(bg), c)
			}
		}
	}
	pages := []string{"bg", "surface", "hover"}
	text("text", pages...)
	text("text", "code")
	text("muted", pages...)
	text("title", pages...)
	text("link", append(pages, "soft")...)
	text("title", "soft")
	text("on-primary", "primary")
	for _, s := range semantic {
		text(s.name, "bg", "surface", s.name+"-bg")
		text("text", s.name+"-bg")
		text("title", s.name+"-bg")
	}
	for _, bg := range pages {
		if c := contrast(p.get("focus"), p.get(bg)); c < markContrast {
			t.Errorf("%s: the focus ring %s on %s has contrast %.2f", what, p.get("focus"), bg, c)
		}
	}
}

func TestEveryBrandIsReadable(t *testing.T) {
	for _, b := range brands {
		for _, dark := range []bool{false, true} {
			p := newPalette(Colors{Primary: b, Light: b, Dark: b}, dark)
			checkPalette(t, b, p)
			if p.dark != (p.get("bg").luminance() < 0.2) {
				t.Errorf("%q: a page of the other appearance", b)
			}
		}
	}
	proptest.Check(t, func(rt *rapid.T) {
		hex := rapid.StringMatching(`#[0-9a-f]{6}`)
		c := Colors{Primary: hex.Draw(rt, "primary"), Light: hex.Draw(rt, "light"), Dark: hex.Draw(rt, "dark"), BackgroundLight: hex.Draw(rt, "light page"), BackgroundDark: hex.Draw(rt, "dark page")}
		checkPalette(rt, c.Primary, newPalette(c, rapid.Bool().Draw(rt, "is dark")))
	})
}

func TestABrandThatIsReadableStaysAsItIs(t *testing.T) {
	p := newPalette(Colors{Primary: "#0055aa"}, false)
	if got := p.get("link").String(); got != "#0055aa" {
		t.Errorf("the link is %s", got)
	}
}

func TestPageColoursOfTheSite(t *testing.T) {
	if got := newPalette(Colors{BackgroundLight: "#fffdf7"}, false).get("bg").String(); got != "#fffdf7" {
		t.Errorf("a light page colour is not taken: %s", got)
	}
	if got := newPalette(Colors{BackgroundDark: "#090d0d"}, true).get("bg").String(); got != "#090d0d" {
		t.Errorf("a dark page colour is not taken: %s", got)
	}
	if got := newPalette(Colors{BackgroundLight: "#222222"}, false).get("bg").String(); got != "#ffffff" {
		t.Errorf("a light page is %s", got)
	}
}

// What lies on a page of the site's own colour leans towards that colour, and not
// towards the brand's.
func TestSurfacesFollowThePage(t *testing.T) {
	for _, page := range []string{"#faf5ee", "#f0f6ff", "#fff8e1", "#10182a", "#1e1e2e", "#121317", "#0a1a12"} {
		dark := mustHex(page).luminance() < 0.5
		p := newPalette(Colors{Primary: "#a8ff53", BackgroundLight: page, BackgroundDark: page}, dark)
		checkPalette(t, page, p)
		want := mustHex(page).oklch()
		for _, name := range []string{"surface", "hover", "line", "edge", "code"} {
			got := p.get(name).oklch()
			if d := math.Abs(math.Remainder(got.h-want.h, 2*math.Pi)); d > 0.5 {
				t.Errorf("%s: %s %s has another hue, by %.2f", page, name, p.get(name), d)
			}
			if name != "code" && dark == (got.l < want.l) {
				t.Errorf("%s: %s %s is on the wrong side of the page", page, name, p.get(name))
			}
		}
	}
}

func TestContrastByTheStandard(t *testing.T) {
	tests := []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#ffffff", 1}, {"#777777", "#ffffff", 4.48}, {"#0000ff", "#ffffff", 8.59}}
	for _, tt := range tests {
		if got := contrast(mustHex(tt.a), mustHex(tt.b)); got < tt.want-0.01 || got > tt.want+0.01 {
			t.Errorf("contrast(%s, %s) = %.3f, want %.2f", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestOKLCHThereAndBack(t *testing.T) {
	for _, s := range []string{"#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#0f766e", "#123456"} {
		if got := mustHex(s).oklch().rgb().String(); got != s {
			t.Errorf("%s comes back as %s", s, got)
		}
	}
}

// The variables that other rooms' styles may use.
func TestTokensOfTheContract(t *testing.T) {
	names := []string{"--c-bg", "--c-surface", "--c-hover", "--c-line", "--c-text", "--c-muted", "--c-title",
		"--c-primary", "--c-on-primary", "--c-link", "--c-code", "--r-sm", "--r", "--r-lg", "--line", "--shadow", "--font-sans", "--font-mono", "--measure"}
	for _, m := range []string{"note", "tip", "warning", "danger", "info", "check", "accent"} {
		names = append(names, "--c-"+m, "--c-"+m+"-bg")
	}
	var sheet string
	for _, a := range newTheme(t, Config{}).Assets() {
		if strings.HasSuffix(a.Path, ".css") {
			sheet = string(a.Data)
		}
	}
	defined := map[string]int{}
	for _, m := range regexp.MustCompile(`(--[a-z0-9-]+):`).FindAllStringSubmatch(sheet, -1) {
		defined[m[1]]++
	}
	for _, n := range names {
		want := 1
		if strings.HasPrefix(n, "--c-") {
			want = 2 // light and dark
		}
		if defined[n] < want {
			t.Errorf("%s is defined %d times, want %d", n, defined[n], want)
		}
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z0-9-]+)\)`).FindAllStringSubmatch(sheet, -1) {
		if defined[m[1]] == 0 {
			t.Errorf("%s is used and not defined", m[1])
		}
	}
}
