package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestLargestBundleHasARecord: the parts of the largest bundle that a run makes can be
// listed in one record.
func TestLargestBundleHasARecord(t *testing.T) {
	a := admin.Assembly{Upload: strings.Repeat("u", 64), PartBytes: ownPart, Digest: make([]byte, 128)}
	for n := range export.MaxBundleBytes / ownPart {
		a.Parts = append(a.Parts, store.Part{Size: int64(ownPart - n%2), SHA256: strings.Repeat("0", 64)})
	}
	data, err := json.Marshal(a)
	if err != nil || len(data) > store.MaxRecordBytes*9/10 {
		t.Errorf("%d parts take %d bytes of %d (%v)", len(a.Parts), len(data), store.MaxRecordBytes, err)
	}
}
