package pull

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Limits of a pull request's text, in bytes or entries. GitHub allows 65,536
// characters.
const (
	maxTitle       = 120
	maxSummary     = 16 << 10
	maxQuote       = 4 << 10
	maxPart        = 48 << 10 // Bindery's part before the check, if people have left room
	maxListedFiles = 100
	maxListed      = 25
)

// text has the parts of the text of a pull request. Everything in it that a model, a
// request or the repository wrote is quoted or escaped: it can mention nobody, close no
// issue and begin no command.
type text struct {
	round      *agent.Round
	whole      *whole
	rounds     []roundLine // completed ones, the last is this one
	repository forge.Repository
	head       string // commit
	dashboard  string // address, "" if there is none
	merged     int    // places at which the text of others stays in place of the round's changes
	unseen     bool   // nobody could look at the rendered pages with what others pushed last
}

// roundTitle is the title of this round and of its commit.
func (t text) roundTitle() string { return t.styled(t.rounds[len(t.rounds)-1].title) }

// title is that of the pull request: its first round's.
func (t text) title() string { return t.styled(t.rounds[0].title) }

// commitType matches how titles begin by Conventional Commits.
var commitType = lazy.Regexp(`^[a-z]+(\([^()\n]*\))?!?: `)

// styled is a title as the project wants it, with its prefix unless it begins with a
// type of commit.
func (t text) styled(title string) string {
	if prefix := t.round.In.Project.Agent.TitlePrefix; !commitType().MatchString(title) && !strings.HasPrefix(title, prefix) {
		title = prefix + title
	}
	return inertLine(title, maxTitle)
}

// templates are where repositories have templates of pull requests, in lower case.
var templates = []string{
	".github/pull_request_template.md", "pull_request_template.md", "docs/pull_request_template.md",
	".gitlab/merge_request_templates/default.md", ".gitea/pull_request_template.md", ".forgejo/pull_request_template.md",
}

// template is the repository's template, if the project wants it: the one of the branch
// that the pull request is for, which agents can't write.
func (t text) template() string {
	if !t.round.In.Project.Agent.Template {
		return ""
	}
	for _, name := range templates {
		for _, p := range slices.Sorted(maps.Keys(t.whole.before)) {
			if strings.ToLower(p) == name {
				return agent.Cut(string(t.whole.before[p]), maxSummary)
			}
		}
	}
	return ""
}

// draft reports whether the pull request should be a draft: it was asked for as one, or
// something in it is open.
func (t text) draft() bool {
	f, review := t.round.Finish, t.whole.review
	return t.round.In.Job.Draft || t.unseen || len(review.Findings)+t.merged > 0 || f.Question != "" || f.Left != ""
}

// marks returns the comments around Bindery's part of the text.
func (t text) marks() (begin, end string) {
	id := t.round.In.Job.ID
	return "<!-- bindery " + id + " -->", "<!-- /bindery " + id + " -->"
}

// body returns the text of a pull request, given the one that the forge has: Bindery's
// part between its marks is written anew, and everything around it stays. Without both
// marks it comes at the end. A text that leaves no room for it stays as it is.
func (t text) body(now string) string {
	begin, end := t.marks()
	before, after := now, ""
	if at, to := strings.Index(now, begin), strings.LastIndex(now, end); at >= 0 && to > at {
		before, after = now[:at], now[to+len(end):]
	} else if strings.TrimSpace(now) != "" {
		before = strings.TrimRight(now, " \t\r\n") + "\n\n"
	} else {
		before = ""
	}
	part := begin + "\n" + t.part(maxPart) + end
	if room := forge.MaxBody - utf8.RuneCountInString(before+after); utf8.RuneCountInString(part) > room {
		if part = begin + "\n" + t.part(0) + end; utf8.RuneCountInString(part) > room {
			return now
		}
	}
	return before + part + after
}

