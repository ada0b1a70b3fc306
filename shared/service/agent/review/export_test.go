package review

import (
	"context"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
)

// Look is look, for tests.
func (s *Steps) Look(ctx context.Context, p admin.Project, proposal *agent.Proposal, earlier *agent.Reviewed) (*agent.Reviewed, error) {
	return s.look(ctx, p, proposal, earlier)
}
