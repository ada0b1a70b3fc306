// Package admin holds the rules of the product: who may do what, and how
// organisations, keys, projects, snapshots, export jobs and agent jobs come to
// be and change. It knows nothing of HTTP, AWS or SQLite; it stands on the
// ports of package store.
//
// Where to look:
//
//	service.go       Service and its Options: what everything below hangs on
//	errors.go        error codes, which are workflow error names too
//	records.go       keys of all records; reading, conditional writing, retry
//	id.go            identifiers
//	domain.go        domains, labels, path prefixes: what callers may write
//	organisation.go  organisations and plans
//	person.go        people, memberships, invitations
//	groups.go        memberships that come of groups at an identity provider
//	session.go       sessions of people, and how a sign-in begins
//	role.go          roles and actions: who may do what
//	acting.go        what callers may do of what else is for operators
//	audit.go         the audit log
//	key.go           admin keys: creation, revocation, authentication
//	project.go       projects, the claim on a domain, settings
//	credential.go    what projects' forges know us by
//	feature.go       features by deployment
//	snapshot.go      snapshots: upload, publish, retention
//	snapshotlist.go  snapshots: list, restore
//	account.go       what a caller's organisation is, has and used
//	sweep.go         how far the sweep of all organisations is
//	exportjob.go     export jobs as callers see them: start, read, bundle link
//	exportlist.go    export jobs: lists, cancel, rows for jobs of earlier releases
//	findings.go      what a job found in its site
//	exportstep.go    export jobs as the workflow moves them
//	reuse.go         bundles that other jobs have made
//	assembly.go      how far a bundle in parts is
//	live.go          which version of a site is live, its history, pins of archives
//	agentjob.go      agent jobs as callers see them: start, message, read, cancel, archive
//	agentstep.go     agent jobs as the workflow and the reconciler move them
//	agentrecord.go   the records of agent jobs, and transactions on them
//	agentlimits.go   what plans and projects allow of agent jobs
//	webhook.go       endpoints, their secrets and deliveries as callers see them
//	outbox.go        events in the transactions of changes, and their way out
//	idempotency.go   Idempotency-Key
//	usage.go         what an organisation used in a month
//	meter.go         calls of the API, noted and added up
//
// Three kinds of caller: operators (CreateOrganisation, CreateKey, …), who are
// trusted; keys and people, who come with a Caller from Authenticate or
// PersonCaller and see nothing of other organisations; and the steps of the
// workflows, who name a job, and a round of an agent's.
//
// What people and operators change is in the audit log: the entry is written in
// the transaction of the change.
//
// Whatever must hold (one owner of a domain, so many exports at once, one
// meaning of a version) is a condition inside a transaction, never a count
// over an index.
package admin
