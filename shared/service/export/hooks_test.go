package export

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// hookSite has whatever the names for styles and scripts stand on.
var hookSite = fstest.MapFS{
	"docs.json": {Data: []byte(`{"name": "Site", "theme": "maple", "feedback": {"thumbsRating": true}, "logo": "/logo.svg", "banner": {"content": "News"},
		"navbar": {"links": [{"label": "Help", "href": "https://h.example"}], "primary": {"type": "button", "label": "Go", "href": "https://g.example"}},
		"footer": {"socials": {"github": "https://git.example"}},
		"navigation": {"global": {"anchors": [{"anchor": "Forum", "href": "https://f.example"}]}, "tabs": [
			{"tab": "Docs", "versions": [{"version": "1", "groups": [{"group": "G", "pages": ["index", "guides/start", "api"]}]}, {"version": "2", "pages": ["old"]}]},
			{"tab": "More", "menu": [{"item": "Menu", "description": "About it", "pages": ["other"]}]}]}}`)},
	"logo.svg":  {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)},
	"index.mdx": {Data: []byte("---\ntitle: Home\n---\n\n## Footer\n\nText\n")},
	"old.mdx":   {Data: []byte("---\ntitle: Old\n---\n\nText\n")}, "other.mdx": {Data: []byte("---\ntitle: Other\n---\n\nText\n")},
	"api.mdx": {Data: []byte("---\nopenapi: api.json GET /a\n---\n")}, "api.json": {Data: []byte(`{"openapi": "3.1.0", "info": {"title": "A", "version": "1"},
		"servers": [{"url": "https://a.example"}], "paths": {"/a": {"get": {"responses": {"200": {"description": "Yes"}}}}}}`)},
	"guides/start.mdx": {Data: []byte(`---
title: Start
tag: New
---

## One

<AccordionGroup><Accordion title="A" icon="star">x</Accordion></AccordionGroup>

<Note>x</Note>

<CardGroup><Card title="C">x</Card></CardGroup>

<CodeGroup>
` + "```js a.js\nx\n```" + `
</CodeGroup>

<Expandable title="E">x</Expandable>

<ParamField path="p" type="string">x</ParamField>

<Frame>![x](/logo.svg)</Frame>

` + "```mermaid\nflowchart LR\n  a --> b\n```" + `

<Panel>x</Panel>

<RequestExample>
` + "```js a.js\nx\n```" + `
</RequestExample>

<ResponseExample>
` + "```js b.js\nx\n```" + `
</ResponseExample>

<Steps><Step title="S">x</Step></Steps>

<Tabs><Tab title="T">x</Tab></Tabs>

A <Tooltip tip="x">word</Tooltip> and a <Badge color="blue" size="sm">badge</Badge>.

<Update label="1">x</Update>
`)},
}

// TestHooksAreOnTheirElements exports a site and finds each name of the table on
// the element that its row names.
func TestHooksAreOnTheirElements(t *testing.T) {
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{Assistant: "https://ai.example/", Feedback: "https://rate.example/"})
	w.publish(t, hookSite)
	files := unpacked(t, w.exported(t, nil))
	var nodes []*html.Node
	for name, data := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		root, err := html.Parse(strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			nodes = append(nodes, n)
			if id := attrOf(n, "id"); id != "" && ids[id] {
				t.Errorf("%s has the id %s twice", name, id)
			} else {
				ids[id] = true
			}
		}
	}
	for row := range capability.All(capability.Hook) {
		_, rest, of := strings.Cut(row.Rule, "is on `")
		ours, _, _ := strings.Cut(rest, "`")
		if !of { // a script of the theme makes it
			name := row.Name[1:]
			made := false
			for file, data := range files {
				made = made || strings.HasSuffix(file, ".js") && strings.Contains(data, `"`+name+`"`)
			}
			if !made {
				t.Errorf("no script makes %s", row.Name)
			}
			continue
		}
		if !slices.ContainsFunc(nodes, func(n *html.Node) bool { return matches(n, row.Name) && matches(n, ours) }) {
			t.Errorf("%s is not on %s", row.Name, ours)
		}
	}
	for path, want := range map[string]string{"index.html": "/", "guides/start.html": "/guides/start"} {
		if !strings.Contains(files[path], ` data-current-path="`+want+`"`) {
			t.Errorf("%s does not say that its address is %s", path, want)
		}
	}
}

func attrOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// matches reports whether an element has what a selector of one element asks for.
func matches(n *html.Node, selector string) bool {
	at := strings.IndexAny(selector, ".#[")
	if at < 0 {
		return n.Data == selector
	}
	if at > 0 && n.Data != selector[:at] {
		return false
	}
	for rest := selector[at:]; rest != ""; {
		kind := rest[0]
		end := strings.IndexAny(rest[1:], ".#[") + 1
		if end == 0 {
			end = len(rest)
		}
		name := rest[1:end]
		rest = rest[end:]
		switch kind {
		case '#':
			if attrOf(n, "id") != name {
				return false
			}
		case '.':
			if !slices.Contains(strings.Fields(attrOf(n, "class")), name) {
				return false
			}
		default:
			key, value, valued := strings.Cut(strings.TrimSuffix(name, "]"), "=")
			if !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key && (!valued || a.Val == value) }) {
				return false
			}
		}
	}
	return true
}

// No page has a class without our prefix but those that the source language or our
// documentation gives to authors, that the author wrote, and those of words in code.
func TestPagesHaveClassesOfOurPrefix(t *testing.T) {
	free := []string{"dark", "prose", "mdx-content", "only-light", "only-dark", "maple"}
	for row := range capability.All(capability.Hook) {
		if name, ok := strings.CutPrefix(row.Name, "."); ok {
			free = append(free, name)
		}
	}
	written := regexp.MustCompile(`className="([^"]*)"`)
	for name, site := range map[string]fs.FS{"every name for styles": hookSite, "our documentation": os.DirFS(filepath.Join("..", "..", "..", "infra", "docs"))} {
		t.Run(name, func(t *testing.T) {
			own := map[string]bool{}
			if err := fs.WalkDir(site, ".", func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".mdx") {
					return err
				}
				data, err := fs.ReadFile(site, path)
				for _, m := range written.FindAllSubmatch(data, -1) {
					for class := range strings.FieldsSeq(string(m[1])) {
						own[class] = true
					}
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{Assistant: "https://ai.example/", Feedback: "https://rate.example/"})
			w.publish(t, site)
			seen := map[string]bool{}
			for path, data := range unpacked(t, w.exported(t, nil)) {
				if !strings.HasSuffix(path, ".html") {
					continue
				}
				root, err := html.Parse(strings.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				for n := range root.Descendants() {
					inCode := n.Data == "span" && slices.ContainsFunc(slices.Collect(n.Ancestors()), func(a *html.Node) bool { return a.Data == "code" })
					for class := range strings.FieldsSeq(attrOf(n, "class")) {
						if seen[class] || strings.HasPrefix(class, "bdy-") || slices.Contains(free, class) || own[class] || inCode && len(class) <= 3 {
							continue
						}
						seen[class] = true
						t.Errorf("%s has the class %s", path, class)
					}
				}
			}
		})
	}
}
