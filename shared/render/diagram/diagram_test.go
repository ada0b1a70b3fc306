package diagram

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/outside"
)

// shown is all of a drawing that a page shows, an element a line.
func shown(d *Diagram) []byte {
	b := d.AppendSVG(nil, "The name", address)
	b = []byte(strings.ReplaceAll(string(b), "><", ">\n<"))
	b = fmt.Appendf(b, "\n\n%s / %s / %s\n", d.Kind, d.Title, d.Description)
	for _, setting := range d.Ignored {
		b = fmt.Appendf(b, "without effect: %s\n", setting)
	}
	for _, l := range d.Lines {
		b = fmt.Appendf(b, "%s- %s\n", strings.Repeat("  ", l.Depth), l.Text)
	}
	return b
}

// TestDiagrams: each kind that is drawn has a file of what is drawn.
func TestDiagrams(t *testing.T) {
	files, err := filepath.Glob("testdata/diagrams/*.mmd")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	e := New()
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".mmd"), func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			d, err := e.Draw(t.Context(), string(src))
			if err != nil {
				t.Fatal(err)
			}
			out := shown(d)
			golden.Same(t, strings.TrimSuffix(f, ".mmd")+".golden", out)
			safe(t, d.AppendSVG(nil, `"><script>`, address))
		})
	}
}

// address is where links lead in tests.
func address(href string) string { return href }

// elements are those that a drawing may have.
var elements = map[string]bool{
	"svg": true, "g": true, "rect": true, "line": true, "path": true, "circle": true, "text": true, "tspan": true, "a": true,
}

// safe fails if a drawing has anything that a page's policy refuses or that
// could act.
func safe(t testing.TB, svg []byte) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if !elements[start.Name.Local] {
			t.Errorf("the drawing has <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "href" && start.Name.Local == "a":
			case a.Name.Local == "style" || a.Name.Local == "id" || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href"):
				t.Errorf("<%s> has the attribute %s", start.Name.Local, a.Name.Local)
			case strings.Contains(a.Value, "url(") && a.Name.Local != "aria-label":
				t.Errorf("%s leads elsewhere: %s", a.Name.Local, a.Value)
			case strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf"):
				t.Errorf("%s is %s", a.Name.Local, a.Value)
			}
		}
	}
}

// TestOrder: a drawing depends on its source alone, not on what the machine
// drew before.
func TestOrder(t *testing.T) {
	outside.Long(t, "draws every sample twice")
	files, _ := filepath.Glob("testdata/diagrams/*.mmd")
	drawn := map[string]string{}
	for range 2 {
		e := New()
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			d, err := e.Draw(t.Context(), string(src))
			if err != nil {
				t.Fatal(err)
			}
			got := string(shown(d))
			if before, ok := drawn[f]; ok && before != got {
				t.Errorf("%s is drawn in another way in another order", f)
			}
			drawn[f] = got
		}
		slices.Reverse(files)
	}
}

