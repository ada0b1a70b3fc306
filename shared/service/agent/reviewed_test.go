package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// withComponents gives a world a process for components, and its repository some.
func withComponents(t *testing.T, script ...modeltest.Step) *world {
	t.Helper()
	w := newWorld(t, script...)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	components := island.New(island.Options{Program: program})
	t.Cleanup(components.Close)
	w.islands = components
	w.steps = w.stepsOn(w.admin, w.objects)
	w.forge.Write("main", map[string]string{
		"docs.json":          strings.Replace(site()["docs.json"], `"navigation"`, `"variables": {"home": "known.example"}, "navigation"`, 1),
		"snippets/away.jsx":  "export const Away = ({ host }) => <a href={\"https://\" + host}>away</a>\n",
		"snippets/later.jsx": "export const Later = ({ host }) => {\n  const [at, setAt] = useState(\"/\")\n  useEffect(() => { setAt(\"https://\" + host) }, [])\n  return <img src={at} />\n}\n",
		"snippets/note.mdx":  "<a href={\"https://\" + host}>note</a>\n",
		"style.css":          "a { color: red }\n",
		"parts.mdx":          parts("known.example"),
	})
	return w
}

// over reads a file and writes it anew.
func over(path, content string) modeltest.Step {
	return modeltest.Calls(call("read", args{"path": path}), call("write", args{"path": path, "content": content}))
}

// parts is a page that uses components and snippets that are there.
func parts(host string) string {
	return "---\ntitle: Parts\ndescription: x\n---\n\nimport { Away } from \"/snippets/away.jsx\"\nimport { Later } from \"/snippets/later.jsx\"\nimport Note from \"/snippets/note.mdx\"\n\n" +
		"<Away host=\"" + host + "\" />\n\n<Later host=\"" + host + "\" />\n\n<Note host=\"" + host + "\" />\n\n[home](https://{{home}}/x)\n"
}

// Whatever a model writes that sends readers' browsers to another host, the pull request
// lists it first, and a project that refuses it gets no pull request. The sources name
// these hosts nowhere, or not as browsers read them.
func TestForeignHosts(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	const host = "h.evil.example"
	const hosts, code = "Links or pictures of hosts", "Executable code"
	page := func(text string) string {
		return "---\ntitle: New\ndescription: x\n---\n\n" + strings.ReplaceAll(text, "H", host) + "\n"
	}
	for _, c := range []struct {
		name, file, text string
		host, code       bool // what is listed
		held             bool // the check has a finding, too, and holds up the first finish
	}{
		{name: "an attribute of a component that is there", file: "parts.mdx", text: strings.Replace(parts("known.example"), "Away host=\"known.example", "Away host=\"H", 1), host: true},
		{name: "an attribute of a snippet that is there", file: "parts.mdx", text: strings.Replace(parts("known.example"), "Note host=\"known.example", "Note host=\"H", 1), host: true},
		{name: "an address that a browser computes", file: "parts.mdx", text: strings.Replace(parts("known.example"), "Later host=\"known.example", "Later host=\"H", 1), code: true},
		{name: "a variable", file: "docs.json", text: strings.Replace(site()["docs.json"], `"navigation"`, `"variables": {"home": "H"}, "navigation"`, 1), host: true},
		{name: "a joined address", file: "new.mdx", text: page(`<img src={"https://" + "H" + "/x.png"} />`), host: true, code: true},
		{name: "a line end in the scheme", file: "new.mdx", text: page("<img src=\"ht\ntps://H/x.png\" />"), host: true},
		{name: "a drawing", file: "new.mdx", text: page("```mermaid\ngraph TD\nA-->B\nclick A href \"https://H/x\"\n```"), host: true},
		{name: "backslashes", file: "new.mdx", text: page(`![x](https:\\H/x.png)`), host: true},
		{name: "a style sheet with escapes", file: "style.css", text: `a { b: url("https:\2f\2f H/x") }`, host: true, held: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.ReplaceAll(c.text, "\"H", "\""+host)
			text = strings.ReplaceAll(text, " H/", " "+host+"/")
			script := steps(over(c.file, text), done("docs: x"))
			if c.held {
				script = append(script, done("docs: x"))
			}
			w := withComponents(t, script...)
			j := w.run(w.ask("Add it"))
			pulls := w.forge.Pulls()
			if j.Status != admin.AgentCompleted || len(pulls) != 1 {
				t.Fatalf("the job is %s: %+v, after %+v", j.Status, j.Failure, j.Returns)
			}
			body := pulls[0].Body
			if strings.Contains(body, hosts) != c.host || strings.Contains(body, code) != c.code || c.host && strings.Count(body[:strings.Index(body, "## What was asked")], host) != 1 {
				t.Errorf("the pull request lists\n%s", body[:strings.Index(body, "## What was asked")])
			}
			w = withComponents(t, append(script, told("looked at before they would be published, and refused", done("docs: x")))...)
			w.configure(admin.AgentSettings{RefuseNewHosts: true, RefuseExecutable: true})
			w.end(w.run(w.ask("Add it")), expected{code: admin.CodeChanges})
		})
	}
}

