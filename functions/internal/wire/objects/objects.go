// Package objects provides functions with the objects of the two buckets.
package objects

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
)

// Open is the wire.Port of objects. What may be read and written of them, a
// function's role decides.
func Open(w *wire.Wiring) error {
	w.Objects = s3store.New(w.AWS, s3store.Options{
		Sources: w.Env.SourcesBucket, Exports: w.Env.ExportsBucket,
		SignerRole: w.Env.SignerRole, UploadSignerRole: w.Env.UploadSignerRole,
	})
	return nil
}
