package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxResult is the longest text of a result, in bytes. A longer one is cut and says
// so.
const maxResult = 16 << 10

// maxLine is how much of one line is shown where a line only tells a place, as in
// findings and previews, in bytes. read and search show lines whole.
const maxLine = 500

// Limits bound what a job may change.
type Limits struct {
	// Files is how many files may differ from the base, Bytes how many bytes
	// these may have together, FileBytes how many one may have. 0 means the
	// default.
	Files     int
	Bytes     int64
	FileBytes int
}

// Default limits.
const (
	defaultFiles     = 500
	defaultBytes     = 8 << 20
	defaultFileBytes = 8 << 20
)

// Options configure a Set.
type Options struct {
	// Check finds what is wrong with the site; if nil, there is no tool check.
	Check  Checker
	Limits Limits
	// Others allows to write files that are no parts of the site; see [Others].
	Others bool
	// Outside allows to read files of the repository outside the site's folder, and to
	// fetch other commits of it. History lists these.
	Outside bool
	History History
	// Repositories are the names of further repositories that may be fetched. Fetches limits
	// the calls of fetch until the end of the round.
	Repositories []string
	Fetches      int
}

// A Checker finds what is wrong with a site.
type Checker interface {
	// Check returns the new findings about a site's folder in order of place; with
	// all, it includes those from before the job.
	Check(ctx context.Context, site fs.FS, all bool) ([]Finding, error)
}

// Levels of a Finding.
const (
	LevelError   = "error"
	LevelWarning = "warning"
	LevelNotice  = "notice"
	LevelInfo    = "info"
)

// Finding is something wrong in a site.
type Finding struct {
	Code    string `json:"code"`
	Level   string `json:"level"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`   // from 1, 0 if unknown
	Column  int    `json:"column,omitempty"` // in bytes from 1, 0 if unknown
	Message string `json:"message"`
}

// Definition describes a tool to a model.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Result is the result of a call.
type Result struct {
	// Text is for the model, at most 16 KiB.
	Text string `json:"text"`
	// IsError is set if the call did nothing; Text says why.
	IsError bool `json:"is_error,omitempty"`
	// File is the file or folder that the call was about, or "".
	File string `json:"file,omitempty"`
	// Outcome describes in a few words what was done, for people.
	Outcome string `json:"outcome,omitempty"`
	// Pictures are the images that the call returns beside Text.
	Pictures []Picture `json:"pictures,omitempty"`
	// Plan is the new plan, if the call made one.
	Plan []PlanItem `json:"plan,omitempty"`
	// Fetch, if not nil, asks for a commit. The next turn can read its files.
	Fetch *Fetch `json:"fetch,omitempty"`
	// Finish, if not nil, asks to end the work.
	Finish *Finish `json:"finish,omitempty"`
}

// PlanItem is a step of the agent's plan.
type PlanItem struct {
	Text  string `json:"text"`
	State string `json:"state"` // pending, doing or done
}

// Finish is the agent's description of its finished work. The title is also the
// message of the commit.
type Finish struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
	// Question is what the agent needs to know from the requester, or "".
	Question string `json:"question,omitempty"`
	// Left says which part of the request is not done, or "".
	Left string `json:"left,omitempty"`
	// Sources name where statements of the changes come from.
	Sources []Source `json:"sources,omitempty"`
}

// A Set has the tools of one job and its tree. It is not safe for concurrent use.
type Set struct {
	tree    *Tree
	checker Checker
	limits  Limits
	seen    seen
	kinds   *kinds
	others  bool
	// beside has the files of the repository outside the site's folder, nil if the project
	// doesn't allow to read them. fetched has those of fetched commits, by label.
	beside  *area
	fetched map[string]*area
	history History
	// repositories are the names of those that may be fetched.
	repositories []string
	left         int     // number of commits that the round may still ask for
	asked        []Fetch // the commits that this turn has asked for
	pictures     gallery
	attached     map[string][]byte // by path
}

// NewSet returns the tools that work on t.
func NewSet(t *Tree, o Options) *Set {
	l := o.Limits
	if l.Files <= 0 {
		l.Files = defaultFiles
	}
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.FileBytes <= 0 {
		l.FileBytes = defaultFileBytes
	}
	s := &Set{
		tree: t, checker: o.Check, limits: l, seen: newSeen(), kinds: newKinds(t), others: o.Others,
		fetched: map[string]*area{}, history: o.History, repositories: o.Repositories, left: o.Fetches,
	}
	if o.Outside {
		s.beside = newArea(outsideMark, "in the repository outside the site's folder")
		s.beside.add(t.base, t.beside)
		s.repositories = slices.Concat([]string{ownRepository}, s.repositories)
	}
	return s
}

// tools are all tools, in the order in which they are described to a model.
func tools() []definition {
	return []definition{
		listTool, searchTool, readTool, historyTool, fetchTool, editTool, writeTool, replaceTool, moveTool, deleteTool, revertTool, navigationTool,
		checkTool, viewTool, referenceTool, diffTool, planTool, finishTool,
	}
}