// part returns Bindery's section. The list of files ends with a count once the section
// has room bytes; without room, the sections before it are shorter, too.
func (t text) part(room int) string {
	var b strings.Builder
	r, review := t.round, t.whole.review
	quoted, said := maxQuote, maxSummary
	if room == 0 {
		quoted, said = 200, 800
	}
	warn(&b, "Conflicts with what others changed", review.Conflicts)
	warn(&b, "Links or pictures of hosts that the site did not name before", review.NewHosts)
	warn(&b, "Executable code in pages, which runs where the site is read", review.Executable)
	warn(&b, "Files that are no parts of the site", review.Others)
	warn(&b, "Pages that could not be looked at as readers get them", review.Unseen)
	if n, lost := len(t.whole.site.Lost)-maxListed, t.whole.site.Lost; n > 0 {
		warn(&b, "Addresses of pages that lead nowhere any more, and "+strconv.Itoa(n)+" more", lost[:maxListed])
	} else {
		warn(&b, "Addresses of pages that lead nowhere any more", lost)
	}
	b.WriteString("## What was asked\n\n")
	var asked []string
	for _, m := range r.In.Messages {
		asked = append(asked, quote(inert(agent.Cut(m.Prompt, quoted)))+"\n\n")
	}
	recent(&b, asked, 3*quoted, "message")
	b.WriteString("## What changed and why\n\n")
	var done []string
	for _, l := range t.rounds {
		line := ""
		if len(t.rounds) > 1 {
			line = fmt.Sprintf("**Round %d: %s**\n\n", l.n, inert(plainLine(l.title, maxTitle)))
		}
		if s := strings.TrimSpace(l.summary); s != "" {
			line += t.linked(agent.Cut(s, said/min(len(t.rounds), 4))) + "\n\n"
		}
		done = append(done, line)
	}
	recent(&b, done, said, "round")
	if q := strings.TrimSpace(r.Finish.Question); q != "" {
		b.WriteString("## A question\n\n" + t.linked(agent.Cut(q, quoted)) + "\n\n")
	}
	if l := strings.TrimSpace(r.Finish.Left); l != "" {
		b.WriteString("## What is left\n\n" + t.linked(agent.Cut(l, quoted)) + "\n\n")
	}
	t.sources(&b, room)
	b.WriteString("## Files\n\n")
	t.list(&b, room)
	b.WriteString("\n## Check\n\n")
	if len(review.Findings) == 0 {
		b.WriteString("`bindery check` finds nothing that was not there before.\n")
	} else {
		b.WriteString("`bindery check` finds what was not there before:\n\n")
		listed(&b, review.Findings, maxListed)
	}
	u, name := r.In.Job.Usage, code(r.In.Job.ID)
	if t.dashboard != "" {
		j := r.In.Job
		name = "[" + name + "](" + strings.TrimSuffix(t.dashboard, "/") + "/org/" + url.PathEscape(j.Organisation) + "/agents/" + url.PathEscape(j.Project) + "/" + url.PathEscape(j.ID) + ")"
	}
	fmt.Fprintf(&b, "\n---\n\nMade by the Bindery agent, job %s: %s, %s, %d input and %d output tokens, %s.\n",
		name, tool.Plural(r.In.Job.Round, "round"), tool.Plural(r.In.Job.Turns, "turn"), u.Input+u.CacheRead+u.CacheWrite, u.Output, admin.USDollars(u.Cost))
	return b.String()
}

// sources returns the sources of a round, with paths of the repository.
func sources(r *agent.Round) []admin.AgentSource {
	var all []admin.AgentSource
	for _, x := range r.Finish.Sources {
		if x.Message > len(r.In.Messages) {
			continue
		}
		y := admin.AgentSource{Statement: x.Statement, Path: x.Path, Line: x.Line, Commit: x.Commit, Message: x.Message}
		switch label, p, ok := tool.RepositoryPath(r.Manifest.Root, x.Path); {
		case !ok || x.Path == "":
		case label == "":
			y.Path = p
		default:
			y.URL = fetchedURL(r.In, label, p)
		}
		all = append(all, y)
	}
	return all
}

