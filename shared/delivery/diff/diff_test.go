package diff_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/diff"
)

// A site is its files; names without an ending are pages, whose main part is
// given.
type site struct {
	files     map[string]string
	redirects []bundle.Redirect
}

func (s site) open(t *testing.T) diff.Source {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range s.files {
		write(s.file(name))
	}
	info, err := json.Marshal(bundle.Info{Format: 1, Domain: "docs.example.com", Version: "1", Redirects: s.redirects})
	if err != nil {
		t.Fatal(err)
	}
	write(bundle.InfoPath, string(info))
	source, err := diff.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// stored is the site's bundle as a service keeps it.
func (s site) stored(t *testing.T) diff.Stored {
	t.Helper()
	var archive bytes.Buffer
	zw := gzip.NewWriter(&archive)
	tw := tar.NewWriter(zw)
	info := bundle.Info{Format: 1, Domain: "docs.example.com", Version: "1", Redirects: s.redirects}
	add := func(name string, data []byte) {
		t.Helper()
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	var list []byte
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		file, text := s.file(name)
		sum := sha256.Sum256([]byte(text))
		list = bundle.File{Path: file, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}.AppendLine(list)
		add(file, []byte(text))
		if filepath.Ext(name) == "" {
			info.Pages++
		}
	}
	add(bundle.FilesPath, list)
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	add(bundle.InfoPath, text)
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return diff.Stored{Name: "a bundle", Open: func(_ context.Context, offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes()[offset:])), nil
	}}
}

// file returns the name and the text of a file.
func (s site) file(name string) (file, text string) {
	if filepath.Ext(name) != "" {
		return name, s.files[name]
	}
	return name + ".html", "<!doctype html><title>" + filepath.Base(name) + "</title><body><nav>Around</nav><main>" + s.files[name] + "</main><footer>Below</footer>"
}

