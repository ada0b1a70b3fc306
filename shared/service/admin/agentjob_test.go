package admin_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestAgentJobTransitions tries every move in every state. A move that has
// happened is success and changes nothing; one that is impossible is an error
// and changes nothing.
func TestAgentJobTransitions(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const pr = "https://git.example.com/docs/pull/1"
	type move func(id string) (admin.AgentJob, error)
	moves := map[string]move{
		"finish with a pull request": func(id string) (admin.AgentJob, error) { return w.FinishAgentJob(w.ctx, x.project.ID, id, pr) },
		"finish without changes":     func(id string) (admin.AgentJob, error) { return w.FinishAgentJob(w.ctx, x.project.ID, id, "") },
		"fail":                       func(id string) (admin.AgentJob, error) { return w.FailAgentJob(w.ctx, x.project.ID, id) },
		"archive":                    func(id string) (admin.AgentJob, error) { return w.ArchiveAgentJob(w.ctx, x.project.ID, id) },
	}
	const finish, empty, fail, archive = "finish with a pull request", "finish without changes", "fail", "archive"
	const no, running = admin.CodeJobNotActive, admin.CodeJobRunning
	for _, c := range []struct {
		name   string
		before []string
		status admin.AgentStatus
		link   string
		codes  map[string]string
	}{
		{"active", nil, admin.AgentActive, "", map[string]string{finish: "", empty: "", fail: "", archive: running}},
		{"completed", []string{finish}, admin.AgentCompleted, pr, map[string]string{finish: "", empty: no, fail: no, archive: ""}},
		{"completed without changes", []string{empty}, admin.AgentCompleted, "", map[string]string{finish: no, empty: "", fail: no, archive: ""}},
		{"failed", []string{fail}, admin.AgentFailed, "", map[string]string{finish: no, empty: no, fail: "", archive: ""}},
		{"archived", []string{finish, archive}, admin.AgentArchived, pr, map[string]string{finish: no, empty: no, fail: no, archive: ""}},
	} {
		for name, code := range c.codes {
			t.Run(c.name+", "+name, func(t *testing.T) {
				j, err := w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: x.project.ID, Model: "large-1"})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range c.before {
					w.advance(time.Minute)
					if _, err := moves[b](j.ID); err != nil {
						t.Fatal(err)
					}
				}
				before, err := w.AgentJob(w.ctx, x.caller, x.project.ID, j.ID)
				if err != nil || before.Status != c.status || before.PRLink != c.link || before.Repository != x.project.Repository {
					t.Fatalf("before: %+v, %v", before, err)
				}
				if before.ArchivedAt.IsZero() == (c.status == admin.AgentArchived) {
					t.Errorf("archivedAt of %s is %v", c.status, before.ArchivedAt)
				}
				w.advance(time.Minute)
				_, err = moves[name](j.ID)
				want(t, err, code)
				after, err := w.AgentJob(w.ctx, x.caller, x.project.ID, j.ID)
				if err != nil {
					t.Fatal(err)
				}
				repeated := len(c.before) > 0 && c.before[len(c.before)-1] == name
				if code != "" || repeated {
					if d := cmp.Diff(before, after); d != "" {
						t.Errorf("it changed the job:\n%s", d)
					}
				} else if after.Status == before.Status {
					t.Errorf("it did not change the job")
				}
			})
		}
	}
}

func TestAgentJobsAreChecked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	_, err := w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: x.project.ID})
	wantField(t, err, "model")
	_, err = w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: x.project.ID, Model: "m", Ref: "a\nb"})
	wantField(t, err, "ref")
	_, err = w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: x.project.ID, Model: "m", Repository: "docs"})
	wantField(t, err, "repository")
	_, err = w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: "prj_none", Model: "m"})
	want(t, err, admin.CodeNotFound)
	j, err := w.CreateAgentJob(w.ctx, admin.AgentJobRequest{Project: x.project.ID, Model: "m", Ref: "main"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.FinishAgentJob(w.ctx, x.project.ID, j.ID, "javascript:alert(1)")
	wantField(t, err, "prLink")
	_, err = w.FinishAgentJob(w.ctx, x.project.ID, "agj_none", "")
	want(t, err, admin.CodeNotFound)
	all, err := w.ListAgentJobs(w.ctx, x.project.ID)
	if err != nil || len(all) != 1 || all[0].ID != j.ID {
		t.Errorf("list is %v, %v", all, err)
	}
}
