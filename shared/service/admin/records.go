package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// The keys of all records. One partition holds what is read together.
//
//	person#<psn>    person           Person
//	                member#<org>     that the person is a member
//	                session#<id>     digest of a session's token, to list by
//	session#<sha256> session         Session
//	flow#<sha256>   flow             Flow: a sign-in that has begun
//	link#<sha256>   link             who is signed in by a link, once
//	signins#<network> signins        how many sign-ins it began
//	identity#<digest> identity       the person of an identity
//	invitation#<digest> <org>        Invitation, by its address
//	audit#<org>     <time>           AuditEntry
//	orgs            <org>            that there is such an organisation
//	sweeps          sweep            SweepRound: how far the sweep of everything is
//	backfills       exports          that the rows of all ExportJobs are there
//	org#<org>       organisation     Organisation
//	                running          how many exports are queued or running
//	                agents           its agent jobs: those that run, and the queue
//	                key#<key>        digest of an admin key, to list by
//	                project#<prj>    that it has such a project
//	                member#<psn>     Membership
//	                invitation#<digest> Invitation, to list by
//	                owners           how many owners it has
//	                keyhour          how many keys people made in this hour
//	                sweep            when its packs were swept
//	                usage#<yyyy-mm>  Usage
//	                calls#<yyyy-mm>  Calls
//	                webhooks         all Webhooks of the organisation
//	webhook#<whk>   health           failures in a row
//	                queue#<queue>    queue: the order of deliveries about one resource
//	                pending#<queue>#<n> the event that has a number there
//	                delivery#<evt>   Delivery, sorted by time
//	hooksecret#<whk> secret          what its messages are signed with
//	due#<n>         <time>#<whk>#<queue> DueQueue: when something is to be delivered
//	calls#<n>       <digest>         a call of the API that is not in Calls yet
//	key#<sha256>    key              Key
//	project#<prj>   project          Project
//	                snapshot#<snp>   Snapshot, sorted by time
//	                version#<label>  what a version means
//	                agentjob#<agj>   AgentJob, sorted by time
//	                agents           its agent jobs: the hour's starts, and the month's cost
//	                live             which version is live
//	                live#<n>         LiveMove
//	domain#<name>   domain           owner and newest snapshot of a domain
//	export#<exp>    job              ExportJob
//	                shard#<n>        that a shard is rendered
//	                assembly         Assembly
//	                failure          the first cause of a failing step
//	                took#<step>#<n>  StepTime
//	archive#<exp>   archive          how many need the job's archive, or that it is gone
//	                pin#<holder>     that one does
//	agent#<agj>     message#<n>      AgentMessage
//	                stream           the number of the job's next event
//	                event#<n>        AgentEvent
//	                lease#<round>    which start of Work holds the round
//	                turn#<round>#<n> AgentTurn
//	                spent#<round>#<attempt> AgentUsage that became no turn
//	                commit#<round>   AgentCommit
//	                end#<round>      how the round ended
//	exports#<org>   <row>            an ExportJob, sorted by time
//	exports#<org>#<domain> <row>     the same, for each domain
//	exports#<org>#<project> <row>    the same, for each project: those that may go live
//	secret#<org>    <prj>            a credential on AWS, encrypted (package kmsstore)
//	request#<org>#<operation>#<digest>  request   a request with an Idempotency-Key
const (
	skOrganisation = "organisation"
	skRunning      = "running"
	skSweep        = "sweep"
	skKey          = "key"
	skProject      = "project"
	skDomain       = "domain"
	skJob          = "job"
	skFailure      = "failure"
	skAssembly     = "assembly"
	skAgents       = "agents"
	skStream       = "stream"
	skRequest      = "request"
	skPerson       = "person"
	skKeyHour      = "keyhour"

	prefixShard    = "shard#"
	prefixStepTime = "took#"
	prefixSnapshot = "snapshot#"
	prefixAgentJob = "agentjob#"
	prefixUsage    = "usage#"
	prefixCalls    = "calls#"
	prefixKeyRow   = "key#"
	prefixProject  = "project#"
	prefixMessage  = "message#"
	prefixEvent    = "event#"
	prefixEnd      = "end#"
	prefixDelivery = "delivery#"
	prefixLiveMove = "live#"

	prefixMember     = "member#"
	prefixInvitation = "invitation#"
)

// PendingRows begins the sort keys of records that are made where an event begins
// to wait for an endpoint, and then alone: what a stream of changes looks for.
const PendingRows = "pending#"

