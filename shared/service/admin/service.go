package admin

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what a Service stands on. Store is required; Objects, Runner and
// Secrets only by the methods that use them.
type Options struct {
	Store   store.Store
	Objects store.Objects
	Runner  store.Runner
	// Secrets are the credentials of projects. Where it is nil, projects have none.
	Secrets store.Secrets
	Log     *slog.Logger
	// Now returns the time; nil for the clock.
	Now func() time.Time
	// NewID makes an identifier with a prefix; nil for random ones.
	NewID func(prefix string) string
	// SnapshotID makes a snapshot's identifier, which begins with snp_, from the
	// digest of its manifest; nil for one that begins with the time and is random.
	SnapshotID func(manifest string) string
	// KeyPrefix begins every admin key, before its underscore; default "bnd".
	KeyPrefix string
	// Operator is who operators' changes are by, for the audit log; default
	// "operator".
	Operator string
	// MaxRunning is how many exports of one organisation may be queued or
	// running at once; default 10.
	MaxRunning int
	// LinkLife is how long links to bundles and manifests live; default one
	// hour, the most that role chaining in AWS allows.
	LinkLife time.Duration
	// UploadLinkLife is how long links for uploads live; default one hour.
	UploadLinkLife time.Duration
	// MemoryMB is the memory of the function that this process is, in MB, for
	// what its steps cost; 0 where it is not one.
	MemoryMB int
	// PollAfter is the pace that callers who wait for a job are asked to
	// keep; default 5 s, rounded up to whole seconds where it is sent.
	PollAfter time.Duration
	// PollFreely is the age below which a job has no pace: whoever waits for
	// it may ask again at once. Default 0, never; for a service on the
	// caller's own machine, where a small export takes less than the shortest
	// pace that can be asked for.
	PollFreely time.Duration
	// AgentReady reports whether an agent can work for a project with a model, by
	// name or by default (""), and returns the model's name. It returns
	// CodeForgeMissing or CodeModelMissing; where it is nil, agents have neither.
	AgentReady func(ctx context.Context, p Project, model string) (string, error)
	// AgentModels returns the models that agents can use, sorted by name; nil means
	// that there are none.
	AgentModels func() []AgentModel
	// Callbacks is which addresses webhooks may have.
	Callbacks remote.Callbacks
	// Sites has the address of the sites; the zero value means that none are served.
	Sites Sites
	// Since, if not zero, is when the only process that answers requests and
	// sweeps began: what an earlier one had not ended by then has died with it.
	Since time.Time
}

// Service is the rules over the ports. It keeps no state of its own: many may
// work on the same store.
type Service struct{ opt Options }

// New returns a Service.
func New(o Options) *Service {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = randomID
	}
	if o.SnapshotID == nil {
		o.SnapshotID = func(string) string {
			return idSnapshot + "_" + timePart(o.Now()) + o.NewID(idSnapshot)[len(idSnapshot)+1:]
		}
	}
	o.KeyPrefix = cmp.Or(o.KeyPrefix, "bnd")
	o.Operator = cmp.Or(o.Operator, "operator")
	o.MaxRunning = cmp.Or(o.MaxRunning, 10)
	o.LinkLife = cmp.Or(o.LinkLife, time.Hour)
	o.UploadLinkLife = cmp.Or(o.UploadLinkLife, time.Hour)
	o.PollAfter = cmp.Or(o.PollAfter, 5*time.Second)
	o.Since = o.Since.UTC().Truncate(time.Millisecond)
	return &Service{o}
}

// Operator returns the operator that this Service is for as a caller of an
// organisation, who may do everything there.
func (s *Service) Operator(org string) Caller {
	return Caller{OrganisationID: org, Operator: s.opt.Operator}
}

// now is the time as records keep it: UTC, in whole milliseconds.
func (s *Service) now() time.Time { return s.opt.Now().UTC().Truncate(time.Millisecond) }

// PollAfter is when callers who wait for a job are asked to read it again; 0
// is at once.
func (s *Service) PollAfter(j ExportJob) time.Duration {
	if s.now().Sub(j.CreatedAt) < s.opt.PollFreely {
		return 0
	}
	return s.opt.PollAfter
}
