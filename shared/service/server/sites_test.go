package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/sites"
)

// siteServer is a server with a dashboard and sites.
type siteServer struct {
	*Server
	t      testing.TB
	have   Seed
	client *client.Client
	source string
	slug   string
}

func serveSites(t testing.TB, change ...func(*Options)) *siteServer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Dir: t.TempDir(), Temporary: true, Addr: "127.0.0.1:0", Program: program, Dashboard: &Dashboard{}}
	for _, c := range change {
		c(&opt)
	}
	s, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	s.drain = 5 * time.Minute
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	have, err := s.Seed(t.Context(), SeedDomain)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := s.Admin.GetProject(t.Context(), have.Project)
	if err != nil {
		t.Fatal(err)
	}
	return &siteServer{s, t, have, caller(t, s, have), t.TempDir(), p.Slug()}
}

// export publishes a site with a text and a colour, and exports it.
func (s *siteServer) export(text, colour string, goLive bool) string {
	s.t.Helper()
	for name, data := range map[string]string{
		"docs.json": `{"name": "Sample", "theme": "mint", "colors": {"primary": "` + colour + `"}, "navigation": {"pages": ["index", "guides/start"]}}`,
		"index.mdx": "---\ntitle: " + text + "\n---\n\n" + text + "\n", "guides/start.mdx": "---\ntitle: Start\n---\n\nBegin of " + text + "\n",
	} {
		name = filepath.Join(s.source, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	ctx := s.t.Context()
	if _, err := s.client.Publish(ctx, client.PublishOptions{Dir: s.source, Domain: s.have.Domain}); err != nil {
		s.t.Fatal(err)
	}
	job, err := s.client.StartExport(ctx, api.StartExportRequest{Domain: s.have.Domain, GoLive: goLive}, "")
	if err == nil {
		job, err = s.client.Wait(ctx, job.JobID, client.WaitOptions{Interval: 50 * time.Millisecond, MaxPolls: 6000})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return job.JobID
}

// answer is a response of a host.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks for a path on a host.
func (s *siteServer) get(host, path string, header ...string) answer {
	s.t.Helper()
	a, err := s.ask(host, path, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *siteServer) ask(host, path string, header ...string) (answer, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		return answer{}, err
	}
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body)}, err
}

// TestHostsOfTheServer: each host has the API and the dashboard, or one site, or nothing.
func TestHostsOfTheServer(t *testing.T) {
	s := serveSites(t, func(o *Options) { o.Hosts = []string{"Bindery.Internal"} })
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	live := s.slug + ".localhost"
	dashboard := func() {
		t.Helper()
		for _, host := range []string{"127.0.0.1", "127.0.0.1" + port, "localhost", "localhost" + port, "[::1]" + port, "192.0.2.1", "bindery.internal", "BINDERY.internal.", "LOCALHOST"} {
			if a := s.get(host, "/v1/sites/"+SeedDomain+"/live", "Authorization", "Bearer "+s.have.Key); a.status != http.StatusOK {
				t.Errorf("the API on %s: %d %s", host, a.status, a.body)
			}
			if a := s.get(host, "/sign-in"); a.status != http.StatusOK || !strings.Contains(a.body, "Sign in") {
				t.Errorf("the dashboard on %s: %d", host, a.status)
			}
		}
	}
	dashboard()
	if a := s.get(live, "/"); a.status != http.StatusNotFound || !strings.Contains(a.body, "There is no site here") {
		t.Errorf("before anything is live: %d %s", a.status, a.body)
	}
	job := s.export("First", "#aa0000", true)
	dashboard()
	for _, host := range []string{live, live + port, strings.ToUpper(live), live + "."} {
		for path, want := range map[string]string{"/": "First", "/index": "First", "/guides/start": "Begin of First", "/guides/start.md": "# Start"} {
			if a := s.get(host, path); a.status != http.StatusOK || !strings.Contains(a.body, want) || a.header.Get("X-Robots-Tag") != "" || a.header.Get("Etag") == "" {
				t.Errorf("%s%s: %d %v", host, path, a.status, a.header)
			}
		}
	}
	// The API, the dashboard and its links are not on a site's host.
	object := ""
	if j, err := s.Admin.FindExport(t.Context(), job); err == nil {
		object = "/_objects/" + j.Bundle.Key
	}
	for _, path := range []string{"/v1/sites/" + SeedDomain + "/live", "/sign-in", "/no/such/page", object, "/bindery/index"} {
		if a := s.get(live, path, "Authorization", "Bearer "+s.have.Key); a.status != http.StatusNotFound {
			t.Errorf("%s on the site's host: %d", path, a.status)
		}
	}
	for host, want := range map[string]int{
		"example.com": http.StatusMisdirectedRequest, s.slug + ".example.com": http.StatusMisdirectedRequest, "a." + live: http.StatusMisdirectedRequest,
		".localhost": http.StatusMisdirectedRequest, "localhost.example.com": http.StatusMisdirectedRequest, s.slug: http.StatusMisdirectedRequest,
		"other.localhost": http.StatusNotFound, "x-" + live: http.StatusNotFound, "xdocs" + live: http.StatusNotFound, "-" + live: http.StatusNotFound,
	} {
		for _, path := range []string{"/", "/v1/sites/" + SeedDomain + "/live", "/sign-in"} {
			if a := s.get(host, path, "Authorization", "Bearer "+s.have.Key); a.status != want {
				t.Errorf("%s%s: %d, want %d", host, path, a.status, want)
			}
		}
	}
	// Nothing is left of it once the project has ended.
	if _, err := s.Admin.RevokeProject(t.Context(), s.have.Project); err != nil {
		t.Fatal(err)
	}
	if a := s.get(live, "/"); a.status != http.StatusNotFound || strings.Contains(a.body, "First") {
		t.Errorf("after the end of the project: %d", a.status)
	}
}

// TestSitesAddr: sites have hosts below localhost for a server of this machine, else below
// what it is told.
func TestSitesAddr(t *testing.T) {
	for _, tt := range []struct {
		url, at, want string
		people        bool
	}{
		{"http://127.0.0.1:8787", "", "http://localhost:8787", true},
		{"http://[::1]:8787", "", "http://localhost:8787", true},
		{"http://localhost", "", "http://localhost", true},
		{"http://127.0.0.1:8787", "", "", false},
		{"https://bindery.example.com", "", "", true},
		{"http://192.0.2.1:8787", "", "", true},
		{"https://bindery.example.com", "sites.example.com", "https://sites.example.com", true},
		{"http://bindery.example.com:8787", "Sites.example.com", "http://sites.example.com:8787", true},
		{"http://bindery.example.com:8787", "sites.example.com:80", "http://sites.example.com:80", true},
		{"http://LOCALHOST:8787", "", "http://localhost:8787", true},
		{"https://bindery.example.com", "bindery.example.com", "error", true},
		{"https://bindery.example.com", "example.com", "error", true},
		{"https://bindery.example.com", "*.sites.example.com", "error", true},
		{"https://bindery.example.com", "sites.example.com:0", "error", true},
		{"https://bindery.example.com", "sites.example.com:http", "error", true},
		{"https://bindery.example.com", "192.0.2.1", "error", true},
		{"https://bindery.example.com", "https://sites.example.com", "error", true},
		{"https://bindery.example.com", "sites.example.com/", "error", true},
		{"https://bindery.example.com", ":80", "error", true},
	} {
		opt := Options{Addr: "127.0.0.1:0", SitesAddr: tt.at}
		if tt.people {
			opt.Dashboard = &Dashboard{}
		}
		n, at, err := namesOf(opt, tt.url)
		if err != nil {
			at = "error"
		}
		if at != tt.want || (n.sites == "") != (at == "" || err != nil) {
			t.Errorf("sites of %s with %q: below %q (%v), %s; want %s", tt.url, tt.at, n.sites, err, at, tt.want)
		}
	}
}

// TestPreviewsArePrivate: an export is for those who have a link from the dashboard.
func TestPreviewsArePrivate(t *testing.T) {
	s := serveSites(t)
	job, other := s.export("Secret", "#aa0000", false), s.export("Other", "#00aa00", false)
	org, err := s.Admin.GetOrganisation(t.Context(), s.have.Organisation)
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.Admin.PreviewLink(t.Context(), admin.Caller{OrganisationID: org.ID, Plan: org.Plan, Operator: "test"}, job)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	host, otherHost := u.Host, strings.Replace(other, "_", "-", 1)+".localhost"
	private := func(a answer, status int) {
		t.Helper()
		if a.status != status || a.header.Get("X-Robots-Tag") != "noindex" || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%d, want %d: %v", a.status, status, a.header)
		}
		if status == http.StatusForbidden && (strings.Contains(a.body, "Secret") || !strings.Contains(a.body, s.Public)) {
			t.Errorf("a reader without a link gets %s", a.body)
		}
	}
	private(s.get(host, "/"), http.StatusForbidden)
	private(s.get(host, "/guides/start"), http.StatusForbidden)
	private(s.get(host, "/no/such/page"), http.StatusForbidden)
	private(s.get(otherHost, u.RequestURI()), http.StatusForbidden) // a link is for one host
	private(s.get(host, admin.PreviewPath+"?token=%zz"), http.StatusForbidden)
	private(s.get("exp-none.localhost", "/"), http.StatusForbidden) // as if there were one

	cookie := ""
	for range 2 { // a link can be used again
		a := s.get(host, u.RequestURI())
		private(a, http.StatusSeeOther)
		if a.header.Get("Location") != "/" {
			t.Errorf("the link leads to %s", a.header.Get("Location"))
		}
		response := http.Response{Header: a.header}
		cookies := response.Cookies()
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Domain != "" || cookies[0].Path != "/" || cookies[0].Expires.Before(time.Now().Add(admin.PreviewLife-time.Minute)) {
			t.Fatal(cookies)
		}
		cookie = cookies[0].Name + "=" + cookies[0].Value
		a = s.get(host, "/", "Cookie", cookie)
		private(a, http.StatusOK)
		if !strings.Contains(a.body, "Secret") {
			t.Error(a.body)
		}
		private(s.get(host, "/", "Cookie", cookie, "If-None-Match", a.header.Get("Etag")), http.StatusNotModified)
		private(s.get(host, "/guides/start", "Cookie", cookie, "Range", "bytes=0-9"), http.StatusPartialContent)
		private(s.get(host, "/no/such/page", "Cookie", cookie), http.StatusNotFound)
		private(s.get(host, "/guides", "Cookie", cookie), http.StatusNotFound)
		private(s.get(otherHost, "/", "Cookie", cookie), http.StatusForbidden)
		private(s.get(host, "/", "Cookie", cookie+"0"), http.StatusForbidden)
		if a := s.get(s.slug+".localhost", "/", "Cookie", cookie); a.status != http.StatusNotFound {
			t.Errorf("the cookie shows a site that is not live: %d", a.status)
		}
	}
	j, err := s.Admin.FindExport(t.Context(), job)
	if err == nil {
		err = s.local.Objects().Delete(t.Context(), j.Bundle.Key)
	}
	if err != nil {
		t.Fatal(err)
	}
	private(s.get(host, "/", "Cookie", cookie), http.StatusGone)
}

