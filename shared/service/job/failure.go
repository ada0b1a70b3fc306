package job

import (
	"errors"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// messages are what a failed job says when the step itself left no cause.
var messages = map[string]string{
	admin.CodeInvalidSite:     "the site can't be exported as it is",
	admin.CodeInvalidPaths:    "no page lies below the paths of the export",
	admin.CodeRendererChanged: "the renderer was changed during the export; start another one",
	admin.CodeSiteTooLarge:    "the site is over a limit of exports",
	admin.CodeProcessEnded:    "the site took more memory than a step has, or ended the process that renders it in another way",
	admin.CodeInconsistent:    "the snapshot's files are not what its manifest says",
	admin.CodeTemporary:       "the export kept failing with a temporary error; start another one",
	admin.CodeInternal:        "the export failed with an internal error",
}

// Message returns what a job that failed with code says, "" for codes that are
// not ours.
func Message(code string) string { return messages[code] }

// Coded returns err with a code. An error without one comes from a port, and a
// later call may not meet it.
func Coded(err error) error {
	if _, ok := errors.AsType[store.Coded](err); ok {
		return err
	}
	if errors.Is(err, store.ErrDigest) {
		return admin.Errorf(admin.CodeInconsistent, "%s", messages[admin.CodeInconsistent]).Wrap(err)
	}
	return admin.Errorf(admin.CodeTemporary, "the export's storage did not answer as it should").Wrap(err)
}
