package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/remote/remotetest"
)

// blob is an archive as far as a download is concerned.
func blob(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(int64(n))).Read(b)
	return b
}

func newDownloader(t testing.TB) *downloader {
	return &downloader{
		dir: t.TempDir(), log: slog.New(slog.DiscardHandler), limit: 1 << 20, attempts: 3,
		sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func (d *downloader) from(t testing.TB, link string, known validators) ([]byte, validators, error) {
	t.Helper()
	source, err := parseSource(link, sourceOptions{Agent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	path, from, err := d.fetch(context.Background(), source, known)
	if err != nil {
		return nil, from, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, from, nil
}

// ranges are the Range headers of all requests.
func (o *origin) ranges() (out []string) {
	for _, h := range o.requests() {
		out = append(out, h.Get("Range"))
	}
	return out
}

// TestResume: a download that breaks off goes on where it was, as long as it is
// surely the same bundle.
func TestResume(t *testing.T) {
	data := blob(100_000)
	for _, c := range []struct {
		name   string
		change func(*origin)
		want   []string // ranges that are asked for
	}{
		{"it does not break off", func(*origin) {}, []string{""}},
		{"it breaks off twice", func(o *origin) { o.cut = 40_000 }, []string{"", "bytes=40000-", "bytes=80000-"}},
		{"no tags: from the beginning", func(o *origin) { o.cut, o.noTags = 99_999, true }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOrigin(t, data)
			c.change(o)
			got, from, err := newDownloader(t).from(t, o.link(), validators{})
			if c.want == nil {
				if codeOf(err) != CodeUnreachable {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || !bytes.Equal(got, data) || from.ETag == "" {
				t.Fatalf("%d bytes, %+v, error %v", len(got), from, err)
			}
			if diff := cmp.Diff(c.want, o.ranges()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLinkExpiresInTheMiddle: what has come is kept, and a new link to the same
// bundle goes on with it, also in another process.
func TestLinkExpiresInTheMiddle(t *testing.T) {
	data := blob(100_000)
	o := newOrigin(t, data)
	o.cut, o.expireAt = 30_000, 2
	d := newDownloader(t)
	if _, _, err := d.from(t, o.link(), validators{}); codeOf(err) != CodeLinkExpired {
		t.Fatalf("%v", err)
	}
	again := newDownloader(t)
	again.dir = d.dir
	o.set(func() { o.cut, o.expireAt = 0, 0 })
	got, _, err := again.from(t, o.URL+"/exports/bundle.tar.gz?X-Signature=new", validators{})
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
	if diff := cmp.Diff([]string{"", "bytes=30000-", "bytes=60000-", "bytes=60000-"}, o.ranges()); diff != "" {
		t.Error(diff)
	}
}

// TestStalled: a source that keeps the connection and sends nothing any more
// counts as one that broke off: the rest is asked for anew.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := blob(100_000)
		asked := make(chan string, 9)
		o, network := remotetest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.Header.Get("Range")
			w.Header().Set("ETag", `"a"`)
			if r.Header.Get("Range") == "" {
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
				_, _ = w.Write(data[:40_000])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // until the other side has gone
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}))
		o.Start()
		source, err := parseSource(o.URL+"/bundle.tar.gz", sourceOptions{Agent: "test"})
		if err != nil {
			t.Fatal(err)
		}
		source.remote.(*httpRemote).client.Transport = network.Transport(t)
		path, _, err := newDownloader(t).fetch(t.Context(), source, validators{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes, error %v", len(got), err)
		}
		if first, second := <-asked, <-asked; len(asked) > 0 || first != "" || second != "bytes=40000-" {
			t.Errorf("asked for %q and %q, and %d times more", first, second, len(asked))
		}
	})
}

// TestNotResumed: the rest of another bundle is never joined to what is there.
func TestNotResumed(t *testing.T) {
	first, second := blob(100_000), blob(90_000)
	for _, c := range []struct {
		name   string
		change func(o *origin, link *string)
	}{
		{"the bundle at the link is another one", func(o *origin, _ *string) {}},
		{"the link is another one", func(_ *origin, link *string) { *link = strings.Replace(*link, "bundle.tar.gz", "other.tar.gz", 1) }},
		{"the source knows no ranges", func(o *origin, _ *string) { o.noRanges = true }},
		{"the source has no tags", func(o *origin, _ *string) { o.noTags = true }},
		{"the source heeds no condition", func(o *origin, _ *string) { o.deaf = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOrigin(t, first)
			o.cut, o.expireAt = 30_000, 1
			d := newDownloader(t)
			if _, _, err := d.from(t, o.link(), validators{}); codeOf(err) != CodeLinkExpired {
				t.Fatalf("%v", err)
			}
			link := o.link()
			o.set(func() { o.data, o.cut, o.expireAt = second, 0, 0; c.change(o, &link) })
			got, _, err := d.from(t, link, validators{})
			if err != nil || !bytes.Equal(got, second) {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
		})
	}
}

// TestDownloadedBefore: what an earlier process had in full is not fetched again,
// only the source asked whether it still has it.
func TestDownloadedBefore(t *testing.T) {
	data := blob(1000)
	o := newOrigin(t, data)
	d := newDownloader(t)
	if _, _, err := d.from(t, o.link(), validators{}); err != nil {
		t.Fatal(err)
	}
	again := newDownloader(t)
	again.dir = d.dir
	got, _, err := again.from(t, o.link(), validators{})
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
	if diff := cmp.Diff([]string{"", "bytes=999-"}, o.ranges()); diff != "" {
		t.Error(diff)
	}
}

// TestKnownBundle: a source that still has the known bundle is not asked for
// more than that.
func TestKnownBundle(t *testing.T) {
	o := newOrigin(t, blob(1000))
	d := newDownloader(t)
	_, from, err := d.from(t, o.link(), validators{})
	if err != nil {
		t.Fatal(err)
	}
	d.forget()
	if _, _, err := d.from(t, o.link(), from); !errors.Is(err, errUnchanged) {
		t.Errorf("%v", err)
	}
	if left := tree(t, d.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestStrangeSources: what answers in ways that no source should.
func TestStrangeSources(t *testing.T) {
	data := blob(5000)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		code   Code // "" where the bundle comes in the end
		says   string
	}{
		{"it does not say how much will come", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(data[:10])
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(data[10:])
		}, "", ""},
		{"more than a bundle may have", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
		}, CodeRefused, "more than"},
		{"more than a bundle may have, without saying so", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, io.LimitReader(zeroReader{}, 2<<20))
		}, CodeRefused, "more than"},
		{"another part than was asked for", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-9/5000")
				w.WriteHeader(206)
				return
			}
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write(data[:100])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, CodeUnreachable, "other than the requested one"},
		{"a part without a place", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(206) }, CodeUnreachable, "other than the requested one"},
		{"nothing to say", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) }, CodeUnreachable, "status 204"},
		{"a circle of redirects", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) }, CodeUnreachable, "without end"},
		{"unchanged, though nothing is known", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(304) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			got, _, err := newDownloader(t).from(t, server.URL+"/b?"+secret, validators{})
			switch {
			case errors.Is(err, errUnchanged) && c.code == "":
			case c.code == "" && (err != nil || !bytes.Equal(got, data)):
				t.Errorf("%d bytes, error %v", len(got), err)
			case c.code != "" && (codeOf(err) != c.code || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %s with %q", err, c.code, c.says)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the link is shown: %v", err)
			}
		})
	}
}

