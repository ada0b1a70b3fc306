package island

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Reading a stranger's script is as much of a risk as running it: what ends the
// process of a parser ends none that serves others.
func TestHostileSource(t *testing.T) {
	const size = 1 << 19
	doubling := []string{"enum A { a0 = 'xxxxxxxxxxxxxxxx',\n"}
	for i := 1; i < 40; i++ {
		doubling = append(doubling, fmt.Sprintf("a%d = a%d + a%d,\n", i, i-1, i-1))
	}
	e := newEngine(t, patient)
	for name, source := range map[string]string{
		"brackets":          "export const x = " + strings.Repeat("[", size) + strings.Repeat("]", size-100),
		"unary operators":   "export const x = " + strings.Repeat("!", 2*size-100) + "1",
		"functions":         "export const x = " + strings.Repeat("a=>", size/2) + "1",
		"statements":        strings.Repeat("if(y)", size/3) + ";export const x = 1",
		"calls":             "export const x = y" + strings.Repeat("()", size-100),
		"text that doubles": strings.Join(doubling, "") + "}\nexport const x = A.a39.length",
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"a.tsx": {Data: []byte(source)}}
			page := Source{File: "page.mdx", Module: "import {x} from '/a.tsx'", Expression: "{typeof x}", Line: 9}
			var fault *Error
			var ended *Ended
			if name == "text that doubles" {
				outside.Long(t, "a guard ends the process after its memory")
			}
			_, err := e.Render(t.Context(), files, page, nil)
			if name == "text that doubles" { // its compiler ends, each time
				if !errors.As(err, &ended) || ended.File != "page.mdx" {
					t.Errorf("error is %v", err)
				}
			} else if !errors.As(err, &fault) || !fault.Limit || fault.File != "page.mdx" || fault.Message != "it nests too deep" {
				t.Errorf("error is %v", err)
			}
		})
	}
	if got, err := e.Render(t.Context(), fstest.MapFS{}, Source{File: "page.mdx", Expression: "{1 + 1}", Line: 1}, nil); err != nil || shape(got.Nodes) != "2" {
		t.Errorf("after all that: %v, %v", got, err)
	}
}

// A file that can't be read is no fault of the author's, and ends the rendering.
type brokenFS struct{ fstest.MapFS }

func (brokenFS) Stat(string) (fs.FileInfo, error) { return nil, errors.New("the store is away") }

func TestBrokenSite(t *testing.T) {
	var fault *Error
	_, err := newEngine(t).Render(t.Context(), brokenFS{}, Source{File: "p.mdx", Module: "import {x} from './x'", Expression: "{x}", Line: 1}, nil)
	if err == nil || errors.As(err, &fault) || !strings.Contains(err.Error(), "the store is away") {
		t.Errorf("error is %v", err)
	}
}

// Who waits for the process while it works for others can be called off.
func TestCancelledWhileWaiting(t *testing.T) {
	e := newEngine(t)
	e.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Render(ctx, fstest.MapFS{}, Source{File: "p.mdx", Expression: "{1}", Line: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	<-e.turn
}

// A process whose Engine is gone ends, whatever it is doing.
func TestAlone(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = []string{marker + "=1"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(request{Sources: []Source{{File: "p.mdx", Expression: endless, Line: 1}}}); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitAlone {
		t.Errorf("the exit code is %d", code)
	}
}

// A process that runs strangers' scripts knows nothing of its Engine's keys.
func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	e := newEngine(t)
	if err := e.start(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{marker + "=1"}, e.worker.cmd.Env); diff != "" {
		t.Error(diff)
	}
}

// The bound on steps holds for what runs after it was met, too.
func TestStepsAfterTheEnd(t *testing.T) {
	for name, expression := range map[string]string{
		"caught":      "{(() => { for (;;) try { for (;;) ; } catch (e) {} finally { continue } })()}",
		"in an error": "{(() => { throw { get message() { for (;;) ; }, name: 'x', toString() { for (;;) ; } } })()}",
	} {
		t.Run(name, func(t *testing.T) {
			var fault *Error
			_, err := newEngine(t, patient).Render(t.Context(), fstest.MapFS{}, Source{File: "p.mdx", Expression: expression, Line: 1}, nil)
			if !errors.As(err, &fault) || !fault.Limit || strings.Contains(fault.Message, "longer than") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// A process that the system ends costs its page another try, alone; one that takes
// too long has none. What ends that one, too, is known by its place.
func TestEndedProcess(t *testing.T) {
	page := Source{File: "page.mdx", Expression: "{1 + 1}", Line: 9}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, expression string
		kills            int    // how many processes the system ends at work
		reason           string // a regular expression; empty if the page is shown
	}{
		{name: "once", expression: page.Expression, kills: 1},
		{name: "each time", expression: page.Expression, kills: 9, reason: "exit code -1"},
		{name: "by its time", expression: endless, reason: "longer than 8s of a processor"},
		// On a slow machine its time is over first.
		{name: "by its memory", expression: "{(() => { const f = ([...r]) => r.length; return f({[Symbol.iterator]: () => ({next: Object})}) })()}", reason: "1280 MiB of memory|longer than 8s of a processor"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.kills == 0 {
				outside.Long(t, "a guard ends the process after its time")
			}
			kills := 0
			e := New(Options{Program: program})
			t.Cleanup(e.Close)
			// The process is killed while it waits for a file.
			files := killingFS{MapFS: fstest.MapFS{"a.js": {Data: []byte("export const a = 1")}}, kill: func() {
				if kills++; kills <= test.kills {
					_ = e.worker.cmd.Process.Kill()
				}
			}}
			source := page
			source.Module, source.Expression = "import {a} from '/a.js'", test.expression
			if test.kills > 0 {
				source.Expression = "{a + 1}"
			}
			got, err := e.Render(t.Context(), files, source, nil)
			var ended *Ended
			switch {
			case test.reason == "" && (err != nil || shape(got.Nodes) != "2"):
				t.Errorf("it shows %v, error is %v", got, err)
			case test.reason != "" && (!errors.As(err, &ended) || ended.File != "page.mdx" || ended.Line != 9 || !regexp.MustCompile(test.reason).MatchString(ended.Reason)):
				t.Errorf("error is %v", err)
			}
			// What takes too long is not tried again.
			if late := ended != nil && strings.Contains(ended.Reason, "of a processor"); e.Starts() != map[bool]int64{true: 1, false: 2}[late] {
				t.Errorf("%d processes were started", e.Starts())
			}
		})
	}
}

// killingFS calls kill when a file is read.
type killingFS struct {
	fstest.MapFS
	kill func()
}

func (f killingFS) ReadFile(name string) ([]byte, error) {
	f.kill()
	return f.MapFS.ReadFile(name)
}
