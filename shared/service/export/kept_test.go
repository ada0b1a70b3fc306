package export

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/kept"

	"github.com/bindery-docs/bindery/tests/outside"
)

// livingSite is a site that its authors edit.
type livingSite struct {
	pages    []string // addresses, as the navigation has them
	sources  map[string]string
	files    map[string][]byte
	snippets map[string]string
	config   map[string]any
	group    string
	spec     string
}

// cutters are pages after which a unit ends, so that the site has several units.
var cutters = func() (names []string) {
	for _, i := range []int{1, 4, 7} {
		n := 0
		for hashOf(fmt.Sprintf("p/%d-%d.mdx", i, n))%unitCut != 0 {
			n++
		}
		names = append(names, fmt.Sprintf("p/%d-%d", i, n))
	}
	return names
}()

func picture(width, height int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)))
	return b.Bytes()
}

func newLivingSite() *livingSite {
	s := &livingSite{
		sources: map[string]string{}, files: map[string][]byte{"images/a.png": picture(3, 4), "images/b.png": picture(5, 5), "style.css": []byte("h1 { color: red }\n")},
		snippets: map[string]string{"one": "Words of **one**, see [two](/p/2).", "two": "export const name = 'two'\n\nWords with ![b](/images/b.png)\n"},
		config:   map[string]any{"variables": map[string]string{"product": "Thing"}},
		group:    "Group", spec: "Gets it",
	}
	for i := range 12 {
		s.pages = append(s.pages, fmt.Sprintf("p/%d", i))
		s.sources[s.pages[i]] = pageText(i, "plain")
	}
	for _, name := range cutters {
		s.pages = append(s.pages, name)
		s.sources[name] = "---\ntitle: Cutter\n---\n\nWords of " + name + ".\n"
	}
	return s
}

// pageText is the source of a page of some kind.
func pageText(i int, words string) string {
	head := fmt.Sprintf("---\ntitle: \"Page %d %s\"\ndescription: About %s.\n---\n\n## Heading %d\n\n%s of {{product}} here, see [next](/p/%d#heading-%d).\n\n", i, words, words, i, words, (i+1)%14, (i+1)%14)
	switch i % 6 {
	case 1:
		return head + "import One from '/snippets/one.mdx'\n\n<One />\n\n<Snippet file=\"two.mdx\" />\n"
	case 2:
		return head + "![a](/images/a.png) and <img src=\"/images/b.png\" width=\"10\" />\n\n```go\nfunc f() {}\n```\n"
	case 3:
		return head + "```mermaid\nflowchart LR\n a[One] --> b[Two]\n```\n\n<Update label=\"May\" description=\"v1\">\n## New\n\nThings.\n</Update>\n"
	case 4:
		return strings.Replace(head, "\n---\n\n", "\nopenapi: \"GET /things\"\n---\n\n", 1)
	case 5:
		return head + "[gone](/no/where) and [old](/old) and [file](/style.css)[^1]\n\n[^1]: A note.\n\n<Card title=\"C\" href=\"/p/0\" icon=\"book\">Text</Card>\n"
	}
	return head + "<Note>Mind it.</Note>\n"
}

// fs is the site as it is now.
func (s *livingSite) fs() fstest.MapFS {
	out := fstest.MapFS{}
	put := func(name string, data []byte) { out[name] = &fstest.MapFile{Data: data} }
	for name, text := range s.sources {
		put(name+".mdx", []byte(text))
	}
	for name, text := range s.snippets {
		put("snippets/"+name+".mdx", []byte(text))
	}
	for name, data := range s.files {
		put(name, data)
	}
	put("openapi.json", fmt.Appendf(nil, `{"openapi":"3.0.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],
		"paths":{"/things":{"get":{"summary":%q,"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`, s.spec))
	config := map[string]any{
		"name": "Living", "colors": map[string]string{"primary": "#0055aa"}, "api": map[string]any{"openapi": "openapi.json"},
		"navigation": map[string]any{"groups": []any{
			map[string]any{"group": s.group, "root": s.pages[0], "directory": "card", "pages": s.pages[1 : len(s.pages)/2]},
			map[string]any{"group": "Rest", "pages": s.pages[len(s.pages)/2:]},
		}},
		"redirects": []any{map[string]string{"source": "/old", "destination": "/" + s.pages[1]}},
	}
	maps.Copy(config, s.config)
	if language, _ := config["language"].(string); language != "" {
		config["navigation"] = map[string]any{"languages": []any{map[string]any{"language": language, "groups": config["navigation"].(map[string]any)["groups"]}}}
	}
	delete(config, "language")
	data, _ := json.Marshal(config)
	put("docs.json", data)
	return out
}

