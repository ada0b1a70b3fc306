package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// TestLateStarts: a step that is started again after its round has moved on does
// nothing, and fails nothing.
func TestLateStarts(t *testing.T) {
	w := newWorld(t, mends, finishes)
	j := w.ask("Mend the spelling of widget")
	ref := j.Current()
	next := func(name string, out job.AgentOutput, err error, want string) {
		t.Helper()
		if err != nil || out.Next != want {
			t.Fatalf("%s returns %q, %v, want %q", name, out.Next, err, want)
		}
	}
	out, err := w.steps.Prepare(w.ctx, ref)
	next("Prepare", out, err, job.NextWork)
	out, err = w.steps.Review(w.ctx, ref)
	next("Review before the work is done", out, err, job.NextWork)
	out, err = w.steps.Publish(w.ctx, ref)
	next("Publish before the work is done", out, err, job.NextWork)
	out, err = w.steps.Work(w.ctx, ref)
	next("Work", out, err, job.NextPublish)
	if unread, err := w.admin.BeginAgentPublish(w.ctx, ref, 1); unread || err != nil {
		t.Fatal(unread, err)
	}
	out, err = w.steps.Work(w.ctx, ref)
	next("Work while the round is published", out, err, job.NextPublish)
	if j = w.job(j.ID); j.Status != admin.AgentActive {
		t.Fatalf("the late Work made the job %+v", j)
	}
	out, err = w.steps.Review(w.ctx, ref)
	next("Review", out, err, job.NextPublish)
	for range 2 {
		out, err = w.steps.Publish(w.ctx, ref)
		next("Publish", out, err, job.NextDone)
		if _, err := w.steps.Review(w.ctx, ref); admin.CodeOf(err) != admin.CodeJobNotActive {
			t.Errorf("Review of a round that is over returns %v", err)
		}
	}
	if j = w.job(j.ID); j.Status != admin.AgentCompleted || len(w.forge.Pulls()) != 1 {
		t.Errorf("the job is %+v, pull requests are %+v", j, w.forge.Pulls())
	}
}

// TestGivenBackTwice: a Publish that runs twice, or comes late, gives a round back once.
func TestGivenBackTwice(t *testing.T) {
	w := newWorld(t, foreign, finishes, told("evil.example", lists), finishes)
	w.configure(admin.AgentSettings{RefuseNewHosts: true})
	j := w.ask("Show a cat")
	step := w.stepper(j)
	step("Prepare", w.steps.Prepare, job.NextWork)
	step("Work", w.steps.Work, job.NextPublish)
	step("Publish", w.steps.Publish, job.NextWork)
	step("Publish again", w.steps.Publish, job.NextWork)
	if again, err := w.admin.BeginAgentPublish(w.ctx, j.Current(), 1); !again || err != nil {
		t.Errorf("a late Publish goes on: %t, %v", again, err)
	}
	if j = w.job(j.ID); j.Phase != admin.AgentWorking || len(j.Returns) != 1 {
		t.Errorf("the round is %s after the returns %+v", j.Phase, j.Returns)
	}
	step("Work again", w.steps.Work, job.NextPublish)
	if _, err := w.steps.Publish(w.ctx, j.Current()); admin.CodeOf(err) != admin.CodeChanges {
		t.Errorf("the second refusal is %v", err)
	}
	w.end(w.job(j.ID), expected{code: admin.CodeChanges, turns: 4})
}

// TestLatePrepare: one that fails after another start of it has succeeded fails
// nothing, whether the round works, or is over.
func TestLatePrepare(t *testing.T) {
	for _, until := range []string{job.NextWork, job.NextPublish, job.NextDone} {
		t.Run(until, func(t *testing.T) {
			w := newWorld(t, mends, finishes)
			j := w.ask("Mend the spelling of widget")
			ref := j.Current()
			w.at("forge", func() {
				for out := (job.AgentOutput{}); out.Next != until; {
					step := map[string]func(context.Context, admin.AgentRef) (job.AgentOutput, error){
						"": w.steps.Prepare, job.NextWork: w.steps.Work, job.NextReview: w.steps.Review, job.NextPublish: w.steps.Publish,
					}[out.Next]
					var err error
					if out, err = step(w.ctx, ref); err != nil {
						t.Fatal(err)
					}
				}
				w.forge.FailAlways(forgetest.Refs, forgetest.Status(http.StatusUnauthorized, "no"))
			})
			late := w.stepsOver(w.admin, w.objects, transport(func(r *http.Request) (*http.Response, error) {
				if first := w.first["forge"]; first != nil {
					delete(w.first, "forge")
					first()
				}
				return http.DefaultTransport.RoundTrip(r)
			}))
			_, err := late.Prepare(w.ctx, ref)
			if over := until == job.NextDone; over != (err != nil) {
				t.Errorf("the late Prepare returns %v", err)
			}
			w.forge.Heal()
			w.end(w.run(j), expected{pulls: 1, turns: 2})
		})
	}
}

