package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/tests/outside"
)

// formFiles are files that the configurations of these tests refer to.
func formFiles() fstest.MapFS {
	fsys := files()
	for _, p := range strings.Fields(`a.mdx b.mdx c.mdx d.mdx e.mdx f.mdx g.mdx api/x.mdx api/kit/y.mdx l.svg d.svg l.png d.png
		all.woff2 head.woff2 body.woff2 bg-l.png bg-d.png bg.png og.png thumb.svg first.css second.css first.js second.js`) {
		fsys[p] = &fstest.MapFile{Data: []byte("x")}
	}
	return fsys
}

// shown is all that a site made of a configuration, and what it was told about it.
func shown(t *testing.T, name string, config any) (site string, told []string) {
	t.Helper()
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	fsys := formFiles()
	fsys[name] = &fstest.MapFile{Data: data}
	for _, spec := range []string{"openapi.json", "tab.json", "tab-2.json", "group.json", "one.json", "two.json", "api.json"} {
		fsys[spec] = &fstest.MapFile{Data: []byte(`{"openapi": "3.1.0", "paths": {}}`)}
	}
	for _, spec := range []string{"async-1.yaml", "async-2.yaml", "tab-async.json"} {
		fsys[spec] = &fstest.MapFile{Data: []byte("asyncapi: 3.0.0\n")}
	}
	s, diags, err := loadFS(t, fsys, Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		told = append(told, d.Code+": "+d.Message)
	}
	return string(out), told
}

// leaves calls fn for each value of a configuration that holds no others, with
// a function that takes it out and one that puts it back.
func leaves(v any, path string, fn func(path string, without func(func()))) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			at := strings.TrimPrefix(path+"."+k, ".")
			if !holds(x[k]) {
				fn(at, func(check func()) {
					kept := x[k]
					delete(x, k)
					check()
					x[k] = kept
				})
				continue
			}
			leaves(x[k], at, fn)
		}
	case []any:
		for i := range x {
			at := path + "[" + strconv.Itoa(i) + "]"
			if !holds(x[i]) {
				fn(at, func(check func()) {
					kept := x[i]
					x[i] = nil
					check()
					x[i] = kept
				})
				continue
			}
			leaves(x[i], at, fn)
		}
	}
}

func holds(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		return len(x) > 0
	case []any:
		return len(x) > 0
	}
	return false
}

// silent are fields that leave no trace on purpose.
var silent = map[string]string{
	"$schema":               "for editors",
	"styles[1]":             "it is the second one, named or not",
	"isWhiteLabeled":        "no page of a bundle names its maker",
	"anchors[1].color.via":  "of a gradient the ends are taken",
	"anchors[1].color.to":   "a gradient begins with its colour",
	"colors.anchors.to":     "a gradient begins with its colour",
	"feedback.thumbsRating": "false asks for nothing",
	"topAnchor.name":        "where there are tabs it is not shown",
	"topAnchor.icon":        "where there are tabs it is not shown",
	"topAnchor.iconType":    "where there are tabs it is not shown",
	"api.baseUrl[0]":        "as api.mdx: told once, whatever it is",
	"api.baseUrl[1]":        "as api.mdx",
	"api.auth.method":       "as api.mdx",
	"api.auth.name":         "as api.mdx",
	"api.auth.inputPrefix":  "as api.mdx",

	"api.playground.disableProxy": "requests go straight to the API in any case",
	"api.playground.proxy":        "false is what there is",
}

// isSilent reports whether a value leaves no trace: because it is among silent,
// or because the table of capabilities says that its field has no effect,
// whatever its value.
func isSilent(path string) bool {
	if silent[path] != "" {
		return true
	}
	name := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(path, "")
	for row := range capability.All(capability.Setting) {
		if row.State == capability.Told && strings.HasPrefix(name, row.Name+".") {
			return true
		}
	}
	return false
}

