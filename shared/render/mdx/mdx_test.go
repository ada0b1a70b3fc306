package mdx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

func TestSplitFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, src, yaml string
		body            Pos
	}{
		{"none", "# a\n", "", Pos{0, 1, 1}},
		{"one", "---\na: b\n---\n# c\n", "a: b\n", Pos{13, 4, 1}},
		{"empty", "---\n---\nc", "", Pos{8, 3, 1}},
		{"to the end", "---\na: b\n---", "a: b\n", Pos{12, 3, 4}},
		{"not closed", "---\na: b\n", "", Pos{0, 1, 1}},
		{"not on the first line", "\n---\na: b\n---\n", "", Pos{0, 1, 1}},
		{"white space behind the marks", "--- \na: b\n---\t\nc", "a: b\n", Pos{15, 4, 1}},
		{"four dashes", "----\na: b\n----\n", "", Pos{0, 1, 1}},
		{"byte order mark", "\ufeff---\na: b\n---\nc", "a: b\n", Pos{16, 4, 1}},
		{"carriage returns", "---\r\na: b\r\n---\r\nc", "a: b\r\n", Pos{16, 4, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			yaml, body := SplitFrontMatter([]byte(c.src))
			if string(yaml) != c.yaml || body != c.body {
				t.Errorf("got %q, body at %v; want %q, %v", yaml, body, c.yaml, c.body)
			}
		})
	}
}

func TestPlacesAfterFrontMatter(t *testing.T) {
	f, _ := Parse([]byte("\ufeff---\r\na: b\r\n---\r\n\r\n# c\r\n"), Options{})
	h := f.Root.Children[0]
	if want := (Pos{21, 5, 1}); h.Kind != Heading || h.Pos != want {
		t.Errorf("the heading is at %+v, want %+v", h.Pos, want)
	}
}

func TestDiagnosticNamesPlace(t *testing.T) {
	_, diags := Parse([]byte("---\na: b\n---\n\n<Card>\r\n\r\n  é </Note>\n"), Options{File: "docs/a.mdx"})
	if len(diags) == 0 {
		t.Fatal("nothing is reported")
	}
	want := "docs/a.mdx:7:6: error: found the closing tag </Note>, expected an opening tag <Note> before it in the same paragraph or span (mdx-syntax)"
	if got := diags[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnravel(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"element alone", "<A>b</A>", "<A> T:b /"},
		{"elements and expressions", "<A/> {b} <C>d</C>", "<A> / {b <C> T:d /"},
		{"text beside", "<A>b</A> c", "p <A> T:b / T:c /"},
		{"text only", "a", "p T:a /"},
		{"within elements and lists", "- <A>b</A>\n\n<B>\n\n<C>d</C>\n\n</B>", "ul li <A> T:b / / / <B> <C> T:d / /"},
		{"over lines", "<A>b</A>\n<C>d</C>", "<A> T:b / <C> T:d /"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, diags := Parse([]byte(c.src), Options{})
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			Unravel(f.Root)
			if got := strings.Join(tokens(f.Root), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for _, n := range f.Root.Children {
				if n.Inline {
					t.Errorf("<%s> is still inline", n.Name)
				}
			}
		})
	}
}

func TestPlainTextAndClone(t *testing.T) {
	f, _ := Parse([]byte("# a *b* `c` ![d](e) [f](g) {h}<I>j</I>\n\n| k | l |\n|:-:|---|\n"), Options{})
	if got, want := PlainText(f.Root.Children[0]), "a b c d f j"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	copied := Clone(f.Root)
	if diff := cmp.Diff(f.Root, copied); diff != "" {
		t.Fatal(diff)
	}
	Walk(copied, func(n *Node) bool {
		n.Value = "changed"
		if len(n.Align) > 0 {
			n.Align[0] = AlignRight
		}
		return true
	})
	if got := f.Root.Children[0].Children[0].Value; got != "a " {
		t.Errorf("the copy shares text with the tree: %q", got)
	}
	if f.Root.Children[1].Align[0] != AlignCenter {
		t.Error("the copy shares alignments with the tree")
	}
}