func organisationRow(id string) store.Key { return store.Key{PK: "orgs", SK: id} }
func organisationKey(id string) store.Key { return store.Key{PK: "org#" + id, SK: skOrganisation} }
func runningKey(org string) store.Key     { return store.Key{PK: "org#" + org, SK: skRunning} }
func sweepsKey() store.Key                { return store.Key{PK: "sweeps", SK: skSweep} }
func sweepKey(org string) store.Key       { return store.Key{PK: "org#" + org, SK: skSweep} }
func usageKey(org, month string) store.Key {
	return store.Key{PK: "org#" + org, SK: prefixUsage + month}
}
func callsKey(org, month string) store.Key {
	return store.Key{PK: "org#" + org, SK: prefixCalls + month}
}
func meterKey(partition int, id string) store.Key {
	return store.Key{PK: fmt.Sprintf("calls#%02d", partition), SK: id}
}
func keyRow(org, id string) store.Key     { return store.Key{PK: "org#" + org, SK: prefixKeyRow + id} }
func projectRow(org, id string) store.Key { return store.Key{PK: "org#" + org, SK: prefixProject + id} }
func keyKey(sha256 string) store.Key      { return store.Key{PK: "key#" + sha256, SK: skKey} }
func projectKey(id string) store.Key      { return store.Key{PK: "project#" + id, SK: skProject} }
func snapshotKey(project, id string) store.Key {
	return store.Key{PK: "project#" + project, SK: prefixSnapshot + id}
}
func versionKey(project, label string) store.Key {
	return store.Key{PK: "project#" + project, SK: "version#" + label}
}
func agentJobKey(project, id string) store.Key {
	return store.Key{PK: "project#" + project, SK: prefixAgentJob + id}
}
func liveKey(project string) store.Key { return store.Key{PK: projectKey(project).PK, SK: "live"} }
func liveMoveKey(project string, n int) store.Key {
	return store.Key{PK: projectKey(project).PK, SK: fmt.Sprintf(prefixLiveMove+"%010d", n)}
}
func archiveKey(job string) store.Key { return store.Key{PK: "archive#" + job, SK: "archive"} }
func pinKey(job, holder string) store.Key {
	return store.Key{PK: "archive#" + job, SK: "pin#" + holder}
}
func projectAgentsKey(project string) store.Key {
	return store.Key{PK: projectKey(project).PK, SK: skAgents}
}
func orgAgentsKey(org string) store.Key   { return store.Key{PK: "org#" + org, SK: skAgents} }
func agentStreamKey(job string) store.Key { return agentKey(job, skStream) }
func agentMessageKey(job string, n int) store.Key {
	return agentKey(job, prefixMessage+"%06d", n)
}
func agentAttachedKey(job string, message, file, piece int) store.Key {
	return agentKey(job, "attached#%06d#%02d#%02d", message, file, piece)
}
func agentEventKey(job string, n int) store.Key { return agentKey(job, prefixEvent+"%08d", n) }
func agentLeaseKey(ref AgentRef) store.Key      { return agentKey(ref.Job, "lease#%04d", ref.Round) }
func agentTurnKey(ref AgentRef, n int) store.Key {
	return agentKey(ref.Job, "turn#%04d#%06d", ref.Round, n)
}
func agentSpentKey(ref AgentRef, attempt int) store.Key {
	return agentKey(ref.Job, "spent#%04d#%06d", ref.Round, attempt)
}
func agentCommitKey(ref AgentRef) store.Key { return agentKey(ref.Job, "commit#%04d", ref.Round) }
func agentEndKey(ref AgentRef) store.Key    { return agentKey(ref.Job, prefixEnd+"%04d", ref.Round) }
func agentKey(job, form string, numbers ...any) store.Key {
	return store.Key{PK: "agent#" + job, SK: fmt.Sprintf(form, numbers...)}
}
func webhooksKey(org string) store.Key { return store.Key{PK: organisationKey(org).PK, SK: "webhooks"} }

// webhookSecretKey is in a partition of its own: steps of agents may read those of
// webhooks.
func webhookSecretKey(id string) store.Key   { return store.Key{PK: "hooksecret#" + id, SK: "secret"} }
func healthKey(id string) store.Key          { return webhookKey(id, "health") }
func queueKey(id, name string) store.Key     { return webhookKey(id, "queue#"+name) }
func deliveryKey(id, event string) store.Key { return webhookKey(id, prefixDelivery+event) }
func pendingKey(id, name string, n int) store.Key {
	return webhookKey(id, fmt.Sprintf(PendingRows+"%s#%010d", name, n))
}
func webhookKey(id, sk string) store.Key { return store.Key{PK: "webhook#" + id, SK: sk} }

