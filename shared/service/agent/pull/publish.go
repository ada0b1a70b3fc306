package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// The author of all commits. It is fixed, and so is the date once it is
// recorded: the same changes on the same parent are the same commit.
const (
	authorName  = "Bindery agent"
	authorEmail = "agent@bindery.invalid"
)

// Publish reviews the round's changes, merges them with those that others pushed
// meanwhile, commits and pushes them without force, and updates or opens the pull
// request. Next is done, or work if there is a message that the model has not read, or if
// it gave the round back: once for refused changes, and twice for conflicts with others.
// Next is review where Review has no record of exactly the commit and the changes that it
// would push, because they were merged: after three times, it makes a draft without one.
//
// Its own review relies on the forge's files, not on Work: which paths an agent may write,
// what the files were before, and which hosts, code and secrets the changes add. Review's
// record adds what the rendered pages show.
//
// It returns the forge's errors (push_denied, branch_moved, …), changes_refused
// and cancelled.
func (s *Steps) Publish(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.rounds.Step(ctx, ref, admin.AgentPublishing, s.publish)
}

func (s *Steps) publish(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	out := job.AgentOutput{AgentRef: ref, Next: job.NextDone}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		// An earlier start of this step may have completed the round: that is
		// success, and the next round is started if there is one.
		_, _, err = s.opt.Admin.CompleteAgent(ctx, ref, admin.AgentResult{})
		return out, err
	}
	if err != nil {
		return out, err
	}
	r, err := s.rounds.LoadChanges(ctx, ref, in)
	if err != nil {
		return out, err
	}
	if r.Finish == nil { // a start that was late, of a round that works again
		out.Next = job.NextWork
		if returns := in.Job.Returns; in.Job.Phase == admin.AgentPublishing && len(returns) > 0 {
			_, err = s.opt.Admin.ReturnAgent(ctx, ref, returns[len(returns)-1], admin.AgentBase{})
		}
		return out, err
	}
	if unread, err := s.opt.Admin.BeginAgentPublish(ctx, ref, r.Answers()); err != nil || unread {
		out.Next = job.NextWork
		return out, err
	}
	result := admin.AgentResult{
		PRLink: in.Job.PRLink, PRNumber: in.Job.PRNumber, Branch: in.Job.Branch, Changes: in.Job.Changes, Review: in.Job.Review, Pages: in.Job.Pages,
		Seen: r.Seen, Title: r.Finish.Title, Summary: r.Finish.Summary, Question: r.Finish.Question, Unfinished: r.Unfinished(), Sources: sources(r),
	}
	end := admin.AgentEvent{Kind: admin.AgentEventNote}
	end.Text = agent.Cut(strings.TrimSpace(r.Finish.Summary+"\n\n"+r.Finish.Question), agent.MaxEventText)
	changes := r.Tree.Changes()
	// A round without changes ends a draft, or makes one, and has its line in the text.
	if len(changes) > 0 || in.Job.Base.Previous != "" && in.Job.PRNumber > 0 {
		what, err := s.propose(ctx, r, changes, &result)
		if err != nil {
			if back, ferr := s.giveBack(ctx, r, err); back || ferr != nil {
				out.Next = job.NextWork
				return out, ferr
			}
			return out, err
		}
		switch what {
		case givenBack:
			out.Next = job.NextWork
			return out, nil
		case merged:
			out.Next = job.NextReview
			return out, nil
		}
		if what == proposed && len(changes) > 0 {
			checked := "the changes bring no new findings"
			if n := len(result.Review.Findings); n > 0 {
				checked = "the changes leave " + tool.Plural(n, "new finding")
			}
			result.Events = append(result.Events, admin.AgentEvent{Kind: admin.AgentEventCheck, Text: checked, Files: filesOf(r, changes)})
		}
	}
	result.Events = append(result.Events, admin.AgentEvent{Kind: admin.AgentEventUsage, Usage: &r.Usage}, end)
	_, _, err = s.opt.Admin.CompleteAgent(ctx, ref, result)
	return out, err
}

