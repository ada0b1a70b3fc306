package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what the API stands on.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Log gets a line for each request; nil for none.
	Log *slog.Logger
	// ClientAddr returns where a request comes from, for keys that are bound to
	// addresses; nil for the connection's other end. No header is trusted.
	ClientAddr func(*http.Request) netip.Addr
	// NewRequestID makes the value of Request-Id; nil for random ones.
	NewRequestID func() string
	// Annotate, if not nil, is called with facts of the request that ctx
	// belongs to, for what else is logged of it: "request", its id;
	// "organisation", whose key was used; "job", the id of the export or agent
	// job that it is about.
	Annotate func(ctx context.Context, facts ...slog.Attr)
	// MeterTime limits how long a response is delayed to record its usage.
	// Default: 2 s.
	MeterTime time.Duration
	// EventPause is the pause between two reads for a call that waits for events, or for
	// a stream of them. Default: 1 s.
	EventPause time.Duration
	// Closing, if not nil, allows streams of events, which Lambda functions behind API
	// Gateway can't answer. Streams and calls that wait end when it is closed.
	Closing <-chan struct{}
}

// Route is one operation of the API.
type Route struct {
	// Operation is its name, as in the OpenAPI document and the log.
	Operation string
	Method    string
	// Path is its pattern: a name in braces represents one element.
	Path string
	// The key must have one of Scopes. The organisation must have Plan, if it is set.
	Scopes []admin.Scope
	Plan   admin.Plan
	// Handler answers it, and only it; it needs no router before it.
	Handler http.Handler
}

// bodyKind is what a route takes as body.
type bodyKind int

const (
	ignoredBody bodyKind = iota // GET, DELETE
	noBody
	smallBody // JSON
	largeBody // JSON, with lists or long texts
)

// call is a request that has passed all checks that are the same for every
// route.
type call struct {
	caller admin.Caller
	params map[string]string
	query  string // as it came
	body   []byte
	// streams is set if the caller asks for server-sent events. lastEvent is the id of the
	// last one that it has.
	streams   bool
	lastEvent string
	// key is the Idempotency-Key, empty for none.
	key string
}

// answer is a success.
type answer struct {
	status int
	body   any // nil with 204
	header http.Header
	// stream, if not nil, writes the body as server-sent events. Its error is for the log.
	stream func(context.Context, http.ResponseWriter) error
	// job is the job that the request has made, for the log.
	job string
}

type operation struct {
	name, method, path string
	scopes             []admin.Scope
	plan               admin.Plan
	body               bodyKind
	// job names the parameter that is a job's id; empty for none.
	job string
	run func(*server, context.Context, call) (answer, error)
}

