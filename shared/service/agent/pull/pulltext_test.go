package pull

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// What a model writes in a pull request reads as it was written, and leads nowhere.
func TestTextLeadsNowhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[a](https://evil.example/b)", "[a&#93;(https&#58;//evil.example/b)"},
		{"[a](//evil.example/b)", "[a&#93;(//evil.example/b)"},
		{"[a](</evil>)", "[a&#93;(&#60;/evil>)"},
		{"[a]( //evil.example )", "[a&#93;( //evil.example )"},
		{"[a][b]\n\n[b]: //evil.example/b", "[a][b]\n\n[b&#93;: //evil.example/b"},
		{"[b]:\n//evil.example\n\n[b]", "[b&#93;:\n&#47;/evil.example\n\n[b]"},
		{"![a](//evil.example/b.png)", "&#33;&#91;a&#93;(//evil.example/b.png)"},
		{"![[a](//evil.example)](b)", "&#33;&#91;&#91;a&#93;(//evil.example)&#93;(b)"},
		{"[[a|https://evil.example]]", "&#91;&#91;a|https&#58;//evil.example]]"},
		{"see www.evil.example", "see www&#46;evil.example"},
		{"see WWW.evil.example", "see WWW&#46;evil.example"},
		{"ftp://evil.example and x-y+z://evil", "ftp&#58;//evil.example and x-y+z&#58;//evil"},
		{"- [ ] a task, and a list [1, 2]", "- [ ] a task, and a list [1, 2]"},
	} {
		got := inert(c.text)
		if got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	for _, title := range []string{"see https://evil.example", "see www.evil.example", "see FTP://evil.example"} {
		if got := inertLine(title, maxTitle); got != "see evil.example" {
			t.Errorf("the title %q becomes %q", title, got)
		}
	}
}

// sample is the text of a pull request of one round.
func sample(t *testing.T) text {
	t.Helper()
	repo, err := forge.ParseRepository("https://git.example.com/acme/docs", forge.Gitea, "")
	if err != nil {
		t.Fatal(err)
	}
	return text{
		round: &agent.Round{
			In: admin.AgentInput{
				Job:      admin.AgentJob{ID: "agj_1", Organisation: "org_1", Project: "prj_1", Round: 1, Turns: 3, Usage: admin.AgentUsage{Input: 10, CacheRead: 5, Output: 2, Cost: 12_345}},
				Messages: []admin.AgentMessage{{N: 1, Prompt: "Mend it"}},
			},
			Finish: &tool.Finish{Title: "Mend it"},
		},
		whole: &whole{
			root:  "docs",
			after: map[string][]byte{"docs/guides/start.mdx": nil, "docs/guides/index.md": nil, "docs/a (b).mdx": nil, "docs/pic.png": nil},
			files: []file{{path: "docs/guides/start.mdx", change: admin.AgentPageChanged, added: 1, removed: 2}, {path: "docs/new.mdx", change: admin.AgentPageAdded, added: 1}},
		},
		rounds: []roundLine{{n: 1, title: "Mend it", summary: "Mended."}}, repository: repo, head: "c1", dashboard: "https://bindery.example.com/",
	}
}

