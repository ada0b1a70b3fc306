package admin

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// ChangesKey is the object key of the list of what a job's bundle changed: a
// diff.Result.
func ChangesKey(job string) string { return AllExports + job + "/changes.json" }

// Changes counts what differs between a job's bundle and that of the export
// before it.
type Changes struct {
	// Job and Version are those of the export before.
	Job     string `json:"job"`
	Version string `json:"version"`

	PagesAdded   int `json:"pagesAdded,omitempty"`
	PagesRemoved int `json:"pagesRemoved,omitempty"`
	PagesChanged int `json:"pagesChanged,omitempty"`
	// AddressesLost are those of pages that lead nowhere any more, AnchorsLost
	// places in pages that are gone.
	AddressesLost int `json:"addressesLost,omitempty"`
	AnchorsLost   int `json:"anchorsLost,omitempty"`
	FilesAdded    int `json:"filesAdded,omitempty"`
	FilesRemoved  int `json:"filesRemoved,omitempty"`
	FilesChanged  int `json:"filesChanged,omitempty"`
	// Listed reports that there was a list of them when the job ended: two
	// bundles that are the same have none.
	Listed bool `json:"listed,omitempty"`
}

// maxEarlier is how many exports are looked at for the one before.
const maxEarlier = 20

// EarlierExports calls fn with the completed exports that were begun before a job,
// the newest first, until it returns false: of the same site, with the same paths
// and groups, as far as they are among the domain's newest maxEarlier. It returns
// the first error of fn or of the store.
func (s *Service) EarlierExports(ctx context.Context, j ExportJob, fn func(ExportJob) (more bool, err error)) error {
	q := store.Query{PK: exportsPK(j.Organisation, j.Domain), Limit: maxEarlier, Descending: true}
	q.Cursor = store.EncodeCursor(q, store.Record{Key: store.Key{PK: q.PK, SK: exportRow(j)}})
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return err
	}
	for _, row := range page.Records {
		_, id, _ := strings.Cut(row.Key.SK, ".")
		earlier, _, err := read[ExportJob](ctx, s, jobKey(id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if earlier.Status != ExportCompleted || earlier.Organisation != j.Organisation || earlier.Project != j.Project ||
			!slices.Equal(earlier.Paths, j.Paths) || !slices.Equal(earlier.Groups, j.Groups) {
			continue
		}
		if more, err := fn(earlier); err != nil || !more {
			return err
		}
	}
	return nil
}

// changesLink makes a link to the list of a completed job's changes, which is there
// as long as its bundle; the zero value where it has no list.
func (s *Service) changesLink(ctx context.Context, j ExportJob) (store.Link, error) {
	if !j.Bundle.Changes.Listed {
		return store.Link{}, nil
	}
	return s.opt.Objects.PresignGet(ctx, ChangesKey(j.ID), j.Domain+"-"+j.Version+"-changes.json", s.opt.LinkLife)
}
