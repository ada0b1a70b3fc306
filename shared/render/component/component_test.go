package component_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// The components that authors of the hosted original use without importing
// them are all here, and each says what it is for.
func TestBuiltin(t *testing.T) {
	r := component.Builtin()
	for _, name := range strings.Fields(`Accordion AccordionGroup Badge Callout Card CardGroup Check CodeBlock CodeGroup Color
		Color.Item Color.Row Column Columns Danger Expandable FileTree Frame GitHub.Repo Icon Info Note Panel ParamField
		Prompt RequestExample ResponseExample ResponseField Step Steps Tab Tabs Tile Tip Tooltip Tree Tree.File Tree.Folder
		Update View Visibility Warning`) {
		if r.Lookup(name) == nil {
			t.Errorf("there is no %s", name)
		}
	}
	if r.Lookup("Nope") != nil {
		t.Error("there is a Nope")
	}
	last := ""
	for _, c := range r.All() {
		if c.Name <= last {
			t.Errorf("%s behind %s", c.Name, last)
		}
		last = c.Name
		if c.HTML == nil || c.Doc == "" || !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s lacks its HTML or a sentence about it", c.Name)
		}
		seen := map[string]bool{}
		for _, a := range c.Attrs {
			if a.Doc == "" || a.Type == "" || seen[a.Name] {
				t.Errorf("%s.%s lacks a type or a sentence, or is there twice", c.Name, a.Name)
			}
			seen[a.Name] = true
		}
	}
}

// Attributes are read as authors mean them, however they write them.
func TestAttributes(t *testing.T) {
	n := &mdx.Node{Kind: mdx.Element, Name: "X", Attrs: []mdx.Attr{
		{Kind: mdx.AttrBool, Name: "bare"},
		{Kind: mdx.AttrString, Name: "yes", Value: "true"},
		{Kind: mdx.AttrString, Name: "no", Value: "False"},
		{Kind: mdx.AttrExpr, Name: "off", Value: "false"},
		{Kind: mdx.AttrExpr, Name: "number", Value: "2.5"},
		{Kind: mdx.AttrString, Name: "pixels", Value: "20px"},
		{Kind: mdx.AttrExpr, Name: "list", Value: `["a", 'b', 3]`},
		{Kind: mdx.AttrString, Name: "text", Value: "a"},
		{Kind: mdx.AttrExpr, Name: "code", Value: "f()"},
	}}
	e := component.NewElement(n, nil, nil)
	for name, want := range map[string]bool{"bare": true, "yes": true, "no": false, "off": false, "number": true, "missing": false, "code": false} {
		if got := e.Bool(name); got != want {
			t.Errorf("Bool(%s) = %v", name, got)
		}
	}
	for name, want := range map[string]string{"bare": "", "text": "a", "number": "2.5", "off": "", "missing": "", "code": ""} {
		if got := e.String(name); got != want {
			t.Errorf("String(%s) = %q, want %q", name, got, want)
		}
	}
	if got := e.Display("off"); got != "false" {
		t.Errorf("Display(off) = %q", got)
	}
	for name, want := range map[string]float64{"number": 2.5, "pixels": 20} {
		if got, ok := e.Number(name); !ok || got != want {
			t.Errorf("Number(%s) = %v, %v", name, got, ok)
		}
	}
	if _, ok := e.Number("text"); ok {
		t.Error("text is a number")
	}
	if diff := cmp.Diff([]string{"a", "b"}, e.Strings("list")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, e.Strings("text")); diff != "" {
		t.Error(diff)
	}
}

// Escaped text reads as that text: nothing in it is Markdown any more.
func TestAppendMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"plain words, 5 * 3 - 2":   "plain words, 5 * 3 - 2",
		"snake_case_name":          "snake_case_name",
		"_word_ and *word*":        `\_word\_ and \*word\*`,
		"[x](y) `z` ~~a~~":         "\\[x\\](y) \\`z\\` \\~\\~a\\~\\~",
		"<b> a < b &amp; & c":      `\<b> a < b \&amp; & c`,
		"# no heading":             `\# no heading`,
		"- no item":                `\- no item`,
		"1. no item":               `1\. no item`,
		"1) no item":               `1\) no item`,
		"in 1. line":               "in 1. line",
		"> no quote":               `\> no quote`,
		`back\slash \* and C:\dir`: `back\slash \\\* and C:\dir`,
		"日本語 _x_":                  `日本語 \_x\_`,
	} {
		if got := string(component.AppendMarkdown(nil, in)); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// FuzzAppendMarkdown: a paragraph of escaped text parses to that text.
func FuzzAppendMarkdown(f *testing.F) {
	for _, s := range []string{"a *b* _c_ [d](e) `f`", "1. x", "# h", "&lt; <a> \\", "~a~ ![x]", "0$$0$$", "$a$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }), " ")
		if s == "" || strings.ContainsAny(s, "{}:|@") || strings.Contains(strings.ToLower(s), "www.") {
			return // braces are MDX's, and an address links itself
		}
		if strings.Trim(s, "-=_* ") == "" || strings.HasPrefix(s, "$$") {
			return
		}
		src := component.AppendMarkdown(nil, s)
		file, diags := mdx.Parse(append([]byte("x "), src...), mdx.Options{})
		if len(diags) > 0 {
			return
		}
		if got := mdx.PlainText(file.Root); got != "x "+s {
			t.Errorf("%q is written %q and reads %q", "x "+s, src, got)
		}
	})
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{"a": "`a`", "a`b": "`` a`b ``", "``": "``` `` ```", " a ": "`  a  `", "": "``"} {
		if got := component.CodeSpan(in); got != want {
			t.Errorf("CodeSpan(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFragmentEscape(t *testing.T) {
	for in, want := range map[string]string{"a-b_c.1": "a-b_c.1", "a b": "a%20b", "日本語": "日本語", "50%": "50%25", "a\"<b>": "a%22%3Cb%3E"} {
		if got := component.FragmentEscape(in); got != want {
			t.Errorf("FragmentEscape(%q) = %q, want %q", in, got, want)
		}
	}
}

// Blocks stand apart by one blank line, and every line of a container has its
// prefix.
func TestMarkdownWriter(t *testing.T) {
	m := component.NewMarkdown(nil)
	m.Paragraph("one\ntwo")
	m.Paragraph("  ")
	m.Push("> ", "> ")
	m.Paragraph("quoted")
	m.Push("1. ", "   ")
	m.Paragraph("item")
	m.Block()
	m.Write("```\ncode\n\nmore\n```")
	m.Pop()
	m.SetTight(true)
	m.Push("2. ", "   ")
	m.Pop()
	m.Pop()
	m.Paragraph("end")
	want := "one\ntwo\n\n> quoted\n>\n> 1. item\n>\n>    ```\n>    code\n>\n>    more\n>    ```\n> 2. \n\nend\n"
	if diff := cmp.Diff(want, string(m.Bytes())); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// The styles define no tokens of the theme's, and neither file calls out or
// needs what file:// refuses.
func TestAssets(t *testing.T) {
	for name, text := range map[string]string{"component.css": component.CSS(), "component.js": component.JS(nil)} {
		for _, bad := range []string{"http:", "https:", "@import", "url(", "fetch(", "eval(", "--color-bg:", "--radius:"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %s", name, bad)
			}
		}
		if len(text) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}
