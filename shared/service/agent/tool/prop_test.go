package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// propBase is a small site with links of every kind.
var propBase = memory{
	"docs.json": `{
  "navigation": { "groups": [{ "group": "A", "pages": ["a", "g/index", "g/b"] }, { "group": "B", "pages": ["g/h/c"] }] },
  "redirects": [{ "source": "/old", "destination": "/g/b" }, { "source": "/v/:x*", "destination": "/g/:x*" }]
}
`,
	"a.mdx":          "[b](/g/b) [b](g/b#x) [c](./g/h/c) [old](/old) [v](/v/b) [g](/g) ![p](/p.svg) [none](/none)\n",
	"g/index.mdx":    "---\ntitle: G\n---\n\n[b](b) [b](./b.mdx) [a](../a) <Card title=\"C\" href=\"/g/h/c?q#f\">x</Card>\n",
	"g/b.mdx":        "import S from \"../snippets/s.mdx\"\n\n<S />\n\n[r][r]\n\n[r]: /a\n",
	"g/h/c.mdx":      "<a href='/g/b'>b</a> ![p](../../p.svg)\r\n\r\n`[x](/g/b)`\r\n",
	"snippets/s.mdx": "[b](/g/b) [c](/g/h/c)\n",
	"p.svg":          "<svg/>",
	"g/pic.png":      "binary",
	"g/broken.mdx":   "<Card>\n",
}

var (
	propPaths = []string{"a.mdx", "a", "g", "g/index.mdx", "g/b.mdx", "g/h", "g/h/c.mdx", "g/new.mdx", "n.mdx", "n", "n/m", "snippets/s.mdx", "snippets",
		"p.svg", "docs.json", "g/pic.png", "../x.mdx", "", "x\x00.mdx", ".git/x.md", "AGENTS.md", "G/B.mdx", "g/broken.mdx", "data.json"}
	propTexts = []string{"", "x\n", "[a](/a) [b](/g/b)\n", "<Card>\n", "{", "[b](/g/b)", "/g/b", "title", "---\n", "---\ntitle: [\n---\n", "{\"a\": 1}", "b", "\r\n", "x*", "("}
	propPages = []string{"a", "g/b", "g/h/c", "A", "B", "A > B", "n", "g/new", "none", ""}
)

// genCall makes a call that may or may not be right.
func genCall(t *rapid.T) (name string, input map[string]any) {
	p, txt, pg := rapid.SampledFrom(propPaths), rapid.SampledFrom(propTexts), rapid.SampledFrom(propPages)
	input = map[string]any{}
	switch name = rapid.SampledFrom([]string{"edit", "write", "write", "replace", "move", "move", "delete", "revert", "navigation", "list", "search", "read", "view", "diff", "check"}).Draw(t, "tool"); name {
	case "edit":
		input = map[string]any{"path": p.Draw(t, "path"), "old": txt.Draw(t, "old"), "new": txt.Draw(t, "new"), "count": rapid.IntRange(1, 3).Draw(t, "count")}
	case "write":
		input = map[string]any{"path": p.Draw(t, "path"), "content": txt.Draw(t, "content")}
	case "replace":
		input = map[string]any{"find": txt.Draw(t, "find"), "replace": txt.Draw(t, "with"), "apply": rapid.Bool().Draw(t, "apply"), "regex": rapid.Bool().Draw(t, "regex"), "path": p.Draw(t, "path")}
		if rapid.Bool().Draw(t, "leaves") {
			input["leave"] = []string{"code", "addresses"}
		}
	case "move":
		input = map[string]any{"from": p.Draw(t, "from"), "to": p.Draw(t, "to")}
	case "delete":
		input = map[string]any{"path": p.Draw(t, "path")}
		if rapid.Bool().Draw(t, "leads on") {
			input["redirect"] = "/" + pg.Draw(t, "redirect")
		}
	case "navigation":
		input = map[string]any{"action": rapid.SampledFrom([]string{"show", "add", "move", "remove", "rename"}).Draw(t, "action"), "entry": pg.Draw(t, "entry")}
		for _, field := range []string{"into", "before", "after", "to"} {
			if v := pg.Draw(t, field); v != "" && rapid.Bool().Draw(t, "has "+field) {
				input[field] = v
			}
		}
	case "search":
		input = map[string]any{"pattern": txt.Draw(t, "pattern"), "path": p.Draw(t, "path")}
	default:
		input["path"] = p.Draw(t, "path")
	}
	if name != "navigation" && rapid.IntRange(0, 30).Draw(t, "wrong") == 0 {
		input["unknown"] = 1
	}
	return name, input
}

