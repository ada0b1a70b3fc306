package sitefolder_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/sitefolder"
)

func TestRulesLeaveOut(t *testing.T) {
	tests := []struct {
		name, ignores, file string
		published, left     string // paths with spaces between
		enters, skips       string // folders
	}{
		{
			name:      "what every site leaves out",
			published: "docs.json index.mdx a/b/c.mdx .well-known/security.txt snippets/.env.mdx snippets/deep/.a.mdx",
			left:      ".env a/.env .git/config .github/a.yml node_modules/a/b.js a/node_modules/b.js README.md a/README.md .mintignore snippets/.env",
			enters:    "a a/b .well-known snippets", skips: ".git a/.git .github node_modules a/node_modules node_modules/x",
		},
		{
			name: "what the author leaves out, or takes back", ignores: "drafts/\n*.draft.mdx\n!guides/README.md\n!.git\n!node_modules/",
			published: "guides/README.md a.mdx node_modules/a.js", left: "drafts/a.mdx a/drafts/b.mdx a/x.draft.mdx README.md .git/config a/.git",
			enters: "guides node_modules", skips: "drafts a/drafts .git a/.git",
		},
		{
			name: "what the author publishes all the same", ignores: "*.key\n", file: "publish:\n  - .env.example\n  - .config/public/*.txt\n  - '*.key'\n",
			published: ".env.example a/.env.example .config/public/a.txt", left: ".env .config/a.txt .config/public/a.bin my.key .config/my.key .git/.env.example",
			enters: ".config .config/public", skips: ".config/other .github .git",
		},
		{
			name: "a pattern for every folder is no reason to look into those that are left out", file: "publish: ['*.txt']",
			published: "a.txt", left: "node_modules/a.txt .hidden/a.txt", enters: "a", skips: "node_modules .hidden",
		},
		{name: "a file of rules that is broken publishes nothing more", file: "publish: [.env", published: "a.mdx", left: ".env"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parsed := sitefolder.ParseRules(test.ignores, test.file)
			read, err := sitefolder.ReadRules(fstest.MapFS{".mintignore": {Data: []byte(test.ignores)}, "bindery.yaml": {Data: []byte(test.file)}})
			if err != nil {
				t.Fatal(err)
			}
			for _, rules := range []*sitefolder.Rules{parsed, read} {
				holds := func(paths string, ask func(string) bool, want bool) {
					t.Helper()
					for p := range strings.FieldsSeq(paths) {
						if ask(p) != want {
							t.Errorf("%s: %v", p, !want)
						}
					}
				}
				holds(test.published, rules.Publishes, true)
				holds(test.left, rules.Publishes, false)
				holds(test.enters, rules.Enters, true)
				holds(test.skips, rules.Enters, false)
			}
		})
	}
	rules, err := sitefolder.ReadRules(fstest.MapFS{})
	if err != nil || !rules.Publishes("docs.json") || rules.Publishes(".env") {
		t.Errorf("a site without files of rules: %v", err)
	}
}

// A file is published where every folder above it is entered: a walk from the root and
// a look at one path agree.
func FuzzRules(f *testing.F) {
	f.Add("a/\n!b", "publish: ['a/*.txt', .x]", "a/b/c.txt")
	f.Add(".*\n!**", "publish: ['**']", ".git/.a/b")
	f.Fuzz(func(t *testing.T, ignores, file, path string) {
		rules := sitefolder.ParseRules(ignores, file)
		if !rules.Publishes(path) {
			return
		}
		for i, c := range path {
			if c == '/' && !rules.Enters(path[:i]) {
				t.Errorf("%q is published and nobody enters %q", path, path[:i])
			}
		}
	})
}

func TestNames(t *testing.T) {
	names, refused := sitefolder.Names([]string{"cafe\u0301.mdx", "a\xff.mdx", "caf\u00e9.mdx", "b/c.mdx"})
	if diff := cmp.Diff([]string{"café.mdx", "a\ufffd.mdx", "", "b/c.mdx"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("café.mdx: another file has the same name in Unicode normal form C", refused.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestConfig(t *testing.T) {
	for name, site := range map[string]bool{"docs.json": true, "mint.json": true, "a/docs.json": false, "index.mdx": false} {
		if got := sitefolder.Config(func(n string) bool { return n == name }) == nil; got != site {
			t.Errorf("a folder with %s is a site: %v", name, got)
		}
	}
}
