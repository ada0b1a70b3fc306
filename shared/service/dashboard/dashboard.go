package dashboard

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what a dashboard stands on. Admin and URL are required.
type Options struct {
	Admin *admin.Service
	// URL is the address under which people reach it. Requests have paths without
	// its own, as what serves it takes that away; pages lead to those with it.
	URL string
	// Objects has what was published, for the lines that findings are about; nil
	// shows none.
	Objects store.Objects
	// Now returns the time; nil for the clock.
	Now func() time.Time
	// Log gets what people must not see; nil discards it.
	Log *slog.Logger
	// ClientAddr returns where a request comes from; nil for the connection's other
	// end. No header is trusted.
	ClientAddr func(*http.Request) netip.Addr
	// Provider signs people in; without one, only links do.
	Provider *Provider
	// Links lets links of `bindery sign-in` sign in, from this machine alone.
	Links bool
	// TextOnly says that what serves the dashboard carries answers of text alone: no
	// font of its own and nothing compressed.
	TextOnly bool
	// Docs is the address of the documentation, without a slash at its end; empty
	// for its source in the repository.
	Docs string
	// ReadTime limits how long a page reads published files for optional parts.
	// Default: 3 s for the source lines of findings, 5 s for a snapshot's changes.
	ReadTime time.Duration
}

// Provider is an OpenID provider and what it knows the dashboard as.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	// ReadSecret returns the client secret in place of ClientSecret, at the first
	// sign-in: it is called until it succeeds, and no more after that.
	ReadSecret func(context.Context) (string, error)
	// GroupsClaim is the claim that names a person's groups: a list of texts, or one
	// text. Groups says what they may do.
	GroupsClaim string
	Groups      Groups
	// Client speaks to the provider; nil for one of its own.
	Client *http.Client
}

// Dashboard answers people. It is a http.Handler.
type Dashboard struct {
	opt      Options
	below    string // the address's path, without a slash at its end
	policy   string
	secure   bool
	cookie   string // name of the session's cookie
	flow     string // name of the cookie that binds a sign-in to its browser
	secret   string // name of the cookie with a secret that the next page shows
	provider *provider
	assets   map[string]asset
	pages    pages
	handler  http.Handler
}

// New returns a dashboard. It returns an error for an address that is none.
func New(opt Options) (*Dashboard, error) {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.ClientAddr == nil {
		opt.ClientAddr = proxy.Trusted(nil).Client
	}
	base, err := url.Parse(opt.URL)
	if err != nil {
		return nil, err
	}
	d := &Dashboard{opt: opt, below: strings.TrimSuffix(base.Path, "/"), policy: policy, secure: base.Scheme == "https"}
	if opt.TextOnly {
		d.policy = strings.Replace(policy, "font-src 'self'", "font-src data:", 1)
	}
	if d.cookie = "__Host-bindery"; !d.secure {
		d.cookie = "bindery-" + cmp.Or(base.Port(), "80")
	}
	d.flow, d.secret = d.cookie+"-sign-in", d.cookie+"-secret"
	if d.assets, err = loadAssets(opt.TextOnly); err != nil {
		return nil, err
	}
	if d.pages, err = newPages(d.functions()); err != nil {
		return nil, err
	}
	if opt.Provider != nil {
		d.provider = newProvider(*opt.Provider, d.at("/sign-in/callback"), opt.Now)
	}
	mux := http.NewServeMux()
	for _, r := range d.routes() {
		mux.Handle(r.method+" "+r.path, d.route(r))
	}
	mux.HandleFunc("GET /assets/{hash}/{name}", d.asset)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		d.route(route{handle: func(*request) error { return notFound() }}).ServeHTTP(w, r)
	})
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := d.request(w, r)
		q.fail(errForeign)
	}))
	d.handler = protection.Handler(mux)
	return d, nil
}

// Owns reports whether a path is the dashboard's, on a server with more than it.
func Owns(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "", "sign-in", "sign-out", "me", "org", "assets":
		return strings.HasPrefix(path, "/")
	}
	return false
}

// at is the full address of a path.
func (d *Dashboard) at(path string) string { return strings.TrimSuffix(d.opt.URL, "/") + path }

// policy lets pages load what the dashboard itself serves, and be in no frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers a request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", d.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	if d.secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	defer func() {
		switch fault := recover(); fault {
		case nil:
		case http.ErrAbortHandler: // the connection ends
			panic(fault)
		default:
			d.opt.Log.ErrorContext(r.Context(), "dashboard panicked", "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
			http.Error(w, admin.MessageInternal, http.StatusInternalServerError)
		}
	}()
	if d.below != "" {
		w = &placed{w, d.below}
	}
	d.handler.ServeHTTP(w, r)
}

// placed are the answers of a dashboard whose address has a path: what leads to
// another page of it leads below that path.
type placed struct {
	http.ResponseWriter
	below string
}

