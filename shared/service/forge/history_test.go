package forge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// Log returns the commits that Git's own log has, newest first; tags lead to commits.
func TestLog(t *testing.T) {
	f := forgetest.New(t)
	for n := range 12 {
		f.Write("main", map[string]string{"a.md": fmt.Sprint(n)})
	}
	f.Tag("v1.0", "main", "")
	f.Tag("v1.1", "main", "The first\n\nrelease")
	at := f.Branch("main")
	f.Copy("topic", "main")
	f.Write("topic", map[string]string{"b.md": "b"})
	f.Write("main", map[string]string{"a.md": "more"})
	f.MergeBranch("main", f.Branch("topic"))
	want := f.Commits("main")
	tree, err := f.Forge().Fetch(t.Context(), f.Repository(), "main")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if tags := []forge.Tag{{Name: "v1.0", Commit: at}, {Name: "v1.1", Commit: at}}; !slices.Equal(tree.Tags, tags) {
		t.Errorf("the tags are %v, want %v", tree.Tags, tags)
	}
	all, err := tree.Log(t.Context(), 500)
	if err != nil || len(all) != len(want) || all[0].ID != want[0].ID {
		t.Fatalf("%d commits, %v; Git has %d", len(all), err, len(want))
	}
	subjects, parents := map[string]string{}, map[string][]string{}
	for _, c := range want {
		subjects[c.ID], _, _ = strings.Cut(c.Message, "\n")
		parents[c.ID] = c.Parents
	}
	if len(all[0].Parents) != 2 {
		t.Errorf("the merge has the parents %v", all[0].Parents)
	}
	for i, e := range all {
		if e.Subject != subjects[e.ID] || !slices.Equal(e.Parents, parents[e.ID]) || e.When.IsZero() || i > 0 && e.When.After(all[i-1].When) {
			t.Errorf("commit %d is %+v; its message is %q", i, e, subjects[e.ID])
		}
	}
	if some, err := tree.Log(t.Context(), 5); err != nil || len(some) != 5 || some[0].ID != want[0].ID {
		t.Errorf("of 5 commits there are %v, %v", some, err)
	}
	f.Configure("uploadpack.allowFilter", "false")
	if none, err := tree.Log(t.Context(), 5); err != nil || len(none) != 0 {
		t.Errorf("from a server that sends all files: %v, %v", none, err)
	}
}
