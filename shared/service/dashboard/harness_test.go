package dashboard_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// world is a dashboard on storage of its own, with a clock that only tests move.
type world struct {
	*admin.Service
	t       *testing.T
	ctx     context.Context
	server  *httptest.Server
	objects store.Objects
	log     *lockedBuffer
	calls   *calls

	*storetest.Clock
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newWorld is a world that serves sites.
func newWorld(t *testing.T, change ...func(*dashboard.Options)) *world {
	t.Helper()
	return newWorldAt(t, admin.Sites{URL: "http://sites.example:8787", Key: []byte("key")}, change...)
}

func newWorldAt(t *testing.T, sites admin.Sites, change ...func(*dashboard.Options)) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), Clock: storetest.NewClock(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)), log: &lockedBuffer{}}
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), Temporary: true, BaseURL: "http://127.0.0.1:1", Now: w.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	w.objects, w.calls = l.Objects(), &calls{Store: l.Store()}
	w.Service = admin.New(admin.Options{Store: w.calls, Objects: l.Objects(), Runner: l.Runner(), Now: w.Time, Sites: sites, AgentReady: func(_ context.Context, _ admin.Project, model string) (string, error) {
		if model == "" {
			model = "best"
		}
		return model, nil
	}, AgentModels: func() []admin.AgentModel {
		return []admin.AgentModel{{Name: "best", Model: "large-1", Default: true}, {Name: "local", Model: "small-1"}}
	}})
	var handler http.Handler
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.ServeHTTP(rw, r) }))
	t.Cleanup(w.server.Close)
	opt := dashboard.Options{Admin: w.Service, Objects: w.objects, URL: w.server.URL, Now: w.Time, Links: true, Log: slog.New(slog.NewTextHandler(w.log, nil)), ReadTime: 5 * time.Minute}
	for _, c := range change {
		c(&opt)
	}
	if handler, err = dashboard.New(opt); err != nil {
		t.Fatal(err)
	}
	return w
}

// calls is a store that counts what is asked of it.
type calls struct {
	store.Store
	gets, queries, writes atomic.Int64
}

func (c *calls) Get(ctx context.Context, k store.Key) (store.Record, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, k)
}

func (c *calls) Query(ctx context.Context, q store.Query) (store.Page, error) {
	c.queries.Add(1)
	return c.Store.Query(ctx, q)
}

func (c *calls) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, puts, deletes)
}

// take returns what was asked since the last time.
func (c *calls) take() (gets, queries, writes int64) {
	return c.gets.Swap(0), c.queries.Swap(0), c.writes.Swap(0)
}