// transport makes requests by a function.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestARoundReadsWhatNoneHasRead: the request of the second round is its message
// alone, and what the reader of the pull request had to know of the first round
// still stands at its top.
func TestARoundReadsWhatNoneHasRead(t *testing.T) {
	w := newWorld(t,
		modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "widgets.", "new": "widgets with [help](https://elsewhere.example/x)."})),
		modeltest.Calls(call("finish", args{"title": "docs: help [skip ci] closes #12 @everyone", "summary": "A link."})),
		modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "widgit", "new": "widget"})).When(func(r model.Request) error {
			first := r.Messages[0].Content
			text := first[len(first)-1].Text
			if before, request, ok := strings.Cut(text, "The request:"); !ok || !strings.Contains(before, "FIRST") || strings.Contains(request, "FIRST") || !strings.Contains(request, "SECOND") {
				return errors.New("the second round begins with " + text)
			}
			return nil
		}),
		modeltest.Calls(call("finish", args{"title": "docs: spelling", "summary": "A word."})))
	j := w.run(w.ask("FIRST: link the help"))
	if j.Status != admin.AgentCompleted {
		t.Fatalf("the first round: %+v (%+v)", j, j.Failure)
	}
	for _, not := range []string{"[skip ci]", "#12", "@everyone"} {
		if strings.Contains(w.forge.Pulls()[0].Title, not) || strings.Contains(w.forge.Commits("bindery/" + j.ID)[0].Message, not) {
			t.Errorf("title or commit have %s", not)
		}
	}
	j, err := w.admin.MessageAgentJob(w.ctx, w.caller, admin.MessageAgentJob{Project: w.project.ID, Job: j.ID, Prompt: "SECOND: mend the spelling"})
	if err != nil {
		t.Fatal(err)
	}
	if j = w.run(j); j.Status != admin.AgentCompleted {
		t.Fatalf("the second round: %+v (%+v)", j, j.Failure)
	}
	if body := w.forge.Pulls()[0].Body; !strings.Contains(body, " -->\n**Look at this first.**") || !strings.Contains(body, "elsewhere.example") {
		t.Errorf("the pull request forgets the host of the first round:\n%s", body)
	}
}

// TestPeoplePushOnTheCommit: a Publish whose push ended without an answer finds its
// commit below those that people have pushed since, in each round; also the next
// Publish, where that one died, and on a server that returns no parent of it.
func TestPeoplePushOnTheCommit(t *testing.T) {
	for _, c := range []struct{ dies, plain bool }{{true, false}, {false, false}, {true, true}, {false, true}} {
		host := forgetest.New(t)
		if c.plain {
			host = forgetest.New(t, forgetest.Dialect(forge.Git))
			host.OnlyTips()
		}
		w := newWorldOn(t, host, append(steps(mends, finishes), rename...)...)
		j := w.ask("Mend the spelling of widget")
		branch, pushed, dead := "bindery/"+j.ID, false, false
		tasks := w.tasks(w.stepsOver(w.admin, w.objects, transport(func(r *http.Request) (*http.Response, error) {
			if dead {
				return nil, errors.New("dead")
			}
			res, err := http.DefaultTransport.RoundTrip(r)
			if err == nil && !pushed && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				_ = res.Body.Close()
				pushed, dead = true, c.dies
				w.forge.Write(branch, map[string]string{"people.md": "# " + w.forge.Branch(branch) + "\n"})
				return nil, errors.New("the connection is gone")
			}
			return res, err
		})))
		publish := tasks[job.TaskAgentPublish]
		tasks[job.TaskAgentPublish] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			dead = false
			return publish(ctx, in)
		}
		for round := 1; round <= 2; round++ {
			pushed = false
			if err := w.execute(w.ctx, j.Current(), tasks); err != nil || !pushed {
				t.Fatalf("round %d: %v, pushed: %t", round, err, pushed)
			}
			j = w.job(j.ID)
			var messages []string
			for _, c := range w.forge.Commits(branch)[:2*round] {
				messages = append(messages, strings.SplitN(c.Message, "\n", 2)[0])
			}
			want := []string{"edit", "docs: gadgets", "edit", "docs: widget is spelled right"}[4-2*round:]
			link, pulls := "", w.forge.Pulls()
			if !c.plain && len(pulls) == 1 {
				link = pulls[0].URL
			}
			if !slices.Equal(messages, want) || len(pulls) > 1 || (link == "") != c.plain || j.PRLink != link || j.Branch != branch {
				t.Errorf("%+v, round %d: %q, want %q; pull requests are %+v", c, round, messages, want, pulls)
			}
			if round == 1 {
				j = w.message(j, "Call them gadgets")
			}
		}
	}
}
