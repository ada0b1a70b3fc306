package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/tests/outside"
)

func TestManifestReadsBackAsWritten(t *testing.T) {
	s := site{"docs.json": "{}", "a.mdx": "# A", "copy.mdx": "# A", "empty.css": "", "ü/ö.mdx": "<&>"}
	_, m := publish(t, &memory{}, s, nil)
	raw, err := snapshot.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := snapshot.Decode(iotest.OneByteReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, back); diff != "" {
		t.Error(diff)
	}
	if err := snapshot.CheckEntries(back); err != nil {
		t.Error(err)
	}
	again, _ := snapshot.Encode(back)
	if !bytes.Equal(raw, again) {
		t.Error("encoding twice gives other bytes")
	}
	if lines := bytes.Count(raw, []byte("\n")); lines != len(s)+2 {
		t.Errorf("%d lines for %d files", lines, len(s))
	}
}

func TestDecodeRefuses(t *testing.T) {
	outside.Long(t, "decodes manifests as large as their limits allow")
	a, b := digest("a"), digest("b")
	tests := []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"no JSON", "PK\x03\x04", "invalid character"},
		{"an array", "[]", `"{" expected`},
		{"cut short", `{"format":1,"packs":[`, "EOF"},
		{"another format", `{"format":2}`, "format 2 is unknown"},
		{"unknown field", `{"format":1,"secret":1}`, `"secret" is unknown`},
		{"field twice", `{"format":1,"format":1}`, "twice"},
		{"field missing", `{"format":1,"packs":[]}`, `"entries" is missing`},
		{"unknown field of an entry", `{"format":1,"packs":[],"entries":[{"path":"a","mode":7}]}`, `mode: is not a known field`},
		{"field of an entry in another case", `{"format":1,"packs":[],"entries":[{"Path":"a"}]}`, `Path: is not a known field`},
		{"field of a pack in another case", `{"format":1,"packs":[{"SHA256":"a"}],"entries":[]}`, `SHA256: is not a known field`},
		{"field of an entry twice", `{"format":1,"packs":[],"entries":[{"path":"a","path":"b"}]}`, `path: is there twice`},
		{"not UTF-8", "{\"format\":1,\"packs\":[],\"entries\":[{\"path\":\"a\xff\"}]}", `path: is not valid UTF-8`},
		{"wrong type", `{"format":1,"packs":[],"entries":[{"path":7}]}`, "cannot unmarshal"},
		{"pack out of range", fmt.Sprintf(`{"format":1,"packs":[{"sha256":%q,"size":1}],"entries":[{"path":"a","pack":1}]}`, a), "pack 1 of 1"},
		{"negative pack", fmt.Sprintf(`{"format":1,"packs":[{"sha256":%q,"size":1}],"entries":[{"path":"a","pack":-1}]}`, b), "negative"},
		{"more behind it", `{"format":1,"packs":[],"entries":[]}{}`, "follows"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := snapshot.Decode(strings.NewReader(test.in))
			var format *snapshot.FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a FormatError with %q", err, test.want)
			}
		})
	}
	t.Run("the reader's own error is kept", func(t *testing.T) {
		broken := errors.New("the line went dead")
		_, err := snapshot.Decode(io.MultiReader(strings.NewReader(`{"format":1,`), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		_, err := snapshot.Decode(io.MultiReader(strings.NewReader(`{"format":1,"packs":[],"entries":[`), endless{}))
		var format *snapshot.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), "longer") {
			t.Errorf("got %v", err)
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestCheckEntriesRefuses(t *testing.T) {
	good := func() *snapshot.Manifest {
		_, m := publish(t, &memory{}, site{"a": "aaa", "b": "bb", "docs.json": "{}", "empty": ""}, nil)
		return m
	}
	tests := []struct {
		name   string
		change func(m *snapshot.Manifest)
		want   string
	}{
		{"outside the pack", func(m *snapshot.Manifest) { m.Entries[2].Offset++ }, "docs.json: it does not lie inside its pack"},
		{"an offset that overflows", func(m *snapshot.Manifest) { m.Entries[0].Offset = 1<<63 - 1 }, "a: it does not lie inside its pack"},
		{"a negative offset", func(m *snapshot.Manifest) { m.Entries[0].Offset = -1 }, "a: it does not lie inside its pack"},
		{"a negative size", func(m *snapshot.Manifest) { m.Entries[0].Size = -1 }, "a: the size"},
		{"a pack that is not listed", func(m *snapshot.Manifest) { m.Entries[0].Pack = digest("other") }, "a: it lies in a pack that the manifest does not list"},
		{"a pack without files", func(m *snapshot.Manifest) {
			m.Packs = append(m.Packs, snapshot.PackRef{SHA256: strings.Repeat("f", 64), Size: 1})
		}, "holds no file"},
		{"a pack twice", func(m *snapshot.Manifest) { m.Packs = append(m.Packs, m.Packs[0]) }, "twice"},
		{"no digest", func(m *snapshot.Manifest) { m.Entries[0].SHA256 = "ABC" }, "a: the digest"},
		{"a digest with a path in it", func(m *snapshot.Manifest) {
			m.Packs[0].SHA256 = "../" + m.Packs[0].SHA256[3:]
		}, "not a SHA-256"},
		{"out of order", func(m *snapshot.Manifest) { m.Entries[0], m.Entries[1] = m.Entries[1], m.Entries[0] }, "a: the entry is out of order"},
		{"no time", func(m *snapshot.Manifest) { m.Entries[0].Modified = m.Entries[0].Modified.AddDate(-3000, 0, 0) }, "a: the time"},
		{"a bad path", func(m *snapshot.Manifest) { m.Entries[0].Path = "../a" }, `../a: the path has the element ".."`},
		{"an empty file with a place", func(m *snapshot.Manifest) { m.Entries[3].Pack = m.Packs[0].SHA256 }, "empty: an empty file"},
		{"another format", func(m *snapshot.Manifest) { m.Format = 9 }, "format 9"},
		{"a huge pack of many files", func(m *snapshot.Manifest) { m.Packs[0].Size = snapshot.MaxPackBytes + 1 }, "is not one file"},
	}
	if err := snapshot.CheckEntries(good()); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := good()
			test.change(m)
			if err := snapshot.CheckEntries(m); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, err := snapshot.Encode(m); err == nil {
				t.Error("it can be encoded")
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	s := site{"docs.json": "{}", "a.mdx": "# A", "empty": ""}
	plan, err := snapshot.NewPlan(s.files(), nil)
	if err != nil {
		f.Fatal(err)
	}
	m, err := plan.Seal(f.Context(), s.open)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := snapshot.Encode(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"format":1,"packs":[],"entries":[]}`))
	f.Add([]byte(`{"format":1,"packs":[{}],"entries":[{"pack":0,"path":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := snapshot.Decode(bytes.NewReader(raw))
		if err != nil || snapshot.CheckEntries(m) != nil {
			return
		}
		// What is found good can be written and read again.
		out, err := snapshot.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := snapshot.Decode(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := snapshot.Encode(back); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%v; read back:\n%s\nwritten:\n%s", err, again, out)
		}
	})
}
