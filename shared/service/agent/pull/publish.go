package pull

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// The author of all commits. It is fixed, and so is the date once it is
// recorded: the same changes on the same parent are the same commit.
const (
	authorName  = "Bindery agent"
	authorEmail = "agent@bindery.invalid"
)

// Publish reviews the round's changes, commits them on the branch as it is now, pushes
// without force, and updates or opens the pull request. Next is work if there is a
// message that the model has not read, else done.
//
// Its review relies on the forge's files, not on Work: which paths an agent may write,
// what the files were before, and which hosts, code and secrets the changes add.
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
	r, err := s.rounds.Load(ctx, ref, in)
	if err != nil {
		return out, err
	}
	if r.Finish == nil { // a start that was late, of a round that works again
		out.Next = job.NextWork
		return out, nil
	}
	seen := r.Seen
	if r.Spent() {
		seen = in.Job.Messages
	}
	if unread, err := s.opt.Admin.BeginAgentPublish(ctx, ref, seen); err != nil || unread {
		out.Next = job.NextWork
		return out, err
	}
	result := admin.AgentResult{PRLink: in.Job.PRLink, PRNumber: in.Job.PRNumber, Branch: in.Job.Branch, Changes: in.Job.Changes, Review: in.Job.Review, Seen: r.Seen}
	end := admin.AgentEvent{Kind: admin.AgentEventNote}
	end.Text = agent.Cut(strings.TrimSpace(r.Finish.Summary+"\n\n"+r.Finish.Question), agent.MaxEventText)
	if changes := r.Tree.Changes(); len(changes) > 0 {
		p, err := s.propose(ctx, r, changes)
		if err != nil {
			return out, err
		}
		result.PRLink, result.PRNumber, result.Branch, result.Changes = p.pull.URL, p.pull.Number, p.branch, p.stat
		result.Review = p.review
		checked := "the changes bring no new findings"
		if n := len(p.review.Findings); n > 0 {
			checked = fmt.Sprintf("the changes leave %d new findings", n)
		}
		result.Events = append(result.Events, admin.AgentEvent{Kind: admin.AgentEventCheck, Text: checked, Files: p.files})
	}
	result.Events = append(result.Events, admin.AgentEvent{Kind: admin.AgentEventUsage, Usage: &r.Usage}, end)
	_, _, err = s.opt.Admin.CompleteAgent(ctx, ref, result)
	if err == nil {
		s.rounds.Clean(ctx, ref)
	}
	return out, err
}

// proposal is the result of proposing a round's changes.
type proposal struct {
	branch string
	pull   forge.PullRequest
	stat   admin.AgentChanges
	files  []admin.AgentFile
	review admin.AgentReview
}

// propose pushes changes and opens a pull request.
func (s *Steps) propose(ctx context.Context, r *agent.Round, changes []tool.Change) (proposal, error) {
	f, repo, err := s.opt.Forge(ctx, r.In.Project)
	if err != nil {
		return proposal{}, err
	}
	g, err := s.ground(ctx, f, repo, r, changes)
	if err != nil {
		return proposal{}, err
	}
	defer g.tree.Close()
	review, err := s.look(ctx, r, g, changes)
	if err != nil {
		return proposal{}, err
	}
	text := pullText(r, changes, review)
	if err := s.push(ctx, f, repo, r, g, changes, text.title); err != nil {
		return proposal{}, err
	}
	p := proposal{branch: g.branch, stat: text.stat, files: text.files, review: review}
	p.pull, err = s.pull(ctx, f, repo, forge.Pull{
		Head: g.branch, Base: r.In.Job.Base.Ref, Title: text.title, Body: text.body,
		Draft: r.In.Job.Draft || len(review.Findings) > 0,
	})
	return p, err
}

// pull opens the branch's pull request, or updates the text of the open one. On a
// plain Git server it does nothing.
func (s *Steps) pull(ctx context.Context, f *forge.Forge, repo forge.Repository, p forge.Pull) (forge.PullRequest, error) {
	open, found, err := f.FindPull(ctx, repo, p.Head, p.Base)
	switch {
	case admin.CodeOf(err) == forge.CodeNoPulls:
		return forge.PullRequest{}, nil
	case err != nil:
		return open, err
	case found && open.State == forge.Open:
		return f.UpdatePull(ctx, repo, open.Number, p)
	}
	return f.OpenPull(ctx, repo, p)
}

