package api

import (
	"encoding/json"
	"time"
)

// RequestMessage is the message ("msg") of the line that the log has of each
// request. Calls are counted from these lines, so that a call costs no write.
const RequestMessage = "request"

// Call is one request as its line in the log describes it.
type Call struct {
	Time time.Time `json:"time"`
	// Operation is the route's name, such as "startExport".
	Operation string `json:"operation"`
	// Organisation is whose key was used; empty when none was valid.
	Organisation string `json:"organisation"`
	// Status is that of the answer.
	Status int `json:"status"`
}

// Counts reports whether the call counts for an organisation: its key was valid,
// and the answer was not a failure of the service (5xx).
func (c Call) Counts() bool { return c.Organisation != "" && c.Status != 0 && c.Status < 500 }

// ParseCall reads a line of the log, in JSON. It is not ok for lines that report
// of something else, and for what is not a line at all.
func ParseCall(line []byte) (c Call, ok bool) {
	var l struct {
		Message string `json:"msg"`
		Call
	}
	if json.Unmarshal(line, &l) != nil || l.Message != RequestMessage {
		return Call{}, false
	}
	return l.Call, true
}