func compare(t *testing.T, was, is site) *diff.Result {
	t.Helper()
	r, err := diff.Compare(t.Context(), was.open(t), is.open(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pagesOf(files ...string) site {
	s := site{files: map[string]string{}}
	for i := 0; i+1 < len(files); i += 2 {
		s.files[files[i]] = files[i+1]
	}
	return s
}

func TestChangesAreWordsThatReadersSee(t *testing.T) {
	for _, c := range []struct {
		name, was, is string
		want          []diff.Change
	}{
		{"a word", "<p>Press the red key now.</p>", "<p>Press the <b>green</b> key now.</p>",
			[]diff.Change{{Before: "Press the", Removed: "red", Added: "green", After: "key now."}}},
		{"a paragraph that came", "<p>One.</p>", "<p>One.</p><p>Two words.</p>", []diff.Change{{Before: "One.", Added: "Two words."}}},
		{"another form of the same text", "<p>One <i>two</i></p>", "<div>One\n <b>two</b></div>", nil},
		{"a button, a script and our menu", "<p>One</p>", `<div class="bdy-actions"><div>Copy</div> page</div><p>One</p><button>Press</button><script>var a = "<p>";</script>`, nil},
		{"text of a drawing", "<svg><text>From</text></svg>", "<svg><text>To</text></svg>", []diff.Change{{Removed: "From", Added: "To"}}},
		{"a script without spaces", "<p>導入手順</p>", "<p>導出手順</p>", []diff.Change{{Before: "導", Removed: "入", Added: "出", After: "手 順"}}},
		{"what stands in code", "<pre>a &lt;b&gt; c</pre>", "<pre>a &lt;d&gt; c</pre>", []diff.Change{{Before: "a", Removed: "<b>", Added: "<d>", After: "c"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, pagesOf("index", c.was), pagesOf("index", c.is))
			var got []diff.Change
			for _, p := range r.Pages.Changed {
				got = append(got, p.Changes...)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAddressesThatAreLost(t *testing.T) {
	const text = "<p>How to set up the service on a machine of your own, step by step.</p>"
	was := pagesOf("index", "Start", "old/setup", text)
	for _, c := range []struct {
		name      string
		is        site
		redirects []bundle.Redirect
		leadsTo   string
		saved     *diff.Redirect
	}{
		{"a page that went", pagesOf("index", "Start"), nil, "", nil},
		{"a page that moved", pagesOf("index", "Start", "new/setup", text), nil, "", &diff.Redirect{Source: "/old/setup", Destination: "/new/setup"}},
		{"a page that moved and changed a little", pagesOf("index", "Start", "new/setup", text+"<p>Then rest.</p>", "other", "Nothing like it"), nil, "",
			&diff.Redirect{Source: "/old/setup", Destination: "/new/setup"}},
		{"a page that moved with its redirect", pagesOf("index", "Start", "new/setup", text), []bundle.Redirect{{From: "/old/:name", To: "/new/:name"}}, "/new/setup", nil},
		{"a redirect to another site", pagesOf("index", "Start"), []bundle.Redirect{{From: "/old/setup", To: "https://example.com/"}}, "https://example.com/", nil},
		{"a redirect that leads nowhere", pagesOf("index", "Start"), []bundle.Redirect{{From: "/old/setup", To: "/gone"}}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.is.redirects = c.redirects
			r := compare(t, was, c.is)
			if len(r.Pages.Removed) != 1 || r.Pages.Removed[0].Address != "/old/setup" || r.Pages.Removed[0].LeadsTo != c.leadsTo {
				t.Errorf("removed: %+v", r.Pages.Removed)
			}
			want := []diff.LostAddress{}
			if c.leadsTo == "" {
				want = []diff.LostAddress{{Address: "/old/setup", Title: "setup", Redirect: c.saved}}
			}
			if d := cmp.Diff(want, r.LostAddresses); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestIndexesOfFolders: the page guides/index.mdx is one page, whether its file is
// guides/index.html or guides.html.
func TestIndexesOfFolders(t *testing.T) {
	stub := func(s site) site {
		s.files["guides/index.html"] = `<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0;url=../guides.html"></head>`
		return s
	}
	old, now := pagesOf("guides/index", "How to begin", "guides/first", "First"), stub(pagesOf("guides", "How to begin", "guides/first", "First"))
	for name, c := range map[string]struct {
		was, is                            site
		unchanged, changed, added, removed int
	}{
		"it moved":                   {old, now, 2, 0, 0, 0},
		"it moved back":              {now, old, 2, 0, 0, 0},
		"it moved and changed":       {old, stub(pagesOf("guides", "How to go on", "guides/first", "First")), 1, 1, 0, 0},
		"another page has the name":  {pagesOf("guides/index", "Index", "guides", "Page"), pagesOf("guides/index", "Index", "guides", "Page"), 2, 0, 0, 0},
		"another page took the name": {pagesOf("guides/index", "Index", "guides", "Page"), stub(pagesOf("guides", "Page")), 1, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := diff.CompareStored(t.Context(), c.was.stored(t), c.is.stored(t), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for kind, r := range map[string]*diff.Result{"files": compare(t, c.was, c.is), "stored": stored} {
				if got := [4]int{r.Pages.Unchanged, len(r.Pages.Changed), len(r.Pages.Added), len(r.Pages.Removed)}; got != [4]int{c.unchanged, c.changed, c.added, c.removed} {
					t.Errorf("%s: unchanged, changed, added, removed: %v", kind, got)
				}
				for _, p := range r.Pages.Changed {
					if len(p.Changes) != 1 || p.Changes[0].Before != "How to" || p.Changes[0].Removed != "begin" || p.Changes[0].Added != "go on" {
						t.Errorf("%s: %s: %+v", kind, p.Address, p.Changes)
					}
				}
				if len(r.LostAddresses) > 0 {
					t.Errorf("%s: lost: %+v", kind, r.LostAddresses)
				}
			}
		})
	}
}

func TestAnchorsThatAreGone(t *testing.T) {
	for _, c := range []struct {
		name, was, is string
		want          []diff.LostAnchor
	}{
		{"kept", `<h2 id="a">A</h2>`, `<p></p><h3 id="a">Another text</h3>`, []diff.LostAnchor{}},
		{"of a heading that went", `<h2 id="a">A</h2><h2 id="b">B</h2>`, `<h2 id="a">A</h2>`, []diff.LostAnchor{{Address: "/", Anchor: "b", Heading: "B"}}},
		{"of a heading in other words", `<h2 id="a">A</h2><h2 id="b">B</h2><h2 id="c">C</h2>`, `<h2 id="a">A</h2><h2 id="bee">Bee</h2><h2 id="c">C</h2>`,
			[]diff.LostAnchor{{Address: "/", Anchor: "b", Heading: "B", Now: "bee"}}},
		{"of a heading with another id", `<h2 id="a">The same</h2>`, `<h2 id="x">New</h2><h2 id="y">The same</h2>`,
			[]diff.LostAnchor{{Address: "/", Anchor: "a", Heading: "The same", Now: "y"}}},
		{"of two headings, which could be either", `<h2 id="a">A</h2><h2 id="b">B</h2>`, `<h2 id="c">C</h2>`,
			[]diff.LostAnchor{{Address: "/", Anchor: "a", Heading: "A"}, {Address: "/", Anchor: "b", Heading: "B"}}},
		{"of a field", `<div class="field bdy-field" id="param-id"></div>`, ``, []diff.LostAnchor{{Address: "/", Anchor: "param-id"}}},
		{"that nobody links to", `<span id="tip-x"></span><i id="bindery-y"></i>`, ``, []diff.LostAnchor{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, pagesOf("index", c.was), pagesOf("index", c.is))
			if d := cmp.Diff(c.want, r.LostAnchors); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFilesAndWordsToFind(t *testing.T) {
	r := compare(t,
		pagesOf("index", "alpha beta", "logo.svg", "<svg/>", "a.pdf", "1", "bindery/theme.1.css", "x", "sitemap.xml", "1"),
		pagesOf("index", "alpha Gamma", "a.pdf", "22", "b.pdf", "333", "bindery/theme.2.css", "yy", "sitemap.xml", "2"))
	want := diff.Files{
		Added: []diff.File{{Path: "b.pdf", After: 3}}, Removed: []diff.File{{Path: "logo.svg", Before: 6}}, Changed: []diff.File{{Path: "a.pdf", Before: 1, After: 2}},
		Bytes: r.Files.Bytes,
	}
	if d := cmp.Diff(want, r.Files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([2]int64{7, 5}, r.Files.Bytes["files"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&diff.Terms{Added: 1, Removed: 1, Gained: []string{"gamma"}, Gone: []string{"beta"}}, r.Terms); d != "" {
		t.Error(d)
	}
}

func TestABundleEqualsItself(t *testing.T) {
	one := pagesOf("index", `<h2 id="a">A</h2>`, "b", "B", "c.pdf", "1")
	r := compare(t, one, one)
	if !r.Empty() || r.Pages.Unchanged != 2 || !strings.Contains(r.Markdown(), "Readers see no difference.") {
		t.Errorf("%+v\n%s", r, r.Markdown())
	}
}

func TestMarkdownShowsTextsAsText(t *testing.T) {
	is := pagesOf("index", "Start", "x", "<p>Ask @somebody about <code>**this**</code> &lt;script&gt; #12</p>")
	got := compare(t, pagesOf("index", "Start", "x", "<p>Ask</p>"), is).Markdown()
	for _, bad := range []string{"@somebody", "**this**", "<script>", "#12"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in\n%s", bad, got)
		}
	}
	if want := `\*\*this\*\*`; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

func TestOpenRefusesAFolderWithoutABundle(t *testing.T) {
	if _, err := diff.Open(t.TempDir()); !errors.Is(err, diff.ErrNoBundle) {
		t.Errorf("got %v, want ErrNoBundle", err)
	}
	if _, err := diff.Open(filepath.Join(t.TempDir(), "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestCompareStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one := pagesOf("index", "A").open(t)
	if _, err := diff.Compare(ctx, one, one); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzPage(f *testing.F) {
	f.Add("<h2 id=a>A</h2>", "<main><h2 id=b>B")
	f.Add("<svg><title>x</svg><button><button></button>", "<div class=actions><div>")
	f.Fuzz(func(t *testing.T, was, is string) {
		r := compare(t, pagesOf("index", was), pagesOf("index", is))
		if was == is && !r.Empty() {
			t.Errorf("a page differs from itself: %+v", r)
		}
		_ = r.Markdown()
	})
}
