package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/httpend"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// Options say what a server shows, and how.
type Options struct {
	// Link is the address of the bundle; LinkFile, if set, names a file that
	// holds it, and comes first. Addresses are https://…, s3://bucket/key or
	// file:///path.
	Link, LinkFile string
	// Renew is where a fresh link is asked for once the address is refused.
	Renew Renewal
	// Version and SHA256, if set, are those that the bundle must have.
	Version, SHA256 string
	// VersionNumber: Version was written as a number, without quotes. A bundle has that
	// version if YAML reads its version as the same number: 1.1 takes 1.10, too.
	VersionNumber bool
	// AllowHTTP takes a bundle over a network in the clear, also without a
	// digest.
	AllowHTTP bool
	// CAFile holds certificates in PEM that sources may have besides those
	// that the system trusts.
	CAFile string
	// S3PathStyle addresses S3's buckets in the path.
	S3PathStyle bool
	// Agent names the program to sources.
	Agent string

	// Ranges answers from single files that are read from the archive at its address,
	// without a copy of it. Data, Keep and Verify mean nothing then, and SHA256 can't be
	// compared: each file is, by the archive's index.
	Ranges bool

	// Data is the folder of versions.
	Data string
	// Keep is how many versions stay besides the one that is shown.
	Keep int
	// Refresh is how often another version is looked for; 0 for never.
	Refresh time.Duration
	// Verify is how often all files of the version that is shown are read and
	// compared again; 0 for never. What is sent is compared in any case.
	Verify time.Duration
	// Limits are those of a bundle.
	Limits bundle.Limits

	// Addr and AdminAddr are what is listened on, for readers and operators.
	Addr, AdminAddr string
	// BasePath is what the site is mounted under, such as "/docs"; empty for
	// the root.
	BasePath string
	// TLSCert and TLSKey are files in PEM; without them there is no TLS. They
	// are read again when they change.
	TLSCert, TLSKey string
	// H2C lets readers speak HTTP/2 without TLS.
	H2C bool
	// DrainDelay is how long the server still answers after it was asked to
	// end, so that balancers notice; DrainTimeout how long it then waits for
	// requests under way.
	DrainDelay, DrainTimeout time.Duration
	// CacheBytes is how much of small files is kept in memory.
	CacheBytes int64

	// Log is the server's own, Access that of requests; nil for none.
	Log, Access *slog.Logger
	// Listening, if not nil, is called with both addresses once they are
	// listened on.
	Listening func(site, admin net.Addr)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Sleep waits between attempts of a download and before the end; nil is
	// for real.
	Sleep func(context.Context, time.Duration) error

	// lastRequest limits the wait, during healing, for requests that still read the
	// damaged version. Its files are removed after that. Default: 1 s.
	lastRequest time.Duration
}

// answerTime is the longest that an answer may take.
const answerTime = 10 * time.Minute

// maxHot is the largest file that is kept in memory.
const maxHot = 512 << 10

func (o *Options) source() sourceOptions {
	return sourceOptions{CAFile: o.CAFile, Agent: o.Agent, PathStyle: o.S3PathStyle}
}

// check returns an *Error for the first option that can't work, or nil.
func (o *Options) check() error {
	usage := func(message, advice string) error {
		return &Error{Code: CodeUsage, Message: message, Advice: advice}
	}
	if o.Link == "" && o.LinkFile == "" {
		return usage("no bundle is named", "Set BINDERY_BUNDLE_URL, or BINDERY_BUNDLE_URL_FILE to a file that holds the address")
	}
	if o.LinkFile == "" {
		if _, err := parseSource(o.Link, o.source()); err != nil {
			return err
		}
	}
	if err := o.Renew.check(); err != nil {
		return err
	}
	if o.SHA256 != "" && !isDigest(o.SHA256) {
		return usage("the expected SHA-256 is invalid", "Set BINDERY_BUNDLE_SHA256 to 64 hexadecimal digits, as the export names them")
	}
	if o.Ranges && o.SHA256 != "" {
		return usage("the digest of an archive that is read by ranges can't be compared", "Leave out BINDERY_BUNDLE_SHA256, or BINDERY_RANGES; BINDERY_BUNDLE_VERSION pins the version")
	}
	if o.Data == "" && !o.Ranges {
		return usage("no data folder is named", "Set BINDERY_DATA to a folder on a volume that can be written to")
	}
	if b := o.BasePath; b != "" && (b[0] != '/' || strings.HasSuffix(b, "/") || strings.Contains(b, "//") || strings.ContainsAny(b, "?#%\\ ")) {
		return usage("the base path can't be used", "Set BINDERY_BASE_PATH to a path such as /docs, or leave it out")
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return usage("a certificate needs its key, and a key its certificate", "Set BINDERY_TLS_CERT and BINDERY_TLS_KEY, or none of them")
	}
	if o.Keep < 0 || o.Refresh < 0 || o.Verify < 0 || o.DrainDelay < 0 || o.DrainTimeout < 0 {
		return usage("a number is negative", "Check BINDERY_KEEP, BINDERY_REFRESH, BINDERY_VERIFY, BINDERY_DRAIN_DELAY and BINDERY_DRAIN_TIMEOUT")
	}
	return nil
}

