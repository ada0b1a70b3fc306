package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// synced is a buffer that several goroutines write to.
type synced struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func shell(script string) []string { return []string{"sh", "-c", script} }

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		// ends are the names of steps in the order in which they end, with ! for
		// one that fails.
		ends string
		// err is a part of the error, last what the output ends with.
		err, last string
	}{
		{
			name:  "one after another",
			steps: []step{{name: "a", command: shell("sleep 0.1")}, {name: "b", command: shell("true")}},
			ends:  "a b",
		},
		{
			name: "a background step runs beside the others",
			steps: []step{
				{name: "waits", command: shell("until [ -e $DIR/made ]; do sleep 0.01; done"), background: true},
				{name: "makes", command: shell("touch $DIR/made; until [ -e $DIR/../never ]; do sleep 0.3; exit; done")},
			},
			ends: "waits makes",
		},
		{
			name: "a background step that fails fails the gate, with its log last",
			steps: []step{
				{name: "cloud", command: shell("echo it broke; exit 3"), background: true},
				{name: "test", command: shell("echo fine; sleep 0.3")},
			},
			ends: "cloud! test", err: "failed: cloud (exit status 3)", last: "== log of cloud\nit broke\n",
		},
		{
			name: "a step that fails does not stop the others",
			steps: []step{
				{name: "fmt", command: shell("exit 1")},
				{name: "test", command: shell("true")},
			},
			ends: "fmt! test", err: "failed: fmt (exit status 1)",
		},
		{
			name: "but those that come after it",
			steps: []step{
				{name: "programs", command: shell("exit 1")},
				{name: "cloud", command: shell("true"), after: []string{"programs"}, background: true},
				{name: "test", command: shell("true"), after: []string{"programs"}},
			},
			ends: "programs! cloud! test!", err: "cloud (not run: programs failed)",
		},
		{
			name:  "a program that is not there",
			steps: []step{{name: "a", command: []string{"/no/such/program"}}},
			ends:  "a!", err: "no such file",
		},
		{name: "two of a name", steps: []step{{name: "a"}, {name: "a"}}, err: "two steps are called a"},
		{name: "after nothing", steps: []step{{name: "a", after: []string{"b"}}}, err: "no step before it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i := range c.steps {
				c.steps[i].env = []string{"DIR=" + dir}
			}
			var out synced
			s := &scheduler{out: &out, logs: dir + "/logs", atOnce: 2, grace: time.Second}
			results, err := s.run(t.Context(), c.steps)
			var ends []string
			for _, r := range results {
				name := r.Name
				if r.Error != "" {
					name += "!"
				}
				ends = append(ends, name)
			}
			got := strings.Join(ends, " ")
			if c.name == "but those that come after it" { // the last two end in any order
				got = strings.Replace(got, "test! cloud!", "cloud! test!", 1)
			}
			if got != c.ends {
				t.Errorf("ends: %q, want %q", got, c.ends)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !strings.HasSuffix(out.String(), c.last) {
				t.Errorf("the output ends otherwise: %s", out.String())
			}
		})
	}
}

func TestStepsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out synced
	s := &scheduler{out: &out, logs: t.TempDir(), atOnce: 1, grace: 10 * time.Second}
	time.AfterFunc(50*time.Millisecond, cancel)
	// The shell's child has the output open: the step ends only if both are stopped.
	_, err := s.run(ctx, []step{{name: "long", command: shell("sleep 600; true"), background: true}})
	if err == nil || !strings.Contains(err.Error(), "long") {
		t.Errorf("error %v", err)
	}
}

func TestMinutes(t *testing.T) {
	for seconds, want := range map[float64]string{0.2: "0 s", 59.4: "59 s", 59.6: "1 min 0 s", 3601: "60 min 1 s"} {
		if got := minutes(seconds); got != want {
			t.Errorf("minutes(%v) = %q, want %q", seconds, got, want)
		}
	}
}