// TestNotDrawn: what would be drawn wrong is not drawn, and bounds end what is
// too large before any clock does.
func TestNotDrawn(t *testing.T) {
	many := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		return b.String()
	}
	wide := strings.Join(strings.Split(strings.Repeat("x", 60), ""), " & ")
	tests := []struct {
		name, src, want string
		live            bool
	}{
		{"another kind", "journey\ntitle x", "only Mermaid itself", true},
		{"nothing", "", "only Mermaid itself", true},
		{"a line that can't be read", "graph TD\nA --> B\n%foo&&", "can't be read", true},
		{"an arrow to nowhere", "graph TD\nA -->", "can't be read", true},
		{"an unknown shape", "graph TD\nA@{shape: none} --> B", "only Mermaid itself", true},
		{"an icon", "graph TD\nA@{icon: \"fa:bell\"} --> B", "only Mermaid itself", true},
		{"an unknown line of a sequence", "sequenceDiagram\nA->>B: x\nconjure participant C", "can't be read", true},
		{"a merge of the branch itself", "gitGraph\ncommit\nmerge main", "can't be read", true},
		{"a branch that is not there", "gitGraph\ncommit\ncheckout other", "can't be read", true},
		{"a commit of the same name", "gitGraph\ncommit id: \"a\"\ncommit id: \"a\"", "can't be read", true},
		{"a picked commit of the same branch", "gitGraph\ncommit id: \"a\"\ncherry-pick id: \"a\"", "can't be read", true},
		{"a merge picked without a parent", "gitGraph\ncommit\nbranch b\ncommit\ncheckout main\nmerge b id: \"m\"\ncheckout b\ncherry-pick id: \"m\"", "can't be read", true},
		{"too many commits", "gitGraph\n" + strings.Repeat("commit\n", maxCommits+1), "300 commits", false},
		{"a participant that nobody creates", "sequenceDiagram\nA->>B: x\ncreate participant C", "can't be read", true},
		{"a participant that another message creates", "sequenceDiagram\ncreate participant C\nA->>B: x", "can't be read", true},
		{"a participant that another message destroys", "sequenceDiagram\nC->>A: y\ndestroy C\nA->>B: x", "can't be read", true},
		{"an unknown line of states", "stateDiagram-v2\na --> b\nstate f <<strange>>", "can't be read", true},
		{"a note without an end", "stateDiagram-v2\na --> b\nnote left of a\nx", "can't be read", true},
		{"a negative slice", "pie\n\"a\": 1\n\"b\": -1", "can't be read", true},
		{"a slice without a value", "pie\n\"a\": 1\n\"b\"", "can't be read", true},
		{"a pie of nothing", "pie\n\"a\": 0", "nothing in it", true},
		{"a pie of too much", "pie\n\"a\": 1" + strings.Repeat("0", 400), "can't be read", true},
		{"100 slices", "pie\n" + many(100, func(i int) string { return fmt.Sprintf("\"s%d\": 1", i) }), "more than 60", false},
		{"an open frame", "sequenceDiagram\nloop x\nA->>B: y", "can't be read", true},
		{"a chart of time that begins today", "gantt\nA: 3d", "somebody reads it", true},
		{"a task after none", "gantt\nA: after b, 3d", "can't be read", true},
		{"tasks that wait for each other", "gantt\nA: a, after b, 3d\nB: b, after a, 3d", "can't be read", true},
		{"a task without a time", "gantt\nA", "can't be read", true},
		{"an end before its beginning", "gantt\nA: 2026-02-02, 2026-02-01", "can't be read", true},
		{"no day of a calendar", "gantt\nA: 2026-02-30, 1d", "can't be read", true},
		{"a task for ever", "gantt\nA: 2026-02-02, 9999999y", "can't be read", true},
		{"a task over all days", "gantt\nexcludes weekends\nA: 2026-02-02, 1500000d", "too many days", false},
		{"300 tasks", "gantt\n" + many(300, func(int) string { return "A: 2026-01-01, 1d" }), "more than 200 tasks", false},
		{"a chart of no tasks", "gantt\ntitle x", "nothing in it", true},
		{"two middles", "mindmap\na\nb", "can't be read", true},
		{"300 thoughts", "mindmap\n" + many(300, func(i int) string { return strings.Repeat(" ", min(i, 1)) + "x" }), "more than 250", false},
		{"a deep thought", "mindmap\n" + many(40, func(i int) string { return strings.Repeat(" ", i) + "x" }), "within each other", false},
		{"an event of no time", "timeline\n: x", "can't be read", true},
		{"a timeline of nothing", "timeline\nsection x", "nothing in it", true},
		{"120 periods", "timeline\n" + many(120, func(i int) string { return "a : b" }), "more than 100 periods", false},
		{"a point outside", "quadrantChart\nA: [1.5, 0]", "can't be read", true},
		{"300 points", "quadrantChart\n" + many(300, func(int) string { return "A: [0.5, 0.5]" }), "more than 200 points", false},
		{"a chart without values", "xychart\nx-axis [a, b]", "nothing in it", true},
		{"a value that is no number", "xychart\nbar [1, x]", "can't be read", true},
		{"an axis without a length", "xychart\ny-axis 1 --> 1\nbar [1]", "can't be read", true},
		{"30 series", "xychart\n" + many(30, func(int) string { return "bar [1]" }), "more than 20 series", false},
		{"5,000 nodes", "graph TD\n" + many(5000, func(i int) string { return fmt.Sprintf("a%d-->a%d", i, i+1) }), "more than", false},
		{"400 links", "graph TD\n" + many(400, func(i int) string { return fmt.Sprintf("a%d-->b", i) }), "more than 600", false},
		{"each with each", "graph TD\n" + wide + " --> " + wide, "more than 600", false},
		{"10 MB", "graph TD\n" + strings.Repeat("A-->B\n", 2<<20), "more than 64 KiB", false},
		{"a long line", "sequenceDiagram\nA->>B: " + strings.Repeat("x", 5000), "too long", false},
		{"100 participants", "sequenceDiagram\n" + many(100, func(i int) string { return fmt.Sprintf("participant p%d", i) }), "more than 40", false},
		{"2,000 messages", "sequenceDiagram\n" + many(2000, func(int) string { return "A->>B: x" }), "more than 1000", false},
		{"frames within frames", "sequenceDiagram\n" + many(50, func(int) string { return "loop x" }), "too many frames", false},
	}
	e := New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := e.Draw(t.Context(), tt.src)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if got := Live(err); got != tt.live {
				t.Errorf("Live is %v, want %v", got, tt.live)
			}
			if len(err.Error()) > 200 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestCircles: what a flowchart names first stands first, whatever leads back
