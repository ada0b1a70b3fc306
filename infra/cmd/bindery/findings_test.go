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
	list := []check.Finding{{Level: "error", Code: "mdx-syntax"}, {Level: "warning", Code: "link-missing"}, {Level: "notice", Code: "alt-missing"}, {Level: "info", Code: "page-unlisted"}}
	for words, want := range map[string]int{
		"error": 1, "warning": 2, "notice": 3, "info": 4, "page-unlisted": 1, "none": 0, "alt-missing": 1, "error,alt-missing": 2, "none,link-missing": 1, "page-failed": 0,
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
	if _, err := parseFailOn([]string{"debug"}); err == nil {
		t.Error("there is a level debug")
	}
}

// TestWorst: errors come first, notices never, one of each cause, and no more than
// ten.
func TestWorst(t *testing.T) {
	var list []check.Finding
	for i := range 8 {
		message := strings.Repeat("x", i)
		for range 5 {
			list = append(list, check.Finding{Level: "notice"}, check.Finding{Level: "warning", Message: message}, check.Finding{Level: "error", Message: message})
		}
	}
	got := worst(list)
	var c check.Counts
	for _, g := range got {
		if g.Times != 5 {
			t.Errorf("%v is counted %d times", g.Finding, g.Times)
		}
		n := check.Count([]check.Finding{g.Finding})
		c.Errors, c.Warnings, c.Notices = c.Errors+n.Errors, c.Warnings+n.Warnings, c.Notices+n.Notices
	}
	if len(got) != worstFindings || c != (check.Counts{Errors: 8, Warnings: 2}) || got[0].Level != "error" {
		t.Errorf("the worst are %v", got)
	}
}

// Of a cause that occurs often, the first place and the number are shown; what no
// author can change is one line, unless it is asked for.
func TestReportsAreShort(t *testing.T) {
	var list []check.Finding
	for i := range 5443 {
		list = append(list, check.Finding{Level: "warning", Code: "script-failed", File: "b.mdx", Line: i + 1, Message: "it has no type"})
	}
	for i := range 3 {
		list = append(list, check.Finding{Level: "error", Code: "api-missing", File: "a.mdx", Line: i + 1, Message: "there is none"})
	}
	list = append(list, check.Finding{Level: "info", Code: "feature-unset", File: "docs.json", Message: "no service"}, check.Finding{Level: "notice", Code: "alt-missing", File: "c.mdx", Message: "no text"})
	const shown = `a.mdx
  1:1      error    there is none (api-missing)
  2:1      error    there is none (api-missing)
  3:1      error    there is none (api-missing)

b.mdx
  1:1      warning  it has no type: 5,443 times, first here (script-failed)

c.mdx
  -        notice   no text (alt-missing)

`
	for _, c := range []struct {
		verbose bool
		info    int
		want    string
	}{
		{false, 1, shown},
		{true, 0, shown + `docs.json
  -        info     no service (feature-unset)

`},
	} {
		var out strings.Builder
		a := &app{verbose: c.verbose}
		shown, info := a.mendable(list)
		a.showFindings(&out, &out, shown, noSource)
		if out.String() != c.want || info != c.info {
			t.Errorf("%d for information alone, and\n%s", info, out.String())
		}
	}
	if got, want := summary(list, check.Count(list), 100), "3 errors, 5,443 warnings, 1 notice; 98% of pages without error or warning"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	two := append(list, check.Finding{Level: "warning", Code: "link-missing", File: "b.mdx"})
	if got, want := summary(two, check.Count(two), 100), "3 errors, 5,444 warnings of 2 kinds, 1 notice; 98% of pages without error or warning"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got, want := summary(nil, check.Counts{}, 100), "0 errors, 0 warnings, 0 notices"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
}
