package local

import "context"

// Runner runs executions.
type Runner struct{}

// Close drains the runner.
func (r *Runner) Close(context.Context) error { return nil }
