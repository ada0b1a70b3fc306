package admin

import (
	"context"
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Acting is what callers may do of what else is for operators: keys and projects
// of their own organisation, as far as their role goes. Each method returns
// CodeRole or CodeScope where the caller may not, CodeNotFound for what is another
// organisation's, and the errors of the Service's method of the same name.
type Acting struct {
	s *Service
	c Caller
}

// As returns what a caller may do.
func (s *Service) As(c Caller) Acting { return Acting{s, c} }

// CreateKey makes an admin key, as Service.CreateKey does. It returns
// CodeTooManyKeys where the organisation has made ten in this hour.
func (a Acting) CreateKey(ctx context.Context, in KeyRequest) (Key, string, error) {
	if err := a.c.May(ActionKeys); err != nil {
		return Key{}, "", err
	}
	in.Organisation = a.c.OrganisationID
	return a.s.createKey(ctx, a.c, in)
}

// ListKeys returns all keys, also those that have ended.
func (a Acting) ListKeys(ctx context.Context) ([]Key, error) {
	if err := a.c.May(ActionKeys); err != nil {
		return nil, err
	}
	return a.s.ListKeys(ctx, a.c.OrganisationID)
}

// RevokeKey ends a key at once.
func (a Acting) RevokeKey(ctx context.Context, id string) (Key, error) {
	if err := a.c.May(ActionKeys); err != nil {
		return Key{}, err
	}
	return a.s.revokeKey(ctx, a.c, id)
}

// CreateProject creates a project and claims its domain.
func (a Acting) CreateProject(ctx context.Context, in Project) (Project, error) {
	if err := a.c.May(ActionProjects); err != nil {
		return Project{}, err
	}
	in.Organisation = a.c.OrganisationID
	return a.s.createProject(ctx, a.c, in)
}

// Project reads a project of the caller's organisation.
func (a Acting) Project(ctx context.Context, id string) (Project, error) {
	if err := a.c.May(ActionRead); err != nil {
		return Project{}, err
	}
	return a.s.callersProject(ctx, a.c, id)
}

// ConfigureProject replaces a project's configuration.
func (a Acting) ConfigureProject(ctx context.Context, id string, c Configuration) (Project, error) {
	if err := a.mine(ctx, id); err != nil {
		return Project{}, err
	}
	return a.s.configureProject(ctx, a.c, id, c)
}

// RevokeProject ends a project.
func (a Acting) RevokeProject(ctx context.Context, id string) (Project, error) {
	if err := a.mine(ctx, id); err != nil {
		return Project{}, err
	}
	return a.s.revokeProject(ctx, a.c, id)
}

// mine looks whether the caller may change a project, whose organisation never
// changes.
func (a Acting) mine(ctx context.Context, project string) error {
	if err := a.c.May(ActionProjects); err != nil {
		return err
	}
	_, err := a.s.callersProject(ctx, a.c, project)
	return err
}

// Keys returns a page of the keys, also of those that have ended, in the order of
// their ids, and the cursor of the next page, which is empty at the end.
func (a Acting) Keys(ctx context.Context, cursor string, limit int) ([]Key, string, error) {
	if err := a.c.May(ActionKeys); err != nil {
		return nil, "", err
	}
	keys := []Key{}
	next, err := a.s.somePage(ctx, keyRow(a.c.OrganisationID, ""), cursor, limit, func(rec store.Record) error {
		var row keyEntry
		if err := json.Unmarshal(rec.Value, &row); err != nil {
			return err
		}
		k, err := a.s.keyOf(ctx, row)
		keys = append(keys, k)
		return err
	})
	return keys, next, err
}

// Key reads a key, or returns CodeNotFound.
func (a Acting) Key(ctx context.Context, id string) (Key, error) {
	if err := a.c.May(ActionKeys); err != nil {
		return Key{}, err
	}
	row, _, err := find[keyEntry](ctx, a.s, "key", keyRow(a.c.OrganisationID, id), id)
	if err != nil {
		return Key{}, err
	}
	return a.s.keyOf(ctx, row)
}