// The host that a first round brought is listed as long as the pull request has it, and
// is no reason to refuse a later round.
func TestHostsOfEarlierRounds(t *testing.T) {
	away := strings.Replace(parts("known.example"), "Away host=\"known.example", "Away host=\"h.evil.example", 1)
	w := withComponents(t, over("parts.mdx", away), done("docs: away"))
	j := w.run(w.ask("Add it"))
	const line = "h.evil.example (parts.mdx, as readers get it)"
	for _, c := range []struct {
		text  string
		lists bool
	}{
		{"", true}, {strings.Replace(away, "# ", "## ", 1) + "\nMore.\n", true}, {parts("known.example"), false},
	} {
		w.configure(admin.AgentSettings{RefuseNewHosts: true})
		if c.text != "" {
			w.model.Add(over("parts.mdx", c.text))
		} else {
			w.model.Add(mends)
		}
		w.model.Add(done("docs: more"))
		j = w.run(w.message(j, "And more"))
		if pulls := w.forge.Pulls(); j.Status != admin.AgentCompleted || len(pulls) != 1 || strings.Contains(pulls[0].Body, line) != c.lists {
			t.Fatalf("the job is %s (%+v), listed: %t, want %t", j.Status, j.Failure, strings.Contains(pulls[0].Body, line), c.lists)
		}
	}
}

// Publish pushes only what Review has a record of: without one, or with one of other
// changes, the round goes to Review first.
func TestPublishNeedsTheRecord(t *testing.T) {
	w := newWorld(t, mends, finishes)
	j := w.ask("Mend the spelling of widget")
	step := w.stepper(j)
	step("Prepare", w.steps.Prepare, job.NextWork)
	step("Work", w.steps.Work, job.NextPublish)
	rounds := agent.Rounds{Admin: w.admin, Objects: w.objects}
	other := agent.ReviewDigest(w.forge.Branch("main"), []tool.Change{{Path: "index.mdx", Content: []byte("other\n")}})
	if err := rounds.PutReviewed(w.ctx, j.Current(), agent.Reviewed{Digest: other}); err != nil {
		t.Fatal(err)
	}
	step("Publish without a record", w.steps.Publish, job.NextReview)
	step("Publish again", w.steps.Publish, job.NextReview)
	if pulls := w.forge.Pulls(); len(pulls) != 0 || w.forge.Branch("bindery/"+j.ID) != "" {
		t.Fatalf("%+v were opened", pulls)
	}
	if n := w.job(j.ID).Merge.N; n != 1 {
		t.Errorf("the round was merged %d times", n)
	}
	step("Review", w.steps.Review, job.NextPublish)
	step("Review again", w.steps.Review, job.NextPublish)
	step("Publish", w.steps.Publish, job.NextDone)
	w.end(w.job(j.ID), expected{pulls: 1, turns: 2})
}

// The digest differs for whatever differs in the changes or their commit, and not for
// their order.
func TestReviewDigest(t *testing.T) {
	a, b := tool.Change{Path: "a", Content: []byte("x")}, tool.Change{Path: "b", Content: []byte("y")}
	want := agent.ReviewDigest("1", []tool.Change{a, b})
	if agent.ReviewDigest("1", []tool.Change{b, a}) != want {
		t.Error("the order counts")
	}
	seen := map[string]int{want: -1}
	for i, d := range []string{
		agent.ReviewDigest("2", []tool.Change{a, b}), agent.ReviewDigest("1", []tool.Change{a}), agent.ReviewDigest("1", nil),
		agent.ReviewDigest("1", []tool.Change{a, {Path: "b", Delete: true}}), agent.ReviewDigest("1", []tool.Change{a, {Path: "b"}}),
		agent.ReviewDigest("1", []tool.Change{{Path: "a", Content: []byte("x1:b")}, {Path: "", Content: []byte("y")}}),
		agent.ReviewDigest("1", []tool.Change{{Path: "a", Content: []byte("y")}, {Path: "b", Content: []byte("x")}}),
	} {
		if other, ok := seen[d]; ok {
			t.Errorf("%d has the digest of %d", i, other)
		}
		seen[d] = i
	}
}

