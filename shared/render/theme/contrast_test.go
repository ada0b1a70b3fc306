package theme

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
)

func TestCorrections(t *testing.T) {
	for _, c := range []struct {
		colors Colors
		want   []string
	}{
		{Colors{}, nil},
		{Colors{Primary: "#0055aa", Light: "#66aaff", Dark: "#003366"}, nil},
		{Colors{Primary: "nonsense", BackgroundLight: "white"}, nil},
		{Colors{Primary: "#ffff00"}, []string{"links in #ffff00 have a contrast of 1.0:1 with #fafaf8 on light pages, and 4.5:1 is needed: readers get #737304 in its place, which is near and can be read"}},
		{Colors{Primary: "#0055aa", Light: "#003366", BackgroundLight: "#222222", BackgroundDark: "#090d0d"}, []string{
			"#222222 leaves no room for words that can be read on light pages: readers get #ffffff in its place",
			"links in #003366 have a contrast of 1.2:1 with #1f2525 on dark pages, and 4.5:1 is needed: readers get #5d8dc7 in its place, which is near and can be read",
		}},
	} {
		all := Corrections(c.colors)
		if len(all) != len(c.want) {
			t.Errorf("%+v: %v", c.colors, all)
			continue
		}
		for i := range all {
			if all[i].String() != c.want[i] {
				t.Errorf("%+v: %s", c.colors, all[i])
			}
		}
	}
	// What readers get needs no correction, and what is corrected needed it.
	proptest.Check(t, func(rt *rapid.T) {
		c := Colors{Primary: rapid.StringMatching(`#[0-9a-f]{6}`).Draw(rt, "primary"), Light: rapid.StringMatching(`#[0-9a-f]{6}`).Draw(rt, "light")}
		for _, one := range Corrections(c) {
			if one.Ratio >= one.Needs {
				rt.Errorf("%s is readable", one)
			}
			if on := contrast(mustHex(one.Shown), mustHex(one.On)); on < one.Needs {
				rt.Errorf("%s, which has %.2f", one, on)
			}
		}
	})
}