func (p *placed) WriteHeader(status int) {
	if to := p.Header().Get("Location"); strings.HasPrefix(to, "/") {
		p.Header().Set("Location", p.below+to)
	}
	p.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (p *placed) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// route is a page or a form.
type route struct {
	method, path string
	// action is what a role must allow; empty where no organisation is asked for.
	action admin.Action
	// recent asks for a sign-in of the last minutes.
	recent bool
	// open is for everybody, signed in or not.
	open bool
	// files is set if the form accepts files.
	files bool
	// json is set if scripts call it: the body and the answer are JSON.
	json   bool
	handle func(*request) error
}

// routes is the table of all pages and forms.
func (d *Dashboard) routes() []route {
	const (
		get, post = http.MethodGet, http.MethodPost
		org       = "/org/{org}"
	)
	return []route{
		{method: get, path: "/{$}", handle: home},
		{method: get, path: "/sign-in", open: true, handle: signInPage},
		{method: get, path: "/sign-in/link", open: true, handle: signInByLink},
		{method: get, path: "/sign-in/start", open: true, handle: beginSignIn},
		{method: get, path: "/sign-in/callback", open: true, handle: endSignIn},
		{method: post, path: "/sign-out", open: true, handle: signOut},
		{method: get, path: "/me", handle: ownPage},
		{method: post, path: "/me/sessions/{id}/end", handle: endSession},

		{method: get, path: org + "/{$}", action: admin.ActionRead, handle: organisationHome},
		{method: get, path: org + "/keys", action: admin.ActionKeys, handle: keysPage},
		{method: get, path: org + "/keys/new", action: admin.ActionKeys, recent: true, handle: newKeyPage},
		{method: post, path: org + "/keys", action: admin.ActionKeys, recent: true, handle: createKey},
		{method: get, path: org + "/keys/{key}/made", action: admin.ActionKeys, handle: madeKeyPage},
		{method: get, path: org + "/keys/{key}/revoke", action: admin.ActionKeys, handle: revokeKeyPage},
		{method: post, path: org + "/keys/{key}/revoke", action: admin.ActionKeys, handle: revokeKey},

		{method: get, path: org + "/projects", action: admin.ActionRead, handle: projectsPage},
		{method: get, path: org + "/projects/new", action: admin.ActionProjects, handle: newProjectPage},
		{method: post, path: org + "/projects", action: admin.ActionProjects, handle: createProject},
		{method: get, path: org + "/projects/{project}", action: admin.ActionRead, handle: projectPage},
		{method: get, path: org + "/projects/{project}/settings", action: admin.ActionProjects, handle: settingsPage},
		{method: post, path: org + "/projects/{project}/settings", action: admin.ActionProjects, handle: configureProject},
		{method: get, path: org + "/projects/{project}/end", action: admin.ActionProjects, handle: endProjectPage},
		{method: post, path: org + "/projects/{project}/end", action: admin.ActionProjects, handle: endProject},
		{method: get, path: org + "/projects/{project}/snapshots", action: admin.ActionRead, handle: snapshotsPage},
		{method: get, path: org + "/projects/{project}/snapshots/{snapshot}", action: admin.ActionRead, handle: snapshotPage},
		{method: get, path: org + "/projects/{project}/snapshots/{snapshot}/restore", action: admin.ActionExport, handle: restorePage},
		{method: post, path: org + "/projects/{project}/snapshots/{snapshot}/restore", action: admin.ActionExport, handle: restoreSnapshot},
		{method: get, path: org + "/projects/{project}/deployments", action: admin.ActionRead, handle: deploymentsPage},
		{method: get, path: org + "/projects/{project}/live", action: admin.ActionRead, handle: historyPage},
		{method: post, path: org + "/projects/{project}/live", action: admin.ActionDeploy, handle: setLive},
		{method: get, path: org + "/projects/{project}/rollback", action: admin.ActionDeploy, handle: rollbackPage},
		{method: get, path: org + "/projects/{project}/publish", action: admin.ActionExport, handle: publishPage},
		{method: post, path: org + "/projects/{project}/publish/look", action: admin.ActionExport, json: true, handle: lookFolder},
		{method: post, path: org + "/projects/{project}/publish/plan", action: admin.ActionExport, json: true, handle: planFolder},
		{method: post, path: org + "/projects/{project}/publish/begin", action: admin.ActionExport, json: true, handle: beginFolder},
		{method: post, path: org + "/projects/{project}/publish/finish", action: admin.ActionExport, json: true, handle: finishFolder},

		{method: get, path: org + "/exports", action: admin.ActionRead, handle: exportsPage},
		{method: get, path: org + "/exports/new", action: admin.ActionExport, handle: newExportPage},
		{method: post, path: org + "/exports", action: admin.ActionExport, handle: startExport},
		{method: get, path: org + "/exports/{job}", action: admin.ActionRead, handle: exportPage},
		{method: get, path: org + "/exports/{job}/findings", action: admin.ActionRead, handle: findingsPage},
		{method: post, path: org + "/exports/{job}/bundle", action: admin.ActionRead, handle: bundleLink},
		{method: get, path: org + "/exports/{job}/cancel", action: admin.ActionExport, handle: cancelExportPage},
		{method: post, path: org + "/exports/{job}/cancel", action: admin.ActionExport, handle: cancelExport},
		{method: get, path: org + "/exports/{job}/visit", action: admin.ActionRead, handle: visit},
		{method: get, path: org + "/exports/{job}/promote", action: admin.ActionDeploy, handle: promotePage},
		{method: post, path: org + "/exports/{job}/promote", action: admin.ActionDeploy, handle: promote},

		{method: get, path: org + "/agents", action: admin.ActionRead, handle: agentsPage},
		{method: get, path: org + "/agents/new", action: admin.ActionAgent, handle: newAgentPage},
		{method: post, path: org + "/agents", action: admin.ActionAgent, files: true, handle: startAgent},
		{method: get, path: org + "/agents/{project}/{job}", action: admin.ActionRead, handle: agentPage},
		{method: post, path: org + "/agents/{project}/{job}/message", action: admin.ActionAgent, files: true, handle: messageAgent},
		{method: get, path: org + "/agents/{project}/{job}/cancel", action: admin.ActionAgent, handle: cancelAgentPage},
		{method: post, path: org + "/agents/{project}/{job}/cancel", action: admin.ActionAgent, handle: cancelAgent},
		{method: post, path: org + "/agents/{project}/{job}/archive", action: admin.ActionAgent, handle: archiveAgent},

		{method: get, path: org + "/webhooks", action: admin.ActionWebhooks, handle: webhooksPage},
		{method: get, path: org + "/webhooks/new", action: admin.ActionWebhooks, handle: newWebhookPage},
		{method: post, path: org + "/webhooks", action: admin.ActionWebhooks, handle: createWebhook},
		{method: get, path: org + "/webhooks/{webhook}", action: admin.ActionWebhooks, handle: webhookPage},
		{method: post, path: org + "/webhooks/{webhook}/deliveries/{delivery}/redeliver", action: admin.ActionWebhooks, handle: redeliver},
		{method: get, path: org + "/webhooks/{webhook}/secret", action: admin.ActionWebhooks, handle: webhookSecretPage},
		{method: get, path: org + "/webhooks/{webhook}/rotate", action: admin.ActionWebhooks, handle: rotatePage},
		{method: post, path: org + "/webhooks/{webhook}/rotate", action: admin.ActionWebhooks, handle: rotateSecret},
		{method: get, path: org + "/webhooks/{webhook}/remove", action: admin.ActionWebhooks, handle: removeWebhookPage},
		{method: post, path: org + "/webhooks/{webhook}/remove", action: admin.ActionWebhooks, handle: removeWebhook},

		{method: get, path: org + "/usage", action: admin.ActionRead, handle: usagePage},
		{method: get, path: org + "/usage.csv", action: admin.ActionRead, handle: usageCSV},
		{method: get, path: org + "/members", action: admin.ActionRead, handle: membersPage},
		{method: post, path: org + "/members", action: admin.ActionMembers, handle: inviteMember},
		{method: post, path: org + "/members/withdraw", action: admin.ActionMembers, handle: withdrawInvitation},
		{method: post, path: org + "/members/{person}/role", action: admin.ActionMembers, handle: setRole},
		{method: get, path: org + "/members/{person}/remove", action: admin.ActionRead, handle: removeMemberPage},
		{method: post, path: org + "/members/{person}/remove", action: admin.ActionRead, handle: removeMember},
		{method: get, path: org + "/audit", action: admin.ActionAudit, handle: auditPage},
		{method: get, path: org + "/audit.csv", action: admin.ActionAudit, handle: auditFile},
		{method: get, path: org + "/audit.jsonl", action: admin.ActionAudit, handle: auditFile},
	}
}

// status is the status of an error's code.
func status(code string) int {
	switch code {
	case admin.CodeUnauthorized:
		return http.StatusUnauthorized
	case admin.CodeRole, admin.CodeScope, admin.CodePlan:
		return http.StatusForbidden
	case admin.CodeInvalid:
		return http.StatusBadRequest
	case admin.CodeNotFound, admin.CodeDomainNotFound:
		return http.StatusNotFound
	case admin.CodeTooManyKeys, admin.CodeTooManyExports, admin.CodeTooManyAgents:
		return http.StatusTooManyRequests
	case admin.CodeBundleGone, admin.CodeFindingsGone:
		return http.StatusGone
	case admin.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case admin.CodeTemporary:
		return http.StatusServiceUnavailable
	case admin.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusConflict
}

func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}