var hashedCSS = regexp.MustCompile(`bindery/[^" ]+\.[0-9a-f]{8,64}\.css`)

// css returns the path of the style sheet that a page asks for.
func (a answer) css(t testing.TB) string {
	t.Helper()
	name := hashedCSS.FindString(a.body)
	if name == "" {
		t.Fatalf("the page asks for no hashed style sheet: %s", a.body)
	}
	return "/" + name
}

// TestFilesOfThePageBefore: a page that a reader has open still gets its files for an hour
// after another version went live.
func TestFilesOfThePageBefore(t *testing.T) {
	s := serveSites(t)
	host := s.slug + ".localhost"
	s.export("First", "#aa0000", true)
	css := s.get(host, "/").css(t)
	before := s.get(host, css)
	s.export("Second", "#00aa00", true)
	now := s.get(host, "/")
	if now.css(t) == css || !strings.Contains(now.body, "Second") {
		t.Fatal("both versions have the same style sheet")
	}
	if a := s.get(host, css); a.status != http.StatusOK || a.body != before.body || a.header.Get("Etag") != before.header.Get("Etag") || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("the style sheet of the version before: %d %v", a.status, a.header)
	}
	if a := s.get(host, now.css(t)); a.status != http.StatusOK {
		t.Errorf("the style sheet of the live version: %d", a.status)
	}
	if a := s.get(host, strings.Replace(css, ".css", "0.css", 1)); a.status != http.StatusNotFound {
		t.Errorf("a style sheet that no version has: %d", a.status)
	}
	s.sites = sites.New(sites.Options{Admin: s.Admin, Objects: s.local.Objects(), Now: func() time.Time { return time.Now().Add(61 * time.Minute) }})
	if a := s.get(host, css); a.status != http.StatusNotFound {
		t.Errorf("the style sheet an hour later: %d", a.status)
	}
}