// giveBack gives a round with refused changes back to Work with the reason, once,
// unless it has no turn left. It reports whether it has.
func (s *Steps) giveBack(ctx context.Context, r *agent.Round, err error) (bool, error) {
	coded, ok := errors.AsType[store.Coded](err)
	if !ok || coded.Code() != admin.CodeChanges || r.Spent() {
		return false, nil
	}
	back := admin.AgentReturn{Turn: r.Turns, Reason: admin.AgentRefused, Text: fmt.Sprintf(
		"Your changes were looked at before they would be published, and refused: %s. Nothing is published yet. Mend that, or undo it, and call finish again. If it is refused once more, the job fails.",
		strings.TrimRight(coded.SafeMessage(), "."))}
	return s.opt.Admin.ReturnAgent(ctx, r.Ref, back, admin.AgentBase{})
}

// filesOf are the files that a round changed, with their differences.
func filesOf(r *agent.Round, changes []tool.Change) []admin.AgentFile {
	var files []admin.AgentFile
	for _, c := range changes {
		diff, added, removed := tool.Diff(c.Path, r.Base.Texts[c.Path], c.Content)
		files = append(files, admin.AgentFile{Path: c.Path, Added: added, Removed: removed, Diff: diff})
	}
	return files
}

// outcome says where a round's changes went.
type outcome int

const (
	proposed  outcome = iota // they are in the pull request
	givenBack                // the round was given back to Work
	needless                 // others have made the same changes
	merged                   // Review must look at them as they were merged with those of others
)

// maxPushes is the most tries to push if others push to the branch meanwhile.
const maxPushes = 3

// propose pushes changes, and opens or updates the pull request. It fills in
// the result for callers. If others push to the branch meanwhile, it merges the
// changes with theirs, and has Review look at the result before it pushes that.
func (s *Steps) propose(ctx context.Context, r *agent.Round, changes []tool.Change, result *admin.AgentResult) (outcome, error) {
	f, repo, err := s.opt.Forge(ctx, r.In.Project)
	if err != nil {
		return needless, err
	}
	for try := 1; ; try++ {
		what, err := s.proposeOnce(ctx, f, repo, r, changes, result)
		if admin.CodeOf(err) != forge.CodeMoved || try == maxPushes || errors.Is(err, errUnseen) {
			return what, err
		}
		// The commit is not in the branch, and can't follow it any more.
		if err := s.opt.Admin.ForgetAgentCommit(ctx, r.Ref, r.In.Commit.ID); err != nil {
			return what, err
		}
		r.In.Commit = admin.AgentCommit{}
	}
}

