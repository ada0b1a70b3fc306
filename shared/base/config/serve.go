package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Variables of bindery-serve; each has a flag of the same name without the
// prefix. Proxies are the standard ones: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. Of
// AWS those of the SDK count: AWS_REGION, AWS_ROLE_ARN and so on.
const (
	// BundleURL is the address of the bundle: a link (a secret, then), an
	// object of S3 or a file.
	BundleURL = "BINDERY_BUNDLE_URL"
	// BundleURLFile names a file that holds the address, such as a mounted
	// secret; it comes before BundleURL.
	BundleURLFile = "BINDERY_BUNDLE_URL_FILE"
	// BundleVersion and BundleSHA256 pin the bundle.
	BundleVersion = "BINDERY_BUNDLE_VERSION"
	BundleSHA256  = "BINDERY_BUNDLE_SHA256"
	// Data is the folder of versions.
	Data = "BINDERY_DATA"
	// Addr and AdminAddr are what is listened on, for readers and operators.
	Addr      = "BINDERY_ADDR"
	AdminAddr = "BINDERY_ADMIN_ADDR"
	// BasePath is what the site is mounted under.
	BasePath = "BINDERY_BASE_PATH"
	// Refresh is how often another version is looked for ("10m"); 0 for never.
	Refresh = "BINDERY_REFRESH"
	// Verify is how often all files of the shown version are compared again with
	// what was exported ("1h"); 0 for never.
	Verify = "BINDERY_VERIFY"
	// Keep is how many old versions stay.
	Keep = "BINDERY_KEEP"
	// CAFile holds certificates in PEM that sources may have.
	CAFile = "BINDERY_CA_FILE"
	// AllowHTTP takes a bundle over a network in the clear without a digest; for
	// callers it is Config.AllowHTTP.
	AllowHTTP = "BINDERY_ALLOW_HTTP"
	// S3PathStyle addresses buckets in the path.
	S3PathStyle = "BINDERY_S3_PATH_STYLE"
	// TLSCert and TLSKey are files in PEM for readers' connections.
	TLSCert = "BINDERY_TLS_CERT"
	TLSKey  = "BINDERY_TLS_KEY"
	// H2C lets readers speak HTTP/2 without TLS.
	H2C = "BINDERY_H2C"
	// DrainDelay is how long the server answers after it was asked to end, and
	// DrainTimeout how long it then waits for requests under way.
	DrainDelay   = "BINDERY_DRAIN_DELAY"
	DrainTimeout = "BINDERY_DRAIN_TIMEOUT"
	// CacheMiB is how much of small files is kept in memory.
	CacheMiB = "BINDERY_CACHE_MIB"
	// AccessLog says whether requests are logged.
	AccessLog = "BINDERY_ACCESS_LOG"
)

// Server is the environment of bindery-serve, with its defaults. The address of
// the bundle may be a secret and is never shown.
type Server struct {
	BundleURL     string
	BundleURLFile string
	BundleVersion string
	BundleSHA256  string
	Data          string
	Addr          string
	AdminAddr     string
	BasePath      string
	Refresh       time.Duration
	Verify        time.Duration
	Keep          int
	CAFile        string
	AllowHTTP     bool
	S3PathStyle   bool
	TLSCert       string
	TLSKey        string
	H2C           bool
	DrainDelay    time.Duration
	DrainTimeout  time.Duration
	CacheMiB      int
	AccessLog     bool
}

// ServerDefaults is a Server of an empty environment.
func ServerDefaults() Server {
	return Server{
		Data: "/data", Addr: ":8080", AdminAddr: ":9090", Verify: time.Hour, Keep: 2, DrainDelay: 5 * time.Second, DrainTimeout: 20 * time.Second,
		CacheMiB: 64, AccessLog: true,
	}
}

// ServerFromEnv reads the environment of bindery-serve through getenv. An error
// names the variable, and never the address of a bundle.
func ServerFromEnv(getenv func(string) string) (Server, error) {
	s := ServerDefaults()
	for name, to := range map[string]*string{
		BundleURL: &s.BundleURL, BundleURLFile: &s.BundleURLFile, BundleVersion: &s.BundleVersion, BundleSHA256: &s.BundleSHA256,
		Data: &s.Data, Addr: &s.Addr, AdminAddr: &s.AdminAddr, BasePath: &s.BasePath, CAFile: &s.CAFile, TLSCert: &s.TLSCert, TLSKey: &s.TLSKey,
	} {
		// A line end comes along easily from a file or a secret.
		if v := strings.TrimSpace(getenv(name)); v != "" {
			*to = v
		}
	}
	for _, d := range []struct {
		name string
		to   *time.Duration
	}{{Refresh, &s.Refresh}, {Verify, &s.Verify}, {DrainDelay, &s.DrainDelay}, {DrainTimeout, &s.DrainTimeout}} {
		v := getenv(d.name)
		if v == "" {
			continue
		}
		var err error
		if *d.to, err = time.ParseDuration(v); err != nil || *d.to < 0 {
			return Server{}, fmt.Errorf("%s: %q is no duration such as 10m", d.name, v)
		}
	}
	for _, n := range []struct {
		name string
		to   *int
	}{{Keep, &s.Keep}, {CacheMiB, &s.CacheMiB}} {
		v := getenv(n.name)
		if v == "" {
			continue
		}
		var err error
		if *n.to, err = strconv.Atoi(v); err != nil || *n.to < 0 {
			return Server{}, fmt.Errorf("%s: %q is no number of 0 or more", n.name, v)
		}
	}
	for _, b := range []struct {
		name string
		to   *bool
	}{{AllowHTTP, &s.AllowHTTP}, {S3PathStyle, &s.S3PathStyle}, {H2C, &s.H2C}, {AccessLog, &s.AccessLog}} {
		if err := truth(getenv, b.name, b.to); err != nil {
			return Server{}, err
		}
	}
	return s, nil
}

// truth reads a variable that is true or false; what is not set stays as it is.
func truth(getenv func(string) string, name string, to *bool) error {
	v := getenv(name)
	if v == "" {
		return nil
	}
	is, err := strconv.ParseBool(v)
	if err != nil {
		return fmt.Errorf("%s: %q is neither true nor false", name, v)
	}
	*to = is
	return nil
}
