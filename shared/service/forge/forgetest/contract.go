package forgetest

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Target is a forge with one repository, made for a test. A Fake is one.
type Target interface {
	Repository() forge.Repository
	Options() forge.Options
	// Write makes a commit as people do; see Fake.Write.
	Write(branch string, files map[string]string) string
	Close(number int)
	Merge(number int)
	// Assigned returns the labels and reviewers of a pull request. The repository has the
	// label Label, and Reviewer may review.
	Assigned(number int) (labels, reviewers []string)
}

// Contract checks what package forge does with a forge. The repository must be
// empty, with the default branch main.
func Contract(t *testing.T, target Target) {
	t.Helper()
	c := &contract{target, target.Repository(), nil}
	f, err := forge.New(target.Options())
	if err != nil {
		t.Fatal(err)
	}
	c.f = f
	if _, err := f.Fetch(t.Context(), c.r, ""); !errors.Is(err, forge.ErrRefNotFound) {
		t.Errorf("an empty repository: %v", err)
	}
	main := target.Write("main", map[string]string{
		"docs.json": "{}", "a/b.mdx": "# B\n", "run.sh+x": "#!/bin/sh\n", "big.bin": strings.Repeat("0123456789abcdef", 1<<17),
	})
	t.Run("files", func(t *testing.T) { c.files(t, main) })
	t.Run("push", func(t *testing.T) { c.push(t, main) })
	if c.r.Kind == forge.Git {
		if _, err := f.OpenPull(t.Context(), c.r, forge.Pull{Head: "a", Base: "main", Title: "x"}); !errors.Is(err, forge.ErrNoPulls) {
			t.Errorf("a pull request on a plain server: %v", err)
		}
	} else {
		t.Run("pull requests", c.pulls)
	}
	t.Run("refusals", c.refusals)
}

type contract struct {
	Target
	r forge.Repository
	f *forge.Forge
}

