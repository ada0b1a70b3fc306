package theme

import (
	"strings"
	"testing"
)

// TestServicesOnPages: the button of an assistant and the question about the page
// are there where they are configured, in the page's language, with addresses
// that run nothing; pages without them carry no byte for them.
func TestServicesOnPages(t *testing.T) {
	all := func(th *Theme) (styles, scripts string) {
		for _, a := range th.Assets() {
			switch {
			case strings.HasSuffix(a.Path, ".css"):
				styles += string(a.Data)
			case strings.HasSuffix(a.Path, ".js"):
				scripts += string(a.Data)
			}
		}
		return styles, scripts
	}
	plain := newTheme(t, Config{})
	styles, scripts := all(plain)
	page := string(plain.Document(nil, sampleView(plain)))
	for _, part := range []string{"rating", "assistant"} {
		if strings.Contains(page, part) || strings.Contains(styles, part) || strings.Contains(scripts, part) {
			t.Errorf("a plain site has %q", part)
		}
	}

	th := newTheme(t, Config{Assistant: true, Ratings: `https://rate.example/a?b="c`})
	styles, scripts = all(th)
	v := sampleView(th)
	v.Lang, v.Header.Assistant = "de", "https://ai.example/<q>"
	page = string(th.Document(nil, v))
	for _, part := range []string{
		`id="assistant-entry"`, `href="https://ai.example/&lt;q&gt;"`, `aria-label="KI fragen"`,
		`data-bindery-rating="https://rate.example/a?b=&quot;c"`, `War diese Seite hilfreich?`, `value="no"`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if !strings.Contains(styles, ".bdy-rating") || !strings.Contains(styles, ".bdy-assistant") || !strings.Contains(scripts, "data-bindery-rating") {
		t.Error("styles or scripts are missing")
	}
	if got := th.PolicySources()["connect-src"]; len(got) != 1 || got[0] != "https://rate.example" {
		t.Errorf("calls go to %q", got)
	}
	v.Header.Assistant = "javascript:alert(1)"
	if page = string(th.Document(nil, v)); strings.Contains(page, "javascript:") {
		t.Error("the button runs code")
	}
	v.Mode = ModeCustom
	if page = string(th.Document(nil, v)); strings.Contains(page, "data-bindery-rating") {
		t.Error("a page that is its author's alone asks for a rating")
	}
}
