package theme

import "fmt"

// Correction is a colour of a site that readers get another one for, since nobody
// could read it, or read on it.
type Correction struct {
	// Name is that of the field of Colors in docs.json: "primary" or "light" below
	// colors, "light" or "dark" below background.color.
	Name string
	// Page is set for a colour of whole pages, Dark for one of dark pages.
	Page, Dark bool
	// Given is the site's colour, Shown what readers get.
	Given, Shown string
	// Ratio is the contrast (WCAG 2.2) of a link in the given colour with what lies
	// below it at worst, which is On; Needs is what it should be. They are 0 for a
	// colour of pages.
	Ratio, Needs float64
	On           string
}

// Corrections returns what of a site's colours the theme changes. Those that stand in
// for a missing one are not among them.
func Corrections(c Colors) []Correction {
	var all []Correction
	for _, dark := range []bool{false, true} {
		p := newPalette(c, dark)
		name, text, page := "primary", c.Primary, c.BackgroundLight
		if dark {
			name, text, page = "light", c.Light, c.BackgroundDark
		}
		if given, ok := parseHex(text); ok && given.String() != p.get("link").String() {
			one := Correction{Name: name, Dark: dark, Given: given.String(), Shown: p.get("link").String(), Needs: textContrast}
			for _, below := range []string{"bg", "surface", "hover", "soft"} {
				if ratio := contrast(given, p.get(below)); one.On == "" || ratio < one.Ratio {
					one.Ratio, one.On = ratio, p.get(below).String()
				}
			}
			all = append(all, one)
		}
		if given, ok := parseHex(page); ok && given.String() != p.get("bg").String() {
			all = append(all, Correction{
				Name: map[bool]string{false: "light", true: "dark"}[dark], Page: true, Dark: dark, Given: given.String(), Shown: p.get("bg").String(),
			})
		}
	}
	return all
}

// String says what is wrong with the colour and what readers get, as a sentence
// without its end.
func (c Correction) String() string {
	pages := map[bool]string{false: "light pages", true: "dark pages"}[c.Dark]
	if c.Page {
		return fmt.Sprintf("%s leaves no room for words that can be read on %s: readers get %s in its place", c.Given, pages, c.Shown)
	}
	return fmt.Sprintf("links in %s have a contrast of %.1f:1 with %s on %s, and %.1f:1 is needed: readers get %s in its place, which is near and can be read", c.Given, floor(c.Ratio), c.On, pages, c.Needs, c.Shown)
}

// floor cuts a ratio to one digit, so that one that is too low never looks enough.
func floor(ratio float64) float64 { return float64(int(ratio*10)) / 10 }
