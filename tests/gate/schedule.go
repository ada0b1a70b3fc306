package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A step is one command of the gate.
type step struct {
	name    string
	command []string
	// after names steps that must have passed before this one starts.
	after []string
	// background steps mostly wait. They run beside the others, each with a
	// log of its own.
	background bool
	// env is added to the environment.
	env []string
}

// A stepResult says how a step ended.
type stepResult struct {
	Name string `json:"name"`
	// Seconds is the time from start to end, CPUSeconds the processor time of
	// the step and its children.
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	Background bool    `json:"background,omitempty"`
	// Error is empty if the step passed.
	Error string `json:"error,omitempty"`
	// log is the file with the output.
	log string
}

// A scheduler runs steps: those in the foreground one after another, those in
// the background beside them.
type scheduler struct {
	out io.Writer
	// logs is the folder for the logs of steps.
	logs string
	// atOnce limits how many background steps run at the same time.
	atOnce int
	// grace is how long a step may take to stop once the context has ended.
	grace time.Duration
}

// run runs the steps and returns their results in the order of their ends. A
// step that fails does not stop the others, except those that come after it.
// The error names the steps that failed.
func (s *scheduler) run(ctx context.Context, steps []step) ([]stepResult, error) {
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return nil, err
	}
	var (
		mu      sync.Mutex
		results []stepResult
		wg      sync.WaitGroup
	)
	ended := map[string]chan struct{}{}
	passed := map[string]bool{}
	for _, st := range steps {
		if ended[st.name] != nil {
			return nil, fmt.Errorf("two steps are called %s", st.name)
		}
		for _, name := range st.after {
			if ended[name] == nil {
				return nil, fmt.Errorf("step %s comes after %s, which is no step before it", st.name, name)
			}
		}
		ended[st.name] = make(chan struct{})
	}
	// obstacle waits for what a step comes after, and returns why it can't run.
	obstacle := func(st step) (why string) {
		for _, name := range st.after {
			<-ended[name]
			mu.Lock()
			if !passed[name] {
				why = "not run: " + name + " failed"
			}
			mu.Unlock()
		}
		return why
	}
	do := func(st step, why string) {
		defer close(ended[st.name])
		r := stepResult{Name: st.name, Background: st.background, Error: why}
		if why == "" {
			r = s.runOne(ctx, st)
		}
		mu.Lock()
		defer mu.Unlock()
		passed[st.name] = r.Error == ""
		results = append(results, r)
		if st.background {
			fmt.Fprintf(s.out, "== %s %s in %s, in the background\n", st.name, outcome(r), minutes(r.Seconds))
		} else if r.Error != "" {
			fmt.Fprintf(s.out, "== %s %s\n", st.name, outcome(r))
		}
	}
	slots := make(chan struct{}, max(1, s.atOnce))
	wg.Go(func() { // background steps start in their order
		for _, st := range steps {
			if !st.background {
				continue
			}
			why := obstacle(st)
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				do(st, why)
			})
		}
	})
	for _, st := range steps {
		if !st.background {
			do(st, obstacle(st))
		}
	}
	wg.Wait()
	return results, s.report(results)
}

// report prints the logs of background steps that failed, last, and returns an
// error that names every step that failed.
func (s *scheduler) report(results []stepResult) error {
	var failed []string
	for _, r := range results {
		if r.Error == "" {
			continue
		}
		failed = append(failed, r.Name+" ("+r.Error+")")
		if !r.Background || r.log == "" {
			continue
		}
		fmt.Fprintf(s.out, "\n== log of %s\n", r.Name)
		if f, err := os.Open(r.log); err == nil {
			_, _ = io.Copy(s.out, f)
			_ = f.Close()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

func (s *scheduler) runOne(ctx context.Context, st step) stepResult {
	r := stepResult{Name: st.name, Background: st.background}
	r.log = filepath.Join(s.logs, strings.ReplaceAll(st.name, " ", "-")+".log")
	log, err := os.Create(r.log)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, st.command[0], st.command[1:]...)
	cmd.Env = append(os.Environ(), st.env...)
	var w io.Writer = log
	if !st.background {
		fmt.Fprintf(s.out, "\n== %s\n", st.name)
		w = io.MultiWriter(log, s.out)
	}
	cmd.Stdout, cmd.Stderr = w, w
	ownGroup(cmd, s.grace)
	began := time.Now()
	err = cmd.Run()
	r.Seconds = time.Since(began).Seconds()
	if p := cmd.ProcessState; p != nil {
		r.CPUSeconds = (p.UserTime() + p.SystemTime()).Seconds()
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func outcome(r stepResult) string {
	if r.Error == "" {
		return "passed"
	}
	return "FAILED: " + r.Error
}

// minutes formats seconds as a person reads them: 4 s, 12 min 5 s.
func minutes(seconds float64) string {
	n := int(seconds + 0.5)
	if n < 60 {
		return fmt.Sprintf("%d s", n)
	}
	return fmt.Sprintf("%d min %d s", n/60, n%60)
}
