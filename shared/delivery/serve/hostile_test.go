package serve

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"

	"github.com/bindery-docs/bindery/tests/outside"
)

// forged is an archive as an attacker may write it: by itself a sound bundle of
// one page.
type forged struct {
	entries []*tar.Header     // the page, and what is added
	data    map[string]string // of entries that have some
	list    func(list []bundle.File) []bundle.File
	info    func(*bundle.Info)
	tail    []*tar.Header // behind the description
	between []*tar.Header // between the list and the description
	without string        // a file of the three that is left out
	after   []byte        // in the gzip stream, behind the archive's end
	zeros   int64         // as many behind that
}

func member(name, data string) (*tar.Header, string) {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX}, data
}

func (f *forged) add(name, data string) {
	h, data := member(name, data)
	f.entries = append(f.entries, h)
	f.data[name] = data
}

func (f *forged) special(kind byte, name, target string) {
	f.entries = append(f.entries, &tar.Header{Typeflag: kind, Name: name, Linkname: target, Mode: 0o644})
}

func (f *forged) bytes(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	put := func(h *tar.Header, data string) {
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, data); err != nil {
			t.Fatal(err)
		}
	}
	var list []bundle.File
	info := bundle.Info{Format: bundle.Format, Domain: "docs.example", Version: "1"}
	for _, h := range f.entries {
		put(h, f.data[h.Name])
		if h.Typeflag == tar.TypeReg {
			list = append(list, bundle.File{Path: h.Name, Size: h.Size, SHA256: sum([]byte(f.data[h.Name]))})
			info.Files++
			info.Bytes += h.Size
		}
	}
	if f.list != nil {
		list = f.list(list)
	}
	var lines []byte
	for _, line := range list {
		lines = line.AppendLine(lines)
	}
	info.FileList, info.DiagnosticList = listInfo(lines), listInfo(nil)
	if f.info != nil {
		f.info(&info)
	}
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []struct{ name, data string }{{bundle.FilesPath, string(lines)}, {bundle.DiagnosticsPath, ""}, {bundle.InfoPath, string(text)}} {
		if own.name == bundle.InfoPath {
			for _, h := range f.between {
				put(h, "")
			}
		}
		if d, ok := f.data[own.name]; ok {
			own.data = d
		}
		if own.name != f.without {
			put(member(own.name, own.data))
		}
	}
	for _, h := range f.tail {
		put(h, "")
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := gz.Write(f.after); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(gz, io.LimitReader(zeroReader{}, f.zeros)); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// testLimits are small, so that their excess is quick to make.
var testLimits = bundle.Limits{Files: 50, Bytes: 1 << 20}

// newVolume is an empty data folder.
func newVolume(t testing.TB) *volume {
	t.Helper()
	v := &volume{dir: t.TempDir(), limits: testLimits, log: slog.New(slog.DiscardHandler)}
	release, err := v.lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return v
}

func (v *volume) addBytes(t testing.TB, data []byte, w want) (record, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return v.add(context.Background(), name, w, &bundleSource{key: "test", Where: "test", File: name}, validators{}, "")
}

// TestHostileArchives: none of these is taken; each is refused with a reason,
// and nothing of it stays.
func TestHostileArchives(t *testing.T) {
	outside.NoRace(t, "it opens one bundle after another")
	named := func(name string) func(*forged) { return func(f *forged) { f.add(name, "evil") } }
	for _, c := range []struct {
		name  string
		forge func(*forged)
		want  bundle.Fault
		says  string
	}{
		{"an absolute path", named("/etc/evil"), bundle.Unsafe, "absolute"},
		{"a path above", named("../evil"), bundle.Unsafe, "dots"},
		{"a path above, later", named("a/../../evil"), bundle.Unsafe, "dots"},
		{"the folder itself", named("."), bundle.Unsafe, "dots"},
		{"an empty element", named("a//evil"), bundle.Unsafe, "empty element"},
		{"backslashes", named(`..\evil`), bundle.Unsafe, "backslash"},
		{"a drive", named("C:evil"), bundle.Unsafe, "drive"},
		{"a line end in a name", named("a\nevil"), bundle.Unsafe, "control"},
		{"a name that is not UTF-8", named("evil\xff"), bundle.Unsafe, "UTF-8"},
		{"a name of two kilobytes", named(strings.Repeat("e/", 1024) + "vil"), bundle.Unsafe, "too long"},
		{"a name that no file system takes", named(strings.Repeat("e", 256)), bundle.Unsafe, "too long"},
		{"a folder that no file system takes", named(strings.Repeat("e", 256) + "/vil"), bundle.Unsafe, "too long"},
		{"a symbolic link", func(f *forged) { f.special(tar.TypeSymlink, "evil", "/etc/passwd") }, bundle.Unsafe, "not a regular file"},
		{"a file through a link", func(f *forged) { f.special(tar.TypeSymlink, "out", ".."); f.add("out/evil", "x") }, bundle.Unsafe, "not a regular file"},
		{"a hard link", func(f *forged) { f.special(tar.TypeLink, "evil", "index.html") }, bundle.Unsafe, "not a regular file"},
		{"a character device", func(f *forged) { f.special(tar.TypeChar, "evil", "") }, bundle.Unsafe, "not a regular file"},
		{"a block device", func(f *forged) { f.special(tar.TypeBlock, "evil", "") }, bundle.Unsafe, "not a regular file"},
		{"a pipe", func(f *forged) { f.special(tar.TypeFifo, "evil", "") }, bundle.Unsafe, "not a regular file"},
		{"a folder", func(f *forged) { f.special(tar.TypeDir, "evil/", "") }, bundle.Unsafe, "not a regular file"},
		{"a name twice", named("index.html"), bundle.Unsafe, "twice"},
		{"names that differ by case", named("INDEX.html"), bundle.Unsafe, "case"},
		{"a file where a folder is", func(f *forged) { f.add("a/b", "x"); f.add("A", "evil") }, bundle.Unsafe, ""},
		{"a folder where a file is", named("index.html/evil"), bundle.Unsafe, "also a file"},
		{"too many files", func(f *forged) {
			for i := range 60 {
				f.add(fmt.Sprint("f", i), "")
			}
		}, bundle.TooLarge, "more than 50 files"},
		{"too many folders", named(strings.Repeat("d/", 60) + "f"), bundle.TooLarge, "folders"},
		{"too many bytes", func(f *forged) { f.add("large", strings.Repeat("x", 2<<20)) }, bundle.TooLarge, "bytes"},
		{"zeros without an end behind it", func(f *forged) { f.zeros = 8 << 20 }, bundle.Corrupt, "do not end"},
		{"data behind its end", func(f *forged) { f.after = []byte("evil") }, bundle.Corrupt, "after the end"},
		{"another archive behind it", func(f *forged) {
			f.after = bytes.Repeat([]byte("evil"), 512)
		}, bundle.Corrupt, "after the end"},
		{"no description", func(f *forged) { f.without = bundle.InfoPath }, bundle.Truncated, "missing"},
		{"no list of files", func(f *forged) { f.without = bundle.FilesPath }, bundle.Mismatch, "missing"},
		{"no list of diagnostics", func(f *forged) { f.without = bundle.DiagnosticsPath }, bundle.Mismatch, "missing"},
		{"a file behind the description", func(f *forged) { h, _ := member("evil", ""); f.tail = append(f.tail, h) }, bundle.Mismatch, "after the description"},
		{"a file behind the list", func(f *forged) { h, _ := member("evil", ""); f.between = append(f.between, h) }, bundle.Mismatch, "after the list"},
		{"a file that no list has", func(f *forged) {
			f.add("evil", "")
			f.list = func(l []bundle.File) []bundle.File { return l[:1] }
			f.info = func(i *bundle.Info) { i.Files = 1 }
		}, bundle.Mismatch, "not in the list"},
		{"a list with a file that is not there", func(f *forged) {
			f.list = func(l []bundle.File) []bundle.File { return append(l, bundle.File{Path: "gone", SHA256: sum(nil)}) }
		}, bundle.Mismatch, "not in the bundle"},
		{"another digest in the list", func(f *forged) {
			f.list = func(l []bundle.File) []bundle.File { l[0].SHA256 = sum(nil); return l }
		}, bundle.Corrupt, "digest"},
		{"another size in the list", func(f *forged) {
			f.list = func(l []bundle.File) []bundle.File { l[0].Size++; return l }
		}, bundle.Corrupt, "bytes"},
		{"another list than the description names", func(f *forged) { f.info = func(i *bundle.Info) { i.FileList.SHA256 = sum(nil) } }, bundle.Corrupt, "not the one"},
		{"a description that counts less", func(f *forged) { f.info = func(i *bundle.Info) { i.Files-- } }, bundle.Mismatch, "counts"},
		{"a form of the future", func(f *forged) { f.info = func(i *bundle.Info) { i.Format = 99 } }, bundle.Unknown, "format 99"},
		{"a description that is no JSON", func(f *forged) { f.data[bundle.InfoPath] = "{" }, bundle.Corrupt, "can't be read"},
		{"a description of 17 MiB", func(f *forged) { f.data[bundle.InfoPath] = strings.Repeat(" ", 17<<20) }, bundle.TooLarge, ""},
		{"a redirect that can't be read", func(f *forged) {
			f.info = func(i *bundle.Info) { i.Redirects = []bundle.Redirect{{From: "/a?%zz", To: "/b"}} }
		}, bundle.Corrupt, "redirect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &forged{data: map[string]string{}}
			f.add("index.html", "home")
			c.forge(f)
			v := newVolume(t)
			before := tree(t, v.dir)
			_, err := v.addBytes(t, f.bytes(t), want{})
			refusedAs(t, err, c.want, c.says)
			if diff := cmp.Diff(before, tree(t, v.dir)); diff != "" {
				t.Error("something was left behind:", diff)
			}
		})
	}
	// What the cases change is a bundle that would be taken.
	f := &forged{data: map[string]string{}}
	f.add("index.html", "home")
	if _, err := newVolume(t).addBytes(t, f.bytes(t), want{}); err != nil {
		t.Fatal(err)
	}
}

