package admin

import (
	"context"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Account is what an organisation is, and how near it is to its limits.
type Account struct {
	Organisation
	// RunningExports are queued or running, of MaxRunningExports at most.
	RunningExports, MaxRunningExports int
	// ActiveAgents are agent jobs that are active, of MaxActiveAgents at most,
	// which is 0 where the plan has none.
	ActiveAgents, MaxActiveAgents int
}

// Account returns a caller's organisation. It returns the store's errors.
func (s *Service) Account(ctx context.Context, c Caller) (Account, error) {
	o, err := s.GetOrganisation(ctx, c.OrganisationID)
	if err != nil {
		return Account{}, err
	}
	running, _, err := readOr[counter](ctx, s, runningKey(o.ID))
	if err != nil {
		return Account{}, err
	}
	agents, _, err := readOr[agentPlaces](ctx, s, orgAgentsKey(o.ID))
	if err != nil {
		return Account{}, err
	}
	plan, _ := AgentPlanOf(o.Plan)
	return Account{o, running.Running, s.opt.MaxRunning, agents.Active, plan.ActiveOrganisation}, nil
}

// ProjectCursorPattern is the form of the cursors of OwnProjects.
const ProjectCursorPattern = `^prj_[0-9a-z]{1,60}$`

var projectCursorForm = lazy.Regexp(ProjectCursorPattern)

// OwnProjects returns a page of the projects of a caller's organisation that are
// not revoked, in the order of their ids, and the cursor of the next page, which
// is empty at the end. Limit 0 is DefaultPage.
// It returns CodeInvalid.
func (s *Service) OwnProjects(ctx context.Context, c Caller, cursor string, limit int) ([]Project, string, error) {
	limit, err := checkPage(limit)
	if err != nil {
		return nil, "", err
	}
	q := store.Query{PK: projectRow(c.OrganisationID, "").PK, Prefix: prefixProject, Limit: limit}
	if cursor != "" {
		if !projectCursorForm().MatchString(cursor) {
			return nil, "", FieldErrorf("cursor", "is not one that a list of projects returned")
		}
		q.Cursor = store.EncodeCursor(q, store.Record{Key: projectRow(c.OrganisationID, cursor)})
	}
	projects, next, err := pageOf(ctx, s, q, limit, maxLooked, func(rows []store.Record) ([]*Project, error) {
		own := make([]*Project, len(rows))
		for i, rec := range rows {
			p, err := s.GetProject(ctx, rec.Key.SK[len(prefixProject):])
			if err != nil {
				return nil, err
			}
			if p.RevokedAt.IsZero() && !c.outside(p.Domain) {
				own[i] = &p
			}
		}
		return own, nil
	})
	return projects, strings.TrimPrefix(next, prefixProject), err
}

// MonthPattern is the form of a month, in UTC.
const MonthPattern = `^[0-9]{4}-(0[1-9]|1[0-2])$`

var monthForm = lazy.Regexp(MonthPattern)

// MonthUsage is what an organisation used in one month.
type MonthUsage struct {
	Usage
	// Projects is what each project used, by its id: the first hundred of the month.
	Projects map[string]ProjectUsage
	// Calls are those of the API, as far as they are settled.
	Calls Calls
}

// MonthUsage returns what a caller's organisation used in a month such as
// "2026-03"; empty is the current one. A month without use is all zero.
// It returns CodeInvalid, or CodeScope for a key that is for one domain.
func (s *Service) MonthUsage(ctx context.Context, c Caller, of string) (MonthUsage, error) {
	if c.Domain != "" {
		return MonthUsage{}, Errorf(CodeScope, "this admin key is for %s alone; usage is the organisation's", c.Domain)
	}
	if of == "" {
		of = month(s.now())
	}
	if !monthForm().MatchString(of) {
		return MonthUsage{}, FieldErrorf("month", `must be a month such as "2026-03"`)
	}
	u, _, err := readOr[usageRecord](ctx, s, usageKey(c.OrganisationID, of))
	if err != nil {
		return MonthUsage{}, err
	}
	calls, _, err := readOr[Calls](ctx, s, callsKey(c.OrganisationID, of))
	u.Month = of
	return MonthUsage{u.Usage, u.Projects, calls}, err
}

// RecentUsage returns what a caller's organisation used in so many months, the
// current one first; months without use are all zero. It is two queries.
// It returns CodeScope for a key that is for one domain.
func (s *Service) RecentUsage(ctx context.Context, c Caller, months int) ([]MonthUsage, error) {
	if c.Domain != "" {
		return nil, Errorf(CodeScope, "this admin key is for %s alone; usage is the organisation's", c.Domain)
	}
	now := s.now()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	recent, at := make([]MonthUsage, months), map[string]*MonthUsage{}
	for i := range recent {
		recent[i].Month = month(first.AddDate(0, -i, 0))
		at[recent[i].Month] = &recent[i]
	}
	q := store.Query{PK: usageKey(c.OrganisationID, "").PK, Prefix: prefixUsage, Limit: months, Descending: true}
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	used, err := decoded[usageRecord](page.Records)
	if err != nil {
		return nil, err
	}
	for _, u := range used {
		if m := at[u.Month]; m != nil {
			m.Usage, m.Projects = u.Usage, u.Projects
		}
	}
	q.Prefix = prefixCalls
	if page, err = s.opt.Store.Query(ctx, q); err != nil {
		return nil, err
	}
	calls, err := decoded[Calls](page.Records)
	for i, of := range calls {
		if m := at[page.Records[i].Key.SK[len(prefixCalls):]]; m != nil {
			m.Calls = of
		}
	}
	return recent, err
}
