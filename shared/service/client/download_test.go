package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// storage is an API that generates bundles, and the storage behind its links.
type storage struct {
	*httptest.Server
	data   []byte
	sha256 string
	size   int64

	links  int      // links made
	ranges []string // ranges asked for
	// answer, if not nil, may answer a download instead; n counts from 1.
	answer func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newStorage(t *testing.T, data []byte) *storage {
	s := storageOf(data)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func storageOf(data []byte) *storage {
	sum := sha256.Sum256(data)
	return &storage{data: data, sha256: hex.EncodeToString(sum[:]), size: int64(len(data))}
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.links++
		_ = json.NewEncoder(w).Encode(api.BundleLink{
			JobID: "exp_1", Version: "v", BundleURL: fmt.Sprintf("%s/b?link=%d", s.URL, s.links),
			ExpiresAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), SizeBytes: s.size, SHA256: s.sha256,
		})
		return
	}
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	if s.answer != nil && s.answer(len(s.ranges), w, r) {
		return
	}
	http.ServeContent(w, r, "b", time.Time{}, bytes.NewReader(s.data))
}

func TestDownload(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	cutAt := func(w http.ResponseWriter, n int) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:n])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	tests := []struct {
		name   string
		part   []byte // what an earlier download left
		answer func(n int, w http.ResponseWriter, r *http.Request) bool
		ranges []string
		links  int
		want   string // part of the error, empty for success
	}{
		{"in one go", nil, nil, []string{""}, 1, ""},
		{"resumes what an earlier one left", data[:700_000], nil, []string{"bytes=700000-"}, 1, ""},
		{"all is there already", data, nil, nil, 1, ""},
		{"resumes after a break", nil, func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				cutAt(w, 300_000)
			}
			return false
		}, []string{"", "bytes=300000-"}, 1, ""},
		{"a break at each turn", nil, func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n < 9 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", (n-1)*100_000, len(data)-1, len(data)))
				w.Header().Set("Content-Length", fmt.Sprint(len(data)-(n-1)*100_000))
				if n > 1 {
					w.WriteHeader(http.StatusPartialContent)
				}
				_, _ = w.Write(data[(n-1)*100_000 : n*100_000])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			return false
		}, []string{"", "bytes=100000-", "bytes=200000-", "bytes=300000-", "bytes=400000-", "bytes=500000-", "bytes=600000-", "bytes=700000-", "bytes=800000-"}, 1, ""},
		{"takes a fresh link when one has expired", data[:10], func(n int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("link") == "1" {
				http.Error(w, "expired", http.StatusForbidden)
				return true
			}
			return false
		}, []string{"bytes=10-", "bytes=10-"}, 2, ""},
		{"the rest of another bundle", bytes.Repeat([]byte("x"), 1000), nil, []string{"bytes=1000-", ""}, 1, ""},
		{"the rest of a longer bundle", bytes.Repeat([]byte("x"), 2_000_000), nil, []string{""}, 1, ""},
		{"storage without ranges", data[:1000], func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write(data)
			return true
		}, []string{"bytes=1000-"}, 1, ""},
		{"another range than asked for", data[:1000], func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Range", "bytes 0-999999/1000000")
			w.WriteHeader(http.StatusPartialContent)
			return true
		}, []string{"bytes=1000-"}, 1, "other than the requested one"},
		{"other bytes", nil, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write(bytes.ToUpper(bytes.Repeat([]byte("abcdefghij"), 100_000)))
			return true
		}, []string{""}, 1, "the API says"},
		{"refused for ever", nil, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "no", http.StatusNotFound)
			return true
		}, []string{""}, 1, "HTTP 404"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStorage(t, data)
			s.answer = test.answer
			c, err := New(Options{BaseURL: s.URL, Key: key, Clock: newClock()})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "new folder", "bundle.tar.gz")
			if test.part != nil {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+partSuffix, test.part, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var last int64
			_, err = c.Download(t.Context(), "exp_1", DownloadOptions{Path: path, Progress: func(done, _ int64) { last = done }})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(test.ranges, s.ranges); diff != "" {
				t.Error(diff)
			}
			if s.links != test.links {
				t.Errorf("%d links", s.links)
			}
			got, readErr := os.ReadFile(path)
			if test.want != "" {
				if !errors.Is(readErr, os.ErrNotExist) {
					t.Error("a file that was not checked has the name of one that was")
				}
				return
			}
			if !bytes.Equal(got, data) {
				t.Errorf("%d other bytes (%v)", len(got), readErr)
			}
			if _, err := os.Stat(path + partSuffix); !errors.Is(err, os.ErrNotExist) {
				t.Error("the part is still there")
			}
			if test.part == nil && last != int64(len(data)) {
				t.Errorf("progress ended at %d", last)
			}
		})
	}
}

