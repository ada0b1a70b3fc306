package agenttasks

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// made are the outcomes that a dialogue comes to, one for each round.
func made(tb testing.TB, t task, c cassette) []outcome {
	tb.Helper()
	rounds, d := t.rounds(), &desk{tb: tb, base: t.site(tb)}
	turns := c.rounds()
	if len(turns) != len(rounds) {
		tb.Fatalf("the dialogue has %d rounds, the task %d", len(turns), len(rounds))
	}
	var all []outcome
	var sources []source
	attached, pulls := map[string][]byte{}, 0
	for n, r := range rounds {
		before := d.begin(r)
		for _, a := range r.attached {
			attached[tool.AttachedPath(n+1, a.Name)] = a.Data
		}
		after, end := apply(tb, t.set, turns[n], before, d.tags, attached)
		o := outcome{before: before, after: after, status: admin.AgentCompleted, title: end.Title, summary: end.Summary, question: end.Question}
		if n > 0 {
			o.link, o.title = all[n-1].link, all[n-1].title
		}
		if d.branch == nil {
			sources = nil // a new pull request
		}
		for _, s := range end.Sources {
			label, p, ok := tool.RepositoryPath(t.set.Root, s.Path)
			if !ok || label != "" || s.Path == "" {
				p = s.Path
			}
			sources = append(sources, source{s.Statement, p, s.Line, s.Message})
		}
		if o.sources = slices.Clone(sources); !maps.Equal(before, after) {
			if d.branch == nil {
				pulls++
				o.link, o.title = fmt.Sprintf("https://forge.example.com/pulls/%d", pulls), end.Title
			}
			d.publish(after, "job", pulls)
		}
		o.draft = d.branch != nil && end.Question != ""
		all = append(all, o)
	}
	return all
}

// judged holds outcomes of rounds against a task, as far as they are done.
func judged(tb testing.TB, t task, rounds []outcome) *judge {
	tb.Helper()
	j := newJudge(tb, t)
	for _, o := range rounds {
		if !j.round(o) {
			break
		}
	}
	return j
}

// spoilt are the outcomes with one of a round that is done otherwise.
func (v spoiled) spoilt(tb testing.TB, rounds []outcome, n int) []outcome {
	tb.Helper()
	all := slices.Clone(rounds)
	o := all[n]
	o.after = maps.Clone(o.after)
	if v.spoil(&o); reflect.DeepEqual(o, all[n]) {
		tb.Errorf("%s: is the same solution", v.how)
	}
	all[n] = o
	return all[:n+1]
}

// A good solution passes its checker, also where it could be another one. Each of three
// or more bad ones fails with a reason, and of a task of several rounds at least one fails
// in the last round.
func TestCheckers(t *testing.T) {
	outside.Folder(t, "corpora")
	if n := len(tasks()); n != 40 {
		t.Errorf("there are %d tasks", n)
	}
	for _, task := range tasks() {
		t.Run(task.name, func(t *testing.T) {
			if task.long {
				outside.Long(t, "checks a whole site several times")
			}
			t.Parallel()
			good := made(t, task, handmade(t, task.name))
			last := len(good) - 1
			if j := judged(t, task, good); !j.passed() || j.score() != 100 || len(j.rounds) != len(good) {
				t.Fatalf("the good solution scores %d: %q", j.score(), j.reasons)
			}
			for _, v := range otherwise[task.name] {
				if j := judged(t, task, v.spoilt(t, good, last)); !j.passed() {
					t.Errorf("%s is as good, and scores %d: %q", v.how, j.score(), j.reasons)
				}
			}
			inLast, inFirst := slices.Concat(bad[task.name], badLast[task.name]), badFirst[task.name]
			if n := len(inLast) + len(inFirst); n < 3 || len(inLast) == 0 {
				t.Errorf("there are %d bad solutions", n)
			}
			fails := func(b spoiled, n int) {
				j := judged(t, task, b.spoilt(t, good, n))
				if j.passed() || j.score() == 100 {
					t.Errorf("%s: passes", b.how)
				}
				if len(j.rounds) != n+1 {
					t.Errorf("%s: fails in round %d, not %d", b.how, len(j.rounds), n+1)
				}
				t.Logf("%s: %d%%: %q", b.how, j.score(), j.reasons)
			}
			for _, b := range inLast {
				fails(b, last)
			}
			for _, b := range inFirst {
				fails(b, 0)
			}
		})
	}
}

// server is a model that answers from a dialogue, and that reads so many tokens at most;
// 0 for no limit.
func server(t *testing.T, c cassette, way http.RoundTripper, context int) (model.Choice, *modeltest.Server) {
	t.Helper()
	s := modeltest.New(t, c.steps()...)
	s.Context = context
	client, err := model.New(model.Options{Base: s.URL, Attempts: 1, Client: &http.Client{Transport: way}})
	if err != nil {
		t.Fatal(err)
	}
	return model.Choice{ID: "scripted", Client: client, Price: model.Price{Input: 3, CacheWrite: 3.75, CacheRead: 0.3, Output: 15}, MaxOutput: 16_000, Context: context}, s
}