// Markdown's comments are left out where they are asked for, and faults elsewhere;
// those in code stay.
func TestComments(t *testing.T) {
	const src = "<!-- a -->\n\nb <!-- c --> d\n\n<!--\ne {f\n\n# g\n-->\n\n- h <!-- i -->\n- <!-- j -->\n\n> <!-- k -->\n> l\n\n`<!-- m -->`\n\n```\n<!-- n -->\n```\n\n<Note>\n<!-- o -->\np\n</Note>\n"
	f, diags := Parse([]byte(src), Options{Markdown: true})
	if len(diags) > 0 {
		t.Errorf("findings: %v", diags)
	}
	var text strings.Builder
	Walk(f.Root, func(n *Node) bool {
		text.WriteString(n.Value)
		return true
	})
	if got, want := strings.Join(strings.Fields(text.String()), " "), "b dh l<!-- m --><!-- n -->p"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, diags := Parse([]byte(src), Options{}); len(diags) == 0 {
		t.Error("comments of HTML are not faults in MDX")
	}
}

// References repeat as many bytes of addresses and titles as the source has, or
// 100 kB. Those that don't fit stay text, and the first of them is reported.
func TestReferencesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name, src string
		links     int
		said      string
	}{
		{"below the bound", "[a]: /" + long + "\n\n" + strings.Repeat("[a]\n", 99), 99, ""},
		{"an address", "[a]: /" + long + "\n\n" + strings.Repeat("[a]\n", 150), 99, "f.mdx:102:1: warning"},
		{"a title", "[a]: / '" + long + "'\n\n" + strings.Repeat("[a]\n", 150), 99, "f.mdx:102:1: warning"},
		{"pictures", "[a]: /" + long + "\n\n" + strings.Repeat("![a]\n", 150), 99, "f.mdx:102:2: warning"},
		{"all forms", "[a]: /" + long + "\n\n" + strings.Repeat("[a] [a][] [b][a]\n", 50), 99, "f.mdx:36:1: warning"},
		{"short ones after it", "[a]: /" + long + "\n[b]: /b\n\n" + strings.Repeat("[a]\n", 150) + "[b]", 100, "f.mdx:103:1: warning"},
		{"a long source", "[a]: /" + long + "\n\n" + strings.Repeat("[a]\n", 150) + strings.Repeat("word ", 40_000), 150, ""},
		{"a definition in a quote", strings.Repeat("[a]\n", 150) + "\n> [a]: /" + long, 99, "f.mdx:100:1: warning"},
	} {
		f, diags := Parse([]byte(c.src), Options{File: "f.mdx"})
		links := 0
		Walk(f.Root, func(n *Node) bool {
			if n.Kind == Link || n.Kind == Image {
				links++
			}
			return true
		})
		said := ""
		for _, d := range diags {
			said += d.String()
		}
		if links != c.links || !strings.HasPrefix(said, c.said) || c.said == "" && said != "" || len(diags) > 1 {
			t.Errorf("%s: %d links, reported is %q", c.name, links, said)
		}
	}
}

// What nests deeper than any page does is refused or read flat, never followed
// to the end of the stack.
func TestDepthIsBounded(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	const n = 20000
	for name, src := range map[string]string{
		"quotes":    strings.Repeat(">", n) + " a",
		"lists":     strings.Repeat("- ", n) + "a",
		"elements":  strings.Repeat("<a>", n) + strings.Repeat("</a>", n),
		"braces":    strings.Repeat("{", n) + strings.Repeat("}", n),
		"emphasis":  strings.Repeat("*a **b ", n) + strings.Repeat("c** d*", n),
		"images":    strings.Repeat("![", n) + strings.Repeat("](a)", n),
		"tildes":    strings.Repeat("~a ~~b ", n) + strings.Repeat("c~~ d~ ", n),
		"templates": "{" + strings.Repeat("`${", n) + strings.Repeat("}`", n) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []Options{{}, {Plain: true, Tags: anyTag}} {
				f, _ := Parse([]byte(src), o)
				if d := depth(f.Root); d > 3*maxDepth {
					t.Errorf("the tree is %d deep", d)
				}
			}
			if d := depth(&Node{Children: ParseInline(src)}); d > 3*maxDepth {
				t.Errorf("the short text's tree is %d deep", d)
			}
		})
	}
}

func depth(n *Node) int {
	d := 0
	for _, c := range n.Children {
		d = max(d, depth(c))
	}
	return d + 1
}

