package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Memory describes the rounds before a round, for its model. Prepare writes it, once.
type Memory struct {
	// Rounds are those that are over, oldest first.
	Rounds []Past `json:"rounds,omitempty"`
	// Pull is the state of the job's last pull request when this round began.
	Pull PullState `json:"pull,omitempty"`
	// Carried are the paths of Manifest.Carried, and From the round that made them.
	Carried []string `json:"carried,omitempty"`
	From    int      `json:"from,omitempty"`
	// Lost are changes of that round which could not be made again: place, with a path
	// as tools take it, and reason.
	Lost []string `json:"lost,omitempty"`
	// People is a diff of the changes that others made since the last round, "" for none
	// or if they are not known.
	People string `json:"people,omitempty"`
}

// PullState is the state of a job's pull request.
type PullState string

// The states of a pull request. Where a job has none, the state is empty.
const (
	PullOpen   PullState = "open"   // this round continues it
	PullMerged PullState = "merged" // its changes are in the repository
	PullClosed PullState = "closed" // without being merged
	PullGone   PullState = "gone"   // the forge has it no more, or not its branch
)

// Past is a round that is over.
type Past struct {
	Round int `json:"round"`
	// Code and Message are those of its failure, empty for one that was completed.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Seen and Refused are as in admin.AgentEnd.
	Seen    int `json:"seen,omitempty"`
	Refused int `json:"refused,omitempty"`
	// Plan, Finish and Files, the paths that it changed, are unknown where its objects
	// are gone.
	Plan   []tool.PlanItem `json:"plan,omitempty"`
	Finish *tool.Finish    `json:"finish,omitempty"`
	Files  []string        `json:"files,omitempty"`
}

// Bounds of the digest of earlier rounds, in bytes and items.
const (
	maxMemory     = 16 << 10 // of all rounds
	maxRemembered = 2000     // of one text
	maxPeople     = 6 << 10
	maxLost       = 3 << 10
	maxListed     = 20
)

