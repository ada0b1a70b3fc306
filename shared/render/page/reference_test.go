package page_test

import (
	"io/fs"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// sliceOf cuts what a page shows of a specification; nil for a page that shows
// none.
func sliceOf(t testing.TB, fsys fs.FS, s *site.Site, i int) *reference.Slice {
	t.Helper()
	ref := s.Pages[i].Reference
	if ref == nil {
		return nil
	}
	r := reference.NewReader(fsys)
	spec := r.Spec(ref.File)
	return r.Slice(spec, spec.Find(ref.Key))
}
