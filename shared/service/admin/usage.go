package admin

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Usage is what an organisation used in one month, in UTC. It grows in the
// transaction that completes or cancels an export or ends a round of an agent job, so
// that nothing counts twice.
type Usage struct {
	Month       string `json:"month"`            // "2006-01"
	Exports     int64  `json:"exports"`          // completed exports that rendered pages
	Reused      int64  `json:"reused,omitempty"` // completed exports that got a bundle which was stored
	Pages       int64  `json:"pages"`            // pages of their bundles, and those that cancelled exports had rendered
	BundleBytes int64  `json:"bundleBytes"`      // size of the archives that were stored for all of them

	AgentRounds int64 `json:"agentRounds,omitempty"` // rounds of agent jobs that worked and ended
	AgentCost   int64 `json:"agentCost,omitempty"`   // what models charged for them, in millionths of a US dollar
}

// usageRecord is a month as it is stored. What its projects used, by their ids,
// shares a record with the sums, so that it costs no write of its own.
type usageRecord struct {
	Usage
	Projects map[string]ProjectUsage `json:"projects,omitempty"` // maxUsageProjects at most
}

// ProjectUsage is what a project used in a month, as Usage counts it.
type ProjectUsage struct {
	Domain      string `json:"domain"`
	Kind        Kind   `json:"kind"` // of its deployment, at its last export or round
	Exports     int64  `json:"exports"`
	Reused      int64  `json:"reused,omitempty"`
	Pages       int64  `json:"pages"`
	BundleBytes int64  `json:"bundleBytes"`
	AgentRounds int64  `json:"agentRounds,omitempty"`
	AgentCost   int64  `json:"agentCost,omitempty"`
}

// maxUsageProjects bounds the record of a month: some 20 KB.
const maxUsageProjects = 100

// add adds what a project used.
func (u *usageRecord) add(by Project, of ProjectUsage) {
	u.Exports, u.Reused, u.Pages, u.BundleBytes = u.Exports+of.Exports, u.Reused+of.Reused, u.Pages+of.Pages, u.BundleBytes+of.BundleBytes
	u.AgentRounds, u.AgentCost = u.AgentRounds+of.AgentRounds, u.AgentCost+of.AgentCost
	p, known := u.Projects[by.ID]
	if !known && len(u.Projects) >= maxUsageProjects {
		return
	}
	if u.Projects == nil {
		u.Projects = map[string]ProjectUsage{}
	}
	u.Projects[by.ID] = ProjectUsage{
		by.Domain, by.Kind, p.Exports + of.Exports, p.Reused + of.Reused, p.Pages + of.Pages, p.BundleBytes + of.BundleBytes,
		p.AgentRounds + of.AgentRounds, p.AgentCost + of.AgentCost,
	}
}

// used adds to a batch what a project adds at a time to its organisation's month. Of p,
// it reads ID, Organisation, Domain and Kind.
func (s *Service) used(ctx context.Context, b *batch, p Project, at time.Time, of ProjectUsage) error {
	key := usageKey(p.Organisation, month(at))
	u, revision, err := readOr[usageRecord](ctx, s, key)
	if err == nil {
		u.Month = month(at)
		u.add(p, of)
		b.put(key, revision, u)
	}
	return err
}

// exported returns the project of an export as it was when the export began.
func (j ExportJob) exported() Project {
	return Project{ID: j.Project, Organisation: j.Organisation, Domain: j.Domain, Kind: j.Kind}
}

func month(t time.Time) string { return t.UTC().Format("2006-01") }

// Usage returns what an organisation used, month by month, oldest first. It
// returns CodeNotFound for an unknown organisation.
func (s *Service) Usage(ctx context.Context, organisation string) ([]Usage, error) {
	if _, err := s.GetOrganisation(ctx, organisation); err != nil {
		return nil, err
	}
	return all[Usage](ctx, s, store.Query{PK: usageKey(organisation, "").PK, Prefix: prefixUsage})
}

// StepTime is how long one step of an export ran, the first time that it
// succeeded.
type StepTime struct {
	Step string `json:"step"`
	// Shard is the shard that was rendered, from 1 on; 0 for steps of the whole.
	Shard        int   `json:"shard,omitempty"`
	Milliseconds int64 `json:"milliseconds"`
	// MemoryMB is the memory of the function that ran it, in MB; 0 where it was
	// not one.
	MemoryMB int `json:"memoryMB,omitempty"`
}

// Took is how long the step ran.
func (t StepTime) Took() time.Duration { return time.Duration(t.Milliseconds) * time.Millisecond }

// NoteStep keeps how long a step ran. Later notes of the same step are dropped: a
// step that finds its work done takes no time.
// It returns the store's errors.
func (s *Service) NoteStep(ctx context.Context, jobID, step string, shard int, took time.Duration) error {
	t := StepTime{Step: step, Shard: shard, Milliseconds: took.Milliseconds(), MemoryMB: s.opt.MemoryMB}
	if err := s.put(ctx, stepTimeKey(jobID, step, shard), 0, t); !isConflict(err) {
		return err
	}
	return nil
}

// StepTimes returns what is noted of a job's steps. It returns the store's
// errors.
func (s *Service) StepTimes(ctx context.Context, jobID string) ([]StepTime, error) {
	return all[StepTime](ctx, s, store.Query{PK: jobKey(jobID).PK, Prefix: prefixStepTime})
}
