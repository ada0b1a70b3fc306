package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// A redirect never leads to an address that runs code: not as it is written,
// and not by what it takes from the address that was asked for.
func TestRedirectsRunNothing(t *testing.T) {
	s, diags, err := loadFS(t, files("docs.json", `{"name": "X", "navigation": {"pages": ["a"]}, "redirects": [
		{"source": "/js", "destination": "javascript:alert(1)"},
		{"source": "/spaced", "destination": " java\nscript:alert(1)"},
		{"source": "/data", "destination": "data:text/html,x"},
		{"source": "/kept", "destination": "https://o.example/"}
	]}`, "a.mdx", ""), Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Redirects) != 1 || s.Redirects[0].Source != "/kept" {
		t.Errorf("redirects: %v", s.Redirects)
	}
	told := 0
	for _, d := range diags {
		if d.Code == "link-unsafe" && d.Line > 0 {
			told++
		}
	}
	if told != 3 {
		t.Errorf("told of %d: %v", told, diags)
	}
	for _, redirects := range [][]string{{"/go/* *"}, {"/go/:to* :to*"}, {"/go/:to :to"}, {"/go/* /*"}} {
		s := redirecting(redirects...)
		for _, link := range []string{"/go/javascript:alert(1)", "/go/%6aavascript:alert(1)", "/go/%01javascript:alert(1)", "/go/data:text%2Fhtml,x"} {
			href := strings.ToLower(strings.TrimLeftFunc(s.Resolve(-1, link).Href, func(r rune) bool { return r <= ' ' }))
			if strings.HasPrefix(href, "javascript:") || strings.HasPrefix(href, "data:") {
				t.Errorf("%v: %s leads to %q", redirects, link, href)
			}
		}
	}
}

// A message stays one that people can read, however long a value is that it is
// about.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("ü", 50_000)
	config, err := json.Marshal(map[string]any{
		"name": "X", "theme": long, "colors": map[string]any{"primary": long}, "styles": []any{long}, "favicon": "/" + long, long: 1,
		"navigation": map[string]any{"pages": []any{"a", long}}, "navbar": map[string]any{"links": []any{map[string]any{"label": "x", "href": "/" + long}}},
		"redirects": []any{map[string]any{"source": "/" + long, "destination": "/" + long + "x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, diags, err := loadFS(t, fstest.MapFS{"docs.json": {Data: config}, "a.mdx": {Data: []byte("---\nurl: /nowhere\n---\n")}}, Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(diags) < 8 {
		t.Errorf("told only of %d: %v", len(diags), diags)
	}
	for _, d := range diags {
		if len(d.Message) > 3*maxQuoted || strings.ContainsRune(d.Message, '\ufffd') {
			t.Errorf("%s has a message of %d bytes: %.100s", d.Code, len(d.Message), d.Message)
		}
	}
}

// A file that is referred to hundreds of times counts each time: a small site
// can't unfold into more than its limit.
func TestReferencesAreBounded(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	config := `{"name": "X", "navigation": {"pages": [` + strings.TrimSuffix(strings.Repeat(`{"$ref": "big.json"},`, 100), ",") + `]}}`
	big := `{"group": "` + strings.Repeat("x", 1<<20) + `", "pages": ["a"]}`
	_, _, err := loadFS(t, files("docs.json", config, "big.json", big, "a.mdx", ""), Options{Domain: "docs.example"})
	var e *ConfigError
	if !errors.As(err, &e) || !strings.Contains(e.Message, "MiB") {
		t.Errorf("got %v", err)
	}
}

// What a configuration names a hundred thousand times and there is not is
// reported as often as anybody reads; more values than any site has are refused.
func TestFindingsAreBounded(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	config := func(n int) fstest.MapFS {
		return files("docs.json", `{"name": "X", "navigation": {"pages": [`+strings.Repeat(`"b",`, n)+`"a"]}}`, "a.mdx", "")
	}
	_, diags, err := loadFS(t, config(100_000), Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := diags[len(diags)-1]
	if len(diags) > maxFindings+1 || last.Code != "list-cut" || !strings.Contains(last.Message, "50000 more") {
		t.Errorf("%d findings, the last: %v", len(diags), last)
	}
	_, _, err = loadFS(t, config(maxConfigValues), Options{})
	var fault *ConfigError
	if !errors.As(err, &fault) || !strings.Contains(fault.Message, "values") {
		t.Errorf("a configuration of more than a million values: %v", err)
	}
}

// The page of limits has the constants.
func TestLimitsPage(t *testing.T) {
	n := fmt.Sprintf
	outside.LimitRow(t, "`docs.json` with all that it refers to", n("%d values", maxConfigValues), n("%d MiB", maxConfigBytes>>20))
	outside.LimitRow(t, "Findings about it", n("%d", maxFindings))
}