// missing counts links that lead nowhere, in a site that can be read. Of what is
// shown by others, such as a snippet, it counts links from the root alone: a move
// can make it a page, and they were as broken before.
func missing(t rapidOr, tree *Tree) int {
	s, _, err := site.Load(t.Context(), tree.FS(), tree.files(), site.Options{})
	if err != nil {
		return -1
	}
	n := 0
	for _, p := range tree.sources() {
		i := pageOf(s, p)
		src, _ := tree.read(p)
		for _, r := range edit.Refs(src, tree.settings().Syntax(p)) {
			if r.File {
				if !tree.exists(importPath(p, r.Value)) {
					n++
				}
			} else if (i >= 0 || strings.HasPrefix(r.Value, "/")) && !isElsewhere(r.Value) && s.Resolve(i, r.Value).Kind == site.Missing {
				n++
			}
		}
	}
	return n
}

type rapidOr interface{ testing.TB }

// Any sequence of tools is what the same does to a plain map of files; a call
// that is refused changes nothing; no path leaves the tree; what could be read
// still can; and a move breaks no link.
func TestAnySequence(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		base := memory{"outside.mdx": "x\n"}
		for p, text := range propBase {
			base["docs/"+p] = text
		}
		s := newSet(t, base, "docs", Limits{Files: 30, Bytes: 1 << 20, FileBytes: 1 << 16})
		model := maps.Clone(propBase)
		for range rapid.IntRange(1, 12).Draw(r, "calls") {
			name, input := genCall(r)
			raw, err := json.Marshal(input)
			if err != nil {
				r.Fatal(err)
			}
			before := contentsOf(s.tree)
			healthy := s.tree.faults(t.Context(), s.tree.files())
			broken := 0
			if name == "move" {
				broken = missing(t, s.tree)
			}
			got := s.Call(t.Context(), name, raw)
			again := newSet(t, base, "docs", Limits{Files: 30, Bytes: 1 << 20, FileBytes: 1 << 16})
			if err := again.tree.Apply(s.tree.Changes()); err != nil {
				r.Fatalf("%s %s: its changes can't be applied: %v", name, raw, err)
			}
			after := contentsOf(s.tree)
			if !maps.Equal(after, contentsOf(again.tree)) {
				r.Fatalf("%s %s: the tree is not its changes", name, raw)
			}
			if len(got.Text) > maxResult || !utf8.ValidString(got.Text) || got.Text == "" && !got.IsError {
				r.Fatalf("%s %s: answer of %d bytes", name, raw, len(got.Text))
			}
			reads := map[string]bool{"list": true, "search": true, "read": true, "view": true, "diff": true, "check": true}[name]
			if (got.IsError || reads) && !maps.Equal(before, after) {
				r.Fatalf("%s %s: changed something: %s", name, raw, got.Text)
			}
			if p, f := newlyBroken(t, s.tree, healthy); p != "" && name != "move" && name != "revert" { // a broken page may move, or be as it was
				r.Fatalf("%s %s: %s can't be read any more: %+v\n%s", name, raw, p, f, after[p])
			}
			for _, c := range s.tree.Changes() {
				if err := Allowed(c.Path, "docs"); err != nil {
					r.Fatalf("%s %s: %v", name, raw, err)
				}
			}
			if now := missing(t, s.tree); name == "move" && !got.IsError && now > broken {
				r.Fatalf("%s %s: %d links were broken, now %d\n%v", name, raw, broken, now, after)
			}
			simulate(model, name, input, got)
			if name == "edit" || name == "write" {
				if !maps.Equal(model, after) {
					r.Fatalf("%s %s: got %q, want %q", name, raw, after, model)
				}
			}
			model = after
		}
	})
}

// newlyBroken returns a file that can't be read and was not broken before.
func newlyBroken(t *testing.T, tree *Tree, before map[string]fault) (string, fault) {
	for p, f := range tree.faults(t.Context(), tree.files()) {
		if _, was := before[p]; !was {
			return p, f
		}
	}
	return "", fault{}
}

// contentsOf returns all files of a tree.
func contentsOf(t *Tree) memory {
	all := memory{}
	for _, p := range t.files() {
		b, err := t.read(p)
		if err != nil {
			b = []byte("binary")
		}
		all[p] = string(b)
	}
	return all
}

