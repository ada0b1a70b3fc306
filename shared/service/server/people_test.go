package server

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// People find the dashboard beside the API, and a link of another process on the
// same folder signs its owner in, once.
func TestTheDashboardBesideTheAPI(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: dir, Temporary: true, Addr: "127.0.0.1:0", Dashboard: &Dashboard{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Seed(t.Context(), SeedDomain); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteEnv(Seed{}); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(address string) (*http.Response, string) {
		t.Helper()
		res, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(text)
	}
	if res, text := get(s.URL + "/"); res.Request.URL.Path != "/sign-in" || !strings.Contains(text, "bindery sign-in") {
		t.Errorf("first: %s %s", res.Request.URL, text)
	}
	if res, text := get(s.URL + "/v1/projects"); res.StatusCode != 401 || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the API: %d %s", res.StatusCode, text)
	}
	if res, text := get(s.URL + "/nothing"); res.StatusCode != 404 || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("no page: %d %s", res.StatusCode, text)
	}

	other, err := local.Open(t.Context(), local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	link, err := SignInLink(t.Context(), admin.New(admin.Options{Store: other.Store()}), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res, text := get(link); !strings.HasSuffix(res.Request.URL.Path, "/exports") || !strings.Contains(text, "What is left to do") {
		t.Errorf("signed in: %s %s", res.Request.URL, text)
	}
	if res, _ := get(link); res.StatusCode != 401 {
		t.Errorf("the link again: %d", res.StatusCode)
	}
	if link, err = s.SignInLink(t.Context()); err != nil || !strings.HasPrefix(link, s.URL+"/sign-in/link?token=") {
		t.Errorf("%q, %v", link, err)
	}
}

// What an export made is shown to people, who hand out links to it, and make an older
// snapshot the newest again.
func TestExportsAndSnapshotsOnTheDashboard(t *testing.T) {
	ctx, site := t.Context(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("docs.json", `{"name": "Sample", "navigation": {"pages": ["index"]}}`)
	write("index.mdx", "# Hello\n\n[Away](/nowhere)\n")
	s, err := Open(ctx, Options{Dir: t.TempDir(), Temporary: true, Addr: "127.0.0.1:0", Dashboard: &Dashboard{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	have, err := s.Seed(ctx, SeedDomain)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	c := caller(t, s, have)
	for range 2 {
		if _, err := c.Publish(ctx, client.PublishOptions{Dir: site, Domain: have.Domain}); err != nil {
			t.Fatal(err)
		}
		write("more.mdx", "# More\n")
	}
	link, err := s.SignInLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	ask := func(address string) string {
		t.Helper()
		res, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s %v", address, res.Status, text, err)
		}
		return string(text)
	}
	contains := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", what, part, text)
			}
		}
	}
	ask(link)
	base := s.URL + "/org/" + have.Organisation
	res, err := browser.PostForm(base+"/exports", url.Values{"domain": {have.Domain}, "version": {"one"}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	job := strings.Split(res.Request.URL.String(), "?")[0]
	if _, err := c.Wait(ctx, path.Base(job), client.WaitOptions{Interval: 50 * time.Millisecond, MaxPolls: 6000}); err != nil {
		t.Fatal(err)
	}
	text := ask(job)
	contains("the export", text, "completed", "one", "SHA-256", "of CPU", "kept")
	text = ask(job + "/findings?severity=warning")
	contains("its findings", text, "index.mdx", "link-missing", "3:1", "<code>[Away](/nowhere)</code>")
	res, err = browser.PostForm(job+"/bundle", url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	contains("the bundle", string(made), "helm upgrade", "The link works until")
	href := regexp.MustCompile(`href="([^"]+)" rel="noreferrer" download`).FindStringSubmatch(string(made))
	if res, err = http.Get(html.UnescapeString(href[1])); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the link: %v %v", res, err)
	}
	res.Body.Close()

	snapshots := base + "/projects/" + have.Project + "/snapshots"
	text = ask(snapshots)
	contains("the snapshots", text, "newest", "&#43;1 file", "key ")
	newest := regexp.MustCompile(`href="([^"]+/snapshots/snp_[^"/]+)"`).FindStringSubmatch(text)
	contains("the newest snapshot", ask(s.URL+newest[1]), "more.mdx", "1 file added", "0 changed, 0 removed", "&#43;7 B")
	older := html.UnescapeString(regexp.MustCompile(`href="([^"]+/restore\?base=[^"]+)"`).FindStringSubmatch(text)[1])
	text = ask(s.URL + older)
	contains("the question", text, "the newest again?")
	u, err := url.Parse(older)
	if err != nil {
		t.Fatal(err)
	}
	if res, err = browser.PostForm(s.URL+u.Path, url.Values{"base": {u.Query().Get("base")}}); err != nil || res.Request.URL.Path != strings.TrimPrefix(snapshots, s.URL) {
		t.Fatalf("restoring: %v %v", res, err)
	}
	res.Body.Close()
	latest, err := c.LatestSnapshot(ctx, have.Domain)
	if err != nil || latest.SnapshotID != strings.Split(u.Path, "/")[6] {
		t.Errorf("the newest is %+v, %v", latest, err)
	}
}

// For others than this machine no link signs in.
// Every link begins with the address under which people come.
func TestLinksBeginWithTheAddress(t *testing.T) {
	for _, c := range []struct{ url, want, env string }{
		{"", "", ""},
		{"https://docs-admin.example.com", "https://docs-admin.example.com", ""},
		{"https://docs-admin.example.com/", "https://docs-admin.example.com", ""},
		{"http://localhost:21241", "http://localhost:21241", "http://localhost:21241"},
	} {
		s, err := Open(t.Context(), Options{Dir: t.TempDir(), Temporary: true, Addr: "127.0.0.1:0", Dashboard: &Dashboard{URL: c.url}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		c.want, c.env = cmp.Or(c.want, s.URL), cmp.Or(c.env, s.URL)
		get, err := s.local.Objects().PresignGet(t.Context(), "k", "a.tar.gz", time.Minute)
		if err != nil || !strings.HasPrefix(get.URL, c.want+local.LinkPath) {
			t.Errorf("--url %q: a download is at %s, %v", c.url, get.URL, err)
		}
		put, err := s.local.Objects().PresignPut(t.Context(), "k", 1, strings.Repeat("0", 64), time.Minute)
		if err != nil || !strings.HasPrefix(put.URL, c.want+local.LinkPath) {
			t.Errorf("--url %q: an upload is at %s, %v", c.url, put.URL, err)
		}
		if link, err := s.SignInLink(t.Context()); err != nil || link != "" && !strings.HasPrefix(link, c.want+"/sign-in/") {
			t.Errorf("--url %q: the sign-in link is %q, %v", c.url, link, err)
		}
		path, err := s.WriteEnv(Seed{})
		if err != nil {
			t.Fatal(err)
		}
		if env, err := os.ReadFile(path); err != nil || !strings.Contains(string(env), "BINDERY_URL="+c.env+"\n") {
			t.Errorf("--url %q: %s, %v; want %s", c.url, env, err, c.env)
		}
	}
	for address, want := range map[string]string{
		"docs-admin.example.com": "begins with https://", "ftp://x": "begins with https://", "https://": "names a host", "http://:8787": "names a host", "https://u:p@x": "no user",
		"https://x/?a=b": "no query", "https://x?": "no query", "https://x#a": "no query", "https://x/#": "no query", "https://x/admin": "nothing is served below /admin", "https://x//": "no path", "://": "begins",
	} {
		dir := t.TempDir()
		s, err := Open(t.Context(), Options{Dir: dir, Addr: "127.0.0.1:0", Dashboard: &Dashboard{URL: address}})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestNoLinkForOtherMachines(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Temporary: true, Addr: "127.0.0.1:0", Dashboard: &Dashboard{URL: "https://bindery.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if link, err := s.SignInLink(t.Context()); link != "" || err != nil {
		t.Errorf("%q, %v", link, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
