package functions_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/webhook"
)

// TestSamples tells the story with the handlers and steps behind the adapters,
// on storage of this machine.
func TestSamples(t *testing.T) {
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir()})
	check(t, err)
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	links := httptest.NewServer(l.Objects().Handler())
	t.Cleanup(links.Close)
	l.SetBaseURL(links.URL)

	service := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: started{}})
	steps := export.New(export.Options{Admin: service, Objects: l.Objects(), Annotate: cloud.Annotate})
	keeper := job.NewKeeper(job.Options{Admin: service, Objects: l.Objects(), Runner: started{}})
	known, err := forges.New(service, forge.Options{})
	check(t, err)
	fetches, err := pull.New(pull.Options{Admin: service, Objects: l.Objects(), Forge: known.Forge})
	check(t, err)
	works, err := agent.New(agent.Options{Admin: service, Objects: l.Objects(), Model: func(string) (model.Choice, error) {
		return model.Choice{}, admin.Errorf(admin.CodeModelMissing, "there is no model")
	}})
	check(t, err)
	reviews, err := review.New(review.Options{Admin: service, Objects: l.Objects()})
	check(t, err)
	options := api.Options{Admin: service, Objects: l.Objects(), Annotate: cloud.Annotate}
	handlers := map[string]cloud.Handler{
		"openapi":        cloud.HTTP(api.DocumentHandler(options), cloud.HTTPOptions{}),
		"planexport":     cloud.Step(steps.Tasks()[job.TaskPlan], cloud.StepOptions{}),
		"rendershard":    cloud.Step(steps.Tasks()[job.TaskRender], cloud.StepOptions{}),
		"assemblebundle": cloud.Step(steps.Tasks()[job.TaskAssemble], cloud.StepOptions{}),
		"failexport":     cloud.Step(cloud.ExecutionEnded(job.Task(job.Silent(keeper.Fail))), cloud.StepOptions{}),
		"agentprepare":   cloud.Step(fetches.Tasks()[job.TaskAgentPrepare], cloud.StepOptions{}),
		"agentwork":      cloud.Step(works.Tasks()[job.TaskAgentWork], cloud.StepOptions{}),
		"agentreview":    cloud.Step(reviews.Tasks()[job.TaskAgentReview], cloud.StepOptions{}),
		"agentpublish":   cloud.Step(fetches.Tasks()[job.TaskAgentPublish], cloud.StepOptions{}),
		"agentfail":      cloud.Step(cloud.ExecutionEnded(job.Task(job.Silent(keeper.FailAgent))), cloud.StepOptions{}),
		"reconcile": cloud.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return nil, keeper.Reconcile(ctx)
		}, cloud.StepOptions{}),
	}
	dispatcher := webhook.New(webhook.Options{Admin: service, Sender: webhook.NewSender(webhook.SenderOptions{})})
	handlers["deliverwebhooks"] = cloud.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		_, err := dispatcher.Pass(ctx)
		return nil, err
	}, cloud.StepOptions{})
	pages, err := dashboard.New(dashboard.Options{
		Admin: service, Objects: l.Objects(), URL: "https://api.example.com/prod", TextOnly: true, Provider: &dashboard.Provider{Issuer: "https://id.example.com"},
	})
	check(t, err)
	handlers["dashboard"] = cloud.HTTP(pages, cloud.HTTPOptions{})
	for name, operation := range operations {
		handlers[name] = cloud.HTTP(api.Alone(options, operation), cloud.HTTPOptions{})
	}
	tell(t, l.Store(), started{}, func(name string, event []byte) ([]byte, *fault) {
		b, err := handlers[name].Invoke(t.Context(), event)
		if err == nil {
			return b, nil
		}
		told, ok := err.(messages.InvokeResponse_Error) //nolint:errorlint // as the runtime looks at it
		if !ok {
			t.Fatalf("%s failed with a %T: %v", name, err, err)
		}
		return nil, &fault{told.Type, told.Message}
	})
}

// started is a runner of which every execution has been started, and runs.
type started struct{}

func (started) Start(context.Context, string, string, []byte) error { return nil }
func (started) Status(_ context.Context, _, name string) (store.Execution, error) {
	return store.Execution{Name: name, State: store.Running, StartedAt: time.Now()}, nil
}
func (started) Stop(context.Context, string, string, string) error { return nil }

// TestEveryFunctionHasItsSample compares the folders, and the samples of the
// API with its routes.
func TestEveryFunctionHasItsSample(t *testing.T) {
	var folders, samples []string
	entries, err := os.ReadDir(".")
	check(t, err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" {
			folders = append(folders, e.Name())
		}
	}
	entries, err = os.ReadDir("../events")
	check(t, err)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			samples = append(samples, name)
		}
	}
	want := slices.Sorted(slices.Values(names))
	if !slices.Equal(folders, want) || !slices.Equal(samples, want) {
		t.Errorf("functions %v, samples %v, want both %v", folders, samples, want)
	}
	routes := map[string]api.Route{}
	for _, r := range api.Routes(api.Options{}) {
		routes[r.Operation] = r
	}
	if len(routes) != len(operations) {
		t.Errorf("the API has %d operations, and %d functions", len(routes), len(operations))
	}
	for name, operation := range operations {
		var event struct {
			Resource   string `json:"resource"`
			HTTPMethod string `json:"httpMethod"`
		}
		check(t, json.Unmarshal(sample(t, name), &event))
		if r := routes[operation]; event.Resource != r.Path || event.HTTPMethod != r.Method {
			t.Errorf("the sample of %s is %s %s, its route %s %s", name, event.HTTPMethod, event.Resource, r.Method, r.Path)
		}
	}
}