// People push while a round is reviewed and published: what is merged is reviewed again,
// three times; then it is a draft that says so. A project that accepts only what was
// reviewed gets none, without another try.
func TestPeoplePushWhileItIsReviewed(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	for _, c := range []struct {
		pushes, reviews int
		set             admin.AgentSettings
		code            string
		draft           bool
	}{
		{pushes: 0, reviews: 1}, {pushes: 1, reviews: 2}, {pushes: 3, reviews: 4}, {pushes: 4, reviews: 4, draft: true},
		{pushes: 3, reviews: 4, set: admin.AgentSettings{RefuseNewHosts: true}},
		{pushes: 4, reviews: 4, set: admin.AgentSettings{RefuseNewHosts: true}, code: forge.CodeMoved},
	} {
		w := newWorld(t, steps(mends, finishes)...)
		one := w.run(w.ask("Mend the spelling of widget"))
		w.model.Add(rename...)
		w.configure(c.set)
		tasks, n, reviews, fetches := w.tasks(w.steps), 0, 0, 0
		looks, publish := tasks[job.TaskAgentReview], tasks[job.TaskAgentPublish]
		tasks[job.TaskAgentReview] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			reviews++
			return looks(ctx, in)
		}
		tasks[job.TaskAgentPublish] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			if n < c.pushes {
				n++
				w.forge.Write(one.Branch, map[string]string{"more.mdx": fmt.Sprintf("---\ntitle: More\ndescription: x\n---\n\n%d\n", n)})
			}
			before := w.forge.Count(forgetest.Fetch)
			defer func() { fetches = w.forge.Count(forgetest.Fetch) - before }()
			return publish(ctx, in)
		}
		asked := w.message(one, "Call them gadgets")
		if err := w.execute(w.ctx, asked.Current(), tasks); (err != nil) != (c.code != "") {
			t.Error(err)
		}
		two, files, pulls := w.job(one.ID), w.forge.Files(one.Branch), w.forge.Pulls()
		if failure(two) != c.code || reviews != c.reviews || n != c.pushes {
			t.Fatalf("%+v: %d reviews, the round ended with %+v", c, reviews, two.Failure)
		}
		if c.code != "" && fetches != 1 {
			t.Errorf("%+v: a refusal that no other try can cure took %d fetches", c, fetches)
		}
		if n > 0 && !strings.Contains(files["more.mdx"], fmt.Sprintf("\n%d\n", n)) || strings.Contains(files["index.mdx"], "gadgets") != (c.code == "") {
			t.Errorf("%+v: the files are %q", c, files)
		}
		if len(pulls) != 1 || pulls[0].Draft != c.draft || strings.Contains(pulls[0].Body, "people pushed") != c.draft {
			t.Errorf("%+v: the pull requests are %+v", c, pulls)
		}
	}
}

// After three merges a conflict gives the round back. If people push once more before it
// is published, it is a draft by the review of what it proposes.
func TestMergesBeforeAConflict(t *testing.T) {
	w := newWorld(t, steps(mends, finishes)...)
	one := w.run(w.ask("Mend the spelling of widget"))
	w.model.Add(rename...)
	w.model.Add(told("others changed the same lines", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "builds widgets", "new": "builds gadgets"}))), done("docs: gadgets"))
	n := 0
	var push func()
	push = func() {
		n++
		change := map[string]string{"more.mdx": fmt.Sprintf("---\ntitle: More\ndescription: x\n---\n\n%d\n", n)}
		if n == 4 {
			change = map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "makes", "builds", 1)}
		}
		w.forge.Write(one.Branch, change)
		if n < 5 {
			w.at(job.TaskAgentPublish, push)
		}
	}
	w.at(job.TaskAgentPublish, push)
	two := w.run(w.message(one, "Call them gadgets"))
	files, pulls := w.forge.Files(one.Branch), w.forge.Pulls()
	if two.Status != admin.AgentCompleted || n != 5 || len(two.Returns) != 1 {
		t.Fatalf("after %d pushes and %d returns the round is %s: %+v", n, len(two.Returns), two.Status, two.Failure)
	}
	if !strings.Contains(files["index.mdx"], "builds gadgets") || !strings.Contains(files["more.mdx"], "\n5\n") {
		t.Errorf("the files are %q", files)
	}
	if len(pulls) != 1 || !pulls[0].Draft || !strings.Contains(pulls[0].Body, "people pushed") {
		t.Errorf("the pull requests are %+v", pulls)
	}
}