func (s *Steps) proposeOnce(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, changes []tool.Change, result *admin.AgentResult) (outcome, error) {
	g, err := s.ground(ctx, f, repo, r, changes)
	if err != nil {
		return needless, err
	}
	defer g.tree.Close()
	if len(g.conflicts) > 0 && !g.pushed {
		if back, err := s.giveBackOn(ctx, r, g, changes); back || err != nil {
			return givenBack, err
		}
	}
	if len(g.changes) == 0 && g.expect == "" {
		return needless, nil
	}
	root, err := siteRoot(g.base, r.In.Project.Agent.Root)
	if err != nil {
		return needless, err
	}
	if err := look(r, g.base, root, g.changes); err != nil {
		return needless, err
	}
	seen, unseen, err := s.reviewed(ctx, r, g, root)
	if err != nil {
		return needless, err
	}
	if seen == nil {
		return merged, nil
	}
	if err := accept(r, seen, unseen); err != nil {
		return needless, err
	}
	start, err := s.start(ctx, f, repo, r, g)
	if err != nil {
		return needless, err
	}
	if start != g.tree {
		defer start.Close()
	}
	w, err := s.whole(ctx, r, start, g, root, seen)
	if err != nil {
		return needless, err
	}
	var conflicts []string
	for _, c := range g.conflicts {
		conflicts = append(conflicts, c.Place()+": "+c.Reason+"; their text is there")
	}
	w.review.Conflicts = plain(append(conflicts, s.behind(ctx, f, repo, r, g)...))
	before, err := s.opt.Admin.AgentEnds(ctx, r.Ref)
	if err != nil {
		return needless, err
	}
	t := text{round: r, whole: w, rounds: rounds(r, before, g.branch), repository: repo, dashboard: s.opt.Dashboard, merged: len(g.conflicts), unseen: unseen}
	if unseen {
		w.review.Unseen = append(w.review.Unseen, "all pages as they are with what people pushed: they pushed while each of the last reviews ran")
	}
	if t.head, err = s.push(ctx, f, repo, r, g, g.changes, t.roundTitle()); err != nil {
		return needless, err
	}
	result.Branch, result.Fork, result.Changes, result.Review, result.Pages = g.branch, g.fork, w.stat(), w.review, w.pages()
	result.Title, result.RoundTitle, result.Reviewed = t.title(), t.roundTitle(), seen.Digest
	p, shown, err := s.pull(ctx, f, repo, g.branch, t)
	result.PRLink, result.PRNumber, result.Shown = p.URL, p.Number, shown
	if err == nil && p.Number != 0 && p.Number != r.In.Job.PRNumber {
		result.Events = append(result.Events, s.assign(ctx, f, repo, r, p.Number)...)
	}
	return proposed, err
}

// assign gives a new pull request the project's labels and reviewers. It returns events
// that tell which of them the forge refused: the pull request is there all the same.
func (s *Steps) assign(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, number int) []admin.AgentEvent {
	set := r.In.Project.Agent
	a := forge.Assignment{Labels: admin.AssignedNames(set.Labels), Reviewers: admin.AssignedNames(set.Reviewers)}
	if a.Empty() {
		return nil
	}
	refused, err := f.AssignPull(ctx, repo, number, a)
	for i, what := range refused {
		refused[i] = "the forge refused the " + what
	}
	if err != nil {
		s.opt.Log.WarnContext(ctx, "labels and reviewers of a pull request are not set", "job", r.Ref.Job, "error", err)
		reason := "the forge did not answer"
		if coded, ok := errors.AsType[store.Coded](err); ok {
			reason = coded.SafeMessage()
		}
		refused = append(refused, "the pull request lacks labels or reviewers: "+reason)
	}
	var events []admin.AgentEvent
	for _, text := range refused {
		events = append(events, admin.AgentEvent{Kind: admin.AgentEventNote, Text: text})
	}
	return events
}

// giveBackOn gives a round back to Work if its changes conflict with those of others,
// on the branch as it is now, if it may be given back and has a turn left.
func (s *Steps) giveBackOn(ctx context.Context, r *agent.Round, g ground, changes []tool.Change) (bool, error) {
	had := 0
	for _, back := range r.In.Job.Returns {
		if back.Reason == admin.AgentConflicted {
			had++
		}
	}
	if r.Spent() || had >= admin.AgentConflicted.Most() {
		return false, nil
	}
	whole, err := s.rounds.Load(ctx, r.Ref, r.In)
	if err != nil {
		return false, err
	}
	m := agent.Manifest{Commit: g.tree.Commit, Ref: g.tree.Ref, Files: g.files, Memory: r.Manifest.Memory, Turns: r.Turns, Overview: whole.Overview()}
	if err := s.describe(ctx, r.Ref, r.In.Project, g.tree, g.base, &m); err != nil {
		return false, err
	}
	m.Instructions = r.Manifest.Instructions
	conflicts, err := m.Carry(r.Base, changes, g.base)
	if err != nil {
		return false, err
	}
	base := admin.AgentBase{Commit: m.Commit, Ref: r.In.Job.Base.Ref, Previous: m.Commit}
	if base.Manifest, err = s.rounds.KeepJSON(ctx, r.Ref, "manifest", m); err != nil {
		return false, err
	}
	var places []string
	for _, c := range conflicts {
		places = append(places, c.String())
	}
	return s.opt.Admin.ReturnAgent(ctx, r.Ref, admin.AgentReturn{Turn: r.Turns, Reason: admin.AgentConflicted, Text: "People pushed to the branch while you worked, and changed the same places as you. " +
		"The files now have their changes and yours, and in these places their text alone:\n" + strings.Join(places, "\n") +
		"\n\nRead these places again, make your changes there if they are still wanted, and call finish again."}, base)
}

