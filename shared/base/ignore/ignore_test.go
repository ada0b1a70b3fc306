package ignore_test

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/base/ignore"
)

func TestMatch(t *testing.T) {
	const hidden = ".*\n!snippets/**/.*.mdx\n!_snippets/**/.*.mdx\n"
	tests := []struct {
		rules   string
		path    string
		dir     bool
		ignored bool
	}{
		{"", "a.mdx", false, false},
		{"# drafts\n\n", "drafts", true, false},
		{hidden, ".env", false, true},
		{hidden, "snippets/.env", false, true},
		{hidden, "snippets/.env.mdx", false, false},
		{hidden, "_snippets/a/.env.v2.mdx", false, false},
		{"a.mdx", "a.mdx", false, true},
		{"a.mdx", "deep/er/a.mdx", false, true},
		{"a.mdx", "a.mdx", true, true},
		{"/a.mdx", "a.mdx", false, true},
		{"/a.mdx", "deep/a.mdx", false, false},
		{"drafts/", "drafts", true, true},
		{"drafts/", "guides/drafts", true, true},
		{"drafts/", "drafts", false, false},
		{"guides/drafts", "guides/drafts", true, true},
		{"guides/drafts", "x/guides/drafts", true, false},
		{"*.draft.mdx", "x/y.draft.mdx", false, true},
		{"*.draft.mdx", "x/y.mdx", false, false},
		{"docs/*.txt", "docs/a.txt", false, true},
		{"docs/*.txt", "docs/sub/a.txt", false, false},
		{"**/foo/bar", "a/b/foo/bar", false, true},
		{"**/foo/bar", "foo/bar", false, true},
		{"abc/**", "abc/x/y", false, true},
		{"abc/**", "abc", true, false},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**/b", "a/x/y/c", false, false},
		{"a/**/**/b", "a/b", false, true},
		{"a/**/b/**/c", "a/x/b/c/b/y/c", false, true},
		{"?.mdx", "a.mdx", false, true},
		{"?.mdx", "ab.mdx", false, false},
		{"[a-c].mdx", "b.mdx", false, true},
		{"[!a-c].mdx", "b.mdx", false, false},
		{"[!a-c].mdx", "d.mdx", false, true},
		{"*.mdx\n!keep.mdx", "keep.mdx", false, false},
		{"*.mdx\n!keep.mdx", "other.mdx", false, true},
		{"!keep.mdx\n*.mdx", "keep.mdx", false, true},
		{`\#a`, "#a", false, true},
		{`\!a`, "!a", false, true},
		{"a   ", "a", false, true},
		{`a\ `, "a ", false, true},
		{"a\r\nb\r\n", "a", false, true},
		{"[", "[", false, false}, // no pattern
		{"/", "a", true, false},
		{"**", "a/b", false, true},
		{"a.mdx", "a_mdx", false, false},
		{"Ü*", "Über.mdx", false, true},
	}
	for _, test := range tests {
		if got := ignore.Parse(test.rules).Match(test.path, test.dir); got != test.ignored {
			t.Errorf("%q on %q (folder: %v): %v", test.rules, test.path, test.dir, got)
		}
	}
}

func TestSelects(t *testing.T) {
	rules := ignore.Parse("downloads/\n*.key\n!public.key\n.env.example\n.config/public/*.txt\n")
	for path, want := range map[string]bool{
		"downloads/a/b.bin": true, "a/downloads/b": true, "downloads": false, "a.key": true, "public.key": false, "x/y.key": true,
		".env.example": true, ".env": false, ".config/public/a.txt": true, ".config/a.txt": false,
	} {
		if got := rules.Selects(path); got != want {
			t.Errorf("Selects(%q) = %v", path, got)
		}
	}
	for dir, want := range map[string]bool{".config": true, ".config/public": true, ".git": false, "node_modules": false, "downloads": true} {
		if got := rules.Below(dir); got != want {
			t.Errorf("Below(%q) = %v", dir, got)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("a/**/b\n!*.mdx\n[", "a/x/b")
	f.Add(`\`, "a")
	f.Fuzz(func(t *testing.T, rules, path string) {
		parsed := ignore.Parse(rules)
		parsed.Below(path)
		if ignore.Parse(rules+"\n!**").Match(path, false) {
			t.Errorf("%q selects %q though all is taken back", rules, path)
		}
		if parsed.Match(path, false) && !parsed.Selects(path) {
			t.Errorf("%q selects %q by itself only", rules, path)
		}
	})
}