// Everything that a configuration can say has an effect on the site: without
// any one value the site is another, or its author is told something else.
func TestEveryFormCounts(t *testing.T) {
	for _, name := range []string{"docs.json", "mint.json"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "every", name))
			if err != nil {
				t.Fatal(err)
			}
			var config any
			if err := json.Unmarshal(data, &config); err != nil {
				t.Fatal(err)
			}
			all, told := shown(t, name, config)
			for _, d := range told {
				if !strings.HasPrefix(d, "config-unsupported: ") {
					t.Errorf("the author is told: %q", d)
				}
			}
			n := 0
			leaves(config, "", func(path string, without func(func())) {
				n++
				without(func() {
					if less, other := shown(t, name, config); less == all && slices.Equal(told, other) && !isSilent(path) {
						t.Errorf("nothing is different without %s", path)
					}
				})
			})
			if n < 80 {
				t.Errorf("only %d values: is the file whole?", n)
			}
		})
	}
}

// keyPath is one of the paths that were counted in real sites.
type keyPath struct {
	Types    []string `json:"types"`
	Examples []string `json:"examples"`
}

// sample makes a configuration out of key paths such as
// "navigation.tabs[].groups[].pages", with a value of its own for each.
func sample(paths map[string]keyPath) map[string]any {
	root := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		k := paths[path]
		at := root
		parts := strings.Split(path, ".")
		for i, part := range parts {
			if i+1 < len(parts) && strings.HasPrefix(parts[i+1], "404") {
				continue
			}
			name, list := strings.CutSuffix(part, "[]")
			if i+1 < len(parts) {
				var next map[string]any
				if list {
					l, _ := at[name].([]any)
					if len(l) == 0 {
						l = []any{map[string]any{}}
						at[name] = l
					}
					next, _ = l[0].(map[string]any)
				} else {
					if next, _ = at[name].(map[string]any); next == nil {
						next = map[string]any{}
						at[name] = next
					}
				}
				at = next
				continue
			}
			if _, there := at[name]; !there {
				at[name] = k.value(name, path)
			}
		}
	}
	return root
}

// value is a value for a field, of the type and the sort that it has in sites.
func (k keyPath) value(name, path string) any {
	types := strings.Join(k.Types, " ")
	own := fmt.Sprintf("own-%x", path)
	switch name {
	case "root", "favicon", "light", "dark", "background":
		if strings.HasPrefix(path, "navigation") {
			return "a"
		}
	case "primary":
		if strings.HasPrefix(path, "colors") {
			return "#010203"
		}
	case "href", "url", "github", "linkedin", "slack", "x", "youtube", "destination":
		return "https://" + own[:min(len(own), 60)] + ".example"
	case "source":
		return "/" + own
	case "pages":
		return []any{}
	case "directory": // another one than that above
		return []string{"card", "accordion"}[strings.Count(path, "pages")%2]
	}
	switch {
	case strings.Contains(types, "dict"):
		return map[string]any{}
	case strings.Contains(types, "list"):
		return []any{}
	case strings.Contains(types, "bool"):
		return !strings.Contains(strings.Join(k.Examples, " "), "False")
	case strings.Contains(types, "int"), strings.Contains(types, "float"):
		return 7
	case len(k.Examples) > 0 && (strings.HasPrefix(k.Examples[0], "#") || !strings.Contains(k.Examples[0], " ") && len(k.Examples[0]) < 24):
		return k.Examples[0]
	}
	return own
}

// Nothing of what six real sites say is dropped without a word: each path of
// their configurations, alone or with what it needs, is in the site or told.
func TestInventory(t *testing.T) {
	data, err := os.ReadFile(outside.Folder(t, "corpora", "inventory.json"))
	if err != nil {
		t.Fatal(err)
	}
	var inventory struct {
		DocsJSON struct {
			KeyPaths map[string]keyPath `json:"key_paths"`
		} `json:"docs_json"`
	}
	if err := json.Unmarshal(data, &inventory); err != nil {
		t.Fatal(err)
	}
	config := sample(inventory.DocsJSON.KeyPaths)
	all, told := shown(t, "docs.json", config)
	for _, d := range told {
		if strings.HasPrefix(d, "config-unknown") {
			t.Error(d)
		}
	}
	counted := 0
	leaves(config, "", func(path string, without func(func())) {
		counted++
		without(func() {
			less, other := shown(t, "docs.json", config)
			if less == all && slices.Equal(told, other) && !isSilent(path) && !containers[path[strings.LastIndexByte(path, '.')+1:]] {
				t.Errorf("nothing is different without %s", path)
			}
		})
	})
	if counted < 100 {
		t.Errorf("only %d paths have values", counted)
	}
}

