package admin

import "context"

// AgentModel is a model that agents can use.
type AgentModel struct {
	// Name is the name that callers use, Model the name that its server uses.
	Name, Model string
	// Default is set for the model of jobs that name none.
	Default bool
	// Context is the most tokens of a request and its answer together, Output those of
	// an answer.
	Context, Output int
	Price           AgentPrice
}

// AgentPrice is the price of a million tokens, in millionths of a US dollar; all zero for
// a model without a price.
type AgentPrice struct{ Input, CacheWrite, CacheRead, Output int64 }

// AgentModels returns the models that agents of a caller's project can use, sorted by
// name. It returns CodeNotFound.
func (s *Service) AgentModels(ctx context.Context, c Caller, project string) ([]AgentModel, error) {
	p, err := s.callersProject(ctx, c, project)
	if err == nil && !p.RevokedAt.IsZero() {
		err = notFound("project")
	}
	if err != nil || s.opt.AgentModels == nil {
		return nil, err
	}
	return s.opt.AgentModels(), nil
}