// livingEdits are what authors do.
var livingEdits = map[string]func(s *livingSite, r *rand.Rand){
	"text": func(s *livingSite, r *rand.Rand) {
		i := r.IntN(len(s.pages))
		s.sources[s.pages[i]] += fmt.Sprintf("\n## More %d\n\nWords %d.\n", r.IntN(9), r.IntN(1000))
	},
	"title": func(s *livingSite, r *rand.Rand) {
		i := r.IntN(len(s.pages))
		s.sources[s.pages[i]] = pageText(i, fmt.Sprint("words", r.IntN(5)))
	},
	"add": func(s *livingSite, r *rand.Rand) {
		name := fmt.Sprintf("p/%d", 12+r.IntN(3))
		if s.sources[name] == "" {
			s.pages = slices.Insert(s.pages, r.IntN(len(s.pages)), name)
		}
		s.sources[name] = pageText(r.IntN(14), "added")
	},
	"remove": func(s *livingSite, r *rand.Rand) {
		if i := r.IntN(len(s.pages)); len(s.pages) > 6 {
			delete(s.sources, s.pages[i])
			s.pages = slices.Delete(s.pages, i, i+1)
		}
	},
	"hide": func(s *livingSite, r *rand.Rand) {
		name := s.pages[r.IntN(len(s.pages))]
		s.sources[name] = strings.Replace(s.sources[name], "---\n", "---\nhidden: true\n", 1)
	},
	"move": func(s *livingSite, r *rand.Rand) {
		i, j := r.IntN(len(s.pages)), r.IntN(len(s.pages))
		s.pages[i], s.pages[j] = s.pages[j], s.pages[i]
	},
	"snippet": func(s *livingSite, r *rand.Rand) {
		name := []string{"one", "two"}[r.IntN(2)]
		if _, ok := s.snippets[name]; ok && r.IntN(3) == 0 {
			delete(s.snippets, name)
			return
		}
		s.snippets[name] = fmt.Sprintf("Other words %d, see [it](/p/%d) ![](/images/a.png).", r.IntN(9), r.IntN(14))
	},
	"picture": func(s *livingSite, r *rand.Rand) {
		name := []string{"images/a.png", "images/b.png"}[r.IntN(2)]
		if s.files[name] != nil && r.IntN(3) == 0 {
			delete(s.files, name)
			return
		}
		s.files[name] = picture(1+r.IntN(20), 1+r.IntN(20))
	},
	"label": func(s *livingSite, r *rand.Rand) { s.group = fmt.Sprint("Group ", r.IntN(100)) },
	"settings": func(s *livingSite, r *rand.Rand) {
		choices := []map[string]any{
			{"variables": map[string]string{"product": fmt.Sprint("Thing ", r.IntN(9))}},
			{"icons": map[string]string{"library": []string{"lucide", "tabler", "fontawesome"}[r.IntN(3)]}},
			{"styling": map[string]any{"codeblocks": []string{"dark", "system"}[r.IntN(2)]}},
			{"footer": map[string]any{"socials": map[string]string{"x": fmt.Sprint("https://x.com/", r.IntN(9))}}},
			{"redirects": []any{map[string]string{"source": "/no/where", "destination": "/" + s.pages[r.IntN(len(s.pages))]}}},
			{"language": []string{"fr", "en", ""}[r.IntN(3)]},
			{"appearance": map[string]any{"default": []string{"dark", "light"}[r.IntN(2)]}},
		}
		maps.Copy(s.config, choices[r.IntN(len(choices))])
	},
	"specification": func(s *livingSite, r *rand.Rand) { s.spec = fmt.Sprint("Gets ", r.IntN(99)) },
	"file": func(s *livingSite, r *rand.Rand) {
		s.files[fmt.Sprintf("no/where%d.txt", r.IntN(3))] = fmt.Append(nil, r.IntN(9))
		s.files["style.css"] = fmt.Appendf(nil, "h1 { width: %dpx }\n", r.IntN(99))
	},
}

