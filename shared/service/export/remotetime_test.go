package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// slowSite loads a picture, a specification and what that refers to from each
// of many hosts.
func slowSite(hosts int) fstest.MapFS {
	var page, specs strings.Builder
	for i := range hosts {
		fmt.Fprintf(&page, "![x](https://h%02d.example.com/x.png)\n", i)
		fmt.Fprintf(&specs, `,{"group":"G%d","openapi":"https://h%02d.example.com/openapi.yaml"}`, i, i)
	}
	return fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"x","navigation":{"groups":[{"group":"A","pages":["index"]}` + specs.String() + `]}}`)},
		"index.mdx": {Data: []byte(page.String())},
	}
}

// Hosts that take their time cost the files that are left, not the export, and
// all hosts and kinds of files have one time together: it doesn't begin anew with
// each. A step that runs again gets no others, though it has time.
func TestRemoteTime(t *testing.T) {
	const hosts = 20
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: "*.example.com"})
	w.publish(t, slowSite(hosts))
	job := w.start(t)
	for n := range 2 {
		slow := &slowFiles{now: w.now}
		steps := w.steps(func(o *Options) { o.Fetcher, o.Now = slow, slow.clock })
		if _, err := steps.Plan(context.Background(), admin.WorkflowInput{JobID: job.ID}); err != nil {
			t.Fatal(err)
		}
		if want := remoteParallel * (1 - n); slow.asked != want {
			t.Errorf("run %d asks for %d files, want %d", n, slow.asked, want)
		}
	}
	if err := workflow(context.Background(), w.steps(func(o *Options) { o.Fetcher = &slowFiles{} }), job.ID); err != nil {
		t.Fatal(err)
	}
	report := unpacked(t, w.bundle(t, job.ID))[bundle.DiagnosticsPath]
	for code, want := range map[string]int{"api-remote": hosts - remoteParallel, "remote-missing": hosts} {
		got := 0
		for line := range strings.Lines(report) {
			if strings.Contains(line, `"`+code+`"`) && strings.Contains(line, "is not asked for: the export has waited 5 minutes for other hosts") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d files are reported by %s, want %d:\n%s", got, code, want, report)
		}
	}
}

// slowFiles take a minute each.
type slowFiles struct {
	mu    sync.Mutex
	now   time.Time
	asked int
}

func (s *slowFiles) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *slowFiles) Get(_ context.Context, address string, _ remote.Hosts, kind remote.Kind) (remote.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.now = s.now.Add(time.Minute)
	if kind == remote.Specification {
		return remote.File{Data: []byte("openapi: 3.1.0\npaths: {}\n"), Extension: ".yaml"}, nil
	}
	return remote.File{Data: []byte(address), Extension: ".png"}, nil
}

// What a Plan may wait for other hosts leaves most of its time for its work.
func TestRemoteTimeLeavesRoom(t *testing.T) {
	definition, err := job.Definition(job.ByName, 1)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		States map[string]struct{ TimeoutSeconds int }
	}
	if err := json.Unmarshal(definition, &workflow); err != nil {
		t.Fatal(err)
	}
	limit := time.Duration(workflow.States["Plan"].TimeoutSeconds) * time.Second
	if most := maxRemoteTime + remote.MaxTime; limit == 0 || most > limit/2 {
		t.Errorf("Plan may wait %v for other hosts, and has %v for all it does", most, limit)
	}
}

// A step that is told to end doesn't wait for hosts, and notes nothing of what
// was under way: the next run asks for it.
func TestRemoteFetchingEnds(t *testing.T) {
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: "*.example.com"})
	w.publish(t, slowSite(20))
	job := w.start(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := w.steps(func(o *Options) { o.Fetcher = &stuckFiles{cancel: cancel} })
	if _, err := steps.Plan(ctx, admin.WorkflowInput{JobID: job.ID}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the step ends with %v", err)
	}
	slow := &slowFiles{now: w.now}
	if _, err := w.steps(func(o *Options) { o.Fetcher = slow }).Plan(context.Background(), admin.WorkflowInput{JobID: job.ID}); err != nil {
		t.Fatal(err)
	}
	if slow.asked != 40 {
		t.Errorf("the next run asks for %d files, want all 40", slow.asked)
	}
}

// stuckFiles never come; the step is told to end when all that it asks for at a
// time are under way.
type stuckFiles struct {
	mu     sync.Mutex
	asked  int
	cancel context.CancelFunc
}

func (s *stuckFiles) Get(ctx context.Context, _ string, _ remote.Hosts, _ remote.Kind) (remote.File, error) {
	s.mu.Lock()
	if s.asked++; s.asked == remoteParallel {
		s.cancel()
	}
	s.mu.Unlock()
	<-ctx.Done()
	return remote.File{}, ctx.Err()
}
