package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/delivery/serve"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitNoBundle    = 3
	exitUnreachable = 4
	exitRefused     = 5
)

const usageText = `bindery-serve serves a documentation bundle: it fetches it, checks it, unpacks it into a
folder of versions, and answers readers.

  bindery-serve --bundle-url file:///srv/bundle.tar.gz --data /var/lib/bindery
  BINDERY_BUNDLE_URL_FILE=/secrets/link BINDERY_DATA=/data bindery-serve
  bindery-serve --bundle-url s3://bundles/docs.tar.gz --ranges

With --ranges it reads single files from the archive where it is, without a copy of it.
A link is a secret: give it by BINDERY_BUNDLE_URL or --bundle-url-file, not by a flag that
others on the machine can see. SIGHUP looks for another version, SIGTERM ends well.
Logs go to stderr, the log of requests to stdout, both as JSON.

Exit codes: 0 asked to end, 1 volume or port, 2 usage, 3 no bundle to be had (link expired,
nothing there, identity), 4 source not reached, 5 bundle refused.

Each flag has a variable of the environment, which the flag overrides:

`

// run is the program but for the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string, hangup <-chan os.Signal) int {
	env, err := config.ServerFromEnv(getenv)
	if err != nil {
		fmt.Fprintf(stderr, "bindery-serve: %v\n", err)
		return exitUsage
	}
	showVersion, err := parseFlags(&env, args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	case showVersion:
		fmt.Fprintln(stdout, "bindery-serve "+programVersion())
		return exitDone
	}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	options := serve.Options{
		Link: env.BundleURL, LinkFile: env.BundleURLFile, Version: env.BundleVersion, VersionNumber: env.BundleVersionNumber, SHA256: env.BundleSHA256,
		Renew:     serve.Renewal{File: env.RenewedFile, API: env.SourceAPI, Job: env.SourceJobID, KeyFile: env.SourceKeyFile, AllowHTTP: env.SourceAllowHTTP},
		AllowHTTP: env.AllowHTTP, CAFile: env.CAFile, S3PathStyle: env.S3PathStyle, Agent: "bindery-serve/" + programVersion(),
		Ranges: env.Ranges, Data: env.Data, Keep: env.Keep, Refresh: env.Refresh, Verify: env.Verify, Addr: env.Addr, AdminAddr: env.AdminAddr,
		BasePath: serve.NormalBasePath(env.BasePath), TLSCert: env.TLSCert, TLSKey: env.TLSKey, H2C: env.H2C,
		DrainDelay: env.DrainDelay, DrainTimeout: env.DrainTimeout, CacheBytes: int64(env.CacheMiB) << 20, Log: log,
	}
	if env.AccessLog {
		lines := newLineBuffer(stdout)
		defer lines.close()
		options.Access = slog.New(slog.NewJSONHandler(lines, &slog.HandlerOptions{ReplaceAttr: withoutLevel}))
	}
	reload := make(chan struct{}, 1)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-hangup:
				select {
				case reload <- struct{}{}:
				default: // one that waits is enough
				}
			case <-done:
				return
			}
		}
	}()
	if err := serve.Run(ctx, options, reload); err != nil {
		code := exitCode(err)
		log.Error("bindery-serve ends", "exit", code, "error", err)
		return code
	}
	return exitDone
}

