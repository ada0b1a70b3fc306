package forge

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

// Defaults of Options.
const (
	// DefaultMaxBytes is the most bytes that one fetch takes from a forge, and
	// the most that the files of a commit may have together.
	DefaultMaxBytes = 2 << 30
	// DefaultMaxFiles is the most files and folders of a commit.
	DefaultMaxFiles = 200_000
	// DefaultLargeBlob is the size in bytes from which files stay on the forge until
	// they are opened.
	DefaultLargeBlob = 1 << 20
	// DefaultAttempts is how often a call is tried while the forge is away.
	DefaultAttempts = 3
	// DefaultPause is how long to wait before the second attempt; each further
	// wait is twice as long.
	DefaultPause = time.Second
	// DefaultMaxPause is the longest wait that a forge may ask for.
	DefaultMaxPause = 20 * time.Second
)

// DefaultHosts returns the hosts that are allowed if the operator names none.
func DefaultHosts() []string {
	return []string{"github.com", "gitlab.com", "codeberg.org", "gitea.com"}
}

// Options configure a Forge. The zero value is for public repositories on the hosts
// of DefaultHosts.
type Options struct {
	// Client makes the requests; nil means a client that connects only to public
	// addresses and to the hosts of AllowPrivate. Any other client must limit its
	// connections itself.
	Client *http.Client
	// Credentials finds the credential of a repository; nil means none, for public
	// repositories.
	Credentials Credentials
	// AllowHosts are names of hosts with public addresses, as remote.NewHosts
	// reads them: "git.example.com", "*.example.com", "git.example.com:8443".
	// nil means DefaultHosts.
	AllowHosts []string
	// AllowPrivate are hosts that may have private addresses, by name or number
	// as repositories write them, with the port unless it is the scheme's usual.
	AllowPrivate []string
	// AllowHTTP admits hosts of AllowPrivate without encryption.
	AllowHTTP bool
	// MaxBytes, MaxFiles and LargeBlob are limits; 0 means the default of each.
	MaxBytes, MaxFiles, LargeBlob int64
	// Patience is how long a forge may send nothing (see remote.Watch); 0 means
	// remote.Patience.
	Patience time.Duration
	// TempDir is the folder for what was fetched, until its Tree is closed; "" means
	// the system's.
	TempDir string
	// Logger receives failed attempts; nil discards them.
	Logger *slog.Logger
	// Now is the time; nil means time.Now.
	Now func() time.Time
	// Retry configures when calls are tried again.
	Retry Retry
}

// Retry configures how calls are tried again while the forge is away or busy. The
// zero value means the defaults.
type Retry struct {
	// Attempts is how often a call is tried in all.
	Attempts int
	// Pause is the wait before the second attempt, MaxPause the longest wait. If a
	// forge asks for a longer one, the call fails with ErrRateLimited at once.
	Pause, MaxPause time.Duration
}

// Forge works on repositories. It is safe for concurrent use.
type Forge struct {
	opt    Options
	hosts  remote.Hosts
	client *http.Client
}

// New returns a Forge. The error names the option that is invalid.
func New(o Options) (*Forge, error) {
	if o.AllowHosts == nil {
		o.AllowHosts = DefaultHosts()
	}
	o.MaxBytes, o.MaxFiles = cmp.Or(o.MaxBytes, DefaultMaxBytes), cmp.Or(o.MaxFiles, DefaultMaxFiles)
	o.LargeBlob = cmp.Or(o.LargeBlob, DefaultLargeBlob)
	o.Retry.Attempts = cmp.Or(o.Retry.Attempts, DefaultAttempts)
	o.Retry.Pause, o.Retry.MaxPause = cmp.Or(o.Retry.Pause, DefaultPause), cmp.Or(o.Retry.MaxPause, DefaultMaxPause)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Forge{opt: o, hosts: remote.NewHosts(o.AllowHosts)}
	for _, host := range o.AllowPrivate {
		if u, err := parseBase("host", "https://"+host); err != nil || u.Path != "" {
			return nil, invalid("%q is not a host that could be allowed", host)
		}
	}
	f.client = f.newClient()
	return f, nil
}

// credential returns the credential for r.
func (f *Forge) credential(ctx context.Context, r Repository) (Credential, error) {
	if f.opt.Credentials == nil {
		return Credential{}, nil
	}
	c, err := f.opt.Credentials.Credential(ctx, r)
	if err != nil {
		return Credential{}, failed(err, c)
	}
	return c, nil
}

// do runs a call on a repository, with its credential, until it succeeds, fails
// for good, or has been tried often enough.
func (f *Forge) do(ctx context.Context, what string, r Repository, call func(Credential) error) error {
	if err := f.Allowed(r); err != nil {
		return err
	}
	pause := f.opt.Retry.Pause
	for n := 1; ; n++ {
		c, err := f.credential(ctx, r)
		if err == nil {
			err = call(c)
		}
		if err == nil {
			return nil
		}
		e := failed(err, c)
		if ctx.Err() != nil {
			e = ErrUnreachable.with(e.detail)
			e.cause = ctx.Err()
			return e
		}
		wait := max(pause, e.RetryAfter)
		again := e.temporary && n < f.opt.Retry.Attempts && wait <= f.opt.Retry.MaxPause
		f.opt.Logger.LogAttrs(ctx, slog.LevelWarn, "a call of a forge failed", slog.String("call", what),
			slog.String("host", r.Host()), slog.String("code", e.code), slog.String("error", e.Error()), slog.Bool("again", again))
		if !again {
			return e
		}
		select {
		case <-ctx.Done():
			e.cause = ctx.Err()
			return e
		case <-time.After(wait):
		}
		pause *= 2
	}
}
