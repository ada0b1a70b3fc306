package config

import (
	"cmp"
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
	// SourceAPI, SourceJobID and SourceKeyFile are where a fresh link is asked for
	// once the address is refused: the API, the export's job, and a file that holds
	// a key of the scope bundle. SourceAllowHTTP sends the key also over a network
	// in the clear.
	SourceAPI       = "BINDERY_SOURCE_API"
	SourceJobID     = "BINDERY_SOURCE_JOB_ID"
	SourceKeyFile   = "BINDERY_SOURCE_KEY_FILE"
	SourceAllowHTTP = "BINDERY_SOURCE_ALLOW_HTTP"
	// RenewedFile names a file with the answer of generate-bundle, which another program
	// renews: its link is tried once the address is refused.
	RenewedFile = "BINDERY_RENEWED_FILE"
	// BundleVersion and BundleSHA256 pin the bundle. BundleVersionNumber says that the
	// version was written as a number: 1.1 is 1.10 then.
	BundleVersion       = "BINDERY_BUNDLE_VERSION"
	BundleVersionNumber = "BINDERY_BUNDLE_VERSION_NUMBER"
	BundleSHA256        = "BINDERY_BUNDLE_SHA256"
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
	// Ranges reads single files from the archive at its address, without a copy of it.
	Ranges = "BINDERY_RANGES"
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
	// AccessLog turns the log of requests on or off.
	AccessLog = "BINDERY_ACCESS_LOG"
)

// Server is the environment of bindery-serve, with its defaults. The address of
// the bundle may be a secret and is never shown.
type Server struct {
	BundleURL       string
	BundleURLFile   string
	SourceAPI       string
	SourceJobID     string
	SourceKeyFile   string
	SourceAllowHTTP bool
	RenewedFile     string
	BundleVersion   string
	// BundleVersionNumber: every version that YAML reads as the number BundleVersion.
	BundleVersionNumber bool
	BundleSHA256        string
	Ranges              bool
	Data                string
	Addr                string
	AdminAddr           string
	BasePath            string
	Refresh             time.Duration
	Verify              time.Duration
	Keep                int
	CAFile              string
	AllowHTTP           bool
	S3PathStyle         bool
	TLSCert             string
	TLSKey              string
	H2C                 bool
	DrainDelay          time.Duration
	DrainTimeout        time.Duration
	CacheMiB            int
	AccessLog           bool
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
		BundleURL: &s.BundleURL, BundleURLFile: &s.BundleURLFile, SourceAPI: &s.SourceAPI, SourceJobID: &s.SourceJobID, SourceKeyFile: &s.SourceKeyFile, RenewedFile: &s.RenewedFile,
		BundleVersion: &s.BundleVersion, BundleSHA256: &s.BundleSHA256,
		Data: &s.Data, Addr: &s.Addr, AdminAddr: &s.AdminAddr, BasePath: &s.BasePath, CAFile: &s.CAFile, TLSCert: &s.TLSCert, TLSKey: &s.TLSKey,
	} {
		// A line end comes along easily from a file or a secret.
		if v := strings.TrimSpace(getenv(name)); v != "" {
			*to = v
		}
	}
	number := func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is not a number of 0 or more", v)
		}
		return n, nil
	}
	duration := func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%q is not a duration such as 10m", v)
		}
		return d, nil
	}
	err := cmp.Or(
		set(getenv, Refresh, &s.Refresh, duration),
		set(getenv, Verify, &s.Verify, duration),
		set(getenv, DrainDelay, &s.DrainDelay, duration),
		set(getenv, DrainTimeout, &s.DrainTimeout, duration),
		set(getenv, Keep, &s.Keep, number),
		set(getenv, CacheMiB, &s.CacheMiB, number),
		set(getenv, BundleVersionNumber, &s.BundleVersionNumber, truth),
		set(getenv, SourceAllowHTTP, &s.SourceAllowHTTP, truth),
		set(getenv, AllowHTTP, &s.AllowHTTP, truth),
		set(getenv, S3PathStyle, &s.S3PathStyle, truth),
		set(getenv, Ranges, &s.Ranges, truth),
		set(getenv, H2C, &s.H2C, truth),
		set(getenv, AccessLog, &s.AccessLog, truth),
	)
	if err != nil {
		return Server{}, err
	}
	return s, nil
}

// set reads a variable; one that is not set leaves what is there.
func set[T any](getenv func(string) string, name string, to *T, read func(string) (T, error)) error {
	v := getenv(name)
	if v == "" {
		return nil
	}
	is, err := read(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*to = is
	return nil
}

func truth(v string) (bool, error) {
	is, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", v)
	}
	return is, nil
}
