package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/asl"
)

const (
	// childMemory is how many bytes the process of an export may hold; the
	// steps of the largest site that is allowed take under half of it.
	childMemory = 4 << 30
	// maxDeaths is how many processes an export may end before it fails.
	maxDeaths = 2
	// childIdle is how long an export's process stays when there is nothing to
	// do; the workflow takes milliseconds from a step to the next.
	childIdle = 5 * time.Second
	// stopTime is how long a step may take to stop.
	stopTime = 20 * time.Second
)

// children run the steps of exports in processes of their own, one for each
// export: whatever a site makes its process do, this one and the exports of
// others go on. Its components run in a process of that process, so that slow
// ones hold up nobody else's either.
type children struct {
	charge charge
	log    *slog.Logger
	record func(ctx context.Context, job, code, message string) error

	closed atomic.Bool
	mu     sync.Mutex
	jobs   map[string]*family
}

// family is what is known of an export's processes.
type family struct {
	mu     sync.Mutex
	job    string
	child  *child
	deaths int
	// turn holds one while a step runs, once a process has died: the next is
	// to name what it dies of.
	turn chan struct{}
	busy int
	idle *time.Timer
}

// child is a process.
type child struct {
	cmd *exec.Cmd
	in  *json.Encoder
	end io.Closer // of what in writes to
	// gone is closed once the process has ended; why says of what, and at is
	// what it was working on, the latest last.
	gone chan struct{}
	why  string

	mu    sync.Mutex
	at    []string
	calls map[int]chan news
	last  int // number of a call
	said  strings.Builder
}

// task returns a step that a child does.
func (c *children) task(name string) asl.Task {
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		var of admin.WorkflowInput // every step's input names its job so
		if err := json.Unmarshal(input, &of); err != nil {
			return nil, admin.Errorf(admin.CodeInternal, "a step's input can't be read").Wrap(err)
		}
		return c.do(ctx, of.JobID, name, input)
	}
}

// do has an export's process do a step, and another one if it dies of that. An
// export that ends the second too fails: it would end any number.
func (c *children) do(ctx context.Context, job, task string, input json.RawMessage) (json.RawMessage, error) {
	f := c.family(job)
	defer f.leave()
	for {
		alone := f.dead() > 0
		if alone {
			select {
			case f.turn <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		p, err := f.process(c)
		var result news
		if err == nil {
			result, err = p.do(ctx, task, input)
		}
		if alone {
			<-f.turn
		}
		var lost *lostError
		if !errors.As(err, &lost) {
			if err == nil {
				err = result.err()
			}
			return result.Output, err
		}
		if p.cmd.ProcessState.ExitCode() == exitCannotWork {
			// Storage did not open, which is not the site's doing.
			f.drop(p)
			return nil, admin.Errorf(admin.CodeTemporary, "the process of an export could not open its storage").Wrap(err)
		}
		c.log.WarnContext(ctx, "the process of an export died", "job", job, "at", lost.place(), "reason", p.why)
		if f.died(p) < maxDeaths {
			continue
		}
		message := fmt.Sprintf("the site twice ended the process that renders it, at %s: %s", lost.place(), p.why)
		if err := c.record(ctx, job, admin.CodeProcessEnded, message); err != nil && admin.CodeOf(err) != admin.CodeJobNotActive {
			c.log.WarnContext(ctx, "the cause of a failure was not recorded", "job", job, "error", err)
		}
		return nil, admin.Errorf(admin.CodeProcessEnded, "%s", message)
	}
}

// family returns an export's processes, which the caller leaves.
func (c *children) family(job string) *family {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.jobs[job]
	if f == nil {
		f = &family{job: job, turn: make(chan struct{}, 1)}
		c.jobs[job] = f
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy++; f.idle != nil {
		f.idle.Stop()
	}
	return f
}

// forget ends what is left of an export that is over.
func (c *children) forget(job string) {
	c.mu.Lock()
	f := c.jobs[job]
	delete(c.jobs, job)
	c.mu.Unlock()
	if f != nil {
		f.rest(true)
	}
}

// Close ends all processes.
func (c *children) Close() {
	c.closed.Store(true)
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.jobs))
	c.mu.Unlock()
	for _, f := range all {
		f.rest(true)
	}
}

// leave notes that a step is done, and ends the process when none follows.
func (f *family) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy--; f.busy == 0 {
		f.idle = time.AfterFunc(childIdle, func() { f.rest(false) })
	}
}

// rest ends the process, if there is one, and if it does nothing or must.
func (f *family) rest(must bool) {
	f.mu.Lock()
	var p *child
	if must || f.busy == 0 {
		p, f.child = f.child, nil
	}
	f.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

// dead returns how many processes have died.
func (f *family) dead() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deaths
}

// died counts the death of p, once, and returns how many there were.
func (f *family) died(p *child) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.child == p {
		f.child = nil
		f.deaths++
	}
	return f.deaths
}