// NormalBasePath turns "/", "docs" and "/docs/" into what Options takes.
func NormalBasePath(s string) string {
	s = strings.Trim(s, "/")
	if s == "" {
		return ""
	}
	return "/" + s
}

// Run serves until ctx ends, then lets requests under way end. Every value from
// reload makes it look for another version. It returns an *Error when there is
// nothing to show, when a port can't be listened on, or when the options can't
// work; and nil after it was asked to end.
func Run(ctx context.Context, o Options, reload <-chan struct{}) error {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleepContext
	}
	o.lastRequest = cmp.Or(o.lastRequest, time.Second)
	o.SHA256 = strings.ToLower(o.SHA256)
	if err := o.check(); err != nil {
		return err
	}
	s, err := newServer(&o)
	if err != nil {
		return err
	}
	return s.run(ctx, reload)
}

// server is the parts of a running server.
type server struct {
	options     *Options
	status      *status
	handler     *handler
	updater     *updater
	site, admin *http.Server
}

func newServer(o *Options) (*server, error) {
	data, err := filepath.Abs(o.Data)
	if err != nil {
		return nil, volumeError("the data folder has no path", err)
	}
	m := newMetrics(o.Now())
	s := &server{options: o, status: newStatus(o.Now)}
	v := &volume{dir: data, limits: o.Limits, log: o.Log, known: map[string]bool{o.SHA256: true}}
	s.handler = newHandler(o.BasePath, o.Log, m, site.NewCache(o.CacheBytes, min(maxHot, o.CacheBytes/4)))
	s.handler.access, s.handler.tls = o.Access, o.TLSCert != ""
	s.updater = &updater{
		options: o, log: o.Log, volume: v, handler: s.handler, status: s.status, metrics: m, now: o.Now,
		want: want{version: o.Version, number: o.VersionNumber, digest: o.SHA256}, damage: make(chan struct{}, 1),
		download: &downloader{dir: v.path("download"), log: o.Log, limit: maxArchive(o.Limits), sleep: o.Sleep, received: &m.fetched},
	}
	s.handler.found, s.handler.lost = s.updater.found, s.updater.lost
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(o.H2C)
	errors := slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)
	s.site = &http.Server{
		Handler: s.handler, Protocols: protocols, ErrorLog: errors,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: answerTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ConnContext: joinContext,
	}
	versions := v.count
	if o.Ranges {
		versions = func() int { return 0 } // none is on a volume
	}
	s.admin = &http.Server{
		Handler: adminHandler(s.status, m, versions), ErrorLog: errors,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
	}
	if o.TLSCert != "" {
		pair := &keyPair{certFile: o.TLSCert, keyFile: o.TLSKey, log: o.Log}
		if _, err := pair.get(nil); err != nil {
			return nil, &Error{Code: CodeUsage, Message: "the certificate can't be used", Err: err, Advice: "Check BINDERY_TLS_CERT and BINDERY_TLS_KEY"}
		}
		s.site.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
	}
	return s, nil
}

// maxArchive bounds a download: an archive is no larger than its files and
// what stands around them.
func maxArchive(l bundle.Limits) int64 {
	if l.Bytes <= 0 {
		return 21 << 30
	}
	return l.Bytes + l.Bytes/20 + 64<<20
}

// heapReserve is memory that is taken and never touched, so that it has no pages.
// The collector runs when the heap has doubled: that of a small site doubles every
// few hundred requests, and collecting it took a third of the server's time.
const heapReserve = 16 << 20