// A link to a page of the site leads to its file at the head; every other is inert.
func TestLinksToPages(t *testing.T) {
	const at = "https://git.example.com/acme/docs/src/commit/c1/docs/"
	for _, c := range []struct{ text, want string }{
		{"See [Start @now](/guides/start#x), [all](/guides) and [one](/guides/start/).", "See [Start &#64;now](" + at + "guides/start.mdx), [all](" + at + "guides/index.md) and [one](" + at + "guides/start.mdx)."},
		{"[gone](/nowhere)", "[gone&#93;(/nowhere)"},
		{"[up](/../secret) [a](//evil.example/b)", "[up&#93;(/../secret) [a&#93;(//evil.example/b)"},
		{"![pic](/pic.png)", "&#33;&#91;pic&#93;(/pic.png)"},
		{"![[a](/guides)](b)", "&#33;&#91;[a](" + at + "guides/index.md)&#93;(b)"},
		{"/close\n[a](/guides)\n/merge #1", "&#47;close\n[a](" + at + "guides/index.md)\n&#47;merge &#35;1"},
		{"no link", "no link"},
	} {
		if got := sample(t).linked(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	plain := sample(t)
	plain.repository.Kind = forge.Git
	if got, want := plain.linked("[a](/guides)"), "[a&#93;(/guides)"; got != want {
		t.Errorf("on a server without pages of files: %q, want %q", got, want)
	}
}

// Bindery writes its own part of a text and nothing around it.
func TestPartOfAText(t *testing.T) {
	s := sample(t)
	begin, end := s.marks()
	first := s.body("")
	if !strings.HasPrefix(first, begin+"\n## What was asked\n") || !strings.HasSuffix(first, end) {
		t.Fatalf("the first text is\n%s", first)
	}
	for _, part := range []string{
		"- `docs/guides/start.mdx` (+1 −2)\n- `docs/new.mdx` (new, 1 line)\n",
		"job [`agj_1`](https://bindery.example.com/org/org_1/agents/prj_1/agj_1): 1 round, 3 turns, 15 input and 2 output tokens, $0.012345.\n",
	} {
		if !strings.Contains(first, part) {
			t.Errorf("it lacks %q:\n%s", part, first)
		}
	}
	s.rounds = append(s.rounds, roundLine{n: 2, title: "More", summary: "More."})
	next := s.body("")
	long := strings.Repeat("ä", forge.MaxBody)
	for name, c := range map[string]struct{ now, want string }{
		"alone":                     {first, next},
		"within people's":           {"a\r\n" + first + "\r\nb", "a\r\n" + next + "\r\nb"},
		"no marks":                  {"a\n", "a\n\n" + next},
		"the end alone":             {"a " + end, "a " + end + "\n\n" + next},
		"marks in what it contains": {begin + begin + "x" + end + "y" + end + "z", next + "z"},
		"another job's marks":       {"<!-- bindery agj_2 -->a<!-- /bindery agj_2 -->", "<!-- bindery agj_2 -->a<!-- /bindery agj_2 -->\n\n" + next},
		"no room":                   {long, long},
	} {
		got := s.body(c.now)
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		if again := s.body(got); again != got {
			t.Errorf("%s, again: %q", name, again)
		}
	}
	little := strings.Repeat("ä", forge.MaxBody-1000) + "\n\n" + first
	for range 300 {
		s.whole.files = append(s.whole.files, file{path: strings.Repeat("p", 300), change: admin.AgentPageAdded})
	}
	if got := s.body(little); utf8.RuneCountInString(got) > forge.MaxBody || !strings.HasSuffix(got, end) || !strings.Contains(got, "- … and 302 more") {
		t.Errorf("with little room it has %d characters, and ends with %q", utf8.RuneCountInString(got), got[len(got)-400:])
	}
	if got := s.body(""); utf8.RuneCountInString(got) > forge.MaxBody || !strings.HasSuffix(got, end) || !strings.Contains(got, " more\n") {
		t.Errorf("with many files it has %d characters", utf8.RuneCountInString(got))
	}
}

// Statements of all rounds have their sources: links to lines at the head, where the file
// is there.
func TestSources(t *testing.T) {
	s := sample(t)
	s.round.Manifest = &agent.Manifest{Root: "docs"}
	s.round.Finish.Sources = []tool.Source{{Statement: "In a page", Path: "a (b).mdx", Line: 7}, {Statement: "You said so", Message: 1}, {Statement: "Nobody said so", Message: 2}}
	s.rounds[0].sources = []admin.AgentSource{
		{Statement: "The port is 8080, says @ada", Path: "docs/guides/start.mdx", Line: 12}, {Statement: "A picture", Path: "docs/pic.png"},
		{Statement: "A file that is gone", Path: "docs/gone.mdx", Line: 1}, {Statement: "Changed since", Commit: "1a2b3c4"},
	}
	s.rounds = append(s.rounds, roundLine{n: 2, title: "More", sources: sources(s.round)})
	const at = "https://git.example.com/acme/docs/src/commit/c1/docs/"
	want := "\n\n## Sources\n\n" +
		"- The port is 8080, says &#64;ada ([`docs/guides/start.mdx:12`](" + at + "guides/start.mdx#L12))\n" +
		"- A picture ([`docs/pic.png`](" + at + "pic.png))\n" +
		"- A file that is gone (`docs/gone.mdx:1`)\n" +
		"- Changed since (commit `1a2b3c4`)\n" +
		"- In a page ([`docs/a (b).mdx:7`](" + at + "a%20%28b%29.mdx#L7))\n" +
		"- You said so (message 1)\n\n## Files\n\n"
	if got := s.body(""); !strings.Contains(got, want) {
		t.Errorf("it lacks %q:\n%s", want, got)
	}
	if got := sample(t).body(""); strings.Contains(got, "Sources") {
		t.Errorf("there are none:\n%s", got)
	}
}

// Addresses that are lost come first, the others are counted.
func TestLostAddresses(t *testing.T) {
	s := sample(t)
	for n := range maxListed + 3 {
		s.whole.site.Lost = append(s.whole.site.Lost, fmt.Sprintf("/p%d", n))
	}
	if got := s.body(""); !strings.Contains(got, " -->\n**Look at this first.** Addresses of pages that lead nowhere any more, and 3 more:\n\n- `/p0`\n") || strings.Contains(got, "/p25") {
		t.Error(got)
	}
	s.whole.site.Lost = s.whole.site.Lost[:1]
	if got := s.body(""); !strings.Contains(got, " nowhere any more:\n\n- `/p0`\n\n") {
		t.Error(got)
	}
}

// A text stays within the forge's limit whatever a round says.
func TestLongTexts(t *testing.T) {
	s := sample(t)
	f, long := s.round.Finish, strings.Repeat("[@ä](/x)\n", 4000)
	f.Question, f.Left = long, long
	for n := range 100 {
		s.round.In.Messages = append(s.round.In.Messages, admin.AgentMessage{N: n + 2, Prompt: long})
		s.rounds = append(s.rounds, roundLine{n: n + 2, title: long, summary: long, sources: []admin.AgentSource{{Statement: long, Path: "docs/new.mdx"}}})
		s.whole.review.Findings = append(s.whole.review.Findings, strings.Repeat("f", 300))
		s.whole.review.NewHosts = append(s.whole.review.NewHosts, "h.example")
	}
	begin, end := s.marks()
	if got := s.body("people's"); utf8.RuneCountInString(got) > forge.MaxBody || !strings.HasPrefix(got, "people's\n\n"+begin) || !strings.HasSuffix(got, end) {
		t.Errorf("it has %d characters", utf8.RuneCountInString(got))
	} else if !strings.Contains(got, "messages before\n\n> ") || !strings.Contains(got, "rounds before\n\n**Round 100: ") {
		t.Errorf("it does not say what it leaves out:\n%s", got)
	}
}

// The title and the state of a draft are ours as long as nobody has changed them.
func TestTitlesAndDraftsOfPeople(t *testing.T) {
	type shown = admin.AgentShown
	for _, c := range []struct {
		name         string
		shown        shown
		title        string // at the forge
		draft        bool   // at the forge
		wanted       bool   // a draft is
		again        bool
		send         string // title, "" if nothing is sent
		is, remember bool   // the state of the draft that is sent, and remembered
		theirs       bool
	}{
		{name: "nothing new", shown: shown{Title: "A"}, title: "A"},
		{name: "a draft now", shown: shown{Title: "A"}, title: "A", wanted: true, send: "A", is: true},
		{name: "ready now", shown: shown{Title: "A", Draft: true}, title: "A", draft: true, send: "A", remember: true},
		{name: "their title, ready now", shown: shown{Title: "A", Draft: true}, title: "B", draft: true, send: "B", remember: true},
		{name: "their title", shown: shown{Title: "A"}, title: "B"},
		{name: "they made it ready", shown: shown{Title: "A", Draft: true}, title: "A", wanted: true, theirs: true},
		{name: "they made it ready, as is wanted", shown: shown{Title: "A", Draft: true}, title: "A", theirs: true},
		{name: "an earlier start made it ready", shown: shown{Title: "A", Draft: true}, title: "A", again: true, remember: true},
		{name: "they made it ready after an earlier start", shown: shown{Title: "A", Draft: true}, title: "A", wanted: true, again: true, theirs: true},
		{name: "they made it a draft", shown: shown{Title: "A"}, title: "A", draft: true, is: true, remember: true, theirs: true},
		{name: "they had decided", shown: shown{Title: "A", Theirs: true}, title: "A", wanted: true, theirs: true},
		{name: "of an earlier version", title: "B", draft: true, send: "B", remember: true},
	} {
		next, now := settle(c.shown, forge.PullRequest{Title: c.title, Draft: c.draft}, forge.Pull{Title: "A", Draft: c.wanted}, c.again)
		if next.Title != c.send || next.Draft != c.is || now.Draft != c.remember || now.Theirs != c.theirs || now.Title == "" {
			t.Errorf("%s: sends %+v, remembers %+v", c.name, next, now)
		}
	}
}
