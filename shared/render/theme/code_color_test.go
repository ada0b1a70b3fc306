package theme

import (
	"regexp"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/highlight"
)

// TestCodeIsReadable: each colour of code has the contrast of text on the
// background that code has, also in marked lines, whatever the site's colour.
func TestCodeIsReadable(t *testing.T) {
	rule := regexp.MustCompile(`(?s)(:root|\.dark) \{(.*?)\}`)
	variable := regexp.MustCompile(`--hl-([a-z]+): (#[0-9a-f]{6});`)
	checked := 0
	for _, side := range rule.FindAllStringSubmatch(highlight.CSS(), -1) {
		for _, colour := range variable.FindAllStringSubmatch(side[2], -1) {
			for _, brand := range brands {
				p := newPalette(Colors{Primary: brand, Light: brand, Dark: brand}, side[1] == ".dark")
				for _, bg := range []string{"code", "soft", "check-bg", "danger-bg", "warning-bg"} {
					if c := contrast(mustHex(colour[2]), p.get(bg)); c < textContrast {
						t.Errorf("%q, %s: %s %s on %s %s has contrast %.2f", brand, side[1], colour[1], colour[2], bg, p.get(bg), c)
					}
					checked++
				}
			}
			for _, page := range []string{"#faf5ee", "#fff8e1", "#d9e8ff", "#ccddcc", "#10182a", "#1e1e2e", "#000000", "#002b36", "#3b4252"} {
				code := newPalette(Colors{BackgroundLight: page, BackgroundDark: page}, side[1] == ".dark").get("code")
				if c := contrast(mustHex(colour[2]), code); c < textContrast {
					t.Errorf("the page %s, %s: %s %s on %s has contrast %.2f", page, side[1], colour[1], colour[2], code, c)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no colours were found in the highlighter's CSS")
	}
}