// rendering runs exports that keep what they make in one folder, or among their
// objects, and notes which pages each of them rendered.
type rendering struct {
	world   *world
	dir     string
	objects bool
	refs    bool // shards name the units that are kept
	rounds  int
	whole   int64 // units that the last export took whole
	// islands is that of Options.
	islands page.Islands
}

func (r *rendering) export(t *testing.T, fsys fstest.MapFS) (data []byte, end int64, rendered []string) {
	t.Helper()
	r.rounds++ // no site is the one before, whose bundle would be taken
	fsys["round.txt"] = &fstest.MapFile{Data: fmt.Append(nil, r.rounds)}
	r.world.publish(t, fsys)
	var store *kept.Store
	if r.dir != "" {
		var err error
		if store, err = kept.Open(r.dir, 0); err != nil {
			t.Fatal(err)
		}
		defer store.Close()
	}
	var mu sync.Mutex
	j := r.world.startOf(t, admin.StartExport{})
	steps := r.world.steps(func(o *Options) {
		o.Kept, o.KeepInObjects, o.ByReference, o.Islands = store, r.objects, r.refs, r.islands
		o.Begin = func(place string) func() {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(place, ".mdx") {
				rendered = append(rendered, strings.TrimSuffix(place, ".mdx"))
			}
			return func() {}
		}
	})
	plans := steps
	if r.dir == "" {
		// What it has read is then decoded, once.
		plans = r.world.steps(func(o *Options) { o.KeepInObjects = r.objects })
	}
	err := workflowAcross(context.Background(), plans, steps, j.ID, 4)
	r.whole = steps.whole.Load()
	if err != nil {
		t.Fatal(err)
	}
	done, err := r.world.admin.FindExport(context.Background(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rendered)
	return r.world.bundle(t, j.ID), done.Bundle.End, rendered
}

// TestKeptPagesMakeTheBytesOfAColdExport edits sites at random, and after each
// edit compares the bundle with that of an export that knows nothing of earlier
// ones.
func TestKeptPagesMakeTheBytesOfAColdExport(t *testing.T) {
	histories, length := 12, 12
	if outside.Short(t) {
		histories, length = 3, 8
	}
	names := slices.Sorted(maps.Keys(livingEdits))
	for range 2 * len(names) {
		names = append(names, "text") // as most edits are
	}
	for seed := range histories {
		place := []string{"folder", "objects", "references"}[seed%3]
		t.Run(fmt.Sprint(seed, " ", place), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			s := newLivingSite()
			warm, cold := keeping(t, place), rendering{world: newWorld(t)}
			var history []string
			saved, whole := 0, int64(0)
			for range length {
				got, gotEnd, rendered := warm.export(t, s.fs())
				want, wantEnd, all := cold.export(t, s.fs())
				saved += len(all) - len(rendered)
				whole += warm.whole
				if !bytes.Equal(got[:gotEnd], want[:wantEnd]) {
					t.Fatalf("after %v: %s", history, firstDifference(unpacked(t, got), unpacked(t, want)))
				}
				gotFiles, wantFiles := unpacked(t, got), unpacked(t, want)
				for name := range wantFiles {
					if name != "bindery.json" && gotFiles[name] != wantFiles[name] {
						t.Fatalf("after %v: %s differs", history, name)
					}
				}
				for range 1 + r.IntN(3) {
					name := names[r.IntN(len(names))]
					livingEdits[name](s, r)
					history = append(history, name)
				}
			}
			if saved < length*3 {
				t.Errorf("only %d pages were not rendered again", saved)
			}
			if whole == 0 {
				t.Error("no unit was taken whole")
			}
		})
	}
}

// keeping is a rendering that keeps what it makes in some place.
func keeping(t *testing.T, place string) rendering {
	if place == "objects" {
		return rendering{world: newWorld(t), objects: true}
	}
	return rendering{world: newWorld(t), dir: t.TempDir(), refs: place == "references"}
}