// simulate does to a map of files what a call that succeeded should have done.
func simulate(files memory, name string, input map[string]any, got Result) {
	if got.IsError {
		return
	}
	p, _ := input["path"].(string)
	switch name {
	case "write":
		text := input["content"].(string)
		if old := files[p]; strings.Contains(old, "\r\n") && strings.Count(old, "\r\n") == strings.Count(old, "\n") {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
		}
		files[p] = text
	case "edit":
		was, is := input["old"].(string), input["new"].(string)
		if old := files[p]; strings.Contains(old, "\r\n") && strings.Count(old, "\r\n") == strings.Count(old, "\n") {
			was, is = withCRLF(was), withCRLF(is)
		}
		files[p] = strings.ReplaceAll(files[p], was, is)
	}
}

// FuzzCall: whatever a model sends, a call answers, in time and in bounds.
func FuzzCall(f *testing.F) {
	for name, input := range map[string]string{
		"list": `{"path": "g/**/{b,c}*", "depth": 1}`, "search": `{"pattern": "(?i)b+", "context": 1, "path": "*.mdx"}`,
		"read": `{"path": "g/h/c.mdx", "from": 2, "lines": 1}`, "edit": `{"path": "g/h/c.mdx", "old": "b", "new": "<x", "count": 2}`,
		"write": `{"path": "g/new.mdx", "content": "---\na: [\n---\n{"}`, "delete": `{"path": "g/h", "redirect": "/a"}`,
		"navigation": `{"action": "add", "group": "X", "pages": ["g/b"], "into": "A > B"}`, "check": `{}`, "diff": `{"path": ""}`,
	} {
		f.Add(name, []byte(input))
	}
	f.Add("move", []byte(`{"from": "g", "to": "n/m"}`))
	f.Add("navigation", []byte(`{"action": "move", "entry": "A", "after": "g/h/c"}`))
	f.Add("replace", []byte(`{"find": "(?s).*", "replace": "$0$0", "regex": true, "apply": true}`))
	f.Add("plan", []byte(`{"steps": [{"text": "x", "state": "done"}]}`))
	f.Add("finish", []byte(`{"title": "x", "summary": "\ud83d"}`))
	f.Fuzz(func(t *testing.T, name string, input []byte) {
		s := newSet(t, propBase, "", Limits{})
		before := contentsOf(s.tree)
		r := s.Call(t.Context(), name, input)
		if len(r.Text) > maxResult || !utf8.ValidString(r.Text) || r.Text == "" {
			t.Errorf("%s %q: %d bytes of answer", name, input, len(r.Text))
		}
		if r.IsError && !maps.Equal(before, contentsOf(s.tree)) {
			t.Errorf("%s %q: refused, and something changed", name, input)
		}
		if r.Outcome == "failed" {
			t.Errorf("%s %q: panicked", name, input)
		}
		if again := newSet(t, propBase, "", Limits{}).Call(t.Context(), name, input); again.Text != r.Text {
			t.Errorf("%s %q: another answer the second time", name, input)
		}
	})
}

// FuzzDocument: a configuration of any form is edited in place, or not at all.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(propBase["docs.json"]), "x")
	f.Add([]byte(`{"redirects":[],"navigation":["a",{"group":"A","pages":[]}]}`), "y/z")
	f.Add([]byte("{\r\n\t\"navigation\": {\"pages\": [\r\n\t\t\"a\"\r\n\t]}}"), "a\"b")
	f.Fuzz(func(t *testing.T, src []byte, value string) {
		d, err := newDocument("docs.json", src)
		if err != nil || !utf8.ValidString(value) || !utf8.Valid(src) {
			return
		}
		for _, v := range []any{value, pairs{{"group", value}, {"pages", []any{value}}}} {
			for at := 0; at <= len(d.root.Items); at++ {
				if len(d.root.Members) == 0 && len(d.root.Items) == 0 && src[d.root.Offset] != '[' {
					break
				}
				if len(d.root.Members) > 0 {
					break
				}
				out := edit.Splice(src, []edit.Change{d.insert(d.root, at, "", v)})
				again, err := newDocument("docs.json", out)
				if err != nil || len(again.root.Items) != len(d.root.Items)+1 {
					t.Fatalf("insert at %d into %q: %q, %v", at, src, out, err)
				}
				back := edit.Splice(out, []edit.Change{again.remove(again.root, at)})
				if third, err := newDocument("docs.json", back); err != nil || fmt.Sprint(len(third.root.Items)) != fmt.Sprint(len(d.root.Items)) {
					t.Fatalf("remove at %d from %q: %q, %v", at, out, back, err)
				}
			}
			if len(d.root.Members) > 0 {
				out := edit.Splice(src, []edit.Change{d.insert(d.root, len(d.root.Members), "new", v)})
				if again, err := newDocument("docs.json", out); err != nil || len(again.root.Members) != len(d.root.Members)+1 {
					t.Fatalf("a member in %q: %q, %v", src, out, err)
				}
			}
		}
	})
}