// ground is what a round's commit is based on.
type ground struct {
	tree   *forge.Tree
	branch string // that the commit is pushed to
	expect string // where that branch must be, "" if it must not exist
	pushed bool   // the round's commit is there already
}

// ground fetches the commit that the changes go on. That is the head of the
// job's own branch where the round continues it, else of the branch that was
// asked for. Where people have pushed since Prepare, theirs is the parent,
// unless they changed the same files: then the job's own branch is branch_moved,
// and a new one begins from the commit that Work has read. A round that has
// recorded its commit keeps its parent.
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
	if g.tree, err = f.Fetch(ctx, repo, head, from...); err != nil {
		return g, err
	}
	same, err := asRead(ctx, r, g.tree, changes)
	if err == nil && !same && !continues && g.tree.Commit != j.Base.Commit {
		g.tree.Close()
		if g.tree, err = f.Fetch(ctx, repo, j.Base.Commit, from...); err == nil {
			same, err = asRead(ctx, r, g.tree, changes)
		}
	}
	if err == nil && !same {
		err = admin.Errorf(admin.CodeBranchMoved, "the branch %s has other changes of the files that the agent changed", head)
	}
	if continues {
		g.expect = g.tree.Commit
	}
	return g, err
}

// newBranch returns the name of a round's own branch. That of the job is taken
// where an earlier round has pushed to it, also one that failed afterwards.
func newBranch(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round) (string, error) {
	name := "bindery/" + r.Ref.Job
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

// asRead reports whether the files of changes are in a tree as Work has read them.
func asRead(ctx context.Context, r *agent.Round, t *forge.Tree, changes []tool.Change) (bool, error) {
	for _, c := range changes {
		before, had := r.Base.Texts[c.Path]
		f, ok := t.File(c.Path)
		if had != ok {
			return false, nil
		}
		if !ok {
			continue
		}
		if f.Mode != forge.Regular || f.Size >= 0 && f.Size != int64(len(before)) {
			return false, nil
		}
		now, err := readFile(ctx, t, c.Path)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(before, now) {
			return false, nil
		}
	}
	return true, nil
}

// look refuses what an agent may not change, and returns what the reviewer must know
// about the rest and about earlier rounds of the pull request. It reads the site from
// the forge's tree and trusts nothing else.
func (s *Steps) look(ctx context.Context, r *agent.Round, g ground, changes []tool.Change) (admin.AgentReview, error) {
	base, _, err := read(ctx, g.tree, r.In.Project.Agent.Root)
	if err != nil {
		return admin.AgentReview{}, err
	}
	root, err := siteRoot(base, r.In.Project.Agent.Root)
	if err != nil {
		return admin.AgentReview{}, err
	}
	var bytes int64
	for _, c := range changes {
		if err := tool.Allowed(c.Path, root); err != nil {
			return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "an agent may not change %s: %v", c.Path, err)
		}
		bytes += int64(len(c.Content))
	}
	if l := r.In.Limits; len(changes) > l.Files || bytes > l.Bytes {
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes are too large: %d files and %d bytes, at most %d and %d", len(changes), bytes, l.Files, l.Bytes)
	}
	others, err := tool.Others(base, root, changes)
	if err != nil {
		return admin.AgentReview{}, err
	}
	found := tool.Look(base, root, changes)
	settings := r.In.Project.Agent
	switch {
	case !settings.AllowOtherFiles && len(others) > 0:
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes have a file that is no part of the site: %s", others[0])
	case len(found.Refused) > 0:
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes contain what looks like a secret: %s", found.Refused[0])
	case settings.RefuseNewHosts && len(found.NewHosts) > 0:
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes add a link to, or a picture from, a new host: %s", found.NewHosts[0])
	case settings.RefuseExecutable && len(found.Executable) > 0:
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes add executable code: %s", found.Executable[0])
	}
	findings, err := findingsOf(ctx, r.In.Project.Domain, base, root, changes)
	if err != nil {
		return admin.AgentReview{}, err
	}
	var before admin.AgentReview
	if r.In.Job.Base.Previous != "" {
		before = r.In.Job.Review
	}
	review := admin.AgentReview{
		NewHosts:   joined(before.NewHosts, found.NewHosts),
		Executable: joined(before.Executable, found.Executable),
		Others:     joined(before.Others, others),
		Findings:   joined(before.Findings, findings),
	}
	review.Findings = review.Findings[:min(len(review.Findings), maxFindings)]
	// These lists are never cut: what is left out could be what matters.
	if first := slices.Concat(review.NewHosts, review.Executable, review.Others); len(strings.Join(first, "\n")) > maxFirst {
		return admin.AgentReview{}, admin.Errorf(admin.CodeChanges, "the changes have %d new hosts, %d pieces of code and %d other files, which is more than a pull request can list",
			len(review.NewHosts), len(review.Executable), len(review.Others))
	}
	return review, nil
}

