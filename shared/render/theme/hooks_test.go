package theme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The page about styles promises names to authors; each must be in the style
// sheet or in a page. Fonts that it lists must be those of the set.
func TestHooksThatAuthorsMayUse(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "infra", "docs", "authoring", "styling.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	th := newTheme(t, Config{Fonts: Fonts{Body: Font{Weight: "400"}, Heading: Font{Weight: "600"}}, CSS: []string{component.CSS()}})
	var product strings.Builder
	for _, a := range th.Assets() {
		if strings.HasSuffix(a.Path, ".css") || strings.HasSuffix(a.Path, ".js") {
			product.Write(a.Data)
		}
	}
	for _, mode := range []Mode{ModeDefault, ModeWide, ModeCustom, ModeFrame, ModeCenter} {
		v := sampleView(th)
		v.Mode, v.Path, v.Header.Search = mode, "/start", &Search{}
		product.Write(th.Document(nil, v))
	}
	for _, name := range []string{"Panel", "RequestExample", "ResponseExample"} { // a page gives these to its own
		product.WriteString(` id="` + component.HookID(name) + `"`)
	}
	all := product.String()
	count := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		first := strings.Join(strings.Split(line, "|")[1:3], "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			name := m[1]
			var is string
			switch {
			case strings.HasPrefix(name, "--"):
				is = regexp.QuoteMeta(name) + `\s*:`
			case strings.HasPrefix(name, "#"):
				is = `id="` + regexp.QuoteMeta(name[1:]) + `"`
			case strings.HasPrefix(name, "."):
				is = `class="([^"]* )?` + regexp.QuoteMeta(name[1:]) + `[ "]|add\("` + regexp.QuoteMeta(name[1:]) + `"\)|` + regexp.QuoteMeta(name) + `[,){ :]`
			case strings.HasPrefix(name, "data-"), strings.HasPrefix(name, "aria-"):
				is = ` ` + regexp.QuoteMeta(name) + `="`
			case name == "-bg":
				is = `--c-note-bg:`
			case name == "html":
				continue
			default:
				continue
			}
			count++
			if !regexp.MustCompile(is).MatchString(all) {
				t.Errorf("the page promises %s; there is none", name)
			}
		}
	}
	if count < 40 {
		t.Errorf("only %d names found on the page", count)
	}
	for _, event := range []string{"bindery:appearance"} {
		if !strings.Contains(page, event) || !strings.Contains(all, event) {
			t.Errorf("the event %s is not on the page or not in the script", event)
		}
	}
	faces, err := newTypefaces(&Config{})
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(page), " ")
	for _, f := range faces.set.Families() {
		if !strings.Contains(flat, f.Family) {
			t.Errorf("the page does not name the family %s", f.Family)
		}
	}
}

// A page's own ids come first: the theme leaves out those of its own that a page
// has, so that no id is there twice and fragments lead where they did.
func TestHooksGiveWayToThePage(t *testing.T) {
	th := newTheme(t, Config{Ratings: "https://rate.example"})
	v := sampleView(th)
	v.Body = []byte(`<h2 id="footer">Footer</h2><h3 id="footer-2">x</h3>`)
	v.Lead = []byte(`<b id="navbar">x</b>`)
	v.Banner.HTML = []byte(`<a id="sidebar">x</a>`)
	taken := map[string]bool{"footer": true, "navbar": true, "sidebar": true}
	count := map[string]int{}
	walk(parse(t, th.Document(nil, v)), func(n *html.Node) {
		if id, ok := attr(n, "id"); ok {
			count[id]++
			if taken[id] && n.Data != "h2" && n.Data != "b" && n.Data != "a" {
				t.Errorf("<%s> has the id %s of the page", n.Data, id)
			}
		}
	})
	for id, n := range count {
		if n != 1 {
			t.Errorf("id %q is there %d times", id, n)
		}
	}
	if count["content-area"] != 1 || v.taken != nil {
		t.Errorf("content-area is there %d times; the view has %v", count["content-area"], v.taken)
	}
}
