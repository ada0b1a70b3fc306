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
	// Owner returns whose an execution is: those of one owner take at most all
	// places but one, and of those who wait, the one with the fewest goes first.
	// nil treats all alike.
	Owner func(ctx context.Context, e store.Execution) string
	// Over is called after each execution of this process, however it ended.
	Over func(e store.Execution)
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
	r        *Runner
	opt      RunnerOptions
	machines map[string]*asl.Machine // by workflow
	tasks    map[string]asl.Task
	stop     context.CancelCauseFunc
	done     chan struct{} // closed when the loop and all executions are gone

	mu      sync.Mutex
	active  map[execution]context.CancelCauseFunc // running executions
	waiting map[execution]bool                    // those of them in a Wait state, which take no place
	owners  map[execution]string                  // of executions that run or wait
	ending  map[execution]*ending                 // executions whose end the database doesn't note as told yet
	wg      sync.WaitGroup
}

// execution is what an execution is known by.
type execution struct{ workflow, name string }

func keyOf(e store.Execution) execution { return execution{e.Workflow, e.Name} }

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
	machines, err := load(tasks, opt.RenderConcurrency)
	if err != nil {
		return err
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
		r: r, opt: opt, machines: machines, tasks: tasks, stop: stop, done: make(chan struct{}),
		active: map[execution]context.CancelCauseFunc{}, waiting: map[execution]bool{}, owners: map[execution]string{}, ending: map[execution]*ending{},
	}
	go r.work.loop(ctx)
	return nil
}