// Limits of a review: lines of findings, and bytes of what is to be looked at first.
const (
	maxFindings = 50
	maxFirst    = 24 << 10
)

// joined appends lines to those of earlier rounds, each once.
func joined(before, now []string) []string {
	all := slices.Clone(before)
	for _, line := range now {
		if line = plainLine(line, 300); !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// findingsOf returns the new errors and warnings of a check of the changed site.
func findingsOf(ctx context.Context, domain string, base tool.Base, root string, changes []tool.Change) ([]string, error) {
	tree, err := tool.NewTree(base, root)
	if err != nil {
		return nil, err
	}
	c, err := agent.NewChecker(domain, tree.FS(), nil)
	if err != nil {
		return nil, err
	}
	if err := c.Before(ctx, tree.FS()); err != nil {
		return nil, err
	}
	if err := tree.Apply(changes); err != nil {
		return nil, admin.Errorf(admin.CodeChanges, "the changes can't be made: %v", err)
	}
	found, err := c.Check(ctx, tree.FS(), false)
	var lines []string
	for _, f := range found {
		if f.Level == tool.LevelError || f.Level == tool.LevelWarning {
			lines = append(lines, fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Level, f.Message))
		}
	}
	return lines, err
}

// push commits and pushes. The commit is recorded before the push, so that a repeated
// Publish makes the same one, or finds it at the end of the branch or in its history.
func (s *Steps) push(ctx context.Context, f *forge.Forge, repo forge.Repository, r *agent.Round, g ground, changes []tool.Change, title string) error {
	if g.pushed {
		return nil
	}
	var files []forge.Change
	for _, c := range changes {
		files = append(files, forge.Change{Path: c.Path, Content: c.Content, Delete: c.Delete})
	}
	want := r.In.Commit
	if want.ID == "" {
		want = admin.AgentCommit{Parent: g.tree.Commit, Branch: g.branch, When: s.opt.Now().UTC().Truncate(time.Second)}
	}
	commit, err := f.Commit(ctx, repo, g.tree, files, forge.Meta{
		Message:    title + "\n\nBindery-Job: " + r.In.Job.ID + "\n",
		AuthorName: authorName, AuthorEmail: authorEmail, When: want.When,
	})
	if err != nil {
		return err
	}
	if want.ID == "" {
		want.ID = commit.ID
		recorded, err := s.opt.Admin.RecordAgentCommit(ctx, r.Ref, want)
		if err != nil {
			return err
		}
		if recorded.ID != want.ID {
			// Another Publish of this round was first: the next try makes its commit.
			return admin.Errorf(admin.CodeTemporary, "the round is being published by another step")
		}
	} else if commit.ID != want.ID {
		return admin.Errorf(admin.CodeInternal, "the round's commit can't be made again").Wrap(fmt.Errorf("made %s, recorded %s", commit.ID, want.ID))
	}
	err = f.Push(ctx, repo, g.branch, commit, g.expect)
	if admin.CodeOf(err) != forge.CodeMoved {
		return err
	}
	// An earlier push of the commit may have succeeded, and others may have added
	// commits since.
	if has, herr := f.Contains(ctx, repo, g.branch, commit); has || herr != nil {
		return herr
	}
	return err
}
