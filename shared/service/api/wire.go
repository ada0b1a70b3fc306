package api

import (
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Names of headers that this API adds to the usual ones.
const (
	HeaderErrorCode      = "Bindery-Error-Code"
	HeaderRequestID      = "Request-Id"
	HeaderIdempotencyKey = "Idempotency-Key"
)

// ErrorBody is the body of every failure. The code is in the header
// Bindery-Error-Code.
type ErrorBody struct {
	Error string `json:"error"`
}

// StartExportRequest is the body of a start of an export.
type StartExportRequest struct {
	Domain  string   `json:"domain"`
	Version string   `json:"version,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	// Fresh has the bundle rendered, also where the same one is stored.
	Fresh bool `json:"fresh,omitempty"`
	// Have is the SHA-256 of a bundle that the caller has: no copy is made of it.
	Have string `json:"have,omitempty"`
	// GoLive has the bundle become the live version of the site, or lets it be promoted
	// to that.
	GoLive bool `json:"goLive,omitempty"`
}

// ExportJob is a static export job.
type ExportJob struct {
	JobID  string             `json:"jobId"`
	Status admin.ExportStatus `json:"status"`
	// Progress is a whole number from 0 to 100; it never falls, and is 100
	// only for a completed job.
	Progress int `json:"progress"`
	// PageCount is how many pages are rendered so far.
	PageCount int       `json:"pageCount"`
	Domain    string    `json:"domain"`
	Version   string    `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Reused is the job whose bundle a completed one has that rendered nothing.
	Reused string `json:"reused,omitempty"`
	// Unchanged reports that the bundle is the one that the caller has.
	Unchanged bool `json:"unchanged,omitempty"`
	// GoLive reports that the job was made to go live.
	GoLive bool `json:"goLive,omitempty"`
	// Changes is what differs from the export before; absent where there is none
	// that it could be compared with.
	Changes *Changes `json:"changes,omitempty"`
	// Failure and Error, its message, are there for a failed job.
	Failure *Failure `json:"failure,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Changes counts what differs between a job's bundle and that of the export before.
type Changes struct {
	Since         Since `json:"since"`
	PagesAdded    int   `json:"pagesAdded"`
	PagesRemoved  int   `json:"pagesRemoved"`
	PagesChanged  int   `json:"pagesChanged"`
	AddressesLost int   `json:"addressesLost"`
	AnchorsLost   int   `json:"anchorsLost"`
	FilesAdded    int   `json:"filesAdded"`
	FilesRemoved  int   `json:"filesRemoved"`
	FilesChanged  int   `json:"filesChanged"`
}

// Since is the export that another one is compared with.
type Since struct {
	JobID   string `json:"jobId"`
	Version string `json:"version"`
}

// ExportJobs is a page of jobs, newest first. NextCursor is null on the last.
type ExportJobs struct {
	Jobs       []ExportJob `json:"jobs"`
	NextCursor *string     `json:"nextCursor"`
}

// Findings is a page of what an export found in a site. NextCursor is null on the
// last.
type Findings struct {
	Findings   []Finding `json:"findings"`
	NextCursor *string   `json:"nextCursor"`
}

// Finding is something that the authors of a site should know.
type Finding struct {
	Severity string `json:"severity"` // one of admin.Severities
	Code     string `json:"code"`
	File     string `json:"file"`
	// Line and Column count from 1; null where the place is unknown.
	Line    *int   `json:"line"`
	Column  *int   `json:"column"`
	Message string `json:"message"`
}

// Failure says why a job failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// BundleLink is a link to a finished bundle.
type BundleLink struct {
	JobID     string    `json:"jobId"`
	Version   string    `json:"version"`
	BundleURL string    `json:"bundleUrl"`
	ExpiresAt time.Time `json:"expiresAt"`
	SizeBytes int64     `json:"sizeBytes"` // of the archive
	// SHA256 is the digest of the whole file, in lower-case hex.
	SHA256 string `json:"sha256"`
	// ChangesURL is a link to the list of what the bundle changed, a diff.Result,
	// until ExpiresAt; absent where there is no list.
	ChangesURL string `json:"changesUrl,omitempty"`
}

// StartAgentJobRequest is the body of a start of an agent job.
type StartAgentJobRequest struct {
	Prompt string `json:"prompt"`
	// Ref is the branch or tag to start from; absent for the repository's own.
	Ref string `json:"ref,omitempty"`
	// Model is a name that the service knows; absent for the default.
	Model   string `json:"model,omitempty"`
	AsDraft bool   `json:"asDraft,omitempty"`
	// Attachments are files for the agent to read; absent for none.
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file for an agent to read: text in UTF-8, or a picture.
type Attachment struct {
	Name string `json:"name"`
	// Data is the file in base64.
	Data []byte `json:"data"`
}

// MessageRequest is the body of a message to an agent job.
type MessageRequest struct {
	Prompt string `json:"prompt"`
	// Attachments are files for the agent to read; absent for none.
	Attachments []Attachment `json:"attachments,omitempty"`
}

// AgentJob is an agent's work on a docs repository. Every field is always
// there.
type AgentJob struct {
	ID      string            `json:"id"`
	Status  admin.AgentStatus `json:"status"`
	Source  AgentSource       `json:"source"`
	Model   string            `json:"model"`
	AsDraft bool              `json:"asDraft"`
	// Round counts from 1: a message after the end of one begins the next.
	Round int `json:"round"`
	// Phase is queued, preparing, working or publishing; null once final.
	Phase *string `json:"phase"`
	// Queued is true while the job is in the queue, and Position is its place there, from
	// 1. Waiting is true while the model's server can't answer, and RetryAt is the time of
	// the next try. Position and RetryAt are null otherwise.
	Queued       bool       `json:"queued"`
	Position     *int       `json:"position"`
	Waiting      bool       `json:"waiting"`
	RetryAt      *time.Time `json:"retryAt"`
	MessageCount int        `json:"messageCount"` // the prompt is the first
	TurnCount    int        `json:"turnCount"`    // answers of the model, in all rounds
	// Usage is that of all rounds, RoundCostMicros what the current or last one cost
	// in millionths of a US dollar, Changes those of the pull request.
	Usage           AgentUsage   `json:"usage"`
	RoundCostMicros int64        `json:"roundCostMicros"`
	Changes         AgentChanges `json:"changes"`
	// PRLink is null while the job is active, and when nothing changed.
	PRLink *string `json:"prLink"`
	// Branch is what was pushed to; null where nothing was.
	Branch *string `json:"branch"`
	// Prompt is the beginning of what was asked, at most 4,000 bytes; null for jobs of
	// an earlier version. Title is that of the pull request, else of the last round
	// that was completed; Summary and Question are that round's, as the agent wrote
	// them. Question is null where it has none, and once a message has answered it.
	Prompt   *string `json:"prompt"`
	Title    *string `json:"title"`
	Summary  *string `json:"summary"`
	Question *string `json:"question"`
	// Unfinished is true if the round used up its budget before it was done.
	Unfinished bool `json:"unfinished"`
	// Findings are those that the pull request's site has and the site without it
	// has not, Pages the pages that it changes; at most 50 of each.
	Findings []string    `json:"findings"`
	Pages    []AgentPage `json:"pages"`
	// Failure says why the job failed; null for others.
	Failure     *Failure   `json:"failure"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	CancelledAt *time.Time `json:"cancelledAt"` // when its end was asked for
	FinishedAt  *time.Time `json:"finishedAt"`
	ArchivedAt  *time.Time `json:"archivedAt"`
}

// AgentUsage is what a model read and wrote.
type AgentUsage struct {
	InputTokens  int64 `json:"inputTokens"`  // read anew
	CachedTokens int64 `json:"cachedTokens"` // read from the model's cache
	OutputTokens int64 `json:"outputTokens"`
	CostMicros   int64 `json:"costMicros"` // in millionths of a US dollar
}

// AgentChanges is the size of a change, in files and lines.
type AgentChanges struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// AgentPage is a page that a pull request changes.
type AgentPage struct {
	Path   string `json:"path"`   // in the repository
	Change string `json:"change"` // one of admin.AgentPageChanges
	// From is the earlier path of a moved page; null for others.
	From *string `json:"from"`
}

// AgentJobs is a page of jobs, newest first. NextCursor is null on the last.
type AgentJobs struct {
	Jobs       []AgentJob `json:"jobs"`
	NextCursor *string    `json:"nextCursor"`
}

// AgentModels are the models that a project's agents can use, sorted by name. Default
// is the name of the one that a job without a model uses, null where there is none.
type AgentModels struct {
	Default *string      `json:"default"`
	Models  []AgentModel `json:"models"`
}

// AgentModel is a model that agents can use.
type AgentModel struct {
	Name  string `json:"name"`  // for StartAgentJobRequest.Model
	Model string `json:"model"` // as its server calls it
	// ContextTokens is the most tokens of a request and its answer together,
	// OutputTokens those of an answer.
	ContextTokens int `json:"contextTokens"`
	OutputTokens  int `json:"outputTokens"`
	// Price is null for a model without one.
	Price *AgentPrice `json:"price"`
}

// AgentPrice is the price of a million tokens, in millionths of a US dollar.
type AgentPrice struct {
	InputMicros      int64 `json:"inputMicros"`
	CacheWriteMicros int64 `json:"cacheWriteMicros"`
	CacheReadMicros  int64 `json:"cacheReadMicros"`
	OutputMicros     int64 `json:"outputMicros"`
}

// AgentEvents is a page of a job's events, oldest first. NextCursor is where to
// go on: there may be more later.
type AgentEvents struct {
	Events     []AgentEvent `json:"events"`
	NextCursor string       `json:"nextCursor"`
}

// AgentEvent is something that happened in a job. Which fields it has depends on
// its kind.
type AgentEvent struct {
	N     int             `json:"n"` // its place in the job's one sequence, from 1
	Round int             `json:"round"`
	At    time.Time       `json:"at"`
	Kind  string          `json:"kind"` // one of admin.AgentEventKinds
	Text  string          `json:"text,omitempty"`
	Turn  int             `json:"turn,omitempty"`
	Tools []AgentToolCall `json:"tools,omitempty"`
	Plan  []AgentPlanItem `json:"plan,omitempty"`
	Usage *AgentUsage     `json:"usage,omitempty"`
	// Attachments are the files of a message.
	Attachments []AgentAttachment `json:"attachments,omitempty"`
}

// AgentAttachment describes a file of a message, without its content.
type AgentAttachment struct {
	Name      string `json:"name"`
	SizeBytes int    `json:"sizeBytes"`
	Picture   bool   `json:"picture"` // others are text
}

// AgentToolCall is one call of a tool in a turn.
type AgentToolCall struct {
	Name    string `json:"name"`
	File    string `json:"file,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
}

// AgentPlanItem is one item of the agent's plan.
type AgentPlanItem struct {
	Text  string `json:"text"`
	State string `json:"state"`
}

// AgentSource is the repository that an agent works on.
type AgentSource struct {
	Repository string  `json:"repository"`
	Ref        *string `json:"ref"`
}

// Blob names an object by what is in it.
type Blob struct {
	// SHA256 is the digest of the whole object, in lower-case hex.
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"sizeBytes"` // of the whole object
}

// CreateSnapshotRequest is the body of a new snapshot.
type CreateSnapshotRequest struct {
	// Base is the id of the snapshot that this one was made from: the newest
	// one of the domain, or absent for the first.
	Base     string `json:"base,omitempty"`
	Manifest Blob   `json:"manifest"`
	// Packs are all that the manifest refers to.
	Packs []Blob `json:"packs"`
}

// CreateSnapshotResponse lists what to upload.
type CreateSnapshotResponse struct {
	SnapshotID string `json:"snapshotId"`
	// Uploads are the objects that are not there yet, in the order of the
	// request, the manifest last.
	Uploads []Upload `json:"uploads"`
}

// Upload is one object to be written: send its bytes by Method to URL, with
// exactly these headers, before ExpiresAt.
type Upload struct {
	Kind      admin.UploadKind  `json:"kind"`
	SHA256    string            `json:"sha256"`
	SizeBytes int64             `json:"sizeBytes"` // exactly what must be sent
	URL       string            `json:"url"`
	Method    string            `json:"method"`
	Headers   map[string]string `json:"headers"`
	ExpiresAt time.Time         `json:"expiresAt"`
}

// Snapshot is what a domain's site was at one moment, as published.
type Snapshot struct {
	SnapshotID string               `json:"snapshotId"`
	Domain     string               `json:"domain"`
	Status     admin.SnapshotStatus `json:"status"`
	// Base is the snapshot that this one was made from, null for the first.
	Base        *string      `json:"base"`
	FileCount   int          `json:"fileCount"` // number of the site's files
	SizeBytes   int64        `json:"sizeBytes"` // size of the files together
	CreatedAt   time.Time    `json:"createdAt"`
	PublishedAt time.Time    `json:"publishedAt"`
	Manifest    ManifestLink `json:"manifest"`
}

// RestoreSnapshotRequest is the body of a restore of a snapshot.
type RestoreSnapshotRequest struct {
	// Base is the id of the snapshot that the caller knows as the newest.
	Base string `json:"base"`
}

// Snapshots is a page of a domain's published snapshots, the latest uploads first.
// NextCursor is null on the last.
type Snapshots struct {
	Snapshots  []SnapshotSummary `json:"snapshots"`
	NextCursor *string           `json:"nextCursor"`
}

// SnapshotSummary is a snapshot without a link to its manifest.
type SnapshotSummary struct {
	SnapshotID string `json:"snapshotId"`
	// Newest reports whether the next export is made from it.
	Newest      bool       `json:"newest"`
	Base        *string    `json:"base"`
	FileCount   int        `json:"fileCount"`
	SizeBytes   int64      `json:"sizeBytes"`
	CreatedAt   time.Time  `json:"createdAt"`
	PublishedAt time.Time  `json:"publishedAt"`
	RestoredAt  *time.Time `json:"restoredAt"` // when it was last made the newest again
}

// Organisation is the organisation of the key that asks, and how near it is to its
// limits.
type Organisation struct {
	OrganisationID string             `json:"organisationId"`
	Name           string             `json:"name"`
	Plan           admin.Plan         `json:"plan"`
	CreatedAt      time.Time          `json:"createdAt"`
	Limits         OrganisationLimits `json:"limits"`
}

// OrganisationLimits are what may be at once, and what is.
type OrganisationLimits struct {
	RunningExports    int `json:"runningExports"` // queued or running
	MaxRunningExports int `json:"maxRunningExports"`
	ActiveAgentJobs   int `json:"activeAgentJobs"`
	// MaxActiveAgentJobs is 0 for a plan without agent jobs.
	MaxActiveAgentJobs int `json:"maxActiveAgentJobs"`
}

// Projects is a page of projects. NextCursor is null on the last.
type Projects struct {
	Projects   []Project `json:"projects"`
	NextCursor *string   `json:"nextCursor"`
}

// Project is a documentation site: its domain, its repository, and what its
// bundles have.
type Project struct {
	ProjectID  string     `json:"projectId"`
	Domain     string     `json:"domain"`
	Repository string     `json:"repository"`
	Kind       admin.Kind `json:"kind"`
	Features   Features   `json:"features"`
	CreatedAt  time.Time  `json:"createdAt"`
}

// Features are what a project's bundles have, by its kind and its settings.
type Features struct {
	Search     bool `json:"search"`
	Assistant  bool `json:"assistant"`
	Analytics  bool `json:"analytics"`
	Playground bool `json:"playground"`
	Export     bool `json:"export"`
}

// Usage is what an organisation used in one month, in UTC.
type Usage struct {
	Month       string `json:"month"`   // "2006-01"
	Exports     int64  `json:"exports"` // completed ones that rendered pages
	Reused      int64  `json:"reused"`  // completed ones that got a bundle which was stored
	Pages       int64  `json:"pages"`   // that were rendered for them, and for cancelled ones
	BundleBytes int64  `json:"bundleBytes"`
	AgentRounds int64  `json:"agentRounds"`     // rounds of agent jobs that worked and ended
	AgentCost   int64  `json:"agentCostMicros"` // what models charged for them, in millionths of a US dollar
	Calls       Calls  `json:"calls"`
}

// Calls are those of the API, as far as they are counted.
type Calls struct {
	Total       int64            `json:"total"`
	ByOperation map[string]int64 `json:"byOperation"`
}

// ManifestLink is where a snapshot's manifest can be read until ExpiresAt.
type ManifestLink struct {
	Blob
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// CreateWebhookRequest is the body of a new webhook.
type CreateWebhookRequest struct {
	URL string `json:"url"`
	// Events are some of admin.WebhookEvents, at least one.
	Events []string `json:"events"`
}

// Webhook is an endpoint that hears of events.
type Webhook struct {
	ID     string   `json:"id"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
	// Active is false for one that was switched off, at SwitchedOffAt.
	Active          bool       `json:"active"`
	CreatedAt       time.Time  `json:"createdAt"`
	SecretChangedAt *time.Time `json:"secretChangedAt"`
	SwitchedOffAt   *time.Time `json:"switchedOffAt"`
}

// NewWebhook is a webhook with a new secret, which is shown this once.
type NewWebhook struct {
	Webhook
	// Secret begins with whsec_; the rest is the key of the signatures in Base64.
	Secret string `json:"secret"`
}

// Webhooks are all of an organisation, oldest first.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Deliveries is a page of deliveries, newest first. NextCursor is null on the last.
type Deliveries struct {
	Deliveries []Delivery `json:"deliveries"`
	NextCursor *string    `json:"nextCursor"`
}

// Delivery is an event on its way to an endpoint. Its id is the event's, which
// each of its messages carries.
type Delivery struct {
	ID    string `json:"id"`
	Event string `json:"event"` // one of admin.WebhookEvents
	// Resource is what the event is about: the id of a job or a key, or a domain.
	Resource     string               `json:"resource"`
	Status       admin.DeliveryStatus `json:"status"`
	AttemptCount int                  `json:"attemptCount"`
	CreatedAt    time.Time            `json:"createdAt"`
	// NextAttemptAt is there while it is pending, EndedAt once it is not.
	NextAttemptAt *time.Time       `json:"nextAttemptAt"`
	EndedAt       *time.Time       `json:"endedAt"`
	LastAttempt   *DeliveryAttempt `json:"lastAttempt"`
}

// DeliveryAttempt is how an attempt ended.
type DeliveryAttempt struct {
	At         time.Time `json:"at"`
	DurationMs int64     `json:"durationMs"`
	// Status is that of the answer, null where none came; Error is null for a
	// success.
	Status *int    `json:"status"`
	Error  *string `json:"error"`
}
