package island

import (
	"context"
	"testing"
	"time"
)

// contextWithCancelSoon ends while a script is at work.
func contextWithCancelSoon(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), 300*time.Millisecond)
}