// operations is the table of all routes.
func operations() []operation {
	const enterprise = admin.PlanEnterprise
	read, write, manage := []admin.Scope{admin.ScopeRead}, []admin.Scope{admin.ScopeWrite}, []admin.Scope{admin.ScopeManage}
	deploy := []admin.Scope{admin.ScopeDeploy}
	link := []admin.Scope{admin.ScopeWrite, admin.ScopeBundle}
	return []operation{
		{"startExport", "POST", "/v1/static-export/jobs", write, enterprise, smallBody, "", (*server).startExport},
		{"getExport", "GET", "/v1/static-export/jobs/{jobId}", read, enterprise, ignoredBody, "jobId", (*server).getExport},
		{"generateBundle", "POST", "/v1/static-export/jobs/{jobId}/bundle", link, enterprise, noBody, "jobId", (*server).generateBundle},
		{"listExports", "GET", "/v1/static-export/jobs", read, enterprise, ignoredBody, "", (*server).listExports},
		{"cancelExport", "POST", "/v1/static-export/jobs/{jobId}/cancel", write, enterprise, noBody, "jobId", (*server).cancelExport},
		{"listFindings", "GET", "/v1/static-export/jobs/{jobId}/findings", read, enterprise, ignoredBody, "jobId", (*server).listFindings},
		{"startAgentJob", "POST", "/v2/agent/{projectId}/job", write, admin.PlanPro, largeBody, "", (*server).startAgentJob},
		{"listAgentJobs", "GET", "/v2/agent/{projectId}/jobs", read, "", ignoredBody, "", (*server).listAgentJobs},
		{"getAgentModels", "GET", "/v2/agent/{projectId}/models", read, "", ignoredBody, "", (*server).getAgentModels},
		{"getAgentJob", "GET", "/v2/agent/{projectId}/job/{id}", read, "", ignoredBody, "id", (*server).getAgentJob},
		{"listAgentEvents", "GET", "/v2/agent/{projectId}/job/{id}/events", read, "", ignoredBody, "id", (*server).listAgentEvents},
		{"messageAgentJob", "POST", "/v2/agent/{projectId}/job/{id}/message", write, admin.PlanPro, largeBody, "id", (*server).messageAgentJob},
		{"cancelAgentJob", "POST", "/v2/agent/{projectId}/job/{id}/cancel", write, "", noBody, "id", (*server).cancelAgentJob},
		{"archiveAgentJob", "POST", "/v2/agent/{projectId}/job/{id}/archive", write, "", noBody, "id", (*server).archiveAgentJob},
		{"getLatestSnapshot", "GET", "/v1/sites/{domain}/snapshots/latest", read, "", ignoredBody, "", (*server).getLatestSnapshot},
		{"createSnapshot", "POST", "/v1/sites/{domain}/snapshots", write, "", largeBody, "", (*server).createSnapshot},
		{"publishSnapshot", "POST", "/v1/sites/{domain}/snapshots/{snapshotId}/publish", write, "", noBody, "", (*server).publishSnapshot},
		{"listSnapshots", "GET", "/v1/sites/{domain}/snapshots", read, "", ignoredBody, "", (*server).listSnapshots},
		{"restoreSnapshot", "POST", "/v1/sites/{domain}/snapshots/{snapshotId}/restore", write, "", smallBody, "", (*server).restoreSnapshot},
		{"getLive", "GET", "/v1/sites/{domain}/live", read, enterprise, ignoredBody, "", (*server).getLive},
		{"setLive", "PUT", "/v1/sites/{domain}/live", deploy, enterprise, smallBody, "", (*server).setLive},
		{"listLive", "GET", "/v1/sites/{domain}/live/history", read, enterprise, ignoredBody, "", (*server).listLive},
		{"getOrganisation", "GET", "/v1/organisation", read, "", ignoredBody, "", (*server).getOrganisation},
		{"listProjects", "GET", "/v1/projects", read, "", ignoredBody, "", (*server).listProjects},
		{"getUsage", "GET", "/v1/usage", read, "", ignoredBody, "", (*server).getUsage},
		{"getWebhooks", "GET", "/v1/webhooks", manage, "", ignoredBody, "", (*server).getWebhooks},
		{"createWebhook", "POST", "/v1/webhooks", manage, "", smallBody, "", (*server).createWebhook},
		{"deleteWebhook", "DELETE", "/v1/webhooks/{id}", manage, "", ignoredBody, "", (*server).deleteWebhook},
		{"rotateWebhookSecret", "POST", "/v1/webhooks/{id}/secret", manage, "", noBody, "", (*server).rotateWebhookSecret},
		{"listDeliveries", "GET", "/v1/webhooks/{id}/deliveries", manage, "", ignoredBody, "", (*server).listDeliveries},
		{"redeliver", "POST", "/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver", manage, "", noBody, "", (*server).redeliver},
	}
}

// RequestMessage is the message ("msg") of the line that the log has of each
// request.
const RequestMessage = "request"

type server struct{ Options }

func newServer(o Options) *server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.ClientAddr == nil {
		o.ClientAddr = proxy.Trusted(nil).Client
	}
	if o.NewRequestID == nil {
		o.NewRequestID = NewRequestID
	}
	o.EventPause = cmp.Or(o.EventPause, eventTime)
	if o.Annotate == nil {
		o.Annotate = func(context.Context, ...slog.Attr) {}
	}
	return &server{o}
}

// NewRequestID makes a random value of Request-Id.
func NewRequestID() string {
	var b [16]byte
	rand.Read(b[:])
	return "req_" + hex.EncodeToString(b[:])
}

// Routes returns all operations, each with a handler of its own.
func Routes(o Options) []Route {
	s := newServer(o)
	var all []Route
	for _, op := range operations() {
		all = append(all, Route{
			Operation: op.name, Method: op.method, Path: op.path, Scopes: op.scopes, Plan: op.plan,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, []operation{op}) }),
		})
	}
	return all
}