// named is the task of a name.
func named(tb testing.TB, name string) task {
	tb.Helper()
	all := tasks()
	i := slices.IndexFunc(all, func(t task) bool { return t.name == name })
	if i < 0 {
		tb.Fatalf("there is no task %q", name)
	}
	return all[i]
}

// replay carries a dialogue through the real steps and holds what comes of it
// against the task; on a nil host, on a fake forge. It reports whether the requests are those that were recorded,
// if there are any.
func replay(t *testing.T, task task, c cassette, on host) (same bool) {
	t.Helper()
	_, same = replayIn(t, task, c, on, 0)
	return same
}

// replaySmall replays a dialogue without a limit and with a model of 64,000 tokens. Both
// end the same. On a whole site, and in a large specification, a replay takes several seconds
// of a processor: there the one without a limit is for make test-all.
func replaySmall(t *testing.T, task task, c cassette) {
	t.Helper()
	if task.long && !outside.Full() {
		replayIn(t, task, c, nil, 64_000)
		return
	}
	whole, _ := replayIn(t, task, c, nil, 0)
	small, _ := replayIn(t, task, c, nil, 64_000)
	if len(whole) != len(small) {
		t.Fatalf("with a small context there are %d rounds, want %d", len(small), len(whole))
	}
	for n := range whole {
		w, s := whole[n], small[n]
		if (w.link == "") != (s.link == "") {
			t.Errorf("the pull requests are %q and %q", s.link, w.link)
		}
		for _, o := range []*outcome{&w, &s} { // what each job has of its own
			o.link, o.body, o.cost = "", "", 0
		}
		if !reflect.DeepEqual(w, s) {
			t.Errorf("with a small context, round %d ends as %s %s with %d files, want %s %s with %d",
				n+1, s.status, s.failure, len(s.after), w.status, w.failure, len(w.after))
		}
	}
}

// replayIn is replay with a model that reads so many tokens, 0 for no limit. It also
// returns how the rounds ended.
func replayIn(t *testing.T, task task, c cassette, on host, context int) (ends []outcome, same bool) {
	t.Helper()
	if on == nil {
		on = forgetest.New(t)
	}
	way := &recorder{next: http.DefaultTransport}
	m, s := server(t, c, way, context)
	r := run(t, task, on, m)
	if !r.passed() {
		t.Errorf("%d%%: %q", r.score(), r.reasons)
	}
	if s.Left() != 0 || r.turns != len(c.Turns) {
		t.Errorf("%d turns of %d were used, %d answers are left", r.turns, len(c.Turns), s.Left())
	}
	var spent int64
	for _, o := range r.rounds {
		spent += o.cost
	}
	if spent != r.usage.Cost {
		t.Errorf("the rounds cost %d, the job %d", spent, r.usage.Cost)
	}
	for i, turn := range c.Turns {
		if turn.Request != "" && (i >= len(way.asked) || way.asked[i] != turn.Request) {
			t.Logf("request %d is not the one that was recorded: tools, instructions or the site have changed since", i+1)
			return r.rounds, false
		}
	}
	return r.rounds, true
}

