package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// indexed makes a bundle of a version that can be read by ranges: the sample, a home page
// that says the version, and pages that are not in memory before they are asked for.
func indexed(t testing.TB, version string) []byte { return indexedAs(t, version, version) }

// indexedAs is indexed for a bundle with another version than its pages say.
func indexedAs(t testing.TB, version, label string) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	files := sample()
	files["index.html"] = page("edition " + version)
	for _, n := range []string{"a", "b", "c"} {
		files["more/"+n+".html"] = strings.Repeat("<p>"+n+" of "+version+"</p>", 5000)
	}
	var w bundle.Writers
	var out bytes.Buffer
	var x bundle.IndexWriter
	var list []byte
	info := bundle.Info{Format: 1, Domain: "docs.example", Version: label, Pages: 7, Redirects: []bundle.Redirect{{From: "/old", To: "/guides/start", Permanent: true}}}
	add := func(f bundle.File) {
		list = f.AppendLine(list)
		info.Files++
		info.Bytes += f.Size
	}
	u, err := w.Unit(&out, bundle.Text)
	must(err)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		role := bundle.Plain
		if name == "old.html" {
			role = bundle.Stub
		}
		f := bundle.FileOf(name, []byte(text))
		must(u.Put(f, time.Time{}, []byte(text), role))
		add(f)
	}
	must(u.Close())
	must(x.Add(u.Rows(), 0))
	x.AddRedirects(info.Redirects)
	f, root, err := x.Write(&w, &out, int64(out.Len()), info)
	must(err)
	add(f)
	footer := bundle.Footer{Root: root, Lists: int64(out.Len())}
	info.FileList, info.DiagnosticList = listInfo(list), listInfo(nil)
	text, err := json.Marshal(info)
	must(err)
	u, err = w.Unit(&out, bundle.Text)
	must(err)
	for _, f := range []struct {
		name string
		data []byte
	}{{bundle.FilesPath, list}, {bundle.DiagnosticsPath, nil}, {bundle.InfoPath, text}} {
		_, err := u.Add(f.name, time.Time{}, f.data)
		must(err)
	}
	must(u.Close())
	return bundle.AppendFooter(out.Bytes(), footer)
}

