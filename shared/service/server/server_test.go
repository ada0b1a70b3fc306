package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/local"
)

func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	if IsChild(os.Getenv) {
		os.Exit(Child(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// open opens a server on a folder, without serving it yet.
func open(t *testing.T, dir string) *Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: dir, Addr: "127.0.0.1:0", Program: program})
	if err != nil {
		t.Fatal(err)
	}
	s.drain = 5 * time.Minute
	return s
}

// hold has a step begin only after the channel is closed, or its execution stopped:
// an export that it belongs to is not done before.
func (s *Server) hold(step string, until <-chan struct{}) {
	task := s.tasks[step]
	s.tasks[step] = func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		select {
		case <-until:
		case <-ctx.Done():
		}
		return task(ctx, input)
	}
}

// A Bindery in this process does what one of its own does: from a folder to a
// checked bundle through its API, components that authors write included, and
// the next one on its data folder still has it.
func TestFromFolderToBundle(t *testing.T) {
	site, data := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"docs.json":          `{"name": "Sample", "navigation": {"pages": ["index"]}}`,
		"index.mdx":          "---\ntitle: Hello\n---\n\nimport { Twice } from '/snippets/twice.jsx'\n\nSome words.\n\n<Twice of={21} />\n",
		"snippets/twice.jsx": "import { useState } from 'react';\nexport const Twice = ({ of }) => { const [n, set] = useState(of); return <button onClick={() => set(n + 1)}>{'answer ' + 2 * n}</button> };\n",
	} {
		file := filepath.Join(site, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	s := open(t, data)
	have, err := s.Seed(ctx, SeedDomain)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, Options{Dir: data, Addr: "127.0.0.1:0"}); !errors.Is(err, local.ErrLocked) {
		t.Errorf("a second server on the folder: %v", err)
	}
	c := caller(t, s, have)
	if _, err := c.Publish(ctx, client.PublishOptions{Dir: site, Domain: have.Domain}); err != nil {
		t.Fatal(err)
	}
	job, err := c.StartExport(ctx, api.StartExportRequest{Domain: have.Domain}, "")
	if err != nil {
		t.Fatal(err)
	}
	if job, err = c.Wait(ctx, job.JobID, client.WaitOptions{Interval: 50 * time.Millisecond, MaxPolls: 6000}); err != nil {
		t.Fatal(err)
	}
	checked := func(file string, _ api.BundleLink) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		page := ""
		info, err := bundle.Read(ctx, f, bundle.Limits{}, func(e bundle.Entry, r io.Reader) error {
			text, err := io.ReadAll(r)
			if e.Path == "index.html" {
				page = string(text)
			}
			return err
		})
		if err == nil && (info.Pages != 1 || !strings.Contains(page, "Some words.") || !strings.Contains(page, "answer 42")) {
			err = fmt.Errorf("a bundle of %d pages, the first:\n%s", info.Pages, page)
		}
		return err
	}
	fetch := func(c *client.Client) {
		t.Helper()
		if _, err := c.Download(ctx, job.JobID, client.DownloadOptions{Path: filepath.Join(t.TempDir(), "bundle.tar.gz"), Check: checked}); err != nil {
			t.Error(err)
		}
	}
	fetch(c)

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := errors.Join(s.Wait(ended), s.Close()); err != nil {
		t.Fatalf("the end: %v", err)
	}
	s = open(t, data)
	defer s.Close()
	if again, err := s.Seed(ctx, SeedDomain); err != nil || again != have {
		t.Errorf("the next server has %+v, want %+v (%v)", again, have, err)
	}
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	fetch(caller(t, s, have))
}

func caller(t testing.TB, s *Server, have Seed) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: s.URL, Key: have.Key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOptionsOfAll: the one method that Go's server would answer itself is
// like every other that nothing answers.
func TestOptionsOfAll(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	if err := s.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound || res.Header.Get(api.HeaderErrorCode) != admin.CodeNotFound || res.Header.Get(api.HeaderRequestID) == "" {
		t.Errorf("%s, %v", res.Status, res.Header)
	}
}

// What a killed process left goes: copies of the key when the next one starts,
// objects that no record names while it runs.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil { // makes the folder
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	leave := func(name string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("x"), 0o600), os.Chtimes(file, old, old)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	gone := func(file string) bool {
		_, err := os.Stat(file)
		return errors.Is(err, os.ErrNotExist)
	}
	env, seed, secret, own := leave("env-123456"), leave("seed.json-1"), leave("link-secret-12"), leave("env-production")
	s := open(t, dir)
	if !gone(env) || !gone(seed) || !gone(secret) || gone(own) || gone(filepath.Join(dir, "link-secret")) {
		t.Error("copies of the key or of the links' secret are left, or another file is gone")
	}
	object, half := leave("objects/ab/abcd"), leave("objects/tmp/put-1")
	s.pause = time.Millisecond
	if err := s.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for deadline := time.Now().Add(5 * time.Minute); !gone(object) || !gone(half); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("objects that nothing names are left")
		}
	}
}

// The environment that a server writes is one that callers on its machine can use,
// whatever address it answers at.
func TestEnvFile(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:8787":   "BINDERY_URL=http://127.0.0.1:8787\nBINDERY_ADMIN_KEY=k\nBINDERY_PROJECT=p\n",
		"http://192.168.1.5:8787": "BINDERY_URL=http://192.168.1.5:8787\nBINDERY_ALLOW_HTTP=true\nBINDERY_ADMIN_KEY=k\nBINDERY_PROJECT=p\n",
	} {
		if got := string(envFile(address, Seed{Key: "k", Project: "p"})); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// An endpoint hears of what happens here, also of what happened while the process
// was not there.
func TestWebhooks(t *testing.T) {
	type heard struct{ id, event string }
	messages := make(chan heard, 9)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Type string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		messages <- heard{r.Header.Get("Webhook-Id"), body.Type}
	}))
	defer endpoint.Close()
	ctx, data := t.Context(), t.TempDir()
	var org string
	var key admin.Key
	for _, event := range []string{admin.EventKeyCreated, admin.EventKeyRevoked} {
		s, err := Open(ctx, Options{Dir: data, Addr: "127.0.0.1:0", Callbacks: remote.Callbacks{Private: []string{endpoint.URL}}})
		if err != nil {
			t.Fatal(err)
		}
		if org == "" {
			o, err := s.Admin.CreateOrganisation(ctx, admin.Organisation{Name: "o"})
			if err != nil {
				t.Fatal(err)
			}
			org = o.ID
			_, err = s.Admin.CreateWebhook(ctx, admin.Caller{OrganisationID: org}, admin.CreateWebhook{URL: endpoint.URL + "/in", Events: []string{admin.EventKeyCreated, admin.EventKeyRevoked}})
			if err != nil {
				t.Fatal(err)
			}
			key, _, err = s.Admin.CreateKey(ctx, admin.KeyRequest{Organisation: org, Name: "k"})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Serve(ctx); err != nil {
			t.Fatal(err)
		}
		if got := <-messages; got.event != event || got.id == "" {
			t.Errorf("heard of %+v, want %s", got, event)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err := local.Open(ctx, local.Options{Dir: data}); err != nil {
			t.Fatal(err)
		} else if _, err := admin.New(admin.Options{Store: l.Store()}).RevokeKey(ctx, org, key.ID); err != nil {
			t.Fatal(err)
		} else if err := l.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