// Dialogues that were written by hand, and those that were recorded, do their
// tasks through the real steps.
func TestReplay(t *testing.T) {
	outside.Folder(t, "corpora")
	for i, task := range tasks() {
		t.Run(task.name, func(t *testing.T) {
			if i > 0 {
				outside.Long(t, "a job with its repository takes a second of a processor")
			}
			t.Parallel()
			c := handmade(t, task.name)
			if c.Task != task.name || c.Origin != byHand {
				t.Errorf("the dialogue is of %s, %s", c.Task, c.Origin)
			}
			replaySmall(t, task, c)
		})
	}
	recorded, err := filepath.Glob(filepath.Join("testdata", "recorded", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range recorded {
		t.Run(file, func(t *testing.T) {
			outside.Long(t, "a job with its repository takes a second of a processor")
			c := readCassette(t, file)
			replaySmall(t, named(t, c.Task), c)
		})
	}
}

// The runner asks a model with its key, keeps results and answers without it, and
// asks nothing twice, each try on its own. What it has recorded replays, request by
// request the same.
func TestRunner(t *testing.T) {
	outside.Folder(t, "corpora")
	const name, key = "injection", "sesame-open-1"
	dir := t.TempDir()
	s := modeltest.New(t, handmade(t, name).steps()...)
	s.Key = key
	models := filepath.Join(dir, "models.json")
	table := `{"default": "best", "servers": {"one": {"base": "` + s.URL + `", "auth": "x-api-key"}},
		"models": {"best": {"server": "one", "model": "m", "context": 200000, "output": 8000, "price": {"input": 3, "cacheWrite": 3.75, "cacheRead": 0.3, "output": 15}}}}`
	if err := os.WriteFile(models, []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"BINDERY_TASKS_MODELS": models, "BINDERY_MODEL_KEY": key, "BINDERY_TASKS": name, "BINDERY_TASKS_MODEL": "", "FORGE_URL": "", "BINDERY_TASKS_TRIES": "",
		"BINDERY_TASKS_OUT": filepath.Join(dir, "out"), "BINDERY_TASKS_RECORD": filepath.Join(dir, "recorded"),
	} {
		t.Setenv(name, value)
	}
	quiet := func(*testing.T, result) {}
	first := live(t, quiet)
	asked := len(s.Requests())
	again := live(t, quiet)
	if len(first) != 1 || first[0].Score != 100 || first[0].Usage.Cost == 0 || first[0].PRLink == "" || first[0].Rounds != 1 || first[0].Turns != 4 {
		t.Fatalf("the result is %+v", first)
	}
	if !reflect.DeepEqual(first, again) || len(s.Requests()) != asked {
		t.Errorf("a run that is begun again asked %d times more, and has %+v", len(s.Requests())-asked, again)
	}
	file := filepath.Join(dir, "recorded", "best", name+".json")
	c := readCassette(t, file)
	if text := readText(t, file) + readText(t, filepath.Join(dir, "out", "best", name+".json")); strings.Contains(text, key) {
		t.Error("the key is in what was kept")
	}
	if len(c.Turns) != 4 || c.Origin != "best" {
		t.Fatalf("recorded are %d turns of %s", len(c.Turns), c.Origin)
	}
	if !replay(t, named(t, name), c, nil) {
		t.Error("the recording has other requests than its replay")
	}

	// A second try does nothing, and a third one meets a server that is away: it is no try.
	nothing := modeltest.Calls(modeltest.Call{Name: "finish", Input: map[string]any{"title": "Nothing to do", "summary": "It is right."}})
	s.Add(nothing, modeltest.Status(http.StatusUnauthorized, "authentication_error", "no"))
	t.Setenv("BINDERY_TASKS_TRIES", "3")
	three := live(t, quiet)
	if len(three) != 3 || !reflect.DeepEqual(three[0], first[0]) || len(three[1].Reasons) == 0 || three[1].outside || !three[2].outside || s.Left() != 0 {
		t.Fatalf("the results are %+v", three)
	}
	asked = len(s.Requests())
	s.Add(handmade(t, name).steps()...)
	end := live(t, quiet)
	if len(end) != 3 || !reflect.DeepEqual(end[:2], three[:2]) || end[2].Score != 100 || end[2].Try != 3 || len(s.Requests()) != asked+4 {
		t.Errorf("with one try to go on with, %d requests were made, and there is %+v", len(s.Requests())-asked, end)
	}
	tasks, _, _ := standings(end)
	if got := tasks[0].figures(3)[:5]; !slices.Equal(got, []string{"3", "2", "66.7%", "33.3%", "0.0%"}) {
		t.Errorf("the figures are %v", got)
	}
}

// A forge that the environment names takes the place of the fake one.
func TestRemoteForge(t *testing.T) {
	outside.Folder(t, "corpora")
	outside.Long(t, "starts a forge")
	g := forgetest.NewGitea(t)
	g.REST(http.MethodPost, "/user/repos", map[string]any{"name": "agent-tasks", "default_branch": "main", "auto_init": true}, http.StatusCreated)
	for name, value := range map[string]string{"FORGE_URL": g.URL, "FORGE_USER": g.User, "FORGE_TOKEN": g.Token, "FORGE_REPOSITORY": "", "FORGE_KIND": ""} {
		t.Setenv(name, value)
	}
	for _, name := range []string{"move-page", "question", "code-flags", "code-limits"} { // code-flags has tags, code-limits merges its first pull request
		replay(t, named(t, name), handmade(t, name), newHost(t))
	}
	people := newHost(t)
	people.Close(1) // that of move-page
	people.Write("one", map[string]string{"one.md": "One.\n"})
	people.Write("two", map[string]string{"two.md": "Two.\n"})
	people.MergeBranch("one", "two")
	var one struct {
		SHA     string
		Parents []struct{ SHA string }
	}
	if err := json.Unmarshal(g.REST(http.MethodGet, "/repos/"+g.User+"/agent-tasks/git/commits/one", nil, http.StatusOK), &one); err != nil || len(one.Parents) != 2 {
		t.Errorf("the branch one is %+v, %v", one, err)
	}
	for range 2 { // the tag is that of code-flags, then of this commit already
		newHost(t).Tag("v1.4", "one", "")
	}
	var tag struct{ Commit struct{ SHA string } }
	if err := json.Unmarshal(g.REST(http.MethodGet, "/repos/"+g.User+"/agent-tasks/tags/v1.4", nil, http.StatusOK), &tag); err != nil || tag.Commit.SHA != one.SHA {
		t.Errorf("the tag v1.4 is at %s, want %s, %v", tag.Commit.SHA, one.SHA, err)
	}
	var pulls []struct {
		State  string
		Merged bool
	}
	if err := json.Unmarshal(g.REST(http.MethodGet, "/repos/"+g.User+"/agent-tasks/pulls?state=all", nil, http.StatusOK), &pulls); err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for _, p := range pulls {
		if p.Merged {
			p.State = "merged"
		}
		states[p.State]++
	}
	if want := map[string]int{"open": 2, "merged": 1, "closed": 1}; !maps.Equal(states, want) {
		t.Errorf("the pull requests are %v, want %v", states, want)
	}
}