// checkTree checks what holds for every tree: places lie in the source, line
// and column agree with the offset, and children stand in order.
func checkTree(t *testing.T, src []byte, root *Node) {
	t.Helper()
	starts := []int{0}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	if strings.HasPrefix(string(src), "\ufeff") {
		starts[0] = 3
	}
	check := func(n *Node, at Pos) {
		if at.Offset < 0 || at.Offset > len(src) || at.Line < 1 || at.Line > len(starts) ||
			starts[at.Line-1]+at.Column-1 != at.Offset {
			t.Errorf("%s has the place %+v in a source of %d bytes", kindNames[n.Kind], at, len(src))
		}
	}
	Walk(root, func(n *Node) bool {
		check(n, n.Pos)
		check(n, n.End)
		if n.End.Offset < n.Pos.Offset {
			t.Errorf("%s ends at %v before it begins at %v", kindNames[n.Kind], n.End, n.Pos)
		}
		for _, a := range n.Attrs {
			check(n, a.Pos)
		}
		if n.Kind == Text && n.Value == "" {
			t.Errorf("an empty text at %v", n.Pos)
		}
		if n.Kind == Element && n.Level != tagNone {
			t.Errorf("<%s> at %v was not matched", n.Name, n.Pos)
		}
		for _, s := range []string{n.Name, n.Value, n.Meta, n.URL, n.Title} {
			if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				t.Errorf("%s at %v holds bytes that are no text: %q", kindNames[n.Kind], n.Pos, s)
			}
		}
		return true
	})
}

func seeds(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(data), "\n-- ") {
			f.Add([]byte(part))
		}
	}
	for _, c := range repeated {
		f.Add([]byte(c.make(3)))
	}
	f.Add([]byte("\ufeff---\r\na: b\r\n---\r\n# c\r\x00\xff[d](e"))
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := Parse(src, Options{})
		checkTree(t, src, file.Root)
		for _, d := range diags {
			if d.Line < 1 || d.Column < 1 || d.Message == "" || !utf8.ValidString(d.Message) {
				t.Errorf("reported is %#v", d)
			}
		}
		Unravel(file.Root)
		checkTree(t, src, file.Root)
	})
}

// FuzzMarkdown: a source that is read as CommonMark holds no code that runs.
func FuzzMarkdown(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, _ := Parse(src, Options{Markdown: true})
		checkTree(t, src, file.Root)
		file, _ = parseCommonMark(string(src), Options{Markdown: true})
		checkTree(t, src, file.Root)
		if holdsMDX(file.Root) {
			t.Error("it holds MDX")
		}
		Unravel(file.Root)
		checkTree(t, src, file.Root)
	})
}

// FuzzPlain: whatever a plain source holds, nothing in it is code that runs.
func FuzzPlain(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, tags := range []func(string) bool{nil, someTags} {
			file, diags := Parse(src, Options{Plain: true, Tags: tags})
			checkTree(t, src, file.Root)
			if tags == nil && len(diags) > 0 {
				t.Errorf("reported is %v", diags)
			}
			Walk(file.Root, func(n *Node) bool {
				switch {
				case n.Kind == ESM, n.Kind == Expression, n.Kind == Element && (tags == nil || !tags(n.Name)):
					t.Errorf("a plain source holds %s %s", kindNames[n.Kind], n.Name)
				}
				for _, a := range n.Attrs {
					if a.Kind != AttrString && a.Kind != AttrBool {
						t.Errorf("attribute %s is code: %q", a.Name, a.Value)
					}
				}
				return true
			})
		}
	})
}

// FuzzInline: a short text holds nothing but text, code, emphasis and links,
// and what has no mark is itself.
func FuzzInline(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		root := &Node{Kind: Paragraph, Children: ParseInline(string(src)), Pos: Pos{0, 1, 1}, End: Pos{0, 1, 1}}
		if len(src) >= 3 && string(src[:3]) == "\ufeff" {
			root.Pos, root.End = Pos{3, 1, 1}, Pos{3, 1, 1}
		}
		checkTree(t, src, root)
		Walk(root, func(n *Node) bool {
			switch n.Kind {
			case Paragraph, Text, InlineCode, Emphasis, Strong, Delete, Link:
			default:
				t.Errorf("a short text holds %s", kindNames[n.Kind])
			}
			return true
		})
		if got := InlineText(string(src)); got != PlainText(root) {
			t.Errorf("its words are %q and %q", got, PlainText(root))
		}
	})
}
