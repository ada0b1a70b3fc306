package dashboard

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// zipped makes a zip of files: names that end with ".bin" are stored, others deflated.
func zipped(t *testing.T, dir, name string, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: path, Method: zip.Deflate}
		if strings.HasSuffix(path, ".bin") {
			h.Method = zip.Store
		}
		if strings.HasSuffix(path, ".link") {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[path])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return written(t, dir, name, b.Bytes())
}

func written(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// counting has the page remember, across pages, how many uploads it sends.
const counting = `(() => {
	const send = XMLHttpRequest.prototype.send;
	XMLHttpRequest.prototype.send = function (body) { sessionStorage.sent = Number(sessionStorage.sent || 0) + 1; return send.call(this, body); };
	sessionStorage.sent = 0;
	return "";
})()`

// publisher is a person at a browser with the page to publish a folder on.
type publisher struct {
	walker
	up         *harness.Up
	stop       func()
	complaints func() []string
	project    string // the address of its page
}

// openPublisher starts a server and signs somebody in.
func openPublisher(t *testing.T) publisher {
	t.Helper()
	chromium := browse.Chromium(t)
	u := harness.Start(t, t.TempDir())
	link, err := u.Command(t, "sign-in", "--data", u.Data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := browse.Open(t, chromium)
	t.Cleanup(stop)
	p := publisher{walker: walker{t, ctx}, up: u, stop: stop, complaints: browse.Listen(ctx, u.URL)}
	p.goTo(strings.TrimSpace(string(link)))
	p.project = strings.TrimSuffix(p.eval("location.href"), "/exports") + "/projects/" + u.Project
	return p
}

// page opens the page to publish a folder on.
func (p publisher) page() {
	p.t.Helper()
	p.goTo(p.project)
	p.click(`a[href$="/publish"]`)
	p.at("Publish a folder")
	p.eval(counting)
}

func (p publisher) choose(selector, path string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.SetUploadFiles(selector, []string{path})); err != nil {
		p.t.Fatal(err)
	}
}

// refused waits for the form to be back, with what went wrong.
func (p publisher) refused(what, want string) {
	p.t.Helper()
	p.until(what, `!document.querySelector("#publish-problem").hidden && !document.querySelector("#publish").hidden`)
	if said := p.eval(`document.querySelector("#publish-problem").innerText`); !strings.Contains(said, want) {
		p.t.Errorf("%s: %q, want %q", what, said, want)
	}
}

// TestAFolderIsPublishedInABrowser chooses, drops and zips a folder on the page for it,
// and waits for the export that it leads to. The same folder again uploads nothing. What
// can't be published is named.
func TestAFolderIsPublishedInABrowser(t *testing.T) {
	axe := browse.AxeSource(t)
	p := openPublisher(t)
	w, u, ctx, page, choose, refused := p.walker, p.up, p.ctx, p.page, p.choose, p.refused
	exported := func(what, sent string) {
		t.Helper()
		w.until(what+": the export ends", `location.pathname.includes("/exports/exp_") && (document.querySelector("main .status")||{}).innerText == "completed" && !document.querySelector("[data-live]")`)
		if got := w.eval("sessionStorage.sent"); got != sent {
			t.Errorf("%s: %s uploads, want %s", what, got, sent)
		}
	}
	files := func() (n any) {
		t.Helper()
		_, latest, _ := u.Call(t, "GET", "/v1/sites/docs.example.com/snapshots/latest", "")
		return latest["fileCount"]
	}
	dir := filepath.Join(t.TempDir(), "site")
	for name, text := range map[string]string{
		"docs.json": `{"name": "Sample", "navigation": {"pages": ["index", "guides/start"]}}`, "index.mdx": "---\ntitle: Hello\n---\n\nSome words.\n",
		"guides/start.mdx": "---\ntitle: Start\n---\n\nMore words.\n", "empty.css": "", ".mintignore": "drafts/\n", "drafts/a.mdx": "x",
		".git/config": "secret", ".env": "secret", "node_modules/a/index.js": "x", "README.md": "x",
	} {
		written(t, dir, name, []byte(text))
	}
	page()
	choose("#folder", dir)
	exported("a folder", "1")
	if got := files(); got != 4.0 {
		t.Errorf("%v files are published, want 4", got)
	}

	page()
	choose("#folder", dir)
	exported("the same folder", "0")

	written(t, dir, "index.mdx", []byte("---\ntitle: Hello again\n---\n\nOther words.\n"))
	page()
	drop(w, "#publish", dir)
	exported("a folder that is dropped", "1")

	zips := t.TempDir()
	own := map[string]string{
		"site/docs.json": `{"name": "Zipped", "navigation": {"pages": ["index"]}}`, "site/index.mdx": "---\ntitle: Zip\n---\n\n" + strings.Repeat("Words. ", 9000),
		"site/data.bin": "stored", "site/.env": "secret", "__MACOSX/site/._index.mdx": "x", "site/": "",
	}
	for i := range 2001 { // more folders than one call asks for
		own[fmt.Sprintf("site/data/%d/row.json", i)] = "{}"
	}
	page()
	choose("#zip", zipped(t, zips, "site.zip", own))
	exported("a zip with a folder around all", "1")
	if got := files(); got != 2004.0 {
		t.Errorf("%v files of the zip are published, want 2004", got)
	}

	page()
	choose("#zip", written(t, zips, "words.zip", []byte("PK no zip at all")))
	refused("no zip", "words.zip is not a zip, or is damaged.")
	if faults := w.eval(axe + browse.AxeRun); faults != "" {
		t.Errorf("a refused folder: %s", faults)
	}
	browse.KeepPicture(t, ctx, "dashboard-publish-refused", "last")
	choose("#zip", zipped(t, zips, "empty.zip", map[string]string{"a/index.mdx": "x"}))
	refused("no site", "the folder has no docs.json and no mint.json")
	choose("#zip", zipped(t, zips, "out.zip", map[string]string{"docs.json": "{}", "../../up.mdx": "x"}))
	refused("a way out", `../../up.mdx: the path has the element ".."`)
	choose("#zip", zipped(t, zips, "root.zip", map[string]string{"docs.json": "{}", "/etc/passwd": "x"}))
	refused("an absolute path", `/etc/passwd: the path is absolute`)
	good := zipped(t, zips, "good.zip", map[string]string{"docs.json": `{"name": "Good", "navigation": {"pages": ["index"]}}`, "index.mdx": strings.Repeat("a", 5000)})
	for _, c := range []struct {
		name   string
		change func(zip []byte, central int)
		want   string
	}{
		{"encrypted", func(zip []byte, at int) { zip[at+8] |= 1 }, "index.mdx: it is encrypted in the zip."},
		{"another method", func(zip []byte, at int) { zip[at+10] = 93 }, "index.mdx: it is compressed in the zip by a method that is not read here."},
		{"more than it says", func(zip []byte, at int) { binary.LittleEndian.PutUint32(zip[at+24:], 4999) }, "index.mdx: it is damaged in the zip."},
		{"a wrong checksum", func(zip []byte, at int) { zip[at+16] ^= 1 }, "index.mdx: it is damaged in the zip."},
		{"a file that is too large", func(zip []byte, at int) { binary.LittleEndian.PutUint32(zip[at+24:], 600<<20) }, "index.mdx: it has 600.0 MiB, more than the 512.0 MiB that a browser publishes"},
		{"fewer files than there are", func(zip []byte, _ int) {
			end := bytes.LastIndex(zip, []byte("PK\x05\x06"))
			zip[end+8], zip[end+10] = 1, 1
		}, "changed.zip is not a zip, or is damaged."},
		{"Zip64", func(zip []byte, at int) { binary.LittleEndian.PutUint32(zip[at+24:], 0xffffffff) }, "is in the form Zip64"},
	} {
		data, err := os.ReadFile(good)
		if err != nil {
			t.Fatal(err)
		}
		c.change(data, bytes.LastIndex(data, []byte("PK\x01\x02")))
		page()
		choose("#zip", written(t, zips, "changed.zip", data))
		refused(c.name, c.want)
	}

	page()
	choose("#zip", zipped(t, zips, "links.zip", map[string]string{"docs.json": `{"name": "Good", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Hello", "secret.link": "/etc/passwd"}))
	w.until("what was left out is told", `!document.querySelector("#publish-left").hidden`)
	if said := w.eval(`document.querySelector("#publish-left li").innerText`); said != "secret.link: it is a link or something special, not a file" {
		t.Errorf("left out: %q", said)
	}
	w.click("#publish-left a")
	exported("a zip with a link", "1")

	// A failed upload is tried again; storage that never answers is named.
	written(t, dir, "index.mdx", []byte("---\ntitle: Third\n---\n"))
	page()
	w.eval(`(() => {
		const open = XMLHttpRequest.prototype.open;
		let left = 2;
		XMLHttpRequest.prototype.open = function (method, url) { return open.call(this, method, left-- > 0 ? "/_objects/none?method=PUT&broken" : url); };
		const set = setTimeout; window.setTimeout = (f, ms) => set(f, ms > 900 && ms < 20000 ? 1 : ms);
		return "";
	})()`)
	choose("#folder", dir)
	exported("links that ended twice", "3")

	p.stop()
	for _, complaint := range p.complaints() {
		if !strings.Contains(complaint, "/_objects/none") && !strings.Contains(complaint, "/publish/") {
			t.Error(complaint)
		}
	}
}

// drop drops a folder of the disk, as a file manager does.
func drop(w walker, selector, path string) {
	w.t.Helper()
	x, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]float64](`(() => { const r = document.querySelector("`+selector+`").getBoundingClientRect(); return [r.x + r.width / 2, r.y + 20]; })()`))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		if _, err := chromedp.Call(w.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x[0], Y: x[1], Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1},
		}); err != nil {
			w.t.Fatalf("%s: %v", kind, err)
		}
	}
}

// asked has the page show the first list of files and folders that it asks about, as what
// went wrong: nothing is published.
const asked = `(() => {
	window.fetch = async (url, call) => {
		const { folders, files } = JSON.parse(call.body);
		return new Response(JSON.stringify({ error: "asked about " + [...folders, ...files].join(" ") + "." }), { status: 400 });
	};
	return "";
})()`

// unicodeName is the field of a zip that has a file's name in UTF-8, beside that of an old
// program.
func unicodeName(version byte, raw, name string) []byte {
	field := append([]byte{0x75, 0x70, byte(5 + len(name)), 0, version}, binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(raw)))...)
	return append(field, name...)
}

// Names of files in a zip are in UTF-8, or have their spelling in UTF-8 beside them. Others
// are refused: they would be wrong addresses.
func TestNamesInAZip(t *testing.T) {
	p := openPublisher(t)
	p.page()
	p.eval(asked)
	dir := t.TempDir()
	const oem = "\x9abersicht.mdx" // code page 437
	for _, c := range []struct {
		what string
		file zip.FileHeader
		want string
	}{
		{"UTF-8", zip.FileHeader{Name: "Übersicht.mdx"}, "asked about docs.json Übersicht.mdx."},
		{"UTF-8 without a flag", zip.FileHeader{Name: "Übersicht.mdx", NonUTF8: true}, "asked about docs.json Übersicht.mdx."},
		{"a code page", zip.FileHeader{Name: oem, NonUTF8: true}, "names.zip has names of files that are not in UTF-8, which is not read here: drop the folder instead."},
		{"a code page, with UTF-8 beside it", zip.FileHeader{Name: oem, NonUTF8: true, Extra: unicodeName(1, oem, "Übersicht.mdx")}, "asked about docs.json Übersicht.mdx."},
		{"behind another field", zip.FileHeader{Name: oem, NonUTF8: true, Extra: append([]byte{1, 2, 1, 0, 0}, unicodeName(1, oem, "Übersicht.mdx")...)}, "asked about docs.json Übersicht.mdx."},
		{"UTF-8 of another name", zip.FileHeader{Name: oem, NonUTF8: true, Extra: unicodeName(1, "old.mdx", "Übersicht.mdx")}, "not in UTF-8"},
		{"UTF-8 of another version", zip.FileHeader{Name: oem, NonUTF8: true, Extra: unicodeName(2, oem, "Übersicht.mdx")}, "not in UTF-8"},
		{"no UTF-8 beside it", zip.FileHeader{Name: oem, NonUTF8: true, Extra: unicodeName(1, oem, oem)}, "not in UTF-8"},
		{"a field that is cut off", zip.FileHeader{Name: oem, NonUTF8: true, Extra: unicodeName(1, oem, "Übersicht.mdx")[:12]}, "not in UTF-8"},
		{"backslashes of Windows", zip.FileHeader{Name: `guides\a.mdx`, CreatorVersion: 10 << 8}, "asked about guides docs.json."},
		{"a backslash of Unix", zip.FileHeader{Name: `a\b.mdx`, CreatorVersion: 3 << 8}, `asked about docs.json a\b.mdx.`},
	} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, h := range []*zip.FileHeader{{Name: "docs.json"}, &c.file} {
			if _, err := w.CreateHeader(h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		p.eval(`document.querySelector("#publish-problem").textContent = ""`)
		p.choose("#zip", written(t, dir, "names.zip", b.Bytes()))
		p.until(c.what, `document.querySelector("#publish-problem").textContent != ""`)
		p.refused(c.what, c.want)
	}
}

// A call that is to come later, or that still runs, is repeated after a pause.
func TestCallsOfAPublishAreRepeated(t *testing.T) {
	p := openPublisher(t)
	p.page()
	p.eval(`(() => {
		const own = fetch, set = setTimeout, answers = [
			[429, {}, { "Retry-After": "Fri, 27 Nov 2026 08:00:00 GMT" }],
			[409, { code: "idempotency_running" }, { "Retry-After": "7" }],
			[503, {}, { "Retry-After": "3600" }],
		];
		sessionStorage.waits = "";
		window.setTimeout = (f, ms) => { sessionStorage.waits += " " + ms; return set(f, ms < 60000 ? 1 : ms); };
		window.fetch = (url, call) => {
			const [status, body, headers] = url.endsWith("/finish") && answers.shift() || [];
			return status ? Promise.resolve(new Response(JSON.stringify(body), { status, headers })) : own(url, call);
		};
		return "";
	})()`)
	p.choose("#zip", zipped(t, t.TempDir(), "site.zip", map[string]string{"docs.json": `{"name": "Sample", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Hello"}))
	p.until("the export's page", `location.pathname.includes("/exports/exp_")`)
	if waits := p.eval("sessionStorage.waits"); !strings.HasSuffix(waits, " 1000 7000 30000") {
		t.Errorf("the pauses are%s", waits)
	}
}

// Storage refuses an upload with 400 for bytes that changed, and for reasons that pass.
func TestAnUploadThatStorageRefuses(t *testing.T) {
	p := openPublisher(t)
	refuse := func(body string, times int) {
		p.page()
		p.eval(fmt.Sprintf(`(() => {
			const open = XMLHttpRequest.prototype.open, set = setTimeout;
			let left = %d;
			window.setTimeout = (f, ms) => set(f, ms < 60000 ? 1 : ms);
			XMLHttpRequest.prototype.open = function (method, url) {
				if (left-- > 0) Object.defineProperties(this, { status: { value: 400 }, responseText: { value: %q } });
				return open.call(this, method, left >= 0 ? "/_objects/none?broken" : url);
			};
			return "";
		})()`, times, body))
	}
	site := zipped(t, t.TempDir(), "site.zip", map[string]string{"docs.json": `{"name": "Sample", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Hello"})
	for _, body := range []string{"<Code>BadDigest</Code>", "<Code>InvalidRequest</Code><Message>Value for x-amz-checksum-sha256 header is invalid.</Message>", "<Code>XAmzContentSHA256Mismatch</Code>"} {
		refuse(body, 1)
		p.choose("#zip", site)
		p.refused(body, "docs.json and 1 other file: the file changed while it was read")
	}
	refuse("<Code>RequestTimeout</Code>", 5)
	p.choose("#zip", site)
	p.refused("storage that is slow five times", "docs.json and 1 other file: the upload failed 5 times, at last with 400.")
	refuse("<Code>RequestTimeout</Code>", 4)
	p.choose("#zip", site)
	p.until("the export's page", `location.pathname.includes("/exports/exp_")`)
}

func TestABrowserThatCannotChooseFolders(t *testing.T) {
	p := openPublisher(t)
	p.page()
	p.eval(`Object.defineProperty(File.prototype, "webkitRelativePath", { get: () => "" }), ""`)
	dir := t.TempDir()
	written(t, dir, "docs.json", []byte("{}"))
	p.choose("#folder", dir)
	p.refused("no folder", "This browser can’t choose folders; choose a zip.")
}
