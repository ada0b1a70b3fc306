package agent

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
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
func (s *Steps) Publish(ctx context.Context, ref admin.AgentRef) (Output, error) {
	return s.step(ctx, ref, s.publish)
}

func (s *Steps) publish(ctx context.Context, ref admin.AgentRef) (Output, error) {
	out := Output{AgentRef: ref, Next: NextDone}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if err != nil {
		return out, err
	}
	r, err := s.load(ctx, ref, in)
	if err != nil {
		return out, err
	}
	if unread, err := s.opt.Admin.BeginAgentPublish(ctx, ref, r.seen); err != nil || unread {
		out.Next = NextWork
		return out, err
	}
	result := admin.AgentResult{PRLink: in.Job.PRLink, PRNumber: in.Job.PRNumber, Branch: in.Job.Branch, Seen: r.seen}
	end := admin.AgentEvent{Kind: admin.EventEnd}
	if r.finish != nil {
		end.Text = cut(strings.TrimSpace(r.finish.Summary+"\n\n"+r.finish.Question), maxEventText)
	}
	if changes := r.tree.Changes(); len(changes) > 0 {
		p, err := s.propose(ctx, r, changes)
		if err != nil {
			return out, err
		}
		result.PRLink, result.PRNumber, result.Branch, result.Changes = p.pull.URL, p.pull.Number, p.branch, p.stat
	}
	_, _, err = s.opt.Admin.CompleteAgent(ctx, ref, result, end)
	return out, err
}

// proposal is what became of a round's changes.
type proposal struct {
	branch string
	pull   forge.PullRequest
	stat   admin.AgentChanges
}

// propose brings changes to the forge.
func (s *Steps) propose(ctx context.Context, r *round, changes []tool.Change) (proposal, error) {
	f, repo, err := s.opt.Forge(ctx, r.in.Project)
	if err != nil {
		return proposal{}, err
	}
	tree, branch, err := s.parent(ctx, f, repo, r, changes)
	if err != nil {
		return proposal{}, err
	}
	defer tree.Close()
	review, err := s.look(ctx, r, tree, changes)
	if err != nil {
		return proposal{}, err
	}
	found, err := r.check(ctx)
	if err != nil {
		return proposal{}, err
	}
	text := pullText(r, changes, review, found)
	if err := s.push(ctx, f, repo, r, tree, branch, changes, text.title); err != nil {
		return proposal{}, err
	}
	p := proposal{branch: branch, stat: text.stat}
	p.pull, err = f.Propose(ctx, repo, forge.Pull{
		Head: branch, Base: r.in.Job.Base.Ref, Title: text.title, Body: text.body,
		Draft: r.in.Job.Draft || leftOver(found),
	})
	if admin.CodeOf(err) == forge.CodeNoPulls {
		err = nil // a plain Git server: the branch is all there is
	}
	return p, err
}

// leftOver reports whether findings are left that a reviewer must see to.
func leftOver(found []tool.Finding) bool {
	for _, f := range found {
		if f.Level == tool.LevelError || f.Level == tool.LevelWarning {
			return true
		}
	}
	return false
}

// parent fetches the commit that the changes go on, and names the branch that
// they go to. That is the job's own branch where the round continues it, else a
// new one from the branch that was asked for. Where people have pushed since
// Prepare, theirs is the parent, unless they changed the same files: then a new
// branch begins from the commit that Work has read, and the job's own is
// branch_moved.
func (s *Steps) parent(ctx context.Context, f *forge.Forge, repo forge.Repository, r *round, changes []tool.Change) (*forge.Tree, string, error) {
	j := r.in.Job
	if j.Base.Previous != "" {
		tree, err := f.Fetch(ctx, repo, j.Branch)
		if err != nil {
			return nil, "", err
		}
		same, err := r.same(ctx, tree, changes)
		if err == nil && !same && tree.Commit != j.Base.Commit {
			// It may be our own push that changed them.
			if tree.Parent == j.Base.Commit {
				tree.Close()
				if tree, err = f.Fetch(ctx, repo, j.Base.Commit); err == nil {
					same, err = r.same(ctx, tree, changes)
				}
			}
		}
		if err == nil && !same {
			err = admin.Errorf(admin.CodeBranchMoved, "the branch %s was changed in the files that the agent changed", j.Branch)
		}
		if err != nil {
			tree.Close()
			return nil, "", err
		}
		return tree, j.Branch, nil
	}
	branch := "bindery/" + j.ID
	if j.Branch != "" {
		branch = fmt.Sprintf("bindery/%s-%d", j.ID, r.ref.Round)
	}
	tree, err := f.Fetch(ctx, repo, j.Base.Ref)
	if err != nil {
		return nil, "", err
	}
	same, err := r.same(ctx, tree, changes)
	if err == nil && !same {
		tree.Close()
		if tree, err = f.Fetch(ctx, repo, j.Base.Commit); err == nil {
			same, err = r.same(ctx, tree, changes)
		}
		if err == nil && !same {
			err = admin.Errorf(admin.CodeBranchMoved, "the branch %s was changed in the files that the agent changed", j.Base.Ref)
		}
	}
	if err != nil {
		tree.Close()
		return nil, "", err
	}
	return tree, branch, nil
}

