package agent_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// gets are objects that note which ones are read.
type gets struct {
	store.Objects
	keys []string
}

func (r *gets) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r.keys = append(r.keys, key)
	return r.Objects.Get(ctx, key, offset, length)
}

// Each step reads the files that it needs, and no pack without any of them: Work all,
// Review those of the site, Publish those that the round has changed.
func TestStepsReadWhatTheyNeed(t *testing.T) {
	w := newWorld(t)
	j := w.ask("Mend it")
	objects := &gets{Objects: w.objects}
	rounds := agent.Rounds{Admin: w.admin, Objects: objects}
	texts := map[string][]byte{"docs/docs.json": []byte(site()["docs.json"]), "docs/index.mdx": []byte("See https://site.example/.\n")}
	for n := range 20 {
		texts[fmt.Sprintf("a/%02d.md", n)] = []byte(strings.Repeat("before\n", 1<<17))
		texts[fmt.Sprintf("z/%02d.md", n)] = []byte(strings.Repeat("after.\n", 1<<17))
	}
	texts["z/99.md"] = []byte("[x](https://code.example/)\n")
	pictures := map[string][]byte{"docs/logo.png": []byte("\x89PNG\r\n\x1a\n")}
	base := &agent.Repository{Texts: texts, Pictures: pictures}
	files := []agent.File{{Path: "docs/logo.png", Size: int64(len(pictures["docs/logo.png"])), Plain: true}}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, agent.File{Path: path, Size: int64(len(texts[path])), Plain: true})
	}
	slices.SortFunc(files, func(a, b agent.File) int { return strings.Compare(a.Path, b.Path) })
	packs, err := rounds.Pack(w.ctx, j.Current(), base, files)
	if err != nil || len(packs) != 3 {
		t.Fatalf("%d packs, %v", len(packs), err)
	}
	m := agent.Manifest{Commit: "c", Ref: "main", Root: "docs", Files: files, Packs: packs}
	kept := func() string {
		t.Helper()
		key, err := rounds.KeepJSON(w.ctx, j.Current(), "manifest", m)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	in, err := w.admin.AgentRound(w.ctx, j.Current())
	if err != nil {
		t.Fatal(err)
	}
	round := func(r *agent.Round, err error) (*agent.Repository, error) {
		if err != nil {
			return nil, err
		}
		return r.Base, nil
	}
	proposal := func() (*agent.Repository, error) {
		p, err := rounds.Proposed(w.ctx, j.Current(), in)
		if err != nil {
			return nil, err
		}
		return p.Base, nil
	}
	change := []tool.Change{{Path: "docs/index.mdx", Content: []byte("Other.\n")}}
	all := slices.Sorted(maps.Keys(texts))
	for _, c := range []struct {
		name    string
		changes []tool.Change
		merged  bool
		read    func() (*agent.Repository, error)
		texts   []string
		packs   []string
	}{
		{"Work", change, false, func() (*agent.Repository, error) { return round(rounds.Load(w.ctx, j.Current(), in)) }, all, packs},
		{"Review", change, false, proposal, []string{"docs/docs.json", "docs/index.mdx"}, packs[1:2]},
		{"Review of a merge", change, true, proposal, []string{"docs/docs.json", "docs/index.mdx"}, packs[1:2]},
		{"Publish", change, false, func() (*agent.Repository, error) { return round(rounds.LoadChanges(w.ctx, j.Current(), in)) }, []string{"docs/index.mdx"}, packs[1:2]},
		{"Publish of nothing", nil, false, func() (*agent.Repository, error) { return round(rounds.LoadChanges(w.ctx, j.Current(), in)) }, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.Carried = c.changes
			in.Job.Base.Manifest, in.Job.Merge.Manifest = kept(), ""
			if c.merged {
				in.Job.Base.Manifest, in.Job.Merge.Manifest = "", kept()
			}
			objects.keys = nil
			got, err := c.read()
			if err != nil {
				t.Fatal(err)
			}
			if names := slices.Sorted(maps.Keys(got.Texts)); !slices.Equal(names, c.texts) || len(got.Entries) != len(files) {
				t.Errorf("read %q of %d files", names, len(got.Entries))
			}
			for path, b := range got.Texts {
				if string(b) != string(texts[path]) {
					t.Errorf("%s has another text", path)
				}
			}
			if _, ok := got.Picture("docs/logo.png"); ok != (c.name == "Work") {
				t.Errorf("the picture was read: %t", ok)
			}
			objects.keys = slices.DeleteFunc(objects.keys, func(key string) bool { return !strings.Contains(key, "/texts-") })
			if !slices.Equal(objects.keys, c.packs) {
				t.Errorf("read the objects %q", objects.keys)
			}
		})
	}

	// Hosts that the site does not name are looked for in the rest of the repository.
	p, err := rounds.Proposed(w.ctx, j.Current(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		hosts, named []string
		packs        int
	}{
		{nil, nil, 0},
		{[]string{"site.example"}, []string{"site.example"}, 0},
		{[]string{"code.example", "site.example"}, []string{"code.example", "site.example"}, 3},
		{[]string{"new.example", "site.example"}, []string{"site.example"}, 3},
	} {
		objects.keys = nil
		named, err := rounds.Named(w.ctx, p, c.hosts)
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(named)), c.named) || len(objects.keys) != c.packs {
			t.Errorf("%q: %v of %d packs, %v", c.hosts, named, len(objects.keys), err)
		}
	}
}