// to it, and so does what a group holds.
func TestCircles(t *testing.T) {
	tests := []struct {
		name, src string
		order     []string // texts from left to right
	}{
		{"a loop", "graph LR\nFE[Front] -->|asks| IN[In]\nIN --> AG[Agent]\nAG --> OUT[Out]\nOUT -->|streams| FE", []string{"Front", "In", "Agent", "Out"}},
		{"back to the second", "graph LR\nA --> B\nB --> C\nC --> B", []string{"A", "B", "C"}},
		{"a group comes first", "graph LR\nsubgraph G\nA --> B\nend\nB --> S1\nS1 --> B\nB --> S2\nS2 --> B", []string{"A", "B", "S2"}},
	}
	e := New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := e.Draw(t.Context(), tt.src)
			if err != nil {
				t.Fatal(err)
			}
			last := 0.0
			for _, word := range tt.order {
				m := regexp.MustCompile(`<text [^>]*x="([\d.]+)"[^>]*>` + word + `</text>`).FindSubmatch(d.svg)
				if m == nil {
					t.Fatalf("%q is not drawn", word)
				}
				x, err := strconv.ParseFloat(string(m[1]), 64)
				if err != nil || x <= last {
					t.Errorf("%q is at %s, the one before it at %g", word, m[1], last)
				}
				last = x
			}
		})
	}
}

// TestLargest: graphs near the bound are drawn.
func TestLargest(t *testing.T) {
	outside.Long(t, "lays out a graph near the bound")
	var b strings.Builder
	b.WriteString("graph TD\n")
	for i := range 90 {
		fmt.Fprintf(&b, "n%d --> n%d\n", i*7%61, i*13%59+1)
	}
	d, err := New().Draw(t.Context(), b.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Lines) != 90 {
		t.Errorf("%d links are told, want 90", len(d.Lines))
	}
}