// fetchedURL returns the address of a file of a fetched commit, "" if its forge shows none.
func fetchedURL(in admin.AgentInput, label, p string) string {
	for _, f := range in.Job.Fetches {
		if f.Label != label || f.Commit == "" {
			continue
		}
		repo, err := forge.ParseRepository(f.URL, forge.Kind(f.Forge), "")
		if err == nil {
			return repo.FileURL(f.Commit, p)
		}
	}
	return ""
}

// sources writes where statements come from, of all rounds. The list ends with a count once
// the section has room bytes.
func (t text) sources(b *strings.Builder, room int) {
	var all []admin.AgentSource
	for _, l := range t.rounds {
		all = append(all, l.sources...)
	}
	if len(all) == 0 {
		return
	}
	b.WriteString("## Sources\n\n")
	for i, x := range all {
		if i == maxListedFiles || b.Len() > room {
			fmt.Fprintf(b, "- … and %d more\n", len(all)-i)
			break
		}
		from := code(x.Path)
		switch {
		case x.Message > 0:
			from = "message " + strconv.Itoa(x.Message)
		case x.Commit != "":
			from = "commit " + code(x.Commit)
		case x.Line > 0:
			from = code(x.Path + ":" + strconv.Itoa(x.Line))
		}
		to := x.URL
		if to == "" && x.Path != "" && t.whole.has(x.Path) {
			to = t.repository.FileURL(t.head, x.Path)
		}
		if to != "" {
			if x.Line > 0 {
				to += "#L" + strconv.Itoa(x.Line)
			}
			from = "[" + from + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(to) + ")"
		}
		fmt.Fprintf(b, "- %s (%s)\n", inert(plainLine(x.Statement, maxQuote)), from)
	}
	b.WriteString("\n")
}

// recent writes the last parts of a list, as many as there is room for and at least
// one, and before them how many are left out.
func recent(b *strings.Builder, parts []string, room int, what string) {
	first := len(parts) - 1
	for room -= len(parts[first]); first > 0 && room >= len(parts[first-1]); first-- {
		room -= len(parts[first-1])
	}
	if first > 0 {
		fmt.Fprintf(b, "… %s before\n\n", tool.Plural(first, what))
	}
	for _, p := range parts[first:] {
		b.WriteString(p)
	}
}

// list writes the summary of the changes, and as many files as there is room for.
func (t text) list(b *strings.Builder, room int) {
	lines, files := t.whole.summary()
	for _, l := range lines {
		b.WriteString("- " + l + "\n")
	}
	for i, f := range files {
		if i == maxListedFiles || b.Len() > room {
			fmt.Fprintf(b, "- … and %d more\n", len(files)-i)
			return
		}
		switch f.change {
		case admin.AgentPageMoved:
			fmt.Fprintf(b, "- %s → %s (moved, +%d −%d)\n", code(f.from), code(f.path), f.added, f.removed)
		case admin.AgentPageDeleted:
			fmt.Fprintf(b, "- %s (deleted)\n", code(f.path))
		case admin.AgentPageAdded:
			fmt.Fprintf(b, "- %s (new, %s)\n", code(f.path), tool.Plural(f.added, "line"))
		default:
			fmt.Fprintf(b, "- %s (+%d −%d)\n", code(f.path), f.added, f.removed)
		}
	}
}

// siteLink matches a Markdown link to an address of the site, with a plain text.
var siteLink = lazy.Regexp(`\[([^\[\]!\n]+)\]\((/[^()\s]*)\)`)

