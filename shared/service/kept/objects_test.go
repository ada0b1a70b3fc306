package kept

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

const site = "kept/org/project/"

// newObjectStore is an empty store of objects.
func newObjectStore(tb testing.TB) store.Objects {
	tb.Helper()
	l, err := local.Open(tb.Context(), local.Options{Dir: tb.TempDir(), Temporary: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close(context.Background()) })
	return l.Objects()
}

// openAt opens what a site has among objects. No fault may be met.
func openAt(t *testing.T, o store.Objects, prefix string) *Store {
	t.Helper()
	s := OpenObjects(t.Context(), o, prefix, 0, func(err error) { t.Error(err) })
	t.Cleanup(s.Close)
	return s
}

// names are the packs below a prefix.
func names(t *testing.T, o store.Objects, prefix string) (out []string) {
	t.Helper()
	list, err := o.List(t.Context(), prefix, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		out = append(out, info.Key)
	}
	return out
}

func wantValues(t *testing.T, s *Store, from, to, bytesEach int) {
	t.Helper()
	for i := from; i < to; i++ {
		if data, ok := s.Get(key(i)); !ok || !bytes.Equal(data, value(i, bytesEach)) {
			t.Fatalf("value %d is not there", i)
		}
	}
}

// TestObjectsComeBack: what processes put is there for the next export, as its first
// process finds it and as the others are told, and for no other site.
func TestObjectsComeBack(t *testing.T) {
	o := newObjectStore(t)
	for process := range 3 {
		s := openAt(t, o, site)
		for i := range 20 {
			s.Put(key(process*20+i), value(process*20+i, 1<<20))
		}
		s.Flush()
	}
	first := openAt(t, o, site)
	wantValues(t, first, 0, 60, 1<<20)
	other := Decode(t.Context(), first.Encode(), o, site, 0, func(err error) { t.Error(err) })
	wantValues(t, other, 0, 60, 1<<20)
	if _, ok := openAt(t, o, "kept/org/other/").Get(key(1)); ok {
		t.Error("another site has the value")
	}
	if _, ok := Decode(t.Context(), EmptyList(), o, site, 0, func(err error) { t.Error(err) }).Get(key(1)); ok {
		t.Error("an empty list has the value")
	}
}

