package page_test

import (
	"strings"
	"testing"
)

// TestLinksThatShowTheirAddress: they are marked, so that paper has the address once.
func TestLinksThatShowTheirAddress(t *testing.T) {
	for source, want := range map[string]bool{
		"https://example.com/a":                                  true,
		"[https://example.com/a](https://example.com/a)":         true,
		"[example.com](https://example.com/)":                    true,
		"[`example.com/a`](https://example.com/a)":               true,
		`<a href="https://example.com/">https://example.com</a>`: true,
		"[**example**.com](https://example.com/)":                true,
		"[example.com/b](https://example.com/a)":                 false,
		"[Example](https://example.com/)":                        false,
		"[**Example** example.com](https://example.com)":         false,
		`<a href="https://example.com/">Example</a>`:             false,
		"[guides/start](guides/start)":                           false,
		"[ ](https://)":                                          false,
	} {
		r := renderSource(t, source+"\n")
		if got := strings.Contains(string(r.HTML), " data-bindery-bare"); got != want {
			t.Errorf("%s is marked: %v\n%s", source, got, r.HTML)
		}
	}
}
