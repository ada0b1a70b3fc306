package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/edit"
)

var checkTool = definition{
	name: "check",
	about: "Checks the whole site and reports what is wrong now and was not before the job: links, anchors, pictures, syntax, navigation. " +
		"Use it before finish. No scripts are run and no other host is asked.",
	params: []param{
		{name: "path", about: globHelp + " Default: everything."},
		{name: "all", kind: yesNo, about: "Whether what was wrong before the job is shown as well, for requests to mend that. Default false."},
	},
	call: (*Set).check,
}

func (s *Set) check(ctx context.Context, a args) (Result, error) {
	match, err := compileGlob(a.text("path"))
	if err != nil {
		return Result{}, err
	}
	all := a.yes("all")
	found, err := s.checker.Check(ctx, s.tree.FS(), all)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{}, refuse("the site can't be checked: %v", err)
	}
	var b pages
	levels := map[string]int{}
	for _, f := range found {
		if !match(f.File) {
			continue
		}
		levels[f.Level]++
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		}
		b.add("%s: %s: %s (%s)", place, f.Level, cutLine(f.Message), f.Code)
	}
	var said []string
	for _, level := range []string{LevelError, LevelWarning, LevelNotice, LevelInfo} {
		if n := levels[level]; n > 0 {
			said = append(said, Plural(n, level))
		}
	}
	text, outcome, which := "Nothing is wrong that was not before.", "nothing new", "New: "
	if all {
		text, outcome, which = "Nothing is wrong.", "nothing wrong", "Now and before the job: "
	}
	if len(said) == 0 {
		return Result{Text: text, File: a.text("path"), Outcome: outcome}, nil
	}
	outcome = strings.Join(said, ", ")
	return Result{Text: which + outcome + ".\n" + b.end("findings", "mend these first, or name a folder"), File: a.text("path"), Outcome: outcome}, nil
}

var diffTool = definition{
	name:  "diff",
	about: "Shows all changes of this job as a unified diff, or those of one file or folder. With from, it shows what changed between two fetched commits.",
	params: []param{
		{name: "path", about: globHelp + " Default: everything. With from, paths begin at the root of the repository."},
		{name: "from", about: "A commit that was fetched, such as repo@v1.4, or repo for the repository as it was before this job. Default: the job's own changes are shown."},
		{name: "to", about: "The commit to compare with from. Default repo."},
		{name: "line", kind: number, least: 1, most: 1 << 30, about: "With from: the first line to show of the first file's difference, from 1. Default 1."},
	},
	call: (*Set).diff,
}