// TestEndedContext: a drawing ends with its context.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Draw(ctx, "graph TD\nA --> B"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// TestWidths: labels are as wide as the site's font makes them.
func TestWidths(t *testing.T) {
	const text = "flowchart LR\nA[Willingness to illustrate]"
	drawer := New()
	width := map[string]int{}
	for _, font := range [][2]string{{"", ""}, {"Source Sans 3", ""}, {"Inter", ""}, {"Comic Sans", ""}, {"Inter", "/fonts/own.woff2"}} {
		d, err := drawer.For(font[0], font[1]).Draw(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		width[font[0]+font[1]] = d.Width
	}
	if width[""] != width["Source Sans 3"] || width["Inter"] <= width[""] || width["Inter/fonts/own.woff2"] != width["Comic Sans"] {
		t.Errorf("widths by font: %v", width)
	}
}

// TestSizes: a drawing has a least width of its own in the style sheet, at which
// words of 13 pixels have more than 11; none is enlarged by it.
func TestSizes(t *testing.T) {
	for width := range 3000 {
		class := sizeClass(width)
		switch {
		case class == "" && width < 300:
		case class == ` class="bdy-d-wide"` && width > 1200:
		default:
			name := strings.TrimSuffix(strings.TrimPrefix(class, ` class="`), `"`)
			_, rest, ok := strings.Cut(CSS(), ".bdy-diagram ."+name+" { min-width: ")
			px, _, _ := strings.Cut(rest, "px")
			least, err := strconv.Atoi(px)
			if share := float64(least) / float64(width); !ok || err != nil || share < 0.87 || share > 1 {
				t.Fatalf("a drawing of %d pixels has the class %q and at least %q pixels", width, name, px)
			}
		}
	}
}

// TestColors: what authors write as a colour, and the text that is read on it.
func TestColors(t *testing.T) {
	tests := []struct{ fill, color, ink string }{
		{"#000", "", "#ffffff"},
		{"#fff", "#eee", "#1b1d22"}, // nobody could read it
		{"#fff", "#333", "#333"},
		{"rebeccapurple", "", "#ffffff"},
		{"rgb(250 250 250 / 90%)", "", "#1b1d22"},
		{"rgba(0,0,0,0.2)", "#fff", ""}, // the page's ground shows
		{"hsl(60, 100%, 50%)", "", "#1b1d22"},
		{"hsl(240, 100%, 50%)", "", "#ffffff"},
		{"none", "#fff", ""},
		{"nocolor", "", ""},
	}
	for _, tt := range tests {
		if got := (look{fill: tt.fill, color: tt.color}).ink(); got != tt.ink {
			t.Errorf("the text %q on %q is %q, want %q", tt.color, tt.fill, got, tt.ink)
		}
	}
	for stroke, want := range map[string]string{"#000": "", "#fff": "", "#e33": "#e33", "nocolor": "nocolor"} {
		if got := (look{stroke: stroke}).seen().stroke; got != want {
			t.Errorf("the line %q is %q, want %q", stroke, got, want)
		}
	}
}

// TestLost: a drawing that does not say all of its source is found.
func TestLost(t *testing.T) {
	tests := []struct{ name, src, svg, want string }{
		{"all there", "graph TD\nA[Hello world] --> B", "<text>Hello</text><text>WORLD</text>", ""},
		{"a label", "graph TD\nA[Hello world] --> B", "<text>Hello</text>", "world"},
		{"words of a link", "graph TD\nA -->|maybe| B", "<text>A</text>", "maybe"},
		{"a note", "sequenceDiagram\nNote over A: remember", "<text>A</text>", "remember"},
		{"a participant", "sequenceDiagram\nparticipant A as Somebody", "<text>A</text>", "somebody"},
		{"a slice", "pie title Everything\n\"Read pages\": 1", "<text>Read</text>", "pages"},
		{"marks are not words", "graph TD\nA[one<br/>two]", `<text>one</text><text>two</text>`, ""},
		{"a note of a state", "stateDiagram-v2\na --> b\nnote right of b\nforever: yes\nand ever\nend note", "<text>forever</text><text>yes</text>", "and"},
		{"quotes within bars", "graph TD\nA -->|\"yes, it is\"| B{Kept} --> C([\"shown\"])\nB -->|no| D", `<text>yes</text><text>Kept</text><text>shown</text>`, ""},
		{"brackets within quotes", "graph TD\nsubgraph \"v1\"\nA((\"pruned(c1)\")) --> B((\"c2\"))\nend", `<text>pruned(c1)</text>`, ""},
		{"a label that another replaces", "graph TD\nA[First one]\nA[Second one]", `<text>Second</text><text>one</text>`, "first"},
		{"parts of words in bold", "erDiagram\nA {\n_**last**Name_ text\n}", `<text>_<tspan>last</tspan>Name_</text><text>text</text>`, ""},
		{"a participant's label in braces", "sequenceDiagram\nparticipant A@{\"type\": \"queue\", \"alias\": \"Incoming work\"}", "<text>Incoming</text>", "work"},
		{"styles are not shown", "graph TD\nclassDef hot fill:#fff\nclick A \"https://example.com\"", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := parseSource(tt.src)
			if got := lost(&src, []byte(tt.svg)); got != tt.want {
				t.Errorf("lost %q, want %q", got, tt.want)
			}
		})
	}
}

// arrowSigns are the arrows that the real sites' diagrams have.
var arrowSigns = map[Kind]*regexp.Regexp{
	Sequence: regexp.MustCompile(`(?m)^[ \t]*[\w. ]+?(?:<<)?--?(?:>>|>|x|\))[+-]?[\w. ]+:`), Flowchart: regexp.MustCompile(`<?-->|---`), State: regexp.MustCompile(`-->`),
}

