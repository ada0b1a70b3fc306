package server

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// A cancelled export stops in the midst of its work: its execution ends, its parts
// go, and what it had found stays.
func TestACancelledExportStops(t *testing.T) {
	site := t.TempDir()
	pages := ""
	for i := range 400 {
		name := fmt.Sprintf("p%03d", i)
		pages += fmt.Sprintf(",%q", name)
		if err := os.WriteFile(filepath.Join(site, name+".mdx"), []byte("# Page\n\n[Away](/nowhere)\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(site, "docs.json"), []byte(`{"name":"Sample","navigation":{"pages":["missing"`+pages+`]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	s := open(t, t.TempDir())
	cancelled := make(chan struct{})
	s.hold(job.TaskAssemble, cancelled)
	have, err := s.Seed(ctx, SeedDomain)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := caller(t, s, have)
	if _, err := c.Publish(ctx, client.PublishOptions{Dir: site, Domain: have.Domain}); err != nil {
		t.Fatal(err)
	}
	j, err := c.StartExport(ctx, api.StartExportRequest{Domain: have.Domain}, "")
	if err != nil {
		t.Fatal(err)
	}
	for j.Status == admin.ExportQueued {
		if j, _, err = c.GetExport(ctx, j.JobID); err != nil {
			t.Fatal(err)
		}
	}
	if j, err = c.CancelExport(ctx, j.JobID); err != nil || j.Failure == nil || j.Failure.Code != admin.CodeCancelled {
		t.Fatalf("the job is %+v: %v", j, err)
	}
	close(cancelled)
	until := time.Now().Add(5 * time.Minute)
	for {
		e, err := s.local.Runner().Status(ctx, store.WorkflowExport, j.JobID)
		if err != nil {
			t.Fatal(err)
		}
		left, err := s.local.Objects().List(ctx, "exports/"+j.JobID+"/", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if e.State == store.Aborted && len(left) == 1 && left[0].Key == admin.FindingsKey(j.JobID) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the execution is %s, and it leaves %v", e.State, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	found, err := c.Findings(ctx, client.FindingsOf{JobID: j.JobID}, "", 1)
	if err != nil || len(found.Findings) != 1 {
		t.Errorf("it found %+v: %v", found, err)
	}
	// The organisation's place is free, and the next export has all of it.
	if j, err = c.StartExport(ctx, api.StartExportRequest{Domain: have.Domain}, ""); err != nil {
		t.Fatal(err)
	}
	if j, err = c.Wait(ctx, j.JobID, client.WaitOptions{Interval: 50 * time.Millisecond, MaxPolls: 6000}); err != nil || j.PageCount != 400 {
		t.Errorf("the next export is %+v: %v", j, err)
	}
}