// Handler answers all operations and GET /openapi.json. Another method of a path of
// theirs is 405 with Allow, everything else 404, in the form of every failure.
func Handler(o Options) http.Handler {
	s := newServer(o)
	ops := operations()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.EscapedPath() == documentPath {
			w.Header().Set(HeaderRequestID, s.NewRequestID())
			writeDocument(w)
			return
		}
		if r.URL.EscapedPath() == documentPath {
			s.serve(w, r, []operation{documentOperation()})
			return
		}
		s.serve(w, r, ops)
	})
}

// match reports whether a path has a pattern's form, and returns the values of
// its names. It compares element by element: nothing is cleaned, so that no path
// has two forms, and a slash inside an element stays inside.
func match(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	params := make(map[string]string)
	for i, w := range want {
		name, isParam := strings.CutPrefix(w, "{")
		if !isParam {
			if w != have[i] {
				return nil, false
			}
			continue
		}
		v, err := url.PathUnescape(have[i])
		if err != nil || v == "" {
			return nil, false
		}
		params[strings.TrimSuffix(name, "}")] = v
	}
	return params, true
}

// serve answers one request by one of the operations.
func (s *server) serve(w http.ResponseWriter, r *http.Request, ops []operation) {
	began := time.Now()
	id := s.NewRequestID()
	line := logLine{status: http.StatusNotFound}
	h := w.Header()
	h.Set(HeaderRequestID, id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.Annotate(r.Context(), slog.String("request", id))

	a, err := s.answer(w, r, ops, &line)
	if err != nil {
		e := refusal(err)
		line.status, line.code, line.err = status(e.Code()), e.Code(), err
		a = answer{status: line.status, body: ErrorBody{Error: e.SafeMessage()}}
		h.Set(HeaderErrorCode, e.Code())
		if e.RetryAfter > 0 {
			h.Set("Retry-After", seconds(e.RetryAfter))
		}
		if line.status == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", challenge(r))
		}
	}
	line.status = a.status
	if a.job != "" {
		line.job = a.job
		s.Annotate(r.Context(), slog.String("job", a.job))
	}
	maps.Copy(h, a.header)
	body, err := encode(a.body)
	if err != nil {
		line.status, line.code, line.err = http.StatusInternalServerError, admin.CodeInternal, err
		h.Set(HeaderErrorCode, admin.CodeInternal)
		body = fmt.Appendf(nil, "{\"error\":%q}\n", admin.MessageInternal)
	}
	if line.organisation != "" && line.status < 500 {
		s.meter(r.Context(), id, line)
	}
	switch {
	case a.stream != nil:
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // nginx would wait for more
	case line.status != http.StatusNoContent:
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(line.status)
	if a.stream != nil {
		line.err = a.stream(r.Context(), w)
	} else {
		_, _ = w.Write(body) // a caller that hung up is not our fault
	}
	s.logRequest(r, id, time.Since(began), line)
}

// encode writes a body as JSON; no body is nothing.
func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // links are read by people too
	err := enc.Encode(body)
	return b.Bytes(), err
}

// meter notes the call for its organisation: a key of it was valid, and the
// answer is not a failure of the service. A call that can't be noted is answered
// all the same.
func (s *server) meter(ctx context.Context, request string, line logLine) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(s.MeterTime, meterTime))
	defer cancel()
	if err := s.Admin.MeterCall(ctx, request, line.organisation, line.key, line.operation); err != nil {
		s.Log.ErrorContext(ctx, "a call was not metered", "request", request, "organisation", line.organisation, "operation", line.operation, "error", err)
	}
}

// meterTime is the usual MeterTime.
const meterTime = 2 * time.Second

