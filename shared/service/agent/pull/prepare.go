package pull

import (
	"context"
	"fmt"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// Prepare reads the repository: the job's branch where an earlier round's pull
// request is still open, else the branch that was asked for. It keeps the text
// of that commit, and the findings of a check of the site as it is.
//
// In a round that works, it fetches the commits that the agent asked for. What can't be
// fetched is a message to the agent and no error.
//
// It returns the forge's errors (repository_unreachable, ref_not_found, …),
// invalid_site for a repository without a docs.json or mint.json, and cancelled.
func (s *Steps) Prepare(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.rounds.Step(ctx, ref, admin.AgentPreparing, s.prepare)
}

func (s *Steps) prepare(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	out := job.AgentOutput{AgentRef: ref, Next: job.NextWork}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if err != nil {
		return out, err
	}
	if !in.Job.CancelledAt.IsZero() {
		return out, agent.ErrCancelled()
	}
	if in.Job.Base.Manifest != "" {
		return out, s.fetch(ctx, ref, in)
	}
	f, repo, err := s.opt.Forge(ctx, in.Project)
	if err != nil {
		return out, err
	}
	continued, state, err := s.continued(ctx, f, repo, in.Job)
	if err != nil {
		return out, err
	}
	branch := in.Job.Ref
	if continued != "" {
		branch = in.Job.Branch
	}
	tree, err := f.Fetch(ctx, repo, branch)
	if err != nil {
		return out, err
	}
	defer tree.Close()
	r, files, err := read(ctx, tree, in.Project.Agent.Root)
	if err != nil {
		return out, err
	}
	m := agent.Manifest{Commit: tree.Commit, Ref: tree.Ref, Files: files, Memory: agent.Memory{Pull: state}}
	if err := s.describe(ctx, ref, in.Project, tree, r, &m); err != nil {
		return out, err
	}
	if err := s.rounds.Remember(ctx, ref, in, r, &m, continued != ""); err != nil {
		return out, err
	}
	key, err := s.rounds.KeepJSON(ctx, ref, "manifest", m)
	if err != nil {
		return out, err
	}
	base := admin.AgentBase{Commit: m.Commit, Ref: m.Ref, Manifest: key}
	if continued != "" {
		base.Ref, base.Previous = in.Job.Ref, m.Commit
	} else if base.Ref, err = target(ctx, f, repo, tree); err != nil {
		return out, err
	}
	// A pull request can't be for a tag or anything else that is not a branch.
	if head, err := f.Branch(ctx, repo, base.Ref); err != nil {
		return out, err
	} else if head == "" {
		base.Ref = tree.DefaultBranch
	}
	note := admin.AgentEvent{Kind: admin.AgentEventNote, Text: fmt.Sprintf("read %s at %.10s: %d files", m.Ref, m.Commit, len(m.Files))}
	_, err = s.opt.Admin.BeginAgentRound(ctx, ref, base, note)
	return out, err
}

// describe fills in a manifest from its repository, a fetched commit: the site, its packs
// and its findings.
func (s *Steps) describe(ctx context.Context, ref admin.AgentRef, p admin.Project, t *forge.Tree, r *agent.Repository, m *agent.Manifest) (err error) {
	if m.Root, err = siteRoot(r, p.Agent.Root); err != nil {
		return err
	}
	m.Instructions = instructions(r, m.Root)
	if p.Agent.ReadRepository {
		m.History = s.history(ctx, ref, t)
	}
	if err := readPictures(ctx, t, r, m.Root, maxPictures); err != nil {
		return err
	}
	if m.Packs, err = s.rounds.Pack(ctx, ref, r, m.Files); err != nil {
		return err
	}
	site, err := tool.NewTree(r, m.Root)
	if err != nil {
		return err
	}
	c, err := agent.NewChecker(p.Domain, site.FS(), nil)
	if err != nil {
		return err
	}
	m.Findings, err = c.Findings(ctx, site.FS())
	return err
}

// continued returns the head of the job's own branch where its pull request is
// still open, else "": then the round begins from the branch that was asked for
// and opens a pull request of its own. The state is that of the pull request.
func (s *Steps) continued(ctx context.Context, f *forge.Forge, repo forge.Repository, j admin.AgentJob) (string, agent.PullState, error) {
	if j.Branch == "" {
		return "", "", nil
	}
	head, err := f.Branch(ctx, repo, j.Branch)
	if err != nil {
		return "", "", err
	}
	if j.PRNumber == 0 { // a plain Git server has no pull requests to ask about
		if head == "" {
			return "", agent.PullGone, nil
		}
		return head, agent.PullOpen, nil
	}
	p, err := f.Pull(ctx, repo, j.PRNumber)
	switch {
	case admin.CodeOf(err) == forge.CodePullNotFound:
		return "", agent.PullGone, nil
	case err != nil:
		return "", "", err
	case p.State == forge.Merged:
		return "", agent.PullMerged, nil
	case p.State != forge.Open:
		return "", agent.PullClosed, nil
	case head == "":
		return "", agent.PullGone, nil
	}
	return head, agent.PullOpen, nil
}

// target returns the branch that a pull request of a tree's changes is for: its
// own, or the default branch where a tag or a commit was asked for.
func target(ctx context.Context, f *forge.Forge, repo forge.Repository, t *forge.Tree) (string, error) {
	head, err := f.Branch(ctx, repo, t.Ref)
	switch {
	case err != nil:
		return "", err
	case head != "":
		return t.Ref, nil
	case t.DefaultBranch == "":
		return "", admin.Errorf(admin.CodeRef, "%s is not a branch, and the repository names no default branch for a pull request", t.Ref)
	}
	return t.DefaultBranch, nil
}