// TestNotEncryptedInBetween: a link that is encrypted is never followed to an
// address that is not.
func TestNotEncryptedInBetween(t *testing.T) {
	var asked atomic.Bool
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer plain.Close()
	encrypted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) }))
	defer encrypted.Close()
	ca := caOf(t, encrypted)
	source, err := parseSource(encrypted.URL+"/b", sourceOptions{CAFile: ca})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = newDownloader(t).fetch(context.Background(), source, validators{})
	if err == nil || asked.Load() || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("asked %t, error %v", asked.Load(), err)
	}
}

// TestRedirectInwards: a link leads into this machine, by an address or by a
// name of it, only from a source that is there itself.
func TestRedirectInwards(t *testing.T) {
	data := blob(5000)
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
	defer inside.Close()
	port := netip.MustParseAddrPort(inside.Listener.Addr().String()).Port()
	for _, to := range []string{inside.URL, fmt.Sprintf("http://localhost:%d/", port)} {
		outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }))
		defer outside.Close()
		for _, near := range []func(netip.AddrPort) bool{near, func(a netip.AddrPort) bool { return a.Port() == port }} {
			source, err := parseSource(outside.URL+"/b", sourceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			from := source.remote.(*httpRemote)
			if from.client, err = newHTTPClient(sourceOptions{}, &guard{near: near}); err != nil {
				t.Fatal(err)
			}
			_, _, err = newDownloader(t).fetch(context.Background(), source, validators{})
			if isNear := near(netip.MustParseAddrPort(outside.Listener.Addr().String())); isNear && err != nil ||
				!isNear && (err == nil || !strings.Contains(err.Error(), errNear.Error())) {
				t.Errorf("from a source that is near %t to %s: %v", isNear, to, err)
			}
		}
	}
	for address, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "0.0.0.0": true, "::": true, "169.254.169.254": true,
		"fe80::1": true, "::ffff:169.254.169.254": true, "10.0.0.1": false, "192.168.1.1": false, "203.0.113.1": false, "2001:db8::1": false,
	} {
		if got := near(netip.AddrPortFrom(netip.MustParseAddr(address), 80)); got != want {
			t.Errorf("%s: near %t", address, got)
		}
	}
}

