package agent_test

import (
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"

	"github.com/bindery-docs/bindery/tests/outside"
)

// A job is archived 30 days after its pull request was merged or closed, of which
// the forge is asked a few times in all.
func TestArchivedByItsPullRequest(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	const day = 24 * time.Hour
	for _, c := range []struct {
		name     string
		kind     forge.Kind
		after    func(w *world, number int) // the end of the job, within a day
		silent   bool                       // the forge doesn't say when
		archived int                        // day on which the job is archived
		asked    int
	}{
		{name: "merged", kind: forge.GitHub, after: func(w *world, n int) { w.forge.Merge(n) }, archived: 31, asked: 1},
		{name: "merged", kind: forge.GitLab, after: func(w *world, n int) { w.forge.Merge(n) }, archived: 31, asked: 1},
		{name: "closed", kind: forge.Gitea, after: func(w *world, n int) { w.forge.Close(n) }, archived: 31, asked: 1},
		{name: "closed, nobody knows when", kind: forge.Gitea, after: func(w *world, n int) { w.forge.Close(n) }, silent: true, archived: 60, asked: 1},
		{name: "open", kind: forge.GitHub, after: func(*world, int) {}, archived: 90, asked: 2},
		{name: "a wrong credential", kind: forge.GitHub, after: func(w *world, _ int) {
			w.forge.FailAlways(forgetest.GetPull, forgetest.Status(401, "no"))
		}, archived: 90, asked: 60},
		{name: "plain Git", kind: forge.Git, after: func(*world, int) {}, archived: 90},
	} {
		t.Run(c.name+" on "+string(c.kind), func(t *testing.T) {
			w := newWorldOn(t, forgetest.New(t, forgetest.Dialect(c.kind)), steps(mends, finishes)...)
			j := w.run(w.ask("Mend the spelling of widget"))
			if j.Status != admin.AgentCompleted {
				t.Fatalf("%+v", j)
			}
			w.forge.ClosedAt = j.FinishedAt.Add(day)
			if c.silent {
				w.forge.ClosedAt = time.Time{}
			}
			c.after(w, j.PRNumber)
			before := w.forge.Count(forgetest.GetPull)
			keeper := job.NewKeeper(job.Options{Admin: w.admin, Objects: w.objects, Runner: &started{}, Now: w.Time, SweepEvery: -1, Pull: w.steps.Pull})
			for today := 1; ; today++ {
				w.Advance(day)
				if err := keeper.Reconcile(w.ctx); err != nil {
					t.Fatal(err)
				}
				if archived := w.job(j.ID).Status == admin.AgentArchived; archived || today == 90 {
					if asked := w.forge.Count(forgetest.GetPull) - before; !archived || today != c.archived || asked != c.asked {
						t.Errorf("archived: %t on day %d, asked %d times; want day %d and %d", archived, today, asked, c.archived, c.asked)
					}
					return
				}
			}
		})
	}
}
