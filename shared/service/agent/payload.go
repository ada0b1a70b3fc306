package agent

import "github.com/bindery-docs/bindery/shared/service/admin"

// What a step says comes next.
const (
	NextWork    = "work"
	NextPublish = "publish"
	NextDone    = "done"
)

// Output is what each step returns: the round that it worked on, and what comes
// next. It is the input of the step after it.
type Output struct {
	admin.AgentRef
	Next string `json:"next"`
}