// TestSwitchesUnderLoad: while two versions take turns to be live, each answer is whole and
// of one of them, and the page's own files are there.
func TestSwitchesUnderLoad(t *testing.T) {
	s := serveSites(t)
	host := s.slug + ".localhost"
	jobs := []string{s.export("First", "#aa0000", true), s.export("Second", "#00aa00", true)}
	texts := []string{"First", "Second"}
	var want []answer
	for _, job := range jobs {
		if _, err := s.client.SetLive(t.Context(), s.have.Domain, api.SetLiveRequest{Action: admin.ActPromote, JobID: job}); err != nil {
			t.Fatal(err)
		}
		want = append(want, s.get(host, "/"))
	}
	if want[0].body == want[1].body || !strings.Contains(want[0].body, texts[0]) || !strings.Contains(want[1].body, texts[1]) {
		t.Fatal("the versions can't be told apart")
	}
	read := func(path string, header ...string) answer {
		a, err := s.ask(host, path, header...)
		if err != nil {
			t.Error(err)
		}
		return a
	}
	styles := []string{want[0].css(t), want[1].css(t)}
	var done atomic.Bool
	var seen [2]atomic.Int64
	var readers sync.WaitGroup
	for n := range 4 {
		readers.Go(func() {
			for !done.Load() {
				a := read("/", "If-None-Match", want[n%2].header.Get("Etag"))
				of := slices.IndexFunc(want, func(w answer) bool { return a.header.Get("Etag") == w.header.Get("Etag") })
				switch {
				case of < 0:
					t.Errorf("an answer of neither version: %d %v", a.status, a.header)
					return
				case a.status == http.StatusNotModified && of == n%2:
				case a.status != http.StatusOK || a.body != want[of].body || a.header.Get("Content-Security-Policy") != want[of].header.Get("Content-Security-Policy"):
					t.Errorf("a mixed answer: %d %v", a.status, a.header)
					return
				}
				seen[of].Add(1)
				if css := read(styles[of]); css.status != http.StatusOK {
					t.Errorf("the style sheet of a page that was just read: %d", css.status)
					return
				}
			}
		})
	}
	for n := range 100 {
		if _, err := s.client.SetLive(t.Context(), s.have.Domain, api.SetLiveRequest{Action: admin.ActPromote, JobID: jobs[n%2]}); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	readers.Wait()
	if seen[0].Load() == 0 || seen[1].Load() == 0 {
		t.Error("readers saw one version alone: ", fmt.Sprint(seen[0].Load(), seen[1].Load()))
	}
}

// BenchmarkLive answers a page that is in memory, with the look for what is live.
func BenchmarkLive(b *testing.B) {
	s := serveSites(b)
	s.export("First", "#aa0000", true)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	for b.Loop() {
		s.sites.Serve(sitetest.NewDiscard(), r, s.slug)
	}
}
