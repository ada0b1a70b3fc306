package main

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// TestChangesText: what is lost is named only where something is.
func TestChangesText(t *testing.T) {
	for want, c := range map[string]api.Changes{
		"0 pages added, 0 removed, 0 changed":                                                           {},
		"1 page added, 2 removed, 3 changed; files: 4 added, 0 removed, 1 changed":                      {PagesAdded: 1, PagesRemoved: 2, PagesChanged: 3, FilesAdded: 4, FilesChanged: 1},
		"0 pages added, 1 removed, 0 changed; addresses that lead nowhere: 1, anchors that are gone: 2": {PagesRemoved: 1, AddressesLost: 1, AnchorsLost: 2},
	} {
		if got := changesText(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
