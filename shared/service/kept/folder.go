package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// forgotten is the time after which a site that is no longer exported loses
// its folder.
const forgotten = 30 * 24 * time.Hour

var folderName = lazy.Regexp("^[0-9a-f]{32}$")

// Folder returns the folder below root of the site that these texts name, for
// Open, and removes those of sites that nobody has exported for a month. The
// error is about root.
func Folder(root string, site ...string) (string, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(site, "\x00")))
	own := hex.EncodeToString(sum[:16])
	list, err := os.ReadDir(root)
	if err != nil {
		return "", err
	}
	for _, e := range list {
		if e.Name() == own || !folderName().MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.IsDir() && time.Since(info.ModTime()) > forgotten {
			_ = os.RemoveAll(filepath.Join(root, e.Name()))
		}
	}
	dir := filepath.Join(root, own)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	now := time.Now()
	return dir, os.Chtimes(dir, now, now)
}
