package agent

import (
	"fmt"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Equal calls with equal results lead nowhere.
const (
	hintAfter = 3 // equal calls until the model is told
	endAfter  = 5 // equal calls until the job ends
)

const hintCircles = "You have made this call with this result several times. Do something else, or call finish and say what is in the way."

// used returns the largest share of the round's budget that is used up, from 0
// on, and which it is, such as "18.30 of 20.00 US dollars".
func (r *Round) used() (share float64, of string) {
	l, u := r.In.Limits, r.Usage
	for _, b := range []struct {
		of         string
		used, most int64
	}{
		{"turns", int64(r.Turns), int64(l.Turns)},
		{"input tokens", u.Input + u.CacheRead + u.CacheWrite, l.Input},
		{"output tokens", u.Output, l.Output},
		{"US dollars", u.Cost, l.Cost},
	} {
		if b.most <= 0 || float64(b.used)/float64(b.most) <= share {
			continue
		}
		share, of = float64(b.used)/float64(b.most), fmt.Sprintf("%d of %d %s", b.used, b.most, b.of)
		if b.of == "US dollars" {
			of = fmt.Sprintf("%.2f of %.2f %s", float64(b.used)/1e6, float64(b.most)/1e6, b.of)
		}
	}
	return share, of
}

// Unfinished reports whether the round finished in its last turn because its budget
// ended, not since all was done.
func (r *Round) Unfinished() bool { return r.Finish != nil && r.last }

// Spent reports whether the round has no turn left: a finished one is published
// then, and messages that it has not read are the next round's.
func (r *Round) Spent() bool {
	_, err := r.budget()
	return err != nil
}

// lastTurn is the share of a budget after which the model has one turn left.
const lastTurn = 0.9

// budget reports whether the model's next turn is its last, or returns the error
// that ends the round: the one turn after the last share began is over.
func (r *Round) budget() (last bool, err error) {
	share, of := r.used()
	if r.last || share >= 1 {
		return false, admin.Errorf(admin.CodeBudget, "the budget of the round ended before the agent was done: it used %s", of)
	}
	// With few turns, none might lie between the last share and the end.
	return share >= lastTurn || r.Turns+1 == r.In.Limits.Turns, nil
}

const sayLast = "Your budget is almost used up: this is your last turn. Call finish now, alone. Describe what is done in summary, and what is left in left."

// leftUnsaid is Finish.Left of a last turn that doesn't say it.
const leftUnsaid = "The budget of the round ended here. What the summary does not name may be left."
