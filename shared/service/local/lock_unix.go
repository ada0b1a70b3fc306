//go:build unix

package local

import (
	"errors"
	"os"
)

// syncDir makes renames in a folder survive a loss of power.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