// parseFlags reads flags over what the environment says.
func parseFlags(env *config.Server, args []string, stderr io.Writer) (showVersion bool, err error) {
	flags := flag.NewFlagSet("bindery-serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usageText)
		flags.PrintDefaults()
	}
	// A link must not come back as the default in the usage.
	link := flags.String("bundle-url", "", "address of the bundle: https://…, s3://bucket/key, file:///path ("+config.BundleURL+")")
	flags.StringVar(&env.BundleURLFile, "bundle-url-file", env.BundleURLFile, "file that holds the address ("+config.BundleURLFile+")")
	flags.StringVar(&env.SourceAPI, "source-api", env.SourceAPI, "address of the API that is asked for a fresh link once the address is refused ("+config.SourceAPI+")")
	flags.StringVar(&env.SourceJobID, "source-job-id", env.SourceJobID, "the export's job there ("+config.SourceJobID+")")
	flags.StringVar(&env.SourceKeyFile, "source-key-file", env.SourceKeyFile, "file that holds a key of the scope bundle ("+config.SourceKeyFile+")")
	flags.BoolVar(&env.SourceAllowHTTP, "source-allow-http", env.SourceAllowHTTP, "send the key over plain http ("+config.SourceAllowHTTP+")")
	flags.StringVar(&env.RenewedFile, "renewed-file", env.RenewedFile, "file with the answer of generate-bundle, which another program renews, tried once the address is refused ("+config.RenewedFile+")")
	flags.StringVar(&env.BundleVersion, "bundle-version", env.BundleVersion, "the version that the bundle must have ("+config.BundleVersion+")")
	flags.BoolVar(&env.BundleVersionNumber, "bundle-version-number", env.BundleVersionNumber, "the version was written as a number: 1.1 takes 1.10, too ("+config.BundleVersionNumber+")")
	flags.StringVar(&env.BundleSHA256, "bundle-sha256", env.BundleSHA256, "the SHA-256 that the archive must have ("+config.BundleSHA256+")")
	flags.BoolVar(&env.Ranges, "ranges", env.Ranges, "read single files from the archive at its address, without a copy of it ("+config.Ranges+")")
	flags.StringVar(&env.Data, "data", env.Data, "folder of versions ("+config.Data+")")
	flags.StringVar(&env.Addr, "addr", env.Addr, "where readers connect ("+config.Addr+")")
	flags.StringVar(&env.AdminAddr, "admin-addr", env.AdminAddr, "where /healthz, /readyz and /metrics are ("+config.AdminAddr+")")
	flags.StringVar(&env.BasePath, "base-path", env.BasePath, "path that the site is mounted under ("+config.BasePath+")")
	flags.DurationVar(&env.Refresh, "refresh", env.Refresh, "how often another version is looked for; 0 for never ("+config.Refresh+")")
	flags.DurationVar(&env.Verify, "verify", env.Verify, "how often the files on the volume are compared again; 0 for never ("+config.Verify+")")
	flags.IntVar(&env.Keep, "keep", env.Keep, "old versions that stay on the volume ("+config.Keep+")")
	flags.StringVar(&env.CAFile, "ca-file", env.CAFile, "certificates in PEM that the source may have ("+config.CAFile+")")
	flags.BoolVar(&env.AllowHTTP, "allow-http", env.AllowHTTP, "take a bundle over plain http without a digest ("+config.AllowHTTP+")")
	flags.BoolVar(&env.S3PathStyle, "s3-path-style", env.S3PathStyle, "address buckets in the path ("+config.S3PathStyle+")")
	flags.StringVar(&env.TLSCert, "tls-cert", env.TLSCert, "certificate in PEM for readers ("+config.TLSCert+")")
	flags.StringVar(&env.TLSKey, "tls-key", env.TLSKey, "its key ("+config.TLSKey+")")
	flags.BoolVar(&env.H2C, "h2c", env.H2C, "speak HTTP/2 without TLS, too ("+config.H2C+")")
	flags.DurationVar(&env.DrainDelay, "drain-delay", env.DrainDelay, "how long to answer after SIGTERM, until balancers notice ("+config.DrainDelay+")")
	flags.DurationVar(&env.DrainTimeout, "drain-timeout", env.DrainTimeout, "how long to wait then for requests under way ("+config.DrainTimeout+")")
	flags.IntVar(&env.CacheMiB, "cache-mib", env.CacheMiB, "MiB of small files kept in memory ("+config.CacheMiB+")")
	flags.BoolVar(&env.AccessLog, "access-log", env.AccessLog, "log requests ("+config.AccessLog+")")
	flags.BoolVar(&showVersion, "version", false, "print the program's version")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		if strings.Contains(flags.Arg(0), "://") { // it may be a link, and logs are read by many
			err = fmt.Errorf("unexpected argument, an address: give it by %s or --bundle-url-file", config.BundleURL)
		}
		fmt.Fprintf(stderr, "bindery-serve: %v\n", err)
		return false, err
	}
	if env.Keep < 0 || env.CacheMiB < 0 || env.Refresh < 0 || env.Verify < 0 || env.DrainDelay < 0 || env.DrainTimeout < 0 {
		err := errors.New("a number is negative")
		fmt.Fprintf(stderr, "bindery-serve: %v\n", err)
		return false, err
	}
	if *link != "" {
		env.BundleURL, env.BundleURLFile = *link, ""
	}
	return showVersion, nil
}

func exitCode(err error) int {
	e := (*serve.Error)(nil)
	if !errors.As(err, &e) {
		return exitError
	}
	switch e.Code {
	case serve.CodeUsage:
		return exitUsage
	case serve.CodeLinkExpired, serve.CodeNotFound, serve.CodeCredentials:
		return exitNoBundle
	case serve.CodeUnreachable:
		return exitUnreachable
	case serve.CodeRefused, serve.CodeDigest, serve.CodeVersion:
		return exitRefused
	}
	return exitError
}

// releaseVersion is put here by the build of a release (-ldflags -X).
var releaseVersion string

// programVersion is what the program was built from.
func programVersion() string {
	if releaseVersion != "" {
		return releaseVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "devel"
}

// withoutLevel leaves out what every line of the requests' log would say.
func withoutLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// lineBuffer gathers lines for a second or until there are many: a system call
// for each request would cost as much as the request.
type lineBuffer struct {
	mu   sync.Mutex
	w    *bufio.Writer
	stop chan struct{}
	done sync.WaitGroup
}

func newLineBuffer(w io.Writer) *lineBuffer {
	b := &lineBuffer{w: bufio.NewWriterSize(w, 64<<10), stop: make(chan struct{})}
	b.done.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.flush()
			case <-b.stop:
				return
			}
		}
	})
	return b
}

// Write takes one whole line. A log that can't be written must not end the
// site: what is lost is lost.
func (b *lineBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w.Available() < len(line) {
		_ = b.w.Flush()
	}
	return b.w.Write(line)
}

func (b *lineBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.w.Flush()
}

func (b *lineBuffer) close() {
	close(b.stop)
	b.done.Wait()
	b.flush()
}
