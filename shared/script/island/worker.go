package island

import (
	"bufio"
	_ "embed" // for runtime.js
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/dop251/goja"
)

//go:embed runtime.js
var runtime string

// Limits of one rendering.
const (
	// maxSteps bounds calls and turns of loops: some seconds' work.
	maxSteps = 2_000_000
	// maxCalls is the deepest chain of calls.
	maxCalls = 2000
	// maxMemory is what the process may hold. The engine can't bound it, so the
	// process looks often and ends itself.
	maxMemory = 256 << 20
	// maxShown bounds what a component shows, as JSON.
	maxShown = 4 << 20
	// maxRequest bounds a request's line.
	maxRequest = 2*maxScript + (8 << 20)
	// watchEvery is how often the memory is looked at.
	watchEvery = 2 * time.Millisecond
)

// request is one line that the process reads.
type request struct {
	Script string `json:"script"`
	Props  string `json:"props"`
}

// answer is one line that it writes.
type answer struct {
	// Shown is what $show gave; "" when there is an error.
	Shown string `json:"shown,omitempty"`
	Error string `json:"error,omitempty"`
	// Frames are the places in the script that the error came from.
	Frames []frame `json:"frames,omitempty"`
}

type frame struct {
	Func   string `json:"func,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// exitMemory is the exit code of a process that ended itself for its memory.
const exitMemory = 3

// marker is the variable of the environment that makes a program a worker.
const marker = "BINDERY_ISLAND_WORKER"

// IsWorker tells whether this process was started by an Engine. A program that
// gives an Engine itself to start must ask before it does anything else, and
// call Work.
func IsWorker(getenv func(string) string) bool { return getenv(marker) != "" }

// Work serves an Engine on the process's own streams until they end, and
// returns an exit code.
func Work(in io.Reader, out io.Writer) int {
	// Garbage of earlier work is collected before the bound is near: what one
	// page may have doesn't depend on those before it.
	debug.SetMemoryLimit(maxMemory / 2)
	go watch()
	if err := work(in, out); err != nil {
		fmt.Fprintln(os.Stderr, "island:", err)
		return 1
	}
	return 0
}

// watch ends the process when it holds too much. One allocation of the engine
// may be many times that; the system grants it, and this sees it.
func watch() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	holds := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	for range time.Tick(watchEvery) {
		if n := holds(); n > 2*maxMemory {
			os.Exit(exitMemory)
		} else if n > maxMemory {
			if goruntime.GC(); holds() > maxMemory {
				os.Exit(exitMemory)
			}
		}
	}
}

func work(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	enc := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(line) > maxRequest {
			return errors.New("the request is too long")
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if err := enc.Encode(perform(r)); err != nil {
			return err
		}
	}
}

var errSteps = errors.New("it does more work than a page may")

// perform shows what a script shows, in a machine of its own.
func perform(r request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Error: fmt.Sprintf("the engine met a fault: %v", p)}
		}
	}()
	vm := goja.New()
	vm.SetMaxCallStackSize(maxCalls)
	vm.SetTimeSource(func() time.Time { return time.Unix(0, 0).UTC() })
	seed := uint64(1)
	vm.SetRandSource(func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	})
	fail := func(err error) answer {
		a := answer{Error: err.Error()}
		var stopped *goja.InterruptedError
		var thrown *goja.Exception
		var endless *goja.StackOverflowError
		switch {
		case errors.As(err, &stopped):
			if cause, ok := stopped.Value().(error); ok {
				a.Error = cause.Error()
			}
			a.Frames = framesOf(stopped.Stack())
		case errors.As(err, &endless):
			a.Error = "its calls lead to themselves without an end"
			a.Frames = framesOf(endless.Stack())
		case errors.As(err, &thrown):
			a.Error = thrown.Value().String()
			if o, ok := thrown.Value().(*goja.Object); ok {
				if m := o.Get("message"); m != nil && o.Get("name") != nil {
					a.Error = o.Get("name").String() + ": " + m.String()
				}
			}
			a.Frames = framesOf(thrown.Stack())
		}
		const most = 500
		if len(a.Error) > most {
			a.Error = strings.ToValidUTF8(a.Error[:most], "") + "…"
		}
		return a
	}
	steps := 0
	global := vm.GlobalObject()
	quiet := func() {}
	if err := errors.Join(
		global.Set("$t", func() {
			if steps++; steps == maxSteps {
				vm.Interrupt(errSteps)
			}
		}),
		global.Set("console", map[string]func(){"log": quiet, "info": quiet, "debug": quiet, "warn": quiet, "error": quiet}),
		global.Set("setTimeout", func() int { return 0 }),
		global.Set("clearTimeout", quiet),
		global.Set("setInterval", func() int { return 0 }),
		global.Set("clearInterval", quiet),
		global.Set("queueMicrotask", quiet),
	); err != nil {
		return fail(err)
	}
	if _, err := vm.RunScript("runtime.js", runtime); err != nil {
		return fail(err)
	}
	if _, err := vm.RunScript("island.js", r.Script); err != nil {
		return fail(err)
	}
	v, err := vm.RunString("$show($islands.default[0], " + r.Props + ")")
	if err != nil {
		return fail(err)
	}
	shown := v.String()
	if len(shown) > maxShown {
		return answer{Error: fmt.Sprintf("it shows more than %d MiB", maxShown>>20)}
	}
	return answer{Shown: shown}
}

func framesOf(stack []goja.StackFrame) []frame {
	var out []frame
	for _, f := range stack {
		if at := f.Position(); f.SrcName() == "island.js" && at.Line > 0 && len(out) < 10 {
			out = append(out, frame{f.FuncName(), at.Line, at.Column})
		}
	}
	return out
}