// says asks for a page until it has a text: until then it may be status 503.
func (r *running) says(t testing.TB, path, text string) {
	t.Helper()
	for range 200 {
		response, body := r.get(t, path)
		if response.StatusCode == 200 && strings.Contains(body, text) {
			return
		}
		if response.StatusCode != 200 && (response.StatusCode != 503 || response.Header.Get("Retry-After") == "") {
			t.Fatalf("%s: status %d, %.80q", path, response.StatusCode, body)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s never says %q:\n%s", path, text, r.log)
}

// TestRanges: a site is answered from its archive at a link, without a copy of it.
func TestRanges(t *testing.T) {
	o := newOrigin(t, indexed(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Ranges: true, Data: data})
	if s := r.status(t); s.Version != "1" || s.SHA256 != "" || s.Domain != "docs.example" || s.Pages != 7 || s.State != "serving" || s.Verified != nil || s.Source != o.URL {
		t.Errorf("%+v", s)
	}
	for _, asked := range o.requests() {
		if asked.Get("Range") == "" {
			t.Error("the whole bundle was asked for")
		}
	}
	r.shows(t, "edition 1")
	r.says(t, "/more/a", "a of 1")
	if response, _ := r.get(t, "/old"); response.StatusCode != 308 || response.Header.Get("Location") != "/guides/start" {
		t.Errorf("/old: status %d to %q", response.StatusCode, response.Header.Get("Location"))
	}
	if response, body := r.get(t, "/nowhere"); response.StatusCode != 404 || body != "<p>nothing here</p>" {
		t.Errorf("/nowhere: status %d, %q", response.StatusCode, body)
	}
	before := len(o.requests())
	r.says(t, "/more/a", "a of 1")
	r.shows(t, "edition 1")
	if n := len(o.requests()) - before; n > 0 {
		t.Errorf("%d requests for what is in memory", n)
	}
	if names := tree(t, data); len(names) > 0 {
		t.Errorf("the volume has %v", names)
	}

	// Nothing has changed: a look is one request.
	r.reload <- struct{}{}
	r.until(t, func(Status) bool {
		return r.metric(t, `bindery_serve_source_checks_total{result="unchanged"}`) == "1"
	})
	if n := len(o.requests()) - before; n != 1 {
		t.Errorf("a look at what is the same takes %d requests", n)
	}

	// Another bundle at the address: what is in memory is answered until the source is
	// looked at, which a read that finds the change has done at once.
	o.set(func() { o.data = indexed(t, "2") })
	r.shows(t, "edition 1")
	r.says(t, "/more/b", "b of 2")
	r.until(t, func(s Status) bool { return s.Version == "2" && s.State == "serving" })
	r.shows(t, "edition 2")
	r.says(t, "/more/a", "a of 2")

	// The source fails for a while.
	o.set(func() { o.status = 503 })
	if response, _ := r.get(t, "/more/c"); response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
		t.Errorf("while the source fails: status %d", response.StatusCode)
	}
	r.shows(t, "edition 2")
	o.set(func() { o.status = 0 })
	r.says(t, "/more/c", "c of 2")
	r.quiet(t)
}

// TestRangesOfAnExpiredLink: a read that the link no longer gives has a fresh one asked
// for.
func TestRangesOfAnExpiredLink(t *testing.T) {
	o := newOrigin(t, indexed(t, "1"))
	file := filepath.Join(t.TempDir(), "renewed")
	r := started(t, Options{Link: o.link(), Ranges: true, Renew: Renewal{File: file}})
	o.set(func() { o.status, o.needs = 403, "fresh=yes" })
	text, err := json.Marshal(renewed{BundleURL: o.link() + "&fresh=yes", Version: "1", SHA256: sum(o.data)})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.says(t, "/more/a", "a of 1")
	if s := r.status(t); s.State != "serving" || s.Problem != nil {
		t.Errorf("%+v", s)
	}
	r.quiet(t)
}

// TestRangesOfAnotherArchive: a source that answers with parts of another archive, whatever
// the condition of the request, never has them sent.
func TestRangesOfAnotherArchive(t *testing.T) {
	o := newOrigin(t, indexed(t, "1"))
	r := started(t, Options{Link: o.link(), Ranges: true})
	o.set(func() { o.deaf, o.data = true, indexed(t, "2") })
	r.says(t, "/more/a", "a of 2")
	r.until(t, func(s Status) bool { return s.Version == "2" && s.State == "serving" })
}

// TestRangesThatBreakOff: a read that breaks off is tried once more before a reader hears
// of it.
func TestRangesThatBreakOff(t *testing.T) {
	o := newOrigin(t, indexed(t, "1"))
	r := started(t, Options{Link: o.link(), Ranges: true})
	o.set(func() { o.cut, o.cuts = 5, 1 })
	if response, body := r.get(t, "/more/a"); response.StatusCode != 200 || !strings.Contains(body, "a of 1") {
		t.Errorf("status %d, %.40q", response.StatusCode, body)
	}
	o.set(func() { o.cut, o.cuts = 5, 2 })
	if response, _ := r.get(t, "/more/b"); response.StatusCode != 503 {
		t.Errorf("after two reads that broke off: status %d", response.StatusCode)
	}
	r.says(t, "/more/b", "b of 1")
}

// TestRangesOfTheSameFiles: a bundle with the same files and another version is another
// version.
func TestRangesOfTheSameFiles(t *testing.T) {
	first, second := indexedAs(t, "1", "1.1"), indexedAs(t, "1", "1.2")
	if len(first) != len(second) {
		t.Fatalf("the bundles have %d and %d bytes", len(first), len(second))
	}
	o := newOrigin(t, first)
	r := started(t, Options{Link: o.link(), Ranges: true})
	o.set(func() { o.data = second })
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "1.2" })
}

