package client

import "testing"

func TestIgnoreRules(t *testing.T) {
	tests := []struct {
		rules   string
		path    string
		dir     bool
		ignored bool
	}{
		{"", "a.mdx", false, false},
		{"# drafts\n\n", "drafts", true, false},
		{defaultIgnores, ".env", false, true},
		{defaultIgnores, "snippets/.env", false, true},
		{defaultIgnores, "snippets/.env.mdx", false, false},
		{defaultIgnores, "_snippets/a/.env.v2.mdx", false, false},
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
		if got := parseIgnores(test.rules).match(test.path, test.dir); got != test.ignored {
			t.Errorf("%q on %q (folder: %v): %v", test.rules, test.path, test.dir, got)
		}
	}
}

func FuzzIgnoreRules(f *testing.F) {
	f.Add("a/**/b\n!*.mdx\n[", "a/x/b")
	f.Add(`\`, "a")
	f.Fuzz(func(t *testing.T, rules, path string) {
		parsed := parseIgnores(rules)
		// A rule that names nothing but what it takes back ignores nothing.
		if len(parsed) > 0 && parsed[len(parsed)-1].negated == false && parsed.match(path, true) {
			return
		}
		if parseIgnores(rules+"\n!**").match(path, false) {
			t.Errorf("%q ignores %q though all is taken back", rules, path)
		}
	})
}