// TestCorporaDiagrams draws every diagram of real sites: none is left out, and
// none loses a word or a link.
func TestCorporaDiagrams(t *testing.T) {
	outside.Long(t, "draws 130 diagrams")
	root := outside.Folder(t, "corpora")
	fence := regexp.MustCompile("(?ms)^([ \t]*)```mermaid[^\n]*\n(.*?)^[ \t]*```")
	e := New()
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".mdx") && !strings.HasSuffix(file, ".md") {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
			src := strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")
			if seen[src] {
				continue
			}
			seen[src] = true
			drawn, err := e.Draw(t.Context(), src)
			if err != nil {
				t.Errorf("%s: %v\n%s", file, err, src)
				continue
			}
			safe(t, drawn.AppendSVG(nil, "x", address))
			links := 0
			for _, l := range drawn.Lines {
				if strings.Contains(l.Text, " → ") || strings.Contains(l.Text, " ↔ ") {
					links++
				}
			}
			if want := len(arrowSigns[drawn.Kind].FindAllString(src, -1)); want != links {
				t.Errorf("%s: %d links are told, want %d\n%s", file, links, want, src)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 128 {
		t.Errorf("%d diagrams were found, want 128 at least", len(seen))
	}
}

// BenchmarkMermaidSources measures which share of the diagrams in Mermaid's documentation
// and demos is drawn, of the kinds that are drawn at all. BINDERY_MERMAID is a checkout of
// Mermaid (make bench-diagrams).
func BenchmarkMermaidSources(b *testing.B) {
	root := os.Getenv("BINDERY_MERMAID")
	if root == "" {
		b.Skip("BINDERY_MERMAID names no checkout of Mermaid")
	}
	parts := map[string]*regexp.Regexp{
		".md": regexp.MustCompile("(?ms)^[ \t]*```mermaid[^\n]*\n(.*?)^[ \t]*```"), ".html": regexp.MustCompile(`(?s)<pre[^>]*class="[^"]*mermaid[^"]*"[^>]*>(.*?)</pre\s*>`),
	}
	e, seen, drawn := New(), map[string]bool{}, 0
	for _, folder := range []string{"demos", "docs/syntax"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d os.DirEntry, err error) error {
			part := parts[filepath.Ext(file)]
			if err != nil || part == nil || d.Name() == "error.html" { // which has wrong ones
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range part.FindAllStringSubmatch(string(data), -1) {
				text := m[1]
				if filepath.Ext(file) == ".html" {
					text = html.UnescapeString(text)
				}
				if src := parseSource(text); src.kind == Other || seen[text] {
					continue
				}
				seen[text] = true
				got, err := e.Draw(b.Context(), text)
				if err != nil {
					b.Logf("%s: %v", file, err)
					continue
				}
				drawn++
				safe(b, got.AppendSVG(nil, "x", address))
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if len(seen) == 0 {
		b.Fatal("there are no diagrams in " + root)
	}
	b.ReportMetric(100*float64(drawn)/float64(len(seen)), "%drawn")
	b.ReportMetric(float64(len(seen)), "diagrams")
}

// FuzzDraw: no text breaks the reading, and
// what is drawn can stand in a page.
func FuzzDraw(f *testing.F) {
	files, _ := filepath.Glob("testdata/diagrams/*.mmd")
	for _, file := range files {
		if src, err := os.ReadFile(file); err == nil {
			f.Add(string(src))
		}
	}
	f.Add("---\ntitle: [\n---\nsequenceDiagram;A->>B")
	f.Add("sequenceDiagram\nA-xB-->>C:d\nend")
	f.Add("gantt\ndateFormat YYYY-MM-DD\nexcludes weekends\nsection s\na:b,2026-01-01,3d\nc:after b,until b")
	f.Add("mindmap\n a((b))\n  c[d\n  e]\n   ::icon(x)")
	f.Add("timeline TD\nsection a\nb : c : d\n : e")
	f.Add("quadrantChart\nx-axis a --> b\nquadrant-1 c\nd:::e: [0.1, .2] radius: 3")
	f.Add("xychart horizontal\nx-axis a [b, \"c\"]\ny-axis 1 --> 2\nbar \"d\" [1, -2e3]\nline [.5]")
	f.Add("gitGrAph bt\ncommit")
	f.Add("---\nconfig: {gitGraph: {parallelCommits: true}}\n---\ngitGraph BT:\ncommit\nbranch a order: 1\ncommit id: \"x\" tag: \"y\"\ncheckout main\ncommit\nmerge a\ncherry-pick id: \"x\"")
	f.Add("%%{init: {'flowchart': {'nodeSpacing': 1e300}, 'themeVariables': {'mainBkg': 'hsl(1,2%,3%)'}}}%%\nflowchart LR\na --> b")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := New().Draw(t.Context(), text)
		if err == nil {
			safe(t, d.AppendSVG(nil, text, address))
		}
	})
}
