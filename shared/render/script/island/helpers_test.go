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

// endless is an expression that takes hours of the engine's own work, which no count
// sees.
const endless = "{(() => { const l = Array(1e6).fill(0); for (let i = 0; i < 9e5; i++) l.indexOf(1) })()}"
