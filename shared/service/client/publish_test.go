package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/tests/outside"
)

const domain = "docs.example.com"

// bindery is a real service whose requests can be counted and disturbed.
type bindery struct {
	*Client
	server *httptest.Server
	local  *local.Local
	org    string

	mu       sync.Mutex
	requests []string
	// disturb, if not nil, may answer a request itself; n counts from 1.
	disturb func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newBindery(t *testing.T) *bindery {
	t.Helper()
	return newBinderyOf(t, local.Options{Dir: t.TempDir()})
}

func newBinderyOf(t *testing.T, opt local.Options) *bindery {
	t.Helper()
	l, err := local.Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	b := &bindery{local: l}
	s := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: l.Runner()})
	calls, links := api.Handler(api.Options{Admin: s, Objects: l.Objects()}), l.Objects().Handler()
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.requests = append(b.requests, r.Method+" "+r.URL.Path)
		n, disturb := len(b.requests), b.disturb
		b.mu.Unlock()
		switch {
		case disturb != nil && disturb(n, w, r):
		case strings.HasPrefix(r.URL.Path, local.LinkPath):
			links.ServeHTTP(w, r)
		default:
			calls.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(b.server.Close)
	l.SetBaseURL(b.server.URL)
	org, err := s.CreateOrganisation(t.Context(), admin.Organisation{Name: "Test", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	b.org = org.ID
	if _, err := s.CreateProject(t.Context(), admin.Project{Organisation: org.ID, Domain: domain, Repository: "https://example.com/r"}); err != nil {
		t.Fatal(err)
	}
	_, secret, err := s.CreateKey(t.Context(), admin.KeyRequest{Organisation: org.ID, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if b.Client, err = New(Options{BaseURL: b.server.URL, Key: secret, Clock: newClock()}); err != nil {
		t.Fatal(err)
	}
	return b
}

// interfere lets fn answer requests from now on; nil ends that.
func (b *bindery) interfere(fn func(n int, w http.ResponseWriter, r *http.Request) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disturb = fn
}

// count gives how many requests there were since the last time.
func (b *bindery) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.requests)
	b.requests = nil
	return n
}

// files reads the newest snapshot back: path → content.
func (b *bindery) files(t *testing.T) map[string]string {
	t.Helper()
	latest, err := b.LatestSnapshot(t.Context(), domain)
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.local.Objects().Get(t.Context(), admin.ManifestKey(b.org, latest.Manifest.SHA256), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m, err := snapshot.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	f := snapshot.OpenFS(t.Context(), b.local.Objects(), func(sha256 string) string { return admin.PackKey(b.org, sha256) }, m, snapshot.FSOptions{})
	got := map[string]string{}
	if err := f.Each(f.Paths(), func(path string, data []byte) error {
		got[path] = string(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublish(t *testing.T) {
	b := newBindery(t)
	dir := t.TempDir()
	site := map[string]string{"docs.json": "{}", "a.mdx": "# A", "same.mdx": "# A", "empty.css": "", "guides/b.mdx": "# B"}
	write(t, dir, site)
	var phases []publishPhase
	var mu sync.Mutex
	first, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain, Progress: func(p PublishProgress) {
		mu.Lock()
		defer mu.Unlock()
		if len(phases) == 0 || phases[len(phases)-1] != p.phase {
			phases = append(phases, p.phase)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if first.Files != 5 || first.Added != 5 || first.Packs != 1 || first.Uploads != 2 || first.UpToDate {
		t.Errorf("first publish: %+v", first)
	}
	if diff := cmp.Diff([]publishPhase{phaseReading, phasePacking, phaseUploading, phasePublishing}, phases); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(site, b.files(t)); diff != "" {
		t.Error(diff)
	}
	b.count()

	again, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	if !again.UpToDate || again.SnapshotID != first.SnapshotID || again.Uploads != 0 || b.count() != 2 {
		t.Errorf("nothing changed: %+v", again)
	}

	site["a.mdx"] = "# A, revised"
	delete(site, "empty.css")
	write(t, dir, site)
	if err := os.Remove(filepath.Join(dir, "empty.css")); err != nil {
		t.Fatal(err)
	}
	second, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	if second.Changed != 1 || second.Removed != 1 || second.Unchanged != 3 || second.PackBytes != int64(len("# A, revised")) {
		t.Errorf("one change: %+v", second)
	}
	if diff := cmp.Diff(site, b.files(t)); diff != "" {
		t.Error(diff)
	}
}

// A publish of 20,000 small files makes tens of requests; after one change it
// uploads that change.
func TestPublishOfManySmallFiles(t *testing.T) {
	outside.Long(t, "publishes 20,000 files")
	b := newBindery(t)
	dir := t.TempDir()
	site := map[string]string{"docs.json": "{}"}
	for i := range 20_000 {
		site[fmt.Sprintf("guides/%03d/page-%05d.mdx", i/100, i)] = strings.Repeat(fmt.Sprintf("# Page %d\n", i), 1+i%100)
	}
	write(t, dir, site)
	if _, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain}); err != nil {
		t.Fatal(err)
	}
	n := b.count()
	t.Logf("%d requests for %d files", n, len(site))
	if n > 50 {
		t.Errorf("%d requests", n)
	}
	write(t, dir, map[string]string{"guides/007/page-00700.mdx": "# One change"})
	second, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	if second.Changed != 1 || second.Packs != 1 || second.PackBytes != 12 || second.Uploads != 2 {
		t.Errorf("one change: %+v", second)
	}
	if n := b.count(); n > 8 {
		t.Errorf("%d requests for one change", n)
	}
}

// What one attempt got across, the next does not send again.
func TestPublishGoesOnWhereItStopped(t *testing.T) {
	b := newBindery(t)
	dir := t.TempDir()
	site := map[string]string{"docs.json": "{}"}
	for i := range 3 {
		site[fmt.Sprintf("film-%d.bin", i)] = strings.Repeat(fmt.Sprint(i), snapshot.MaxPackBytes/2+1)
	}
	write(t, dir, site)
	var mu sync.Mutex
	uploads := 0
	b.interfere(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPut {
			if uploads++; uploads > 2 {
				http.Error(w, "the disk is full", http.StatusInsufficientStorage)
				return true
			}
		}
		return false
	})
	if _, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain}); err == nil {
		t.Fatal("no error")
	}
	if _, err := b.LatestSnapshot(t.Context(), domain); err == nil {
		t.Error("a broken publish is visible")
	}
	b.interfere(nil)
	result, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	if result.Packs != 4 || result.Uploads != 3 {
		t.Errorf("%d uploads for %d packs and a manifest, though two went across before", result.Uploads, result.Packs)
	}
	if got := b.files(t); len(got) != len(site) {
		t.Errorf("%d files", len(got))
	}
}

// Several uploads are under way at once: none of these two is answered before
// the other has begun.
func TestPublishUploadsSeveralAtOnce(t *testing.T) {
	b := newBindery(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs.json": "{}"})
	begun := make(chan struct{})
	var mu sync.Mutex
	uploads := 0
	b.interfere(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		mu.Lock()
		if uploads++; uploads == 2 {
			close(begun)
		}
		mu.Unlock()
		select {
		case <-begun:
		case <-time.After(time.Minute):
			t.Error("the second upload waits for the first")
		}
		return false
	})
	result, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
	if err != nil || result.Uploads != 2 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPublishOnABadNetwork(t *testing.T) {
	b := newBindery(t)
	dir := t.TempDir()
	site := map[string]string{"docs.json": "{}", "a.bin": strings.Repeat("a", 1<<20)}
	write(t, dir, site)
	b.interfere(func(n int, w http.ResponseWriter, r *http.Request) bool {
		switch n % 3 {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	if _, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain}); err != nil {
		t.Fatal(err)
	}
	b.interfere(nil)
	if diff := cmp.Diff(site, b.files(t)); diff != "" {
		t.Error(diff)
	}
}

func TestPublishTakesFreshLinksWhenTheyExpire(t *testing.T) {
	b := newBindery(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "x"})
	refused := 0
	var mu sync.Mutex
	b.interfere(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPut && refused == 0 {
			refused++
			http.Error(w, "expired", http.StatusForbidden)
			return true
		}
		return false
	})
	if _, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain}); err != nil {
		t.Fatal(err)
	}
	if refused != 1 {
		t.Error("no link was refused")
	}
}

// Of two publishes at once one wins, and the other is told.
func TestPublishOvertaken(t *testing.T) {
	for _, rebase := range []bool{false, true} {
		t.Run(fmt.Sprintf("rebase %v", rebase), func(t *testing.T) {
			b := newBindery(t)
			mine, theirs := t.TempDir(), t.TempDir()
			write(t, mine, map[string]string{"docs.json": "{}", "mine.mdx": "x"})
			write(t, theirs, map[string]string{"docs.json": "{}", "theirs.mdx": "x"})
			var once sync.Once
			b.interfere(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/publish") {
					once.Do(func() {
						b.interfere(nil)
						if _, err := b.Publish(context.Background(), PublishOptions{Dir: theirs, Domain: domain}); err != nil {
							t.Error(err)
						}
					})
				}
				return false
			})
			_, err := b.Publish(t.Context(), PublishOptions{Dir: mine, Domain: domain, Rebase: rebase})
			_, won := b.files(t)["mine.mdx"]
			switch {
			case rebase && (err != nil || !won):
				t.Errorf("error %v, mine is the newest: %v", err, won)
			case !rebase && (!hasCode(err, codeOvertaken) || !strings.Contains(err.Error(), "meanwhile") || won):
				t.Errorf("error %v, mine is the newest: %v", err, won)
			}
		})
	}
}

