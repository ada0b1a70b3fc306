package highlight

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// block is a fenced code block of a page.
type block struct{ label, code string }

// fences finds the fenced code blocks of a page, line by line. It is enough of
// CommonMark for a comparison of two drivers on the same blocks.
func fences(source string) []block {
	var blocks []block
	var fence, indent, label string
	var code strings.Builder
	open := false
	for line := range strings.Lines(source) {
		body := strings.TrimLeft(line, " \t")
		mark := body[:len(body)-len(strings.TrimLeft(body, "`"))]
		if mark == "" {
			mark = body[:len(body)-len(strings.TrimLeft(body, "~"))]
		}
		switch {
		case !open && len(mark) >= 3:
			info := strings.TrimSpace(body[len(mark):])
			if strings.ContainsRune(info, '`') {
				continue
			}
			label, _, _ = strings.Cut(info, " ")
			fence, indent, open = mark, line[:len(line)-len(body)], true
			code.Reset()
		case open && len(mark) >= len(fence) && mark[0] == fence[0] && strings.TrimSpace(body[len(mark):]) == "":
			open = false
			blocks = append(blocks, block{label, code.String()})
		case open:
			code.WriteString(strings.TrimPrefix(line, indent))
		}
	}
	return blocks
}

// corpora gives every distinct block of the real sites' pages; samples_test.go
// compares the same on its own files.
func corpora(t testing.TB) []block {
	t.Helper()
	root := outside.Folder(t, "corpora")
	seen := map[block]bool{}
	var blocks []block
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || (filepath.Ext(path) != ".mdx" && filepath.Ext(path) != ".md") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, b := range fences(string(source)) {
			if !seen[b] {
				seen[b] = true
				blocks = append(blocks, b)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// TestCorporaTokens: on every block of the corpora the driver gives the very
// tokens that chroma's own driver gives.
func TestCorporaTokens(t *testing.T) {
	outside.Long(t, "compares two drivers on every block of real sites")
	blocks := corpora(t)
	own, stock := New(Options{}), newStock()
	compared := map[string]int{}
	for _, b := range blocks {
		name, known := own.Language(b.label)
		if !known {
			name = "unknown label " + b.label
		}
		compared[name]++
		compareTokens(t, own, stock, b.label, b.code)
		checkRuns(t, b.code, own.Runs(b.label, b.code))
	}
	names := make([]string, 0, len(compared))
	for name := range compared {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%5d %s", compared[name], name)
	}
	const fewest = 3000
	if len(blocks) < fewest {
		t.Errorf("found %d distinct blocks, want at least %d: is the scanner broken?", len(blocks), fewest)
	}
}

// typeTokens returns chroma's tokens of code.
func (h *Highlighter) typeTokens(label, code string) (tokens []token, text []rune) {
	lang := h.languages.find(label)
	if lang == nil || lang.lexer == nil {
		return nil, nil
	}
	text, _ = characters(code)
	m := newMachine(h.languages)
	h.tokenise(m, lang, text)
	return m.tokens, text
}

// readable is a token for a failure's message and for comparing.
type readable struct{ Type, Text string }

func readTokens(tokens []token, text []rune) []readable {
	var list []readable
	for _, t := range tokens {
		list = append(list, readable{t.typ.String(), string(text[t.start:t.end])})
	}
	return list
}

func compareTokens(t *testing.T, own *Highlighter, stock *stock, label, code string) {
	t.Helper()
	switch name, _ := own.Language(label); name {
	case markdownName, mdxName, "Common Lisp", "EmacsLisp", "Haxe", "Org Mode", "reStructuredText":
		return // what chroma does there, or in code inside it, in functions of its own is left out
	}
	got, want := readTokens(own.typeTokens(label, code)), readTokens(stock.tokens(label, code))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens of %s differ (-stock +own):\n%s\nof:\n%s", label, diff, code)
	}
}

// checkRuns: runs cover the code, in order, without empty ones, and neighbours
// differ.
func checkRuns(t *testing.T, code string, runs []Run) {
	t.Helper()
	at := 0
	for i, r := range runs {
		if r.Start != at || r.End <= r.Start {
			t.Fatalf("run %d is %v, want it to begin at %d: %q", i, r, at, code)
		}
		if i > 0 && runs[i-1].Class == r.Class {
			t.Fatalf("runs %d and %d are both of class %d: %q", i-1, i, r.Class, code)
		}
		if r.Class >= classCount {
			t.Fatalf("run %d has no class: %v", i, r)
		}
		at = r.End
	}
	if at != len(code) {
		t.Fatalf("runs end at %d of %d: %q", at, len(code), code)
	}
}
