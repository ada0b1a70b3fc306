package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Plan is what an organisation pays for.
type Plan string

// The plans. Agent jobs need PlanPro, static export PlanEnterprise.
const (
	PlanFree       Plan = "free"
	PlanPro        Plan = "pro"
	PlanEnterprise Plan = "enterprise"
)

// plans are in their order: each includes those before it.
var plans = []Plan{PlanFree, PlanPro, PlanEnterprise}

func checkPlan(p Plan) error {
	if slices.Contains(plans, p) {
		return nil
	}
	return FieldErrorf("plan", "must be free, pro or enterprise")
}

// Organisation is a customer: it owns projects and keys.
type Organisation struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Plan      Plan      `json:"plan"`
	CreatedAt time.Time `json:"createdAt"`
	// RevokedAt is when the organisation was ended: none of its keys works
	// since then, and its domains are free.
	RevokedAt time.Time `json:"revokedAt,omitzero"`
}

// maxName is the most characters of a name that people give.
const maxName = 200

func checkName(field, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return FieldErrorf(field, "is empty")
	case !utf8.ValidString(name):
		return FieldErrorf(field, "is not valid UTF-8")
	case utf8.RuneCountInString(name) > maxName:
		return FieldErrorf(field, "must be at most %d characters", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return FieldErrorf(field, "must have no control characters")
	}
	return nil
}

func indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// CreateOrganisation creates an organisation with a name and a plan, which is
// PlanFree if empty.
// It returns CodeInvalid for a wrong name or plan.
func (s *Service) CreateOrganisation(ctx context.Context, in Organisation) (Organisation, error) {
	if err := checkName("name", in.Name); err != nil {
		return Organisation{}, err
	}
	if in.Plan == "" {
		in.Plan = PlanFree
	}
	if err := checkPlan(in.Plan); err != nil {
		return Organisation{}, err
	}
	o := Organisation{ID: s.opt.NewID(idOrganisation), Name: in.Name, Plan: in.Plan, CreatedAt: s.now()}
	var b batch
	b.put(organisationKey(o.ID), 0, o)
	b.put(organisationRow(o.ID), 0, presence{})
	s.audit(&b, s.Operator(o.ID), o.ID, "organisation.created", o.ID, changed("name", "", o.Name, "plan", "", string(o.Plan))...)
	return o, s.write(ctx, &b)
}

// GetOrganisation reads an organisation, or returns CodeNotFound.
func (s *Service) GetOrganisation(ctx context.Context, id string) (Organisation, error) {
	o, _, err := find[Organisation](ctx, s, "organisation", organisationKey(id), id)
	return o, err
}

// activeOrganisation reads an organisation that has not been ended.
func (s *Service) activeOrganisation(ctx context.Context, id string) (Organisation, error) {
	o, err := s.GetOrganisation(ctx, id)
	if err == nil && !o.RevokedAt.IsZero() {
		return Organisation{}, notFound("organisation")
	}
	return o, err
}

// ListOrganisations returns all organisations, also those that were ended. It
// returns the store's errors.
func (s *Service) ListOrganisations(ctx context.Context) ([]Organisation, error) {
	var all []Organisation
	err := list(ctx, s, store.Query{PK: "orgs"}, func(rec store.Record, _ presence) error {
		o, err := s.GetOrganisation(ctx, rec.Key.SK)
		if err == nil {
			all = append(all, o)
		}
		return err
	})
	return all, err
}

// SetPlan moves an organisation to a plan. It returns CodeInvalid for an unknown
// plan and CodeNotFound for an unknown organisation.
func (s *Service) SetPlan(ctx context.Context, id string, plan Plan) (Organisation, error) {
	if err := checkPlan(plan); err != nil {
		return Organisation{}, err
	}
	return s.changeOrganisation(ctx, id, func(o *Organisation) { o.Plan = plan })
}

// RevokeOrganisation ends an organisation: first its keys, at once and all
// together, then its projects, whose domains are free after that, and its webhooks. Doing it
// again is success, and resumes where it was interrupted. What was published
// and exported stays until its retention.
// It returns CodeNotFound for an unknown organisation.
func (s *Service) RevokeOrganisation(ctx context.Context, id string) (Organisation, error) {
	o, err := s.changeOrganisation(ctx, id, func(o *Organisation) {
		if o.RevokedAt.IsZero() {
			o.RevokedAt = s.now()
		}
	})
	if err != nil {
		return Organisation{}, err
	}
	projects, err := s.ListProjects(ctx, id)
	for _, p := range projects {
		if err == nil {
			_, err = s.RevokeProject(ctx, p.ID)
		}
	}
	if err == nil {
		err = s.removeWebhooks(ctx, id)
	}
	return o, err
}

func (s *Service) changeOrganisation(ctx context.Context, id string, set func(*Organisation)) (Organisation, error) {
	return change(ctx, s, "organisation", organisationKey(id), []string{id}, func(o *Organisation, b *batch) (bool, error) {
		before := *o
		set(o)
		if *o == before {
			return false, nil
		}
		s.audit(b, s.Operator(id), id, "organisation.changed", id,
			changed("plan", string(before.Plan), string(o.Plan), "revokedAt", timeText(before.RevokedAt), timeText(o.RevokedAt))...)
		return true, nil
	})
}

// notFound is the answer where there is nothing, or nothing of the caller's.
func notFound(what string) *Error { return Errorf(CodeNotFound, "%s not found", what) }
