package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// bundleSource is where a bundle is.
type bundleSource struct {
	// Where names the source in logs and messages, without secrets: a host, a
	// bucket with a key, or a file.
	Where string
	// File is the path of a bundle in a file; empty for others.
	File string
	// Encrypted is false of what comes over a network in the clear.
	Encrypted bool

	key    string // distinguishes sources, without what signs a link
	remote opener // nil for files
}

// opener is a source on a network.
type opener interface {
	// open asks for the bundle from an offset on: for length bytes, or with 0 for all.
	// known are the validators of the first answer. With fresh and offset 0, it returns
	// errUnchanged if the bundle still has them.
	open(ctx context.Context, offset, length int64, known validators, fresh bool) (*part, error)
}

// part is the answer of a remote source.
type part struct {
	body   io.ReadCloser
	offset int64 // where body begins; 0 when the source sends all of it
	total  int64 // bytes of the whole bundle; -1 when not known
	validators
}

// byteRange is the value of the header Range (RFC 9110, 14.1.2).
func byteRange(offset, length int64) string {
	if length > 0 {
		return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	}
	return fmt.Sprintf("bytes=%d-", offset)
}

// validators distinguish two states of a bundle at one place.
type validators struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
}

// same reports whether the two are surely of one state. A weak tag may represent
// different bytes.
func (v validators) same(w validators) bool {
	if strings.HasPrefix(v.ETag, "W/") || strings.HasPrefix(w.ETag, "W/") {
		return false
	}
	if v.ETag != "" || w.ETag != "" {
		return v.ETag == w.ETag
	}
	return v.Modified != "" && v.Modified == w.Modified
}

// errUnchanged says that a source has what is known already.
var errUnchanged = errors.New("unchanged")

// temporaryError is a failure after which another attempt may help.
type temporaryError struct {
	err  error
	wait time.Duration // what the source asked to wait; 0 when it didn't
}

func (e *temporaryError) Error() string { return e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// sourceOptions say how sources are reached.
type sourceOptions struct {
	// CAFile holds certificates in PEM that are trusted besides the system's.
	CAFile string
	// Agent is the User-Agent of requests.
	Agent string
	// PathStyle addresses S3's buckets in the path, as stores that are
	// compatible with S3 often need.
	PathStyle bool
}

// parseSource reads the address of a bundle: https://…, s3://bucket/key or
// file:///path. Errors never hold it.
func parseSource(link string, o sourceOptions) (*bundleSource, error) {
	usage := func(message string) error {
		return &Error{Code: CodeUsage, Message: "the bundle's address " + message,
			Advice: "It must be https://…, s3://bucket/key or file:///path/bundle.tar.gz"}
	}
	u, err := url.Parse(link)
	if err != nil {
		return nil, usage("can't be read")
	}
	sum := sha256.Sum256([]byte(u.Scheme + "://" + u.Host + u.EscapedPath()))
	s := &bundleSource{key: hex.EncodeToString(sum[:12]), Encrypted: true}
	switch strings.ToLower(u.Scheme) {
	case "https", "http":
		if u.Hostname() == "" {
			return nil, usage("has no host")
		}
		s.Where = strings.ToLower(u.Scheme) + "://" + u.Host
		s.Encrypted = strings.EqualFold(u.Scheme, "https") || loopback(u.Hostname())
		if s.remote, err = newHTTPRemote(link, u, o); err != nil {
			return nil, err
		}
	case "s3":
		object := strings.TrimPrefix(u.Path, "/")
		if u.Host == "" || object == "" {
			return nil, usage("lacks the bucket or the key")
		}
		if u.RawQuery != "" || u.User != nil {
			return nil, usage("must be a bucket and a key alone; who reads it is the process's identity")
		}
		s.Where = "s3://" + u.Host + "/" + object
		if s.remote, err = newS3Remote(u.Host, object, o); err != nil {
			return nil, err
		}
	case "file":
		if u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.Path == "/" {
			return nil, usage("must name a file by its whole path, with three slashes")
		}
		s.File = filepath.FromSlash(u.Path)
		s.Where = s.File
	default:
		return nil, usage("has another scheme, or none")
	}
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// readLink returns the bundle's address: that in the file, if one is named. It
// returns an *Error if the file can't be read or is empty.
// Kubernetes changes files of a mounted secret in place, so that the file is
// read anew each time.
func readLink(link, file string) (string, error) {
	if file == "" {
		return link, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		if path := (*fs.PathError)(nil); strings.Contains(file, "://") && errors.As(err, &path) {
			err = path.Err // the name may be the link itself, in the wrong place
		}
		return "", &Error{Code: CodeUsage, Message: "the file with the bundle's address can't be read", Err: err,
			Advice: "Check BINDERY_BUNDLE_URL_FILE and the secret that is mounted there"}
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return "", &Error{Code: CodeUsage, Message: "the file with the bundle's address is empty",
			Advice: "Check the secret that is mounted there"}
	}
	return text, nil
}