func (s *server) run(ctx context.Context, reload <-chan struct{}) error {
	reserve := make([]byte, heapReserve)
	defer runtime.KeepAlive(reserve)
	o := s.options
	public, err := listen(ctx, o.Addr, "BINDERY_ADDR")
	if err != nil {
		return err
	}
	admin, err := listen(ctx, o.AdminAddr, "BINDERY_ADMIN_ADDR")
	if err != nil {
		public.Close()
		return err
	}
	if o.Listening != nil {
		o.Listening(public.Addr(), admin.Addr())
	}
	o.Log.Info("listening", "site", public.Addr().String(), "admin", admin.Addr().String(), "tls", o.TLSCert != "", "base", o.BasePath)
	httpend.EndUnused(s.site)
	ended := make(chan error, 2)
	go func() {
		if s.site.TLSConfig != nil {
			ended <- s.site.ServeTLS(public, "", "")
			return
		}
		ended <- s.site.Serve(&joinListener{Listener: public})
	}()
	go func() { ended <- s.admin.Serve(admin) }()
	defer func() {
		_ = s.site.Close()
		_ = s.admin.Close()
		s.updater.close()
	}()

	// Looking for a version must not keep the server from ending.
	work, stop := context.WithCancel(ctx)
	started := make(chan error, 1)
	var updates sync.WaitGroup
	defer updates.Wait()
	defer stop()
	updates.Go(func() {
		err := s.updater.update(work, true)
		started <- err
		if err == nil {
			updates.Go(func() { s.updater.patrol(work) })
			s.follow(work, reload)
		}
	})
	for {
		select {
		case err := <-started:
			if err != nil && ctx.Err() == nil {
				return err
			}
		case err := <-ended:
			return &Error{Code: CodeListen, Message: "the server has ended", Err: err}
		case <-ctx.Done():
			stop()
			s.drain(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// follow looks for other versions when it is asked to, and by the interval.
func (s *server) follow(ctx context.Context, reload <-chan struct{}) {
	for {
		var tick <-chan time.Time
		timer := time.NewTimer(time.Hour)
		if wait := s.updater.retryAfter(); wait > 0 {
			timer.Reset(wait)
			tick = timer.C
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-reload:
			s.options.Log.Info("asked to look for another version")
			timer.Stop()
			s.updater.again(ctx, true)
		case <-tick:
			s.updater.again(ctx, false)
		case <-s.updater.damage:
			timer.Stop()
			// After a failure it is tried again by the clock.
			if s.options.Ranges {
				if s.updater.failed == 0 {
					s.updater.again(ctx, false)
				}
				continue
			}
			if shown := s.handler.shown.Load(); shown.damage.count() > 0 && s.updater.failed == 0 {
				s.updater.heal(ctx, shown)
			}
		}
	}
}

// drain ends well: first it is no longer ready, so that nothing new is sent
// here, and asks every reader to connect anew; then it waits for requests
// under way.
func (s *server) drain(ctx context.Context) {
	o := s.options
	o.Log.Info("asked to end", "delay", o.DrainDelay.String(), "timeout", o.DrainTimeout.String())
	s.status.drain()
	s.handler.draining.Store(true)
	_ = o.Sleep(ctx, o.DrainDelay)
	ctx, cancel := context.WithTimeout(ctx, o.DrainTimeout)
	defer cancel()
	if err := s.site.Shutdown(ctx); err != nil {
		o.Log.Warn("requests that were still in progress are cut off", "error", err)
	}
	o.Log.Info("ended")
}

func listen(ctx context.Context, addr, variable string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, &Error{Code: CodeListen, Message: "the port can't be listened on", Err: err, Advice: "Check " + variable}
	}
	return l, nil
}

// keyPair is a certificate in files that may be replaced while the server runs.
type keyPair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu       sync.Mutex
	pair     *tls.Certificate
	modified [2]time.Time
}

// get returns the certificate, and the old one while the new can't be read.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var modified [2]time.Time
	var failed error
	for i, name := range [...]string{k.certFile, k.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		modified[i] = info.ModTime()
	}
	if failed == nil && k.pair != nil && modified == k.modified {
		return k.pair, nil
	}
	if failed == nil {
		pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
		if err == nil {
			k.pair, k.modified = &pair, modified
			return k.pair, nil
		}
		failed = err
	}
	if k.pair == nil {
		return nil, failed
	}
	k.log.Error("the new certificate can't be read; the old one stays", "error", failed)
	return k.pair, nil
}
