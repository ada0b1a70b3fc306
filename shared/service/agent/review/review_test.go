package review_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// steps is Review with a process for components. Look needs none of its ports.
func steps(t *testing.T, pages int) *review.Steps {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	components := island.New(island.Options{Program: program})
	t.Cleanup(components.Close)
	l := ports(t)
	s, err := review.New(review.Options{Admin: l.admin, Objects: l.objects, Islands: components, Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// repository has the files of a site.
func repository(files map[string]string) *agent.Repository {
	r := &agent.Repository{Texts: map[string][]byte{}}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		r.Entries = append(r.Entries, tool.Entry{Path: p, Size: int64(len(files[p])), Text: true, Plain: true})
		r.Texts[p] = []byte(files[p])
	}
	return r
}

const config = `{"name": "Acme", "theme": "mint", "colors": {"primary": "#112233"}, "navigation": {"pages": ["index", "guide"]}}`

// site is a site before the changes.
func site() map[string]string {
	return map[string]string{
		"docs.json":          config,
		"index.mdx":          "---\ntitle: Welcome\n---\n\nSee [the guide](/guide) and [ours](https://known.example/a).\n",
		"guide.mdx":          "---\ntitle: Guide\n---\n\nimport Note from \"/snippets/note.mdx\"\n\n<Note />\n",
		"snippets/note.mdx":  "A note.\n",
		"away.mdx":           "---\ntitle: Away\n---\n\nimport { Later } from \"/snippets/later.jsx\"\n\nBefore.\n\n<Later host=\"known.example\" />\n",
		"snippets/away.jsx":  "export const Away = ({ host }) => {\n  const [n, setN] = useState(0)\n  return <a href={\"https://\" + host} onClick={() => setN(n + 1)}>{n}</a>\n}\n",
		"snippets/later.jsx": "export const Later = ({ host }) => {\n  const [at, setAt] = useState(\"/\")\n  useEffect(() => { setAt(\"https://\" + host) }, [])\n  return <img src={at} />\n}\n",
	}
}

// look reviews changes of the site; a file with an empty text goes.
func look(t *testing.T, s *review.Steps, base, changed map[string]string) *agent.Reviewed {
	t.Helper()
	p := &agent.Proposal{Base: repository(base), Commit: "1", Finished: true}
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		c := tool.Change{Path: path, Content: []byte(changed[path])}
		if changed[path] == "" {
			c = tool.Change{Path: path, Delete: true}
		}
		p.Changes = append(p.Changes, c)
	}
	r, err := s.Look(t.Context(), admin.Project{Domain: "docs.example.com"}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines are the items of a list, as "what (file)".
func lines(items []agent.ReviewedItem) []string {
	var all []string
	for _, i := range items {
		all = append(all, i.What+" ("+i.File+")")
	}
	return all
}

// What readers' browsers get of a page is read as they read it, also where the source
// names no address: H is the host.
func TestRenderedHosts(t *testing.T) {
	s := steps(t, 0)
	const host = "h.evil.example"
	for _, c := range []struct{ name, text string }{
		{"a joined address", `<img src={"https://" + "H" + "/x.png"} />`},
		{"a template", "<img src={`https:/${\"/\"}H/x.png`} />"},
		{"parts of an array", `<a href={"https://" + ["h", "evil", "example"].join(".")}>x</a>`},
		{"a constant, reversed", "export const b = \"elpmaxe.live.h//\"\n\n<img src={b.split(\"\").reverse().join(\"\")} />"},
		{"a line end in the scheme", "<img src=\"ht\ntps://H/x.png\" />"},
		{"backslashes", `![x](https:\\H/x.png)`},
		{"one slash", `![x](https:/H/x.png)`},
		{"no scheme", `![x](//H/x.png)`},
		{"an entity", `![x](https&#58;//H/x.png)`},
		{"a drawing", "```mermaid\ngraph TD\nA-->B\nclick A href \"https://H/x\"\n```"},
		{"a source set", `<img srcSet="/a.png 1x, https://H/x.png 2x" src="/a.png" />`},
		{"a style", `<div style={{backgroundImage: "url(https://H/x.png)"}} />`},
		{"a style sheet", "<style>{`@import url(//H/x.css);`}</style>"},
		{"a class", `<i className="bg-[url(https://H/x.png)]" />`},
		{"a spread", `<img {...{src: "https://H/x.png"}} />`},
		{"a picture of SVG", `<svg><image href="https://H/x.png" /></svg>`},
		{"a card", `<Card title="x" href="https://H/">x</Card>`},
		{"a frame", `<iframe src="https://H/" />`},
		{"front matter", "og"},
		{"a component that is there", "import { Away } from \"/snippets/away.jsx\"\n\n<Away host=\"H\" />"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "---\ntitle: New\n---\n\n" + strings.ReplaceAll(c.text, "H", host) + "\n"
			if c.text == "og" {
				text = "---\ntitle: New\n\"og:image\": https://" + host + "/x.png\n---\n\nx\n"
			}
			r := look(t, s, site(), map[string]string{"index.mdx": text})
			if !slices.Contains(lines(r.Hosts), host+" (index.mdx)") || len(r.Failed) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What is new is listed at the first file that has it, and nothing else is.
func TestReview(t *testing.T) {
	page := func(text string) string { return "---\ntitle: New\n---\n\n" + text + "\n" }
	away := site()["away.mdx"]
	for _, c := range []struct {
		name          string
		base, changed map[string]string
		hosts, code   []string
		failed        string
		pages         int
	}{
		{name: "words", changed: map[string]string{"index.mdx": page("Hello.")}, pages: 1},
		{name: "a known host elsewhere", changed: map[string]string{"guide.mdx": page("[x](https://known.example/b)")}, pages: 1},
		{name: "a host in a block of code", changed: map[string]string{"guide.mdx": page("```bash\ncurl https://code.example/x\n```\n\n`https://code.example`")}, pages: 1},
		{name: "a host as long as another one", changed: map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "known.example", "evil1.example", 1)}, hosts: []string{"evil1.example (index.mdx)"}, pages: 1},
		{name: "a snippet as long as before", base: map[string]string{"snippets/note.mdx": "[x](https://known.example)\n"}, changed: map[string]string{"snippets/note.mdx": "[x](https://evil1.example)\n"},
			hosts: []string{"evil1.example (guide.mdx)"}, pages: 1},
		{name: "a component as long as before", base: map[string]string{"use.mdx": "import { A } from \"/snippets/a.jsx\"\n\n<A />\n", "snippets/a.jsx": "export const A = () => <a href={\"https://\" + [\"good1\", \"example\"].join(\".\")}>x</a>\n"},
			changed: map[string]string{"snippets/a.jsx": "export const A = () => <a href={\"https://\" + [\"evil1\", \"example\"].join(\".\")}>x</a>\n"},
			hosts:   []string{"evil1.example (use.mdx)"}, code: []string{"a script (snippets/a.jsx)"}, pages: 1},
		{name: "a new page", changed: map[string]string{"new.mdx": page("Words.")}, pages: 1},
		{name: "a new page, hidden from all but a group", changed: map[string]string{"new.mdx": "---\ntitle: New\ngroups: [\"staff\"]\n---\n\n[x](https://h.evil.example)\n"}, hosts: []string{"h.evil.example (new.mdx)"}, pages: 1},
		{name: "two pages", changed: map[string]string{"guide.mdx": page("[x](https://b.evil.example) [x](https://a.evil.example)"), "index.mdx": page("[x](https://a.evil.example)")},
			hosts: []string{"a.evil.example (guide.mdx)", "b.evil.example (guide.mdx)"}, pages: 2},
		{name: "a snippet", changed: map[string]string{"snippets/note.mdx": "[x](https://h.evil.example)\n"}, hosts: []string{"h.evil.example (guide.mdx)"}, pages: 1},
		{name: "a moved page", base: map[string]string{"old.mdx": page("<a href={\"//\" + \"h.example\"}>x</a>")}, changed: map[string]string{"old.mdx": "", "moved.mdx": page("<a href={\"//\" + \"h.example\"}>x</a>")}, pages: 1},
		{name: "a link at the foot of all pages", changed: map[string]string{"docs.json": strings.Replace(config, `"navigation"`, `"footer": {"socials": {"github": "https://h.evil.example/acme"}}, "navigation"`, 1)},
			hosts: []string{"h.evil.example (away.mdx)"}, pages: 3},
		{name: "a style sheet", changed: map[string]string{"style.css": `a{b:url("https:\\2f\\2f h.evil.example")}`}, hosts: []string{"h.evil.example (style.css)"}},
		{name: "a picture", changed: map[string]string{"a.svg": `<svg xmlns="http://www.w3.org/2000/svg"><image href="https&#x3a;//h.evil.example/x"/></svg>`}, hosts: []string{"h.evil.example (a.svg)"}},
		{name: "a script", changed: map[string]string{"a.js": `fetch("https://h.evil.example")`}, hosts: []string{"h.evil.example (a.js)"}, code: []string{"a script (a.js)"}},
		{name: "words beside a component", changed: map[string]string{"away.mdx": strings.Replace(away, "Before.", "Before that.", 1)}, pages: 1},
		{name: "an address that a browser computes", changed: map[string]string{"away.mdx": strings.Replace(away, "known.example", "h.evil.example", 1)}, code: []string{"a component that runs in the browser (away.mdx)"}, pages: 1},
		{name: "a frame", changed: map[string]string{"guide.mdx": page(`<iframe src="/x.html" />`)}, code: []string{"<iframe> (guide.mdx)"}, pages: 1},
		{name: "a configuration that is none", changed: map[string]string{"docs.json": "{", "guide.mdx": page("[x](https://h.evil.example)")}, failed: "the site can't be rendered"},
		{name: "mended", base: map[string]string{"docs.json": "{"}, changed: map[string]string{"docs.json": config, "guide.mdx": page("[x](https://h.evil.example)")}, hosts: []string{"h.evil.example (guide.mdx)"}, code: []string{"a component that runs in the browser (away.mdx)"}, pages: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := site()
			maps.Copy(base, c.base)
			r := look(t, steps(t, 0), base, c.changed)
			hosts := slices.DeleteFunc(lines(r.Hosts), func(l string) bool { return c.base != nil && strings.HasPrefix(l, "docs.example.com ") })
			if !slices.Equal(hosts, c.hosts) || !slices.Equal(lines(r.Code), c.code) {
				t.Errorf("hosts %q, code %q, want %q and %q", hosts, lines(r.Code), c.hosts, c.code)
			}
			if c.failed == "" && len(r.Failed) > 0 || c.failed != "" && (len(r.Failed) != 1 || !strings.HasPrefix(r.Failed[0], c.failed)) || r.Pages != c.pages {
				t.Errorf("%d pages, failed: %q", r.Pages, r.Failed)
			}
		})
	}
}

// All pages that changed are rendered, and of those that use what changed so many; the
// record says how many are left.
func TestPagesAreBounded(t *testing.T) {
	base, changed := map[string]string{"docs.json": config, "index.mdx": "# x\n", "snippets/note.mdx": "A note.\n"}, map[string]string{"snippets/note.mdx": "[x](https://h.evil.example)\n"}
	for n := range 9 {
		base[fmt.Sprintf("p%d.mdx", n)] = "import Note from \"/snippets/note.mdx\"\n\n<Note />\n"
	}
	for n := range 4 {
		changed[fmt.Sprintf("p%d.mdx", n)] = fmt.Sprintf("[x](https://h%d.example)\n", n)
	}
	r := look(t, steps(t, 3), base, changed)
	if want := "2 more pages that use what changed: more than the 3 that are rendered"; r.Pages != 7 || len(r.Hosts) != 5 || !slices.Equal(r.Left, []string{want}) {
		t.Errorf("%+v", r)
	}
}

// What an earlier round of the same pull request brought is listed again as long as it is
// there, and counts as old.
func TestEarlierRounds(t *testing.T) {
	base := site()
	base["guide.mdx"] = "[x](https://one.evil.example)\n"
	earlier := &agent.Reviewed{Hosts: []agent.ReviewedItem{
		{ID: "one.evil.example", What: "one.evil.example", File: "guide.mdx"}, {ID: "gone.example", What: "gone.example", File: "index.mdx"},
	}}
	p := &agent.Proposal{Base: repository(base), Commit: "2", Finished: true, Changes: []tool.Change{{Path: "index.mdx", Content: []byte("[x](https://two.evil.example)\n")}}}
	for _, c := range []struct {
		changes []tool.Change
		want    []agent.ReviewedItem
	}{
		{p.Changes, []agent.ReviewedItem{{ID: "one.evil.example", What: "one.evil.example", File: "guide.mdx", Earlier: true}, {ID: "two.evil.example", What: "two.evil.example", File: "index.mdx"}}},
		{nil, []agent.ReviewedItem{{ID: "one.evil.example", What: "one.evil.example", File: "guide.mdx", Earlier: true}}},
		{[]tool.Change{{Path: "guide.mdx", Content: []byte("Gone.\n")}}, nil},
	} {
		p.Changes = c.changes
		r, err := steps(t, 0).Look(t.Context(), admin.Project{Domain: "docs.example.com"}, p, earlier)
		if err != nil || !cmp.Equal(r.Hosts, c.want, cmpopts.EquateEmpty()) {
			t.Errorf("%+v, %v, want %+v", r, err, c.want)
		}
	}
}

// A host that two pages got from an earlier round is listed as long as one of them has it.
func TestItemsOfSeveralPages(t *testing.T) {
	link := "[x](https://evil.example)\n"
	first := &agent.Proposal{Base: repository(map[string]string{"docs.json": config, "index.mdx": "# x\n", "guide.mdx": "# y\n"}), Commit: "1", Finished: true,
		Changes: []tool.Change{{Path: "guide.mdx", Content: []byte(link)}, {Path: "index.mdx", Content: []byte(link)}}}
	one, err := steps(t, 0).Look(t.Context(), admin.Project{Domain: "docs.example.com"}, first, nil)
	if err != nil || len(one.Hosts) != 1 || len(one.Hosts[0].Sources()) != 2 {
		t.Fatalf("%+v, %v", one, err)
	}
	for _, gone := range one.Hosts[0].Sources() {
		second := &agent.Proposal{Base: repository(map[string]string{"docs.json": config, "index.mdx": link, "guide.mdx": link}), Commit: "2", Finished: true,
			Changes: []tool.Change{{Path: gone, Content: []byte("Gone.\n")}}}
		two, err := steps(t, 0).Look(t.Context(), admin.Project{Domain: "docs.example.com"}, second, one)
		if err != nil || len(two.Hosts) != 1 || !two.Hosts[0].Earlier || slices.Contains(two.Hosts[0].Sources(), gone) {
			t.Errorf("without %s: %+v, %v", gone, two, err)
		}
	}
}

// A changed file that can't be looked at is listed, also if it could not be before.
func TestUnseenBeforeAndAfter(t *testing.T) {
	large := bytes.Repeat([]byte("<svg></svg>"), 1<<20)
	p := &agent.Proposal{Base: repository(map[string]string{"docs.json": config, "index.mdx": "# x\n", "big.svg": string(large)}), Commit: "1", Finished: true,
		Changes: []tool.Change{{Path: "big.svg", Content: append(large, "<svg/>"...)}}}
	r, err := steps(t, 0).Look(t.Context(), admin.Project{Domain: "docs.example.com"}, p, nil)
	if err != nil || !slices.Equal(r.Failed, []string{"big.svg: it is too large to look at"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A review has so much time: pages that are not rendered by then are named, and what a
// page has that is too large is not read.
func TestTimeAndSizeAreBounded(t *testing.T) {
	l := ports(t)
	clock := storetest.NewClock(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC))
	now := func() time.Time { clock.Advance(time.Minute); return clock.Time() }
	s, err := review.New(review.Options{Admin: l.admin, Objects: l.objects, Time: 8 * time.Minute, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	base, changed := map[string]string{"docs.json": config, "index.mdx": "# x\n"}, map[string]string{}
	for n := range 9 {
		base[fmt.Sprintf("p%d.mdx", n)] = "# x\n"
		changed[fmt.Sprintf("p%d.mdx", n)] = fmt.Sprintf("[x](https://h%d.example)\n", n)
	}
	// Each look at the clock takes a minute, the pages before the changes half of the time.
	r := look(t, s, base, changed)
	if r.Pages != 3 || len(r.Hosts) != 3 || len(r.Failed) != 1 || !strings.HasPrefix(r.Failed[0], "the last 6 pages") {
		t.Errorf("%+v", r)
	}
	changed = map[string]string{"a.svg": "<svg>" + strings.Repeat("<g/>", 3<<20) + "</svg>"}
	if r := look(t, steps(t, 0), base, changed); !slices.Equal(r.Failed, []string{"a.svg: it is too large to look at"}) {
		t.Errorf("%+v", r)
	}
}

// Words bring nothing new, on any page of the documentation of Bindery, and neither does
// its configuration in another form.
func TestNothingNewInWords(t *testing.T) {
	const dir = "../../../../infra/docs"
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".mdx", ".json", ".css", ".svg"}, path.Ext(p)) {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		files[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	words, pages := map[string]string{}, 0
	for p, text := range files {
		if path.Ext(p) == ".mdx" && path.Dir(p) != "snippets" {
			words[p] = text + "\nMore words.\n"
			pages++
		}
	}
	for _, changed := range []map[string]string{words, {"docs.json": strings.Replace(files["docs.json"], "{", "{ ", 1)}} {
		if r := look(t, steps(t, 0), files, changed); len(r.Hosts)+len(r.Code)+len(r.Failed)+len(r.Left) > 0 || r.Pages < pages {
			t.Errorf("%d of %d pages: hosts %q, code %q, failed %q, left %q", r.Pages, pages, lines(r.Hosts), lines(r.Code), r.Failed, r.Left)
		}
	}
}
