package snapshot

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// What is read the short way is what is read the long way, and the short way is
// taken where Encode wrote.
func FuzzPlainEntry(f *testing.F) {
	plain := []string{
		`{"path":"a/b-c.mdx","sha256":"` + zeros + `","size":12,"pack":0}`,
		`{"path":"a b.mdx","sha256":"` + zeros + `","size":12,"pack":3,"offset":77}`,
		`{"path":"a.mdx","sha256":"","size":0,"modified":"2026-01-02T03:04:05Z"}`,
		`{"path":"a.mdx","sha256":"","size":1,"pack":1,"offset":5,"modified":"2026-01-02T03:04:05+02:00"}`,
	}
	other := []string{
		`{"path":"\u003c.mdx","sha256":"","size":1}`,
		`{"path":"é.mdx","sha256":"","size":1}`,
		`{"path":"a\"b","sha256":"","size":1}`,
		`{"path":"a","sha256":"","size":-1}`,
		`{"path":"a","sha256":"","size":1.5}`,
		`{"path":"a","sha256":"","size":1e3}`,
		`{"path":"a","sha256":"","size":99999999999999999999}`,
		`{"path":"a","sha256":"","size":1,"pack":-1}`,
		`{"path":"a","sha256":"","size":1,"pack":null}`,
		`{"path":"a","sha256":"","size":1,"offset":"1"}`,
		`{"path":"a","sha256":"","size":1,"modified":"2026-01-02"}`,
		`{"path":"a","sha256":"","size":1,"modified":"2026-01-02T03:04:05é"}`,
		`{"path":"a","sha256":"","size":1,"modified":"2026-01-02T03:04:05Z","pack":1}`,
		`{"path":"a","sha256":"","size":1,"x":1}`,
		`{"path":"a","sha256":"","size":1,"size":2}`,
		`{"sha256":"","path":"a","size":1}`,
		`{ "path":"a","sha256":"","size":1}`,
		`{"path":"a","sha256":"","size":1 }`,
		`{"path":"a"}`, `{}`, `[]`, `null`, `""`,
	}
	for _, raw := range plain {
		if _, ok := plainEntry([]byte(raw)); !ok {
			f.Errorf("%s is read the long way", raw)
		}
	}
	for _, raw := range other {
		if _, ok := plainEntry([]byte(raw)); ok {
			f.Errorf("%s is read the short way", raw)
		}
	}
	m := &Manifest{Format: Format, Packs: []PackRef{{zeros, 5}}, Entries: []Entry{{Path: "a/page.mdx", SHA256: zeros, Size: 5, Pack: zeros}}}
	encoded, err := Encode(m)
	if err != nil {
		f.Fatal(err)
	}
	if lines := strings.Split(string(encoded), "\n"); len(lines) < 2 {
		f.Errorf("%s has no line for an entry", encoded)
	} else if _, ok := plainEntry([]byte(lines[1])); !ok {
		f.Errorf("%s, which Encode wrote, is read the long way", lines[1])
	}
	for _, raw := range append(plain, other...) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return // which a decoder never hands over
		}
		short, ok := plainEntry([]byte(raw))
		if !ok {
			return
		}
		var long wireEntry
		if err := basejson.Unmarshal([]byte(raw), &long); err != nil {
			t.Fatalf("%s is not an entry: %v", raw, err)
		}
		if !reflect.DeepEqual(short, long) {
			t.Errorf("%s: read as %+v, not as %+v", raw, short, long)
		}
	})
}