// challenge is the value of WWW-Authenticate (RFC 6750): a key that was sent
// and refused is said so.
func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="bindery"`
	}
	return `Bearer realm="bindery", error="invalid_token"`
}

// seconds is a value of Retry-After: never less than what is meant.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(0, int(math.Ceil(d.Seconds()))))
}

// panicError is a panic of a handler, for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// answer takes a request through the checks, in their order, to its operation.
func (s *server) answer(w http.ResponseWriter, r *http.Request, ops []operation, line *logLine) (a answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = answer{}, &panicError{v, debug.Stack()}
		}
	}()
	var allowed []string
	for _, op := range ops {
		params, ok := match(op.path, r.URL.EscapedPath())
		if !ok {
			continue
		}
		if r.Method != op.method {
			allowed = append(allowed, op.method)
			continue
		}
		line.operation = op.name
		c := call{params: params, query: r.URL.RawQuery, streams: wantsStream(r.Header), lastEvent: r.Header.Get("Last-Event-ID")}
		c.caller, err = s.Admin.Authenticate(r.Context(), r.Header.Get("Authorization"), s.ClientAddr(r), op.scopes...)
		line.organisation, line.key = c.caller.OrganisationID, c.caller.KeyID
		if err == nil && len(params[op.job]) <= admin.MaxID { // what is longer is nobody's id
			line.job = params[op.job]
		}
		s.Annotate(r.Context(), slog.String("organisation", line.organisation), slog.String("job", line.job))
		if err != nil {
			return answer{}, err
		}
		if op.plan != "" {
			if err := admin.RequirePlan(c.caller, op.plan); err != nil {
				return answer{}, err
			}
		}
		if err := s.read(w, r, op, &c); err != nil {
			return answer{}, err
		}
		return op.run(s, r.Context(), c)
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return answer{}, admin.Errorf(admin.CodeMethod, "this path does not take this method: %s does", strings.Join(allowed, " or "))
	}
	return answer{}, admin.Errorf(admin.CodeNotFound, "there is nothing at this path for this method")
}

// read checks and reads what a request carries besides its path.
func (s *server) read(w http.ResponseWriter, r *http.Request, op operation, c *call) error {
	if op.method == http.MethodPost || op.method == http.MethodPut {
		if keys, ok := r.Header[HeaderIdempotencyKey]; ok {
			if len(keys) != 1 {
				return admin.FieldErrorf(HeaderIdempotencyKey, "must appear exactly once")
			}
			if err := admin.CheckIdempotencyKey(keys[0]); err != nil {
				return err
			}
			c.key = keys[0]
		}
	}
	limit := int64(maxSmallBody)
	switch op.body {
	case ignoredBody:
		return nil
	case largeBody:
		limit = maxLargeBody
		fallthrough
	case smallBody:
		if !isJSON(r.Header) {
			return admin.Errorf(admin.CodeUnsupported, "Content-Type: must be application/json")
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return admin.Errorf(admin.CodeTooLarge, "%s: must be at most %d bytes", bodyField, limit)
	}
	if err != nil {
		return admin.FieldErrorf(bodyField, "could not be read").Wrap(err)
	}
	if op.body == noBody {
		if len(bytes.Trim(body, " \t\r\n")) > 0 {
			return admin.FieldErrorf(bodyField, "must be empty")
		}
		return nil
	}
	c.body = body
	return nil
}

// isJSON reports whether a body is declared as JSON in UTF-8.
func isJSON(h http.Header) bool {
	values := h.Values("Content-Type")
	if len(values) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || media != "application/json" {
		return false
	}
	charset, ok := params["charset"]
	return !ok || strings.EqualFold(charset, "utf-8")
}

// logLine is what the log says of a request, beside how long it took. Keys,
// bodies and links are not in it.
type logLine struct {
	operation, organisation, key, job, code string
	status                                  int
	err                                     error
}

func (s *server) logRequest(r *http.Request, id string, took time.Duration, line logLine) {
	attrs := []slog.Attr{
		slog.String("request", id),
		slog.String("method", r.Method),
		slog.String("operation", line.operation),
		slog.Int("status", line.status),
		slog.Duration("took", took),
	}
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	if from := s.ClientAddr(r); from.IsValid() {
		add("address", from.String())
	}
	add("organisation", line.organisation)
	add("key", line.key)
	add("job", line.job)
	add("code", line.code)
	level := slog.LevelInfo
	if line.status < 400 && line.err != nil { // a stream broke off
		attrs = append(attrs, slog.Any("error", line.err))
	}
	if line.status >= 500 {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("error", line.err))
		if p, ok := errors.AsType[*panicError](line.err); ok {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
	}
	s.Log.LogAttrs(r.Context(), level, RequestMessage, attrs...)
}
