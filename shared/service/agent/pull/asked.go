package pull

import (
	"context"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// Pull returns when the pull request of a final job was merged or closed: the current
// time if the forge doesn't say when, or no longer has it. It changes nothing.
//
// It is not a step of the workflow: job.Keeper calls it, whose process has no
// credential of a forge. It returns the forge's errors, and CodeNotFound.
func (s *Steps) Pull(ctx context.Context, ref admin.AgentRef) (job.PullOutput, error) {
	j, err := s.opt.Admin.FindAgentJob(ctx, ref.Project, ref.Job)
	if err != nil {
		return job.PullOutput{}, err
	}
	project, err := s.opt.Admin.GetProject(ctx, j.Project)
	// In another repository, the number is another pull request's.
	if err != nil || j.PRNumber == 0 || project.Repository != j.Repository {
		return job.PullOutput{}, err
	}
	f, repo, err := s.opt.Forge(ctx, project)
	if err != nil {
		return job.PullOutput{}, err
	}
	p, err := f.Pull(ctx, repo, j.PRNumber)
	switch gone := admin.CodeOf(err) == forge.CodePullNotFound; {
	case err != nil && !gone:
		return job.PullOutput{}, err
	case p.State == forge.Open && !gone:
		return job.PullOutput{}, nil
	case p.ClosedAt.IsZero():
		p.ClosedAt = s.opt.Now()
	}
	return job.PullOutput{ClosedAt: p.ClosedAt}, nil
}