// dueKeys is the pattern of the partitions of due queues.
const dueKeys = "due#*"

func dueKey(shard int, sk string) store.Key {
	return store.Key{PK: fmt.Sprintf("due#%02d", shard), SK: sk}
}
func domainKey(name string) store.Key { return store.Key{PK: "domain#" + name, SK: skDomain} }
func jobKey(id string) store.Key      { return store.Key{PK: "export#" + id, SK: skJob} }

// exportRows are the keys by which a job is listed: of all of its organisation, of
// its domain, and of its project if it may go live. They sort by time.
func exportRows(j ExportJob) []store.Key {
	row := exportRow(j)
	keys := []store.Key{{PK: exportsPK(j.Organisation, ""), SK: row}, {PK: exportsPK(j.Organisation, j.Domain), SK: row}}
	if j.GoLive != nil {
		keys = append(keys, store.Key{PK: exportsPK(j.Organisation, j.Project), SK: row})
	}
	return keys
}

// exportRow is a job's place in lists, which is the cursor after it, too.
func exportRow(j ExportJob) string { return timePart(j.CreatedAt) + "." + j.ID }

// exportsPK is the partition of the rows of an organisation's exports: of all, of those
// of a domain, or of those of a project that may go live. No domain looks like the
// identifier of a project.
func exportsPK(org, of string) string {
	if of == "" {
		return "exports#" + org
	}
	return "exports#" + org + "#" + of
}

func failureKey(job string) store.Key { return store.Key{PK: "export#" + job, SK: skFailure} }
func assemblyKey(job string) store.Key {
	return store.Key{PK: "export#" + job, SK: skAssembly}
}
func stepTimeKey(job, step string, shard int) store.Key {
	return store.Key{PK: "export#" + job, SK: fmt.Sprintf(prefixStepTime+"%s#%06d", step, shard)}
}
func shardKey(job string, n int) store.Key {
	return store.Key{PK: "export#" + job, SK: fmt.Sprintf(prefixShard+"%06d", n)}
}

// presence is the value of a record that only says that something is there.
type presence struct{}

// read gets one record as a T with its revision, or store.ErrNotFound.
func read[T any](ctx context.Context, s *Service, key store.Key) (T, int64, error) {
	var v T
	rec, err := s.opt.Store.Get(ctx, key)
	if err != nil {
		return v, 0, err
	}
	if err := json.Unmarshal(rec.Value, &v); err != nil {
		return v, 0, fmt.Errorf("record %s/%s: %w", key.PK, key.SK, err)
	}
	return v, rec.Revision, nil
}

// readOr is read, but a missing record is the zero value at revision 0, which
// is also the condition to create it.
func readOr[T any](ctx context.Context, s *Service, key store.Key) (T, int64, error) {
	v, revision, err := read[T](ctx, s, key)
	if errors.Is(err, store.ErrNotFound) {
		var zero T
		return zero, 0, nil
	}
	return v, revision, err
}

// find is read for what a caller names: what is missing, or has an id that can't
// be one, is not found.
func find[T any](ctx context.Context, s *Service, what string, key store.Key, ids ...string) (T, int64, error) {
	var zero T
	if !slices.ContainsFunc(ids, func(id string) bool { return !validID(id) }) {
		v, revision, err := read[T](ctx, s, key)
		if !errors.Is(err, store.ErrNotFound) {
			return v, revision, err
		}
	}
	return zero, 0, notFound(what)
}

// change finds a record and writes what fn makes of it, together with what fn
// puts into the batch. It writes nothing if fn reports that nothing changed.
func change[T any](ctx context.Context, s *Service, what string, key store.Key, ids []string, fn func(*T, *batch) (changed bool, err error)) (T, error) {
	var v T
	err := s.transact(ctx, func() (err error) {
		var revision int64
		if v, revision, err = find[T](ctx, s, what, key, ids...); err != nil {
			return err
		}
		var b batch
		if changed, err := fn(&v, &b); err != nil || !changed {
			return err
		}
		b.put(key, revision, v)
		return s.write(ctx, &b)
	})
	return v, err
}

// all returns the values of all records that a query finds.
func all[T any](ctx context.Context, s *Service, q store.Query) ([]T, error) {
	var values []T
	err := list(ctx, s, q, func(_ store.Record, v T) error {
		values = append(values, v)
		return nil
	})
	return values, err
}