// behind returns the places at which the pull request conflicts with the branch that it
// is for. If the forge can't say, that is only logged: nothing is published for it.
func (s *Steps) behind(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g ground) []string {
	conflicts, err := s.conflictsWith(ctx, f, repo, r, g)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "conflicts with the branch of a pull request are not known", "job", r.Ref.Job, "error", err)
	}
	var places []string
	for _, c := range conflicts {
		places = append(places, fmt.Sprintf("%s: %s, in the branch %s", c.Place(), c.Reason, r.In.Job.Base.Ref))
	}
	return places
}

func (s *Steps) conflictsWith(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g ground) ([]agent.Conflict, error) {
	target, fork := r.In.Job.Base.Ref, cmp.Or(g.fork, r.In.Job.Fork)
	head, err := f.Branch(ctx, repo, target)
	if err != nil || fork == "" || head == "" || head == fork {
		return nil, err
	}
	if g.fork == "" { // people may have merged the one branch into the other
		if has, err := f.Contains(ctx, repo, g.branch, &forge.Commit{ID: head, Parent: fork}); has || err != nil {
			return nil, err
		}
	}
	theirs, err := f.Fetch(ctx, repo, target)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	from := g.tree
	if g.tree.Commit != fork {
		if from, err = f.Fetch(ctx, repo, fork, target, g.branch); err != nil {
			return nil, err
		}
		defer from.Close()
	}
	// What both sides changed.
	ours := map[string]tool.Change{}
	for _, c := range g.changes {
		ours[c.Path] = c
	}
	paths := map[string]bool{}
	for path := range ours {
		paths[path] = true
	}
	for _, t := range []*forge.Tree{from, g.tree} {
		for file := range t.Files() {
			paths[file.Path] = true
		}
	}
	var both []string
	for path := range paths {
		was, _ := from.File(path)
		is, _ := theirs.File(path)
		mine, _ := g.tree.File(path)
		if _, changed := ours[path]; is.ID != was.ID && (changed || mine.ID != was.ID && mine.ID != is.ID) {
			both = append(both, path)
		}
	}
	slices.Sort(both)
	was, err := readFiles(ctx, from, both)
	if err != nil {
		return nil, err
	}
	now, err := readFiles(ctx, theirs, both)
	if err != nil {
		return nil, err
	}
	mine, err := readFiles(ctx, g.tree, both)
	if err != nil {
		return nil, err
	}
	var changes []tool.Change
	for _, path := range both {
		c, changed := ours[path]
		if text, has := mine.Texts[path]; !changed {
			c = tool.Change{Path: path, Content: text, Delete: !has}
		}
		changes = append(changes, c)
	}
	_, conflicts := agent.Rebase(was, changes, now)
	return conflicts, nil
}

// start returns the tree at which the pull request begins, the merge base of its
// branch and the one that it is for. A branch that does not exist yet begins at the
// commit that it will have as its parent.
func (s *Steps) start(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g ground) (*forge.Tree, error) {
	j := r.In.Job
	if j.Base.Previous == "" {
		return g.tree, nil
	}
	at, err := f.MergeBase(ctx, repo, g.branch, j.Base.Ref)
	if err != nil || at == "" || at == g.tree.Commit {
		return g.tree, err
	}
	return f.Fetch(ctx, repo, at, g.branch, j.Base.Ref, j.Ref)
}

