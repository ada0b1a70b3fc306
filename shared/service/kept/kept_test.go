package kept

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/tests/outside"
)

func key(i int) Key { return sha256.Sum256(fmt.Append(nil, i)) }

func value(i, size int) []byte { return bytes.Repeat([]byte{byte(i)}, size) }

func open(t *testing.T, dir string, limit int64) *Store {
	t.Helper()
	s, err := Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func size(t *testing.T, dir string) (sum int64) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func TestValuesComeBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	for i := range 100 {
		s.Put(key(i), value(i, 1<<20))
	}
	if _, ok := s.Get(key(1)); ok {
		t.Error("a process got back what it put")
	}
	s.Finish()
	packs, _ := filepath.Glob(filepath.Join(dir, "*"+finished))
	if len(packs) != 4 {
		t.Errorf("100 MiB are in %d packs", len(packs))
	}
	s = open(t, dir, 0)
	for i := range 100 {
		if data, ok := s.Get(key(i)); !ok || !bytes.Equal(data, value(i, 1<<20)) {
			t.Fatalf("value %d is not there", i)
		}
	}
	if _, ok := s.Get(key(100)); ok {
		t.Error("a value that was never put is there")
	}
}

// TestUnusedValuesAreSwept: what an export does not ask for goes once it is much
// of the folder, and what it asks for stays.
func TestUnusedValuesAreSwept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	for i := range 60 {
		s.Put(key(i), value(i, 1<<20))
	}
	s.Finish()
	s = open(t, dir, 0)
	for i := range 10 {
		s.Get(key(i))
		s.Use(key(i+10), key(100+i))
	}
	s.Put(key(0), value(7, 10)) // in place of what it was
	s.Finish()
	if got := size(t, dir); got > 21<<20 {
		t.Errorf("20 MiB take %d bytes", got)
	}
	s = open(t, dir, 0)
	for i := 1; i < 20; i++ {
		if data, ok := s.Get(key(i)); !ok || !bytes.Equal(data, value(i, 1<<20)) {
			t.Errorf("value %d was swept", i)
		}
	}
	if data, _ := s.Get(key(0)); !bytes.Equal(data, value(7, 10)) {
		t.Error("the later one of two values was swept")
	}
}

// TestSweepLeavesWhatIsInUse: packs that are nearly all in use stay as they are, those
// that have little of use go, and small packs become few.
func TestSweepLeavesWhatIsInUse(t *testing.T) {
	dir := t.TempDir()
	names := func() []string {
		list, _ := filepath.Glob(filepath.Join(dir, "*"+finished))
		return list
	}
	s := open(t, dir, 0)
	for i := range 32 {
		s.Put(key(i), value(i, 1<<20))
	}
	s.Finish()
	first := names()
	s = open(t, dir, 0)
	for i := range 32 {
		s.Get(key(i))
		s.Put(key(100+i), value(i, 1<<20))
	}
	s.Finish()
	if got := names(); len(got) != 2 {
		t.Fatalf("two exports left the packs %v", got)
	}
	s = open(t, dir, 0)
	for i := range 30 {
		s.Get(key(i))
	}
	s.Get(key(100))
	s.Put(key(200), value(200, 10))
	s.Finish()
	if got := names(); len(got) != 2 || !slices.Contains(got, first[0]) {
		t.Errorf("of %v the packs %v are left", first, got)
	}
	s = open(t, dir, 0)
	for _, i := range []int{0, 29, 30, 100, 200} {
		if _, ok := s.Get(key(i)); !ok {
			t.Errorf("value %d was swept", i)
		}
	}
	if _, ok := s.Get(key(101)); ok {
		t.Error("a pack that had little of use is there")
	}
	for i := range maxPacks {
		s := open(t, dir, 0)
		for n := range i {
			s.Use(key(1000 + n))
		}
		for i := range 30 {
			s.Use(key(i))
		}
		s.Put(key(1000+i), value(i, 10))
		s.Finish()
	}
	if got := names(); len(got) > maxPacks/2+2 || !slices.Contains(got, first[0]) {
		t.Errorf("small packs became %d", len(got))
	}
	s = open(t, dir, 0)
	for i := range maxPacks {
		if _, ok := s.Get(key(1000 + i)); !ok {
			t.Fatalf("value %d was lost when small packs became one", i)
		}
	}
}

// TestFolderStaysWithinBounds: whatever exports ask for, all that the last one asked
// for is there, and the folder has at most half as much again.
func TestFolderStaysWithinBounds(t *testing.T) {
	t.Run("three exports", func(t *testing.T) { staysWithinBounds(t, 3) })
	t.Run("forty exports", func(t *testing.T) {
		outside.Long(t, "writes and reads gigabytes")
		staysWithinBounds(t, 40)
	})
}

