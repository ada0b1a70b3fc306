package island

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os/exec"
	"sync/atomic"
	"time"
)

// Time limits for what no counted limit covers: a call inside the engine that does not
// return. They never change what a page shows: a process that they end is an Ended.

// maxCPU is the processor's time, which the process looks at itself: it is the
// same on a busy machine. Tests of what is counted give more of it: on a slow
// machine the counts come late.
var maxCPU = 8 * time.Second

// guard is the time by the clock, for systems that don't count the other and for
// a process that doesn't answer.
const guard = 10 * time.Minute

// ErrUnavailable is that the process could not be started, or a file of the site
// not be read: another try may do better.
var ErrUnavailable = errors.New("island: scripts can't be run now")

// Ended is the error about JavaScript that ended the process that ran it: by its time,
// or by its memory in two processes in turn. The content of the page is unknown.
type Ended struct {
	// File and Line are the source that was shown, or the first of those that a
	// script was made of.
	File string
	Line int
	// Reason is what ended the last process, as far as it is known.
	Reason string
	// Clock reports that it took too long.
	Clock bool

	again bool // a second try may succeed
}

func (e *Ended) Error() string {
	return fmt.Sprintf("%s:%d: the JavaScript here ended the process that runs it: %s", e.File, e.Line, e.Reason)
}

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

	turn   chan struct{} // holds one while the process works
	worker *worker
	// ended are the pieces of work that ended their process: none is tried again
	// while the files that it read are the same. read are those of the work now.
	ended map[[sha256.Size]byte]endedWork
	read  map[string][sha256.Size]byte
}

// endedWork is how a piece of work ended, and the digests of the files it had read.
type endedWork struct {
	err  *Ended
	read map[string][sha256.Size]byte
}

// still reports whether the files have the same content.
func (w endedWork) still(fsys fs.FS) bool {
	for name, sum := range w.read {
		if f, err := open(fsys, &need{Name: name, Read: true}); err != nil || sha256.Sum256([]byte(f.Text)) != sum {
			return false
		}
	}
	return true
}

// maxEnded bounds ended.
const maxEnded = 1000

// digest names a piece of work by what is run, wherever it stands.
func (r request) digest() [sha256.Size]byte {
	sum := sha256.New()
	for _, s := range r.Sources {
		fmt.Fprintf(sum, "%q %q %q %q\n", s.Module, s.Expression, s.Props, s.Names)
	}
	fmt.Fprintf(sum, "%v", r.Start != nil)
	return [sha256.Size]byte(sum.Sum(nil))
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{program: o.Program, args: o.Args, log: o.Log, turn: make(chan struct{}, 1)}
	e.log = cmp.Or(e.log, slog.New(slog.DiscardHandler))
	return e
}

// Starts counts the processes that were started. Pages without need start none.
func (e *Engine) Starts() int64 { return e.starts.Load() }

// Close ends the process, if there is one.
func (e *Engine) Close() {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	e.end()
}

// Node is a part of what a component shows.
type Node struct {
	// Text is a text; then Tag is "".
	Text string
	// Tag is an HTML element's or, with Builtin, a component's name. The tag
	// Children is what the element holds in the page.
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
	// Live means that it may change, or answers to readers: that the page
	// needs Script.
	Live bool
	// Steps is the work that it took: calls and turns of loops.
	Steps int
}

// Render shows a source as it is at first. fsys has the site's files; of MDX it
// gives the import and export statements. components are the names of the
// built-in components. An *Error is the author's; an *Ended and ErrUnavailable
// leave open what is shown; others are our own faults and come again.
func (e *Engine) Render(ctx context.Context, fsys fs.FS, source Source, components []string) (*Shown, error) {
	a, err := e.ask(ctx, fsys, request{Sources: []Source{source}, Components: components})
	if err != nil {
		return nil, err
	}
	shown := &Shown{Steps: a.Steps}
	var raw struct {
		Nodes []json.RawMessage `json:"nodes"`
		Live  bool              `json:"live"`
	}
	if err := json.Unmarshal([]byte(a.Shown), &raw); err != nil {
		return nil, &Error{Message: "what it shows can't be read", File: source.File, Line: source.Line}
	}
	shown.Live = raw.Live
	if shown.Nodes, err = nodes(raw.Nodes); err != nil {
		return nil, &Error{Message: err.Error(), File: source.File, Line: source.Line}
	}
	return shown, nil
}

// Script makes the script that brings sources to life on a page: those whose
// Shown is live, in the page's order. start is the JSON that islands.js reads.
// words are those of its texts that may be names of classes, sorted.
func (e *Engine) Script(ctx context.Context, fsys fs.FS, sources []Source, components []string, start []byte) (data []byte, words []string, err error) {
	a, err := e.ask(ctx, fsys, request{Sources: sources, Components: components, Start: start})
	return a.Script, a.Words, err
}

// Digest names a script by its content, for a file's name.
func Digest(script []byte) string {
	sum := sha256.Sum256(script)
	return fmt.Sprintf("%x", sum[:6])
}

type worker struct {
	cmd *exec.Cmd
	in  *json.Encoder
	end io.Closer // of what in writes to
	out *bufio.Reader
	// said is the beginning of what it said of its end.
	said *beginning
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ data []byte }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4 << 10
	b.data = append(b.data, p[:min(len(p), most-len(b.data))]...)
	return len(p), nil
}

