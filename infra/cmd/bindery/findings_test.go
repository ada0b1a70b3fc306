package main

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/check"
)

// The mark stands below the column, whatever the line has, and nothing in a line
// moves a terminal's cursor.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		line   string
		column int
		text   string
		mark   int
	}{
		{"abc", 2, "abc", 1},
		{"\t\tabc", 3, "abc", 0},
		{"    abc", 3, "  abc", 0},
		{"äöü", 5, "äöü", 2},
		{"abc", 9, "abc", 3},
		{"abc", 0, "abc", 0},
		{"a\x1b[31mb", 1, `a\u001b[31mb`, 0},
		{"a\xffb", 3, "a\ufffdb", 2},
		{long, 1, long[:excerptWidth] + "…", 0},
		{long, 300, "…" + long[:excerptWidth*2/3] + "x", excerptWidth*2/3 + 1},
		{"", 1, "", 0},
	} {
		text, mark := excerpt(c.line, c.column)
		if text != c.text || mark != c.mark || !utf8.ValidString(text) {
			t.Errorf("column %d of %q: %q with the mark at %d, want %q at %d", c.column, c.line, text, mark, c.text, c.mark)
		}
	}
}

// TestFailOn: a level has all above it, a code its own alone.
func TestFailOn(t *testing.T) {
	list := []check.Finding{{Level: "error", Code: "mdx-syntax"}, {Level: "warning", Code: "link-missing"}, {Level: "notice", Code: "alt-missing"}}
	for words, want := range map[string]int{
		"error": 1, "warning": 2, "notice": 3, "none": 0, "alt-missing": 1, "error,alt-missing": 2, "none,link-missing": 1, "page-failed": 0,
	} {
		bar, err := parseFailOn(strings.Split(words, ","))
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if found, ok := errors.AsType[*findingsError](bar.judge(list)); ok {
			got = found.counts.All()
		}
		if got != want {
			t.Errorf("--fail-on %s fails on %d findings, want %d", words, got, want)
		}
	}
	if _, err := parseFailOn([]string{"info"}); err == nil {
		t.Error("there is a level info")
	}
}

// TestWorst: errors come first, notices never, and no more than ten.
func TestWorst(t *testing.T) {
	var list []check.Finding
	for range 8 {
		list = append(list, check.Finding{Level: "notice"}, check.Finding{Level: "warning"}, check.Finding{Level: "error"})
	}
	got := worst(list)
	if len(got) != worstFindings || check.Count(got) != (check.Counts{Errors: 8, Warnings: 2}) || got[0].Level != "error" {
		t.Errorf("the worst are %v", got)
	}
}
