package filename_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/filename"
)

func TestPortable(t *testing.T) {
	long := strings.Repeat("a", 260)
	tests := []struct{ path, want string }{
		{"docs.json", "docs.json"},
		{"日本語/はじめに", "日本語/はじめに"},
		{"guides/company", "guides/company"},
		{"a/.well-known/x", "a/.well-known/x"},

		{"notes/16:30", "notes/16-30"},
		{"Dashboard>Applications.png", "Dashboard-Applications.png"},
		{`what?|a\b"c"<d>*.png`, "what--a-b-c--d--.png"},
		{"a.../n", "a---/n"},
		{"a /b.", "a-/b-"},
		{"a\x00b\nc\u0085d", "a-b-c-d"},
		{"a\xffb", "a-b"},
		{"a\ufffdb", "a-b"},
		{"cafe\u0301", "caf\u00e9"},

		{"con", "con-"},
		{"aux/NUL.txt", "aux-/NUL-.txt"},
		{"lpt².tar.gz", "lpt²-.tar.gz"},
		{"nul .txt", "nul -.txt"},
		{"con:", "con-"},
		{"con.", "con-"},
		{"a//b", "a/b"},
		{"/", "-"},

		{long, strings.Repeat("a", 231) + "-2f1f67b3"},
		{long + ".png", strings.Repeat("a", 227) + "-b35ed2c1.png"},
		{strings.Repeat("é", 130), strings.Repeat("é", 115) + "-00e4e93a"},
		{strings.Repeat("long/", 300) + "b", "long-" + "ea8e4a0a" + "/b"},
	}
	for _, test := range tests {
		got := filename.Portable(test.path, filename.Page)
		if !sameMark(got, test.want) {
			t.Errorf("Portable(%.40q) = %q, want %q", test.path, got, test.want)
		}
		if reason := filename.Fault(got, filename.Page); reason != "" {
			t.Errorf("Portable(%.40q) = %q: %s", test.path, got, reason)
		}
	}
}

// sameMark compares names without the digits of a digest, which say nothing to readers.
func sameMark(got, want string) bool {
	blank := func(s string) string {
		i := strings.LastIndexByte(s, '-')
		if i < 0 || len(s) < i+9 || strings.Trim(s[i+1:i+9], "0123456789abcdef") != "" {
			return s
		}
		return s[:i+1] + s[i+9:]
	}
	return blank(got) == blank(want)
}

func TestNumbered(t *testing.T) {
	taken := map[string]bool{"a/x.png": true, "a/x-2.png": true, "v1.2": true}
	is := func(p string) bool { return taken[p] }
	tests := []struct {
		path string
		page bool
		want string
	}{
		{"free.png", false, "free.png"},
		{"a/x.png", false, "a/x-3.png"},
		{"v1.2", true, "v1.2-2"},
	}
	for _, test := range tests {
		if got := filename.Numbered(test.path, test.page, is); got != test.want {
			t.Errorf("Numbered(%q) = %q, want %q", test.path, got, test.want)
		}
	}
}

func FuzzPortable(f *testing.F) {
	for _, seed := range []string{"a/b.mdx", "", "..", "a//b", "CON.txt", "con .", "cafe\u0301", "\xff", "a\u2028", "a...", " . ", "com1:.x", strings.Repeat("ü", 500)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		for _, suffix := range []string{"", filename.Compressed, filename.Page} {
			got := filename.Portable(p, suffix)
			if reason := filename.Fault(got, suffix); reason != "" {
				t.Errorf("Portable(%q, %q) = %q: %s", p, suffix, got, reason)
			}
			if again := filename.Portable(got, suffix); again != got {
				t.Errorf("Portable(%q) = %q, and of that %q", p, got, again)
			}
			if filename.Fault(p, suffix) == "" && got != p {
				t.Errorf("Portable(%q) = %q, though it was good", p, got)
			}
		}
	})
}
