package local

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Runner is store.Runner on the interpreter of package asl. Executions are
// rows of the database: any process may start, stop and ask about them. The
// one process that has called Resume runs them, in goroutines; what it has not
// finished when it ends, however it ends, the next one begins again.
type Runner struct {
	l    *Local
	wake chan struct{}

	mu     sync.Mutex
	work   *work // nil until Resume
	closed bool
}

var _ store.Runner = (*Runner)(nil)

// RunnerOptions say how executions run.
type RunnerOptions struct {
	// RenderConcurrency is how many shards of one export are rendered at once;
	// default: one for each processor.
	RenderConcurrency int
	// MaxExecutions is how many executions run at once, default 4; further
	// ones wait, oldest first.
	MaxExecutions int
	// OnEnd is called once for each execution that ended other than as
	// Succeeded: again only after an error, a few times, or when the process
	// died before it could note the call. It is the twin of the event rule in
	// the cloud.
	OnEnd func(ctx context.Context, e store.Execution) error
	// Owner names whose an execution is: those of one owner take at most all
	// places but one, and of those who wait, the one with the fewest goes first.
	// nil treats all alike.
	Owner func(ctx context.Context, name string) string
	// Over is called after each execution of this process, however it ended.
	Over func(name string)
	// Poll is how often the database is asked for executions that other
	// processes started or stopped; default 1 s.
	Poll time.Duration
	// Sleep waits between retries of a step, and of writing down how an
	// execution ended; default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Log takes the log of executions; default: that of the Local.
	Log *slog.Logger
}

// Runner returns the executions. It runs none before Resume.
func (l *Local) Runner() *Runner { return l.runner }

// work is the state of a Runner that runs executions.
type work struct {
	r       *Runner
	opt     RunnerOptions
	machine *asl.Machine
	tasks   map[string]asl.Task
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when the loop and all executions are gone

	mu     sync.Mutex
	active map[string]context.CancelCauseFunc // running executions
	owners map[string]string                  // of executions that run or wait
	ending map[string]*ending                 // executions whose end the database doesn't note as told yet
	wg     sync.WaitGroup
}

// ending is the state of reporting one execution's end to OnEnd.
type ending struct {
	busy     bool // a goroutine is at it
	failures int  // how often OnEnd returned an error
	settled  bool // OnEnd need not be called again, only the note is missing
}

var (
	errDraining = errors.New("the process is ending")
	errStopped  = errors.New("the execution was stopped")
)

// tellAttempts is the number of failed calls of OnEnd for one execution after
// which only the log has its end; the reconciler ends the job then.
const tellAttempts = 5

// Resume takes the folder's lock (ErrLocked when another process has it) and
// runs executions from now on, on tasks by their names in package job: those
// that were left running, from their beginning, and all that are started. It
// returns at once; executions run until ctx ends or Close. Those that are not
// done by then stay RUNNING.
func (r *Runner) Resume(ctx context.Context, tasks map[string]asl.Task, opt RunnerOptions) error {
	opt.RenderConcurrency = cmp.Or(opt.RenderConcurrency, runtime.GOMAXPROCS(0))
	opt.MaxExecutions = cmp.Or(opt.MaxExecutions, 4)
	opt.Poll = cmp.Or(opt.Poll, time.Second)
	opt.Log = cmp.Or(opt.Log, r.l.log)
	if opt.Sleep == nil {
		opt.Sleep = asl.Sleep
	}
	definition, err := job.Definition(job.ByName, opt.RenderConcurrency)
	if err != nil {
		return err
	}
	machine, err := asl.Load(definition)
	if err != nil {
		return err
	}
	for _, name := range machine.Resources() {
		if tasks[name] == nil {
			return fmt.Errorf("runner: no task %q", name)
		}
	}
	if err := r.l.Lock(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.work != nil {
		return errors.New("runner: already running, or closed")
	}
	ctx, stop := context.WithCancelCause(ctx)
	r.work = &work{
		r: r, opt: opt, machine: machine, tasks: tasks, stop: stop, done: make(chan struct{}),
		active: map[string]context.CancelCauseFunc{}, owners: map[string]string{}, ending: map[string]*ending{},
	}
	go r.work.loop(ctx)
	return nil
}

// Close ends running executions without a result, so that the next process begins
// them again, and waits for them. It returns an error if ctx ends before they do.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	w := r.work
	r.mu.Unlock()
	if w == nil {
		return nil
	}
	w.stop(errDraining)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("runner: executions are still ending: %w", ctx.Err())
	}
}

var executionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// Start implements store.Runner. Names are those that Step Functions takes:
// up to 80 letters, digits, "-" and "_".
// Other names and input that is not JSON are errors, larger input is
// store.ErrTooLarge.
func (r *Runner) Start(ctx context.Context, name string, input []byte) error {
	switch {
	case !executionName.MatchString(name):
		return fmt.Errorf("start execution: the name %q is not 1 to 80 letters, digits, - and _", name)
	case len(input) > store.MaxStateBytes:
		return fmt.Errorf("start execution %s: %d bytes of input, at most %d: %w", name, len(input), store.MaxStateBytes, store.ErrTooLarge)
	case !json.Valid(input):
		return fmt.Errorf("start execution %s: the input is not JSON", name)
	}
	err := r.l.inTransaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO executions (name, input, state, started) VALUES (?, ?, ?, ?)`,
			name, input, store.Running, r.l.now().UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("start execution %s: %w", name, err)
	}
	r.poke()
	return nil
}

// Status implements store.Runner.
func (r *Runner) Status(ctx context.Context, name string) (store.Execution, error) {
	e, err := scanExecution(r.l.reads.QueryRowContext(ctx,
		`SELECT name, state, started, stopped, error, cause FROM executions WHERE name = ?`, name))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, store.ErrNotFound)
	}
	if err != nil {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, portError(ctx, err))
	}
	return e, nil
}

func scanExecution(row interface{ Scan(...any) error }) (store.Execution, error) {
	var (
		e                store.Execution
		started, stopped int64
	)
	if err := row.Scan(&e.Name, &e.State, &started, &stopped, &e.Error, &e.Cause); err != nil {
		return store.Execution{}, err
	}
	e.StartedAt = time.Unix(0, started).UTC()
	if stopped != 0 {
		e.StoppedAt = time.Unix(0, stopped).UTC()
	}
	return e, nil
}

// Stop implements store.Runner.
func (r *Runner) Stop(ctx context.Context, name, reason string) error {
	_, err := r.end(ctx, store.Execution{Name: name, State: store.Aborted, Cause: reason})
	if err != nil {
		return fmt.Errorf("stop execution %s: %w", name, err)
	}
	r.poke()
	return nil
}

// end sets the final state of a running execution, and reports whether it was
// running still: whoever comes first decides.
func (r *Runner) end(ctx context.Context, e store.Execution) (bool, error) {
	var changed bool
	err := r.l.inTransaction(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx,
			`UPDATE executions SET state = ?, stopped = ?, error = ?, cause = ?, told = ? WHERE name = ? AND state = ?`,
			e.State, r.l.now().UnixNano(), e.Error, e.Cause, e.State == store.Succeeded, e.Name, store.Running)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// poke makes the loop look immediately.
func (r *Runner) poke() {
	select {
	case r.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

// loop looks for work until ctx ends.
func (w *work) loop(ctx context.Context) {
	defer close(w.done)
	defer w.wg.Wait()
	tick := time.NewTicker(w.opt.Poll)
	defer tick.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.opt.Log.Error("could not read executions", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.r.wake:
		}
	}
}

// look begins what is to run, cancels what was stopped, and reports ends.
func (w *work) look(ctx context.Context) error {
	// The rows are read under the lock: an execution leaves active or ending
	// after its row is written, so rows read earlier would make it begin, or
	// its end be reported, twice.
	w.mu.Lock()
	defer w.mu.Unlock()
	rows, err := w.r.l.reads.QueryContext(ctx,
		`SELECT name, state, started, stopped, error, cause, input FROM executions WHERE told = 0 ORDER BY started, name`)
	if err != nil {
		return err
	}
	running := map[string]bool{}
	var list []waiting
	err = eachRow(rows, func() error {
		var input []byte
		e, err := scanExecution(scanFunc(func(dest ...any) error { return rows.Scan(append(dest, &input)...) }))
		if err != nil {
			return err
		}
		_, active := w.active[e.Name]
		switch {
		case e.State == store.Running:
			running[e.Name] = true
			if !active {
				list = append(list, waiting{e, input})
			}
		case !active: // its steps are done stopping
			w.tell(ctx, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, cancel := range w.active {
		if !running[name] {
			cancel(errStopped)
		}
	}
	for name := range w.owners {
		if _, active := w.active[name]; !active && !running[name] {
			delete(w.owners, name)
		}
	}
	w.beginNext(ctx, list)
	return nil
}

// waiting is an execution that has not begun.
type waiting struct {
	store.Execution
	input []byte
}

// beginNext begins what waits, oldest first, as far as there are places; an
// owner with fewer running executions goes first, and none takes the last place
// beside others of its own: a short export never waits for one owner's long
// ones. The caller holds w.mu.
func (w *work) beginNext(ctx context.Context, list []waiting) {
	owner := func(name string) string {
		o, known := w.owners[name]
		if !known && w.opt.Owner != nil {
			o = w.opt.Owner(ctx, name)
			w.owners[name] = o
		}
		return o
	}
	runs := map[string]int{}
	if w.opt.Owner != nil {
		for name := range w.active {
			runs[owner(name)]++
		}
	}
	for len(w.active) < w.opt.MaxExecutions && len(list) > 0 {
		next := 0
		if w.opt.Owner != nil {
			for i := range list {
				if runs[owner(list[i].Name)] < runs[owner(list[next].Name)] {
					next = i
				}
			}
			runs[owner(list[next].Name)]++
			if w.opt.MaxExecutions > 1 && runs[owner(list[next].Name)] == w.opt.MaxExecutions {
				return
			}
		}
		w.begin(ctx, list[next].Execution, list[next].input)
		list = slices.Delete(list, next, next+1)
	}
}

// scanFunc is a row that scans as it likes.
type scanFunc func(...any) error

func (f scanFunc) Scan(dest ...any) error { return f(dest...) }

// begin runs an execution. The caller holds w.mu.
func (w *work) begin(ctx context.Context, e store.Execution, input []byte) {
	ctx, cancel := context.WithCancelCause(ctx)
	w.active[e.Name] = cancel
	w.wg.Go(func() {
		defer cancel(nil)
		w.execute(ctx, e.Name, input)
		if w.opt.Over != nil {
			w.opt.Over(e.Name)
		}
		w.mu.Lock()
		delete(w.active, e.Name)
		w.mu.Unlock()
		w.r.poke()
	})
}

// execute runs the machine and writes down how it ended.
func (w *work) execute(ctx context.Context, name string, input []byte) {
	log := w.opt.Log.With("execution", name)
	log.Info("execution begins")
	begin := time.Now()
	_, err := w.machine.Run(ctx, name, input, asl.Options{Tasks: w.tasks, Log: w.opt.Log, Sleep: w.opt.Sleep})
	e := store.Execution{Name: name, State: store.Succeeded}
	var failed *asl.Error
	switch {
	case err == nil:
	case errors.Is(err, errStopped):
		log.Info("execution stopped", "after", time.Since(begin))
		return
	case ctx.Err() != nil:
		log.Info("execution left for the next start", "after", time.Since(begin))
		return
	case errors.As(err, &failed):
		e.State, e.Error, e.Cause = store.Failed, failed.Name, failed.Cause
		if failed.TimedOut {
			e.State = store.TimedOut
		}
	default:
		e.State, e.Error, e.Cause = store.Failed, asl.ErrorRuntime, err.Error()
	}
	// What happened is written down even when the process is about to end.
	// Where that fails, the disk being full or gone, it is tried until it does
	// not: the work is not begun again. A process that ends before leaves the
	// execution RUNNING, for the next one to begin again.
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		_, err := w.r.end(write, e)
		cancel()
		if err == nil {
			log.Info("execution ended", "state", e.State, "error", e.Error, "after", time.Since(begin))
			return
		}
		log.Error("could not record how an execution ended", "state", e.State, "error", err)
		if w.opt.Sleep(ctx, pause) != nil {
			return
		}
	}
}

// tell calls OnEnd, and notes that it need not be called again. The caller
// holds w.mu.
func (w *work) tell(ctx context.Context, e store.Execution) {
	end := w.ending[e.Name]
	if end == nil {
		end = &ending{}
		w.ending[e.Name] = end
	}
	if end.busy {
		return
	}
	end.busy = true
	w.wg.Go(func() {
		if !end.settled {
			end.settled = w.callOnEnd(ctx, e, end)
		}
		noted := false
		if end.settled {
			noted = w.noteTold(ctx, e.Name)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if end.busy = false; noted {
			delete(w.ending, e.Name)
		}
	})
}

// callOnEnd reports whether OnEnd need not be called again for an execution.
func (w *work) callOnEnd(ctx context.Context, e store.Execution, end *ending) bool {
	if w.opt.OnEnd == nil {
		return true
	}
	err := w.opt.OnEnd(ctx, e)
	if err == nil {
		return true
	}
	end.failures++
	w.opt.Log.Error("could not report the end of an execution", "execution", e.Name, "attempt", end.failures, "error", err)
	return end.failures >= tellAttempts
}

// noteTold writes down that OnEnd need not be called again, even when the
// process is about to end: the next one would report the same end once more.
// It reports whether the note is written.
func (w *work) noteTold(ctx context.Context, name string) bool {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := w.r.l.inTransaction(write, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(write, `UPDATE executions SET told = 1 WHERE name = ?`, name)
		return err
	})
	if err != nil {
		w.opt.Log.Error("could not note that the end of an execution was reported", "execution", name, "error", err)
	}
	return err == nil
}