func (c *contract) fetch(t *testing.T, ref string) *forge.Tree {
	t.Helper()
	tree, err := c.f.Fetch(t.Context(), c.r, ref)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

func (c *contract) files(t *testing.T, main string) {
	tree := c.fetch(t, "")
	if tree.Commit != main || tree.Ref != "main" || tree.DefaultBranch != "main" || tree.Len() != 4 {
		t.Errorf("%s of %s with %d files, want %s", tree.Commit, tree.Ref, tree.Len(), main)
	}
	// A server that can't omit files from a history returns none.
	if log, err := tree.Log(t.Context(), 10); err != nil || len(log) > 0 && log[0].ID != main {
		t.Errorf("the log is %v, %v", log, err)
	}
	big, _ := tree.File("big.bin")
	run, _ := tree.File("run.sh")
	if big.Size != -1 || run.Mode != forge.Executable || run.Size != 10 {
		t.Errorf("%+v, %+v", big, run)
	}
	r, err := tree.Open(t.Context(), "big.bin")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if len(data) != 1<<21 || err != nil || r.Close() != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if byID := c.fetch(t, main); byID.Commit != main {
		t.Errorf("by its id it is %s", byID.Commit)
	}
	if _, err := c.f.Fetch(t.Context(), c.r, "none"); !errors.Is(err, forge.ErrRefNotFound) {
		t.Errorf("a branch that is not there: %v", err)
	}
	if _, err := c.f.Fetch(t.Context(), c.r, strings.Repeat("ab", 20)); !errors.Is(err, forge.ErrRefNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
}

// change makes and pushes a commit of one file, and returns it.
func (c *contract) change(t *testing.T, branch, from, path, content string) *forge.Commit {
	t.Helper()
	made, err := c.f.Commit(t.Context(), c.r, c.fetch(t, from), []forge.Change{{Path: path, Content: []byte(content)}}, forge.Meta{
		Message: "docs: " + path, AuthorName: "Bindery", AuthorEmail: "bindery@example.test", When: time.Unix(1_780_000_000, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	expect := ""
	if at, err := c.f.Branch(t.Context(), c.r, branch); err != nil {
		t.Fatal(err)
	} else if at != "" {
		expect = made.Parent
	}
	for range 2 {
		if err := c.f.Push(t.Context(), c.r, branch, made, expect); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := c.f.Branch(t.Context(), c.r, branch); at != made.ID || err != nil {
		t.Fatalf("%s is at %s, %v; want %s", branch, at, err, made.ID)
	}
	return made
}

func (c *contract) push(t *testing.T, main string) {
	first := c.change(t, "bindery/push", "", "a/new.mdx", "# New\n")
	if first.Parent != main {
		t.Errorf("its parent is %s", first.Parent)
	}
	second := c.change(t, "bindery/push", "bindery/push", "a/b.mdx", "# B2\n")
	if err := c.f.Push(t.Context(), c.r, "bindery/push", first, main); !errors.Is(err, forge.ErrMoved) {
		t.Errorf("an older commit: %v", err)
	}
	if has, err := c.f.Contains(t.Context(), c.r, "bindery/push", first); !has || err != nil {
		t.Errorf("the older commit is below: %t, %v", has, err)
	}
	if has, err := c.f.Contains(t.Context(), c.r, "main", first); has || err != nil {
		t.Errorf("main has it: %t, %v", has, err)
	}
	tree := c.fetch(t, "bindery/push")
	if tree.Commit != second.ID || tree.Len() != 5 {
		t.Errorf("%s with %d files", tree.Commit, tree.Len())
	}
	if big, _ := tree.File("big.bin"); big.Size != -1 {
		t.Errorf("%+v", big)
	}
	if old := c.fetch(t, main); old.Commit != main {
		t.Errorf("by its id the parent is %s", old.Commit)
	}
}

func (c *contract) pulls(t *testing.T) {
	const head = "bindery/pull"
	ctx := t.Context()
	if p, found, err := c.f.FindPull(ctx, c.r, head, "main"); found || err != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	made := c.change(t, head, "main", "pull.mdx", "# Pull\n")
	ask := forge.Pull{Head: head, Base: "main", Title: "Add a page", Body: "Because of\n\n- this", Draft: true}
	p, err := c.f.OpenPull(ctx, c.r, ask)
	if err != nil {
		t.Fatal(err)
	}
	if p.Number <= 0 || p.State != forge.Open || !p.Draft || p.Head != head || p.Base != "main" || !strings.HasPrefix(p.URL, "http") || !strings.HasSuffix(p.Title, "Add a page") || p.HeadCommit != made.ID {
		t.Errorf("%+v", p)
	}
	if again, err := c.f.OpenPull(ctx, c.r, ask); again.Number != p.Number || err != nil {
		t.Errorf("again: %+v, %v", again, err)
	}
	if found, ok, err := c.f.FindPull(ctx, c.r, head, ""); !ok || found.Number != p.Number || err != nil {
		t.Errorf("found: %+v, %v", found, err)
	}
	if _, err := c.f.UpdatePull(ctx, c.r, p.Number, forge.Pull{Title: "Add another page", Body: "So", Draft: true}); err != nil {
		t.Error(err)
	}
	if got, err := c.f.Pull(ctx, c.r, p.Number); !strings.HasSuffix(got.Title, "Add another page") || !got.Draft || err != nil {
		t.Errorf("updated: %+v, %v", got, err)
	}
	if _, err := c.f.Pull(ctx, c.r, 4711); !errors.Is(err, forge.ErrPullNotFound) {
		t.Errorf("one that is not there: %v", err)
	}

	c.assigned(t, p.Number)
	c.ends(t, ask, p)
}

// assigned checks labels and reviewers of a pull request: names that the forge does not
// know are refused one by one, and those that it knows are set, also again.
func (c *contract) assigned(t *testing.T, number int) {
	for range 2 {
		refused, err := c.f.AssignPull(t.Context(), c.r, number, forge.Assignment{Labels: []string{Label}, Reviewers: []string{"nobody-of-that-name", Reviewer}})
		if err != nil || len(refused) != 1 || !strings.HasPrefix(refused[0], `reviewer "nobody-of-that-name": `) || strings.HasSuffix(refused[0], ": ") {
			t.Errorf("refused: %q, %v", refused, err)
		}
	}
	if labels, reviewers := c.Assigned(number); !slices.Equal(labels, []string{Label}) || !slices.Equal(reviewers, []string{Reviewer}) {
		t.Errorf("labels %q, reviewers %q", labels, reviewers)
	}
	none := forge.Assignment{Labels: []string{Label}}
	if refused, err := c.f.AssignPull(t.Context(), c.r, 4711, none); err != nil || len(refused) != 1 {
		t.Errorf("of a pull request that is not there: %q, %v", refused, err)
	}
}

// ends checks pull requests that people close or merge, after which the branch may
// have another.
func (c *contract) ends(t *testing.T, ask forge.Pull, p forge.PullRequest) {
	ctx, head := t.Context(), ask.Head
	c.Close(p.Number)
	if got, err := c.f.Pull(ctx, c.r, p.Number); got.State != forge.Closed || err != nil {
		t.Errorf("closed: %+v, %v", got, err)
	}
	if got, ok, err := c.f.FindPull(ctx, c.r, head, "main"); !ok || got.State != forge.Closed || err != nil {
		t.Errorf("closed: %+v, %v", got, err)
	}
	ask.Draft = false
	second, err := c.f.OpenPull(ctx, c.r, ask)
	if err != nil || second.Number == p.Number || second.Draft {
		t.Fatalf("%+v, %v", second, err)
	}
	c.Merge(second.Number)
	if got, err := c.f.Pull(ctx, c.r, second.Number); got.State != forge.Merged || err != nil {
		t.Errorf("merged: %+v, %v", got, err)
	}
	if _, err := c.f.OpenPull(ctx, c.r, forge.Pull{Head: "none", Base: "main", Title: "x"}); !errors.Is(err, forge.ErrPullRefused) {
		t.Errorf("of no branch: %v", err)
	}
}

func (c *contract) refusals(t *testing.T) {
	other := c.r
	other.URL = strings.Replace(c.r.URL, "/docs", "/none", 1)
	if _, err := c.f.Fetch(t.Context(), other, ""); !errors.Is(err, forge.ErrNotFound) && !errors.Is(err, forge.ErrCredential) {
		t.Errorf("no repository: %v", err)
	}
	o := c.Options()
	o.Credentials = forge.Static(forge.Credential{Username: "bindery", Token: "wrong-s3cr3t"})
	f, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, forge.ErrCredential) {
			t.Errorf("%s with a wrong token: %v", what, err)
		} else if strings.Contains(err.Error(), "wrong-s3cr3t") {
			t.Errorf("%s names the token: %v", what, err)
		}
	}
	tree := c.fetch(t, "main")
	made, err := f.Commit(t.Context(), c.r, tree, []forge.Change{{Path: "x.mdx", Content: []byte("x")}}, forge.Meta{Message: "x", When: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Fetch(t.Context(), c.r, "")
	check("a fetch", err)
	check("a push", f.Push(t.Context(), c.r, "bindery/x", made, ""))
	if c.r.Kind != forge.Git {
		_, err = f.OpenPull(t.Context(), c.r, forge.Pull{Head: "bindery/pull", Base: "main", Title: "x"})
		check("a pull request", err)
		_, err = f.Pull(t.Context(), c.r, 1)
		check("reading one", err)
	}
}