// TestObjectsOfWhichSomeAreLost: whatever is damaged or gone is not there, and the
// rest is.
func TestObjectsOfWhichSomeAreLost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(data []byte) []byte // nil removes the pack
		faults int
		want   bool // of the other values
	}{
		{"gone", nil, 0, true},
		{"a value", func(b []byte) []byte { b[10]++; return b }, 0, true},
		{"its end", func(b []byte) []byte { return b[:len(b)-1] }, 1, true},
		{"its index", func(b []byte) []byte { b[len(b)-40]++; return b }, 1, true},
		{"all of it", func([]byte) []byte { return nil }, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newObjectStore(t)
			var pack string
			for i := range 2 {
				s := openAt(t, o, site)
				s.Put(key(i), value(i, 1000))
				s.Flush()
				if i == 0 {
					pack = names(t, o, site)[0]
				}
			}
			body, err := o.Get(t.Context(), pack, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(body)
			body.Close()
			if err != nil {
				t.Fatal(err)
			}
			before := openAt(t, o, site).Encode()
			if tt.damage == nil {
				err = o.Delete(t.Context(), pack)
			} else {
				_, err = o.Put(t.Context(), pack, bytes.NewReader(tt.damage(data)), store.PutOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			faults := 0
			for _, s := range []*Store{
				OpenObjects(t.Context(), o, site, 0, func(error) { faults++ }),
				Decode(t.Context(), before, o, site, 0, func(error) {}), // lists it as it was
			} {
				if _, ok := s.Get(key(0)); ok {
					t.Error("the value is there")
				}
				wantValues(t, s, 1, 2, 1000)
			}
			if faults != tt.faults {
				t.Errorf("%d faults were met", faults)
			}
		})
	}
}

// TestListsThatAreNotThere: bytes that Encode did not write are an empty list.
func TestListsThatAreNotThere(t *testing.T) {
	o := newObjectStore(t)
	s := openAt(t, o, site)
	s.Put(key(1), value(1, 1000))
	s.Flush()
	list := openAt(t, o, site).Encode()
	for at := range list {
		bad := bytes.Clone(list)
		bad[at] ^= 0x55
		if _, ok := Decode(t.Context(), bad, o, site, 0, nil).Get(key(1)); ok {
			t.Fatalf("byte %d is damaged, and the value is there", at)
		}
		Decode(t.Context(), list[:at], o, site, 0, nil)
	}
}

// TestOldObjectsGo: when there are many packs, an export writes what it uses of the
// older ones again and removes them.
func TestOldObjectsGo(t *testing.T) {
	o := newObjectStore(t)
	const packs = 3*manyPacks + 1
	for i := range packs {
		s := openAt(t, o, site)
		s.Put(key(i), value(i, 1000))
		s.Flush()
	}
	first := openAt(t, o, site)
	first.Retire(1, time.Time{})
	list := first.Encode()
	shard := Decode(t.Context(), list, o, site, 0, nil)
	wantValues(t, shard, 0, 3, 1000)
	shard.Use(key(3), key(packs-1))
	shard.Flush()
	if n := len(names(t, o, site)); n != packs+1 {
		t.Fatalf("%d packs before the end of the export", n)
	}
	Decode(t.Context(), list, o, site, 0, nil).Finish()
	if n := len(names(t, o, site)); n > 2*manyPacks {
		t.Errorf("%d packs are left of %d", n, packs)
	}
	next := openAt(t, o, site)
	wantValues(t, next, 0, 4, 1000)
	wantValues(t, next, packs-1, packs, 1000)
	if _, ok := next.Get(key(4)); ok {
		t.Error("a value that nobody used is there still")
	}
	next.Retire(1, time.Time{})
	if data := next.Encode(); !bytes.Equal(data[:8], []byte(listMark)) {
		t.Errorf("%q", data[:8])
	}
}

// TestObjectsAreWrittenAgain: what is used of packs that were written before some time
// is written again, in order that a sweep by age takes only what nobody uses.
func TestObjectsAreWrittenAgain(t *testing.T) {
	o := newObjectStore(t)
	s := openAt(t, o, site)
	s.Put(key(1), value(1, 1000))
	s.Put(key(2), value(2, 1000))
	s.Put(key(3), value(3, 1000))
	s.Flush()
	before := names(t, o, site)
	export := func(written time.Time) []string {
		s := openAt(t, o, site)
		wantValues(t, s, 1, 2, 1000)
		s.Retire(1, written)
		wantValues(t, s, 3, 4, 1000)
		s.Finish()
		return names(t, o, site)
	}
	if got := export(time.Now().Add(-time.Hour)); !slices.Equal(got, before) {
		t.Errorf("packs are %v, were %v", got, before)
	}
	if got := export(time.Now().Add(time.Hour)); len(got) != 1 || got[0] == before[0] {
		t.Errorf("packs are %v, were %v", got, before)
	}
	next := openAt(t, o, site)
	wantValues(t, next, 1, 2, 1000) // asked for before
	wantValues(t, next, 3, 4, 1000) // and after
	if _, ok := next.Get(key(2)); ok {
		t.Error("a value that nobody used is there still")
	}
}

// TestForgottenObjects: nothing is found of them, and they go where all of a site is
// made anew.
func TestForgottenObjects(t *testing.T) {
	o := newObjectStore(t)
	s := openAt(t, o, site)
	s.Put(key(1), value(1, 1000))
	s.Flush()
	before := names(t, o, site)
	for _, whole := range []bool{false, true} {
		s = openAt(t, o, site)
		s.Forget()
		if whole {
			s.Retire(1, time.Time{})
		}
		last := Decode(t.Context(), s.Encode(), o, site, 0, nil)
		if _, ok := last.Get(key(1)); ok {
			t.Error("the value is found")
		}
		last.Finish()
		if there := slices.Contains(names(t, o, site), before[0]); there == whole {
			t.Errorf("a whole export: %v; the pack is there: %v", whole, there)
		}
	}
}

// TestObjectsAreWrittenAtOnce: a pack is what one request writes, unless a single
// value is larger.
func TestObjectsAreWrittenAtOnce(t *testing.T) {
	o := newObjectStore(t)
	s := openAt(t, o, site)
	sizes := []int{3 << 20, 5 << 20, 1 << 20, 7<<20 - 200, 9 << 20, 10}
	for i, size := range sizes {
		s.Put(key(i), value(i, size))
	}
	s.Flush()
	list, err := o.List(t.Context(), site, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	large := 0
	for _, info := range list {
		if info.Size > objectBytes {
			large++
		}
	}
	if large != 1 || len(list) != 5 {
		t.Errorf("%d of %d packs are large", large, len(list))
	}
	next := openAt(t, o, site)
	for i, size := range sizes {
		wantValues(t, next, i, i+1, size)
	}
}

func BenchmarkDecodeList(b *testing.B) {
	s := newObjects(b.Context(), newObjectStore(b), site, 0, nil)
	s.packs = []*pack{{name: site + "x", size: 1 << 30}}
	for i := range 20000 {
		s.values[key(i)] = place{s.packs[0], int64(i) * 1000, 1000, 0}
	}
	list := s.Encode()
	b.SetBytes(int64(len(list)))
	for b.Loop() {
		if got := Decode(b.Context(), list, s.objects.to, site, 0, nil); len(got.values) != 20000 {
			b.Fatal(fmt.Sprint(len(got.values)))
		}
	}
}