// Definitions describes the tools. It returns the same bytes each time.
func (s *Set) Definitions() []Definition {
	var all []Definition
	for _, d := range tools() {
		if !s.has(d.name) {
			continue
		}
		all = append(all, Definition{d.name, d.about, schemaOf(d.params)})
	}
	return all
}

// has reports whether the job has a tool.
func (s *Set) has(name string) bool {
	switch name {
	case checkTool.name:
		return s.checker != nil
	case historyName:
		return s.beside != nil
	case fetchName:
		return len(s.repositories) > 0
	}
	return true
}

// Call calls a tool. Errors are reported in the result, and a call that fails changes
// nothing. The tree is changed only if ctx is not done.
func (s *Set) Call(ctx context.Context, name string, input json.RawMessage) Result {
	return s.CallWithin(ctx, name, input, nil)
}

// CallWithin is Call for a model that has little room left. refuse returns why a result is
// too long, or "". Then a call that changes nothing counts as not made: the
// reason is its result. A call that changes something is made, and its result has only
// its outcome.
func (s *Set) CallWithin(ctx context.Context, name string, input json.RawMessage, refuse func(Result) string) (r Result) {
	before := s.tree.clone()
	defer func() {
		// The text is not ours; a panic must not end the job.
		if p := recover(); p != nil {
			*s.tree = *before
			r = failed(errors.New("the tool could not do this: use another one, or do it in smaller steps"))
			r.Outcome = "failed"
		}
		r.Text = cut(strings.ToValidUTF8(r.Text, "\ufffd"))
		if refuse != nil && !r.IsError {
			r = s.within(r, before, refuse(r))
		}
		s.Recall(name, input, r)
	}()
	var names []string
	for _, d := range tools() {
		if d.name == name && s.has(name) {
			a, err := decode(d.params, input)
			if err != nil {
				return failed(fmt.Errorf("the input of %s is not what it should be: %w", name, err))
			}
			r, err := d.call(s, ctx, a)
			if err != nil {
				bad := failed(err)
				bad.File = r.File
				return bad
			}
			return r
		}
		if s.has(d.name) {
			names = append(names, d.name)
		}
	}
	return failed(fmt.Errorf("unknown tool %.80q; the tools are: %s", name, strings.Join(names, ", ")))
}

// within returns the result of a call that is too long for a reason, "" if it is not.
func (s *Set) within(r Result, before *Tree, reason string) Result {
	switch {
	case reason == "", r.Fetch != nil: // a short text, which the next turn needs
	case r.Plan == nil && r.Finish == nil && r.Fetch == nil && s.tree.same(before):
		return Result{Text: reason, IsError: true, File: r.File, Outcome: "not run: too long a result"}
	default:
		r.Text = "Done: " + r.Outcome + ". " + notShown + "; diff shows the changes.)"
	}
	return r
}

// notShown begins what a result says of the text that it leaves out.
const notShown = "(not shown: this turn's results would be too long for your context window"

func failed(err error) Result {
	return Result{Text: err.Error(), IsError: true, Outcome: "refused"}
}

// cut shortens a result to maxResult, between characters and, if possible, between
// lines.
func cut(s string) string {
	if len(s) <= maxResult {
		return s
	}
	const room = 64 // for what is said of the rest
	n := runeStart(s, maxResult-room)
	if i := strings.LastIndexByte(s[:n], '\n'); i > n/2 {
		n = i + 1
	}
	return s[:n] + fmt.Sprintf("\n… %d more bytes", len(s)-n)
}

// cutLine shortens a line to maxLine.
func cutLine(s string) string {
	if len(s) <= maxLine {
		return s
	}
	n := runeStart(s, maxLine)
	return fmt.Sprintf("%s… (%d more bytes)", s[:n], len(s)-n)
}

// runeStart returns where the character begins that the byte n is part of.
func runeStart(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// pages collects lines of a result and counts those that don't fit.
type pages struct {
	strings.Builder
	more int
}

// add appends a line, unless the text is full.
func (b *pages) add(format string, args ...any) bool {
	line := fmt.Sprintf(format, args...)
	if b.more > 0 || b.Len()+len(line) > maxResult-512 {
		b.more++
		return false
	}
	b.WriteString(line)
	b.WriteByte('\n')
	return true
}

// end appends how many lines did not fit, with advice.
func (b *pages) end(what, advice string) string {
	if b.more > 0 {
		fmt.Fprintf(b, "… %d more %s; %s\n", b.more, what, advice)
	}
	return b.String()
}

// Plural returns a number with its noun: "1 file", "2 files", "0 matches".
func Plural(n int, word string) string {
	switch {
	case n == 1:
		return fmt.Sprintf("1 %s", word)
	case strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "s"):
		return fmt.Sprintf("%d %ses", n, word)
	case strings.HasSuffix(word, "ry"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(word, "y"))
	}
	return fmt.Sprintf("%d %ss", n, word)
}