// TestNoProgress: a byte for each request is not a download.
func TestNoProgress(t *testing.T) {
	data := blob(100_000)
	var asked atomic.Int64
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)
		at := asked.Add(1) - 1
		status := http.StatusOK
		if at > 0 {
			status = http.StatusPartialContent
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-99999/100000", at))
		}
		w.Header().Set("Content-Length", fmt.Sprint(int64(len(data))-at))
		w.WriteHeader(status)
		_, _ = w.Write(data[at : at+1])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer o.Close()
	if _, _, err := newDownloader(t).from(t, o.URL+"/b", validators{}); codeOf(err) != CodeUnreachable || asked.Load() > 3 {
		t.Errorf("%d requests, error %v", asked.Load(), err)
	}
}

// TestOwnCA: a source with a certificate of one's own is trusted by its CA, and
// not without.
func TestOwnCA(t *testing.T) {
	data := blob(5000)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(data) }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	defer server.Close()
	for _, ca := range []string{"", caOf(t, server)} {
		source, err := parseSource(server.URL+"/b", sourceOptions{CAFile: ca})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = newDownloader(t).fetch(context.Background(), source, validators{})
		if (err == nil) != (ca != "") || err != nil && !strings.Contains(err.Error(), "BINDERY_CA_FILE") {
			t.Errorf("CA %q: %v", ca, err)
		}
	}
}

// full takes so many bytes, then it is as a full disk.
type full struct {
	w    io.Writer
	left int
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n, _ := f.w.Write(p[:f.left])
		f.left = 0
		return n, &os.PathError{Op: "write", Path: "bundle.part", Err: syscall.ENOSPC}
	}
	f.left -= len(p)
	return f.w.Write(p)
}

// TestFullWhileDownloading: a full volume is told as that, and what filled it
// goes.
func TestFullWhileDownloading(t *testing.T) {
	o := newOrigin(t, blob(100_000))
	d := newDownloader(t)
	d.wrap = func(w io.Writer) io.Writer { return &full{w, 10_000} }
	_, _, err := d.from(t, o.link(), validators{})
	if codeOf(err) != CodeVolume || !strings.Contains(err.Error(), "The volume is full") {
		t.Errorf("%v", err)
	}
	if left := tree(t, d.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if len(o.requests()) != 1 {
		t.Errorf("%d requests: a full volume does not empty itself", len(o.requests()))
	}
}

// TestBrokenRecord: notes about a download that can't be read are as none.
func TestBrokenRecord(t *testing.T) {
	data := blob(1000)
	for _, record := range []string{"", "{", `{"source":"x"}`, `{"total":5}`, "null", `{"total":-1}`} {
		o := newOrigin(t, data)
		d := newDownloader(t)
		if err := errors.Join(os.WriteFile(filepath.Join(d.dir, recordName), []byte(record), 0o600), os.WriteFile(filepath.Join(d.dir, partName), []byte("old bytes"), 0o600)); err != nil {
			t.Fatal(err)
		}
		got, _, err := d.from(t, o.link(), validators{})
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q: %d bytes, error %v", record, len(got), err)
		}
	}
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 5-9/10")
	f.Add("bytes 5-9/*")
	f.Fuzz(func(t *testing.T, header string) {
		first, total, ok := contentRange(header)
		if ok && (first < 0 || total >= 0 && total <= first) {
			t.Fatalf("%q: %d of %d", header, first, total)
		}
	})
}

// TestLinkStaysHere: a source that leads on to another host tells that host, and
// the log, nothing of the link, nor of an address that can't be read.
func TestLinkStaysHere(t *testing.T) {
	const secret = "X-Signature=abc"
	var header atomic.Pointer[http.Header]
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { header.Store(&r.Header) }))
	defer other.Close()
	to := other.URL + "/there"
	first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}))
	defer first.Close()
	fetch := func() error {
		source, err := parseSource(first.URL+"/b?"+secret, sourceOptions{CAFile: caOf(t, first)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = newDownloader(t).fetch(context.Background(), source, validators{})
		return err
	}
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	if h := header.Load(); h == nil || strings.Contains(fmt.Sprint(*h), secret) {
		t.Errorf("the other host was told %v", h)
	}
	to = "https://other.example:port/?X-Other=" + strings.Repeat("s", 20)
	if err := fetch(); err == nil || strings.Contains(err.Error(), "ssss") {
		t.Errorf("error %v", err)
	}
}
