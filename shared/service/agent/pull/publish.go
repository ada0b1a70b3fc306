package pull

import (
	"bytes"
	"context"
	"fmt"
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

// Publish looks at the round's changes, commits them on the branch as it is now,
// pushes without force, and finds or opens the pull request. Next is work where
// a message came that the model has not read, else done.
//
// Everything that it looks at it reads from the forge, not from Work: which
// paths an agent may write, what the files were before, which hosts, code and
// secrets the changes bring.
//
// It returns the forge's errors (push_denied, branch_moved, …), changes_refused
// and cancelled.
func (s *Steps) Publish(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.rounds.Step(ctx, ref, s.publish)
}

func (s *Steps) publish(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	out := job.AgentOutput{AgentRef: ref, Next: job.NextDone}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if err != nil {
		return out, err
	}
	r, err := s.rounds.Load(ctx, ref, in)
	if err != nil {
		return out, err
	}
	if unread, err := s.opt.Admin.BeginAgentPublish(ctx, ref, r.Seen); err != nil || unread {
		out.Next = job.NextWork
		return out, err
	}
	result := admin.AgentResult{PRLink: in.Job.PRLink, PRNumber: in.Job.PRNumber, Branch: in.Job.Branch, Changes: in.Job.Changes, Seen: r.Seen}
	end := admin.AgentEvent{Kind: admin.AgentEventNote}
	if r.Finish != nil {
		end.Text = agent.Cut(strings.TrimSpace(r.Finish.Summary+"\n\n"+r.Finish.Question), agent.MaxEventText)
	}
	if changes := r.Tree.Changes(); len(changes) > 0 {
		p, err := s.propose(ctx, r, changes)
		if err != nil {
			return out, err
		}
		result.PRLink, result.PRNumber, result.Branch, result.Changes = p.pull.URL, p.pull.Number, p.branch, p.stat
	}
	result.Events = []admin.AgentEvent{end}
	_, _, err = s.opt.Admin.CompleteAgent(ctx, ref, result)
	return out, err
}

// proposal is what became of a round's changes.
type proposal struct {
	branch string
	pull   forge.PullRequest
	stat   admin.AgentChanges
}

// propose brings changes to the forge.
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
	review, err := s.look(ctx, r, g.tree, changes)
	if err != nil {
		return proposal{}, err
	}
	found, err := r.Check(ctx)
	if err != nil {
		return proposal{}, err
	}
	text := pullText(r, changes, review, found)
	if err := s.push(ctx, f, repo, r, g, changes, text.title); err != nil {
		return proposal{}, err
	}
	p := proposal{branch: g.branch, stat: text.stat}
	p.pull, err = s.pull(ctx, f, repo, forge.Pull{
		Head: g.branch, Base: r.In.Job.Base.Ref, Title: text.title, Body: text.body,
		Draft: r.In.Job.Draft || leftOver(found),
	})
	return p, err
}

// pull opens the branch's pull request, or brings the text of the open one up to
// date. On a plain Git server there is none: the branch is all there is.
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

// leftOver reports whether findings are left that a reviewer must see to.
func leftOver(found []tool.Finding) bool {
	for _, f := range found {
		if f.Level == "error" || f.Level == "warning" {
			return true
		}
	}
	return false
}

// ground is what a round's commit is made on.
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
	if g.tree, err = f.Fetch(ctx, repo, head); err != nil {
		return g, err
	}
	same, err := asRead(ctx, r, g.tree, changes)
	if err == nil && !same && !continues && g.tree.Commit != j.Base.Commit {
		g.tree.Close()
		if g.tree, err = f.Fetch(ctx, repo, j.Base.Commit); err == nil {
			same, err = asRead(ctx, r, g.tree, changes)
		}
	}
	if err == nil && !same {
		err = admin.Errorf(admin.CodeBranchMoved, "the branch %s was changed in the files that the agent changed", head)
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
		if f.Mode != forge.Regular || f.Size != int64(len(before)) {
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

// look refuses what an agent may not change, and returns what the reviewer must
// know of the rest.
func (s *Steps) look(ctx context.Context, r *agent.Round, t *forge.Tree, changes []tool.Change) (tool.Review, error) {
	var bytes int64
	for _, c := range changes {
		if err := tool.Allowed(c.Path, r.Manifest.Root); err != nil {
			return tool.Review{}, admin.Errorf(admin.CodeChanges, "an agent may not change %s: %v", c.Path, err)
		}
		bytes += int64(len(c.Content))
	}
	if l := r.In.Limits; len(changes) > l.Files || bytes > l.Bytes {
		return tool.Review{}, admin.Errorf(admin.CodeChanges, "the changes are too large: %d files and %d bytes, at most %d and %d", len(changes), bytes, l.Files, l.Bytes)
	}
	base := &agent.Repository{Texts: map[string][]byte{}, Entries: r.Base.Entries}
	for _, c := range changes {
		if _, ok := t.File(c.Path); ok {
			b, err := readFile(ctx, t, c.Path)
			if err != nil {
				return tool.Review{}, err
			}
			base.Texts[c.Path] = b
		}
	}
	// Hosts that the site links to already are in any of its files.
	for path, b := range r.Base.Texts {
		if _, ok := base.Texts[path]; !ok {
			base.Texts[path] = b
		}
	}
	review := tool.Look(base, changes)
	settings := r.In.Project.Agent
	switch {
	case len(review.Refused) > 0:
		return review, admin.Errorf(admin.CodeChanges, "the changes hold what looks like a secret: %s", review.Refused[0])
	case settings.RefuseNewHosts && len(review.NewHosts) > 0:
		return review, admin.Errorf(admin.CodeChanges, "the changes bring a link or a picture of a new host: %s", review.NewHosts[0])
	case settings.RefuseExecutable && len(review.Executable) > 0:
		return review, admin.Errorf(admin.CodeChanges, "the changes bring executable code: %s", review.Executable[0])
	}
	return review, nil
}

// push commits and pushes. Which commit it is is recorded before it is pushed: a
// repeated Publish makes that one, or finds it there.
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
			// Another Publish of this round was first: the next try goes by its.
			return admin.Errorf(admin.CodeTemporary, "the round is being published by another step")
		}
	} else if commit.ID != want.ID {
		return admin.Errorf(admin.CodeInternal, "the round's commit can't be made again").Wrap(fmt.Errorf("made %s, recorded %s", commit.ID, want.ID))
	}
	return f.Push(ctx, repo, g.branch, commit, g.expect)
}
