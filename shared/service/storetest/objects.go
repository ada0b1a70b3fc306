package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Objects runs the contract of store.Objects. open returns a backend, which may
// be one that was used before, and the client that its links are for.
func Objects(t *testing.T, open func(t *testing.T) (store.Objects, *http.Client)) {
	for _, c := range []struct {
		name string
		run  func(*objectSuite, *testing.T)
	}{
		{"an object comes back as it was put", (*objectSuite).roundTrip},
		{"what is missing is ErrNotFound", (*objectSuite).missing},
		{"ranges", (*objectSuite).ranges},
		{"an empty object", (*objectSuite).empty},
		{"a put replaces the whole object", (*objectSuite).replace},
		{"a put that fails leaves what was there", (*objectSuite).failedPut},
		{"a put holds its digest", (*objectSuite).digest},
		{"of many puts if absent one wins", (*objectSuite).ifAbsent},
		{"readers see one whole object while it is replaced", (*objectSuite).readers},
		{"a large object streams", (*objectSuite).large},
		{"an upload in parts goes on in another process", (*objectSuite).uploadParts},
		{"an upload that was aborted is gone", (*objectSuite).uploadAborted},
		{"keys that are hard for file systems", (*objectSuite).hardKeys},
		{"keys that are not names", (*objectSuite).badKeys},
		{"a listing is in byte order, in pages", (*objectSuite).list},
		{"delete", (*objectSuite).remove},
		{"a copy has a life of its own", (*objectSuite).copies},
		{"a link reads", (*objectSuite).linkGet},
		{"a link reads ranges", (*objectSuite).linkRange},
		{"a link that was changed is refused", (*objectSuite).linkChanged},
		{"a link that has ended is refused", (*objectSuite).linkExpired},
		{"a link writes once", (*objectSuite).linkPut},
		{"a link writes only what it was made for", (*objectSuite).linkPutOther},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, client := open(t)
			c.run(&objectSuite{Objects: o, client: client, ctx: testContext(t), dir: unique()}, t)
		})
	}
}

type objectSuite struct {
	store.Objects
	client *http.Client
	ctx    context.Context
	dir    string
}

func (s *objectSuite) key(name string) string { return s.dir + "/" + name }

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// text makes n bytes in which each place differs from the others.
func text(n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%d ", b.Len())
	}
	return b.Bytes()[:n]
}

func (s *objectSuite) put(t *testing.T, name string, data []byte, opt store.PutOptions) store.ObjectInfo {
	t.Helper()
	info, err := s.Put(s.ctx, s.key(name), bytes.NewReader(data), opt)
	if err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
	return info
}

