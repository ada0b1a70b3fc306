package export

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLLMsFull: the file has the text of each page that search engines may know,
// once, with its address, however the site is cut.
func TestLLMsFull(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, sampleSite(120))
	first := ""
	for _, shards := range []int{1, 3} {
		files := unpacked(t, w.exported(t, func(o *Options) { o.Shards = shards }))
		text := files["llms-full.txt"]
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%d shards give other text", shards)
		}
	}
	if !strings.HasPrefix(first, "# Sample\n\n# Page 0\n\nSource: https://docs.example/guides/part-00/page-000\n\n> What page 0 is for.\n\n## First heading\n\n") {
		t.Errorf("it begins with\n%.300s", first)
	}
	for i := range 120 {
		if n := strings.Count(first, fmt.Sprintf("\n# Page %d\n\nSource: https://docs.example/guides/part-%02d/page-%03d\n", i, i%7, i)); n != 1 {
			t.Errorf("page %d stands there %d times", i, n)
		}
	}
	if strings.Contains(first, "Off the map") {
		t.Error("a hidden page stands there")
	}
	if strings.Contains(first, "This file has the first") {
		t.Error("it says that pages are missing")
	}

	// The site's own file wins.
	site := sampleSite(3)
	site["LLMS-full.txt"] = site["style.css"]
	w.publish(t, site)
	if files := unpacked(t, w.exported(t, nil)); files["llms-full.txt"] != "" || files["LLMS-full.txt"] == "" {
		t.Error("the site's own llms-full.txt is not there alone")
	}
}

// TestRoomInLLMsFull: where a page that shrinks makes room in the file for pages whose
// units are kept, the bundle is the one that is made without them.
func TestRoomInLLMsFull(t *testing.T) {
	outside.Long(t, "renders thousands of pages")
	site := sampleSite(160)
	pages := 0
	for name, f := range site {
		if strings.HasPrefix(name, "guides/") && strings.HasSuffix(name, ".mdx") {
			f.Data = fmt.Appendf(f.Data, "\n{/* %s */}\n", strings.Repeat("long ", 100<<10))
			pages++
		}
	}
	if pages*(500<<10) < frame.FullBytes*4 {
		t.Fatalf("%d pages leave room for all", pages)
	}
	export := func(t *testing.T, values *kept.Store) (full string, data []byte) {
		t.Helper()
		w := newWorld(t)
		w.publish(t, site)
		j, data := w.completed(t, admin.StartExport{Version: "v1"}, func(o *Options) { o.Kept = values })
		return unpacked(t, data)["llms-full.txt"], data[:j.Bundle.End] // what follows names the snapshot
	}
	dir, before := t.TempDir(), ""
	for round := range 2 {
		values, err := kept.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		full, got := export(t, values)
		values.Close()
		if _, want := export(t, nil); !bytes.Equal(got, want) {
			t.Errorf("round %d: kept units make another bundle", round)
		}
		if full == before {
			t.Errorf("round %d: the file has the same pages", round)
		}
		before = full
		for _, name := range []string{"guides/part-00/page-000.mdx", "guides/part-00/page-007.mdx"} {
			text, _, _ := bytes.Cut(site[name].Data, []byte("\n{/*"))
			site[name].Data = text
		}
	}
}
