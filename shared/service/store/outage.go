package store

import "fmt"

// Outage is an error of storage that its operator has to mend: what it says is
// shown to callers and stands in failed jobs. Trying again helps once that is
// done.
type Outage struct {
	Message string
	Err     error // for the log
}

var _ Coded = (*Outage)(nil)

// Messages of outages.
const (
	OutageFull   = "the disk of the service is full"
	OutageDenied = "the service has no permission to write to its storage"
	OutageLocked = "another process has locked the service's database"
	OutageDisk   = "the disk of the service does not work"
)

// OutageMessages lists every message above: what a workflow says of a step's
// end holds one of them where that was the cause.
func OutageMessages() []string { return []string{OutageFull, OutageDenied, OutageLocked, OutageDisk} }

// Code returns "temporary".
func (e *Outage) Code() string { return "temporary" }

// SafeMessage returns the message for callers.
func (e *Outage) SafeMessage() string { return e.Message }

func (e *Outage) Error() string { return fmt.Sprintf("%s: %v", e.Message, e.Err) }

// Unwrap returns the cause.
func (e *Outage) Unwrap() error { return e.Err }
