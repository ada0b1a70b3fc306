package pull

import (
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// Limits of a pull request's text, in bytes or entries. GitHub allows 65,536
// characters.
const (
	maxTitle       = 120
	maxSummary     = 16 << 10
	maxQuote       = 4 << 10
	maxListedFiles = 100
	maxListed      = 25
)

// text is the text of a pull request.
type text struct {
	title, body string
	stat        admin.AgentChanges
	files       []admin.AgentFile
}

// pullText writes the text of the round's pull request. Everything in it that
// the model, the request or the repository wrote is quoted or escaped: it can
// mention nobody, close no issue and begin no command.
func pullText(r *agent.Round, changes []tool.Change, review admin.AgentReview) text {
	var t text
	summary := ""
	if r.Finish != nil {
		t.title, summary = r.Finish.Title, r.Finish.Summary
	}
	prompt := r.In.Messages[0].Prompt
	if strings.TrimSpace(t.title) == "" {
		t.title = "docs: " + prompt
	}
	t.title = inertLine(t.title, maxTitle)

	var b strings.Builder
	warn(&b, "Links or pictures of hosts that the site did not name before", review.NewHosts)
	warn(&b, "Executable code in pages, which runs where the site is read", review.Executable)
	warn(&b, "Files that are no parts of the site", review.Others)
	b.WriteString("## What was asked\n\n")
	for _, m := range r.In.Messages {
		b.WriteString(quote(inert(agent.Cut(m.Prompt, maxQuote))) + "\n\n")
	}
	if s := strings.TrimSpace(summary); s != "" {
		b.WriteString("## What changed and why\n\n" + inert(agent.Cut(s, maxSummary)) + "\n\n")
	}
	if r.Finish != nil && strings.TrimSpace(r.Finish.Question) != "" {
		b.WriteString("## A question\n\n" + inert(agent.Cut(r.Finish.Question, maxQuote)) + "\n\n")
	}
	b.WriteString("## Files\n\n")
	for i, c := range changes {
		diff, added, removed := tool.Diff(c.Path, r.Base.Texts[c.Path], c.Content)
		t.files = append(t.files, admin.AgentFile{Path: c.Path, Added: added, Removed: removed, Diff: diff})
		t.stat.Files++
		t.stat.Added += added
		t.stat.Removed += removed
		switch _, had := r.Base.Texts[c.Path]; {
		case i == maxListedFiles:
			fmt.Fprintf(&b, "- … and %d more\n", len(changes)-i)
		case i > maxListedFiles:
		case c.Delete:
			fmt.Fprintf(&b, "- %s (deleted)\n", code(c.Path))
		case !had:
			fmt.Fprintf(&b, "- %s (new, %d lines)\n", code(c.Path), added)
		default:
			fmt.Fprintf(&b, "- %s (+%d −%d)\n", code(c.Path), added, removed)
		}
	}
	b.WriteString("\n## Check\n\n")
	if len(review.Findings) == 0 {
		b.WriteString("`bindery check` finds nothing that was not there before.\n")
	} else {
		b.WriteString("`bindery check` finds what was not there before:\n\n")
		for i, f := range review.Findings {
			if i == maxListed {
				fmt.Fprintf(&b, "- … and %d more\n", len(review.Findings)-i)
				break
			}
			b.WriteString("- " + code(f) + "\n")
		}
	}
	u := r.Usage
	fmt.Fprintf(&b, "\n---\n\nMade by the Bindery agent, job %s: %d turns, %d input and %d output tokens.\n",
		code(r.In.Job.ID), r.Turns, u.Input+u.CacheRead+u.CacheWrite, u.Output)
	t.body = b.String()
	return t
}

// warn writes a list that a reviewer must see whole: it is never cut.
func warn(b *strings.Builder, what string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "**Look at this first.** %s:\n\n", what)
	for _, l := range list {
		b.WriteString("- " + code(l) + "\n")
	}
	b.WriteString("\n")
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
