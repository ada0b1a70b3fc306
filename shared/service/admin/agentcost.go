package admin

import "time"

// agentUse is the record of a project's agent jobs: the starts of the hour, and what
// rounds cost in the month.
type agentUse struct {
	Hour   time.Time `json:"hour,omitzero"`
	Starts int       `json:"starts,omitempty"`

	// Month is a month of UTC such as "2026-03". Spent is the cost of the rounds that ended in
	// it, in millionths of a US dollar.
	Month string `json:"month,omitempty"`
	Spent int64  `json:"spent,omitempty"`
	// Reserved is the most that the rounds which have not ended may cost: those that
	// began under a limit for the month.
	Reserved int64 `json:"reserved,omitempty"`
}

// projectUse returns the record of the job's project, with the sums of the current month.
// The transaction writes it.
func (tx *agentTx) projectUse() (*agentUse, error) {
	if tx.use != nil {
		return tx.use, nil
	}
	use, revision, err := readOr[agentUse](tx.ctx, tx.s, projectAgentsKey(tx.job.Project))
	if err != nil {
		return nil, err
	}
	if now := month(tx.now); use.Month != now {
		use.Month, use.Spent = now, 0
	}
	tx.use, tx.useRevision = &use, revision
	return tx.use, nil
}

// start counts a start. It returns CodeTooManyAgents at the limit of an hour.
func (u *agentUse) start(now time.Time, most int) error {
	hour := now.Truncate(time.Hour)
	if !u.Hour.Equal(hour) {
		u.Hour, u.Starts = hour, 0
	}
	if u.Starts >= most {
		return Errorf(CodeTooManyAgents, "%d agent jobs of this project were started in this hour", u.Starts).After(hour.Add(time.Hour).Sub(now))
	}
	u.Starts++
	return nil
}

// reserve takes what the job's round may cost from the project's limit for the month: at
// most what is left of it. It returns CodeAgentCost if less than a hundredth of a round is
// left.
func (tx *agentTx) reserve(p Project, plan AgentPlan) error {
	use, err := tx.projectUse()
	if err != nil {
		return err
	}
	tx.job.Reserved = 0
	limit := p.Agent.MaxMonthCost
	if limit == 0 {
		return nil
	}
	most := plan.lowered(p.Agent).Cost
	left := limit - use.Spent - use.Reserved
	enough := func(left int64) bool { return left > 0 && left >= min(most, limit)/100 } // with less, a round has not even one turn
	switch {
	case enough(left):
	case enough(limit - use.Spent):
		return Errorf(CodeAgentCost, "this project's agent jobs may cost %s in a month: %s are spent, and active jobs may need the rest",
			USDollars(limit), USDollars(use.Spent)).After(agentPause)
	default:
		return Errorf(CodeAgentCost, "this project's agent jobs may cost %s in a month, and have cost %s",
			USDollars(limit), USDollars(use.Spent)).After(nextMonth(tx.now).Sub(tx.now))
	}
	tx.job.Reserved = min(left, most)
	use.Reserved += tx.job.Reserved
	return nil
}

// charge counts what the job's round cost, in the project's month and in the usage of the
// organisation, and gives back what was reserved for it.
func (tx *agentTx) charge() error {
	use, err := tx.projectUse()
	if err != nil {
		return err
	}
	use.Reserved = max(0, use.Reserved-tx.job.Reserved)
	use.Spent += tx.job.RoundCost
	if tx.job.Base.Commit != "" || tx.job.RoundCost > 0 { // it began to work
		tx.ended.AgentRounds++
		tx.ended.AgentCost += tx.job.RoundCost
	}
	tx.job.Reserved = 0
	return nil
}

// nextMonth returns the beginning of the next month of UTC.
func nextMonth(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}
