package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/shared/service/webhook"
)

// begin is the time at which every world begins.
var begin = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// world is the rules on storage of its own, with a clock that only tests move, and
// endpoints in the test's process under http://<name>.corp.
type world struct {
	*admin.Service
	t       *testing.T
	ctx     context.Context
	store   store.Store
	objects store.Objects
	ends    *endpoints

	*storetest.Clock
}

func newWorld(t *testing.T) *world { return worldOn(t, nil) }

// worldOn is a world on a store, or on one of its own where that is nil.
func worldOn(t *testing.T, s store.Store) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), Clock: storetest.NewClock(begin), ends: newEndpoints(t)}
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1:1", Now: w.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	if w.store, w.objects = s, l.Objects(); s == nil {
		w.store = l.Store()
	}
	w.Service = w.service(w.store)
	return w
}

// onStores runs a test on a store of each kind.
func onStores(t *testing.T, run func(*testing.T, *world)) {
	t.Run("SQLite", func(t *testing.T) { run(t, newWorld(t)) })
	t.Run("DynamoDB", func(t *testing.T) {
		c := cloudtest.Dynoxide(t)
		run(t, worldOn(t, dynamo.New(c.Config, dynamo.Options{Table: c.Table(t)})))
	})
}

// service is the rules as another process has them, with its own way to the store.
func (w *world) service(s store.Store) *admin.Service {
	return admin.New(admin.Options{Store: s, Objects: w.objects, Now: w.Time, Callbacks: w.ends.callbacks()})
}

func (w *world) dispatcher(s *admin.Service) *webhook.Dispatcher {
	return webhook.New(webhook.Options{Admin: s, Sender: w.ends.sender(), Now: w.Time})
}

// pass makes one pass and returns how many attempts that were.
func (w *world) pass() int {
	w.t.Helper()
	n, err := w.dispatcher(w.Service).Pass(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// must returns a value that can't fail in a test of something else.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// tenant is an organisation with one project.
type tenant struct {
	admin.Organisation
	admin.Caller
	project admin.Project
}

func (w *world) tenant(domain string) tenant {
	w.t.Helper()
	o := must[admin.Organisation](w.t)(w.CreateOrganisation(w.ctx, admin.Organisation{Name: domain, Plan: admin.PlanEnterprise}))
	x := tenant{Organisation: o, Caller: admin.Caller{OrganisationID: o.ID, Plan: o.Plan}}
	x.project = w.project(x, domain)
	return x
}

func (w *world) project(x tenant, domain string) admin.Project {
	w.t.Helper()
	return must[admin.Project](w.t)(w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: domain, Repository: "https://git.example.com/docs"}))
}

// subscribe makes an endpoint for some events, or for all.
func (w *world) subscribe(x tenant, name string, events ...string) admin.NewWebhook {
	w.t.Helper()
	if len(events) == 0 {
		events = admin.WebhookEvents()
	}
	return must[admin.NewWebhook](w.t)(w.CreateWebhook(w.ctx, x.Caller, admin.CreateWebhook{URL: "http://" + name + ".corp/in", Events: events}))
}

func (w *world) newKey(x tenant) admin.Key {
	w.t.Helper()
	k, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"})
	return must[admin.Key](w.t)(k, err)
}

// publish publishes a new snapshot of a domain.
func publish(ctx context.Context, s *admin.Service, c admin.Caller, domain string) (admin.Snapshot, error) {
	newest, err := s.LatestSnapshot(ctx, c, domain)
	if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
		return newest, err
	}
	manifest := strings.Repeat("a", 64)
	if newest.ID != "" { // the same files do not make a new snapshot
		sum := sha256.Sum256([]byte(rand.Text()))
		manifest = hex.EncodeToString(sum[:])
	}
	p, err := s.CreateSnapshot(ctx, c, admin.CreateSnapshot{
		Domain: domain, Base: newest.ID, Manifest: admin.Blob{SHA256: manifest, Size: 10}, Packs: []admin.Blob{{SHA256: strings.Repeat("b", 64), Size: 20}},
	})
	if err != nil {
		return newest, err
	}
	return s.Publish(ctx, c, admin.Publish{Domain: domain, SnapshotID: p.ID, Check: func(context.Context, admin.Snapshot) (admin.Contents, error) {
		return admin.Contents{Files: 2, Bytes: 20, Packs: []admin.Blob{{SHA256: strings.Repeat("b", 64), Size: 20}}}, nil
	}})
}

// deliveries returns all deliveries of an endpoint, oldest first.
func (w *world) deliveries(x tenant, id string) (all []admin.Delivery) {
	w.t.Helper()
	for cursor := ""; ; {
		page, next, err := w.Deliveries(w.ctx, x.Caller, admin.DeliveryList{Webhook: id, Cursor: cursor, Limit: 3})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range page {
			all = append([]admin.Delivery{d}, all...)
		}
		if cursor = next; cursor == "" {
			return all
		}
	}
}

// request is what an endpoint got.
type request struct {
	host   string
	header http.Header
	body   []byte
	ok     bool // it was answered with 200

	ID        string
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		ID         string  `json:"id"`
		JobID      string  `json:"jobId"`
		SnapshotID string  `json:"snapshotId"`
		Domain     string  `json:"domain"`
		Base       *string `json:"base"`
	} `json:"data"`
}

// resource is what the message is about, subject what changed of it.
func (r request) resource() string {
	if r.Data.Domain != "" && r.Data.SnapshotID != "" {
		return r.Data.Domain
	}
	return r.Data.ID + r.Data.JobID
}

func (r request) subject() string { return r.Type + " " + r.resource() + " " + r.Data.SnapshotID }

// verifies checks a request by the library of Standard Webhooks.
func (r request) verifies(secret string) error {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return wh.VerifyIgnoringTimestamp(r.body, r.header)
}

// endpoints is a server behind all names of the test, whose network is made up.
type endpoints struct {
	t      *testing.T
	server *httptest.Server

	mu       sync.Mutex
	answer   func(n int, r request) int // status of the n-th request, from 1
	requests []request
	count    int // of all requests
}

func newEndpoints(t *testing.T) *endpoints {
	e := &endpoints{t: t, answer: func(int, request) int { return 200 }}
	e.server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.server.Close)
	return e
}

func (e *endpoints) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	got := request{host: r.Host, header: r.Header, body: raw, ID: r.Header.Get(webhook.HeaderID)}
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil {
		return // its caller died
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count++
	status := e.answer(e.count, got)
	got.ok = status == 200
	e.requests = append(e.requests, got)
	w.WriteHeader(status)
}

// answers sets how requests are answered from now on.
func (e *endpoints) answers(fn func(n int, r request) int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = fn
}

// got returns the requests since the last call.
func (e *endpoints) got() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.requests
	e.requests = nil
	return got
}

func (e *endpoints) callbacks() remote.Callbacks {
	return remote.Callbacks{Private: []string{"http://a.corp", "http://b.corp", "http://c.corp"}}
}

func (e *endpoints) sender() *webhook.Sender {
	return webhook.NewSender(webhook.SenderOptions{
		Callbacks: e.callbacks(), Resolver: names{},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, e.server.Listener.Addr().String())
		},
	})
}

// names leads each name to this machine.
type names struct{}

func (names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// summary is a delivery in one line.
func summary(d admin.Delivery) string {
	return fmt.Sprint(d.N, " ", d.Event, " ", d.Status, " ", d.Attempts)
}