// linked is inert, and turns links to pages of the site into links to their files at
// the head. All other links lead nowhere.
func (t text) linked(s string) string {
	var b strings.Builder
	for at := 0; ; {
		m := siteLink().FindStringSubmatchIndex(s[at:])
		if m == nil {
			b.WriteString(inert(s[at:]))
			return b.String()
		}
		to := ""
		if source := t.whole.source(s[at+m[4] : at+m[5]]); source != "" {
			to = t.repository.FileURL(t.head, source)
		}
		if to == "" || m[0] > 0 && s[at+m[0]-1] == '!' {
			b.WriteString(inert(s[at : at+m[1]]))
		} else {
			b.WriteString(inert(s[at:at+m[0]]) + "[" + inert(s[at+m[2]:at+m[3]]) + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(to) + ")")
		}
		at += m[1]
	}
}

// warn writes a list that a reviewer must see whole: it is never cut.
func warn(b *strings.Builder, what string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "**Look at this first.** %s:\n\n", what)
	listed(b, list, len(list))
	b.WriteString("\n")
}

// listed writes the first n lines of a list.
func listed(b *strings.Builder, list []string, n int) {
	for i, l := range list {
		if i == n {
			fmt.Fprintf(b, "- … and %d more\n", len(list)-i)
			return
		}
		b.WriteString("- " + code(l) + "\n")
	}
}

// plainLine joins the lines of a text and removes control characters and marks that
// change the direction of writing.
func plainLine(s string, n int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}), " ")
	return agent.Cut(s, n)
}

// lineActs matches what forges act on in titles and commit messages, where nothing can
// be escaped: see acts; and marks that skip checks.
var (
	lineActs = lazy.Regexp(`@+(\w)|([#!])+(\d)|(?i:\b(GH)-)(\d)|(?i:\b(?:[a-z][a-z0-9+.-]*://|www\.))`)
	skips    = lazy.Regexp(`(?i)[\[*]+(?:skip|no|ci|actions)[ _-]?(?:skip|ci|actions)[\]*]+`)
)

// inertLine is plainLine, and removes what forges act on.
func inertLine(s string, n int) string {
	s = skips().ReplaceAllString(plainLine(s, n), "")
	return plainLine(lineActs().ReplaceAllString(s, "$2$4 $1$3$5"), n)
}

// code formats s as a code span.
func code(s string) string {
	s = plainLine(s, 500)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

func quote(s string) string { return "> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ") }

// acts matches what forges act on in a text: mentions; references to issues and merge
// requests, which may follow closing words; addresses, which can be either; links,
// pictures and their definitions; HTML; and GitLab's commands at the beginning of a line.
var acts = lazy.Regexp(`@|#\d|!\d|!\[+|\[\[+|\][(:]|<|&|(?i:\bGH-)\d|(?i:\b[a-z][a-z0-9+.-]*://)|(?i:\bwww\.)|(?m:^[ \t>]*/)`)

// brackets has HTML entities for the characters of links and pictures.
var brackets = strings.NewReplacer("!", "&#33;", "[", "&#91;", "]", "&#93;")

// inert returns Markdown that reads the same and triggers nothing. A link is shown as
// its Markdown: an entity in its address would not end it, as forges read entities
// there, so the bracket before the address is one.
func inert(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r == 0x7f) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
	return acts().ReplaceAllStringFunc(s, func(m string) string {
		switch {
		case m == "@":
			return "&#64;"
		case m == "<":
			return "&#60;"
		case m == "&":
			return "&#38;"
		case m[0] == '#':
			return "&#35;" + m[1:]
		case m[0] == '!':
			return brackets.Replace(m)
		case m[0] == '[', m[0] == ']':
			return brackets.Replace(m)
		case strings.HasSuffix(m, "://"):
			return m[:len(m)-3] + "&#58;//"
		case strings.HasSuffix(m, "."):
			return m[:len(m)-1] + "&#46;" // www.
		case strings.HasSuffix(m, "/"):
			return m[:len(m)-1] + "&#47;"
		}
		return m[:2] + "&#45;" + m[3:] // GH-1
	})
}