// publish publishes a site on top of the newest; change changes what is said of a file.
func (w *world) publish(x tenant, site map[string]string, change ...func(*snapshot.File)) admin.Snapshot {
	w.t.Helper()
	c := w.Operator(x.ID)
	c.Plan = admin.PlanEnterprise
	newest, err := w.LatestSnapshot(w.ctx, c, x.project.Domain)
	if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
		w.t.Fatal(err)
	}
	digest := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	var files []snapshot.File
	for name, text := range site {
		file := snapshot.File{Path: name, SHA256: digest(text), Size: int64(len(text))}
		for _, c := range change {
			c(&file)
		}
		files = append(files, file)
	}
	plan, err := snapshot.NewPlan(files, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	open := func(path string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(site[path])), nil }
	m, err := plan.Seal(w.ctx, open)
	if err != nil {
		w.t.Fatal(err)
	}
	put := func(key string, r io.Reader) {
		w.t.Helper()
		if _, err := w.objects.Put(w.ctx, key, r, store.PutOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	in := admin.CreateSnapshot{Domain: x.project.Domain, Base: newest.ID}
	for _, p := range plan.New {
		put(admin.PackKey(x.ID, p.SHA256), p.Reader(w.ctx, open))
		in.Packs = append(in.Packs, admin.Blob{SHA256: p.SHA256, Size: p.Size})
	}
	text, err := snapshot.Encode(m)
	if err != nil {
		w.t.Fatal(err)
	}
	in.Manifest = admin.Blob{SHA256: digest(string(text)), Size: int64(len(text))}
	put(admin.ManifestKey(x.ID, in.Manifest.SHA256), strings.NewReader(string(text)))
	w.Advance(time.Second)
	pending, err := w.CreateSnapshot(w.ctx, c, in)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.Publish(w.ctx, c, admin.Publish{Domain: x.project.Domain, SnapshotID: pending.ID, Check: func(context.Context, admin.Snapshot) (admin.Contents, error) {
		return admin.Contents{Files: len(m.Entries), Bytes: m.Bytes(), Packs: in.Packs}, nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// export exports the newest snapshot, with findings. The archive is not there.
func (w *world) export(x tenant, label string, findings ...admin.Finding) admin.ExportJob {
	w.t.Helper()
	j := w.start(x, admin.StartExport{Version: label})
	w.find(j, findings...)
	w.complete(j, admin.Bundle{Size: 5 << 20})
	return j
}

// find stores what an export found.
func (w *world) find(j admin.ExportJob, findings ...admin.Finding) {
	w.t.Helper()
	var lines bytes.Buffer
	for _, f := range findings {
		if err := json.NewEncoder(&lines).Encode(f); err != nil {
			w.t.Fatal(err)
		}
	}
	w.put(admin.FindingsKey(j.ID), lines.String())
}

// deploy makes an export that may go live, with an archive that is there.
func (w *world) deploy(x tenant, label string, change ...func(*admin.Bundle)) admin.ExportJob {
	w.t.Helper()
	j := w.start(x, admin.StartExport{Version: label, GoLive: true})
	b := admin.Bundle{Size: 7, Index: "1-2-c"}
	for _, c := range change {
		c(&b)
	}
	w.put(bundleKey(j), "archive")
	w.complete(j, b)
	return j
}

// listed has a bundle changed many pages.
func listed(b *admin.Bundle) {
	b.Changes = admin.Changes{Job: "exp_before", Version: "before", PagesChanged: 60, PagesAdded: 1, Listed: true}
}

// change stores the list of what an export changed, with a number of changed pages.
func (w *world) change(j admin.ExportJob, pages int) {
	w.t.Helper()
	var r diff.Result
	for n := range pages {
		p := diff.Page{Address: fmt.Sprintf("/page%02d", n), Title: "Page", Changes: []diff.Change{
			{Before: "the words", Removed: "old <b>", Added: "new", After: "after"}, {Added: "second"}, {Added: "third"}, {Added: "fourth"},
		}}
		p.Words.Added, p.Words.Removed = 4, 2
		r.Pages.Changed = append(r.Pages.Changed, p)
	}
	r.Pages.Added = []diff.Page{{Address: "/new", Title: "New"}}
	r.LostAddresses = []diff.LostAddress{{Address: "/old", Title: "Old", Redirect: &diff.Redirect{Source: "/old", Destination: "/new"}}}
	text, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(admin.ChangesKey(j.ID), string(text))
}

// start starts an export of the newest snapshot.
func (w *world) start(x tenant, in admin.StartExport) admin.ExportJob {
	w.t.Helper()
	c := w.Operator(x.ID)
	c.Plan = admin.PlanEnterprise
	w.Advance(time.Second)
	in.Domain = x.project.Domain
	j, err := w.StartExport(w.ctx, c, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// complete ends an export with a bundle.
func (w *world) complete(j admin.ExportJob, b admin.Bundle) {
	w.t.Helper()
	w.Advance(time.Second)
	b.Key, b.SHA256, b.Pages = bundleKey(j), strings.Repeat("c", 64), 10
	for _, step := range []func() error{
		func() error {
			return w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r", Shards: 1, Pages: 10})
		},
		func() error { return w.MarkShard(w.ctx, j.ID, 1, 10, 0) },
		func() error { return w.CompleteExport(w.ctx, j.ID, b) },
	} {
		if err := step(); err != nil {
			w.t.Fatal(err)
		}
	}
}

func bundleKey(j admin.ExportJob) string { return "exports/" + j.ID + "/bundle.tar.gz" }

// put stores an object.
func (w *world) put(key, text string) {
	w.t.Helper()
	if _, err := w.objects.Put(w.ctx, key, strings.NewReader(text), store.PutOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// tenant is an organisation with a project.
type tenant struct {
	admin.Organisation
	project admin.Project
}

func (w *world) tenant(name, domain string) tenant {
	w.t.Helper()
	o, err := w.CreateOrganisation(w.ctx, admin.Organisation{Name: name, Plan: admin.PlanEnterprise})
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: o.ID, Domain: domain, Repository: "https://git.example.com/docs"})
	if err != nil {
		w.t.Fatal(err)
	}
	return tenant{o, p}
}

// browser is a person at a browser, which follows no redirect by itself.
type browser struct {
	*http.Client
	w      *world
	person admin.Person
}

func (w *world) browser() *browser {
	jar, _ := cookiejar.New(nil) // it has no error
	return &browser{Client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, w: w}
}

// as is the browser of a member with a role, signed in.
func (w *world) as(x tenant, name string, role admin.Role) *browser {
	w.t.Helper()
	b := w.browser()
	address := name + "@example.com"
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), address, role); err != nil {
		w.t.Fatal(err)
	}
	p, err := w.SignIn(w.ctx, admin.Identity{Issuer: "https://id.example.com", Subject: name, Address: address, Verified: true, Name: name}, netip.Addr{})
	if err != nil {
		w.t.Fatal(err)
	}
	b.person = p
	b.signIn()
	return b
}

// signIn begins a session as a provider's answer does.
func (b *browser) signIn() {
	b.w.t.Helper()
	token, _, err := b.w.BeginSession(b.w.ctx, admin.NewSession{Person: b.person.ID, Address: netip.MustParseAddr("127.0.0.1"), Agent: "Test"})
	if err != nil {
		b.w.t.Fatal(err)
	}
	b.setToken(token)
}

func (b *browser) cookieName() string { return "bindery-" + b.site().Port() }

func (b *browser) site() *url.URL {
	u, _ := url.Parse(b.w.server.URL) // it is one
	return u
}

func (b *browser) setToken(token string) {
	b.Jar.SetCookies(b.site(), []*http.Cookie{{Name: b.cookieName(), Value: token, Path: "/"}})
}

func (b *browser) token() string {
	for _, c := range b.Jar.Cookies(b.site()) {
		if c.Name == b.cookieName() {
			return c.Value
		}
	}
	return ""
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *browser) do(method, path string, form url.Values, header ...string) answer {
	b.w.t.Helper()
	if form == nil {
		return b.request(method, path, nil, header...)
	}
	return b.request(method, path, strings.NewReader(form.Encode()), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)...)
}

// send sends the body of a form of any type.
func (b *browser) send(path string, body io.Reader, header ...string) answer {
	b.w.t.Helper()
	return b.request(http.MethodPost, path, body, header...)
}

func (b *browser) request(method, path string, body io.Reader, header ...string) answer {
	b.w.t.Helper()
	req, err := http.NewRequestWithContext(b.w.ctx, method, b.w.server.URL+path, body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Origin", b.w.server.URL)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := b.Do(req)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

func (b *browser) get(path string) answer { b.w.t.Helper(); return b.do(http.MethodGet, path, nil) }

// post sends a form, in pairs.
func (b *browser) post(path string, pairs ...string) answer {
	b.w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

// says fails the test where a page has not a status or a text.
func (a answer) says(t *testing.T, what string, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d (Location %q): %s", what, a.status, status, a.header.Get("Location"), a.text())
	}
	for _, text := range texts {
		if !strings.Contains(a.text(), text) {
			t.Errorf("%s lacks %q: %s", what, text, a.text())
		}
	}
	return a
}

var tags = regexp.MustCompile(`(?s)<head>.*?</head>|<[^>]*>|\s+`)

// text is what a reader sees of a page.
func (a answer) text() string {
	return html.UnescapeString(strings.Join(strings.Fields(tags.ReplaceAllString(a.body, " ")), " "))
}
