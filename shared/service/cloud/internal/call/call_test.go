package call_test

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
)

func TestTemporaryIsTheCodeOfAdmin(t *testing.T) {
	if call.CodeTemporary != admin.CodeTemporary {
		t.Errorf("got %q, want %q", call.CodeTemporary, admin.CodeTemporary)
	}
}
