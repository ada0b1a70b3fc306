package export

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/tests/outside"
)

// keptUnits returns a store that has these values, and their keys.
func keptUnits(t testing.TB, values ...string) (*kept.Store, []kept.Key) {
	t.Helper()
	dir := t.TempDir()
	s, err := kept.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []kept.Key
	for _, v := range values {
		keys = append(keys, sha256.Sum256([]byte(v)))
		s.Put(keys[len(keys)-1], []byte(v))
	}
	s.Finish()
	s.Close()
	if s, err = kept.Open(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, keys
}

// TestUnitsByReference: units in frames, some of them kept values, are read as the
// archive has them, from each of its bytes on; so are those that are in no frames.
func TestUnitsByReference(t *testing.T) {
	values, keys := keptUnits(t, "second unit", "fourth")
	const want = "first second unitthird, longer fourth"
	for _, refs := range []bool{true, false} {
		var object bytes.Buffer
		out, err := newUnitsOut(&object, refs)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range []struct {
			text string
			key  *kept.Key
		}{{"first ", nil}, {"second unit", &keys[0]}, {"", nil}, {"third, longer ", nil}, {"fourth", &keys[1]}} {
			if refs && u.key != nil {
				size, ok := values.Size(*u.key)
				if !ok {
					t.Fatalf("%q is not kept", u.text)
				}
				err = out.refer(*u.key, size)
			} else {
				_, err = out.Write([]byte(u.text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if out.n != int64(len(want)) {
			t.Errorf("refs %v: %d bytes of %d", refs, out.n, len(want))
		}
		if has := bytes.Contains(object.Bytes(), []byte("fourth")); has == refs {
			t.Errorf("refs %v: a kept unit is written: %v", refs, has)
		}
		for from := range len(want) + 1 {
			in, err := openUnits(io.NopCloser(bytes.NewReader(object.Bytes())), values, int64(from))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(in)
			if err != nil || string(got) != want[from:] {
				t.Errorf("refs %v: from %d it is %q, %v", refs, from, got, err)
			}
		}
		if _, err := openUnits(io.NopCloser(bytes.NewReader(object.Bytes())), values, int64(len(want)+1)); err == nil {
			t.Errorf("refs %v: there is something after the end", refs)
		}
		if !refs {
			continue
		}
		empty, _ := keptUnits(t)
		in, err := openUnits(io.NopCloser(bytes.NewReader(object.Bytes())), empty, 0)
		if err == nil {
			_, err = io.ReadAll(in)
		}
		if err == nil {
			t.Error("a unit that is not kept is read")
		}
		whole := 0
		for n := len(refsMark); n < object.Len(); n++ {
			in, err := openUnits(io.NopCloser(bytes.NewReader(object.Bytes()[:n])), values, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.ReadAll(in); err == nil {
				whole++ // it ends between two frames, which the size of the archive shows
			}
		}
		if whole > 6 {
			t.Errorf("%d beginnings of the frames pass for all of them", whole)
		}
	}
}

// FuzzUnits: whatever an object has, reading it ends.
func FuzzUnits(f *testing.F) {
	values, keys := keptUnits(f, "unit")
	f.Add([]byte(refsMark+"\x03abc\x00"+string(keys[0][:])+"\x04"), uint16(2))
	f.Add([]byte("\x1f\x8b"), uint16(0))
	f.Fuzz(func(t *testing.T, object []byte, from uint16) {
		in, err := openUnits(io.NopCloser(bytes.NewReader(object)), values, int64(from))
		if err != nil {
			return
		}
		if n, _ := io.Copy(io.Discard, in); n > int64(len(object))*4 {
			t.Errorf("%d bytes are read from %d", n, len(object))
		}
	})
}

// TestKeptUnitsInSeveralCalls: a bundle of kept units that takes several calls, each of
// which begins within a shard, is the one that is made without them.
func TestKeptUnitsInSeveralCalls(t *testing.T) {
	outside.Long(t, "exports one site many times")
	site := sampleSite(120)
	export := func(t *testing.T, values *kept.Store, opts func(*Options)) []byte {
		t.Helper()
		w := newWorld(t)
		w.publish(t, site)
		j, data := w.completed(t, admin.StartExport{Version: "v1"}, func(o *Options) {
			o.Kept, o.ByReference = values, true
			if opts != nil {
				opts(o)
			}
		})
		return data[:j.Bundle.End] // what follows names the snapshot
	}
	want := export(t, nil, nil)
	dir := t.TempDir()
	for round := range 3 {
		values, err := kept.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := export(t, values, func(o *Options) {
			o.PartBytes, o.PartsACall, o.Shards = int64(5000+round), 1, 3
		})
		values.Close()
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: the bundle has %d bytes, not the %d of one that is made at once", round, len(got), len(want))
		}
		// What the bundle itself is kept under is not what this is about.
		bundles, _ := filepath.Glob(filepath.Join(dir, "*.file")) // the pattern is right
		for _, name := range bundles {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if len(bundles) != 1 {
			t.Errorf("round %d kept the bundles %v", round, bundles)
		}
	}
}
