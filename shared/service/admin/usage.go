package admin

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Usage is what an organisation used in one month, in UTC. It grows in the
// transaction that completes an export, so that nothing counts twice.
type Usage struct {
	Month       string `json:"month"`       // "2006-01"
	Exports     int64  `json:"exports"`     // completed exports
	Pages       int64  `json:"pages"`       // pages of their bundles
	BundleBytes int64  `json:"bundleBytes"` // size of their archives together
}

func month(t time.Time) string { return t.UTC().Format("2006-01") }

// Usage returns what an organisation used, month by month, oldest first. It
// returns CodeNotFound for an unknown organisation.
func (s *Service) Usage(ctx context.Context, organisation string) ([]Usage, error) {
	if _, err := s.GetOrganisation(ctx, organisation); err != nil {
		return nil, err
	}
	return all[Usage](ctx, s, store.Query{PK: usageKey(organisation, "").PK, Prefix: prefixUsage})
}