// pull opens the branch's pull request, or updates the open one: people's title, text
// and state of a draft stay. On a plain Git server it does nothing.
func (s *Steps) pull(ctx context.Context, f *forge.Forge, repo forge.Repository, branch string, t text) (forge.PullRequest, admin.AgentShown, error) {
	j := t.round.In.Job
	want := forge.Pull{Head: branch, Base: j.Base.Ref, Title: t.title(), Draft: t.draft()}
	open, found, err := f.FindPull(ctx, repo, want.Head, want.Base)
	switch {
	case admin.CodeOf(err) == forge.CodeNoPulls:
		return forge.PullRequest{}, admin.AgentShown{}, nil
	case err != nil:
		return open, admin.AgentShown{}, err
	case !found || open.State != forge.Open:
		want.Body = t.body(t.template())
		opened, err := f.OpenPull(ctx, repo, want)
		return opened, admin.AgentShown{Title: opened.Title, Draft: opened.Draft}, err
	}
	// A start of this step that came to its commit may have written both already.
	again := t.round.In.Commit.ID != "" || len(t.round.Tree.Changes()) == 0
	next, shown := settle(j.Shown, open, want, again)
	next.Body = t.body(open.Body)
	updated, err := f.UpdatePull(ctx, repo, open.Number, next)
	if !shown.Theirs {
		shown.Draft = updated.Draft
	}
	return updated, shown, err
}

// settle decides on the title and draft state of an open pull request. It replaces the
// title if the forge still has the one that was last written, shown. Once a person has
// changed the draft state, it stays. again is set if an earlier start of the step may have
// written want already. A result without a title changes neither.
func settle(shown admin.AgentShown, open forge.PullRequest, want forge.Pull, again bool) (forge.Pull, admin.AgentShown) {
	next := forge.Pull{Head: want.Head, Base: want.Base, Title: open.Title, Draft: want.Draft}
	switch shown.Title {
	case open.Title:
		next.Title = want.Title
		shown.Title = want.Title
	case "": // of a version that did not remember it
		shown.Title, shown.Draft = open.Title, open.Draft
	}
	if open.Draft != shown.Draft && (open.Draft != want.Draft || !again) {
		shown.Theirs = true
	}
	if shown.Theirs {
		next.Draft, shown.Draft = open.Draft, open.Draft
	}
	if next.Title == open.Title && next.Draft == open.Draft {
		next.Title = ""
	}
	return next, shown
}

// ground is what a round's commit is based on.
type ground struct {
	tree   *forge.Tree
	base   *agent.Repository // the tree's files
	files  []agent.File
	branch string // that the commit is pushed to
	fork   string // commit at which a new branch begins, else ""
	expect string // where that branch must be, "" if it must not exist
	pushed bool   // the round's commit is there already
	// changes are those of the round, merged with the changes of others since it was
	// prepared. conflicts are the places that have the text of others.
	changes   []tool.Change
	conflicts []agent.Conflict
}

