package admin

import (
	"context"
	"slices"
	"time"
)

// agentPlaces is the record of an organisation's active agent jobs: those that run,
// and the queue of those that wait for a place.
type agentPlaces struct {
	// Active counts the jobs that run, Running those of each project.
	Active  int            `json:"active"`
	Running map[string]int `json:"running,omitempty"`
	// Queue has the jobs that wait, in the order in which they came.
	Queue []agentPlace `json:"queue,omitempty"`
}

// agentPlace is a job in a queue.
type agentPlace struct {
	Project string `json:"project"`
	Job     string `json:"job"`
}

// MaxAgentQueue is the most jobs of an organisation that wait for a place, so that its
// record stays small.
const MaxAgentQueue = 200

// room reports whether a job of a project may run.
func (p *agentPlaces) room(project string, plan AgentPlan) bool {
	return p.Active < plan.ActiveOrganisation && p.Running[project] < plan.ActiveProject
}

// enter lets a job of a project run.
func (p *agentPlaces) enter(project string) {
	p.Active++
	if p.Running == nil {
		p.Running = map[string]int{}
	}
	p.Running[project]++
}

// leave takes away a job: its place, or its entry in the queue.
func (p *agentPlaces) leave(j AgentJob) {
	if j.Queued {
		p.Queue = slices.DeleteFunc(p.Queue, func(q agentPlace) bool { return q.Job == j.ID })
		return
	}
	p.Active = max(0, p.Active-1)
	// Another start of the step may have left already: then the write is refused.
	if n := p.Running[j.Project] - 1; n > 0 {
		p.Running[j.Project] = n
	} else {
		delete(p.Running, j.Project)
	}
}

// next returns the index in the queue of the job to run next: of the project with the
// fewest running jobs, the one that has waited longest. may limits the choice.
func (p *agentPlaces) next(running map[string]int, may func(agentPlace) bool) int {
	best := -1
	for i, q := range p.Queue {
		if may(q) && (best < 0 || running[q.Project] < running[p.Queue[best].Project]) {
			best = i
		}
	}
	return best
}

// position returns the place of a job in the order in which the queue would be served,
// from 1; 0 for a job that is not in it. A place is at most as far behind as that: the
// limit of a project before it may let it pass.
func (p *agentPlaces) position(id string) int {
	running := map[string]int{}
	for project, n := range p.Running {
		running[project] = n
	}
	gone := map[string]bool{}
	for n := 1; ; n++ {
		i := p.next(running, func(q agentPlace) bool { return !gone[q.Job] })
		if i < 0 {
			return 0
		}
		if p.Queue[i].Job == id {
			return n
		}
		gone[p.Queue[i].Job] = true
		running[p.Queue[i].Project]++
	}
}

// take takes the place of a round that a caller starts in project p, or puts it into the
// queue. It returns CodeTooManyAgents if the queue is full, or for too many starts in an
// hour, and CodeAgentCost.
func (tx *agentTx) take(p Project, plan AgentPlan) error {
	use, err := tx.projectUse()
	if err != nil {
		return err
	}
	if err := use.start(tx.now, plan.StartsPerHour); err != nil {
		return err
	}
	if err := tx.reserve(p, plan); err != nil {
		return err
	}
	org, orgRevision, err := readOr[agentPlaces](tx.ctx, tx.s, orgAgentsKey(tx.job.Organisation))
	if err != nil {
		return err
	}
	switch {
	case org.room(tx.job.Project, plan):
		org.enter(tx.job.Project)
	case len(org.Queue) >= MaxAgentQueue:
		return Errorf(CodeTooManyAgents, "%d agent jobs of your organisation are waiting; wait until one begins", len(org.Queue)).After(agentPause)
	default:
		tx.job.Queued = true
		org.Queue = append(org.Queue, agentPlace{tx.job.Project, tx.job.ID})
		tx.job.Position = org.position(tx.job.ID)
	}
	tx.put(orgAgentsKey(tx.job.Organisation), orgRevision, org)
	return nil
}

// agentPause is the pause before a caller may try again after a full queue: a round
// takes minutes.
const agentPause = 30 * time.Second

// leave gives the place of a job that ends to others, and counts what its round cost.
func (tx *agentTx) leave() error {
	if err := tx.charge(); err != nil {
		return err
	}
	key := orgAgentsKey(tx.job.Organisation)
	org, revision, err := readOr[agentPlaces](tx.ctx, tx.s, key)
	if err != nil {
		return err
	}
	org.leave(tx.job)
	tx.put(key, revision, org)
	tx.freed = !tx.job.Queued
	tx.job.Queued = false
	return nil
}

// AdmitAgents starts the jobs of an organisation that wait, as far as there are places.
// It is called after each end of a job, and by the reconciler in case a process died in
// between. It returns the store's errors.
func (s *Service) AdmitAgents(ctx context.Context, organisation string) error {
	for {
		next, err := s.admitAgent(ctx, organisation)
		if err != nil || next == (AgentRef{}) {
			return err
		}
		s.startAgent(ctx, next)
	}
}

// admitAgent lets the next job of an organisation's queue run, and returns its round:
// zero if none may.
func (s *Service) admitAgent(ctx context.Context, organisation string) (ref AgentRef, err error) {
	key := orgAgentsKey(organisation)
	err = s.transact(ctx, func() error {
		ref = AgentRef{}
		org, revision, err := readOr[agentPlaces](ctx, s, key)
		if err != nil || len(org.Queue) == 0 {
			return err
		}
		o, err := s.GetOrganisation(ctx, organisation)
		if err != nil {
			return err
		}
		plan := agentPlanOrPro(o.Plan)
		i := org.next(org.Running, func(q agentPlace) bool { return org.room(q.Project, plan) })
		if i < 0 {
			return nil
		}
		next := org.Queue[i]
		org.Queue = slices.Delete(org.Queue, i, i+1)
		j, jobRevision, err := find[AgentJob](ctx, s, "agent job", agentJobKey(next.Project, next.Job), next.Project, next.Job)
		if err != nil {
			return err
		}
		tx := &agentTx{s: s, ctx: ctx, job: j, rev: jobRevision, now: s.now()}
		if j.Queued && !j.Final() {
			org.enter(next.Project)
			tx.job.Queued, tx.job.RoundAt = false, tx.now
			tx.event(AgentEvent{Kind: AgentEventNote, Text: "a place is free"})
		}
		tx.put(key, revision, org)
		if err := tx.write(); err != nil {
			return err
		}
		ref = tx.job.Current()
		return nil
	})
	return ref, err
}

// agentPlanOrPro returns what a plan allows. If the plan went while jobs were active,
// they may end.
func agentPlanOrPro(p Plan) AgentPlan {
	plan, ok := AgentPlanOf(p)
	if !ok {
		plan, _ = AgentPlanOf(PlanPro)
	}
	return plan
}

// placed fills in the positions of jobs that are in the queue of their organisation.
func (s *Service) placed(ctx context.Context, jobs ...*AgentJob) error {
	queued := slices.DeleteFunc(slices.Clone(jobs), func(j *AgentJob) bool { return !j.Queued || j.Final() })
	if len(queued) == 0 {
		return nil
	}
	org, _, err := readOr[agentPlaces](ctx, s, orgAgentsKey(queued[0].Organisation))
	for _, j := range queued {
		j.Position = org.position(j.ID)
	}
	return err
}