// ask has the process do one piece of work. One that the process ends in is
// tried once more, in a process of its own; not one that takes too long, whose time
// is its own in any process, nor one that did so before.
func (e *Engine) ask(ctx context.Context, fsys fs.FS, r request) (a answer, err error) {
	if len(r.Sources) == 0 {
		return answer{}, errors.New("island: there is no source")
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	defer func() { <-e.turn }()
	work := r.digest()
	e.read = map[string][sha256.Size]byte{}
	if was, ok := e.ended[work]; ok && was.still(fsys) {
		again := *was.err
		again.File, again.Line = r.Sources[0].File, r.Sources[0].Line
		return answer{}, &again
	}
	defer func() {
		if ended, ok := errors.AsType[*Ended](err); ok && len(e.ended) < maxEnded {
			if e.ended == nil {
				e.ended = map[[sha256.Size]byte]endedWork{}
			}
			e.ended[work] = endedWork{ended, e.read}
		}
	}()
	a, err = e.try(ctx, fsys, r)
	if ended, ok := errors.AsType[*Ended](err); ok && ended.again {
		e.log.WarnContext(ctx, "a page's JavaScript ended its process and is tried alone", "file", ended.File, "line", ended.Line, "reason", ended.Reason)
		if a, err = e.try(ctx, fsys, r); errors.As(err, &ended) {
			return answer{}, err
		}
	}
	switch {
	case err != nil:
		return answer{}, err
	case a.Fault != nil:
		return answer{}, a.Fault
	case a.Failure != "":
		return answer{}, errors.New("island: " + a.Failure)
	}
	return a, nil
}

// try has the process do one piece of work, and gives it the files that it asks
// for meanwhile. A process is started if none runs, and ended when it
// fails in any way.
func (e *Engine) try(ctx context.Context, fsys fs.FS, r request) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	if e.worker == nil {
		if err := e.start(); err != nil {
			return answer{}, fmt.Errorf("%w: start the process: %w", ErrUnavailable, err)
		}
	}
	w := e.worker
	var late atomic.Bool
	expire := func() { late.Store(true); _ = w.cmd.Process.Kill() }
	cancel := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	var a answer
	var site error // that a file can't be read is not the author's fault
	err := w.in.Encode(r)
	for left := guard; err == nil; {
		begin := time.Now()
		timer := time.AfterFunc(left, expire)
		var line []byte
		line, err = w.out.ReadBytes('\n')
		timer.Stop()
		// The time that the site's files take is not the script's.
		left -= time.Since(begin)
		if err == nil {
			a = answer{}
			err = json.Unmarshal(line, &a)
		}
		if err != nil || a.Need == nil {
			break
		}
		var f content
		if f, site = open(fsys, a.Need); site != nil {
			break
		}
		if a.Need.Read {
			e.read[a.Need.Name] = sha256.Sum256([]byte(f.Text))
		}
		err = w.in.Encode(f)
	}
	if cancel() && !late.Load() && err == nil && site == nil {
		return a, nil
	}
	_ = w.cmd.Process.Kill()
	state := e.end()
	first := r.Sources[0]
	ended := &Ended{File: first.File, Line: first.Line, Reason: fmt.Sprintf("it ended with exit code %d", state), again: true}
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case site != nil:
		return answer{}, fmt.Errorf("%w: read a file of the site: %w", ErrUnavailable, site)
	case state == exitGo && bytes.Contains(w.said.data, []byte("stack exceeds")):
		// Each run of a script nests as deep.
		return answer{}, &Error{Message: "it nests too deep", File: first.File, Line: first.Line, Limit: true}
	case late.Load():
		ended.Clock = true
		ended.Reason = fmt.Sprintf("it took longer than %s", guard)
	case state == exitTime:
		ended.again, ended.Clock = false, true
		ended.Reason = fmt.Sprintf("it took longer than %s of a processor", maxCPU)
	case state == ExitMemory || state == exitGo && (bytes.Contains(w.said.data, []byte("out of memory")) || bytes.Contains(w.said.data, []byte("allocate memory"))):
		ended.Reason = fmt.Sprintf("it took more than %d MiB of memory", maxMemory>>20)
	}
	return answer{}, ended
}

// open answers a question about a file of the site.
func open(fsys fs.FS, n *need) (content, error) {
	if !fs.ValidPath(n.Name) {
		return content{}, nil
	}
	info, err := fs.Stat(fsys, n.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, nil
	case err != nil:
		return content{}, err
	case !info.Mode().IsRegular():
		return content{}, nil
	}
	f := content{Is: true, Large: info.Size() > maxSource}
	if !n.Read || f.Large {
		return f, nil
	}
	data, err := fs.ReadFile(fsys, n.Name)
	f.Text = string(data)
	return f, err
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
	said := &beginning{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return err
	}
	e.starts.Add(1)
	enc := json.NewEncoder(in)
	enc.SetEscapeHTML(false)
	e.worker = &worker{cmd: cmd, in: enc, end: in, out: bufio.NewReaderSize(out, 1<<16), said: said}
	return nil
}

// end ends the process and returns its exit code, -1 for a signal.
func (e *Engine) end() int {
	w := e.worker
	if w == nil {
		return 0
	}
	e.worker = nil
	_ = w.end.Close()
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}