// A round that changes nothing needs no review of what people pushed meanwhile.
func TestNothingToReview(t *testing.T) {
	w := newWorld(t, steps(mends, finishes)...)
	one := w.run(w.ask("Mend the spelling of widget"))
	w.model.Add(reads(1)[0], done("Nothing to do"))
	w.configure(admin.AgentSettings{RefuseNewHosts: true})
	for n := range 5 {
		w.at(job.TaskAgentPublish, func() {
			w.forge.Write(one.Branch, map[string]string{"more.mdx": fmt.Sprintf("---\ntitle: More\ndescription: x\n---\n\n%d\n", n)})
		})
	}
	two := w.run(w.message(one, "Is it right now?"))
	if p := w.forge.Pulls(); two.Status != admin.AgentCompleted || len(p) != 1 || p[0].Draft || two.Merge.N != 0 {
		t.Errorf("the round is %s after %d merges: %+v, %+v", two.Status, two.Merge.N, two.Failure, p)
	}
}

// The same with a fault at each call that changes something, or some of them: the branch
// has one commit of the round on top of people's, whatever dies.
func TestDeathInAMerge(t *testing.T) {
	outside.NoRace(t, "it runs dozens of jobs")
	m := newMortal(t)
	second := func(plan map[string]storetest.Fault) (j admin.AgentJob, calls, hit []string) {
		one, _, _ := m.run(m.new(), nil)
		m.at(job.TaskAgentPublish, func() { m.forge.Write(one.Branch, map[string]string{"more.md": "# More\n"}) })
		return m.run(m.message(one, "Call them gadgets"), plan)
	}
	whole := func(j admin.AgentJob, hit []string) {
		t.Helper()
		commits, files := m.forge.Commits(j.Branch), m.forge.Files(j.Branch)
		if j.Status != admin.AgentCompleted || j.Turns != 4 || len(commits) != 4 || len(m.forge.Pulls()) != m.ran || files["more.md"] != "# More\n" || !strings.Contains(files["index.mdx"], "gadgets") {
			t.Errorf("the job is %s after %d turns, %d commits, %+v, after %q", j.Status, j.Turns, len(commits), j.Failure, hit)
		}
	}
	sound, calls, _ := second(nil)
	whole(sound, nil)
	if sound.Merge.N != 1 {
		t.Fatalf("merged %d times", sound.Merge.N)
	}
	calls = slices.DeleteFunc(calls, reading.MatchString)
	faults, step := storetest.AllFaults(), every(t, 4, 9)
	for i := 0; i < len(calls) && !t.Failed(); i += step {
		if m.ran == 12 {
			m = newMortal(t)
		}
		j, _, hit := second(map[string]storetest.Fault{calls[i]: faults[(i+1)%len(faults)]})
		if len(hit) != 1 {
			t.Fatalf("%s was not met: %q", calls[i], hit)
		}
		whole(j, hit)
	}
}

// A new branch begins at the commit that was reviewed, whatever people push to the one
// that it is for. Only where the forge does not have that commit any more, the changes
// are merged with theirs, and reviewed again.
func TestNewBranchBeginsAtWhatWasReviewed(t *testing.T) {
	for _, c := range []struct {
		name            string
		gone            bool
		merges, commits int
	}{{"pushed", false, 0, 2}, {"replaced", true, 1, 2}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, steps(mends, finishes)...)
			j := w.ask("Mend the spelling of widget")
			base := w.forge.Branch("main")
			w.at(job.TaskAgentPublish, func() {
				files := map[string]string{"more.md": "# More\n"}
				if c.gone {
					w.forge.OnlyTips()
					w.forge.DeleteBranch("main")
					maps.Copy(files, site())
				}
				w.forge.Write("main", files)
			})
			j = w.run(j)
			pulls, files := w.forge.Pulls(), w.forge.Files("bindery/"+j.ID)
			if j.Status != admin.AgentCompleted || len(pulls) != 1 || pulls[0].Draft || j.Merge.N != c.merges {
				t.Fatalf("%+v: %d merges, %+v", j.Failure, j.Merge.N, pulls)
			}
			commits := w.forge.Commits("bindery/" + j.ID)
			if _, theirs := files["more.md"]; theirs != c.gone || len(commits) != c.commits || (j.Fork == base) == c.gone {
				t.Errorf("the branch begins at %s, not %s, with %d commits: %q", j.Fork, base, len(commits), files)
			}
		})
	}
}