func firstDifference(got, want map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name != "bindery.json" && got[name] != want[name] {
			g, w := got[name], want[name]
			at := 0
			for at < len(g) && at < len(w) && g[at] == w[at] {
				at++
			}
			from := max(0, at-80)
			return fmt.Sprintf("%s differs at %d:\n got %q\nwant %q", name, at, g[from:min(len(g), at+80)], w[from:min(len(w), at+80)])
		}
	}
	return "the archive differs, its files don't"
}

// everyPage stands for all pages there are.
var everyPage = []string{"every page"}

// TestEachInputRendersItsPages changes each input of pages once and looks which
// are rendered.
func TestEachInputRendersItsPages(t *testing.T) {
	outside.Long(t, "exports a site once for each input")
	for _, place := range []string{"folder", "objects"} {
		t.Run(place, func(t *testing.T) { eachInput(t, keeping(t, place)) })
	}
}

func eachInput(t *testing.T, w rendering) {
	s := newLivingSite()
	all := slices.Sorted(slices.Values(s.pages))
	_, _, first := w.export(t, s.fs())
	if !slices.Equal(first, all) {
		t.Fatalf("the first export rendered %v", first)
	}
	for _, c := range []struct {
		name   string
		change func()
		want   []string
		whole  int64 // units that are taken whole
	}{
		{"nothing", func() {}, nil, 4},
		{"a page's text", func() { s.sources["p/2"] += "\nMore.\n" }, []string{"p/2"}, 3},
		{"a heading", func() { s.sources["p/0"] = strings.Replace(s.sources["p/0"], "## ", "## A new one\n\n## ", 1) }, []string{"p/0"}, 3},
		{"a page's title, which a directory shows", func() { s.sources["p/3"] = strings.Replace(s.sources["p/3"], "Page 3", "Page three", 1) }, []string{"p/0", "p/3"}, 0},
		{"a snippet that is imported", func() { s.snippets["one"] = "Other words." }, []string{"p/1", "p/7"}, 2},
		{"a snippet that is included", func() { s.snippets["two"] = "Other words." }, []string{"p/1", "p/7"}, 2},
		{"a snippet is gone", func() { delete(s.snippets, "two") }, []string{"p/1", "p/7"}, 2},
		{"a picture's size", func() { s.files["images/a.png"] = picture(9, 9) }, []string{"p/2", "p/8"}, 2},
		{"a picture is gone", func() { delete(s.files, "images/b.png") }, []string{"p/2", "p/8"}, 0},
		{"a style sheet of the site", func() { s.files["style.css"] = []byte("h2 { color: blue }") }, nil, 4},
		{"a specification", func() { s.spec = "Fetches it" }, []string{"p/10", "p/4"}, 2},
		{"a group's label", func() { s.group = "Other" }, nil, 0},
		{"the footer", func() { s.config["footer"] = map[string]any{"socials": map[string]string{"x": "https://x.com/a"}} }, nil, 0},
		{"a redirect", func() {
			s.config["redirects"] = []any{map[string]string{"source": "/old", "destination": "/p/9"}}
		}, []string{"p/11", "p/5"}, 0},
		{"a page is where a link leads", func() {
			s.sources["p/12"] = pageText(0, "added")
			s.pages = append(s.pages, "p/12")
		}, []string{"p/0", "p/11", "p/12"}, 0},
		{"a page is gone that a link leads to", func() {
			delete(s.sources, "p/9")
			s.pages = slices.DeleteFunc(s.pages, func(p string) bool { return p == "p/9" })
		}, []string{"p/11", "p/5", "p/8"}, 0},
		{"the text's font, by which diagrams are measured", func() { s.config["fonts"] = map[string]string{"family": "Lora"} }, everyPage, 0},
		{"a variable, which any page may have", func() { s.config["variables"] = map[string]string{"product": "Other"} }, everyPage, 0},
	} {
		c.change()
		want := c.want
		if slices.Equal(want, everyPage) {
			want = slices.Sorted(slices.Values(s.pages))
		}
		if _, _, rendered := w.export(t, s.fs()); !slices.Equal(rendered, want) {
			t.Errorf("%s: rendered %v, not %v", c.name, rendered, want)
		}
		if w.whole != c.whole {
			t.Errorf("%s: %d units were taken whole, not %d", c.name, w.whole, c.whole)
		}
	}
}

