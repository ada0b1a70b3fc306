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
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/tests/outside"
)

// result is a try of a task. It is also kept as a file: a run that is begun again asks
// nothing twice.
type result struct {
	Task    string
	Family  string
	Model   string
	Try     int // from 1
	Score   int // in percent; a task that is done has 100
	Reasons []string
	Rounds  int // up to the first one that is not done
	Turns   int
	Usage   admin.AgentUsage
	PRLink  string
	// outside is set where a network, a key or a forge ended the try: it is not kept, and
	// says nothing of the model.
	outside bool
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
	results := live(t, func(t *testing.T, r result) {
		for _, reason := range r.Reasons {
			t.Error(reason)
		}
	})
	fmt.Print(tableOf(results))
	if file := os.Getenv("BINDERY_TASKS_RESULTS"); file != "" {
		if err := os.WriteFile(file, []byte(markdownOf(results)), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// live asks the model that the environment names for the tasks that it names, each as often
// as it says, and reports each try. A try that has a result from an earlier run is not
// asked for again.
func live(t *testing.T, report func(t *testing.T, r result)) []result {
	name, made := liveModel(t)
	outside.Folder(t, "corpora")
	only, err := regexp.Compile("^(?:" + cmp.Or(os.Getenv("BINDERY_TASKS"), ".*") + ")$")
	if err != nil {
		t.Fatal(err)
	}
	tries, err := strconv.Atoi(cmp.Or(os.Getenv("BINDERY_TASKS_TRIES"), "1"))
	if err != nil || tries < 1 {
		t.Fatalf("BINDERY_TASKS_TRIES is %q, and not how often to try each task", os.Getenv("BINDERY_TASKS_TRIES"))
	}
	folder := filepath.Join(cmp.Or(os.Getenv("BINDERY_TASKS_OUT"), filepath.Join(outside.Checkout(t), ".cache", "agent-tasks")), name)
	var results []result
	for _, task := range tasks() {
		if !only.MatchString(task.name) {
			continue
		}
		for try := 1; try <= tries; try++ {
			t.Run(fmt.Sprintf("%s/%d", task.name, try), func(t *testing.T) {
				r, err := kept(folder, task.name, try)
				if err != nil {
					way := &recorder{next: http.DefaultTransport}
					done := run(t, task, newHost(t), made(way))
					r = result{Task: task.name, Family: task.family, Model: name, Try: try, Score: done.score(), Reasons: done.reasons,
						Rounds: len(done.rounds), Turns: done.turns, Usage: done.usage, PRLink: done.link,
						outside: done.failure != "" && !slices.Contains(ownFault, done.failure)}
					if !r.outside {
						if err := r.keep(folder); err != nil {
							t.Error(err)
						}
					}
					c := cassette{Task: task.name, Origin: name, Turns: way.turns}
					record := os.Getenv("BINDERY_TASKS_RECORD")
					if record == "" || !done.passed() {
						record = filepath.Join(folder, "answers", strconv.Itoa(try)) // to see why a try failed
					} else {
						record = filepath.Join(record, name)
					}
					if err := c.write(record); err != nil {
						t.Error(err)
					}
				}
				r.Family, r.Try, r.Rounds = task.family, try, max(r.Rounds, 1) // results of earlier versions lack them
				report(t, r)
				results = append(results, r)
			})
		}
	}
	if len(results) == 0 {
		t.Fatalf("no task is named %s", only)
	}
	return results
}

// resultFile returns the path of the result of a try.
func resultFile(folder, task string, try int) string {
	if try > 1 {
		task += "." + strconv.Itoa(try)
	}
	return filepath.Join(folder, task+".json")
}

// kept is the result of an earlier run.
func kept(folder, task string, try int) (r result, err error) {
	text, err := os.ReadFile(resultFile(folder, task, try))
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
		err = os.WriteFile(resultFile(folder, r.Task, r.Try), append(text, '\n'), 0o644)
	}
	return err
}
