package site_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// TestMemory: the rules, on a storage that has files as an archive has them.
func TestMemory(t *testing.T) {
	open := func(t testing.TB, files map[string]string, info *bundle.Info) sitetest.Storage {
		m := sitetest.NewMemory(t, files, info)
		return sitetest.Storage{Version: m, Damage: m.Damage, Fail: func(failing bool) {
			if failing {
				m.Fail(&site.Temporary{Err: errors.New("no answer"), After: 1500 * time.Millisecond})
			} else {
				m.Fail(nil)
			}
		}}
	}
	sitetest.Run(t, open)
	t.Run("failure", func(t *testing.T) { sitetest.RunFailing(t, open) })
}
