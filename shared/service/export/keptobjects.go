package export

import (
	"context"
	"errors"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// maxListBytes bounds the list of kept values: a site of MaxPages has 30 MB.
const maxListBytes = 256 << 20

// keepsInObjects reports whether values are kept for each project.
func (s *Steps) keepsInObjects() bool { return s.opt.Kept == nil && s.opt.KeepInObjects }

// siteValues opens, for Plan, what is kept of a job's project; nil where nothing is.
func (s *Steps) siteValues(ctx context.Context, j admin.ExportJob) *kept.Store {
	if !s.keepsInObjects() {
		return s.opt.Kept
	}
	values := kept.OpenObjects(ctx, s.opt.Objects, admin.KeptPrefix(j.Organisation, j.Project), 0, s.keptFault(ctx, j.ID))
	if j.Fresh { // it is to find nothing; what it makes is for later exports
		values.Forget()
	}
	return values
}

// listValues writes for the other steps which values there are. A whole export takes
// the place of older ones.
func (s *Steps) listValues(ctx context.Context, j admin.ExportJob, values *kept.Store, shards int) error {
	if len(j.Paths) == 0 && len(j.Groups) == 0 {
		values.Retire(shards, s.opt.Now().Add(-admin.KeptFor/2))
	}
	values.Flush()
	list := values.Encode()
	if len(list) > maxListBytes {
		list = kept.EmptyList()
	}
	return s.put(ctx, job.KeptKey(j.ID), list)
}

// listedValues opens, for the steps after Plan, the values that it listed.
func (s *Steps) listedValues(ctx context.Context, j admin.ExportJob) (*kept.Store, error) {
	if !s.keepsInObjects() {
		return s.opt.Kept, nil
	}
	list, err := s.read(ctx, job.KeptKey(j.ID), maxListBytes)
	if errors.Is(err, store.ErrNotFound) {
		list = kept.EmptyList() // Plan was an earlier version's
	} else if err != nil {
		return nil, err
	}
	return s.decodeValues(ctx, j, list), nil
}

func (s *Steps) decodeValues(ctx context.Context, j admin.ExportJob, list []byte) *kept.Store {
	return kept.Decode(ctx, list, s.opt.Objects, admin.KeptPrefix(j.Organisation, j.Project), 0, s.keptFault(ctx, j.ID))
}

// keptFault returns what notes a fault of kept values, of which none is one of the
// export.
func (s *Steps) keptFault(ctx context.Context, id string) func(error) {
	ctx = context.WithoutCancel(ctx)
	return func(err error) {
		s.opt.Log.WarnContext(ctx, "a fault of what is kept for later exports", "job", id, "error", err)
	}
}