// drop forgets a process that has ended, and does not count it as a death.
func (f *family) drop(p *child) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.child == p {
		f.child = nil
	}
}

// process returns the export's process, and starts one if none runs.
func (f *family) process(c *children) (*child, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.closed.Load() {
		return nil, context.Canceled
	}
	if f.child != nil {
		return f.child, nil
	}
	charge := c.charge
	charge.Alone = f.deaths > 0
	p, err := start(charge, c.log.With("job", f.job))
	if err != nil {
		return nil, admin.Errorf(admin.CodeTemporary, "the process of an export could not be started").Wrap(err)
	}
	f.child = p
	return p, nil
}

// start starts a process and sends it its charge.
func start(ch charge, log *slog.Logger) (*child, error) {
	cmd := exec.Command(ch.Program)
	cmd.Env = childEnv(os.Environ())
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &child{cmd: cmd, in: json.NewEncoder(in), end: in, gone: make(chan struct{}), calls: map[int]chan news{}}
	var read sync.WaitGroup
	read.Go(func() { p.listen(out) })
	read.Go(func() { p.relay(errs, log) })
	go func() {
		read.Wait() // before Wait, which closes the pipes
		_ = cmd.Wait()
		p.why = p.reason(ch.Memory)
		close(p.gone)
	}()
	p.tell(ch)
	return p, nil
}

// tell writes a line to the process. One that does not take it is gone, or ends.
func (p *child) tell(line any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in.Encode(line) != nil {
		_ = p.cmd.Process.Kill()
	}
}

func (p *child) kill() {
	_ = p.end.Close()
	_ = p.cmd.Process.Kill()
	<-p.gone
}

// lostError is the end of a process while it did a step; at is what it was
// working on.
type lostError struct{ at []string }

func (e *lostError) Error() string { return "the process ended at " + e.place() }

// place names what was worked on.
func (e *lostError) place() string {
	const shown = 3 // of those that were worked on at once
	if len(e.at) == 0 {
		return "the beginning of a step"
	}
	return strings.Join(e.at[max(0, len(e.at)-shown):], ", ")
}

// do has the process do a step. It returns a *lostError where it ended of it.
func (p *child) do(ctx context.Context, task string, input json.RawMessage) (news, error) {
	answer := make(chan news, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.calls[id] = answer
	p.mu.Unlock()
	p.tell(call{ID: id, Task: task, Input: input})
	stopped := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case n := <-answer:
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			return n, nil
		case <-p.gone:
			select {
			case n := <-answer: // its last word
				return n, nil
			default:
			}
			if ctx.Err() != nil {
				return news{}, ctx.Err()
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			return news{}, &lostError{slices.Clone(p.at)}
		case <-stopped:
			stopped = nil
			p.tell(call{ID: id, Stop: true})
			late = time.After(stopTime)
		case <-late:
			_ = p.cmd.Process.Kill() // which is not its own doing: ctx has ended
		}
	}
}

// listen reads what the process says, until it ends.
func (p *child) listen(out io.Reader) {
	lines := json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	for {
		var n news
		if lines.Decode(&n) != nil {
			_, _ = io.Copy(io.Discard, out)
			return
		}
		p.mu.Lock()
		switch {
		case n.Begun != "":
			p.at = append(p.at, n.Begun)
		case n.Ended != "":
			if i := slices.Index(p.at, n.Ended); i >= 0 {
				p.at = slices.Delete(p.at, i, i+1)
			}
		case p.calls[n.ID] != nil:
			p.calls[n.ID] <- n
			delete(p.calls, n.ID)
		}
		p.mu.Unlock()
	}
}

// relay passes on the log of the process, and keeps the beginning of what it
// says besides: of its end.
func (p *child) relay(errs io.Reader, log *slog.Logger) {
	const most = 4 << 10
	lines := bufio.NewScanner(errs)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record struct {
			Level slog.Level `json:"level"`
			Msg   string     `json:"msg"`
		}
		var attrs map[string]any
		if json.Unmarshal(lines.Bytes(), &record) == nil && json.Unmarshal(lines.Bytes(), &attrs) == nil && record.Msg != "" {
			var list []any
			for name, v := range attrs {
				if name != "time" && name != "level" && name != "msg" && name != "job" {
					list = append(list, slog.Any(name, v))
				}
			}
			log.Log(context.Background(), record.Level, record.Msg, list...)
			continue
		}
		p.mu.Lock()
		if p.said.Len() < most {
			p.said.WriteString(lines.Text() + "\n")
		}
		p.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, errs)
}

// reason says what ended the process, as far as it is known.
func (p *child) reason(memory uint64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	state, said := p.cmd.ProcessState, p.said.String()
	switch {
	case state.ExitCode() == island.ExitMemory || strings.Contains(said, "out of memory") || strings.Contains(said, "allocate memory"):
		return fmt.Sprintf("it took more than %d MiB of memory", memory>>20)
	case strings.Contains(said, "stack exceeds"):
		return "it nests too deep"
	}
	return "it ended with " + state.String()
}
