package island

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// guard ends what no other bound foresaw: a regular expression, or one call of
// the engine's own that takes for ever.
const guard = 20 * time.Second

// Options are what an Engine works with.
type Options struct {
	// Program is the program whose processes render: one that calls Work where
	// IsWorker says so, usually the running one. Args are its arguments.
	Program string
	Args    []string
	// Log gets what is not an author's business; nil discards it.
	Log *slog.Logger
}

// Engine renders components. Until one is there to render it costs nothing. It
// is safe for concurrent use.
type Engine struct {
	program string
	args    []string
	log     *slog.Logger
	starts  atomic.Int64

	mu     sync.Mutex // held while the process renders
	worker *worker
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{program: o.Program, args: o.Args, log: o.Log}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e
}

// Starts counts the processes that were started. Pages without need start none.
func (e *Engine) Starts() int64 { return e.starts.Load() }

// Close ends the process, if there is one.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
}

// Node is a part of what a component shows.
type Node struct {
	// Text is a text; then Tag is "".
	Text string
	// Tag is an HTML element's or, with Builtin, a component's name. The tag
	// Children stands for what the element holds in the page.
	Tag     string
	Builtin bool
	// Attrs are the attributes as JSON objects' members, in order.
	Attrs []Attr
	// Children are the content.
	Children []Node
	// Key names the frame of a built-in component: what of it stays as it is
	// when a reader's page draws anew.
	Key string
}

// Children is the tag of what an element holds in the page.
const Children = "$children"

// Attr is one attribute. Value is JSON; Shown is set instead for what was given
// as elements.
type Attr struct {
	Name  string
	Value json.RawMessage
	Shown []Node
}

// Shown is what a source shows at first.
type Shown struct {
	Nodes []Node
	// Live tells that it may change, or answers to readers: that the page
	// needs Script.
	Live bool
	// Inputs are the site's files that were read.
	Inputs []string
}

// Render shows a source as it is at first. components are the names of the
// built-in components. An *Error is the author's; another is not.
func (e *Engine) Render(ctx context.Context, fsys fs.FS, source Source, components []string) (*Shown, error) {
	script, sourceMap, inputs, err := bundle(ctx, fsys, []Source{source}, false)
	if err != nil {
		return nil, err
	}
	text, err := counted(builtins(script, components) + string(script))
	if err != nil {
		return nil, &Error{Message: "the engine can't read it: " + firstLine(err.Error()), File: source.File, Line: source.Line}
	}
	props := source.Props
	if props == "" {
		props = "{}"
	}
	a, err := e.ask(ctx, request{Script: text, Props: props})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var limit *limitError
		if errors.As(err, &limit) {
			return nil, &Error{Message: limit.Error(), File: source.File, Line: source.Line}
		}
		return nil, err
	}
	if a.Error != "" {
		return nil, located(a, sourceMap, source)
	}
	shown := &Shown{Inputs: inputs}
	var raw struct {
		Nodes []json.RawMessage `json:"nodes"`
		Live  bool              `json:"live"`
	}
	if err := json.Unmarshal([]byte(a.Shown), &raw); err != nil {
		return nil, fmt.Errorf("island: read what is shown: %w", err)
	}
	shown.Live = raw.Live
	if shown.Nodes, err = nodes(raw.Nodes, 0); err != nil {
		return nil, &Error{Message: err.Error(), File: source.File, Line: source.Line}
	}
	return shown, nil
}

// Script makes the script that brings sources to life on a page: those whose
// Shown is live, in the page's order. start is the JSON that islands.js reads.
// words are those of its texts that may be names of classes, sorted.
func Script(ctx context.Context, fsys fs.FS, sources []Source, components []string, start []byte) (data []byte, words []string, err error) {
	script, _, _, err := bundle(ctx, fsys, sources, true)
	if err != nil {
		return nil, nil, err
	}
	var b strings.Builder
	b.WriteString("(function($react){")
	b.WriteString(builtins(script, components))
	b.Write(script)
	b.WriteString("$react.start($islands.default," + string(start) + ")})(BinderyIslands);\n")
	return []byte(b.String()), classWords(script), nil
}

// Digest names a script by its content, for a file's name.
func Digest(script []byte) string {
	sum := sha256.Sum256(script)
	return fmt.Sprintf("%x", sum[:6])
}

// limitError tells of a process that was stopped.
type limitError struct{ reason string }

func (e *limitError) Error() string { return e.reason }

// worker is a process that renders.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// ask sends one request to the process, which is started when there is none. A
// process that fails in any way is ended.
func (e *Engine) ask(ctx context.Context, r request) (answer, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.worker == nil {
		if err := e.start(); err != nil {
			return answer{}, fmt.Errorf("island: start the process that renders: %w", err)
		}
	}
	w := e.worker
	stopped := make(chan struct{})
	var late atomic.Bool
	timer := time.AfterFunc(guard, func() { late.Store(true); _ = w.cmd.Process.Kill() })
	cancel := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	defer close(stopped)
	_, err = w.in.Write(append(line, '\n'))
	var reply []byte
	if err == nil {
		reply, err = w.out.ReadBytes('\n')
	}
	inTime := timer.Stop()
	if !cancel() || !inTime || err != nil {
		state := e.end()
		switch {
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case late.Load():
			return answer{}, &limitError{fmt.Sprintf("it takes longer than %s", guard)}
		case state == exitMemory || state == 2: // 2: the system refused memory
			return answer{}, &limitError{fmt.Sprintf("it takes more than %d MiB of memory", maxMemory>>20)}
		}
		return answer{}, fmt.Errorf("island: the process that renders ended: %w (exit code %d)", err, state)
	}
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		e.end()
		return answer{}, fmt.Errorf("island: read an answer: %w", err)
	}
	return a, nil
}

func (e *Engine) start() error {
	cmd := exec.Command(e.program, e.args...)
	cmd.Env = []string{marker + "=1"} // nothing else: no key, no address
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	e.starts.Add(1)
	e.worker = &worker{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<16)}
	return nil
}

// end ends the process and tells its exit code; -1 for a signal.
func (e *Engine) end() int {
	w := e.worker
	if w == nil {
		return 0
	}
	e.worker = nil
	_ = w.in.Close()
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
