package snapshot_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

func TestCheckPath(t *testing.T) {
	tests := []struct {
		path   string
		reason string // part of it; empty: the path is good
	}{
		{"docs.json", ""},
		{"guides/start.mdx", ""},
		{"images/run-with-triggerAndWait().png", ""},
		{"images/sms/new app.png", ""},
		{"日本語/はじめに.mdx", ""},
		{"guides/bindery.mdx", ""},
		{"bindery.yaml", ""},
		{"100%.mdx", ""},
		{"c#.mdx", ""},
		{"company.mdx", ""},
		{"console/com10.mdx", ""},
		{strings.Repeat("a", 255), ""},

		// Names that not every disk can carry get others in the bundle.
		{"a:b", ""},
		{`what?|"<>*\`, ""},
		{"a./b", ""},
		{"sdk/aux.mdx", ""},
		{"a\nb", ""},
		{"a\ufffdb", ""},
		{"bindery.json", ""},
		{strings.Repeat("a", 1000), ""},

		{"", "empty"},
		{"/etc/passwd", "absolute"},
		{"a//b", "empty element"},
		{"a/", "empty element"},
		{"./a", `the element "."`},
		{"a/../b", `the element ".."`},
		{"a\x00b", "zero byte"},
		{"a\xffb", "not UTF-8"},
		{"cafe\u0301.mdx", "normal form C"},
		{strings.Repeat("a/", 2048) + "a", "4096 bytes"},
	}
	for _, test := range tests {
		err := snapshot.CheckPath(test.path)
		switch {
		case test.reason == "" && err != nil:
			t.Errorf("CheckPath(%q): %v", test.path, err)
		case test.reason != "" && (err == nil || !strings.Contains(err.Error(), test.reason)):
			t.Errorf("CheckPath(%q): %v; want a reason with %q", test.path, err, test.reason)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("the message is not one printable line: %q", err)
		}
	}
}

func TestCheckNames(t *testing.T) {
	tests := []struct {
		name  string
		paths []string
		want  []string
	}{
		{"apart", []string{"a.mdx", "b.mdx", "a/b.mdx", "a-b.mdx"}, nil},
		{"folders may differ by case", []string{"Docs/a.mdx", "docs/b.mdx"}, nil},
		{"apart by case alone", []string{"guides/API.mdx", "guides/api.mdx"}, nil},
		{"twice", []string{"a", "a"}, []string{"a: the path appears twice"}},
		{"a file where a folder is needed", []string{"guide", "guide/start/a.mdx"},
			[]string{"guide/start/a.mdx: guide is a file, and this path needs a folder of that name"}},
		{"all faults at once", []string{"z/", "a", "b/../c", "a"},
			[]string{"a: the path appears twice", `b/../c: the path has the element ".."`, "z/: the path has an empty element"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			if err := snapshot.CheckNames(test.paths); err != nil {
				got = strings.Split(err.Error(), "\n")
				var one *snapshot.PathError
				if !errors.As(err, &one) || one.Error() != got[0] {
					t.Errorf("errors.As finds %v, not the first fault", one)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"a/b.mdx", "", "..", "a//b", "CON.txt", "cafe\u0301", "\xff", "bindery", "a\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if snapshot.CheckPath(path) != nil {
			return
		}
		// What is let through can't leave a folder and reads the same everywhere.
		if !utf8.ValidString(path) || len(path) > snapshot.MaxPathBytes || strings.HasPrefix(path, "/") || strings.Contains(path, "\x00") {
			t.Errorf("%q was let through", path)
		}
		for element := range strings.SplitSeq(path, "/") {
			if element == "" || element == "." || element == ".." {
				t.Errorf("%q was let through", path)
			}
		}
	})
}
