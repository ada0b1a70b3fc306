package bundle

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Archives as an attacker writes them, one case each in testdata/hostile. A case
// begins with a sound bundle of one page, and its lines change that, in order:
//
//	file NAME [DATA]          one more file, which the lists have
//	hidden NAME [DATA]        one that they do not have
//	entry TYPE NAME [LINK [DATA]]  an entry of a type of tar
//	pax KEY VALUE             a record of the extended header of the next entry
//	size TEXT                 what the next entry's header has as its size
//	sum TEXT                  what it has as its checksum
//	raw TEXT                  bytes of the tar stream
//	list OLD NEW              edits the list of files, without a change of what describes it
//	lines OLD NEW             edits the list of files
//	info OLD NEW              edits the description
//	without PATH              leaves one of the three last files out
//	order PATHS...            writes them so
//	after TEXT                bytes after the archive's last block of zeros, compressed
//	gzip NAME                 a change of the compressed bytes: see squeezed
//	want FAULT MESSAGE        what comes out; "want taken" where nothing is wrong
//
// Names and texts are words, or strings as Go writes them; "strings*N" repeats.
// shared/delivery/serve has more cases, of what it takes to its volume: see its
// TestHostileArchives.
func TestHostileArchives(t *testing.T) {
	outside.Long(t, "reads archives as large as their limits allow")
	files, err := filepath.Glob("testdata/hostile/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	cases := 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range archive.Files {
			cases++
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+c.Name, func(t *testing.T) {
				f := &forgery{t: t, info: Info{Format: 1, Domain: "docs.example", Version: "1"}}
				f.file("index.html", "home")
				for line := range strings.Lines(string(c.Data)) {
					f.line(words(t, line))
				}
				f.check(f.bytes())
			})
		}
	}
	t.Logf("%d archives", cases)
}

// forgery is the archive of a case.
type forgery struct {
	t       *testing.T
	tar     bytes.Buffer
	list    []byte
	info    Info
	pax     []string // records of the next entry
	size    string
	sum     string
	edits   [][3]string
	without string
	order   []string
	after   string
	gzip    string
	fault   string
	message string
}

// words splits a line.
func words(t *testing.T, line string) (out []string) {
	t.Helper()
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, rest := line, ""
		if quoted, err := strconv.QuotedPrefix(line); err == nil {
			if word, err = strconv.Unquote(quoted); err != nil {
				t.Fatal(err)
			}
			rest = line[len(quoted):]
			if strings.HasPrefix(rest, "*") {
				times, after, _ := strings.Cut(rest[1:], " ")
				n, err := strconv.Atoi(times)
				if err != nil {
					t.Fatal(err)
				}
				word, rest = strings.Repeat(word, n), after
			}
		} else {
			word, rest, _ = strings.Cut(line, " ")
		}
		out, line = append(out, word), rest
	}
	return out
}

func (f *forgery) line(w []string) {
	f.t.Helper()
	w = append(w, "", "", "", "")
	switch w[0] {
	case "file":
		f.file(w[1], w[2])
	case "hidden":
		f.entry('0', w[1], "", w[2])
	case "entry":
		f.entry(w[1][0], w[2], w[3], w[4])
	case "pax":
		f.pax = append(f.pax, paxRecord(w[1], w[2]))
	case "size":
		f.size = w[1]
	case "sum":
		f.sum = w[1]
	case "raw":
		f.tar.WriteString(w[1])
	case "list", "lines", "info":
		f.edits = append(f.edits, [3]string{w[0], w[1], w[2]})
	case "without":
		f.without = w[1]
	case "order":
		f.order = w[1 : len(w)-4]
	case "after":
		f.after = w[1]
	case "gzip":
		f.gzip = w[1]
	case "want":
		f.fault, f.message = w[1], strings.TrimSpace(strings.Join(w[2:], " "))
	default:
		f.t.Fatalf("%q is no command", w[0])
	}
}

// paxRecord is "length key=value\n", the length counting itself.
func paxRecord(key, value string) string {
	n := len(key) + len(value) + 3
	for len(strconv.Itoa(n))+len(key)+len(value)+3 != n {
		n = len(strconv.Itoa(n)) + len(key) + len(value) + 3
	}
	return fmt.Sprintf("%d %s=%s\n", n, key, value)
}

func (f *forgery) file(name, data string) {
	line := File{Path: name, Size: int64(len(data)), SHA256: listInfo([]byte(data)).SHA256}
	f.list = line.AppendLine(f.list)
	f.info.Files++
	f.info.Bytes += line.Size
	f.entry('0', name, "", data)
}

// entry writes an entry, its name in an extended header where it needs one.
func (f *forgery) entry(kind byte, name, link, data string) {
	records := strings.Join(f.pax, "")
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || r < 0x20 }) {
		records += paxRecord("path", name)
		name = "long"
	}
	f.pax = nil
	if records != "" {
		size, sum := f.size, f.sum
		f.size, f.sum = "", ""
		f.header('x', "pax", "", len(records))
		f.blocks(records)
		f.size, f.sum = size, sum
	}
	f.header(kind, name, link, len(data))
	f.blocks(data)
}