// refusedAs checks the error of an archive that is refused.
func refusedAs(t *testing.T, err error, fault bundle.Fault, says string) {
	t.Helper()
	e, inner := (*Error)(nil), (*bundle.Error)(nil)
	if !errors.As(err, &e) || e.Code != CodeRefused || !errors.As(err, &inner) || inner.Fault != fault {
		t.Errorf("%v, want it refused as %s", err, fault)
		return
	}
	if !strings.Contains(err.Error(), says) || e.Advice == "" {
		t.Errorf("the reason %q does not speak of %q", err, says)
	}
}

// TestNoArchive: what is no archive at all.
func TestNoArchive(t *testing.T) {
	outside.NoRace(t, "it opens one bundle after another")
	good := bundleOf(t, "1", sample(), nil)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	noise := make([]byte, 4096)
	rand.New(rand.NewSource(1)).Read(noise)
	bomb := func() []byte { // one member that unfolds into zeros alone
		var out bytes.Buffer
		gz := gzip.NewWriter(&out)
		if _, err := io.Copy(gz, io.LimitReader(zeroReader{}, 64<<20)); err != nil {
			t.Fatal(err)
		}
		gz.Close()
		return out.Bytes()
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"nothing", nil},
		{"a page of a proxy", []byte("<html>Sign in</html>")},
		{"noise", noise},
		{"one bit is another", flipped},
		{"noise behind it", append(bytes.Clone(good), noise...)},
		{"the archive twice", append(bytes.Clone(good), good...)},
		{"zeros alone", bomb()},
		{"not packed", []byte(strings.Repeat("\x00", 1024))},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVolume(t)
			before := tree(t, v.dir)
			_, err := v.addBytes(t, c.data, want{})
			if codeOf(err) != CodeRefused {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, tree(t, v.dir)); diff != "" {
				t.Error("something was left behind:", diff)
			}
		})
	}
}

