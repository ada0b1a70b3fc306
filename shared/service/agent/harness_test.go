package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// world is an organisation with a project, its repository on a forge, and a
// model with a script.
type world struct {
	t       *testing.T
	ctx     context.Context
	admin   *admin.Service
	store   store.Store
	objects store.Objects
	forge   *forgetest.Fake
	model   *modeltest.Server
	caller  admin.Caller
	project admin.Project
	steps   allSteps
	segment time.Duration
	sleep   func(context.Context, time.Duration) error // between looks at the job
	first   map[string]func()                          // what happens before a task, once
	islands page.Islands                               // what runs components in Review
	spare   bool                                       // the model has a fallback, "spare"
	context int                                        // of the model, in tokens; 0: 64,000
	small   int                                        // the same of its fallback
	sees    bool                                       // the model, but not its fallback, sees pictures
	waits   []time.Duration                            // of the workflow
	waiting func()                                     // what happens in a wait, once
	further []string                                   // addresses of further repositories that were fetched

	*storetest.Clock
}

// allSteps are the steps of the workflow: those of package pull, Work and Review.
type allSteps struct {
	*pull.Steps
	work   *agent.Steps
	review *review.Steps
}

func (s allSteps) Review(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.review.Review(ctx, ref)
}

func (s allSteps) Work(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.work.Work(ctx, ref)
}

// site is the repository at the beginning.
func site() map[string]string {
	return map[string]string{
		"docs.json":                "{\n  \"name\": \"Acme\",\n  \"theme\": \"mint\",\n  \"colors\": {\"primary\": \"#112233\"},\n  \"navigation\": {\n    \"pages\": [\"index\", \"guides/start\"]\n  }\n}\n",
		"index.mdx":                "---\ntitle: Welcome\ndescription: What Acme is\n---\n\nAcme makes widgets. See [how to start](/guides/start).\n",
		"guides/start.mdx":         "---\ntitle: Start\ndescription: First steps\n---\n\nInstall the widgit, then run it.\n",
		".github/workflows/ci.yml": "on: push\n",
		"logo.png":                 "\x89PNG\r\n\x1a\n\x00\x00",
	}
}

// started is a runner that only remembers.
type started struct {
	mu    sync.Mutex
	names []string
}

func (s *started) Start(_ context.Context, workflow, name string, _ []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, workflow+" "+name)
	return nil
}
func (s *started) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}
func (s *started) Stop(context.Context, string, string, string) error { return nil }

func newWorld(t *testing.T, script ...modeltest.Step) *world {
	t.Helper()
	return newWorldOn(t, forgetest.New(t), script...)
}

// newWorldOn is newWorld with its repository on a forge of another kind.
func newWorldOn(t *testing.T, f *forgetest.Fake, script ...modeltest.Step) *world {
	t.Helper()
	never := func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }
	w := &world{sleep: never, t: t, ctx: t.Context(), Clock: storetest.NewClock(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)), forge: f, model: modeltest.New(t, script...)}
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1:1", Now: w.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	w.forge.Write("main", site())
	w.store, w.objects = l.Store(), l.Objects()
	w.admin = w.service(w.store, w.objects)
	o, err := w.admin.CreateOrganisation(w.ctx, admin.Organisation{Name: "Acme", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	w.caller = admin.Caller{OrganisationID: o.ID, Plan: o.Plan}
	w.project, err = w.admin.CreateProject(w.ctx, admin.Project{Organisation: o.ID, Domain: "docs.example.com", Repository: w.forge.Repository().URL})
	if err != nil {
		t.Fatal(err)
	}
	w.steps = w.stepsOn(w.admin, w.objects)
	return w
}

func (w *world) service(s store.Store, o store.Objects) *admin.Service {
	return admin.New(admin.Options{Store: s, Objects: o, Runner: &started{}, Now: w.Time,
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "best", nil }})
}

// stepsOn are the steps on other ports.
func (w *world) stepsOn(s *admin.Service, o store.Objects) allSteps {
	w.t.Helper()
	return w.stepsOver(s, o, http.DefaultTransport)
}