// same reports whether the files of changes are in a tree as Work has read them.
func (r *round) same(ctx context.Context, t *forge.Tree, changes []tool.Change) (bool, error) {
	for _, c := range changes {
		before, had := r.base.texts[c.Path]
		f, ok := t.File(c.Path)
		if had != ok {
			return false, nil
		}
		if !ok {
			continue
		}
		if f.Mode != forge.ModeFile || f.Size != int64(len(before)) {
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
func (s *Steps) look(ctx context.Context, r *round, t *forge.Tree, changes []tool.Change) (tool.Review, error) {
	var bytes int64
	for _, c := range changes {
		if err := tool.Allowed(c.Path, r.manifest.Root); err != nil {
			return tool.Review{}, admin.Errorf(admin.CodeChangesRefused, "an agent may not change %s: %v", c.Path, err)
		}
		bytes += int64(len(c.Content))
	}
	if l := r.in.Limits; len(changes) > l.Files || bytes > l.Bytes {
		return tool.Review{}, admin.Errorf(admin.CodeChangesRefused, "the changes are too large: %d files and %d bytes, at most %d and %d", len(changes), bytes, l.Files, l.Bytes)
	}
	base := &repository{texts: map[string][]byte{}, entries: r.base.entries}
	for _, c := range changes {
		if _, ok := t.File(c.Path); ok {
			b, err := readFile(ctx, t, c.Path)
			if err != nil {
				return tool.Review{}, err
			}
			base.texts[c.Path] = b
		}
	}
	// Hosts that the site links to already are in any of its files.
	for path, b := range r.base.texts {
		if _, ok := base.texts[path]; !ok {
			base.texts[path] = b
		}
	}
	review := tool.Look(base, changes)
	settings := r.in.Project.Settings.Agent
	switch {
	case len(review.Refused) > 0:
		return review, admin.Errorf(admin.CodeChangesRefused, "the changes hold what looks like a secret: %s", review.Refused[0])
	case settings.RefuseNewHosts && len(review.NewHosts) > 0:
		return review, admin.Errorf(admin.CodeChangesRefused, "the changes bring a link or a picture of a new host: %s", review.NewHosts[0])
	case settings.RefuseExecutable && len(review.Executable) > 0:
		return review, admin.Errorf(admin.CodeChangesRefused, "the changes bring executable code: %s", review.Executable[0])
	}
	return review, nil
}

// push commits and pushes. Which commit it is is recorded before it is pushed: a
// repeated Publish makes that one, or finds it there.
func (s *Steps) push(ctx context.Context, f *forge.Forge, repo forge.Repository, r *round, t *forge.Tree, branch string, changes []tool.Change, title string) error {
	var files []forge.Change
	for _, c := range changes {
		files = append(files, forge.Change{Path: c.Path, Content: c.Content, Delete: c.Delete})
	}
	message := title + "\n\nBindery-Job: " + r.in.Job.ID + "\n"
	make := func(t *forge.Tree, c admin.AgentCommit) (*forge.Commit, error) {
		return f.Commit(ctx, repo, t, files, forge.Meta{Message: message, AuthorName: authorName, AuthorEmail: authorEmail, When: c.When})
	}
	want := admin.AgentCommit{Parent: t.Commit, Branch: branch, When: s.opt.Now().UTC().Truncate(1e9)}
	commit, err := make(t, want)
	if err != nil {
		return err
	}
	want.ID = commit.ID
	recorded, err := s.opt.Admin.RecordAgentCommit(ctx, r.ref, want)
	if err != nil {
		return err
	}
	if recorded != want {
		head, err := f.Branch(ctx, repo, recorded.Branch)
		if err != nil || head == recorded.ID {
			return err // pushed before
		}
		if recorded.Parent != t.Commit {
			if t, err = f.Fetch(ctx, repo, recorded.Parent); err != nil {
				return err
			}
			defer t.Close()
		}
		if commit, err = make(t, recorded); err != nil {
			return err
		}
		if commit.ID != recorded.ID {
			return admin.Errorf(admin.CodeBranchMoved, "the branch was changed while the agent pushed to it")
		}
	}
	return f.Push(ctx, repo, recorded.Branch, commit)
}

// check returns what is new in the site with the round's changes.
func (r *round) check(ctx context.Context) ([]tool.Finding, error) {
	return checker{root: r.manifest.Root, before: r.manifest.Findings}.Check(ctx, r.tree.FS())
}

var _ fs.FS = nil
