package kills

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/server"
)

const livePath = "/v1/sites/" + server.SeedDomain + "/live"

// liveJob is the job that is live; empty if none is.
func (f *killFolder) liveJob() string {
	f.t.Helper()
	status, answer, err := f.call("GET", livePath, "", "")
	if err != nil || status != http.StatusOK {
		f.t.Fatalf("what is live: %d %v %v", status, answer, err)
	}
	move, _ := answer["live"].(map[string]any)
	id, _ := move["jobId"].(string)
	return id
}

// checkSite asks the host of the live site for its first page.
func (f *killFolder) checkSite() {
	f.t.Helper()
	env, err := os.ReadFile(filepath.Join(f.data, "env"))
	if err != nil {
		f.t.Fatal(err)
	}
	_, project, _ := strings.Cut(string(env), "BINDERY_PROJECT=prj_")
	project, _, _ = strings.Cut(project, "\n")
	r, err := http.NewRequest(http.MethodGet, "http://"+f.addr+"/", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Host = strings.ReplaceAll(server.SeedDomain, ".", "-") + "-" + project + ".localhost"
	response, err := f.http.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(page), "</html>") {
		f.fault(killLost, "the live site on %s answers %d: %s %v", r.Host, response.StatusCode, page, err)
	}
}

// checkLive checks, once all exports are over, that the latest one that was completed of
// those since the newest snapshot is live.
func (f *killFolder) checkLive(since int) {
	f.t.Helper()
	var latest []string // those of the same time
	var at time.Time
	for _, o := range f.orders[since:] {
		if o.status != "completed" {
			continue
		}
		if o.created.After(at) {
			at, latest = o.created, nil
		}
		if o.created.Equal(at) {
			latest = append(latest, o.id)
		}
	}
	if len(latest) == 0 {
		return
	}
	if job := f.liveJob(); !slices.Contains(latest, job) {
		f.fault(killLost, "live is %s, and the latest completed export is %s", job, latest)
		return
	}
	f.checkSite()
}

// liveRound promotes exports, and kills the server in the midst of it: what is live is
// what was live before, or what was promoted.
func (f *killFolder) liveRound(kills int) {
	completed := slices.DeleteFunc(slices.Clone(f.orders), func(o *killOrder) bool { return o.status != "completed" })
	if len(completed) == 0 {
		return
	}
	promote := func(o *killOrder) (int, error) {
		status, _, err := f.call("PUT", livePath, `{"action":"promote","jobId":"`+o.id+`"}`, "")
		return status, err
	}
	const phase = "promote"
	for range kills {
		before, to := f.liveJob(), completed[f.rnd.IntN(len(completed))]
		answered := make(chan error, 1)
		go func() {
			_, err := promote(to)
			answered <- err
		}()
		time.Sleep(time.Duration(f.rnd.IntN(4000)) * time.Microsecond)
		f.kill()
		first := <-answered
		f.struck(phase)
		f.again()
		now := f.liveJob()
		if now != to.id && (now != before || first == nil) {
			f.fault(killLost, "live was %s, %s was promoted (%v), and %s is live", before, to.id, first, now)
			return
		}
		if status, err := promote(to); err != nil || status != http.StatusOK || f.liveJob() != to.id {
			f.fault(killLost, "a promote of %s, repeated: %d %v, %s is live", to.id, status, err, f.liveJob())
			return
		}
		f.checkSite()
		f.run.count(phase, func(c *tally) { c.resumed++ })
	}
	if status, answer, err := f.call("PUT", livePath, `{"action":"release"}`, ""); err != nil || status != http.StatusOK {
		f.fault(killLost, "a release: %d %v %v", status, answer, err)
	}
}