func (f *forgery) header(kind byte, name, link string, size int) {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	if f.size == "" {
		f.size = fmt.Sprintf("%011o", size)
	}
	copy(h[124:136], f.size)
	copy(h[136:], "00000000000\x00        ")
	h[156] = kind
	copy(h[157:], link)
	copy(h[257:], "ustar\x0000")
	var sum int
	for _, b := range h {
		sum += int(b)
	}
	if f.sum == "" {
		f.sum = fmt.Sprintf("%06o\x00 ", sum)
	}
	copy(h[148:], f.sum)
	f.size, f.sum = "", ""
	f.tar.Write(h)
}

func (f *forgery) blocks(data string) {
	f.tar.WriteString(data)
	f.tar.Write(make([]byte, (512-len(data)%512)%512))
}

func (f *forgery) edited(what string, text []byte) []byte {
	for _, e := range f.edits {
		if e[0] != what {
			continue
		}
		changed := strings.Replace(string(text), e[1], e[2], 1)
		if changed == string(text) {
			f.t.Fatalf("%q is not in the %s %s", e[1], what, text)
		}
		text = []byte(changed)
	}
	return text
}

func (f *forgery) bytes() []byte {
	list := f.edited("lines", f.list)
	f.info.FileList, f.info.DiagnosticList = listInfo(list), listInfo(nil)
	info, err := json.Marshal(f.info)
	if err != nil {
		f.t.Fatal(err)
	}
	last := map[string]string{
		FilesPath: string(f.edited("list", list)), DiagnosticsPath: "", InfoPath: string(f.edited("info", info)),
	}
	if f.order == nil {
		f.order = []string{FilesPath, DiagnosticsPath, InfoPath}
	}
	for _, name := range f.order {
		if name != f.without {
			f.entry('0', name, "", last[name])
		}
	}
	f.tar.Write(make([]byte, 1024))
	f.tar.WriteString(f.after)
	return f.squeezed()
}

// squeezed compresses the stream, and does to that what the case says.
func (f *forgery) squeezed() []byte {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	write := func(b []byte) {
		if _, err := gz.Write(b); err != nil {
			f.t.Fatal(err)
		}
	}
	end := func() {
		if err := gz.Close(); err != nil {
			f.t.Fatal(err)
		}
	}
	half := f.tar.Len() / 2
	switch f.gzip {
	case "plain":
		return f.tar.Bytes()
	case "long-name":
		gz.Name = strings.Repeat("n", 1<<20)
	case "long-comment":
		gz.Comment = strings.Repeat("c", 1<<20)
	case "empty-members": // 100,000 of them, between two halves
		write(f.tar.Bytes()[:half])
		end()
		var one bytes.Buffer
		_ = gzip.NewWriter(&one).Close() // memory takes all
		out.Write(bytes.Repeat(one.Bytes(), 100_000))
		gz = gzip.NewWriter(&out)
		write(f.tar.Bytes()[half:])
		end()
		return out.Bytes()
	case "ratio": // a thousand to one: a name of 64 MiB
		f.tar.Reset()
		f.header('L', "././@LongLink", "", 64<<20)
		write(f.tar.Bytes())
		if _, err := io.Copy(gz, zeros(64<<20)); err != nil {
			f.t.Fatal(err)
		}
		end()
		return out.Bytes()
	}
	write(f.tar.Bytes())
	end()
	b := out.Bytes()
	switch f.gzip {
	case "":
	case "long-name", "long-comment":
	case "checksum":
		b[len(b)-8] ^= 1
	case "length":
		b[len(b)-4] ^= 1
	case "method":
		b[2] = 7
	case "flags":
		b[3] |= 0xe0
	case "no-trailer":
		b = b[:len(b)-8]
	case "half-trailer":
		b = b[:len(b)-3]
	case "garbage":
		b = append(b, "PK\x03\x04"...)
	case "zip":
		b = append([]byte("PK\x03\x04"), b...)
	case "zstd":
		b = append([]byte("\x28\xb5\x2f\xfd"), b...)
	case "twice":
		b = append(bytes.Clone(b), b...)
	default:
		f.t.Fatalf("%q is no change", f.gzip)
	}
	return b
}

// check reads the archive in both ways and holds what came out to what is wanted.
func (f *forgery) check(data []byte) {
	t := f.t
	t.Helper()
	limits := Limits{Files: 200, Bytes: 1 << 20}
	above := t.TempDir()
	dir := filepath.Join(above, "in", "bundle")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, readErr := Read(context.Background(), bytes.NewReader(data), limits, nil)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("reading it took %d MiB", used>>20)
	}
	_, _, unpackErr := Unpack(context.Background(), bytes.NewReader(data), dir, limits)
	for what, err := range map[string]error{"Read": readErr, "Unpack": unpackErr} {
		if f.fault == "taken" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || string(e.Fault) != f.fault || f.message == "" || !strings.Contains(err.Error(), f.message) {
			t.Errorf("%s: got %v, want %s: %s", what, err, f.fault, f.message)
		}
	}
	for _, outside := range []string{above, filepath.Dir(dir)} {
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("%s holds %v, %v", outside, entries, err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			t.Errorf("%s is %v", path, d.Type())
		}
		return err
	})
	if err != nil && unpackErr == nil {
		t.Error(err)
	}
}
