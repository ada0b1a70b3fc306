package highlight

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast: every colour can be read on every background that code has, by
// the formula and the bound of WCAG 2.2 criterion 1.4.3.
func TestContrast(t *testing.T) {
	const bound = 4.5
	light := []string{"#ffffff", "#f6f8fa", "#f3f4f6"}
	dark := []string{"#0d1117", "#161b22", "#1f2937"}
	checked := 0
	for class, c := range classes {
		if c.style == "" {
			continue
		}
		for _, side := range []struct {
			colour      string
			backgrounds []string
		}{{c.light, light}, {c.dark, dark}} {
			for _, background := range side.backgrounds {
				if ratio := contrast(t, side.colour, background); ratio < bound {
					t.Errorf("class %d (%s): %s on %s has %.2f:1, want at least %.1f:1", class, c.style, side.colour, background, ratio, bound)
				}
				checked++
			}
		}
	}
	if checked == 0 {
		t.Error("no class has a colour")
	}
	if black := contrast(t, "#000000", "#ffffff"); math.Abs(black-21) > 0.001 {
		t.Errorf("black on white has %.3f:1, want 21:1: the formula is wrong", black)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	value, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	linear := func(part uint64) float64 {
		s := float64(part&255) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(value>>16) + 0.7152*linear(value>>8) + 0.0722*linear(value)
}

// TestCSS: each class that HTML may hold has a rule, each variable that a rule
// uses has a light and a dark value, and no name stands for two classes.
func TestCSS(t *testing.T) {
	css := CSS()
	root, rest, ok := strings.Cut(css, "\n.dark {")
	dark, rules, ok2 := strings.Cut(rest, "}\n")
	if !ok || !ok2 || !strings.HasPrefix(root, ":root {") {
		t.Fatalf("want values for :root, then for .dark, then rules:\n%s", css)
	}
	for _, use := range regexp.MustCompile(`var\((--hl-[a-z]+)\)`).FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(root, use[1]+": #") || !strings.Contains(dark, use[1]+": #") {
			t.Errorf("%s has no light and dark value", use[1])
		}
	}
	names := map[string]bool{}
	for class, c := range classes {
		if Class(class) == Plain {
			continue
		}
		if c.name == "" || names[c.name] {
			t.Errorf("class %d has the name %q: want one of its own", class, c.name)
		}
		names[c.name] = true
		if !strings.Contains(rules, ":is(pre, code) ."+c.name+" {") {
			t.Errorf("class %d (%s) has no rule", class, c.name)
		}
	}
}
