package bundle

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
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type content struct{ path, data string }

// build makes a bundle of three units. change may alter the entries of the
// last unit and the description before they are written.
func build(t testing.TB, files []content, change func(list *[]File, info *Info, tail *[]content)) []byte {
	t.Helper()
	return buildText(t, files, change, func(name, text string) string { return text })
}

// buildText is build, and edits the text of the list and of the description.
func buildText(t testing.TB, files []content, change func(list *[]File, info *Info, tail *[]content), edit func(name, text string) string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w Writers
	var list []File
	for i, part := range [][]content{files[:len(files)/2], files[len(files)/2:]} {
		u, err := w.Unit(&out, []Compression{Text, Stored}[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range part {
			line, err := u.Add(f.path, time.Unix(1_700_000_000, 0), []byte(f.data))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, line)
		}
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info := Info{Format: 1, Domain: "docs.example", Version: "1", Files: len(list)}
	for _, f := range list {
		info.Bytes += f.Size
	}
	var tail []content
	if change != nil {
		change(&list, &info, &tail)
	}
	var lines []byte
	for _, f := range list {
		lines = f.AppendLine(lines)
	}
	lines = []byte(edit(FilesPath, string(lines)))
	info.FileList, info.DiagnosticList = listInfo(lines), listInfo(nil)
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	u, err := w.Unit(&out, Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append([]content{{FilesPath, string(lines)}, {DiagnosticsPath, ""}, {InfoPath, edit(InfoPath, string(text))}}, tail...) {
		if _, err := u.AddFrom(f.path, time.Time{}, int64(len(f.data)), strings.NewReader(f.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func listInfo(b []byte) ListInfo {
	sum := sha256.Sum256(b)
	return ListInfo{int64(len(b)), hex.EncodeToString(sum[:])}
}

var sample = []content{
	{"404.html", "<p>none</p>"},
	{"guides/a.html", strings.Repeat("<p>text</p>", 500)},
	{"guides/" + strings.Repeat("long-name/", 20) + "b.html", "b"},
	{"images/größe.png", "\x89PNG\x00"},
	{"index.html", ""},
}

// A bundle reads back as it was written, also with the standard library's
// readers, and unpacks to the same files.
func TestRoundTrip(t *testing.T) {
	data := build(t, sample, nil)
	info, err := Read(context.Background(), bytes.NewReader(data), Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info.Files != len(sample) {
		t.Errorf("%d files, want %d", info.Files, len(sample))
	}

	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Mode != 0o644 || h.Uid != 0 || h.Uname != "" || h.Typeflag != tar.TypeReg {
			t.Errorf("%s: header %+v", h.Name, h)
		}
	}
	want := []string{FilesPath, DiagnosticsPath, InfoPath}
	if d := cmp.Diff(want, names[len(names)-3:]); d != "" {
		t.Error(d)
	}

	dir := filepath.Join(t.TempDir(), "out")
	if _, _, err := Unpack(context.Background(), bytes.NewReader(data), dir, Limits{}); err != nil {
		t.Fatal(err)
	}
	for _, f := range sample {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.path)))
		if err != nil || string(got) != f.data {
			t.Errorf("%s: %q, %v", f.path, got, err)
		}
	}
	if _, _, err := Unpack(context.Background(), bytes.NewReader(data), dir, Limits{}); err == nil {
		t.Error("a folder that is not empty was unpacked into")
	}
}

// The same files give the same bytes, with a fresh and with a used compressor.
func TestSameBytes(t *testing.T) {
	if a, b := build(t, sample, nil), build(t, sample, nil); !bytes.Equal(a, b) {
		t.Error("two bundles of the same files differ")
	}
}

// Wherever a bundle is cut, it is told.
func TestCutAnywhere(t *testing.T) {
	data := build(t, sample, nil)
	for n := range data {
		_, err := Read(context.Background(), bytes.NewReader(data[:n]), Limits{}, nil)
		var e *Error
		if !errors.As(err, &e) || e.Fault != Truncated {
			t.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
	}
}

// Wherever one bit is changed, it is told, or nothing that readers see changed.
func TestChangedAnywhere(t *testing.T) {
	data := build(t, sample, nil)
	want, err := contents(data)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(1))
	for range 2000 {
		at, bit := rnd.Intn(len(data)), rnd.Intn(8)
		changed := bytes.Clone(data)
		changed[at] ^= 1 << bit
		if text, err := contents(changed); err == nil && text != want {
			t.Fatalf("bit %d of byte %d changed, and it was not told", bit, at)
		}
	}
}

// contents gives all names and bytes of a bundle.
func contents(data []byte) (string, error) {
	var all strings.Builder
	_, err := Read(context.Background(), bytes.NewReader(data), Limits{}, func(e Entry, r io.Reader) error {
		all.WriteString(e.Path + "\n")
		_, err := io.Copy(&all, r)
		return err
	})
	return all.String(), err
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(list *[]File, info *Info, tail *[]content)
		want   Fault
	}{
		{"a file is not in the list", func(l *[]File, _ *Info, _ *[]content) { *l = (*l)[:len(*l)-1] }, Mismatch},
		{"a listed file is missing", func(l *[]File, _ *Info, _ *[]content) { *l = append(*l, File{Path: "x", SHA256: "00"}) }, Mismatch},
		{"another digest", func(l *[]File, _ *Info, _ *[]content) { (*l)[0].SHA256 = strings.Repeat("0", 64) }, Corrupt},
		{"another order", func(l *[]File, _ *Info, _ *[]content) { (*l)[0], (*l)[1] = (*l)[1], (*l)[0] }, Mismatch},
		{"wrong counts", func(_ *[]File, i *Info, _ *[]content) { i.Files++ }, Mismatch},
		{"another form", func(_ *[]File, i *Info, _ *[]content) { i.Format = Format + 1 }, Unknown},
		{"no form", func(_ *[]File, i *Info, _ *[]content) { i.Format = 0 }, Unknown},
		{"groups in a form without", func(_ *[]File, i *Info, _ *[]content) { i.Format, i.Groups = 1, []string{"staff"} }, Corrupt},
		{"a file behind the description", func(_ *[]File, _ *Info, tail *[]content) { *tail = []content{{"late.html", ""}} }, Mismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(context.Background(), bytes.NewReader(build(t, sample, c.change)), Limits{}, nil)
			var e *Error
			if !errors.As(err, &e) || e.Fault != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A bundle has the oldest form that can describe it: a server of before must not
// refuse one that has nothing new.
func TestForms(t *testing.T) {
	for _, groups := range [][]string{nil, {"board", "staff"}} {
		data := build(t, sample, func(_ *[]File, i *Info, _ *[]content) {
			i.Groups = groups
			i.Format = FormatOf(i)
		})
		info, err := Read(context.Background(), bytes.NewReader(data), Limits{}, nil)
		if err != nil || !slices.Equal(info.Groups, groups) || info.Format != 1+min(len(groups), 1) {
			t.Errorf("of the groups %q: %+v, %v", groups, info, err)
		}
	}
}

// The description and the list say each thing once, under its own name, and
// nothing that this program does not know.
func TestNamesAreExact(t *testing.T) {
	for _, c := range []struct {
		name, file, old, new string
		want                 Fault
		message              string
	}{
		{"another case", InfoPath, `"domain"`, `"Domain"`, Corrupt, "Domain: is not a known field"},
		{"another case below", InfoPath, `"errors"`, `"Errors"`, Corrupt, "diagnostics.Errors: is not a known field"},
		{"another case beside the right one", InfoPath, `{`, `{"VERSION":"2",`, Corrupt, "VERSION: is not a known field"},
		{"twice", InfoPath, `{`, `{"version":"2",`, Corrupt, "version: is there twice"},
		{"an unknown field", InfoPath, `{`, `{"owner":"x",`, Corrupt, "owner: is not a known field"},
		{"an unknown field of another form", InfoPath, `{"format":1,`, `{"format":3,"owner":"x",`, Unknown, "format 3"},
		{"not UTF-8", InfoPath, `docs.example`, "docs\xff", Corrupt, "domain: is not valid UTF-8"},
		{"a line of another case", FilesPath, `"path"`, `"Path"`, Corrupt, "Path: is not a known field"},
		{"a line that says twice", FilesPath, `{"path"`, `{"size":7,"path"`, Corrupt, "size: is there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := buildText(t, sample, nil, func(name, text string) string {
				if name == c.file {
					return strings.Replace(text, c.old, c.new, 1)
				}
				return text
			})
			_, err := Read(context.Background(), bytes.NewReader(data), Limits{}, nil)
			var e *Error
			if !errors.As(err, &e) || e.Fault != c.want || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v, want %s: %s", err, c.want, c.message)
			}
		})
	}
}

// Names that don't belong into an archive are refused when written and when read.
func TestUnsafeNames(t *testing.T) {
	for _, name := range []string{"", "/abs", "../up", "a/../b", "a//b", "a/", "./a", `a\b`, "C:x", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 2000)} {
		var w Writers
		u, err := w.Unit(io.Discard, Text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Add(name, time.Time{}, nil); err == nil {
			t.Errorf("%q was written", name)
		}

		var raw bytes.Buffer
		gz := gzip.NewWriter(&raw)
		tw := tar.NewWriter(gz)
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}); err != nil {
			continue // the format itself can't say it
		}
		if err := errors.Join(tw.Close(), gz.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(context.Background(), &raw, Limits{}, nil); err == nil {
			t.Errorf("%q was read", name)
		}
	}
}

// What is no plain file, stands twice, or is both file and folder is refused.
func TestUnsafeEntries(t *testing.T) {
	file := func(name string) *tar.Header { return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }
	for _, c := range []struct {
		name    string
		entries []*tar.Header
	}{
		{"link", []*tar.Header{{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc/passwd"}}},
		{"hard link", []*tar.Header{{Typeflag: tar.TypeLink, Name: "a", Linkname: "b"}}},
		{"device", []*tar.Header{{Typeflag: tar.TypeChar, Name: "a"}}},
		{"folder", []*tar.Header{{Typeflag: tar.TypeDir, Name: "a"}}},
		{"twice", []*tar.Header{file("a"), file("a")}},
		{"twice but for case", []*tar.Header{file("a/B"), file("A/b")}},
		{"file then folder", []*tar.Header{file("a"), file("a/b")}},
		{"folder then file", []*tar.Header{file("a/b"), file("A")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var raw bytes.Buffer
			gz := gzip.NewWriter(&raw)
			tw := tar.NewWriter(gz)
			for _, h := range c.entries {
				if err := tw.WriteHeader(h); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(tw.Close(), gz.Close()); err != nil {
				t.Fatal(err)
			}
			_, err := Read(context.Background(), &raw, Limits{}, nil)
			var e *Error
			if !errors.As(err, &e) || e.Fault != Unsafe {
				t.Errorf("%v, want %s", err, Unsafe)
			}
		})
	}
}

// Blocks of zeros in the middle would hide the rest from readers.
func TestEndInTheMiddle(t *testing.T) {
	var first bytes.Buffer
	gz := gzip.NewWriter(&first)
	tw := tar.NewWriter(gz)
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	data := build(t, sample, nil)
	for _, both := range [][]byte{append(first.Bytes(), data...), append(bytes.Clone(data), data...)} {
		if _, err := Read(context.Background(), bytes.NewReader(both), Limits{}, nil); err == nil {
			t.Error("data behind the end of the archive was not told")
		}
	}
}

func TestLimits(t *testing.T) {
	data := build(t, sample, nil)
	for _, l := range []Limits{{Files: 3}, {Bytes: 1000}} {
		_, err := Read(context.Background(), bytes.NewReader(data), l, nil)
		var e *Error
		if !errors.As(err, &e) || e.Fault != TooLarge {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// A reader that fails, or a context that ends, is not the bundle's fault.
func TestNotTheBundlesFault(t *testing.T) {
	data := build(t, sample, nil)
	broken := errors.New("connection lost")
	_, err := Read(context.Background(), io.MultiReader(bytes.NewReader(data[:100]), failing{broken}), Limits{}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(data), Limits{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// The line of a file is JSON that reads back as the file.
func TestLines(t *testing.T) {
	for _, f := range []File{{"a", 0, "00"}, {"größe \"x\".png", 1 << 40, "ff"}, {"<&>\u2028", 9, ""}} {
		var back File
		if err := json.Unmarshal(f.AppendLine(nil), &back); err != nil || back != f {
			t.Errorf("%+v reads back as %+v (%v)", f, back, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	data := build(f, sample, nil)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte{0x1f, 0x8b})
	f.Add(append(bytes.Clone(data), data...))
	f.Add(build(f, nil, nil))
	f.Add(build(f, sample, func(list *[]File, _ *Info, _ *[]content) { (*list)[0].Path = "x\u2028" }))
	f.Add(build(f, sample, func(_ *[]File, _ *Info, tail *[]content) { *tail = []content{{"late/x", "x"}} }))
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"},
		{Typeflag: tar.TypeReg, Name: "a/../b"},
		{Typeflag: tar.TypeReg, Name: strings.Repeat("n/", 300) + "x", Format: tar.FormatPAX},
		{Typeflag: tar.TypeReg, Name: "p", PAXRecords: map[string]string{"K.k": "v"}},
		{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{"K.k": "v"}},
	} {
		f.Add(rawArchive(f, func(tw *tar.Writer, _ io.Writer) error { return errors.Join(tw.WriteHeader(&h), tw.Close()) }))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var sum int64
		_, err := Read(context.Background(), bytes.NewReader(data), Limits{Files: 100, Bytes: 1 << 20}, func(e Entry, r io.Reader) error {
			if reason := unsafeName(e.Path); reason != "" {
				t.Errorf("%q is given to callers: %s", e.Path, reason)
			}
			n, err := io.Copy(io.Discard, r)
			if sum += n; sum > 1<<20 {
				t.Errorf("%d bytes are given to callers", sum)
			}
			return err
		})
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%v is no fault of the bundle", err)
		}
	})
}
