package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/tests/outside"
)

// served is a server with what a test calls it with.
type served struct {
	*Server
	c    *client.Client
	have Seed
}

// serve opens a server whose exports may hold so many bytes, with a key; change may
// alter it before it serves.
func serve(t *testing.T, memory uint64, change ...func(*Server)) *served {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Addr: "127.0.0.1:0", Program: program, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	s.drain = 5 * time.Minute
	for _, c := range change {
		c(s)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	have, err := s.Seed(t.Context(), SeedDomain)
	if err == nil {
		err = s.Serve(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &served{s, caller(t, s, have), have}
}

// publish publishes a site of these files and starts its export.
func (s *served) publish(t *testing.T, files map[string]string) string {
	t.Helper()
	site := t.TempDir()
	for name, text := range files {
		file := filepath.Join(site, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.c.Publish(t.Context(), client.PublishOptions{Dir: site, Domain: s.have.Domain}); err != nil {
		t.Fatal(err)
	}
	job, err := s.c.StartExport(t.Context(), api.StartExportRequest{Domain: s.have.Domain, Fresh: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	return job.JobID
}

// wait waits for a job's end.
func (s *served) wait(t *testing.T, id string) admin.ExportJob {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		j, err := s.Admin.FindExport(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if j.Status.Final() {
			return j
		}
	}
	t.Fatalf("the job %s has no end", id)
	return admin.ExportJob{}
}

// pagesOf is a site of pages with these sources.
func pagesOf(sources map[string]string) map[string]string {
	files, names := map[string]string{}, []string{}
	for name, source := range sources {
		files[name+".mdx"], names = source, append(names, `"`+name+`"`)
	}
	files["docs.json"] = `{"name": "Sample", "navigation": {"pages": [` + strings.Join(names, ",") + `]}}`
	return files
}

// process returns the process of a job once it is there.
func (s *served) process(t *testing.T, job string) *child {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		s.children.mu.Lock()
		f := s.children.jobs[job]
		s.children.mu.Unlock()
		if f != nil {
			f.mu.Lock()
			p := f.child
			f.mu.Unlock()
			if p != nil {
				return p
			}
		}
	}
	t.Fatalf("the job %s has no process", job)
	return nil
}

// A site that takes more memory than an export may have ends its own process,
// twice, and its job names the page; the server goes on with others.
func TestSiteThatEndsItsProcess(t *testing.T) {
	outside.NoRace(t, "its memory counts as the site's")
	s := serve(t, 256<<20)
	sources := map[string]string{"bad": strings.Repeat("## a\n\n", 1_000_000)}
	for i := range 20 {
		sources[fmt.Sprintf("good%d", i)] = "words"
	}
	j := s.wait(t, s.publish(t, pagesOf(sources)))
	if j.Status != admin.ExportFailed || j.Failure == nil || j.Failure.Code != admin.CodeProcessEnded || !strings.Contains(j.Failure.Message, "bad.mdx") {
		t.Errorf("the job is %s, %+v", j.Status, j.Failure)
	}
	if j := s.wait(t, s.publish(t, pagesOf(map[string]string{"index": "words"}))); j.Status != admin.ExportCompleted {
		t.Errorf("the next job is %s, %+v", j.Status, j.Failure)
	}
}

// A few kilobytes that stand for very much are exported within little memory: one
// long address that everything refers to, in a page, in a snippet and in the
// description of an operation.
func TestRepeatedAddressesFitTheMemory(t *testing.T) {
	outside.NoRace(t, "its memory counts as the site's")
	s := serve(t, 512<<20)
	long := "/" + strings.Repeat("x", 40_000)
	site := pagesOf(map[string]string{
		"index":  "[a]: " + long + "\n\n" + strings.Repeat("[a] ", 12_000),
		"titled": "[a]: /x '" + long + "'\n\n" + strings.Repeat("[a] ", 12_000),
		"shown":  "import A from '/snippets/a.mdx'\n\n" + strings.Repeat("<A/>\n\n", 10_000),
		"api":    "---\nopenapi: /api.json GET /a\n---\n",
	})
	site["snippets/a.mdx"] = "![](" + long + ")"
	site["api.json"] = `{"openapi": "3.1.0", "paths": {"/a": {"get": {"description": "[a]: ` + long + strings.Repeat(`\n\n[a] [a]`, 6000) + `"}}}}`
	if j := s.wait(t, s.publish(t, site)); j.Status != admin.ExportCompleted {
		t.Errorf("the job is %s, %+v", j.Status, j.Failure)
	}
}

// One death is forgiven: another process does what was begun. What a service
// manager sends to all processes is none.
func TestOneDeathIsForgiven(t *testing.T) {
	killed := make(chan struct{})
	s := serve(t, 0, func(s *Server) { s.hold(job.TaskAssemble, killed) })
	sources := map[string]string{}
	for i := range 300 {
		sources[fmt.Sprintf("p%d", i)] = strings.Repeat("## A heading\n\nWords and `code`.\n\n```js\nlet a = 1\n```\n\n", 40)
	}
	id := s.publish(t, pagesOf(sources))
	p := s.process(t, id)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil { // as a service manager sends to all
		t.Fatal(err)
	}
	// One that has not come to ignore the first signal has died of it.
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	close(killed)
	if j := s.wait(t, id); j.Status != admin.ExportCompleted {
		t.Errorf("the job is %s, %+v", j.Status, j.Failure)
	}
}

// The page of limits has the constant.
func TestLimitsPage(t *testing.T) {
	outside.LimitRow(t, "The process of an export in [`bindery up`](/operate/run#what-a-site-can-do-to-it)", "–", fmt.Sprintf("%d MiB", childMemory>>20))
}