// containers are lists that mean nothing while they are empty.
var containers = map[string]bool{"pages": true, "options": true, "head": true, "openapi": true, "scripts": true, "styles": true}

// An unknown field is told with its place and what may have been meant.
func TestUnknownFields(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"{\"name\": \"x\",\n \"colrs\": {}, \"navigation\": {\"pages\": [\"a\"]}}", `docs.json:2:11: warning: the configuration has no field "colrs"; did you mean "colors"?`},
		{`{"name": "x", "colors": {"Primary": "#fff"}, "navigation": {"pages": ["a"]}}`, `docs.json:1:37: warning: "colors" has no field "Primary"; did you mean "primary"?`},
		{`{"name": "x", "navigation": {"groups": [{"group": "G", "pages": ["a"], "iocn": "x"}]}}`, `docs.json:1:80: warning: an entry of "groups" has no field "iocn"; did you mean "icon"?`},
		{`{"name": "x", "whatever": [{"deep": 1}], "navigation": {"pages": ["a"]}}`, `docs.json:1:27: warning: the configuration has no field "whatever"`},
		{`{"name": "x", "name": "y", "navigation": {"pages": ["a"]}}`, `docs.json:1:23: warning: the configuration has the field "name" twice: this one counts`},
		{`{"name": "x", "appearance": {"default": "drak"}, "navigation": {"pages": ["a"]}}`, `docs.json:1:41: warning: "drak" is not one of system, light, dark; did you mean "dark"?`},
		{`{"name": "x", "contextual": {"options": ["claud"]}, "navigation": {"pages": ["a"]}}`, `docs.json:1:42: warning: there is no option "claud" of the page's menu; did you mean "claude"?`},
		{`{"name": "x", "$comment": "fine", "navigation": {"pages": ["a"]}}`, ""},
	} {
		_, diags, err := loadFS(t, files("docs.json", c.config, "a.mdx", ""), Options{})
		got := ""
		for _, d := range diags {
			got += strings.TrimSuffix(d.String(), " ("+d.Code+")")
		}
		if err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s (%v)", c.config, got, c.want, err)
		}
	}
}

// A field that is read and has no effect is told with the reason; what asks for
// nothing else than there is, is not.
func TestUnsupportedFields(t *testing.T) {
	for _, c := range []struct{ file, fields, want string }{
		{"docs.json", `"errors": {"404": {"redirect": true}}`, `docs.json:1:33: info: "errors.404.redirect" has no effect: a bundle does not know where it is served: unknown addresses show 404.html`},
		{"docs.json", `"errors": {"404": {"redirect": false}}`, ""},
		{"docs.json", `"thumbnails": {"background": "/p.png", "appearance": "dark"}`, `docs.json:1:31: info: "thumbnails.background" has no effect: pictures for links have the site's colour behind their words`},
		{"docs.json", `"thumbnails": {"fonts": {"family": "Inter"}}`, `docs.json:1:37: info: "thumbnails.fonts.family" has no effect: pictures for links are written in one font`},
		{"docs.json", `"styling": {"codeblocks": "dracula"}`, `docs.json:1:28: info: "styling.codeblocks" has no effect: code has colours of its own, light and dark`},
		{"docs.json", `"styling": {"codeblocks": {"theme": {"light": "a", "dark": "b"}}}`, `docs.json:1:38: info: "styling.codeblocks" has no effect: code has colours of its own, light and dark`},
		{"docs.json", `"styling": {"codeblocks": "dark", "rounded": "sharp"}`, ""},
		{"docs.json", `"styling": {"codeblocks": {"theme": "system"}}`, ""},
		{"docs.json", `"styling": {"codeblocks": {"languages": {"custom": ["/g.json"]}}}`, `docs.json:1:42: info: "styling.codeblocks.languages" has no effect: grammars are not read: code in such a language has one colour`},
		{"mint.json", `"search": {"location": "side"}`, `mint.json:1:25: info: the search field stands in the header`},
		{"mint.json", `"search": "top", "layout": "topnav", "codeBlock": {"mode": "dark"}`, ""},
		{"mint.json", `"layout": "sidenav"`, `mint.json:1:12: info: pages have one shape, and not "sidenav"`},
	} {
		nav := `"navigation": {"pages": ["a"]}`
		if c.file == "mint.json" {
			nav = `"navigation": [{"group": "g", "pages": ["a"]}]`
		}
		_, diags, err := loadFS(t, files(c.file, "{"+c.fields+`, "name": "x", `+nav+"}", "a.mdx", "", "p.png", ""), Options{})
		got := ""
		for _, d := range diags {
			got += strings.TrimSuffix(d.String(), " ("+d.Code+")")
		}
		if err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s (%v)", c.fields, got, c.want, err)
		}
	}
}