// ground fetches the commit that the changes go on. That is the head of the
// job's own branch where the round continues it, else of the branch that was
// asked for. Where people have pushed to it since Prepare, theirs is the parent, and the
// changes are merged with theirs; but a new branch begins from the commit that Work has
// read, see asReviewed. A round that has recorded its commit keeps its parent.
func (s *Steps) ground(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, changes []tool.Change) (g ground, err error) {
	defer func() {
		if err != nil && g.tree != nil {
			g.tree.Close()
		}
	}()
	j := r.In.Job
	continues := j.Base.Previous != ""
	head := j.Base.Ref
	switch kept := r.In.Commit; {
	case kept.ID != "":
		at, err := f.Branch(ctx, repo, kept.Branch)
		if err != nil {
			return g, err
		}
		g.branch, g.pushed, head = kept.Branch, at == kept.ID, kept.Parent
	case continues:
		g.branch, head = j.Branch, j.Branch
	default:
		if g.branch, err = newBranch(ctx, f, repo, r); err != nil {
			return g, err
		}
	}
	// For servers that can be asked only for what a branch is at.
	from := []string{g.branch, j.Base.Ref, j.Ref}
	if err := g.fetch(ctx, f, repo, r, changes, head, from); err != nil {
		return g, err
	}
	if !continues && g.tree.Commit != j.Base.Commit {
		if err := s.asReviewed(ctx, f, repo, r, &g, changes, from); err != nil {
			return g, err
		}
	}
	if g.fork = g.tree.Commit; continues {
		g.fork, g.expect = "", g.tree.Commit
	}
	return g, nil
}

// asReviewed has a new branch begin at the commit that Work has read, if the changes
// conflict with what people have pushed since to the branch that it is for, or if Review
// has no record of them together. So where people push all the time, nothing waits for
// another review. Without the commit, the branch begins at theirs.
func (s *Steps) asReviewed(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g *ground, changes []tool.Change, from []string) error {
	if len(g.conflicts) == 0 {
		if len(g.changes) == 0 || r.In.Commit.ID != "" {
			return nil
		}
		if seen, err := s.rounds.Reviewed(ctx, r.Ref, agent.ReviewDigest(g.tree.Commit, g.changes)); seen != nil || err != nil {
			return err
		}
	}
	read := ground{branch: g.branch, pushed: g.pushed}
	if err := read.fetch(ctx, f, repo, r, changes, r.In.Job.Base.Commit, from); err != nil {
		if read.tree != nil {
			read.tree.Close()
		}
		if t, ok := errors.AsType[interface {
			error
			Temporary() bool
		}](err); len(g.conflicts) > 0 || ctx.Err() != nil || ok && t.Temporary() {
			return err
		}
		s.opt.Log.WarnContext(ctx, "the commit that a round began from can't be fetched any more", "job", r.Ref.Job, "error", err)
		return nil
	}
	g.tree.Close()
	*g = read
	return nil
}

// fetch fetches a commit and merges the changes of a round with it.
func (g *ground) fetch(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, changes []tool.Change, commit string, from []string) (err error) {
	if g.tree, err = f.Fetch(ctx, repo, commit, from...); err != nil {
		return err
	}
	if g.base, g.files, err = read(ctx, g.tree, r.In.Project.Agent.Root); err != nil {
		return err
	}
	g.changes, g.conflicts = agent.Rebase(r.Base, changes, g.base)
	return nil
}

// newBranch returns the name of a round's own branch. That of the job is taken
// where an earlier round has pushed to it, also one that failed afterwards.
func newBranch(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round) (string, error) {
	name := cmp.Or(r.In.Project.Agent.BranchPrefix, admin.DefaultBranchPrefix) + r.Ref.Job
	taken := r.In.Job.Branch != ""
	if !taken && r.Ref.Round > 1 {
		head, err := f.Branch(ctx, repo, name)
		if err != nil {
			return "", err
		}
		taken = head != ""
	}
	if taken {
		name = fmt.Sprintf("%s-%d", name, r.Ref.Round)
	}
	return name, nil
}

