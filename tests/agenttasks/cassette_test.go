package agenttasks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// cassette is a dialogue with a model about one task, without the requests.
type cassette struct {
	Task string `json:"task"`
	// Origin says who wrote it: "by hand", or the name of the model that answered.
	Origin string `json:"origin"`
	Turns  []turn `json:"turns"`
}

// turn is one answer: by hand its blocks, recorded the stream as it came.
type turn struct {
	Answer []model.Block `json:"answer,omitempty"`
	// Request is the digest of the request, in hexadecimal, Stream what was
	// answered to it.
	Request string `json:"request,omitempty"`
	Stream  string `json:"stream,omitempty"`
}

const byHand = "by hand"

// handmade is the dialogue of testdata/by-hand for a task.
func handmade(tb testing.TB, name string) cassette {
	tb.Helper()
	return readCassette(tb, filepath.Join("testdata", "by-hand", name+".json"))
}

func readCassette(tb testing.TB, file string) cassette {
	tb.Helper()
	var c cassette
	if err := json.Unmarshal([]byte(readText(tb, file)), &c); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	return c
}

func (c cassette) write(folder string) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, c.Task+".json"), append(text, '\n'), 0o644)
	}
	return err
}

// steps are the dialogue as a script.
func (c cassette) steps() []modeltest.Step {
	var steps []modeltest.Step
	for _, t := range c.Turns {
		if t.Stream != "" {
			steps = append(steps, modeltest.Stream(t.Stream))
			continue
		}
		stop := model.StopEndTurn
		if slices.ContainsFunc(t.Answer, func(b model.Block) bool { return b.Type == model.TypeToolUse }) {
			stop = model.StopToolUse
		}
		steps = append(steps, modeltest.Step{Blocks: t.Answer, Stop: stop})
	}
	return steps
}

// rounds are the turns of each round of a dialogue: a call of finish ends one.
func (c cassette) rounds() [][]turn {
	var all [][]turn
	from := 0
	for i, t := range c.Turns {
		if slices.ContainsFunc(t.Answer, func(b model.Block) bool { return b.Name == "finish" }) {
			all, from = append(all, c.Turns[from:i+1]), i+1
		}
	}
	return all
}