// Two downloads of one file would write into each other: the second is told,
// and the first is not disturbed.
func TestDownloadHasItsFileAlone(t *testing.T) {
	data := []byte("some bytes")
	s := newStorage(t, data)
	c, err := New(Options{BaseURL: s.URL, Key: key, Clock: newClock()})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b")
	first := DownloadOptions{Path: path, Check: func(string, api.BundleLink) error {
		_, err := c.Download(t.Context(), "exp_1", DownloadOptions{Path: path})
		if err == nil || !strings.Contains(err.Error(), "another download is writing this file") {
			t.Errorf("the second: %v", err)
		}
		return nil
	}}
	for range 2 { // and the second time over a finished file
		if _, err := c.Download(t.Context(), "exp_1", first); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A file that its own check refuses gets no name, and is not kept: it has the
// digest that the API says, so no other bytes will come.
func TestDownloadIsCheckedBeforeItGetsItsName(t *testing.T) {
	for _, refusal := range []error{nil, errors.New("not whole")} {
		s := newStorage(t, []byte("some bytes"))
		c, err := New(Options{BaseURL: s.URL, Key: key, Clock: newClock()})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "b")
		checked := ""
		_, err = c.Download(t.Context(), "exp_1", DownloadOptions{Path: path, Check: func(file string, link api.BundleLink) error {
			data, err := os.ReadFile(file)
			if _, named := os.Stat(path); err != nil || named == nil || link.SizeBytes != int64(len(data)) {
				t.Errorf("%v, %v, size %d", err, named, link.SizeBytes)
			}
			checked = string(data)
			return refusal
		}})
		if !errors.Is(err, refusal) || checked != "some bytes" {
			t.Errorf("error %v after a check of %q", err, checked)
		}
		_, named := os.Stat(path)
		_, part := os.Stat(path + partSuffix)
		if (named == nil) != (refusal == nil) || part == nil {
			t.Errorf("refusal %v: the file: %v; the part: %v", refusal, named, part)
		}
	}
}

// A bundle that is on the caller's disk is copied from there, whatever an earlier
// download left, and checked before it gets its name.
func TestDownloadFromDisk(t *testing.T) {
	for have, ok := range map[string]bool{"some bytes": true, "some": false, "some bytes and more": false, "": false} {
		s := newStorage(t, []byte("some bytes"))
		c, err := New(Options{BaseURL: s.URL, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		path, object := filepath.Join(dir, "b"), filepath.Join(t.TempDir(), "object")
		for name, text := range map[string]string{object: have, path + partSuffix: "of an earlier download"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var done, total int64
		checked := false
		_, err = c.Download(t.Context(), "exp_1", DownloadOptions{
			Path: path, File: func(context.Context) (*os.File, error) { return os.Open(object) },
			Progress: func(d, all int64) { done, total = d, all },
			Check:    func(string, api.BundleLink) error { checked = true; return nil },
		})
		got, _ := os.ReadFile(path)
		if (err == nil) != ok || checked != ok || ok && string(got) != have || !ok && len(got) > 0 || len(s.ranges) > 0 {
			t.Errorf("%q: %q, %v, checked %v", have, got, err, checked)
		}
		if done != int64(len(have)) || total != 10 {
			t.Errorf("%q: progress %d of %d", have, done, total)
		}
	}
}

func TestDownloadOfAnEmptyFile(t *testing.T) {
	s := newStorage(t, nil)
	c, err := New(Options{BaseURL: s.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b")
	if _, err := c.Download(t.Context(), "exp_1", DownloadOptions{Path: path}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Error(info, err)
	}
}
