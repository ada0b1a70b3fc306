package job

import (
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// AgentRound is the time of a round, after which its workflow ends.
const AgentRound = 6 * time.Hour

// AgentSegment is how long one call of the agent's step Work begins new turns.
const AgentSegment = 11 * time.Minute

// agentLook is how often Work reads the job while a model answers.
const agentLook = 5 * time.Second

// AgentAsksOf returns what an agent job asks of AWS that had so many rounds and turns,
// and called Work more often than once a round. It assumes a record of up to 2 KB, with
// some lines of prompt and summary. It leaves out calls of the API, plans, larger checks
// and checkpoints, reviews of merges, and reads while the model answers. A test compares it with counts of
// real jobs.
func AgentAsksOf(rounds, turns, more int) Asks {
	once := Asks{WriteUnits: 8}
	round := Asks{WriteUnits: 70, ReadUnits: 60, ObjectWrites: 3, ObjectReads: 8, Transitions: 9, Calls: 4}
	turn := Asks{WriteUnits: 10, ReadUnits: 6, ObjectWrites: 1, ObjectReads: 2}
	// Each round but the first reads the one before it, with its turns and its review.
	later, again := 0, 0
	if rounds > 1 {
		later, again = rounds-1, turns-turns/rounds
	}
	return Asks{
		WriteUnits: once.WriteUnits + rounds*round.WriteUnits + turns*turn.WriteUnits, ReadUnits: rounds*round.ReadUnits + turns*turn.ReadUnits + 4*later,
		ObjectWrites: rounds*round.ObjectWrites + turns*turn.ObjectWrites, ObjectReads: rounds*round.ObjectReads + turns*turn.ObjectReads + 3*later + again,
		Transitions: rounds*round.Transitions + 2*more, Calls: rounds*round.Calls + more,
	}
}

// AgentRun is what the price of an agent job follows from.
type AgentRun struct {
	Rounds, Turns int
	// Model is what the model cost, in US dollars, by the prices of the service's
	// table of models.
	Model float64
	// Steps is how long its rounds were worked on, one step after another, and
	// GBSeconds that time in gigabytes (of 1,024 MB) times seconds, in functions of
	// 1,769 MB. Segments is how many calls of Work that time had beyond one a round.
	Steps     time.Duration
	GBSeconds float64
	Segments  int
	// Requests is how many requests of the API belong to it: its start, messages and
	// polls.
	Requests int
}

// AgentRunOf returns the run of a final job from its own records, with the callers'
// polls. A round takes from the event that a step began to work on it to the one
// of its end.
func AgentRunOf(j admin.AgentJob, events []admin.AgentEvent, polls int) AgentRun {
	r := AgentRun{Rounds: j.Round, Turns: j.Turns, Model: float64(j.Usage.Cost) / 1e6, Requests: j.Messages + polls}
	var began time.Time
	for _, e := range events {
		switch {
		case began.IsZero() && e.Kind == admin.AgentEventPhase && e.Text == string(admin.AgentPreparing):
			began = e.At
		case !began.IsZero() && (e.Kind == admin.AgentEventEnd || e.Kind == admin.AgentEventPhase && e.Text == string(admin.AgentQueued)):
			took := e.At.Sub(began)
			r.Steps += took
			r.Segments += int(took / AgentSegment)
			began = time.Time{}
		}
	}
	r.GBSeconds = r.Steps.Seconds() * stepMemory / 1024
	return r
}

// AgentBill returns the price of an agent job: of its model and of AWS. Nothing of it
// is kept or downloaded.
func (p Prices) AgentBill(r AgentRun) Bill {
	a := AgentAsksOf(r.Rounds, r.Turns, r.Segments)
	a.ReadUnits += int(r.Steps/agentLook) + r.Requests
	return billOf(Line{"model", count(r.Turns, "turn"), r.Model}, p.steps(r.Steps, r.GBSeconds, a),
		p.workflow(count(r.Rounds, "round"), a), p.records(a), p.objects(a), p.requests(r.Requests), p.watching(a.Calls+r.Requests))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
