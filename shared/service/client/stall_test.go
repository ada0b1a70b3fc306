package client

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/base/remote/remotetest"
)

// hang keeps a connection open until the other side has gone.
func hang(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// trickle sends a byte now and then until the other side has gone.
func trickle(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

// inMemory runs a subtest with options for a client of the handler's API. Time is
// simulated by synctest.
func inMemory(t *testing.T, name string, handler http.Handler, run func(*testing.T, Options)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, network := remotetest.NewServer(t, handler)
			server.Start()
			run(t, Options{BaseURL: server.URL, Key: key, Clock: newClock(), HTTP: &http.Client{Transport: network.Transport(t)}})
		})
	})
}

// An answer of the API has to end: neither silence nor a byte now and then keeps
// a caller waiting.
func TestAnswersEnd(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "half an answer": hang, "a byte now and then": trickle,
	} {
		inMemory(t, name, answer, func(t *testing.T, o Options) {
			o.Attempts, o.AnswerTime = 2, 30*time.Second
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err = c.GetExport(t.Context(), "exp_1"); err == nil || !strings.Contains(err.Error(), "did not answer: no complete answer after 30s") {
				t.Error(err)
			}
		})
	}
}

// A download that stalls is resumed, as long as it is surely of the same file;
// one that brings next to nothing each time fails, and says why.
func TestDownloadsThatStall(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	tests := []struct {
		name   string
		answer func(n int, w http.ResponseWriter, r *http.Request) bool
		want   string // part of the error
	}{
		{"silence, then the rest", func(n int, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `"one"`)
			if n == 1 {
				w.Header().Set("Content-Length", "1000000")
				_, _ = w.Write(data[:400_000])
				hang(w, r)
			} else if r.Header.Get("Range") != "" && r.Header.Get("If-Range") != `"one"` {
				t.Errorf("If-Range: %q", r.Header.Get("If-Range"))
			}
			return n == 1
		}, ""},
		{"silence, then another file", func(n int, w http.ResponseWriter, r *http.Request) bool {
			if w.Header().Set("ETag", `"one"`); n == 1 {
				w.Header().Set("Content-Length", "1000000")
				_, _ = w.Write(bytes.ToUpper(bytes.Repeat([]byte("abcde"), 80_000)))
				hang(w, r)
			}
			w.Header().Set("ETag", `"two"`)
			return n == 1
		}, ""},
		{"silence for ever", func(_ int, w http.ResponseWriter, r *http.Request) bool {
			hang(w, r)
			return true
		}, "stalled for 30s"},
		{"a byte for each request", func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n > 1 {
				w.Header().Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"999999/1000000")
			}
			w.Header().Set("Content-Length", "1000")
			if n > 1 {
				w.WriteHeader(http.StatusPartialContent)
			}
			_, _ = w.Write(data[n-1 : n])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "download: "},
		{"a byte now and then", func(_ int, w http.ResponseWriter, r *http.Request) bool {
			trickle(w, r)
			return true
		}, "stalled for 30s"},
	}
	for _, test := range tests {
		s := storageOf(data)
		s.answer = test.answer
		inMemory(t, test.name, s, func(t *testing.T, o Options) {
			s.Server = &httptest.Server{URL: o.BaseURL}
			o.Attempts = 3
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "b")
			_, err = c.Download(t.Context(), "exp_1", DownloadOptions{Path: path})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if stalled := (*remote.StalledError)(nil); strings.Contains(test.want, "stalled") && !errors.As(err, &stalled) {
				t.Errorf("%T", err)
			}
			if len(s.ranges) > 3 {
				t.Errorf("%d requests", len(s.ranges))
			}
			if got, _ := os.ReadFile(path); test.want == "" && !bytes.Equal(got, data) {
				t.Errorf("%d other bytes", len(got))
			}
		})
	}
}
