package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
)

// T is what a Server needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Record is a request that came in.
type Record struct {
	Request model.Request
	// Raw is the body, Header and Path are those of the request.
	Raw    []byte
	Header http.Header
	Path   string
}

// Handler answers the requests of POST …/v1/messages, each with the next step.
// Many may be under way at once; they take their steps in the order in which
// they come.
type Handler struct {
	// Key, if not empty, is the one key that is not answered with 401, as
	// X-Api-Key or as a bearer. Set it before the first request.
	Key string
	// Context is the most tokens of a request together with those that it allows for
	// the answer; 0 for no limit. A longer request is refused and takes no step. With
	// Cuts, it is cut in silence: the step gets the newest messages that fit, and the
	// usage says no more than Context. PerToken is how many bytes are a token, default
	// 4. Set them before the first request.
	Context, PerToken int
	Cuts              bool

	fault   func(text string)
	turn    sync.Mutex // one request at a time is given its step
	mu      sync.Mutex // guards what follows
	steps   []Step
	used    int // requests that steps[0] has answered
	records []Record
	faults  []string
	told    map[string][]conversation
	cache   map[[sha256.Size]byte]bool
	paused  bool // the last answer asked to go on
}

// NewHandler returns a Handler with a script.
func NewHandler(steps ...Step) *Handler {
	return &Handler{steps: steps, told: map[string][]conversation{}, cache: map[[sha256.Size]byte]bool{}, fault: func(string) {}}
}

// Server is a Handler that listens on this machine.
type Server struct {
	*Handler
	// URL is its address: model.Options.Base.
	URL string

	server *http.Server
	ended  chan struct{}
	gate   sync.Mutex // guards closed, and Add of under before its Wait
	closed bool
	under  sync.WaitGroup // answers that are under way
}

// New starts a server that ends with the test. Requests that the API would
// refuse, that no step is left for, or whose prompt no cache would know again
// fail the test.
func New(t T, steps ...Step) *Server {
	t.Helper()
	h := NewHandler(steps...)
	h.fault = func(text string) { t.Errorf("modeltest: %s", text) }
	s, err := Start(h)
	if err != nil {
		t.Errorf("modeltest: %v", err)
		return s
	}
	t.Cleanup(s.Close)
	return s
}

// Start makes a Handler listen on a free port of this machine. The caller closes
// the Server.
func Start(h *Handler) (*Server, error) {
	s := &Server{Handler: h, ended: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return s, err
	}
	s.URL = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(listener) // ends with Close
	}()
	return s, nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		return
	}
	s.under.Add(1)
	s.gate.Unlock()
	defer s.under.Done()
	s.ServeHTTP(w, r)
}

// Close ends the server and all answers that are under way, and waits for them:
// none reports to a test that is over.
func (s *Server) Close() {
	s.gate.Lock()
	s.closed = true
	s.gate.Unlock()
	_ = s.server.Close()
	<-s.ended
	s.under.Wait()
}

// Add appends steps to the script.
func (h *Handler) Add(steps ...Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, steps...)
}

// Requests returns what was asked so far, in order, also what was refused or
// answered with an error.
func (h *Handler) Requests() []Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.records)
}

// Faults returns what was wrong with the requests, and what had no step.
func (h *Handler) Faults() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.faults)
}

// Left returns how many steps have not been begun, or not been used up. One that
// answers for ever is not counted once it was begun.
func (h *Handler) Left() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.steps) > 0 && h.steps[0].times < 0 && h.used > 0 {
		return len(h.steps) - 1
	}
	return len(h.steps)
}

// maxRequest is the API's bound on a request, in bytes.
const maxRequest = 32 << 20

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil {
		return // the caller has gone
	}
	if h.Key != "" && r.Header.Get("X-Api-Key") != h.Key && r.Header.Get("Authorization") != "Bearer "+h.Key {
		fail(w, Status(http.StatusUnauthorized, "authentication_error", "invalid x-api-key"))
		return
	}
	id, step, usage, request := h.take(r, raw)
	if step.status != 0 {
		fail(w, step)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Request-Id", "req_"+id)
	step.send(w, r, step.text(id, request.Model, usage))
}