// TestCutAnywhere: an archive that ends too early never looks like a smaller
// site.
func TestCutAnywhere(t *testing.T) {
	data := bundleOf(t, "1", content{"index.html": "home", "a/b.html": "b"}, nil)
	v := newVolume(t)
	before := tree(t, v.dir)
	step := 3
	if outside.Short(t) {
		step = 17
	}
	for n := 0; n < len(data); n += step {
		_, err := v.addBytes(t, data[:n], want{})
		refusedAs(t, err, bundle.Truncated, "")
		if t.Failed() {
			t.Fatalf("cut at %d of %d", n, len(data))
		}
	}
	if diff := cmp.Diff(before, tree(t, v.dir)); diff != "" {
		t.Error("something was left behind:", diff)
	}
	if _, err := v.addBytes(t, data, want{}); err != nil {
		t.Error(err)
	}
}

// TestWanted: a bundle of another version or digest is not taken, and nothing
// of it stays.
func TestWanted(t *testing.T) {
	data := bundleOf(t, "1", sample(), nil)
	for _, c := range []struct {
		name string
		want want
		code Code
	}{
		{"another version", want{version: "2"}, CodeVersion},
		{"another digest", want{digest: sum(nil)}, CodeDigest},
		{"the digest of another version", want{version: "1", digest: sum(nil)}, CodeDigest},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVolume(t)
			before := tree(t, v.dir)
			if _, err := v.addBytes(t, data, c.want); codeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if diff := cmp.Diff(before, tree(t, v.dir)); diff != "" {
				t.Error("something was left behind:", diff)
			}
			r, err := v.addBytes(t, data, want{version: "1", digest: sum(data)})
			if err != nil || r.Digest != sum(data) {
				t.Fatal(r, err)
			}
			// Also when it is on the volume already.
			if _, err := v.addBytes(t, data, c.want); codeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}
