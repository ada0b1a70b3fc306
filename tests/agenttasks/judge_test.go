package agenttasks

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// domain is the host name of all tasks' projects.
const domain = "docs.example.com"

// outcome holds the state after a round.
type outcome struct {
	before, after files // the repository as the round found it, and with the pull request
	status        admin.AgentStatus
	failure       string   // its code, "" for none
	link          string   // of the job's last pull request, "" for none
	title, body   string   // of that pull request
	draft         bool     // whether it is one
	sources       []source // that its text names, of all rounds
	findings      []string // that it lists
	summary       string
	question      string // to the one who asked, "" for none
	turns         int    // of the round
	cost          int64  // of the round, in millionths of a US dollar
}

// source is a row of a pull request's sources. Its path is that of a file of the repository
// or of an attachment.
type source struct {
	statement, path string
	line            int // 0 for the whole file
	message         int // its number, 0 for none
}

// sourceForm is a line of the sources in a pull request's text.
var sourceForm = regexp.MustCompile("^- (.*) \\((?:message (\\d+)|\\[?`([^`]+?)(?::(\\d+))?`\\]?(?:\\(.*\\))?)\\)$")

// sourcesIn reads the sources that the text of a pull request names.
func sourcesIn(body string) []source {
	_, list, _ := strings.Cut(body, "\n## Sources\n")
	list, _, _ = strings.Cut(list, "\n## ")
	var all []source
	for line := range strings.SplitSeq(list, "\n") {
		if m := sourceForm.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[4])
			message, _ := strconv.Atoi(m[2])
			all = append(all, source{m[1], m[3], n, message})
		}
	}
	return all
}

// Sources are read as pull requests name them: with a link where the file is one of theirs.
func TestSourcesInATextOfAPullRequest(t *testing.T) {
	body := "## What was done\n\n- a (`b.mdx:1`)\n\n## Sources\n\n" +
		"- A run has 15 tags (most) (`src/tags.ts:4`)\n- It is new ([`docs/a.mdx:12`](https://forge.example.com/acme/docs/src/commit/1/docs/a%28b%29.mdx#L12))\n" +
		"- All of it (`attachment:1/notes (2).md`)\n- You said so (message 2)\n- Since then (commit `0123abc`)\n- … and 3 more\n\n## Files\n\n- `c.mdx` (+1 −1)\n"
	want := []source{
		{"A run has 15 tags (most)", "src/tags.ts", 4, 0}, {"It is new", "docs/a.mdx", 12, 0},
		{"All of it", "attachment:1/notes (2).md", 0, 0}, {"You said so", "", 0, 2},
	}
	if got := sourcesIn(body); !slices.Equal(got, want) {
		t.Errorf("the sources are %+v", got)
	}
}

// judge collects why a task is not done. Its outcome is that of the last round.
type judge struct {
	outcome
	tb      testing.TB
	task    task
	rounds  []outcome // so far, the last one included
	asked   int
	reasons []string
	all     []check.Finding // what a check finds after
}

func newJudge(tb testing.TB, t task) *judge { return &judge{tb: tb, task: t} }

// round holds what came of the next round against the task, and reports whether it is
// done.
func (j *judge) round(o outcome) bool {
	rounds := j.task.rounds()
	r := rounds[len(j.rounds)]
	j.outcome, j.rounds = o, append(j.rounds, o)
	j.want(o.status == admin.AgentCompleted, "the job is %s (%s)", o.status, o.failure)
	changed := j.changed()
	if r.answers {
		j.want(len(changed) == 0 && o.link == j.earlier().link, "nothing was to be changed, and there is a pull request %q of %v", o.link, changed)
	} else if !r.asks {
		j.want(o.link != "" && len(changed) > 0, "there is no pull request, or nothing in it")
		j.want(o.title != "", "the pull request has no title")
	}
	j.want(o.summary != "", "nothing is said of it")
	if r.asks {
		j.want(o.question != "", "nothing is asked")
		j.want(o.link == "" || o.draft, "the pull request is no draft while its question is open")
	} else {
		j.want(o.question == "", "something is asked that the request says: %q", o.question)
		j.want(!o.draft, "the pull request is a draft")
	}
	for _, p := range changed {
		if r.may != "" {
			j.want(matches(r.may, p), "%s: was not to be changed", p)
		}
		j.parses(p)
	}
	before := findings(j.tb, o.before.sub(j.task.set.Root))
	j.all = findings(j.tb, o.after.sub(j.task.set.Root))
	var found []check.Finding // after and not before
	for _, f := range check.New(before, j.all) {
		if f.Level != mdx.Notice {
			found = append(found, f)
		}
	}
	j.want(len(found) == 0, "a check finds what is new: %+v", found)
	r.check(j)
	if !j.passed() && len(j.rounds) < len(rounds) {
		j.want(false, "there was no round %d", len(j.rounds)+1)
	}
	return j.passed()
}

