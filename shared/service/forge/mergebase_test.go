package forge_test

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// The merge base is the one that Git finds.
func TestMergeBase(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f *forgetest.Fake, main string) (want string)
	}{
		{"a branch with commits", func(f *forgetest.Fake, main string) string {
			f.Write("topic", map[string]string{"b.md": "b"})
			f.Write("topic", map[string]string{"c.md": "c"})
			return main
		}},
		{"both have commits", func(f *forgetest.Fake, main string) string {
			f.Write("topic", map[string]string{"b.md": "b"})
			f.Write("main", map[string]string{"c.md": "c"})
			return main
		}},
		{"nothing on the branch", func(f *forgetest.Fake, main string) string { return main }},
		{"an older commit of the base", func(f *forgetest.Fake, main string) string {
			f.Write("main", map[string]string{"c.md": "c"})
			return main
		}},
		{"the base was merged into the branch", func(f *forgetest.Fake, main string) string {
			f.Write("topic", map[string]string{"b.md": "b"})
			f.Write("main", map[string]string{"c.md": "c"})
			f.MergeBranch("topic", f.Branch("main"))
			f.Write("topic", map[string]string{"d.md": "d"})
			merged := f.Branch("main")
			f.Write("main", map[string]string{"e.md": "e"})
			return merged
		}},
		{"the branch was merged", func(f *forgetest.Fake, main string) string {
			at := f.Write("topic", map[string]string{"b.md": "b"})
			f.MergeBranch("main", at)
			return at
		}},
		{"no such branch", func(f *forgetest.Fake, main string) string { f.DeleteBranch("topic"); return "" }},
		{"nothing in common", func(f *forgetest.Fake, main string) string {
			f.DeleteBranch("topic")
			f.Write("topic", map[string]string{"b.md": "b"})
			return ""
		}},
	} {
		for _, set := range []func(*forgetest.Fake){
			func(*forgetest.Fake) {}, (*forgetest.Fake).OnlyTips, func(f *forgetest.Fake) { f.Configure("uploadpack.allowFilter", "false") },
		} {
			t.Run(c.name, func(t *testing.T) {
				f := forgetest.New(t)
				f.Write("main", map[string]string{"a.md": "a"})
				main := f.Write("main", map[string]string{"a.md": "a2"})
				f.Copy("topic", "main")
				set(f)
				want := c.do(f, main)
				got, err := f.Forge().MergeBase(t.Context(), f.Repository(), "topic", "main")
				if err != nil || got != want {
					t.Errorf("the merge base is %q, want %q; %v", got, want, err)
				}
			})
		}
	}
}

// A draft becomes ready and a draft again, on every forge, and its title has no mark.
func TestDrafts(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    forge.Kind
		options []forgetest.Option
		people  func(p *forgetest.Pull) // what they change before
		failure *forgetest.Failure      // of the mutation
		draft   bool                    // what is asked for
		want    string                  // title at the forge
		is      bool                    // whether it is a draft there
		ready   bool                    // what the result says, the opposite of its Draft
	}{
		{name: "GitHub, ready", kind: forge.GitHub, want: "Add a page", ready: true},
		{name: "GitHub, still a draft", kind: forge.GitHub, draft: true, want: "Add a page", is: true},
		{name: "GitHub, ready already", kind: forge.GitHub, people: func(p *forgetest.Pull) { p.Draft = false }, want: "Add a page", ready: true},
		{name: "GitHub, a draft again", kind: forge.GitHub, people: func(p *forgetest.Pull) { p.Draft = false }, draft: true, want: "Add a page", is: true},
		{name: "GitHub without drafts", kind: forge.GitHub, options: []forgetest.Option{forgetest.NoDrafts()}, draft: true, want: "Draft: Add a page"},
		{name: "GitHub without drafts, ready", kind: forge.GitHub, options: []forgetest.Option{forgetest.NoDrafts()}, want: "Add a page", ready: true},
		{name: "GitHub refuses", kind: forge.GitHub, failure: status(403, "no"), want: "Add a page", is: true},
		{name: "GitHub refuses in its answer", kind: forge.GitHub, failure: status(200, `{"errors":[{"type":"FORBIDDEN","message":"no"}]}`, "Content-Type", "application/json"), want: "Add a page", is: true},
		{name: "GitLab, ready", kind: forge.GitLab, want: "Add a page", ready: true},
		{name: "GitLab, a draft", kind: forge.GitLab, draft: true, want: "Draft: Add a page", is: true},
		{name: "Gitea, ready", kind: forge.Gitea, want: "Add a page", ready: true},
		{name: "Gitea, a draft", kind: forge.Gitea, draft: true, want: "WIP: Add a page", is: true},
		{name: "Forgejo, with people's mark", kind: forge.Forgejo, people: func(p *forgetest.Pull) { p.Title = "wip:Add a page" }, want: "Add a page", ready: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := forgetest.New(t, append(c.options, forgetest.Dialect(c.kind))...)
			fake.Write("main", map[string]string{"a.md": "a"})
			fake.Write("bindery/1", map[string]string{"b.md": "b"})
			f, r := fake.Forge(), fake.Repository()
			p, err := f.OpenPull(t.Context(), r, forge.Pull{Head: "bindery/1", Base: "main", Title: "Add a page", Body: "So", Draft: true})
			if err != nil || !p.Draft || p.Title != "Add a page" || p.Body != "So" {
				t.Fatalf("%+v, %v", p, err)
			}
			if c.people != nil {
				fake.Edit(p.Number, c.people)
			}
			if c.failure != nil {
				fake.FailAlways(forgetest.DraftPull, *c.failure)
			}
			p, err = f.UpdatePull(t.Context(), r, p.Number, forge.Pull{Title: p.Title, Draft: c.draft})
			if is := fake.Pulls()[0]; err != nil || is.Title != c.want || is.Draft != c.is || is.Body != "So" {
				t.Errorf("the forge has %+v, %v", is, err)
			}
			if p.Title != "Add a page" || p.Draft == c.ready {
				t.Errorf("the result is %+v", p)
			}
			if found, _, err := f.FindPull(t.Context(), r, "bindery/1", "main"); err != nil || found != p {
				t.Errorf("found %+v, %v; the result was %+v", found, err, p)
			}
		})
	}
}

// status is a failure of a call of the forge.
func status(code int, body string, header ...string) *forgetest.Failure {
	f := forgetest.Status(code, body, header...)
	return &f
}

// The page of a file is where each forge shows it.
func TestFileURL(t *testing.T) {
	for kind, want := range map[forge.Kind]string{
		forge.GitHub:  "https://git.example.com/acme/docs/blob/c1/a%20b/c%23.mdx",
		forge.GitLab:  "https://git.example.com/acme/docs/-/blob/c1/a%20b/c%23.mdx",
		forge.Gitea:   "https://git.example.com/acme/docs/src/commit/c1/a%20b/c%23.mdx",
		forge.Forgejo: "https://git.example.com/acme/docs/src/commit/c1/a%20b/c%23.mdx",
		forge.Git:     "",
	} {
		r, err := forge.ParseRepository("https://git.example.com/acme/docs", kind, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.FileURL("c1", "a b/c#.mdx"); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
