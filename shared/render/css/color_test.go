package css_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/css"
)

func TestColor(t *testing.T) {
	for in, want := range map[string]string{
		"red":                          "red",
		"#16a34a":                      "#16a34a",
		"A8FF53":                       "#A8FF53",
		"#fff":                         "#fff",
		"rgb(1, 2, 3)":                 "rgb(1, 2, 3)",
		"oklch(62.3% 0.2 29 / 50%)":    "oklch(62.3% 0.2 29 / 50%)",
		"--color-primary":              "var(--color-primary)",
		"url(x)":                       "",
		"":                             "",
		"red;background:url(x)":        "",
		"url(https://example.com)":     "",
		"expression(alert(1))":         "",
		"rgb(1,2,3)}body{display:none": "",
		"#16a34":                       "",
		"\"":                           "",
		strings.Repeat("a", 100):       "",
	} {
		if got := css.Color(in); got != want {
			t.Errorf("Color(%q) = %q, want %q", in, got, want)
		}
	}
}