// list calls fn with every record of a partition whose sort key has the prefix.
func list[T any](ctx context.Context, s *Service, q store.Query, fn func(rec store.Record, v T) error) error {
	for {
		page, err := s.opt.Store.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, rec := range page.Records {
			var v T
			if err := json.Unmarshal(rec.Value, &v); err != nil {
				return fmt.Errorf("record %s/%s: %w", rec.Key.PK, rec.Key.SK, err)
			}
			if err := fn(rec, v); err != nil {
				return err
			}
		}
		if page.Cursor == "" {
			return nil
		}
		q.Cursor = page.Cursor
	}
}

// pageOf returns at most limit rows of a query, in their order, and the sort key that the
// next page begins after. The key is empty after the last row. read returns nil to skip
// a row. pageOf stops after the query that reaches most rows. The next page may then be
// empty.
func pageOf[T any](ctx context.Context, s *Service, q store.Query, limit, most int, read func(rows []store.Record) ([]*T, error)) (found []T, next string, err error) {
	q.Limit = max(q.Limit, limit+1) // with the one that shows that another page follows
	found = []T{}
	for looked := 0; ; {
		page, err := s.opt.Store.Query(ctx, q)
		if err != nil {
			return nil, "", err
		}
		values, err := read(page.Records)
		if err != nil {
			return nil, "", err
		}
		for i, v := range values {
			switch {
			case v != nil && len(found) == limit:
				return found, next, nil
			case v != nil:
				found = append(found, *v)
			}
			if v != nil || len(found) < limit {
				next = page.Records[i].Key.SK
			}
		}
		if page.Cursor == "" {
			return found, "", nil
		}
		if looked += len(page.Records); looked >= most {
			return found, next, nil
		}
		q.Cursor = page.Cursor
	}
}

// record makes a write of v on the condition of a revision.
func record(key store.Key, revision int64, v any) (store.Record, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return store.Record{}, fmt.Errorf("record %s/%s: %w", key.PK, key.SK, err)
	}
	return store.Record{Key: key, Revision: revision, Value: b}, nil
}

// batch gathers the writes of one transaction; the first fault is kept.
type batch struct {
	puts    []store.Record
	deletes []store.Delete
	err     error
}

// put adds a write of v, in the place of one of the same record.
func (b *batch) put(key store.Key, revision int64, v any) *store.Record {
	rec, err := record(key, revision, v)
	if err != nil && b.err == nil {
		b.err = err
	}
	if i := b.find(key); i >= 0 {
		b.puts[i] = rec
		return &b.puts[i]
	}
	b.puts = append(b.puts, rec)
	return &b.puts[len(b.puts)-1]
}

// find returns the place of a record among the writes, -1 for none.
func (b *batch) find(key store.Key) int {
	return slices.IndexFunc(b.puts, func(r store.Record) bool { return r.Key == key })
}

// readIn is readOr for a record that the batch may be about to write.
func readIn[T any](ctx context.Context, s *Service, b *batch, key store.Key) (v T, revision int64, err error) {
	i := b.find(key)
	if i < 0 {
		return readOr[T](ctx, s, key)
	}
	return v, b.puts[i].Revision, json.Unmarshal(b.puts[i].Value, &v)
}

func (b *batch) remove(key store.Key, revision int64) {
	b.deletes = append(b.deletes, store.Delete{Key: key, Revision: revision})
}

func (s *Service) write(ctx context.Context, b *batch) error {
	if b.err != nil {
		return b.err
	}
	return s.opt.Store.Write(ctx, b.puts, b.deletes)
}

// put writes one record.
func (s *Service) put(ctx context.Context, key store.Key, revision int64, v any) error {
	var b batch
	b.put(key, revision, v)
	return s.write(ctx, &b)
}

// Conflicts are met by reading again. The bounds are for a crowd on one
// record: fifty callers that all write an organisation's counter are through
// well before the last try.
const (
	maxTries = 25
	maxPause = 200 * time.Millisecond
)

// transact runs fn, which reads and then writes conditionally, until its write
// meets no conflict.
func (s *Service) transact(ctx context.Context, fn func() error) error {
	pause := 2 * time.Millisecond
	for try := 1; ; try++ {
		err := fn()
		if !isConflict(err) {
			return err
		}
		if try == maxTries {
			return Errorf(CodeTemporary, "too many requests change the same thing at once; try again").After(time.Second).Wrap(err)
		}
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		pause = min(2*pause, maxPause)
	}
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*store.ConflictError](err)
	return ok
}

// conflictOn reports whether err is a conflict that names key.
func conflictOn(err error, key store.Key) bool {
	c, ok := errors.AsType[*store.ConflictError](err)
	return ok && slices.Contains(c.Keys, key)
}