// load reads the definitions of the workflows that there are tasks for. Those of
// the export must be there; an agent has all of its own or none.
func load(tasks map[string]asl.Task, concurrency int) (map[string]*asl.Machine, error) {
	export, err := job.Definition(job.ByName, concurrency)
	if err != nil {
		return nil, err
	}
	agent, err := job.AgentDefinition(job.ByName)
	if err != nil {
		return nil, err
	}
	machines := map[string]*asl.Machine{}
	for workflow, definition := range map[string][]byte{store.WorkflowExport: export, store.WorkflowAgent: agent} {
		machine, err := asl.Load(definition)
		if err != nil {
			return nil, err
		}
		if workflow == store.WorkflowAgent && tasks[job.TaskAgentPrepare] == nil {
			continue
		}
		for _, name := range machine.Resources() {
			if tasks[name] == nil {
				return nil, fmt.Errorf("runner: no task %q", name)
			}
		}
		machines[workflow] = machine
	}
	return machines, nil
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
func (r *Runner) Start(ctx context.Context, workflow, name string, input []byte) error {
	switch {
	case !slices.Contains(store.Workflows(), workflow):
		return fmt.Errorf("start execution %s: %w", name, unknown(workflow))
	case !executionName.MatchString(name):
		return fmt.Errorf("start execution: the name %q is not 1 to 80 letters, digits, - and _", name)
	case len(input) > store.MaxStateBytes:
		return fmt.Errorf("start execution %s: %d bytes of input, at most %d: %w", name, len(input), store.MaxStateBytes, store.ErrTooLarge)
	case !json.Valid(input):
		return fmt.Errorf("start execution %s: the input is not JSON", name)
	}
	err := r.l.inTransaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO executions (workflow, name, input, state, started) VALUES (?, ?, ?, ?, ?)`,
			workflow, name, input, store.Running, r.l.now().UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("start execution %s: %w", name, err)
	}
	r.poke()
	return nil
}

func unknown(workflow string) error { return fmt.Errorf("there is no workflow %q", workflow) }

// Status implements store.Runner.
func (r *Runner) Status(ctx context.Context, workflow, name string) (store.Execution, error) {
	if !slices.Contains(store.Workflows(), workflow) {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, unknown(workflow))
	}
	e, err := scanExecution(r.l.reads.QueryRowContext(ctx,
		`SELECT `+executionColumns+` FROM executions WHERE workflow = ? AND name = ?`, workflow, name))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, store.ErrNotFound)
	}
	if err != nil {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, portError(ctx, err))
	}
	return e, nil
}

const executionColumns = "workflow, name, input, state, started, stopped, error, cause"

func scanExecution(row interface{ Scan(...any) error }) (store.Execution, error) {
	var (
		e                store.Execution
		started, stopped int64
	)
	if err := row.Scan(&e.Workflow, &e.Name, &e.Input, &e.State, &started, &stopped, &e.Error, &e.Cause); err != nil {
		return store.Execution{}, err
	}
	e.StartedAt = time.Unix(0, started).UTC()
	if stopped != 0 {
		e.StoppedAt = time.Unix(0, stopped).UTC()
	}
	return e, nil
}

// Stop implements store.Runner.
func (r *Runner) Stop(ctx context.Context, workflow, name, reason string) error {
	if !slices.Contains(store.Workflows(), workflow) {
		return fmt.Errorf("stop execution %s: %w", name, unknown(workflow))
	}
	_, err := r.end(ctx, store.Execution{Workflow: workflow, Name: name, State: store.Aborted, Cause: reason})
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
			`UPDATE executions SET state = ?, stopped = ?, error = ?, cause = ?, told = ? WHERE workflow = ? AND name = ? AND state = ?`,
			e.State, r.l.now().UnixNano(), e.Error, e.Cause, e.State == store.Succeeded, e.Workflow, e.Name, store.Running)
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
		`SELECT `+executionColumns+` FROM executions WHERE told = 0 ORDER BY started, name`)
	if err != nil {
		return err
	}
	running := map[execution]bool{}
	var list []store.Execution
	err = eachRow(rows, func() error {
		e, err := scanExecution(rows)
		if err != nil {
			return err
		}
		_, active := w.active[keyOf(e)]
		switch {
		case e.State == store.Running:
			running[keyOf(e)] = true
			if !active {
				list = append(list, e)
			}
		case !active: // its steps are done stopping
			w.tell(ctx, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, cancel := range w.active {
		if !running[key] {
			cancel(errStopped)
		}
	}
	for key := range w.owners {
		if _, active := w.active[key]; !active && !running[key] {
			delete(w.owners, key)
		}
	}
	w.beginNext(ctx, list)
	return nil
}

// beginNext begins what waits, oldest first, as far as there are places; an
// owner with fewer running executions goes first, and none takes the last place
// beside others of its own: a short export never waits for one owner's long
// ones. The caller holds w.mu.
func (w *work) beginNext(ctx context.Context, list []store.Execution) {
	owner := func(e store.Execution) string {
		o, known := w.owners[keyOf(e)]
		if !known && w.opt.Owner != nil {
			o = w.opt.Owner(ctx, e)
			w.owners[keyOf(e)] = o
		}
		return o
	}
	runs := map[string]int{}
	if w.opt.Owner != nil {
		for key := range w.active {
			if !w.waiting[key] {
				runs[w.owners[key]]++ // it was asked for when the execution began
			}
		}
	}
	for w.free() && len(list) > 0 {
		next := 0
		if w.opt.Owner != nil {
			for i := range list {
				if runs[owner(list[i])] < runs[owner(list[next])] {
					next = i
				}
			}
			runs[owner(list[next])]++
			if w.opt.MaxExecutions > 1 && runs[owner(list[next])] == w.opt.MaxExecutions {
				return
			}
		}
		w.begin(ctx, list[next])
		list = slices.Delete(list, next, next+1)
	}
}

// free reports whether another execution may run. The caller holds w.mu.
func (w *work) free() bool { return len(w.active)-len(w.waiting) < w.opt.MaxExecutions }

// wait is the Wait state of an execution, which gives its place away until then, and
// takes one again afterwards.
func (w *work) wait(ctx context.Context, key execution, until time.Time) error {
	w.mu.Lock()
	w.waiting[key] = true
	w.mu.Unlock()
	w.r.poke()
	err := asl.Sleep(ctx, until.Sub(w.r.l.now()))
	for err == nil {
		w.mu.Lock()
		free := w.free()
		if free {
			delete(w.waiting, key)
		}
		w.mu.Unlock()
		if free {
			return nil
		}
		err = asl.Sleep(ctx, w.opt.Poll)
	}
	return err
}

// begin runs an execution. The caller holds w.mu.
func (w *work) begin(ctx context.Context, e store.Execution) {
	ctx, cancel := context.WithCancelCause(ctx)
	w.active[keyOf(e)] = cancel
	w.wg.Go(func() {
		defer cancel(nil)
		w.execute(ctx, e)
		if w.opt.Over != nil {
			w.opt.Over(e)
		}
		w.mu.Lock()
		delete(w.active, keyOf(e))
		delete(w.waiting, keyOf(e))
		w.mu.Unlock()
		w.r.poke()
	})
}

// execute runs the machine and writes down how it ended.
func (w *work) execute(ctx context.Context, e store.Execution) {
	log := w.opt.Log.With("execution", e.Name)
	log.Info("execution begins")
	begin := time.Now()
	var err error
	if machine := w.machines[e.Workflow]; machine == nil {
		err = fmt.Errorf("this process has no steps of the workflow %s", e.Workflow)
	} else {
		_, err = machine.Run(ctx, e.Name, json.RawMessage(e.Input), asl.Options{
			Tasks: w.tasks, Log: w.opt.Log, Sleep: w.opt.Sleep,
			Wait: func(ctx context.Context, until time.Time) error { return w.wait(ctx, keyOf(e), until) },
		})
	}
	e.State = store.Succeeded
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
	end := w.ending[keyOf(e)]
	if end == nil {
		end = &ending{}
		w.ending[keyOf(e)] = end
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
			noted = w.noteTold(ctx, e)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if end.busy = false; noted {
			delete(w.ending, keyOf(e))
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
func (w *work) noteTold(ctx context.Context, e store.Execution) bool {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := w.r.l.inTransaction(write, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(write, `UPDATE executions SET told = 1 WHERE workflow = ? AND name = ?`, e.Workflow, e.Name)
		return err
	})
	if err != nil {
		w.opt.Log.Error("could not note that the end of an execution was reported", "execution", e.Name, "error", err)
	}
	return err == nil
}