// earlier is the outcome of the round before the last one, zero in the first round.
func (j *judge) earlier() outcome {
	if len(j.rounds) < 2 {
		return outcome{}
	}
	return j.rounds[len(j.rounds)-2]
}

// added are the sources that the last round has named.
func (j *judge) added() []source { return j.sources[min(len(j.earlier().sources), len(j.sources)):] }

// want counts a requirement, and keeps the reason where it is not met.
func (j *judge) want(ok bool, format string, args ...any) bool {
	j.asked++
	if !ok {
		reason := fmt.Sprintf(format, args...)
		if len(j.task.then) > 0 {
			reason = fmt.Sprintf("round %d: %s", len(j.rounds), reason)
		}
		j.reasons = append(j.reasons, reason)
	}
	return ok
}

func (j *judge) passed() bool { return len(j.reasons) == 0 }

// score is the share of the requirements that are met, in percent. A task that
// fails has less than 100.
func (j *judge) score() int { return (j.asked - len(j.reasons)) * 100 / j.asked }

// changed are the paths of files that differ, sorted.
func (j *judge) changed() []string {
	differ := map[string]bool{}
	for p, text := range j.before {
		if now, ok := j.after[p]; !ok || now != text {
			differ[p] = true
		}
	}
	for p := range j.after {
		if _, ok := j.before[p]; !ok {
			differ[p] = true
		}
	}
	return slices.Sorted(maps.Keys(differ))
}

// matches reports whether a path is one of a list of patterns with spaces between.
func matches(patterns, p string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		ok, err := path.Match(pattern, p)
		return ok && err == nil
	})
}

// parses wants that a file can be read as what it is.
func (j *judge) parses(p string) {
	text, ok := j.after[p]
	switch {
	case !ok:
	case strings.HasSuffix(p, ".mdx"):
		_, diags := mdx.Parse([]byte(text), (&site.Site{}).Syntax(p))
		for _, d := range diags {
			j.want(d.Severity != mdx.Error, "%s:%d: %s", p, d.Line, d.Message)
		}
	case strings.HasSuffix(p, ".json"):
		j.want(json.Valid([]byte(text)), "%s: is not JSON", p)
	case strings.HasSuffix(p, ".yml"), strings.HasSuffix(p, ".yaml"):
		err := yaml.Unmarshal([]byte(text), &yaml.Node{})
		j.want(err == nil, "%s: is not YAML: %v", p, err)
	}
}

var tools = check.NewTools(nil)

// found are the findings of sites that were checked, by their digests: most are
// looked at more than once, some by tests that run at the same time.
var found sync.Map

func findings(tb testing.TB, f files) []check.Finding {
	tb.Helper()
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%d %d %s", len(p), len(f[p]), p)
		_, _ = io.WriteString(h, f[p]) // a hash takes everything
	}
	id := [sha256.Size]byte(h.Sum(nil))
	if known, ok := found.Load(id); ok {
		return known.([]check.Finding)
	}
	r, err := check.Site(tb.Context(), f.fs(), check.Options{Domain: domain, Rules: check.Rules{}, Tools: tools})
	if err != nil {
		tb.Fatal(err)
	}
	found.Store(id, r.Findings)
	return r.Findings
}