func staysWithinBounds(t *testing.T, exports int) {
	t.Helper()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	version := make([]int, 600)
	const each = 100 << 10
	for round := range exports {
		for range 60 {
			version[random.IntN(len(version))]++
		}
		s := open(t, dir, 80<<20)
		var missed int
		for i, v := range version {
			k := key(i*1000 + v)
			data, ok := s.Get(k)
			if !ok {
				missed++
				s.Put(k, value(i+v, each))
			} else if !bytes.Equal(data, value(i+v, each)) {
				t.Fatalf("value %d is another one", i)
			}
		}
		s.Finish()
		s.Close()
		if round > 0 && missed > 60 {
			t.Fatalf("%d values were lost", missed-60)
		}
		if got := size(t, dir); got > 81<<20 {
			t.Fatalf("a folder of 80 MiB has %d", got)
		}
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		s := open(t, dir, 4<<20)
		for i := range 20 {
			if _, ok := s.Get(key(i)); !ok {
				s.Put(key(i), value(i, 1<<20))
			}
		}
		s.Finish()
		if got := size(t, dir); got > 5<<20 {
			t.Fatalf("a folder of 4 MiB has %d bytes", got)
		}
	}
}

func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	s.Put(key(1), value(1, 1000))
	s.Finish()
	packs, _ := filepath.Glob(filepath.Join(dir, "*"+finished))
	whole, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x40
		if err := os.WriteFile(packs[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, 0)
		if data, ok := s.Get(key(1)); ok && !bytes.Equal(data, value(1, 1000)) {
			t.Fatalf("byte %d is damaged, and the value wrong", at)
		}
		s.Close()
	}
	for length := range len(whole) {
		if err := os.WriteFile(packs[0], whole[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, 0)
		if _, ok := s.Get(key(1)); ok {
			t.Fatalf("the value is there in %d bytes of %d", length, len(whole))
		}
		s.Close()
	}
}

// TestAbandonedPacksGo: of a process that died nothing stays for ever, and what
// another one is writing is left alone.
func TestAbandonedPacksGo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	s.Put(key(1), value(1, 10))
	old := filepath.Join(dir, "old"+unfinished)
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*abandoned)); err != nil {
		t.Fatal(err)
	}
	open(t, dir, 0)
	if _, err := os.Stat(old); err == nil {
		t.Error("an abandoned pack is there")
	}
	s.Finish()
	if _, ok := open(t, dir, 0).Get(key(1)); !ok {
		t.Error("a pack was taken away from its writer")
	}
}

// TestForgottenSites: a site that is exported no more loses its folder; what is
// not such a folder stays.
func TestForgottenSites(t *testing.T) {
	root := t.TempDir()
	old, err := Folder(root, "old", "example.com")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Folder(root, "old", "example.com"); again != old || err != nil {
		t.Error(again, err)
	}
	other := filepath.Join(root, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-forgotten - time.Hour)
	for _, dir := range []string{old, other} {
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Folder(root, "new", "example.com")
	if err != nil || dir == old {
		t.Fatal(dir, err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a forgotten site has its folder")
	}
	for _, dir := range []string{dir, other} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestResultsComeBack fills every field of a page's Result.
func TestResultsComeBack(t *testing.T) {
	var r page.Result
	fill(reflect.ValueOf(&r).Elem(), new(int))
	for name, want := range map[string]page.Result{"full": r, "empty": {}, "empty, not nil": {Script: []byte{}, IDs: []string{}, Styles: map[string]string{}}} {
		data := Append(nil, want)
		var got page.Result
		if err := Read(data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
		for n := range data {
			_ = Read(data[:n], new(page.Result)) // must not panic
		}
		if Read(append(data, 0), new(page.Result)) == nil {
			t.Errorf("%s: something follows, and it was read", name)
		}
	}
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(int64(-*n % 100))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 100))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(k, n)
			fill(e, n)
			v.SetMapIndex(k, e)
		}
	default:
		panic(v.Type().String())
	}
}

// TestOneLargeValue: a folder has the last one, other processes find it, and what is
// written half is not there.
func TestOneLargeValue(t *testing.T) {
	dir := t.TempDir()
	open := func() *Store {
		s, err := Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	open().KeepFile(key(1), strings.NewReader("one"))
	s := open()
	s.KeepFile(key(2), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.OpenFile(key(2)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a value: %v", err)
	}
	read := func(k Key) string {
		f, err := open().OpenFile(k)
		if err != nil {
			return ""
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	if got := read(key(1)); got != "one" {
		t.Errorf("got %q", got)
	}
	s.KeepFile(key(3), strings.NewReader("three"))
	if a, b := read(key(1)), read(key(3)); a != "" || b != "three" {
		t.Errorf("got %q and %q", a, b)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("the folder has %v, %v", list, err)
	}
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also in place of itself
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		s.KeepFile(key(4), f)
		_ = f.Close()
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if a, b := read(key(3)), read(key(4)); a != "" || b != "four" {
		t.Errorf("got %q and %q", a, b)
	}
	var none *Store
	none.KeepFile(key(1), strings.NewReader("one"))
	if _, err := none.OpenFile(key(1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing keeps a value: %v", err)
	}
}

// TestSize: a value's size is known without reading it, and whoever asks for it uses
// the value.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(key(1), []byte("value"))
	s.Put(key(2), []byte("another"))
	s.Finish()
	s.Close()
	if s, err = Open(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, ok := s.Size(key(1)); n != 5 || !ok {
		t.Error(n, ok)
	}
	if n, ok := s.Size(key(3)); n != 0 || ok {
		t.Error(n, ok)
	}
	if s.live != 5 {
		t.Errorf("%d bytes are in use", s.live)
	}
	if n, ok := (*Store)(nil).Size(key(1)); n != 0 || ok {
		t.Error(n, ok)
	}
}
