package forge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

var meta = forge.Meta{Message: "docs: x\n\nwhy", AuthorName: "Bindery", AuthorEmail: "bot@example.test", When: time.Unix(1_780_000_000, 0)}

func fetch(t *testing.T, f *forge.Forge, r forge.Repository, ref string) *forge.Tree {
	t.Helper()
	tree, err := f.Fetch(t.Context(), r, ref)
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

func read(t *testing.T, tree *forge.Tree, path string) string {
	t.Helper()
	r, err := tree.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func paths(tree *forge.Tree) string {
	var list []string
	for f := range tree.Files() {
		list = append(list, f.Path)
	}
	return strings.Join(list, " ")
}

func TestFetch(t *testing.T) {
	fake := forgetest.New(t, forgetest.Dialect(forge.Git))
	big := strings.Repeat("0123456789abcdef", 1<<17)
	first := fake.Write("main", map[string]string{"docs.json": "{}", "a/b.mdx": "# B\n", "a.mdx": "# A\n", "run.sh+x": "#!/bin/sh\n", "link@": "a.mdx", "big.bin": big})
	fake.Tag("v1", "main", "")
	fake.Tag("v1a", "main", "the first")
	second := fake.Write("main", map[string]string{"a.mdx": "# A2\n"})
	fake.Write("next", map[string]string{"n.mdx": "# N\n"})
	f := fake.Forge()
	for ref, want := range map[string]string{"": second, "main": second, "refs/heads/main": second, "v1": first, "v1a": first, "refs/tags/v1a": first, second: second, first: first} {
		tree := fetch(t, f, fake.Repository(), ref)
		if tree.Commit != want || tree.DefaultBranch != "main" {
			t.Errorf("%q is %s on %s, want %s", ref, tree.Commit, tree.DefaultBranch, want)
		}
		if got := paths(tree); got != "a.mdx a/b.mdx big.bin docs.json link run.sh" {
			t.Errorf("%q has %s", ref, got)
		}
	}
	tree := fetch(t, f, fake.Repository(), "")
	if tree.Ref != "main" {
		t.Errorf("the default branch is %q", tree.Ref)
	}
	for path, want := range map[string]forge.File{
		"a.mdx": {Mode: forge.Regular, Size: 5}, "run.sh": {Mode: forge.Executable, Size: 10}, "link": {Mode: forge.Symlink, Size: 5},
		"big.bin": {Mode: forge.Regular, Size: -1},
	} {
		got, ok := tree.File(path)
		if !ok || got.Mode != want.Mode || got.Size != want.Size || len(got.ID) != 40 {
			t.Errorf("%s is %+v", path, got)
		}
	}
	if got := read(t, tree, "a.mdx"); got != "# A2\n" {
		t.Errorf("a.mdx is %q", got)
	}
	if got := read(t, tree, "link"); got != "a.mdx" {
		t.Errorf("link is %q", got)
	}
	before := fake.Count(forgetest.Fetch)
	if got := read(t, tree, "big.bin"); got != big {
		t.Errorf("big.bin has %d bytes", len(got))
	}
	if got := read(t, tree, "big.bin"); got != big || fake.Count(forgetest.Fetch) != before+1 {
		t.Error("a file that was left out should be fetched once")
	}
	if _, err := tree.Open(t.Context(), "none"); !errors.Is(err, forge.ErrPath) {
		t.Errorf("none: %v", err)
	}
	for ref, want := range map[string]*forge.Error{"none": forge.ErrRefNotFound, "docs.json": forge.ErrRefNotFound, strings.Repeat("ab", 20): forge.ErrRefNotFound} {
		if _, err := f.Fetch(t.Context(), fake.Repository(), ref); !errors.Is(err, want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Where a server returns only commits that a branch or tag is at, others are found
// in the history of branches that are named, near and far.
func TestFetchBelow(t *testing.T) {
	fake := forgetest.New(t, forgetest.Dialect(forge.Git))
	fake.OnlyTips()
	f, r := fake.Forge(), fake.Repository()
	var commits []string
	for n := range 70 {
		commits = append(commits, fake.Write("main", map[string]string{"a.mdx": fmt.Sprintf("# A%d\n", n)}))
	}
	fake.Tag("v1", "main", "the first")
	fake.Write("side", map[string]string{"b.mdx": "# B\n"})
	fake.Write("main", map[string]string{"a.mdx": "# A\n"})
	for _, c := range []struct {
		n       int
		from    []string
		fetches int // beside the one that is refused; 0 where the commit is not found
	}{
		{69, []string{"gone", "main"}, 1}, {68, []string{"main"}, 2}, {68, []string{"v1"}, 1}, {10, []string{"side", "main"}, 2}, {0, []string{"refs/heads/main"}, 3},
		{69, []string{"side"}, 0}, {69, nil, 0},
	} {
		before := fake.Count(forgetest.Fetch)
		tree, err := f.Fetch(t.Context(), r, commits[c.n], c.from...)
		if c.fetches == 0 {
			if !errors.Is(err, forge.ErrRefNotFound) {
				t.Errorf("%d from %q: %v", c.n, c.from, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d from %q: %v", c.n, c.from, err)
		}
		if got, want := read(t, tree, "a.mdx"), fmt.Sprintf("# A%d\n", c.n); tree.Commit != commits[c.n] || got != want || tree.Len() != 1 {
			t.Errorf("%d from %q is %s with %q", c.n, c.from, tree.Commit, got)
		}
		if got := fake.Count(forgetest.Fetch) - before - 1; got != c.fetches {
			t.Errorf("%d from %q took %d fetches, want %d", c.n, c.from, got, c.fetches)
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What was fetched is removed, with an error too.
func TestNothingStays(t *testing.T) {
	fake := forgetest.New(t)
	fake.Write("main", map[string]string{"a.mdx": "# A\n"})
	o := fake.Options()
	f, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := f.Fetch(t.Context(), fake.Repository(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tree.Close(), tree.Close()); err != nil {
		t.Error(err)
	}
	if _, err := tree.Open(t.Context(), "a.mdx"); err == nil {
		t.Error("a tree that is closed has files")
	}
	fake.FailAlways(forgetest.Fetch, forgetest.Kill())
	if _, err := f.Fetch(t.Context(), fake.Repository(), ""); !errors.Is(err, forge.ErrUnreachable) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Fetch(ctx, fake.Repository(), ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	list, err := os.ReadDir(o.TempDir)
	if err != nil || len(list) > 0 {
		t.Errorf("%v stays, %v", list, err)
	}
}

func commit(t *testing.T, f *forge.Forge, base *forge.Tree, changes ...forge.Change) *forge.Commit {
	t.Helper()
	c, err := f.Commit(t.Context(), base.Repository, base, changes, meta)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPush(t *testing.T) {
	fake := forgetest.New(t, forgetest.Dialect(forge.Git))
	fake.Write("main", map[string]string{"docs.json": "{}", "a/b.mdx": "# B\n", "a/c.mdx": "# C\n", "z/only.mdx": "# Z\n", "run.sh+x": "#!/bin/sh\n", "link@": "a.mdx", "big.bin": strings.Repeat("x", 2<<20)})
	f, r := fake.Forge(), fake.Repository()
	base := fetch(t, f, r, "")
	changes := []forge.Change{
		{Path: "a/b.mdx", Content: []byte("# B2\n")}, {Path: "new/deep/page.mdx", Content: []byte("# New\n")}, {Path: "z/only.mdx", Delete: true},
		{Path: "run.sh", Content: []byte("#!/bin/sh\nexit\n")}, {Path: "tool.sh", Content: []byte("#!"), Executable: true},
	}
	c := commit(t, f, base, changes...)
	again := commit(t, f, fetch(t, f, r, base.Commit), changes...)
	if c.ID != again.ID || c.Parent != base.Commit {
		t.Errorf("%s on %s, then %s", c.ID, c.Parent, again.ID)
	}
	for range 2 { // a repeated push is a success
		if err := f.Push(t.Context(), r, "bindery/1", c, ""); err != nil {
			t.Fatal(err)
		}
	}
	if fake.Count(forgetest.Push) != 1 {
		t.Errorf("%d pushes", fake.Count(forgetest.Push))
	}
	files := fake.Files("bindery/1")
	if files["a/b.mdx"] != "# B2\n" || files["new/deep/page.mdx"] != "# New\n" || len(files["big.bin"]) != 2<<20 || files["link"] != "a.mdx" || len(files) != 8 {
		t.Errorf("%d files: %.300v", len(files), files)
	}
	if _, ok := files["z/only.mdx"]; ok {
		t.Error("a deleted file is there")
	}
	got := fake.Commits("bindery/1")
	if len(got) != 2 || got[0].ID != c.ID || got[0].Author != "Bindery <bot@example.test>" || got[0].Message != "docs: x\n\nwhy" || got[0].AuthoredUnix != 1_780_000_000 {
		t.Errorf("%+v", got)
	}
	tree := fetch(t, f, r, "bindery/1")
	for path, mode := range map[string]forge.Mode{"run.sh": forge.Executable, "tool.sh": forge.Executable, "a/b.mdx": forge.Regular, "link": forge.Symlink} {
		if file, _ := tree.File(path); file.Mode != mode {
			t.Errorf("%s is %s", path, file.Mode)
		}
	}
	if at, err := f.Branch(t.Context(), r, "bindery/1"); at != c.ID || err != nil {
		t.Error(at, err)
	}
	if at, err := f.Branch(t.Context(), r, "none"); at != "" || err != nil {
		t.Error(at, err)
	}
}

// A next round goes on from the branch, and from there alone; people's commits
// are never lost.
func TestPushNeverForces(t *testing.T) {
	fake := forgetest.New(t, forgetest.Dialect(forge.Git))
	fake.Write("main", map[string]string{"a/b.mdx": "# B\n", "a/c.mdx": "# C\n"})
	f, r := fake.Forge(), fake.Repository()
	base := fetch(t, f, r, "")
	c := commit(t, f, base, forge.Change{Path: "a/b.mdx", Content: []byte("# B2\n")})
	if err := f.Push(t.Context(), r, "bindery/1", c, ""); err != nil {
		t.Fatal(err)
	}
	tree := fetch(t, f, r, "bindery/1")
	next := commit(t, f, tree, forge.Change{Path: "a/c.mdx", Content: []byte("# C2\n")})
	if err := f.Push(t.Context(), r, "bindery/1", next, ""); !errors.Is(err, forge.ErrMoved) {
		t.Errorf("on a branch that should not be: %v", err)
	}
	if err := f.Push(t.Context(), r, "bindery/1", next, base.Commit); err == nil {
		t.Error("a push that would lose a commit is not refused")
	}
	if err := f.Push(t.Context(), r, "bindery/1", next, c.ID); err != nil {
		t.Error(err)
	}
	people := fake.Write("bindery/1", map[string]string{"people.mdx": "# P\n"})
	third := commit(t, f, fetch(t, f, r, next.ID), forge.Change{Path: "a/c.mdx", Content: []byte("# C3\n")})
	if err := f.Push(t.Context(), r, "bindery/1", third, next.ID); !errors.Is(err, forge.ErrMoved) || fake.Branch("bindery/1") != people {
		t.Errorf("people's commit: %v", err)
	}
	fake.DeleteBranch("bindery/1")
	if err := f.Push(t.Context(), r, "bindery/1", third, next.ID); !errors.Is(err, forge.ErrMoved) || fake.Branch("bindery/1") != "" {
		t.Errorf("a deleted branch: %v", err)
	}
	fake.Protect("main")
	if err := f.Push(t.Context(), r, "main", c, base.Commit); !errors.Is(err, forge.ErrDenied) || fake.Branch("main") != base.Commit {
		t.Errorf("a protected branch: %v", err)
	}
	fake.ReadOnly()
	if err := f.Push(t.Context(), r, "bindery/2", c, ""); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a token that may only read: %v", err)
	}
}

// A repository that was renamed is found at its old address, on the same host; and
// an address without a Git repository is reported as such.
func TestAddresses(t *testing.T) {
	fake := forgetest.New(t, forgetest.Dialect(forge.Git))
	main := fake.Write("main", map[string]string{"a.mdx": "# A\n"})
	target, err := url.Parse(fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path, ok := strings.CutPrefix(r.URL.Path, "/old/docs.git/"); {
		case ok:
			http.Redirect(w, r, "/acme/docs.git/"+path+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/page/"):
			w.Header().Set("Content-Type", "text/html")
		case strings.HasPrefix(r.URL.Path, "/away/"):
			http.Redirect(w, r, fake.URL+"/acme/docs.git/info/refs?"+r.URL.RawQuery, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/odd/"):
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000zzzz")
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := fake.Options()
	o.AllowPrivate, o.Retry.Attempts = append(o.AllowPrivate, u.Host), 1
	f, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) forge.Repository {
		return forge.Repository{Kind: forge.Git, URL: server.URL + "/" + name + "/docs.git"}
	}
	tree := fetch(t, f, at("old"), "")
	if tree.Commit != main {
		t.Errorf("%s, want %s", tree.Commit, main)
	}
	if err := f.Push(t.Context(), at("old"), "b", commit(t, f, tree, forge.Change{Path: "b.mdx", Content: []byte("# B\n")}), ""); err != nil {
		t.Error(err)
	}
	before := fake.Count(forgetest.Refs)
	for name, want := range map[string]*forge.Error{"page": forge.ErrNotFound, "away": forge.ErrUnreachable, "odd": forge.ErrUnreachable, "none": forge.ErrNotFound} {
		if _, err := f.Fetch(t.Context(), at(name), ""); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := fake.Count(forgetest.Refs); got != before+1 { // that of "none"
		t.Errorf("%d requests went to another host", got-before-1)
	}
}

// A branch has a commit also where others went on from it, in a straight line or
// by a merge; not where it began anew, whatever the server still keeps.
func TestContains(t *testing.T) {
	for _, filter := range []string{"true", "false"} {
		t.Run("filter "+filter, func(t *testing.T) {
			fake := forgetest.New(t, forgetest.Dialect(forge.Git))
			fake.Configure("uploadpack.allowFilter", filter)
			fake.Write("main", map[string]string{"a.mdx": "# A\n"})
			fake.Write("main", map[string]string{"a.mdx": "# A2\n"})
			f, r := fake.Forge(), fake.Repository()
			const branch = "bindery/1"
			c := commit(t, f, fetch(t, f, r, ""), forge.Change{Path: "b.mdx", Content: []byte("# B\n")})
			want := func(name string, want bool) {
				t.Helper()
				if has, err := f.Contains(t.Context(), r, branch, c); has != want || err != nil {
					t.Errorf("%s: %v, %v", name, has, err)
				}
			}
			want("no branch", false)
			if err := f.Push(t.Context(), r, branch, c, ""); err != nil {
				t.Fatal(err)
			}
			want("at the commit", true)
			for range 3 {
				fake.Write(branch, map[string]string{"people.mdx": "# " + fake.Branch(branch) + "\n"})
				want("after it", true)
			}
			fake.Write("main", map[string]string{"a.mdx": "# A3\n"})
			fake.MergeBranch(branch, "main")
			want("after a merge", true)
			fake.DeleteBranch(branch)
			fake.Write(branch, map[string]string{"people.mdx": "# P\n"})
			want("a branch without it", false)
			other := *c
			other.Parent = strings.Repeat("ab", 20)
			if has, err := f.Contains(t.Context(), r, branch, &other); has || err != nil {
				t.Errorf("a parent that is not there: %v, %v", has, err)
			}
		})
	}
}