func (f files) fs() fs.FS {
	m := fstest.MapFS{}
	for p, text := range f {
		m[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
}

// sub are the files of a folder, with paths from there; "" is the whole repository.
func (f files) sub(folder string) files {
	if folder == "" {
		return f
	}
	out := files{}
	for p, text := range f {
		if rest, ok := strings.CutPrefix(p, folder+"/"); ok {
			out[rest] = text
		}
	}
	return out
}

// pages are the pages that a pattern of paths names.
func (f files) pages(pattern string) []string {
	var out []string
	for p := range f {
		if strings.HasSuffix(p, ".mdx") && matches(pattern, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// same wants that files of both sides are one text once fn has taken away what may
// differ.
func (j *judge) same(pattern string, fn func(string) string) {
	for _, p := range j.before.pages(pattern) {
		j.want(fn(j.before[p]) == fn(j.after[p]), "%s: more differs than was asked for", p)
	}
}

// has and lacks want that a file has texts after the change, or has none of them.
func (j *judge) has(p string, texts ...string) {
	for _, s := range texts {
		j.want(strings.Contains(j.after[p], s), "%s: lacks %q", p, s)
	}
}

// gone wants that a file was deleted.
func (j *judge) gone(p string) {
	_, still := j.after[p]
	j.want(!still, "%s is still there", p)
}

func (j *judge) lacks(p string, texts ...string) {
	for _, s := range texts {
		j.want(!strings.Contains(j.after[p], s), "%s: has %q", p, s)
	}
}

// navigation are the entries of docs.json in their order: groups as "# label".
func (f files) navigation() []string {
	var config struct {
		Navigation struct {
			Groups []struct {
				Group string
				Pages []string
			}
		}
	}
	if json.Unmarshal([]byte(f["docs.json"]), &config) != nil {
		return nil
	}
	var out []string
	for _, g := range config.Navigation.Groups {
		out = append(append(out, "# "+g.Group), g.Pages...)
	}
	return out
}

// redirects are those of docs.json.
func (f files) redirects() map[string]string {
	var config struct {
		Redirects []struct{ Source, Destination string }
	}
	out := map[string]string{}
	if json.Unmarshal([]byte(f["docs.json"]), &config) == nil {
		for _, r := range config.Redirects {
			out[r.Source] = r.Destination
		}
	}
	return out
}

// settings wants that docs.json has this navigation and these redirects, that all
// else in it is as it was, and that it was not written anew: at most most lines
// are not of the file before.
func (j *judge) settings(navigation []string, redirects map[string]string, most int) {
	j.want(slices.Equal(j.after.navigation(), navigation), "the navigation is %q, not %q", j.after.navigation(), navigation)
	j.want(maps.Equal(j.after.redirects(), redirects), "the redirects are %v, not %v", j.after.redirects(), redirects)
	rest := func(f files) string {
		var all map[string]any
		if json.Unmarshal([]byte(f["docs.json"]), &all) != nil {
			return "not JSON"
		}
		delete(all, "navigation")
		delete(all, "redirects")
		text, _ := json.Marshal(all)
		return string(text)
	}
	j.want(rest(j.before) == rest(j.after), "docs.json has other settings than before")
	had := strings.Split(j.before["docs.json"], "\n")
	news := 0
	for line := range strings.SplitSeq(j.after["docs.json"], "\n") {
		if !slices.Contains(had, line) {
			news++
		}
	}
	j.want(news <= most, "docs.json has %d new lines: it was formatted anew", news)
}

var (
	fence  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	inline = regexp.MustCompile("`[^`\n]+`")
	image  = regexp.MustCompile(`!\[([^\]]*)\]\(`)
)

// prose is a page without its code, code its code alone.
func prose(text string) string {
	return inline.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
}

func code(text string) string {
	return strings.Join(append(fence.FindAllString(text, -1), inline.FindAllString(fence.ReplaceAllString(text, ""), -1)...), "\n")
}

// without returns what takes all matches of a pattern out of a text.
func without(pattern string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(text string) string { return re.ReplaceAllString(text, "") }
}

// field is a value of a page's head, "" if there is none.
func field(text, name string) string {
	head, _ := mdx.SplitFrontMatter([]byte(text))
	m := regexp.MustCompile(`(?m)^` + name + `:[ \t]*(.*?)[ \t]*$`).FindSubmatch(head)
	if m == nil {
		return ""
	}
	return strings.Trim(string(m[1]), `"'`)
}

// body is a page without its head.
func body(text string) string {
	_, at := mdx.SplitFrontMatter([]byte(text))
	return strings.TrimSpace(text[at.Offset:])
}

// loose is a text without what aligns tables: white space, hyphens and colons.
func loose(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n-:", r) {
			return -1
		}
		return r
	}, text)
}

// words is a text with each white space as one blank.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
