package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/tests/outside"
)

var next = regexp.MustCompile(`read on with from=(\d+)(?: column=(\d+))?\n`)

// pieces reads a file as a model does, result by result, and returns its text with LF
// at the ends of lines.
func pieces(t testing.TB, s *Set, p string) string {
	t.Helper()
	var b strings.Builder
	for from, column := 1, 1; ; {
		r := call(t, s, "read", fmt.Sprintf(`{"path": %q, "from": %d, "column": %d}`, p, from, column))
		if len(r.Text) > maxResult {
			t.Fatalf("%s: a result of %d bytes", p, len(r.Text))
		}
		head, body, _ := strings.Cut(r.Text, "\n")
		for row := range strings.Lines(body) {
			if strings.HasPrefix(row, "…") {
				break
			}
			_, line, _ := strings.Cut(row, "\t")
			b.WriteString(line)
		}
		m := next.FindStringSubmatch(r.Text)
		if m == nil {
			if strings.Contains(head, "without an end") {
				return strings.TrimSuffix(b.String(), "\n")
			}
			return b.String()
		}
		from, _ = strconv.Atoi(m[1])
		column = 1
		if m[2] != "" {
			column, _ = strconv.Atoi(m[2])
			text := strings.TrimSuffix(b.String(), "\n") // the line goes on
			b.Reset()
			b.WriteString(text)
		}
	}
}

// readsWhole fails unless the pieces of a file are the file, and the model then may
// replace it, also after its round was loaded again.
func readsWhole(t testing.TB, text string) {
	t.Helper()
	s := newSet(t, memory{"docs.json": "{}", "a.txt": text}, "", Limits{Bytes: 64 << 20})
	if got, want := pieces(t, s, "a.txt"), strings.ReplaceAll(text, "\r\n", "\n"); got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d bytes read, %d there; they differ from byte %d: %.100q, want %.100q", len(got), len(want), i, got[i:], want[i:])
	}
	if n := s.unread("a.txt", []byte(text)); n > 0 {
		t.Fatalf("line %d counts as unread", n)
	}
}

// What read returns in pieces is the file, however long its lines are.
func TestReadIsTheFile(t *testing.T) {
	for _, text := range []string{"a\r", "a\r\nb\r", "\r", "a\n\r"} {
		readsWhole(t, text)
	}
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 6).Draw(r, "lines") {
			unit := rapid.SampledFrom([]string{"", "a", "日本語", "ü🙂", "\tx\t", "  5\tx", "… 3 more lines", "\\n", "\r"}).Draw(r, "unit")
			b.WriteString(strings.Repeat(unit, rapid.SampledFrom([]int{1, 2, 100, 5000, 16_000, 40_000}).Draw(r, "times")))
			b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(r, "end"))
		}
		text := strings.ReplaceAll(b.String(), "\r\r", "\r")
		readsWhole(t, strings.ReplaceAll(text, "\r\n", "\n"))
	})
}

func TestReadIsTheFileInRealSites(t *testing.T) {
	outside.NoRace(t, "it uses one goroutine, and takes much longer")
	short := outside.Short(t)
	for _, name := range []string{"mcp", "novu", "trigger"} {
		if short && name != "mcp" {
			continue
		}
		base := folderBase(t, corpus(t, name))
		s := newSet(t, base, "", Limits{})
		for p, text := range base {
			if text == "binary" || unreadable(p) != "" {
				continue
			}
			if got, want := pieces(t, s, p), strings.ReplaceAll(text, "\r\n", "\n"); got != want {
				t.Errorf("%s %s: %d bytes read, %d there", name, p, len(got), len(want))
			}
			if n := s.unread(p, []byte(text)); n > 0 {
				t.Errorf("%s %s: line %d counts as unread", name, p, n)
			}
		}
	}
}

