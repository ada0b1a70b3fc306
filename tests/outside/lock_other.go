//go:build !unix

package outside

import (
	"errors"
	"os"
)

// Lock is not there on this system.
func Lock(string, func()) (*os.File, error) { return nil, errors.ErrUnsupported }
