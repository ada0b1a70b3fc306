package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rawArchive is a tar in gzip as an attacker may write it.
func rawArchive(t testing.TB, write func(tw *tar.Writer, raw io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	if err := write(tw, gz); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Wherever a bundle is cut, unpacking it tells. (TestCutAnywhere cuts at every
// byte.)
func TestUnpackCutAnywhere(t *testing.T) {
	data := build(t, []content{{"a/b.html", "<p>text</p>"}, {"c.png", "\x89PNG"}}, nil)
	root := t.TempDir()
	for n := 0; n < len(data); n += 7 {
		dir := filepath.Join(root, fmt.Sprint(n))
		_, _, err := Unpack(context.Background(), bytes.NewReader(data[:n]), dir, Limits{})
		var e *Error
		if !errors.As(err, &e) || e.Fault != Truncated {
			t.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
	}
	if _, _, err := Unpack(context.Background(), bytes.NewReader(data), filepath.Join(root, "whole"), Limits{}); err != nil {
		t.Error(err)
	}
}

// Whatever an archive's names are, nothing is written outside the folder.
func TestUnpackStaysInside(t *testing.T) {
	file := func(name string) []*tar.Header {
		return []*tar.Header{{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}}
	}
	for _, c := range []struct {
		name    string
		entries []*tar.Header
	}{
		{"above", file("../evil")},
		{"above, later", file("a/../../evil")},
		{"absolute", file("/evil")},
		{"the folder itself", file(".")},
		{"through a link", append([]*tar.Header{{Typeflag: tar.TypeSymlink, Name: "out", Linkname: ".."}}, file("out/evil")...)},
		{"over a hard link", []*tar.Header{{Typeflag: tar.TypeLink, Name: "evil", Linkname: "../evil"}}},
		{"backslashes", file(`..\evil`)},
		{"a device", []*tar.Header{{Typeflag: tar.TypeFifo, Name: "evil"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := rawArchive(t, func(tw *tar.Writer, _ io.Writer) error {
				for _, h := range c.entries {
					if err := tw.WriteHeader(h); err != nil {
						return err
					}
				}
				return tw.Close()
			})
			root := t.TempDir()
			_, _, err := Unpack(context.Background(), bytes.NewReader(data), filepath.Join(root, "in"), Limits{})
			var e *Error
			if !errors.As(err, &e) || e.Fault != Unsafe {
				t.Errorf("%v, want %s", err, Unsafe)
			}
			err = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
				if err == nil && strings.Contains(d.Name(), "evil") {
					t.Errorf("%s was written", p)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHoles: a file with holes is refused before anything comes out of it. The
// archive is small, the file of any size: nothing would ever end.
func TestHoles(t *testing.T) {
	data := rawArchive(t, func(tw *tar.Writer, raw io.Writer) error {
		// archive/tar writes no such header: one of another kind is changed.
		var one bytes.Buffer
		sparse := tar.NewWriter(&one)
		if err := errors.Join(sparse.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Format: tar.FormatPAX, PAXRecords: map[string]string{
			"QQQ.sparse.major": "0", "QQQ.sparse.minor": "1", "QQQ.sparse.numblocks": "1", "QQQ.sparse.map": "0,0", "QQQ.sparse.size": fmt.Sprint(math.MaxInt64),
		}}), tw.Flush()); err != nil {
			return err
		}
		return second(raw.Write(bytes.ReplaceAll(one.Bytes(), []byte("QQQ."), []byte("GNU."))))
	})
	_, err := Read(context.Background(), bytes.NewReader(data), Limits{}, nil)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Fault != Unsafe {
		t.Errorf("%v, want %s", err, Unsafe)
	}
}

// TestSizeBeyondNumbers: sizes are not added until they turn negative.
func TestSizeBeyondNumbers(t *testing.T) {
	data := rawArchive(t, func(tw *tar.Writer, _ io.Writer) error {
		return errors.Join(tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1}), second(tw.Write([]byte("x"))),
			tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "b", Size: math.MaxInt64}))
	})
	_, err := Read(context.Background(), bytes.NewReader(data), Limits{}, nil)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Fault != TooLarge || e.Path != "b" {
		t.Errorf("%v, want %s", err, TooLarge)
	}
}

// TestOneLargeFile: a file that is larger than any in an export is refused by the size
// that the archive says, before any of it is read.
func TestOneLargeFile(t *testing.T) {
	data := rawArchive(t, func(tw *tar.Writer, _ io.Writer) error {
		return tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "index.html", Size: 5<<30 + 1})
	})
	read := func(limits Limits) error {
		_, err := Read(context.Background(), bytes.NewReader(data), limits, func(Entry, io.Reader) error {
			t.Error("it is read")
			return nil
		})
		return err
	}
	for _, limits := range []Limits{{}, {File: 1 << 20}, {Bytes: 1 << 20}} {
		if e := (*Error)(nil); !errors.As(read(limits), &e) || e.Fault != TooLarge || e.Path != "index.html" {
			t.Errorf("%+v: %v, want %s", limits, read(limits), TooLarge)
		}
	}
	if _, _, err := Unpack(context.Background(), bytes.NewReader(data), t.TempDir(), Limits{}); err == nil || !strings.Contains(err.Error(), "more than the 5368709120 of a file") {
		t.Errorf("%v", err)
	}
}

// zeros is a reader of n zeros.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A small archive that unpacks into a great deal is refused before more than the
// limits allow is written.
func TestUnpackRefusesDecompressionBombs(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(tw *tar.Writer, raw io.Writer) error
		want  Fault
	}{
		{"one large file", func(tw *tar.Writer, _ io.Writer) error {
			return errors.Join(tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 8 << 20}), second(io.Copy(tw, zeros(8<<20))), tw.Close())
		}, TooLarge},
		{"many small files", func(tw *tar.Writer, _ io.Writer) error {
			for i := range 200 {
				if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint("f", i)}); err != nil {
					return err
				}
			}
			return tw.Close()
		}, TooLarge},
		{"many folders", func(tw *tar.Writer, _ io.Writer) error {
			for i := range 50 {
				name := fmt.Sprint("f", i, "/", strings.Repeat("d/", 90), "x")
				if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Format: tar.FormatPAX}); err != nil {
					return err
				}
			}
			return tw.Close()
		}, TooLarge},
		{"headers without files", func(_ *tar.Writer, raw io.Writer) error {
			// One extended header, written again and again.
			var one bytes.Buffer
			tw := tar.NewWriter(&one)
			if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", PAXRecords: map[string]string{"V.x": strings.Repeat("y", 60_000)}, Format: tar.FormatPAX}); err != nil {
				return err
			}
			header := one.Bytes()[:one.Len()-512] // without the file's own
			for range 400 {
				if _, err := raw.Write(header); err != nil {
					return err
				}
			}
			return nil
		}, TooLarge},
		{"zeros after the end", func(tw *tar.Writer, raw io.Writer) error {
			whole, err := gzip.NewReader(bytes.NewReader(build(t, sample, nil)))
			if err != nil {
				return err
			}
			return errors.Join(second(io.Copy(raw, whole)), second(io.Copy(raw, zeros(4<<20))))
		}, Corrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := rawArchive(t, c.write)
			if len(data) > 200<<10 {
				t.Fatalf("%d bytes are not a bomb", len(data))
			}
			dir := filepath.Join(t.TempDir(), "out")
			_, _, err := Unpack(context.Background(), bytes.NewReader(data), dir, Limits{Files: 100, Bytes: 1 << 20})
			var e *Error
			if !errors.As(err, &e) || e.Fault != c.want {
				t.Fatalf("%v, want %s", err, c.want)
			}
			var sum int64
			err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				if err == nil {
					sum += info.Size()
				}
				return err
			})
			if err != nil || sum > 1<<20 {
				t.Errorf("%d bytes were written (%v)", sum, err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// TestEnd: a bundle's end alone names the description that the whole has, also
// where all of it is one member; what is not its end is refused.
func TestEnd(t *testing.T) {
	many := build(t, sample, nil)
	one := rawArchive(t, func(_ *tar.Writer, raw io.Writer) error {
		whole, err := gzip.NewReader(bytes.NewReader(many))
		if err != nil {
			return err
		}
		return second(io.Copy(raw, whole))
	})
	for name, data := range map[string][]byte{"members": many, "one member": one} {
		dir := filepath.Join(t.TempDir(), "out")
		_, end, err := Unpack(t.Context(), bytes.NewReader(data), dir, Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, InfoPath))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); end.SHA256 != hex.EncodeToString(sum[:]) || (end.Offset > 0) != (name == "members") {
			t.Errorf("%s: the end is %+v", name, end)
		}
		for _, offset := range []int64{0, end.Offset} {
			if got, err := ReadEnd(t.Context(), bytes.NewReader(data[offset:]), Limits{}); err != nil || got != end.SHA256 {
				t.Errorf("%s: from %d on it is %q, %v", name, offset, got, err)
			}
		}
		var lists []string
		info, err := ReadLists(t.Context(), bytes.NewReader(data[end.Offset:]), Limits{}, func(path string, _ io.Reader) error {
			lists = append(lists, path)
			return nil
		})
		if want := []string{FilesPath, DiagnosticsPath}; err != nil || info.Files == 0 || !slices.Equal(lists[max(0, len(lists)-2):], want) {
			t.Errorf("%s: the description is %+v, after %q, %v", name, info, lists, err)
		}
		for what, bad := range map[string][]byte{
			"cut": data[end.Offset : len(data)-5], "empty": nil, "more": append(bytes.Clone(data[end.Offset:]), data...), "no archive": []byte("<html>"),
		} {
			var e *Error
			if got, err := ReadEnd(t.Context(), bytes.NewReader(bad), Limits{}); !errors.As(err, &e) {
				t.Errorf("%s, %s: %q, %v", name, what, got, err)
			}
		}
	}
}
