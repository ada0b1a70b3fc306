package api

import (
	"net/http"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestEveryCodeHasAStatus: only a fault of ours is 500.
func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range admin.Codes() {
		got := status(code)
		if (got == http.StatusInternalServerError) != (code == admin.CodeInternal || code == admin.CodeRendererChanged) {
			t.Errorf("%s is %d", code, got)
		}
	}
	if status("no such code") != http.StatusInternalServerError {
		t.Error("an unknown code is not a fault of ours")
	}
}