// TestScriptsRunEachTime: a page on which JavaScript runs, whose work may end at a
// limit, is rendered each time, and so its unit is never kept.
func TestScriptsRunEachTime(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	s := newLivingSite()
	s.pages = append(s.pages, "p/2-script")
	s.sources["p/2-script"] = "export const A = () => { const [a] = useState(1); return a }\n\n<A />\n"
	w := rendering{world: newWorld(t), dir: t.TempDir(), islands: &shownIslands{}}
	w.export(t, s.fs())
	s.sources["p/0"] += "\nMore, which is in another unit.\n"
	_, _, rendered := w.export(t, s.fs())
	if !slices.Equal(rendered, []string{"p/0", "p/2-script"}) {
		t.Errorf("rendered %v", rendered)
	}
	if w.whole != 2 {
		t.Errorf("%d units were taken whole", w.whole)
	}
}

// TestDamagedPacksAreRenderedAgain damages what is kept, a byte in each of many
// places: the bundle stays the same.
func TestDamagedPacksAreRenderedAgain(t *testing.T) {
	outside.Long(t, "exports one site many times")
	for _, refs := range []bool{false, true} {
		t.Run(fmt.Sprint("named ", refs), func(t *testing.T) {
			s := newLivingSite()
			w := rendering{world: newWorld(t), dir: t.TempDir(), refs: refs}
			w.export(t, s.fs())
			packs, err := filepath.Glob(filepath.Join(w.dir, "*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatal(packs, err)
			}
			data, err := os.ReadFile(packs[0])
			if err != nil {
				t.Fatal(err)
			}
			for at := 100; at < len(data)*9/10; at += len(data) / 1000 {
				data[at]++
			}
			if err := os.WriteFile(packs[0], data, 0o600); err != nil {
				t.Fatal(err)
			}
			s.files["other.txt"] = []byte("another site, whose bundle is not there yet")
			got, gotEnd, rendered := w.export(t, s.fs())
			cold := rendering{world: newWorld(t), rounds: 1}
			want, wantEnd, _ := cold.export(t, s.fs())
			if !bytes.Equal(got[:gotEnd], want[:wantEnd]) {
				t.Error(firstDifference(unpacked(t, got), unpacked(t, want)))
			}
			if len(rendered) == 0 {
				t.Errorf("rendered %v after the damage", rendered)
			}
			s.files["other.txt"] = []byte("and another one")
			if _, _, rendered := w.export(t, s.fs()); len(rendered) > 0 {
				t.Errorf("rendered %v again after the damage", rendered)
			}
		})
	}
}

// A positionedBuffer knows how many bytes it has taken.
type positionedBuffer struct{ *bytes.Buffer }

func (b positionedBuffer) position() int64 { return int64(b.Len()) }

// TestOwnFiles: files of a bundle that no shard has come to the same bytes with and
// without what is kept, and a change costs what stands around it.
func TestOwnFiles(t *testing.T) {
	outside.Long(t, "exports many sites")
	r := rand.New(rand.NewPCG(3, 4))
	var text []byte
	for n := 0; len(text) < 9<<20; n++ {
		text = fmt.Appendf(text, "# Page %d\n\n", n)
		for range r.IntN(2000) {
			text = fmt.Appendf(text, "word%d ", r.IntN(5000))
		}
		text = append(text, '\n')
	}
	unheaded := bytes.ReplaceAll(text[:3<<20], []byte("\n"), []byte(" "))
	written := func(store *kept.Store, text []byte, grown string) []byte {
		t.Helper()
		var out, list bytes.Buffer
		s := New(Options{Renderer: "test"})
		var rows placedRows
		o := &ownUnits{ctx: t.Context(), steps: s, kept: store, w: positionedBuffer{&out}, placed: rows.add, note: func(f bundle.File) { list.Write(f.AppendLine(nil)) }}
		for n := range 200 {
			name := fmt.Sprintf("file%d.js", n)
			data := bytes.Repeat([]byte(name), 1000)
			if name == grown {
				data = append(data, " and more"...)
			}
			if err := o.add(name, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.addText("full.txt", int64(len(text)), iotest.HalfReader(bytes.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		if err := o.addText("unheaded.txt", int64(len(unheaded)), bytes.NewReader(unheaded)); err != nil {
			t.Fatal(err)
		}
		if err := o.addText("empty.txt", 0, bytes.NewReader(nil)); err != nil {
			t.Fatal(err)
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		end, err := s.units.Unit(&out, bundle.Text)
		if err == nil {
			err = end.Finish()
		}
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		plain, err := gzip.NewReader(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for archive := tar.NewReader(plain); ; {
			h, err := archive.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			files[h.Name] = string(data)
		}
		if files["full.txt"] != string(text) || files["unheaded.txt"] != string(unheaded) || len(files) != 203 {
			t.Error("the archive has other files")
		}
		for name, data := range files {
			line := bundle.FileOf(name, []byte(data))
			if !bytes.Contains(list.Bytes(), line.AppendLine(nil)) {
				t.Errorf("%s has another line", name)
			}
		}
		lines, err := io.ReadAll(rows.lines())
		if err != nil || !bytes.Equal(lines, list.Bytes()) || rows.listBytes() != int64(list.Len()) {
			t.Errorf("the rows have other files than were written: %v", err)
		}
		return out.Bytes()
	}
	dir := t.TempDir()
	keeping := func(text []byte, grown string) (out []byte, values int) {
		t.Helper()
		store, err := kept.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = written(store, text, grown)
		store.Finish()
		store.Close()
		return out, len(packed(t, dir))
	}
	want := written(nil, text, "")
	first, values := keeping(text, "")
	again, same := keeping(text, "")
	if !bytes.Equal(first, want) || !bytes.Equal(again, want) {
		t.Error("with what is kept there are other bytes")
	}
	if values < 50 || same != values {
		t.Errorf("%d units are kept, then %d", values, same)
	}
	middle := bytes.Index(text[len(text)/2:], []byte("word")) + len(text)/2
	edited := slices.Concat(text[:middle], []byte("one more "), text[middle:])
	out, more := keeping(edited, "file100.js")
	if !bytes.Equal(out, written(nil, edited, "file100.js")) {
		t.Error("after a change there are other bytes")
	}
	if more -= values; more < 2 || more > 4 { // a unit, a piece, and the header with the size
		t.Errorf("a change made %d new units", more)
	}
}

// packed returns the values of a folder's packs.
func packed(t *testing.T, dir string) map[kept.Key][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.pack"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	values := map[kept.Key][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := binary.BigEndian.Uint64(data[len(data)-20:])
		for index := data[at : len(data)-20]; len(index) > 0; index = index[48:] {
			from, size := binary.BigEndian.Uint64(index[32:]), binary.BigEndian.Uint32(index[40:])
			values[kept.Key(index)] = data[from:][:size]
		}
	}
	return values
}

// TestWhatIsKeptIsNotMadeAgain: an export puts no value that an earlier one has, in
// shards or beside them.
func TestWhatIsKeptIsNotMadeAgain(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	for _, refs := range []bool{false, true} {
		t.Run(fmt.Sprint("named ", refs), func(t *testing.T) {
			s := newLivingSite()
			w := rendering{world: newWorld(t), dir: t.TempDir(), refs: refs}
			w.export(t, s.fs())
			first := packed(t, w.dir)
			packs, _ := filepath.Glob(filepath.Join(w.dir, "*.pack"))
			s.sources["p/2"] += "\nMore.\n"
			w.export(t, s.fs())
			for _, pack := range packs {
				if err := os.Remove(pack); err != nil {
					t.Fatal(err)
				}
			}
			second := packed(t, w.dir)
			if len(second) == 0 {
				t.Error("nothing was kept of a page that changed")
			}
			for key, value := range second {
				if had, ok := first[key]; ok && bytes.Equal(had, value) {
					t.Errorf("a value of %d bytes was kept again: %.40q", len(value), value)
				}
			}
		})
	}
}

// TestEachDamagedValueIsMadeAgain damages every value that is kept, of each kind
// there is, in the ways that disks do.
func TestEachDamagedValueIsMadeAgain(t *testing.T) {
	outside.Long(t, "exports one site many times")
	s := newLivingSite()
	w := rendering{world: newWorld(t), dir: t.TempDir()}
	w.export(t, s.fs())
	s.sources["p/2"] += "\nMore, so that a unit is made again beside kept ones.\n"
	cold := rendering{world: newWorld(t)}
	want, end, _ := cold.export(t, s.fs())
	packs, _ := filepath.Glob(filepath.Join(w.dir, "*.pack"))
	whole, err := os.ReadFile(packs[0])
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	values := packed(t, w.dir)
	for name, damage := range map[string]func(value []byte){
		"the first byte": func(v []byte) { v[0] ^= 1 },
		"the last byte":  func(v []byte) { v[len(v)-1] ^= 0x80 },
		"the last half":  func(v []byte) { clear(v[len(v)/2:]); v[len(v)-1] = 0xff },
		"all of it":      func(v []byte) { clear(v); v[0] = 0xff },
	} {
		for _, key := range append(slices.Collect(maps.Keys(values)), kept.Key{}) {
			data := bytes.Clone(whole)
			for k, v := range values {
				if k == key || key == (kept.Key{}) { // none has that: all at once
					at := bytes.Index(whole, v)
					damage(data[at : at+len(v)])
				}
			}
			// What the last export kept must not be there, too.
			for _, refs := range []bool{false, true} {
				again := rendering{world: w.world, dir: t.TempDir(), refs: refs}
				if err := os.WriteFile(filepath.Join(again.dir, "a.pack"), data, 0o600); err != nil {
					t.Fatal(err)
				}
				got, gotEnd, _ := again.export(t, s.fs())
				if !bytes.Equal(got[:gotEnd], want[:end]) {
					t.Errorf("%s of a value is damaged, named %v: %s", name, refs, firstDifference(unpacked(t, got), unpacked(t, want)))
				}
			}
		}
	}
}

// TestUnreadableIndexesAreMadeAgain: units whose part of the index is something
// else, with the sum of it, are rendered as if they were not kept.
func TestUnreadableIndexesAreMadeAgain(t *testing.T) {
	outside.Long(t, "exports one site many times")
	s := newLivingSite()
	w := rendering{world: newWorld(t), dir: t.TempDir()}
	w.export(t, s.fs())
	s.sources["p/2"] += "\nMore, so that a unit is made again beside kept ones.\n"
	cold := rendering{world: newWorld(t)}
	want, end, _ := cold.export(t, s.fs())
	values := packed(t, w.dir)
	for name, change := range map[string]func(terms []byte) []byte{
		"half":  func(b []byte) []byte { return b[:len(b)/2] },
		"none":  func(b []byte) []byte { return nil },
		"wrong": func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
		"more":  func(b []byte) []byte { return append(b[:len(b):len(b)], 0) },
	} {
		again := rendering{world: w.world, dir: t.TempDir()}
		store, err := kept.Open(again.dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		units := 0
		for key, data := range values {
			var u keptUnit
			if kept.Read(data, &u) == nil && len(u.Archive) == len(key) {
				u.Index.Terms = change(u.Index.Terms)
				data, units = kept.Append(nil, u), units+1
			}
			store.Put(key, data)
		}
		store.Finish()
		store.Close()
		if units != 4 {
			t.Fatalf("%d units are kept", units)
		}
		got, gotEnd, rendered := again.export(t, s.fs())
		if !bytes.Equal(got[:gotEnd], want[:end]) {
			t.Errorf("%s: %s", name, firstDifference(unpacked(t, got), unpacked(t, want)))
		}
		if !slices.Contains(rendered, "p/2") {
			t.Errorf("%s: rendered %v", name, rendered)
		}
		again.export(t, s.fs())
		if again.whole != 4 {
			t.Errorf("%s: later %d units are taken whole", name, again.whole)
		}
	}
}

// TestReuseLeavesWhatIsKept: an export that renders nothing asks for no page,
// which must not sweep them all.
func TestReuseLeavesWhatIsKept(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	s := newLivingSite()
	w := rendering{world: newWorld(t), dir: t.TempDir()}
	w.export(t, s.fs())
	w.world.now = w.world.now.Add(time.Minute)
	store, err := kept.Open(w.dir, 1) // a folder of one byte is always to be swept
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	job, _ := w.world.completed(t, admin.StartExport{}, func(o *Options) { o.Kept = store })
	if job.Reused == "" {
		t.Fatalf("the export is %+v", job)
	}
	s.sources["p/2"] += "\nMore.\n"
	if _, _, rendered := w.export(t, s.fs()); !slices.Equal(rendered, []string{"p/2"}) {
		t.Errorf("rendered %v", rendered)
	}
}