func (s *Set) diff(ctx context.Context, a args) (Result, error) {
	if a.text("from") != "" || a.text("to") != "" {
		from, err := s.areaOf("from", cmp.Or(a.text("from"), ownRepository))
		if err != nil {
			return Result{}, err
		}
		to, err := s.areaOf("to", cmp.Or(a.text("to"), ownRepository))
		if err != nil {
			return Result{}, err
		}
		return s.compare(ctx, from, to, a.text("path"), a.number("line", 1))
	}
	if fetchedForm().MatchString(a.text("path")) {
		return Result{}, refuse("path: to see what changed since a fetched commit, name the commit with from")
	}
	match, err := compileGlob(a.text("path"))
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	files, added, removed := 0, 0, 0
	var more []string
	for _, p := range sortedKeys(s.tree.changed) {
		if !match(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		var was []byte
		if e, ok := s.tree.entries[p]; ok {
			if was, err = s.tree.base.Read(e.Path); err != nil && !errors.Is(err, ErrNotText) {
				return Result{}, refuse("%s can't be read", p)
			}
		}
		text, plus, minus := edit.Diff(p, was, s.tree.changed[p], nil)
		files++
		added += plus
		removed += minus
		if b.Len()+len(text) > maxResult-1024 && b.Len() > 0 {
			more = append(more, fmt.Sprintf("%s +%d -%d", p, plus, minus))
			continue
		}
		b.WriteString(text)
	}
	if files == 0 {
		return Result{Text: "Nothing has changed.", File: a.text("path"), Outcome: "no changes"}, nil
	}
	outcome := fmt.Sprintf("%s, +%d -%d", Plural(files, "file"), added, removed)
	head := outcome + "\n"
	if len(more) > 0 {
		shown := more[:min(len(more), 20)]
		head += fmt.Sprintf("… %d more files, one at a time with path: %s\n", len(more), strings.Join(shown, "; "))
	}
	return Result{Text: head + b.String(), File: a.text("path"), Outcome: outcome}, nil
}

var planStates = []string{"pending", "doing", "done"}

var planTool = definition{
	name:  "plan",
	about: "Writes the plan of the work, which people see: all steps, with where each stands. Call it again as steps are done.",
	params: []param{{name: "steps", kind: objects, required: true, about: "All steps, in order.", fields: []param{
		{name: "text", required: true, about: "What the step does, in a few words."},
		{name: "state", required: true, values: planStates, about: "Where it stands."},
	}}},
	call: (*Set).plan,
}

func (s *Set) plan(_ context.Context, a args) (Result, error) {
	const most, longest = 30, 300
	steps := a["steps"].Items
	if len(steps) == 0 || len(steps) > most {
		return Result{}, refuse("steps: a plan has 1 to %d steps, this one has %d", most, len(steps))
	}
	plan := make([]PlanItem, 0, len(steps))
	done := 0
	for i, v := range steps {
		f := v.Fields()
		item := PlanItem{Text: Redact(strings.TrimSpace(f.Take("text").Text)), State: f.Take("state").Text}
		if item.Text == "" || len(item.Text) > longest {
			return Result{}, refuse("steps[%d].text: has %d bytes; 1 to %d are allowed", i, len(item.Text), longest)
		}
		if item.State == "done" {
			done++
		}
		plan = append(plan, item)
	}
	return Result{Text: "The plan is written.", Plan: plan, Outcome: fmt.Sprintf("%d of %d done", done, len(plan))}, nil
}

var finishTool = definition{
	name: "finish",
	about: "Ends the work. With changes, a pull request is made of them; title and summary describe it to its reviewers. " +
		"Where the request can't be done without an answer, or needs no change, ask or say so here.",
	params: []param{
		{name: "title", required: true, about: "What was done, in one line of at most 100 characters."},
		{name: "summary", required: true, about: "What changed and why, in Markdown, for reviewers; or the answer, where nothing changed."},
		{name: "question", about: "What you must know from the person who asked. Default: nothing."},
		{name: "left", about: "What of the request is not done yet, where you had to stop. Default: nothing."},
		sourcesParam,
	},
	call: (*Set).finish,
}

func (s *Set) finish(_ context.Context, a args) (Result, error) {
	f := &Finish{Title: strings.TrimSpace(a.text("title")), Summary: strings.TrimSpace(a.text("summary")), Question: strings.TrimSpace(a.text("question")), Left: strings.TrimSpace(a.text("left"))}
	for _, x := range []struct {
		name, text string
		most       int
	}{{"title", f.Title, 200}, {"summary", f.Summary, 16 << 10}, {"question", f.Question, 4 << 10}, {"left", f.Left, 4 << 10}} {
		if len(x.text) > x.most {
			return Result{}, refuse("%s: has %d bytes; the limit is %d", x.name, len(x.text), x.most)
		}
	}
	for _, text := range []string{f.Title, f.Summary, f.Question, f.Left} {
		if found := secrets("", text); len(found) > 0 {
			return Result{}, refuse("line %d of a text looks like a secret: %s. Describe the work without it", lineOf([]byte(text), found[0].at), found[0].kind)
		}
	}
	if f.Title == "" || strings.ContainsAny(f.Title, "\n\r") {
		return Result{}, refuse("title: must be one line that is not empty")
	}
	var err error
	if f.Sources, err = s.sources(a); err != nil {
		return Result{}, err
	}
	return Result{Text: "Finished.", Finish: f, Outcome: f.Title}, nil
}

// Diff returns the unified diff of a file, "" where nothing differs, and how many
// lines were added and removed. nil stands for no file. Lines are cut to maxLine.
func Diff(p string, was, is []byte) (text string, added, removed int) {
	return edit.Diff(p, was, is, func(line string) string {
		if len(line) <= maxLine {
			return line
		}
		return cutLine(strings.TrimSuffix(line, "\n")) + "\n"
	})
}