// TestLost: a source is looked at again after a read that lost it, at most every five
// seconds, and not because a reader has gone.
func TestLost(t *testing.T) {
	now := time.Unix(1000, 0)
	u := &updater{now: func() time.Time { return now }, damage: make(chan struct{}, 1)}
	asked := func() bool {
		select {
		case <-u.damage:
			return true
		default:
			return false
		}
	}
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, false}, {4 * time.Second, false}, {time.Second, true}} {
		now = now.Add(c.after)
		if u.lost(); asked() != c.want {
			t.Errorf("after %s more: asked %t", c.after, !c.want)
		}
	}
	o := newOrigin(t, indexed(t, "1"))
	source, err := parseSource(o.link(), sourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size, from, err := source.probe(t.Context())
	if err != nil || size != int64(len(o.data)) {
		t.Fatalf("%d bytes, %v", size, err)
	}
	ranges := &remoteRanges{source: source, size: size, from: from, lost: func() { t.Error("the source is looked at for a reader who has gone") }, received: func(int64) {}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ranges.ReadRange(gone, 10, 10); err == nil {
		t.Error("a reader who has gone gets bytes")
	}
	for _, c := range [][2]int64{{-1, 1}, {0, 0}, {size, 1}, {1, size}, {1 << 62, 1 << 62}} {
		if _, err := ranges.ReadRange(t.Context(), c[0], c[1]); err == nil {
			t.Errorf("%d bytes from %d were read", c[1], c[0])
		}
	}
}

// TestRangesOfAPinnedVersion: a look that fails is repeated by the clock, also where a
// version is pinned and no other is looked for.
func TestRangesOfAPinnedVersion(t *testing.T) {
	u := &updater{options: &Options{Ranges: true}, handler: &handler{}, want: want{version: "1"}}
	if wait := u.retryAfter(); wait != 0 {
		t.Errorf("without a failure it looks again after %s", wait)
	}
	u.failed = 1
	if wait := u.retryAfter(); wait != time.Minute {
		t.Errorf("after a failure it looks again after %s", wait)
	}
}

// TestRangesOfAFile: a bundle in a file is read where it is.
func TestRangesOfAFile(t *testing.T) {
	link := write(t, indexed(t, "1"))
	r := started(t, Options{Link: link, Ranges: true})
	r.shows(t, "edition 1")
	if err := os.WriteFile(strings.TrimPrefix(link, "file://")+".new", indexed(t, "2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(strings.TrimPrefix(link, "file://")+".new", strings.TrimPrefix(link, "file://")); err != nil {
		t.Fatal(err)
	}
	r.says(t, "/more/a", "a of 1") // the file that is open
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "2" })
	r.says(t, "/more/a", "a of 2")

	// A look that finds the same keeps the file that is open.
	looks := r.metric(t, `bindery_serve_source_checks_total{result="unchanged"}`)
	r.reload <- struct{}{}
	r.until(t, func(Status) bool {
		return r.metric(t, `bindery_serve_source_checks_total{result="unchanged"}`) != looks
	})

	// Bytes that were changed in place are found, not sent, and have the file looked at.
	if err := os.WriteFile(strings.TrimPrefix(link, "file://"), indexed(t, "3"), 0o644); err != nil {
		t.Fatal(err)
	}
	if response, _ := r.get(t, "/more/b"); response.StatusCode == 200 {
		t.Error("a part of another archive was sent")
	}
	r.until(t, func(s Status) bool { return s.Version == "3" })
	r.says(t, "/more/b", "b of 3")
}

// TestLooksAtAFile: a look that finds the same file keeps the one that is open, from which
// answers may be read.
func TestLooksAtAFile(t *testing.T) {
	link := write(t, indexed(t, "1"))
	source, err := parseSource(link, sourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	m := newMetrics(time.Time{})
	u := &updater{options: &Options{Ranges: true}, log: log, metrics: m, now: time.Now, status: newStatus(time.Now), handler: newHandler("", log, m, site.NewCache(1<<20, 1<<18))}
	ctx, cancel := context.WithCancel(t.Context())
	defer u.close()
	defer cancel()
	var shown [2]*ranged
	for i := range shown {
		if err := u.readRanges(ctx, source, link); err != nil {
			t.Fatal(err)
		}
		shown[i] = u.handler.ranged.Load()
	}
	if shown[0] != shown[1] {
		t.Error("the file was opened again")
	}
}

// TestRangesThatCantBe: what can't be read by ranges is refused, with what to do.
func TestRangesThatCantBe(t *testing.T) {
	good := indexed(t, "1")
	cut := bytes.Clone(good[:len(good)-1])
	changed := bytes.Clone(good)
	changed[len(changed)-bundle.FooterBytes-200] ^= 1 // of the lists
	for _, c := range []struct {
		name   string
		data   []byte
		change func(*origin, *Options)
		code   Code
		says   string
	}{
		{"a bundle of an older release", edition(t, "1"), nil, CodeRefused, "no index"},
		{"a bundle that was cut", cut, nil, CodeRefused, "no index"},
		{"a description that was changed", changed, nil, CodeRefused, "not whole"},
		{"no ranges", good, func(o *origin, _ *Options) { o.noRanges = true }, CodeUsage, "Leave out BINDERY_RANGES"},
		{"no tags", good, func(o *origin, _ *Options) { o.noTags = true }, CodeUsage, "strong ETag"},
		{"no tags, but a time", good, func(o *origin, _ *Options) { o.modified = "Thu, 26 Nov 2026 10:00:00 GMT" }, CodeUsage, "strong ETag"},
		{"another version", good, func(_ *origin, o *Options) { o.Version = "2" }, CodeVersion, `"1", but "2" was requested`},
		{"a digest", good, func(_ *origin, o *Options) { o.SHA256 = sum(nil) }, CodeUsage, "can't be compared"},
		{"an expired link", good, func(o *origin, _ *Options) { o.status = 403 }, CodeLinkExpired, "Generate a new link"},
		{"no file", good, func(_ *origin, o *Options) { o.Link = "file:///nowhere/bundle.tar.gz" }, CodeNotFound, "Check BINDERY_BUNDLE_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOrigin(t, c.data)
			options := Options{Link: o.link(), Ranges: true}
			if c.change != nil {
				c.change(o, &options)
			}
			e, r := fails(t, options)
			if e.Code != c.code || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%s: %v, want %s with %q", e.Code, e, c.code, c.says)
			}
			r.quiet(t)
		})
	}
}
