package island

import (
	"bufio"
	"cmp"
	_ "embed" // for runtime.js
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

//go:embed runtime.js
var runtimeScript string

// runtimeProgram is what all scripts need, compiled once.
var runtimeProgram = sync.OnceValue(func() *goja.Program {
	p, err := counted("runtime.js", runtimeScript, nameTurn)
	if err != nil {
		panic(err) // it is ours
	}
	return p
})

// Limits of one rendering.
const (
	// maxCalls is the deepest chain of calls.
	maxCalls = 2000
	// maxMemory is the limit of resident memory in bytes. It catches what no other
	// limit counts.
	maxMemory = 1280 << 20
	// maxShown bounds what a component shows, as JSON.
	maxShown = 4 << 20
	// maxStack bounds the stack of parsers, which call themselves for each level
	// of a script.
	maxStack = 64 << 20
	// watchEvery is how often the process looks at what it has used.
	watchEvery = 50 * time.Millisecond
)

// request is the line that a piece of work begins with.
type request struct {
	Sources    []Source `json:"sources"`
	Components []string `json:"components"`
	// Start asks for the script of readers, and stands in it; without it the
	// only source is shown.
	Start json.RawMessage `json:"start,omitempty"`
}

// answer is a line that the process writes: a question about a file, answered by
// a line, or the last one of a piece of work.
type answer struct {
	Need *need `json:"need,omitempty"`
	// Fault is the author's; Failure is ours.
	Fault   *Error `json:"fault,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Shown is what $show gave, Steps the work that it took.
	Shown string `json:"shown,omitempty"`
	Steps int    `json:"steps,omitempty"`
	// Script and Words are for readers.
	Script []byte   `json:"script,omitempty"`
	Words  []string `json:"words,omitempty"`
}

// need asks whether the site has a file, and with Read for what it holds.
type need struct {
	Name string `json:"name"`
	Read bool   `json:"read,omitempty"`
}

// content answers it.
type content struct {
	Is    bool   `json:"is,omitempty"`
	Large bool   `json:"large,omitempty"` // more than maxSource
	Text  string `json:"text,omitempty"`
}

// outcome is what became of a script that was run.
type outcome struct {
	shown string
	steps int
	err   string
	limit bool
	// frames are the places in the script that the error came from.
	frames []frame
}

type frame struct {
	fn           string
	line, column int
	apart        bool // in the source's own script
}

// ExitMemory is the exit code of a process that LimitMemory ended.
const ExitMemory = 3

// Other exit codes of a process that ended itself: where Go ends it, because its
// Engine is gone, and for its time.
const (
	exitGo    = 2
	exitAlone = 4
	exitTime  = 5
)

// marker is the variable of the environment that makes a program a worker.
const marker = "BINDERY_ISLAND_WORKER"

// IsWorker reports whether this process was started by an Engine. A program that
// gives an Engine itself to start must ask before it does anything else, and
// call Work.
func IsWorker(getenv func(string) string) bool { return getenv(marker) != "" }

// Work serves an Engine on the process's own streams until they end, and
// returns an exit code.
func Work(in io.Reader, out io.Writer) int {
	// The engine's dates are in the machine's time zone, which no bundle may
	// tell.
	time.Local = time.UTC
	// A script that nests deeper than this ends the process; no parser bounds
	// it itself.
	debug.SetMaxStack(maxStack)
	var deadline atomic.Int64
	// Each source leaves a machine behind; LimitMemory bounds what is not collected.
	debug.SetGCPercent(400)
	limitMemory(2 * maxMemory) // collected memory stays mapped, and a script is not to blame
	limit(maxMemory, &deadline)
	if err := work(in, out, &deadline); err != nil {
		fmt.Fprintln(os.Stderr, "island:", err)
		return 1
	}
	return 0
}

// LimitMemory ends this process with the code ExitMemory once its resident memory
// is more than most bytes, or has Go or the system end it. It is for processes that
// do what others ask for. Call it once.
func LimitMemory(most uint64) {
	// Go maps more memory in an instant than a look now and then would see. The
	// rest is for the program's own pages, which the system counts elsewhere.
	limitMemory(most - most/32)
	limit(most, new(atomic.Int64))
}

func limit(most uint64, deadline *atomic.Int64) {
	// Garbage of earlier work is collected before the guard is near.
	debug.SetMemoryLimit(int64(most) * 3 / 4)
	go watch(most, deadline)
}

// watch ends the process when it has used the processor for longer than until
// the deadline, 0 for none, or when more than most bytes of it are resident.
func watch(most uint64, deadline *atomic.Int64) {
	for range time.Tick(watchEvery) {
		if at := deadline.Load(); at > 0 && int64(processorTime()) > at {
			os.Exit(exitTime)
		}
		if resident() > most {
			// What is garbage or not used now goes back to the system.
			if debug.FreeOSMemory(); resident() > most {
				os.Exit(ExitMemory)
			}
		}
	}
}

// mapped is how much memory Go has of the system now: about what is resident.
func mapped() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

// work does one piece of work after another. When the Engine goes away, the
// process must end at once, whatever a script is doing: so its lines are read
// meanwhile.
func work(in io.Reader, out io.Writer, deadline *atomic.Int64) error {
	lines := make(chan []byte)
	var busy atomic.Bool
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 1<<16)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				if busy.Load() {
					os.Exit(exitAlone)
				}
				return
			}
			busy.Store(true)
			lines <- line
		}
	}()
	site := &askedFiles{lines: lines, out: json.NewEncoder(out)}
	kept := libraries{kept: map[string]*library{}, scripts: scripts{}}
	for line := range lines {
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		deadline.Store(int64(processorTime() + maxCPU))
		a := kept.perform(site, r)
		deadline.Store(0)
		busy.Store(false)
		if err := site.out.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// askedFiles asks the Engine for the site's files, and remembers what there is
// during one piece of work.
type askedFiles struct {
	mu    sync.Mutex // esbuild reads files at the same time
	lines <-chan []byte
	out   *json.Encoder
}

func (s *askedFiles) ask(n need) (content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.out.Encode(answer{Need: &n}); err != nil {
		return content{}, errors.New("it can't be read")
	}
	var f content
	line, ok := <-s.lines
	if !ok || json.Unmarshal(line, &f) != nil {
		return content{}, errors.New("it can't be read")
	}
	return f, nil
}

func (s *askedFiles) has(name string) bool {
	f, err := s.ask(need{Name: name})
	return err == nil && f.Is
}

func (s *askedFiles) read(name string) (string, error) {
	f, err := s.ask(need{Name: name, Read: true})
	switch {
	case err != nil:
		return "", err
	case !f.Is:
		return "", fmt.Errorf("there is no file %s", name)
	case f.Large:
		return "", fmt.Errorf("the file has more than %d MiB", maxSource>>20)
	}
	return f.Text, nil
}

// perform does one piece of work.
func (l *libraries) perform(site files, r request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Failure: fmt.Sprintf("a fault: %v", p)}
		}
	}()
	if len(r.Sources) == 0 {
		return answer{Failure: "there is no source"}
	}
	first := r.Sources[0]
	if r.Start == nil && first.Number >= apartFrom {
		if a, ok := l.show(site, first, r.Components); ok {
			return a
		}
	}
	script, sourceMap, without, err := bundle(site, r.Sources, r.Start != nil)
	if err != nil {
		var fault *Error
		if !errors.As(err, &fault) {
			return answer{Failure: err.Error()}
		}
		return answer{Fault: fault}
	}
	names := builtins(script, r.Components)
	if r.Start != nil {
		a.Script = fmt.Appendf(nil, "(function($react){%s%s$react.start($islands.default,%s)})(BinderyIslands);\n", names, script, r.Start)
		a.Words = classWords(script)
		return a
	}
	program, err := counted("island.js", names+string(script), nameStep)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return answer{Fault: &Error{Message: "the engine can't read it: " + message, File: first.File, Line: first.Line}}
	}
	o := run(l.scripts, first, "$islands.default[0]", program)
	if o.err != "" {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(o.err, "ReferenceError: "), " is not defined"); ok {
			for _, w := range without {
				if strings.Contains(w.text, name) {
					return answer{Fault: w.fault}
				}
			}
		}
		return answer{Fault: located(o, first, sourceMap, nil)}
	}
	a.Shown, a.Steps = o.shown, o.steps
	return a
}

// show shows a source without reading its imports again. ok is false if the source must be
// read together with them.
func (l *libraries) show(site files, s Source, components []string) (a answer, ok bool) {
	names, ok := bound(s)
	if !ok {
		return answer{}, false
	}
	lib := l.of(site, s, components, names)
	if lib == nil {
		return answer{}, false
	}
	script, sourceMap, ok := apart(s, names)
	if !ok {
		return answer{}, false
	}
	program, err := counted(apartName, builtins(script, components)+string(script), nameStep)
	if err != nil {
		return answer{}, false
	}
	o := run(l.scripts, s, "$apart.show", lib.program, program)
	if o.err != "" {
		return answer{Fault: located(o, s, lib.sourceMap, sourceMap)}, true
	}
	return answer{Shown: o.shown, Steps: o.steps}, true
}

// run shows what a function of programs shows, in a machine of its own.
func run(compiled scripts, s Source, function string, programs ...*goja.Program) (o outcome) {
	vm := goja.New()
	m := newMeter(vm, compiled)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *stopped:
			o = outcome{err: p.reason.Error(), steps: m.work(), limit: p.reason != errTries, frames: p.frames}
		default:
			o = outcome{err: "it ends in a way that the engine does not know", limit: true}
		}
	}()
	vm.SetMaxCallStackSize(maxCalls)
	vm.SetTimeSource(func() time.Time { return time.Unix(0, 0).UTC() })
	seed := uint64(1)
	vm.SetRandSource(func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	})
	fail := func(err error) outcome {
		o := outcome{err: err.Error(), steps: m.work()}
		var thrown *goja.Exception
		var endless *goja.StackOverflowError
		switch {
		case errors.As(err, &endless):
			o.err = "its calls lead to themselves without an end"
			o.frames = framesOf(endless.Stack())
		case errors.As(err, &thrown):
			o.err = thrown.Value().String()
			if t, ok := thrown.Value().(*goja.Object); ok {
				if m := t.Get("message"); m != nil && t.Get("name") != nil {
					o.err = t.Get("name").String() + ": " + m.String()
				}
			}
			o.frames = framesOf(thrown.Stack())
		}
		const most = 500
		if len(o.err) > most {
			o.err = strings.ToValidUTF8(o.err[:most], "") + "…"
		}
		o.err = cmp.Or(o.err, "it ends with an error")
		return o
	}
	global := vm.GlobalObject()
	quiet := func() {}
	nothing := func(goja.FunctionCall) goja.Value { return goja.Undefined() }
	if err := errors.Join(
		global.Set("console", map[string]func(){"log": quiet, "info": quiet, "debug": quiet, "warn": quiet, "error": quiet}),
		global.Set("setTimeout", func() int { return 0 }),
		global.Set("clearTimeout", nothing),
		global.Set("setInterval", func() int { return 0 }),
		global.Set("clearInterval", nothing),
		global.Set("queueMicrotask", nothing),
	); err != nil {
		return fail(err)
	}
	if err := m.install(); err != nil {
		return fail(err)
	}
	for _, p := range append([]*goja.Program{runtimeProgram()}, programs...) {
		if _, err := vm.RunProgram(p); err != nil {
			return fail(err)
		}
	}
	v, err := vm.RunString("$show(" + function + ", " + cmp.Or(s.Props, "{}") + ", " + strconv.Itoa(s.Number) + ")")
	if err != nil {
		return fail(err)
	}
	shown := v.String()
	if len(shown) > maxShown {
		return outcome{err: fmt.Sprintf("it shows more than %d MiB", maxShown>>20), limit: true}
	}
	return outcome{shown: shown, steps: m.work()}
}

func framesOf(stack []goja.StackFrame) []frame {
	var out []frame
	for _, f := range stack {
		apart := f.SrcName() == apartName
		if at := f.Position(); (f.SrcName() == "island.js" || apart) && at.Line > 0 && len(out) < 10 {
			out = append(out, frame{f.FuncName(), at.Line, at.Column, apart})
		}
	}
	return out
}