// take keeps a request and returns its step, and what it costs. What a script
// calls may ask the Handler.
func (h *Handler) take(r *http.Request, raw []byte) (id string, step Step, usage model.Usage, request model.Request) {
	h.turn.Lock()
	defer h.turn.Unlock()
	digest := sha256.Sum256(raw)
	id = hex.EncodeToString(digest[:8])
	request, step, faults := h.next(r, raw)
	if len(faults) > 0 {
		return id, h.wrong(faults...), usage, request
	}
	over := h.Context > 0 && int(sizeOf(raw)/h.perToken())+request.MaxTokens > h.Context
	if over && h.Cuts {
		request = h.cutFront(request)
	}
	for {
		if err := step.expected(request); err != nil {
			return id, h.wrong(err.Error()), usage, request
		}
		if step.answer == nil {
			break
		}
		step = step.answer(request)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.paused = step.Stop == model.StopPauseTurn
	if step.tooLong || step.Stop == model.StopContext {
		delete(h.told, opening(raw))
	}
	if step.status == 0 {
		if usage = h.tokens(raw); over && h.Cuts {
			usage = model.Usage{Input: min(sizeOf(raw)/h.perToken(), int64(h.Context))}
		}
		usage.Output = step.output()
	}
	return id, step, usage, request
}

// next keeps a request and takes the next step of the script, or says what is
// wrong.
func (h *Handler) next(r *http.Request, raw []byte) (model.Request, Step, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	request, faults := check(r, raw, h.paused)
	h.records = append(h.records, Record{request, raw, r.Header.Clone(), r.URL.Path})
	if len(faults) == 0 {
		faults = h.followed(raw)
	}
	if len(faults) == 0 && len(h.steps) == 0 {
		faults = []string{fmt.Sprintf("request %d has no step", len(h.records))}
	}
	if len(faults) > 0 {
		return request, Step{}, faults
	}
	if size := int(sizeOf(raw) / h.perToken()); h.Context > 0 && !h.Cuts && size+request.MaxTokens > h.Context {
		return request, TooLong(), nil
	}
	step := h.steps[0]
	if h.used++; step.times >= 0 && h.used >= max(step.times, 1) {
		h.steps, h.used = h.steps[1:], 0
	}
	return request, step, nil
}

func (s Step) expected(r model.Request) error {
	if s.when == nil {
		return nil
	}
	return s.when(r)
}

// wrong keeps faults, and returns the step that answers such a request.
func (h *Handler) wrong(faults ...string) Step {
	h.mu.Lock()
	h.faults = append(h.faults, faults...)
	h.mu.Unlock()
	for _, f := range faults {
		h.fault(f)
	}
	return Status(http.StatusBadRequest, "invalid_request_error", strings.Join(faults, "; "))
}

// fail answers with an error.
func fail(w http.ResponseWriter, s Step) {
	if s.retryAfter != "" {
		w.Header().Set("Retry-After", s.retryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, marshal(map[string]any{
		"type": "error", "error": map[string]any{"type": s.errorType, "message": s.errorMessage},
	}))
}

// send writes a stream as the step has it, until the caller goes.
func (s Step) send(w http.ResponseWriter, r *http.Request, text string) {
	if s.cutEvents > 0 {
		s.cut = len(text)
		if parts := strings.SplitAfterN(text, eventEnd, s.cutEvents+1); len(parts) > s.cutEvents {
			s.cut -= len(parts[s.cutEvents])
		}
	}
	cut := s.isCut && s.cut < len(text)
	if cut {
		text = text[:s.cut]
	}
	flush := http.NewResponseController(w).Flush
	for size := s.chunk; text != ""; {
		if size <= 0 {
			size = len(text)
		}
		n := min(size, len(text))
		if _, err := io.WriteString(w, text[:n]); err != nil || flush() != nil {
			return
		}
		if text = text[n:]; s.pause > 0 {
			select {
			case <-time.After(s.pause):
			case <-r.Context().Done():
				return
			}
		}
	}
	if !cut {
		return
	}
	_ = flush()
	if s.stalls {
		<-r.Context().Done()
		return
	}
	panic(http.ErrAbortHandler) // the connection breaks
}