// stepsOver are the steps on other ports and another way to the forge and the
// model.
func (w *world) stepsOver(s *admin.Service, o store.Objects, t http.RoundTripper) allSteps {
	w.t.Helper()
	client, err := model.New(model.Options{Base: w.model.URL, Attempts: 2, Client: &http.Client{Transport: t},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		w.t.Fatal(err)
	}
	options := w.forge.Options()
	options.Client = &http.Client{Transport: t}
	host, err := forge.New(options)
	if err != nil {
		w.t.Fatal(err)
	}
	fetches, err := pull.New(pull.Options{
		Admin: s, Objects: o, Now: w.Time,
		Forge: func(context.Context, admin.Project) (*forge.Forge, forge.Repository, error) {
			return host, w.forge.Repository(), nil
		},
		Further: func(_ context.Context, _ admin.Project, address string) (*forge.Forge, forge.Repository, error) {
			w.further = append(w.further, address)
			r := w.forge.Repository()
			if strings.HasSuffix(address, "/none") {
				r.URL += "-none"
			}
			return host, r, nil
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	works, err := agent.New(agent.Options{
		Admin: s, Objects: o, Now: w.Time, Segment: w.segment, Sleep: w.sleep,
		Model: func(name string) (model.Choice, error) {
			id, fallback, context := "large-1", "", cmp.Or(w.context, 64_000)
			switch {
			case name == "best" && w.spare:
				fallback = "spare"
			case name == "spare":
				id, context = "spare-1", cmp.Or(w.small, context)
			case name != "best":
				return model.Choice{}, admin.Errorf(admin.CodeModelMissing, "there is no model %q", name)
			}
			return model.Choice{
				ID: id, Fallback: fallback, Pictures: w.sees && name == "best", Client: client, Price: model.Price{Input: 3, CacheWrite: 3.75, CacheRead: 0.3, Output: 15},
				MaxOutput: 8000, Context: context,
			}, nil
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	reviews, err := review.New(review.Options{Admin: s, Objects: o, Islands: w.islands})
	if err != nil {
		w.t.Fatal(err)
	}
	return allSteps{fetches, works, reviews}
}

// stepper returns a function that runs a step of a job's current round and wants a next one.
func (w *world) stepper(j admin.AgentJob) func(name string, step func(context.Context, admin.AgentRef) (job.AgentOutput, error), next string) {
	return func(name string, step func(context.Context, admin.AgentRef) (job.AgentOutput, error), next string) {
		w.t.Helper()
		if out, err := step(w.ctx, j.Current()); err != nil || out.Next != next {
			w.t.Fatalf("%s returns %q, %v, want %q", name, out.Next, err, next)
		}
	}
}

// ask starts a job.
func (w *world) ask(prompt string) admin.AgentJob {
	w.t.Helper()
	return w.start(admin.StartAgentJob{Prompt: prompt})
}

// start starts a job of the world's project.
func (w *world) start(in admin.StartAgentJob) admin.AgentJob {
	w.t.Helper()
	in.Project = w.project.ID
	j, err := w.admin.StartAgentJob(w.ctx, w.caller, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// enterprise gives the world an organisation with a larger plan.
func (w *world) enterprise() {
	w.t.Helper()
	o, err := w.admin.CreateOrganisation(w.ctx, admin.Organisation{Name: "Large", Plan: admin.PlanEnterprise})
	if err != nil {
		w.t.Fatal(err)
	}
	w.caller = admin.Caller{OrganisationID: o.ID, Plan: o.Plan}
	w.project, err = w.admin.CreateProject(w.ctx, admin.Project{Organisation: o.ID, Domain: "large.example.com", Repository: w.forge.Repository().URL})
	if err != nil {
		w.t.Fatal(err)
	}
}

// message sends a message to a job.
func (w *world) message(j admin.AgentJob, prompt string) admin.AgentJob {
	w.t.Helper()
	j, err := w.admin.MessageAgentJob(w.ctx, w.caller, admin.MessageAgentJob{Project: w.project.ID, Job: j.ID, Prompt: prompt})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// cancel asks for a job's end.
func (w *world) cancel(j admin.AgentJob) {
	w.t.Helper()
	if _, err := w.admin.CancelAgentJob(w.ctx, w.caller, w.project.ID, j.ID, ""); err != nil {
		w.t.Error(err)
	}
}

// configure sets what the project says of its agent jobs.
func (w *world) configure(s admin.AgentSettings) {
	w.t.Helper()
	p, err := w.admin.ConfigureProject(w.ctx, w.project.ID, admin.Configuration{Kind: w.project.Kind, Settings: w.project.Settings, Retention: w.project.Retention, Agent: s})
	if err != nil {
		w.t.Fatal(err)
	}
	w.project = p
}

// at makes a task of the workflow do something first, once.
func (w *world) at(task string, fn func()) {
	if w.first == nil {
		w.first = map[string]func(){}
	}
	w.first[task] = fn
}

// run runs the workflow of a job's round as its definition says, and returns the
// job after it.
func (w *world) run(j admin.AgentJob) admin.AgentJob {
	w.t.Helper()
	if err := w.workflow(w.ctx, w.steps, j.Current()); err != nil {
		w.t.Log("the workflow ended with", err)
	}
	return w.job(j.ID)
}

func (w *world) job(id string) admin.AgentJob {
	w.t.Helper()
	j, err := w.admin.AgentJob(w.ctx, w.caller, w.project.ID, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// workflow runs the definition of the agent's workflow on steps.
func (w *world) workflow(ctx context.Context, s allSteps, ref admin.AgentRef) error {
	return w.execute(ctx, ref, w.tasks(s))
}

// execute runs the definition of the agent's workflow with tasks.
func (w *world) execute(ctx context.Context, ref admin.AgentRef, tasks map[string]asl.Task) error {
	definition, err := job.AgentDefinition(job.ByName)
	if err != nil {
		return err
	}
	machine, err := asl.Load(definition)
	if err != nil {
		return err
	}
	input, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	_, err = machine.Run(ctx, ref.Execution(), input, asl.Options{
		Tasks: tasks,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Wait: func(ctx context.Context, until time.Time) error {
			d := until.Sub(w.Time())
			w.waits = append(w.waits, d)
			if w.waiting != nil {
				w.waiting()
				w.waiting = nil
			}
			w.Advance(d)
			return ctx.Err()
		},
	})
	return err
}

// tasks are all steps of the workflow.
func (w *world) tasks(s allSteps) map[string]asl.Task {
	keeper := job.NewKeeper(job.Options{Admin: w.admin, Objects: w.objects})
	out := map[string]asl.Task{job.TaskAgentFail: job.Task(job.Silent(keeper.FailAgent))}
	steps := s.Tasks()
	maps.Copy(steps, s.work.Tasks())
	maps.Copy(steps, s.review.Tasks())
	for name, task := range steps {
		out[name] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			if first := w.first[name]; first != nil {
				delete(w.first, name)
				first()
			}
			return task(ctx, in)
		}
	}
	return out
}