func (s *objectSuite) read(t *testing.T, name string, offset, length int64) []byte {
	t.Helper()
	r, err := s.Get(s.ctx, s.key(name), offset, length)
	if err != nil {
		t.Fatalf("get %s from %d, %d bytes: %v", name, offset, length, err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %s from %d, %d bytes: %v", name, offset, length, err)
	}
	return b
}

// want holds that the object has these bytes; nil wants none.
func (s *objectSuite) want(t *testing.T, name string, data []byte) {
	t.Helper()
	if data == nil {
		if info, err := s.Stat(s.ctx, s.key(name)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("stat %s: got %+v, %v; want ErrNotFound", name, info, err)
		}
		return
	}
	if got := s.read(t, name, 0, -1); !bytes.Equal(got, data) {
		t.Errorf("%s: got %.60q (%d bytes), want %.60q (%d bytes)", name, got, len(got), data, len(data))
	}
}

func (s *objectSuite) roundTrip(t *testing.T) {
	data := text(100_000)
	before := time.Now().Add(-time.Minute)
	put := s.put(t, "a.txt", data, store.PutOptions{})
	s.want(t, "a.txt", data)
	info, err := s.Stat(s.ctx, s.key("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]store.ObjectInfo{"put": put, "stat": info} {
		if i.Key != s.key("a.txt") || i.Size != int64(len(data)) {
			t.Errorf("%s returns %+v", name, i)
		}
		if i.SHA256 != "" && i.SHA256 != digestOf(data) {
			t.Errorf("%s has the digest %s, want %s", name, i.SHA256, digestOf(data))
		}
	}
	if info.Modified.Before(before) || info.Modified.After(time.Now().Add(time.Minute)) {
		t.Errorf("modified %v", info.Modified)
	}
}

func (s *objectSuite) copies(t *testing.T) {
	data := text(100_000)
	s.put(t, "from a+b.txt", data, store.PutOptions{ContentType: "text/css"})
	s.put(t, "to", []byte("what was there"), store.PutOptions{})
	from, to := s.key("from a+b.txt"), s.key("to")
	for range 2 { // again, and over itself
		if err := s.Copy(s.ctx, from, to); err != nil {
			t.Fatal(err)
		}
		s.want(t, "to", data)
	}
	info, err := s.Stat(s.ctx, to)
	if err != nil || info.Key != to || info.Size != int64(len(data)) || info.SHA256 != "" && info.SHA256 != digestOf(data) {
		t.Errorf("the copy is %+v, %v", info, err)
	}
	link, err := s.PresignGet(s.ctx, to, "x", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.client.Get(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.Header.Get("Content-Type") != "text/css" {
		t.Errorf("the copy is of the type %q", response.Header.Get("Content-Type"))
	}
	// Neither knows of the other's end.
	if err := s.Delete(s.ctx, from); err != nil {
		t.Fatal(err)
	}
	s.want(t, "to", data)
	if err := s.Copy(s.ctx, to, from); err != nil {
		t.Fatal(err)
	}
	s.put(t, "to", []byte("other"), store.PutOptions{})
	s.want(t, "from a+b.txt", data)
	if err := s.Copy(s.ctx, s.key("missing"), to); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a copy of nothing: %v", err)
	}
	s.want(t, "to", []byte("other"))
	for _, key := range []string{"", "a//b"} {
		if s.Copy(s.ctx, key, to) == nil || s.Copy(s.ctx, to, key) == nil {
			t.Errorf("a copy with the key %q", key)
		}
	}
}

func (s *objectSuite) missing(t *testing.T) {
	s.put(t, "there", []byte("x"), store.PutOptions{})
	for _, name := range []string{"nothing", "ther", "there/x", "There"} {
		if _, err := s.Get(s.ctx, s.key(name), 0, -1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("get %s: got %v", name, err)
		}
		if _, err := s.Stat(s.ctx, s.key(name)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("stat %s: got %v", name, err)
		}
	}
	if _, err := s.Stat(s.ctx, s.dir); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a folder is not an object: got %v", err)
	}
}

func (s *objectSuite) ranges(t *testing.T) {
	data := text(1000)
	s.put(t, "r", data, store.PutOptions{})
	for _, c := range []struct{ offset, length, from, to int64 }{
		{0, -1, 0, 1000}, {0, 1000, 0, 1000}, {0, 2000, 0, 1000}, {0, 1, 0, 1}, {10, 20, 10, 30},
		{999, 1, 999, 1000}, {999, -1, 999, 1000}, {990, 50, 990, 1000}, {5, 0, 5, 5}, {0, 0, 0, 0},
	} {
		if got := s.read(t, "r", c.offset, c.length); !bytes.Equal(got, data[c.from:c.to]) {
			t.Errorf("%d bytes from %d: got %q, want %q", c.length, c.offset, got, data[c.from:c.to])
		}
	}
	for _, offset := range []int64{1000, 1001, 1 << 40} {
		for _, length := range []int64{-1, 1} {
			if _, err := s.Get(s.ctx, s.key("r"), offset, length); !errors.Is(err, store.ErrRange) {
				t.Errorf("%d bytes from %d: got %v, want ErrRange", length, offset, err)
			}
		}
	}
	if _, err := s.Get(s.ctx, s.key("r"), -1, 1); err == nil {
		t.Error("an offset below 0: no error")
	}
}

func (s *objectSuite) empty(t *testing.T) {
	info := s.put(t, "e", nil, store.PutOptions{SHA256: digestOf(nil)})
	if info.Size != 0 {
		t.Errorf("size %d", info.Size)
	}
	for _, length := range []int64{-1, 0, 10} {
		if got := s.read(t, "e", 0, length); len(got) != 0 {
			t.Errorf("got %q", got)
		}
	}
	if got := s.read(t, "e", 3, -1); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func (s *objectSuite) replace(t *testing.T) {
	s.put(t, "o", text(5000), store.PutOptions{})
	info := s.put(t, "o", []byte("short"), store.PutOptions{})
	if info.Size != 5 {
		t.Errorf("size %d", info.Size)
	}
	s.want(t, "o", []byte("short"))
}

// brokenReader returns some bytes, then an error.
type brokenReader struct {
	r   io.Reader
	err error
}

func (b brokenReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func (s *objectSuite) failedPut(t *testing.T) {
	s.put(t, "old", []byte("old"), store.PutOptions{})
	broken := errors.New("the source broke")
	for _, name := range []string{"old", "new"} {
		_, err := s.Put(s.ctx, s.key(name), brokenReader{bytes.NewReader(text(20 << 20)), broken}, store.PutOptions{})
		if !errors.Is(err, broken) {
			t.Errorf("%s: got %v, want the reader's error", name, err)
		}
		ctx, cancel := context.WithCancel(s.ctx)
		_, err = s.Put(ctx, s.key(name), io.MultiReader(bytes.NewReader(text(1000)), readerFunc(func(p []byte) (int, error) {
			cancel()
			return copy(p, "x"), nil
		})), store.PutOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the context's error", name, err)
		}
	}
	s.want(t, "old", []byte("old"))
	s.want(t, "new", nil)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (s *objectSuite) digest(t *testing.T) {
	s.put(t, "d", []byte("old"), store.PutOptions{SHA256: digestOf([]byte("old"))})
	for _, name := range []string{"d", "fresh"} {
		_, err := s.Put(s.ctx, s.key(name), strings.NewReader("new"), store.PutOptions{SHA256: digestOf([]byte("other"))})
		if !errors.Is(err, store.ErrDigest) {
			t.Errorf("%s: got %v, want ErrDigest", name, err)
		}
	}
	s.want(t, "d", []byte("old"))
	s.want(t, "fresh", nil)
}

func (s *objectSuite) ifAbsent(t *testing.T) {
	const writers = 20
	var (
		wg     sync.WaitGroup
		wins   atomic.Int64
		winner atomic.Int64
	)
	for w := range int64(writers) {
		wg.Go(func() {
			_, err := s.Put(s.ctx, s.key("once"), strings.NewReader(fmt.Sprint(w)), store.PutOptions{IfAbsent: true})
			switch {
			case err == nil:
				wins.Add(1)
				winner.Store(w)
			case !errors.Is(err, store.ErrExists):
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d of %d writers won", wins.Load(), writers)
	}
	s.want(t, "once", fmt.Append(nil, winner.Load()))
	s.put(t, "once", []byte("again"), store.PutOptions{})
	s.want(t, "once", []byte("again"))
	if err := s.Delete(s.ctx, s.key("once")); err != nil {
		t.Fatal(err)
	}
	s.put(t, "once", []byte("anew"), store.PutOptions{IfAbsent: true})
}

func (s *objectSuite) readers(t *testing.T) {
	version := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, 200_000+n) }
	s.put(t, "v", version(0), store.PutOptions{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := s.Get(s.ctx, s.key("v"), 0, -1)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := io.ReadAll(r)
				if err := errors.Join(err, r.Close()); err != nil {
					t.Error(err)
					return
				}
				if n := len(b) - 200_000; n < 0 || !bytes.Equal(b, version(n)) {
					t.Errorf("a mixture of %d bytes", len(b))
					return
				}
			}
		})
	}
	for n := range 20 {
		if _, err := s.Put(s.ctx, s.key("v"), bytes.NewReader(version(n+1)), store.PutOptions{}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}

func (s *objectSuite) uploadParts(t *testing.T) {
	const each = 5 << 20
	whole := text(2*each + 1000)
	key := s.key("parts")
	s.put(t, "parts", []byte("old"), store.PutOptions{})
	upload, err := s.BeginUpload(s.ctx, key, each, store.PutOptions{ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	var parts []store.Part
	for n := 1; n <= 3; n++ {
		data := whole[(n-1)*each : min(n*each, len(whole))]
		var part store.Part
		for range 2 { // the answer of the first may have been lost
			if part, err = s.UploadPart(s.ctx, key, upload, n, data); err != nil {
				t.Fatal(err)
			}
		}
		if part.Size != int64(len(data)) || part.SHA256 != "" && part.SHA256 != digestOf(data) {
			t.Errorf("part %d is %+v", n, part)
		}
		parts = append(parts, part)
	}
	s.want(t, "parts", []byte("old"))
	for range 2 { // again, after an answer that was lost
		info, err := s.CompleteUpload(s.ctx, key, upload, parts, digestOf(whole))
		if err != nil || info.Size != int64(len(whole)) || info.SHA256 != digestOf(whole) {
			t.Fatalf("%+v, %v", info, err)
		}
	}
	s.want(t, "parts", whole)
	if _, err := s.UploadPart(s.ctx, key, upload, 1, whole[:each]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a part of an upload that is complete: %v", err)
	}
	if err := s.AbortUpload(s.ctx, key, upload); err != nil {
		t.Errorf("aborted too late: %v", err)
	}
	s.want(t, "parts", whole)
}

func (s *objectSuite) uploadAborted(t *testing.T) {
	key := s.key("aborted")
	upload, err := s.BeginUpload(s.ctx, key, 5<<20, store.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.UploadPart(s.ctx, key, upload, 1, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.AbortUpload(s.ctx, key, upload); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CompleteUpload(s.ctx, key, upload, []store.Part{part}, digestOf([]byte("data"))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("completed after its end: %v", err)
	}
	if _, err := s.UploadPart(s.ctx, key, upload, 1, []byte("data")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a part after its end: %v", err)
	}
	s.want(t, "aborted", nil)
}

func (s *objectSuite) large(t *testing.T) {
	const size = 40 << 20 // more than one part of an upload in parts
	digest := sha256.New()
	block := text(1 << 20)
	var n int64
	source := io.LimitReader(readerFunc(func(p []byte) (int, error) {
		c := copy(p, block[n%int64(len(block)):])
		n += int64(c)
		return c, nil
	}), size)
	info, err := s.Put(s.ctx, s.key("large"), io.TeeReader(source, digest), store.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Size != size {
		t.Errorf("size %d", info.Size)
	}
	r, err := s.Get(s.ctx, s.key("large"), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	got := sha256.New()
	_, err = io.Copy(got, r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Sum(nil), digest.Sum(nil)) {
		t.Error("other bytes than were put")
	}
}

// hardKeyNames are in byte order.
func hardKeyNames() []string {
	return []string{
		" ", "!\"#$%&'()*+,-.", "%2F", "...", ".hidden", "A", "CON", "a", "a b", "a.", "a/a", "a/b", "a/b/c", "a?b=c", "a~", "a~f",
		"nul.txt", strings.Repeat("x", 300), strings.Repeat("y/", 400) + "y", "~",
	}
}

func (s *objectSuite) hardKeys(t *testing.T) {
	names := append(hardKeyNames(), strings.Repeat("z", store.MaxObjectKey-len(s.dir)-1))
	slices.Sort(names)
	for _, name := range names {
		s.put(t, name, []byte(name), store.PutOptions{})
	}
	var got, want []string
	list, err := s.List(s.ctx, s.dir+"/", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		got = append(got, i.Key)
	}
	for _, name := range names {
		s.want(t, name, []byte(name))
		want = append(want, s.key(name))
		link := s.readLink(t, name, "", time.Minute)
		if status, _, body := s.do(t, http.MethodGet, link, nil); status != http.StatusOK || string(body) != name {
			t.Errorf("the link to %q: %d %q", name, status, body)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func (s *objectSuite) badKeys(t *testing.T) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../a", "a/..", "a\x00b", "a\nb", "a\x7f", "ü", "a\xff",
		strings.Repeat("x", store.MaxObjectKey+1),
	} {
		if _, err := s.Put(s.ctx, key, strings.NewReader("x"), store.PutOptions{}); err == nil {
			t.Errorf("put %.40q: no error", key)
		}
		if _, err := s.PresignGet(s.ctx, key, "", time.Minute); err == nil {
			t.Errorf("link to read %.40q: no error", key)
		}
		if _, err := s.PresignPut(s.ctx, key, 1, digestOf([]byte("x")), time.Minute); err == nil {
			t.Errorf("link to write %.40q: no error", key)
		}
	}
}

func (s *objectSuite) list(t *testing.T) {
	var want []string
	for _, name := range []string{"list!", "list/", "list/0", "list/1", "list/10", "list/2", "list/A", "list/a", "list/a/b", "list/a0", "list/~", "list0"} {
		name = strings.TrimSuffix(name, "/")
		s.put(t, name, []byte(name), store.PutOptions{})
		if strings.HasPrefix(name, "list/") {
			want = append(want, s.key(name))
		}
	}
	for _, limit := range []int{0, 1, 2, 3, len(want), 100} {
		var got []string
		after := ""
		for range 100 {
			page, err := s.List(s.ctx, s.key("list/"), after, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if limit > 0 && len(page) > limit {
				t.Fatalf("a page of %d, limit %d", len(page), limit)
			}
			for _, i := range page {
				if name := strings.TrimPrefix(i.Key, s.dir+"/"); i.Size != int64(len(name)) {
					t.Errorf("%s: size %d", i.Key, i.Size)
				}
				got = append(got, i.Key)
			}
			after = page[len(page)-1].Key
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q, want %q", limit, got, want)
		}
	}
	for after, n := range map[string]int{s.key("list/zzz"): 1, s.key("list/5"): 5, s.key("list0"): 0, "\x00": len(want)} {
		page, err := s.List(s.ctx, s.key("list/"), after, 0)
		if err != nil || len(page) != n {
			t.Errorf("after %q: %d objects, %v; want %d", after, len(page), err, n)
		}
	}
	if page, err := s.List(s.ctx, s.key("nothing"), "", 0); err != nil || len(page) != 0 {
		t.Errorf("an empty listing: got %v, %v", page, err)
	}
}

func (s *objectSuite) remove(t *testing.T) {
	if err := s.Delete(s.ctx); err != nil {
		t.Errorf("nothing: %v", err)
	}
	for _, name := range []string{"a", "a/b", "c"} {
		s.put(t, name, []byte(name), store.PutOptions{})
	}
	if err := s.Delete(s.ctx, s.key("a"), s.key("never was"), s.key("c")); err != nil {
		t.Fatal(err)
	}
	s.want(t, "a", nil)
	s.want(t, "c", nil)
	s.want(t, "a/b", []byte("a/b"))
	if err := s.Delete(s.ctx, s.key("a")); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// readLink makes a link to an object, whose file is called filename.
func (s *objectSuite) readLink(t *testing.T, name, filename string, life time.Duration) store.Link {
	t.Helper()
	link, err := s.PresignGet(s.ctx, s.key(name), filename, life)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// writeLink makes a link that takes data and nothing else.
func (s *objectSuite) writeLink(t *testing.T, name string, data []byte, life time.Duration) store.Link {
	t.Helper()
	link, err := s.PresignPut(s.ctx, s.key(name), int64(len(data)), digestOf(data), life)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// do sends a request as the link says.
func (s *objectSuite) do(t *testing.T, method string, link store.Link, body []byte, change ...func(*http.Request)) (int, http.Header, []byte) {
	t.Helper()
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(s.ctx, method, link.URL, r)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range link.Header {
		req.Header[name] = slices.Clone(values)
	}
	for _, c := range change {
		c(req)
	}
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, link.URL, err)
	}
	b, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatalf("%s %s: %v", method, link.URL, err)
	}
	return res.StatusCode, res.Header, b
}

func (s *objectSuite) linkGet(t *testing.T) {
	data := text(50_000)
	link := s.readLink(t, "l", `the "site" ü.tar.gz`, 10*time.Minute)
	if left := time.Until(link.ExpiresAt); left <= 0 || left > 10*time.Minute {
		t.Errorf("the link ends in %v", left)
	}
	if status, _, _ := s.do(t, http.MethodGet, link, nil); status != http.StatusNotFound {
		t.Errorf("the object is not there yet: %d, want 404", status)
	}
	s.put(t, "l", data, store.PutOptions{ContentType: "application/gzip"})
	status, header, body := s.do(t, http.MethodGet, link, nil)
	if status != http.StatusOK || !bytes.Equal(body, data) {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	if got := header.Get("Content-Type"); got != "application/gzip" {
		t.Errorf("Content-Type %q", got)
	}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || kind != "attachment" || params["filename"] != `the "site" ü.tar.gz` {
		t.Errorf("Content-Disposition %q", header.Get("Content-Disposition"))
	}
	if header.Get("ETag") == "" {
		t.Error("no ETag")
	}
}

func (s *objectSuite) linkRange(t *testing.T) {
	data := text(1000)
	s.put(t, "l", data, store.PutOptions{})
	link := s.readLink(t, "l", "", time.Minute)
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	status, header, body := s.do(t, http.MethodGet, link, nil, set("Range", "bytes=100-199"))
	if status != http.StatusPartialContent || !bytes.Equal(body, data[100:200]) || header.Get("Content-Range") != "bytes 100-199/1000" {
		t.Errorf("%d %q %q", status, header.Get("Content-Range"), body)
	}
	etag := header.Get("ETag")
	if status, _, body := s.do(t, http.MethodGet, link, nil, set("Range", "bytes=990-")); status != http.StatusPartialContent || !bytes.Equal(body, data[990:]) {
		t.Errorf("to the end: %d %q", status, body)
	}
	if status, _, _ := s.do(t, http.MethodGet, link, nil, set("Range", "bytes=1000-")); status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("after the end: %d, want 416", status)
	}
	status, _, _ = s.do(t, http.MethodGet, link, nil, set("If-Match", etag))
	if status != http.StatusOK {
		t.Errorf("If-Match of the object: %d", status)
	}
	s.put(t, "l", text(999), store.PutOptions{})
	status, _, _ = s.do(t, http.MethodGet, link, nil, set("If-Match", etag), set("Range", "bytes=0-9"))
	if status != http.StatusPreconditionFailed {
		t.Errorf("If-Match of an object that was replaced: %d, want 412", status)
	}
}

func (s *objectSuite) linkChanged(t *testing.T) {
	s.put(t, "l", []byte("mine"), store.PutOptions{})
	s.put(t, "m", []byte("not meant"), store.PutOptions{})
	get := s.readLink(t, "l", "name", time.Minute)
	data := []byte("upload")
	put := s.writeLink(t, "n", data, time.Minute)
	refused := func(what, method string, link store.Link, body []byte) {
		t.Helper()
		// S3 answers 400 to what isn't even a parameter, such as a month 13.
		if status, _, got := s.do(t, method, link, body); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("%s: %d %.100q, want 403 or 400", what, status, got)
		}
	}
	// Each parameter of the address counts: changed by one character, or gone.
	for _, l := range []struct {
		method string
		link   store.Link
		body   []byte
	}{{http.MethodGet, get, nil}, {http.MethodPut, put, data}} {
		u, err := url.Parse(l.link.URL)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		if len(query) == 0 {
			t.Fatalf("the link has no parameters: %s", l.link.URL)
		}
		for name := range query {
			changed := u.Query()
			v := []byte(changed.Get(name))
			if len(v) == 0 {
				continue
			}
			if v[len(v)-1]++; v[len(v)-1] == ':' || v[len(v)-1] > 'z' {
				v[len(v)-1] = '0'
			}
			changed.Set(name, string(v))
			c := *u
			c.RawQuery = changed.Encode()
			refused(l.method+" with another "+name, l.method, store.Link{URL: c.String(), Header: l.link.Header}, l.body)
		}
		c := *u
		c.RawQuery = ""
		refused(l.method+" without parameters", l.method, store.Link{URL: c.String(), Header: l.link.Header}, l.body)
		c = *u
		c.Path = strings.TrimSuffix(c.Path, "l") + "m"
		c.Path = strings.TrimSuffix(c.Path, "nm") + "m"
		refused(l.method+" of another object", l.method, store.Link{URL: c.String(), Header: l.link.Header}, l.body)
	}
	refused("a link to read used to write", http.MethodPut, store.Link{URL: get.URL}, []byte("theirs"))
	refused("a link to read used to ask for the head", http.MethodHead, get, nil)
	refused("a link to read used to delete", http.MethodDelete, get, nil)
	refused("a link to write used to read", http.MethodGet, store.Link{URL: put.URL}, nil)
	s.want(t, "l", []byte("mine"))
	s.want(t, "n", nil)
}

func (s *objectSuite) linkExpired(t *testing.T) {
	s.put(t, "l", []byte("x"), store.PutOptions{})
	get := s.readLink(t, "l", "", time.Second)
	data := []byte("late")
	put := s.writeLink(t, "late", data, time.Second)
	eventually(t, func() string {
		if status, _, _ := s.do(t, http.MethodGet, get, nil); status != http.StatusForbidden {
			return fmt.Sprintf("a link to read that has ended: %d, want 403", status)
		}
		return ""
	})
	if time.Now().Before(get.ExpiresAt) {
		t.Errorf("refused before its end, %v", get.ExpiresAt)
	}
	if status, _, _ := s.do(t, http.MethodPut, put, data); status != http.StatusForbidden {
		t.Errorf("a link to write that has ended: %d, want 403", status)
	}
	s.want(t, "late", nil)
}

func (s *objectSuite) linkPut(t *testing.T) {
	for _, data := range [][]byte{text(300_000), {}} {
		name := fmt.Sprint("up", len(data))
		link := s.writeLink(t, name, data, time.Minute)
		if left := time.Until(link.ExpiresAt); left <= 0 || left > time.Minute {
			t.Errorf("the link ends in %v", left)
		}
		if status, _, body := s.do(t, http.MethodPut, link, data); status != http.StatusOK {
			t.Fatalf("%d bytes: %d %s", len(data), status, body)
		}
		s.want(t, name, data)
		if status, _, _ := s.do(t, http.MethodPut, link, data); status != http.StatusPreconditionFailed {
			t.Errorf("a second time: %d, want 412", status)
		}
		s.want(t, name, data)
	}
	// It is the object that counts, not the link.
	s.put(t, "there", []byte("first"), store.PutOptions{})
	link := s.writeLink(t, "there", []byte("second"), time.Minute)
	if status, _, _ := s.do(t, http.MethodPut, link, []byte("second")); status != http.StatusPreconditionFailed {
		t.Errorf("over an object that is there: %d, want 412", status)
	}
	s.want(t, "there", []byte("first"))
}

func (s *objectSuite) linkPutOther(t *testing.T) {
	data := []byte("exactly this")
	link := s.writeLink(t, "other", data, time.Minute)
	refused := func(what string, body []byte, change ...func(*http.Request)) {
		t.Helper()
		if status, _, got := s.do(t, http.MethodPut, link, body, change...); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("%s: %d %.100q, want 403 or 400", what, status, got)
		}
		s.want(t, "other", nil)
	}
	refused("other bytes of that size", []byte("exactly that"))
	refused("fewer bytes", []byte("exactly"))
	refused("more bytes", []byte("exactly this and more"))
	refused("nothing", []byte{})
	for name := range link.Header {
		refused("without the header "+name, data, func(r *http.Request) { r.Header.Del(name) })
		refused("with another "+name, data, func(r *http.Request) { r.Header.Set(name, "x") })
	}
	if _, err := s.PresignPut(s.ctx, s.key("other"), 1, "no digest", time.Minute); err == nil {
		t.Error("a link for an invalid digest: no error")
	}
	if _, err := s.PresignPut(s.ctx, s.key("other"), -1, digestOf(nil), time.Minute); err == nil {
		t.Error("a link for a size below 0: no error")
	}
	if status, _, body := s.do(t, http.MethodPut, link, data); status != http.StatusOK {
		t.Errorf("the right bytes in the end: %d %s", status, body)
	}
	s.want(t, "other", data)
}
