package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// shownIslands shows every source as a button, and keeps which pages asked.
type shownIslands struct {
	mu    sync.Mutex
	asked map[string]int
}

func (f *shownIslands) Render(_ context.Context, _ fs.FS, source island.Source, _ []string) (*island.Shown, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[source.File]++
	return &island.Shown{Live: true, Nodes: []island.Node{{
		Tag: "button", Attrs: []island.Attr{{Name: "className", Value: json.RawMessage(`"font-bold odd-name"`)}}, Children: []island.Node{{Text: source.Expression}},
	}}}, nil
}

// Script stands for the process that makes scripts.
func (f *shownIslands) Script(_ context.Context, _ fs.FS, sources []island.Source, _ []string, start []byte) ([]byte, []string, error) {
	return fmt.Appendf(nil, "%d %s", len(sources), start), []string{"bg-[#123456]", "later-name"}, nil
}

// endedIslands end their process with each source.
type endedIslands struct{ shownIslands }

func (*endedIslands) Render(_ context.Context, _ fs.FS, source island.Source, _ []string) (*island.Shown, error) {
	return nil, &island.Ended{File: source.File, Line: source.Line, Reason: "it took too long"}
}

// JavaScript that ends its process is left out of its page. The bundle says that it is
// cut, the report names the place, and the next export does not reuse the bundle.
func TestEndedIslands(t *testing.T) {
	w := newWorld(t)
	w.publish(t, fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["a"]}}`)},
		"a.mdx":     {Data: []byte("export const A = () => { const [a] = useState(1); return a }\n\n<A />\n\nKept.\n")},
	})
	for range 2 {
		job := w.start(t)
		if err := workflow(t.Context(), w.steps(func(o *Options) { o.Islands = &endedIslands{} }), job.ID); err != nil {
			t.Fatal(err)
		}
		j, err := w.admin.FindExport(t.Context(), job.ID)
		if err != nil {
			t.Fatal(err)
		}
		if j.Status != admin.ExportCompleted || !j.Bundle.Cut || j.Bundle.Diagnostics.Errors != 1 || j.Reused != "" {
			t.Errorf("the job is %s with %+v", j.Status, j.Bundle)
		}
	}
	files := unpacked(t, w.exported(t, func(o *Options) { o.Islands = &endedIslands{} }))
	if !strings.Contains(files["bindery.json"], `"cut": true`) || !strings.Contains(files["bindery/diagnostics.jsonl"], `"script-ended"`) || !strings.Contains(files["a.html"], "Kept.") {
		t.Errorf("bindery.json is %s\nthe findings are %s", files["bindery.json"], files["bindery/diagnostics.jsonl"])
	}
}

// Pages without need never ask for the engine. The others have a script each and
// share one, what an interaction may bring has rules and is not told as unknown,
// and the work's division changes no byte.
func TestIslandsInTheBundle(t *testing.T) {
	outside.Long(t, "runs components")
	files := sampleSite(30)
	var config struct {
		Name       string `json:"name"`
		Navigation any    `json:"navigation"`
	}
	config.Name = "Components"
	var pages []string
	for name := range maps.Keys(files) {
		if page, ok := strings.CutSuffix(name, ".mdx"); ok && strings.HasPrefix(page, "guides/") {
			pages = append(pages, page)
		}
	}
	for i := range 6 {
		name := fmt.Sprintf("live/page-%d", i)
		pages = append(pages, name)
		files[name+".mdx"] = &fstest.MapFile{Data: fmt.Appendf(nil, "import { Counter } from '/snippets/counter.jsx'\n\n<Counter from={%d} />\n", i)}
	}
	files["snippets/counter.jsx"] = &fstest.MapFile{Data: []byte("export const Counter = ({ from }) => { const [n, set] = useState(from); return <button className={n > from ? 'bg-[#123456] later-name' : ''} onClick={() => set(n + 1)}>{n}</button> }\n")}
	slices.Sort(pages)
	config.Navigation = map[string]any{"pages": pages}
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	files["docs.json"] = &fstest.MapFile{Data: data}

	w := newWorld(t)
	w.publish(t, files)
	export := func(shards int) map[string]string {
		f := &shownIslands{}
		got := unpacked(t, w.exported(t, func(o *Options) { o.Islands, o.Shards = f, shards }))
		if len(f.asked) != 6 {
			t.Errorf("with %d shards the engine is asked for %v", shards, f.asked)
		}
		for name, n := range f.asked {
			if n != 1 || !strings.HasPrefix(name, "live/") {
				t.Errorf("with %d shards the engine is asked %d times for %s", shards, n, name)
			}
		}
		return got
	}
	one, four := export(1), export(4)
	var scripts, shared []string
	for name, text := range one {
		if four[name] != text && name != "bindery.json" {
			t.Errorf("%s is another with four shards", name)
		}
		switch {
		case strings.HasPrefix(name, "bindery/islands/"):
			scripts = append(scripts, name)
		case strings.HasPrefix(name, "bindery/islands."):
			shared = append(shared, name)
		}
	}
	if len(one) != len(four) || len(scripts) != 6 || len(shared) != 1 {
		t.Fatalf("%d and %d files, with the scripts %v and %v", len(one), len(four), scripts, shared)
	}
	for name, text := range one {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if live := strings.HasPrefix(name, "live/"); live != strings.Contains(text, shared[0]) || live != strings.Contains(text, "/islands/") {
			t.Errorf("%s loads the scripts of components: %v", name, !live)
		}
	}
	if css := one[frame.UtilitiesPath]; !strings.Contains(css, "#123456") || !strings.Contains(css, ".font-bold") {
		t.Errorf("the styles are %s", css)
	}
	told := one["bindery/diagnostics.jsonl"]
	if !strings.Contains(told, "odd-name") || strings.Contains(told, "later-name") {
		t.Errorf("the report is %s", told)
	}
}