// Remember writes the digest of earlier rounds into the manifest of a new one. If the
// last round ended without publishing its changes, the new one begins with them, as far
// as they can be merged into now, the repository at the new round's commit. continued is
// set if the round continues the job's own branch. Missing objects, and rounds of earlier
// versions, leave gaps and are no error.
func (s Rounds) Remember(ctx context.Context, ref admin.AgentRef, in admin.AgentInput, now *Repository, m *Manifest, continued bool) error {
	ends, err := s.Admin.AgentEnds(ctx, ref)
	if err != nil {
		return err
	}
	var last *Round // the last round of which there is more than its end
	at := len(ends) - 1
	for at >= 0 && ends[at].Base.Manifest == "" {
		at--
	}
	if at >= 0 {
		last, err = s.recall(ctx, ref, in, ends[at])
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	known := map[int]Past{}
	if last != nil {
		for _, p := range last.Manifest.Memory.Rounds {
			known[p.Round] = p
		}
		known[ends[at].Round] = last.past()
	}
	for _, e := range ends {
		p := known[e.Round]
		p.Round, p.Code, p.Message, p.Seen, p.Refused = e.Round, e.Code, e.Message, e.Seen, e.Refused
		m.Memory.Rounds = append(m.Memory.Rounds, p)
	}
	if last == nil {
		return nil
	}
	published, changes := ends[at].Code == "", last.Tree.Changes()
	// Changes of others are known only if both rounds begin from the same branch.
	if continued == (ends[at].Base.Previous != "" || published && len(changes) > 0) {
		was := last.Base
		if published {
			was = last.Base.with(changes)
		}
		m.Memory.People = differences(was, now, m.Root)
	}
	if published || len(changes) == 0 {
		return nil
	}
	conflicts, err := m.Carry(last.Base, changes, now)
	if err != nil {
		return err
	}
	m.Memory.From = ends[at].Round
	for _, c := range m.Carried {
		m.Memory.Carried = append(m.Memory.Carried, c.Path)
	}
	for _, c := range conflicts {
		m.Memory.Lost = append(m.Memory.Lost, c.String())
	}
	return nil
}

// Carry sets Carried to changes of a site that were made in from, as far as they can be
// made in now, the repository of the manifest. It returns the others, with paths as tools
// take them.
func (m *Manifest) Carry(from *Repository, changes []tool.Change, now *Repository) ([]Conflict, error) {
	merged, conflicts := Rebase(from, changes, now)
	carried, refused, err := m.takes(now, merged)
	if err != nil {
		return nil, err
	}
	m.Carried = carried
	conflicts = append(conflicts, refused...)
	for i, c := range conflicts {
		conflicts[i].Path, _ = Inside(c.Path, m.Root)
	}
	return conflicts, nil
}

// takes returns the changes that the site of a manifest takes, and the others with the
// reason.
func (m *Manifest) takes(now *Repository, changes []tool.Change) (taken []tool.Change, refused []Conflict, err error) {
	tree, err := tool.NewTree(now, m.Root)
	if err != nil {
		return nil, nil, err
	}
	if tree.Apply(changes) == nil {
		return changes, nil, nil
	}
	for _, c := range changes {
		if fault := tree.Apply([]tool.Change{c}); fault != nil {
			refused = append(refused, Conflict{Path: c.Path, Reason: fault.Error()})
		} else {
			taken = append(taken, c)
		}
	}
	return taken, refused, nil
}

// recall loads a round of the same job that is over.
func (s Rounds) recall(ctx context.Context, ref admin.AgentRef, in admin.AgentInput, end admin.AgentEnd) (*Round, error) {
	turns, err := s.Admin.EarlierAgentTurns(ctx, ref, end.Round)
	if err != nil {
		return nil, err
	}
	return s.restore(ctx, &Round{Ref: admin.AgentRef{Project: ref.Project, Job: ref.Job, Round: end.Round}, In: in}, end.Base.Manifest, turns, wholeRound)
}

// past returns the round's part of the digest.
func (r *Round) past() Past {
	p := Past{Plan: r.plan, Finish: r.Finish}
	for _, c := range r.Tree.Changes() {
		p.Files = append(p.Files, c.Path)
	}
	return p
}

// with returns a repository with changes.
func (r *Repository) with(changes []tool.Change) *Repository {
	gone, texts := map[string]bool{}, map[string][]byte{}
	for _, c := range changes {
		if gone[c.Path] = true; !c.Delete {
			texts[c.Path] = c.Content
		}
	}
	next := &Repository{Texts: map[string][]byte{}}
	for _, e := range r.Entries {
		if !gone[e.Path] {
			next.Entries = append(next.Entries, e)
			if b, ok := r.Texts[e.Path]; ok {
				next.Texts[e.Path] = b
			}
		}
	}
	for path, b := range texts {
		next.Entries = append(next.Entries, tool.Entry{Path: path, Size: int64(len(b)), Text: true, Plain: true})
		next.Texts[path] = b
	}
	slices.SortFunc(next.Entries, func(a, b tool.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return next
}

// differences returns a diff of the site in the folder root between two states of a
// repository, of bounded size: files that no longer fit are named, or counted.
func differences(was, is *Repository, root string) string {
	entries := func(r *Repository) map[string]tool.Entry {
		all := map[string]tool.Entry{}
		for _, e := range r.Entries {
			if _, ok := Inside(e.Path, root); ok {
				all[e.Path] = e
			}
		}
		return all
	}
	before, after := entries(was), entries(is)
	var paths []string
	for path, e := range before {
		if now, ok := after[path]; !ok || now.Text != e.Text || !e.Text && now.Size != e.Size || e.Text && string(was.Texts[path]) != string(is.Texts[path]) {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var b strings.Builder
	var named []string
	for _, path := range paths {
		rel, _ := Inside(path, root)
		switch text, added, removed := tool.Diff(rel, was.Texts[path], is.Texts[path]); {
		case text == "":
			named = append(named, rel)
		case b.Len()+len(text) > maxPeople:
			named = append(named, fmt.Sprintf("%s (+%d -%d)", rel, added, removed))
		default:
			b.WriteString(text)
		}
	}
	if len(named) > 0 {
		b.WriteString("Also changed: " + listed(named) + "\n")
	}
	return b.String()
}

// listed joins the first items of a list and counts the others.
func listed(items []string) string {
	if more := len(items) - maxListed; more > 0 {
		return strings.Join(items[:maxListed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(items, ", ")
}

// quoted encloses a text in tags that it can't close.
func quoted(tag, text string) string {
	return "<" + tag + ">\n" + strings.ReplaceAll(text, "</"+tag+">", "") + "\n</" + tag + ">"
}

// digest tells the model of the rounds before, or is empty if there is nothing to tell.
// It depends on nothing that changes in a round.
func (r *Round) digest() string {
	m := r.Manifest.Memory
	var parts []string
	size, left := 0, 0
	for i := len(m.Rounds) - 1; i >= 0; i-- {
		text := r.tell(m.Rounds[i])
		if size += len(text); size > maxMemory && len(parts) > 0 {
			left = i + 1
			break
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts)
	if earlier := r.unplaced(); earlier != "" {
		parts = append(parts, earlier)
	}
	if len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Asked before, and worked on in earlier rounds. What follows tells you what happened; it asks for nothing.\n\n")
	if left > 0 {
		fmt.Fprintf(&b, "The first %d rounds are left out.\n\n", left)
	}
	b.WriteString(strings.Join(parts, "\n\n") + "\n\n" + m.pull(r.In.Job))
	if len(m.Carried) > 0 {
		fmt.Fprintf(&b, " Round %d ended without a pull request. Its changes are in the files already, and a pull request of this round has them: %s. diff shows them. Undo those that nobody wants any more.", m.From, listed(r.relative(m.Carried)))
	}
	if len(m.Lost) > 0 {
		fmt.Fprintf(&b, "\n\nRound %d also made changes that conflict with what people changed since. The files have the people's text; make these changes again if they are still wanted:\n%s",
			m.From, quoted("lost", Cut(strings.Join(m.Lost, "\n"), maxLost)))
	}
	if m.People != "" {
		b.WriteString("\n\nPeople changed files since then:\n" + quoted("changes", strings.TrimSpace(m.People)))
	}
	return b.String() + "\n\n"
}

// relative returns paths as tools take them.
func (r *Round) relative(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i], _ = Inside(p, r.Manifest.Root)
	}
	return out
}

// pull describes the state of the job's pull request in a sentence.
func (m Memory) pull(j admin.AgentJob) string {
	switch {
	case m.Pull == PullOpen && j.PRNumber == 0:
		return "The changes that were published are in the files already; this round continues their branch."
	case m.Pull == PullOpen:
		return "The changes that were published are in the files already; this round continues their pull request."
	case m.Pull == PullMerged:
		return "The pull request of these rounds was merged. The files are the branch as it is now."
	case m.Pull == PullClosed:
		return "People closed the pull request of these rounds and did not merge it: its changes are not in the files. This round makes a new pull request."
	case m.Pull == PullGone:
		return "The branch or the pull request of these rounds is gone. The files are those of the branch that was asked for. This round makes a new pull request."
	case j.Branch == "":
		return "There is no pull request yet."
	}
	return "The files are the branch as it is now."
}

// tell describes one round.
func (r *Round) tell(p Past) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Round %d. ", p.Round)
	refused := 0
	for _, msg := range r.In.Messages {
		switch {
		case r.readIn(msg) != p.Round:
		case p.Refused > 0 && msg.N >= p.Refused && msg.N <= p.Seen:
			refused++
		default:
			b.WriteString("It was asked:\n" + quoteRequest(Cut(msg.Prompt, maxRemembered)) + "\n")
		}
	}
	if refused > 0 {
		b.WriteString("The model refused what it was asked, which is left out here. ")
	}
	files := "It changed nothing."
	if len(p.Files) > 0 {
		files = "It changed " + listed(r.relative(p.Files)) + "."
	}
	switch f := p.Finish; {
	case p.Code == admin.CodeCancelled:
		b.WriteString("The one who asked cancelled it. " + files)
	case p.Code != "":
		fmt.Fprintf(&b, "It failed (%s): %s. %s", p.Code, strings.TrimRight(cmp.Or(p.Message, "no reason is known"), "."), files)
	case f == nil:
		b.WriteString("It was completed.")
	default:
		fmt.Fprintf(&b, "You finished it as %q. %s Your summary:\n%s", f.Title, files, quoted("summary", Cut(f.Summary, maxRemembered)))
		if f.Question != "" {
			b.WriteString("\nYou asked:\n" + quoted("question", Cut(f.Question, maxRemembered)))
		}
		if f.Left != "" {
			b.WriteString("\nLeft to do:\n" + quoted("left", Cut(f.Left, maxRemembered)))
		}
	}
	if len(p.Plan) > 0 && p.Code != "" {
		var items []string
		for _, i := range p.Plan {
			items = append(items, i.State+": "+Cut(i.Text, 200))
		}
		b.WriteString("\nYour plan was:\n" + quoted("plan", strings.Join(items, "\n")))
	}
	return strings.TrimSpace(b.String())
}

// readIn returns the round that read a message: of earlier versions, the one in which
// it came. It is 0 for messages that no round which is over has read.
func (r *Round) readIn(msg admin.AgentMessage) int {
	if msg.N > r.In.Job.Seen {
		return 0
	}
	for _, p := range r.Manifest.Memory.Rounds {
		if p.Seen >= msg.N {
			return p.Round
		}
	}
	return msg.Round
}

// unplaced quotes earlier requests of which no round is known: those of a round that was
// prepared by an earlier version.
func (r *Round) unplaced() string {
	if len(r.Manifest.Memory.Rounds) > 0 {
		return ""
	}
	var asked []string
	for _, msg := range r.In.Messages {
		if msg.N <= r.In.Job.Seen {
			asked = append(asked, quoteRequest(Cut(msg.Prompt, maxRemembered)))
		}
	}
	return strings.Join(asked, "\n\n")
}
