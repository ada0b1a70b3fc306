package agenttasks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/tests/outside"
)

// result is a row of the table, which is also kept as a file: a run that is begun
// again asks nothing twice.
type result struct {
	Task    string
	Model   string
	Score   int // in percent; a task that is done has 100
	Reasons []string
	Turns   int
	Usage   admin.AgentUsage
	PRLink  string
}

// ownFault are the failures that say something of a model, and not of a network, a
// key or a forge: those are asked for again.
var ownFault = []string{admin.CodeBudget, admin.CodeLoop, admin.CodeModelRefused, admin.CodeModelContext, admin.CodeModelOutput, admin.CodeChanges}

// liveModel is the model of the table that the environment names.
func liveModel(tb testing.TB) (name string, made func(way http.RoundTripper) model.Choice) {
	tb.Helper()
	// Not BINDERY_MODELS: who has that set for bindery up must not pay for a test.
	file := os.Getenv("BINDERY_TASKS_MODELS")
	if file == "" {
		tb.Skip("not run: make agent-tasks sets BINDERY_TASKS_MODELS, a table of models as of bindery up --models")
	}
	table, err := model.ParseTable([]byte(readText(tb, file)))
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	name = cmp.Or(os.Getenv("BINDERY_TASKS_MODEL"), table.Default())
	e, ok := table.Entry(name)
	if !ok {
		tb.Fatalf("%s has no model %q; it has %s", file, name, strings.Join(table.Names(), ", "))
	}
	if e.Server.Auth == model.AuthSigV4 {
		tb.Fatalf("%s signs its requests; this runner has keys alone", e.Server.Name)
	}
	key := strings.TrimSpace(os.Getenv("BINDERY_MODEL_KEY"))
	if key == "" && e.Server.Auth != model.AuthNone {
		tb.Fatal("BINDERY_MODEL_KEY is empty")
	}
	return name, func(way http.RoundTripper) model.Choice {
		o := e.Server.Options(key)
		o.Client = &http.Client{Transport: way}
		client, err := model.New(o)
		if err != nil {
			tb.Fatal(err)
		}
		return model.Choice{ID: e.Model, Client: client, Price: e.Price, MaxOutput: e.Output, Context: e.Context}
	}
}

// A real model does the tasks. It fails for each task that is not done.
func TestLive(t *testing.T) {
	if results := live(t); len(results) > 0 {
		fmt.Print(tableOf(results))
	}
}

// live asks the model that the environment names for the tasks that it names. A
// task that has a result from an earlier run is not asked for again.
func live(t *testing.T) []result {
	name, made := liveModel(t)
	outside.Folder(t, "corpora")
	only, err := regexp.Compile("^(?:" + cmp.Or(os.Getenv("BINDERY_TASKS"), ".*") + ")$")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cmp.Or(os.Getenv("BINDERY_TASKS_OUT"), filepath.Join(outside.Checkout(t), ".cache", "agent-tasks")), name)
	var results []result
	for _, task := range tasks() {
		if !only.MatchString(task.name) {
			continue
		}
		t.Run(task.name, func(t *testing.T) {
			r, err := kept(folder, task.name)
			if err != nil {
				way := &recorder{next: http.DefaultTransport}
				done := run(t, task, newHost(t), made(way))
				r = result{task.name, name, done.score(), done.reasons, done.turns, done.usage, done.link}
				if done.failure == "" || slices.Contains(ownFault, done.failure) {
					if err := r.keep(folder); err != nil {
						t.Error(err)
					}
				}
				c := cassette{Task: task.name, Origin: name, Turns: way.turns}
				record := os.Getenv("BINDERY_TASKS_RECORD")
				if record == "" || !done.passed() {
					record = filepath.Join(folder, "answers") // for whoever looks why
				} else {
					record = filepath.Join(record, name)
				}
				if err := c.write(record); err != nil {
					t.Error(err)
				}
			}
			for _, reason := range r.Reasons {
				t.Error(reason)
			}
			results = append(results, r)
		})
	}
	if len(results) == 0 {
		t.Fatalf("no task is named %s", only)
	}
	return results
}

// kept is the result of an earlier run.
func kept(folder, task string) (r result, err error) {
	text, err := os.ReadFile(filepath.Join(folder, task+".json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

func (r result) keep(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, r.Task+".json"), append(text, '\n'), 0o644)
	}
	return err
}

// tableOf shows results for people, with a line of sums: input is what was not
// kept by the model's server, cost is in US dollars.
func tableOf(results []result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "task\tmodel\tscore\tturns\tinput\tcached\toutput\tcost\t")
	sum := result{Task: "all", Model: results[0].Model}
	done := 0
	row := func(r result, score string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.4f\t\n", r.Task, r.Model, score, r.Turns,
			r.Usage.Input+r.Usage.CacheWrite, r.Usage.CacheRead, r.Usage.Output, float64(r.Usage.Cost)/1e6)
	}
	for _, r := range results {
		row(r, fmt.Sprintf("%d%%", r.Score))
		sum.Turns += r.Turns
		sum.Usage = sum.Usage.Add(r.Usage)
		if len(r.Reasons) == 0 {
			done++
		}
	}
	row(sum, fmt.Sprintf("%d of %d", done, len(results)))
	_ = w.Flush() // to memory
	return b.String()
}