func TestPublishRefuses(t *testing.T) {
	b := newBindery(t)
	t.Run("a folder with faults, before any request", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"index.mdx": "x"})
		b.count()
		_, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain})
		var folder *folderError
		if !errors.As(err, &folder) || len(folder.Faults) != 1 || b.count() != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a domain that is not the caller's", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"docs.json": "{}"})
		_, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: "other.example.com"})
		var answer *Error
		if !errors.As(err, &answer) || answer.Code != "domain_not_found" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file that changes meanwhile", func(t *testing.T) {
		dir := t.TempDir()
		large := strings.Repeat("x", maxHeldFile)
		write(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "before" + large, "b.mdx": "b"})
		_, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain, Progress: func(p PublishProgress) {
			if p.phase == phasePacking {
				write(t, dir, map[string]string{"a.mdx": "after!" + large})
			}
		}})
		var changed *snapshot.ChangedError
		if !errors.As(err, &changed) || changed.Path != "a.mdx" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("when it is cancelled", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"docs.json": "{}"})
		ctx, cancel := context.WithCancel(t.Context())
		b.interfere(func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				cancel()
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return true
			}
			return false
		})
		if _, err := b.Publish(ctx, PublishOptions{Dir: dir, Domain: domain}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		b.interfere(nil)
	})
}
