package agenttasks

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// domain is the host name of all tasks' projects.
const domain = "docs.example.com"

// outcome is what a model made of a task.
type outcome struct {
	before, after files // the repository at the beginning, and with the pull request
	status        admin.AgentStatus
	failure       string // its code, "" for none
	link          string // of the pull request, "" for none
	title         string // of the pull request
	answer        string // the summary, and the question if there is one
}

// judge collects why a task is not done.
type judge struct {
	outcome
	tb      testing.TB
	asked   int
	reasons []string
	new     []check.Finding // what a check finds after and not before
	all     []check.Finding // what a check finds after
}

// judged holds an outcome against its task.
func judged(tb testing.TB, t task, o outcome) *judge {
	tb.Helper()
	j := &judge{outcome: o, tb: tb}
	j.want(o.status == admin.AgentCompleted, "the job is %s (%s)", o.status, o.failure)
	changed := j.changed()
	if t.answers {
		j.want(o.link == "" && len(changed) == 0, "nothing was to be changed, and there is a pull request %q of %v", o.link, changed)
	} else {
		j.want(o.link != "" && len(changed) > 0, "there is no pull request, or nothing in it")
		j.want(o.title != "" && o.answer != "", "the pull request has no title, or nothing is said of it")
	}
	for _, p := range changed {
		if t.may != "" {
			j.want(matches(t.may, p), "%s: was not to be changed", p)
		}
		j.parses(p)
	}
	before := findings(tb, o.before)
	j.all = findings(tb, o.after)
	for _, f := range check.New(before, j.all) {
		if f.Level != mdx.Notice {
			j.new = append(j.new, f)
		}
	}
	j.want(len(j.new) == 0, "a check finds what is new: %+v", j.new)
	t.check(j)
	return j
}

// want counts a requirement, and keeps the reason where it is not met.
func (j *judge) want(ok bool, format string, args ...any) bool {
	j.asked++
	if !ok {
		j.reasons = append(j.reasons, fmt.Sprintf(format, args...))
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
	}
}

var tools = check.NewTools(nil)

// found are the findings of sites that were checked, by their digests: most are
// looked at more than once.
var found = map[[sha256.Size]byte][]check.Finding{}

func findings(tb testing.TB, f files) []check.Finding {
	tb.Helper()
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%q %q\n", p, f[p])
	}
	id := [sha256.Size]byte(h.Sum(nil))
	if known, ok := found[id]; ok {
		return known
	}
	r, err := check.Site(tb.Context(), f.fs(), check.Options{Domain: domain, Rules: check.Rules{}, Tools: tools})
	if err != nil {
		tb.Fatal(err)
	}
	found[id] = r.Findings
	return r.Findings
}

func (f files) fs() fs.FS {
	m := fstest.MapFS{}
	for p, text := range f {
		m[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
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