// look refuses changes that an agent may not make in a repository, base. It reads the
// forge's files and trusts nothing else.
func look(r *agent.Round, base *agent.Repository, root string, changes []tool.Change) error {
	var bytes int64
	for _, c := range changes {
		if err := tool.Allowed(c.Path, root); err != nil {
			return admin.Errorf(admin.CodeChanges, "an agent may not change %s: %v", c.Path, err)
		}
		bytes += int64(len(c.Content))
	}
	if l := r.In.Limits; len(changes) > l.Files || bytes > l.Bytes {
		return admin.Errorf(admin.CodeChanges, "the changes are too large: %d files and %d bytes, at most %d and %d", len(changes), bytes, l.Files, l.Bytes)
	}
	others, err := tool.Others(base, root, changes)
	if err != nil {
		return err
	}
	found := tool.Look(base, root, changes)
	settings := r.In.Project.Agent
	switch {
	case !settings.AllowOtherFiles && len(others) > 0:
		return admin.Errorf(admin.CodeChanges, "the changes have a file that is no part of the site: %s", others[0])
	case len(found.Refused) > 0:
		return admin.Errorf(admin.CodeChanges, "the changes contain what looks like a secret: %s", found.Refused[0])
	case settings.RefuseNewHosts && len(found.NewHosts) > 0:
		return admin.Errorf(admin.CodeChanges, "the changes add a link to, or a picture from, a new host: %s", found.NewHosts[0])
	case settings.RefuseExecutable && len(found.Executable) > 0:
		return admin.Errorf(admin.CodeChanges, "the changes add executable code: %s", found.Executable[0])
	}
	return nil
}

// push commits and pushes, and returns the head of the branch. The commit is recorded
// before the push, so that a repeated Publish makes the same one, or finds it at the end
// of the branch or in its history.
func (s *Steps) push(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g ground, changes []tool.Change, title string) (head string, err error) {
	if g.pushed {
		return r.In.Commit.ID, nil
	}
	if len(changes) == 0 {
		return g.tree.Commit, nil
	}
	var files []forge.Change
	for _, c := range changes {
		files = append(files, forge.Change{Path: c.Path, Content: c.Content, Delete: c.Delete})
	}
	want := r.In.Commit
	if want.ID == "" {
		want = admin.AgentCommit{Parent: g.tree.Commit, Branch: g.branch, When: s.opt.Now().UTC().Truncate(time.Second)}
	}
	// Settings may have changed since the commit was recorded.
	want.Message = cmp.Or(want.Message, message(r, title))
	commit, err := f.Commit(ctx, repo, g.tree, files, forge.Meta{
		Message:    want.Message,
		AuthorName: authorName, AuthorEmail: authorEmail, When: want.When,
	})
	if err != nil {
		return "", err
	}
	if want.ID == "" {
		want.ID = commit.ID
		recorded, err := s.opt.Admin.RecordAgentCommit(ctx, r.Ref, want)
		if err != nil {
			return "", err
		}
		if recorded.ID != want.ID {
			// Another Publish of this round was first: the next try makes its commit.
			return "", admin.Errorf(admin.CodeTemporary, "the round is being published by another step")
		}
		r.In.Commit = recorded
	} else if commit.ID != want.ID {
		return "", admin.Errorf(admin.CodeInternal, "the round's commit can't be made again").Wrap(fmt.Errorf("made %s, recorded %s", commit.ID, want.ID))
	}
	err = f.Push(ctx, repo, g.branch, commit, g.expect)
	if admin.CodeOf(err) != forge.CodeMoved {
		return commit.ID, err
	}
	// An earlier push of the commit may have succeeded, and others may have added
	// commits since.
	if has, herr := f.Contains(ctx, repo, g.branch, commit); has || herr != nil {
		return commit.ID, herr
	}
	return commit.ID, err
}

// message is the message of a round's commit.
func message(r *agent.Round, title string) string {
	text := title + "\n\nBindery-Job: " + r.In.Job.ID + "\n"
	named := map[string]bool{}
	for _, m := range r.In.Messages {
		if m.N > r.In.Job.Seen && m.N <= r.Seen && m.By != "" && !named[m.By] {
			named[m.By] = true
			text += "Co-authored-by: " + m.By + "\n"
		}
	}
	if r.In.Project.Agent.SignOff {
		text += "Signed-off-by: " + authorName + " <" + authorEmail + ">\n"
	}
	return text
}