// A search shows lines whole, and of one that is longer than a result the parts that
// match, with the columns at which read goes on.
func TestSearchOfLongLines(t *testing.T) {
	long := strings.Repeat("Ein Absatz in einer Zeile. ", 100) + "NADEL und Faden"
	huge := strings.Repeat("日本", 5000) + "NADEL" + strings.Repeat("語", 20_000) + "NADEL am Ende"
	s := newSet(t, memory{"docs.json": "{}", "long.mdx": long + "\n", "api.json": "\n" + huge + "\n"}, "", Limits{})
	r := call(t, s, "search", `{"pattern": "NADEL"}`)
	if !strings.Contains(r.Text, "long.mdx:1: "+long+"\n") {
		t.Errorf("the line is not whole: %.300s", r.Text)
	}
	columns := regexp.MustCompile(`api\.json:2:(\d+): (.*)\n`).FindAllStringSubmatch(r.Text, -1)
	if len(columns) != 2 {
		t.Fatalf("%d parts: %.300s", len(columns), r.Text)
	}
	for _, m := range columns {
		column, _ := strconv.Atoi(m[1])
		if !strings.HasPrefix(huge[column-1:], m[2]) || !strings.Contains(m[2], "NADEL") {
			t.Errorf("column %d has another text than %q", column, m[2])
		}
		read := call(t, s, "read", fmt.Sprintf(`{"path": "api.json", "from": 2, "column": %d}`, column))
		if !strings.Contains(read.Text, "     2\t"+m[2]) {
			t.Errorf("read does not go on at column %d: %.200s", column, read.Text)
		}
	}
}

// A file is replaced only if the model has seen all of it: by read or by what it
// wrote itself, in this process or in one before.
func TestUnread(t *testing.T) {
	two := "first line\n" + strings.Repeat("x", 40_000) + " end\nlast line\n"
	const read1, read2 = `{"path": "a.mdx"}`, `{"path": "a.mdx", "from": 2}`
	for _, c := range []struct {
		name  string
		calls []string
		want  bool
	}{
		{"nothing", nil, false},
		{"a search", []string{`search {"pattern": "line"}`}, false},
		{"its beginning", []string{"read " + read1}, false},
		{"its end", []string{`read {"path": "a.mdx", "from": 3}`}, false},
		{"without a piece", []string{"read " + read1, "read " + read2, `read {"path": "a.mdx", "from": 2, "column": 39000}`}, false},
		{"in pieces", []string{"read " + read1, "read " + read2, "next", "next"}, true},
		{"another file of that text", []string{`read {"path": "b.mdx"}`, `read {"path": "b.mdx", "from": 2}`, "next", "next"}, false},
		{"what replace changed", []string{"read " + read1, "read " + read2, "next", "next", `replace {"find": "last", "replace": "final", "apply": true}`}, false},
		{"what an edit showed", []string{"read " + read1, "read " + read2, "next", "next", `edit {"path": "a.mdx", "old": "last", "new": "final"}`}, true},
		{"what it wrote itself", []string{`delete {"path": "a.mdx"}`, `write {"path": "a.mdx", "content": "mine\n"}`, `write {"path": "a.mdx", "content": "more", "append": true}`}, true},
	} {
		base := memory{"docs.json": "{}", "a.mdx": two, "b.mdx": two}
		s, again := newSet(t, base, "", Limits{}), newSet(t, base, "", Limits{})
		last := Result{}
		for _, line := range c.calls {
			if line == "next" {
				m := next.FindStringSubmatch(last.Text)
				line = fmt.Sprintf(`read {"path": %q, "from": %s, "column": %s}`, last.File, m[1], m[2])
			}
			name, input, _ := strings.Cut(line, " ")
			last = call(t, s, name, input)
			again.Recall(name, json.RawMessage(input), last)
		}
		if err := again.tree.Apply(s.tree.Changes()); err != nil {
			t.Fatal(err)
		}
		for which, set := range map[string]*Set{"at once": s, "loaded again": again} {
			r := set.Call(t.Context(), "write", json.RawMessage(`{"path": "a.mdx", "content": "new\n"}`))
			if r.IsError == c.want {
				t.Errorf("%s, %s: %s", c.name, which, r.Text)
			}
		}
	}
}

// A replacement in more files than a job may change is made in those that fit, and says
// so. What an agent may not write is left alone.
func TestReplaceInWhatFits(t *testing.T) {
	base := memory{"docs.json": "{}", "run.yml": "word: 1\n", "AGENTS.md": "word\n"}
	for i := range 10 {
		base[fmt.Sprintf("p%d.mdx", i)] = "word\n"
	}
	s := newSet(t, base, "", Limits{Files: 4})
	call(t, s, "edit", `{"path": "p9.mdx", "old": "word", "new": "a word"}`)
	r := call(t, s, "replace", `{"find": "word", "replace": "term", "apply": true}`)
	for _, want := range []string{"10 places in 10 files", "2 files left alone, which agents may not write (AGENTS.md, run.yml)", "done in 4 of them, and 6 are left"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is not in: %s", want, r.Text)
		}
	}
	var changed []string
	for _, c := range s.tree.Changes() {
		changed = append(changed, c.Path)
	}
	if got := strings.Join(changed, " "); got != "p0.mdx p1.mdx p2.mdx p9.mdx" {
		t.Error(got)
	}
}