// A value of another kind than expected never ends an export, wherever it
// stands, and is reported with its place.
func TestConfigurationOfUnexpectedTypes(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	data, err := os.ReadFile("testdata/every/docs.json")
	if err != nil {
		t.Fatal(err)
	}
	var config any
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, set func(any), path string)
	try := func(set func(any), old any, path string) {
		for _, other := range []any{map[string]any{"x": 1}, []any{1, map[string]any{}}, "text", 3.5, true, nil} {
			set(other)
			data, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			fsys := formFiles()
			fsys["docs.json"] = &fstest.MapFile{Data: data}
			_, diags, err := loadFS(t, fsys, Options{Domain: "docs.example"})
			if err != nil {
				t.Errorf("%s as %v: %v", path, other, err)
			}
			for _, d := range diags {
				if d.File == "docs.json" && d.Line == 0 || d.Severity == "" {
					t.Errorf("%s as %v: no place: %v", path, other, d)
				}
			}
		}
		set(old)
	}
	walk = func(v any, set func(any), path string) {
		if set != nil {
			try(set, v, path)
		}
		switch x := v.(type) {
		case map[string]any:
			for k := range x {
				walk(x[k], func(v any) { x[k] = v }, path+"."+k)
			}
		case []any:
			for i := range x {
				walk(x[i], func(v any) { x[i] = v }, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	walk(config, nil, "")
}

// The documentation names every field of docs.json, every division and every
// option of the page's menu.
func TestDocumentationNamesAll(t *testing.T) {
	var docs strings.Builder
	for _, name := range []string{"navigation.mdx", "settings.mdx", "compatibility.mdx"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "infra", "docs", "authoring", name))
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	data, err := os.ReadFile("testdata/every/docs.json")
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	words := slices.Collect(maps.Keys(config))
	words = append(words, slices.Collect(maps.Keys(config["repository"].(map[string]any)))...)
	words = append(words, slices.Collect(maps.Keys(config["banner"].(map[string]any)))...)
	words = append(words, slices.Collect(maps.Keys(config["api"].(map[string]any)))...)
	for name, needs := range contextualNames {
		if needs == "" {
			words = append(words, name)
		}
	}
	for _, d := range divisions {
		words = append(words, d.list, d.name)
	}
	words = append(words, libraries...)
	words = append(words, decorations...)
	for _, w := range words {
		if w == "$schema" || w == "theme" { // for editors, and the name of another look
			continue
		}
		if !strings.Contains(docs.String(), "`"+w+"`") && !strings.Contains(docs.String(), "."+w+"`") && !strings.Contains(docs.String(), `name="`+w) {
			t.Errorf("the documentation does not name %s", w)
		}
	}
}