// apply makes the calls of a round's turns on a repository's tools, without a model, a
// forge or steps, and returns the repository and how the round ends. tags can be fetched:
// the next turn has their files. attached are the files of the messages so far. A call that
// a tool refuses fails the test: a dialogue that knows its site has none.
func apply(tb testing.TB, set admin.AgentSettings, turns []turn, f files, tags []tagged, attached map[string][]byte) (files, tool.Finish) {
	tb.Helper()
	tree, err := tool.NewTree(memory(f), set.Root)
	if err != nil {
		tb.Fatal(err)
	}
	calls := tool.NewSet(tree, tool.Options{Check: &checker{before: findings(tb, f.sub(set.Root))}, Outside: set.ReadRepository, History: historyOf(tags), Fetches: admin.MaxAgentFetches})
	for p, data := range attached {
		calls.Attach(p, data)
	}
	var end tool.Finish
	for n, t := range turns {
		var asked []tool.Fetch
		for _, b := range t.Answer {
			if b.Type != model.TypeToolUse {
				continue
			}
			r := calls.Call(tb.Context(), b.Name, b.Input)
			if r.IsError {
				tb.Errorf("turn %d: %s: %s", n+1, b.Name, r.Text)
			}
			if r.Finish != nil {
				end = *r.Finish
			}
			if r.Fetch != nil {
				asked = append(asked, *r.Fetch)
			}
		}
		for _, a := range asked {
			if err := calls.Mount(fetchedFrom(tb, tags, a)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	out := maps.Clone(f)
	for _, change := range tree.Changes() {
		if delete(out, change.Path); !change.Delete {
			out[change.Path] = string(change.Content)
		}
	}
	return out, end
}

// historyOf lists tags, newest first, each on a commit of its own.
func historyOf(tags []tagged) (h tool.History) {
	for n, t := range slices.Backward(tags) {
		c := tool.Commit{ID: fmt.Sprintf("%040x", n+1)}
		if n > 0 {
			c.Parents = []int{len(h.Commits) + 1}
		}
		h.Tags, h.Commits = append(h.Tags, tool.Tag{Name: t.name, Commit: c.ID}), append(h.Commits, c)
	}
	return h
}

// fetchedFrom returns the commit of a tag, or the part of it that a fetch asks for.
func fetchedFrom(tb testing.TB, tags []tagged, a tool.Fetch) tool.Fetched {
	tb.Helper()
	n := slices.IndexFunc(tags, func(t tagged) bool { return t.name == a.Ref })
	if n < 0 {
		tb.Fatalf("%s was fetched, and people have made no such tag", a.Ref)
	}
	part := files{}
	for p, text := range tags[n].files {
		if a.Path == "" || p == a.Path || strings.HasPrefix(p, a.Path+"/") {
			part[p] = text
		}
	}
	return tool.Fetched{Label: tool.Label(a.Repository, a.Ref), Path: a.Path, Files: memory(part)}
}

// memory is a repository for tools.
type memory files

func (m memory) Paths() []tool.Entry {
	var all []tool.Entry
	for p, text := range m {
		all = append(all, tool.Entry{Path: p, Size: int64(len(text)), Text: !strings.Contains(text, "\x00"), Plain: true})
	}
	return all
}

func (m memory) Read(p string) ([]byte, error) {
	if strings.Contains(m[p], "\x00") {
		return nil, tool.ErrNotText
	}
	return []byte(m[p]), nil
}

// checker is tool.Checker as the steps have it.
type checker struct{ before []check.Finding }

func (c *checker) Check(ctx context.Context, site fs.FS, all bool) ([]tool.Finding, error) {
	r, err := check.Site(ctx, site, check.Options{Domain: domain, Rules: check.Rules{}, Tools: tools})
	if err != nil {
		return nil, err
	}
	if !all {
		r.Findings = check.New(c.before, r.Findings)
	}
	var out []tool.Finding
	for _, f := range r.Findings {
		out = append(out, tool.Finding{Code: f.Code, Level: string(f.Level), File: f.File, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return out, nil
}

// recorder is a way to a model that keeps whole answers. Requests are kept as
// digests, and headers, in which keys are, not at all.
type recorder struct {
	next  http.RoundTripper
	mu    sync.Mutex
	turns []turn
	asked []string // digests of all requests, also of those without a whole answer
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, errors.Join(err, req.Body.Close())
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	digest := requestDigest(body)
	r.mu.Lock()
	r.asked = append(r.asked, digest)
	r.mu.Unlock()
	res, err := r.next.RoundTrip(req)
	if err == nil && res.StatusCode == http.StatusOK {
		res.Body = &heard{ReadCloser: res.Body, recorder: r, request: digest}
	}
	return res, err
}

// requestDigest is the digest of what a request says, whichever model it is for.
func requestDigest(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) == nil {
		delete(members, "model")
		delete(members, "max_tokens")
		body, _ = json.Marshal(members) // what was read can be written
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// heard is the body of an answer that is being read.
type heard struct {
	io.ReadCloser
	recorder *recorder
	request  string
	text     strings.Builder
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.text.Write(p[:n])
	return n, err
}

// Close keeps what was heard, if the last event is in it: the client has closed an
// answer that broke before, and asks again.
func (h *heard) Close() error {
	if strings.Contains(h.text.String(), "message_stop") {
		h.recorder.mu.Lock()
		h.recorder.turns = append(h.recorder.turns, turn{Request: h.request, Stream: h.text.String()})
		h.recorder.mu.Unlock()
	}
	return h.ReadCloser.Close()
}
