package site

import (
	"context"
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
)

// Version is one version of a site, open for requests. All methods may be called at
// the same time.
//
// Errors: a Temporary for what may be read soon, also after a timeout of the storage's
// own; any other error is of what stays unreadable, ErrDamaged where it differs from what
// was exported. Bytes are compared by the storage before it hands them out.
type Version interface {
	// Find returns what answers a path, which is unescaped and begins with a slash,
	// by the rules of address.Site.
	Find(ctx context.Context, path, rawQuery string) (address.Found[File], error)
	// NotFound returns the page for addresses that don't exist, 404.html; nil for
	// none.
	NotFound(ctx context.Context) (File, error)
	// Policy is the same at every call.
	Policy() *Policy
	// Release ends the use of the version. The caller of Answer calls it,
	// once, after the last answer.
	Release()
}

// File is a file of a version. It can be used until the version is released.
type File interface {
	// Facts describes the file. It is the same at every call, and is not changed.
	Facts() *Facts
	// Read returns a whole form in memory that the storage does not use again. It is
	// for forms that are small enough for the cache, or of an Unknown length.
	Read(ctx context.Context, e Encoding) ([]byte, error)
	// Open opens a form to be read in parts. Its length is known.
	Open(ctx context.Context, e Encoding) (Form, error)
}

// Form is one form of a file, open. It is used by one goroutine.
type Form interface {
	// Size is the form's length in bytes.
	Size() int64
	// Part returns the part of the form that has the byte at an offset below Size, and
	// the offset of the part's first byte. It is valid until the next call. Parts have
	// at least one byte, and an offset that is the end of one begins the next.
	Part(ctx context.Context, offset int64) (part []byte, begin int64, err error)
	// Close ends the use of the form.
	Close() error
}

// Fingerprint is the beginning of a SHA-256: 128 bits, for which nobody finds a
// second text, in half the memory.
type Fingerprint [16]byte

// FingerprintOf returns the fingerprint of bytes.
func FingerprintOf(b []byte) Fingerprint {
	sum := sha256.Sum256(b)
	return Fingerprint(sum[:])
}

// Unknown is the length of a form that is made on demand, and small.
const Unknown = -1

// Facts holds the name, digest and lengths of a file.
type Facts struct {
	// Name is the file's name, a path with slashes.
	Name string
	// Sum is the fingerprint of the plain file.
	Sum Fingerprint
	// Lengths are those of the forms in bytes. There is always the plain one; 0 is a
	// compressed form that does not exist.
	Lengths [Encodings]int64

	kind   *media
	hashed bool // its name changes with its content
}

// NewFacts returns the facts of a file that has its plain form alone.
func NewFacts(name string, size int64, sum Fingerprint) Facts {
	return Facts{Name: name, Sum: sum, Lengths: [Encodings]int64{Identity: size}, kind: mediaOf(name), hashed: IsHashed(name)}
}

// has reports whether the file has a form.
func (f *Facts) has(e Encoding) bool { return e == Identity || f.Lengths[e] != 0 }

// packed reports whether the file has more than one form.
func (f *Facts) packed() bool { return f.has(Gzip) || f.has(Zstd) }

var hashedName = regexp.MustCompile(`^bindery/.+\.[0-9a-f]{8,64}\.[a-z0-9]+$`)

// IsHashed reports whether a name carries a digest of its file's content: the theme's
// do, in the folder that no site's own file can be in.
func IsHashed(name string) bool {
	return strings.HasPrefix(name, "bindery/") && hashedName.MatchString(name)
}

// ErrDamaged is the error of bytes that differ from the export.
var ErrDamaged = errors.New("it is not what was exported")

// Temporary is the error of a storage that may have the answer soon.
type Temporary struct {
	// Err says what happened.
	Err error
	// After is when to ask again; 0 if that is not known.
	After time.Duration
}

// Error is Err's text.
func (e *Temporary) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Temporary) Unwrap() error { return e.Err }

// isTemporary returns the Temporary that an error is or counts as.
func isTemporary(err error) (*Temporary, bool) {
	if t, ok := errors.AsType[*Temporary](err); ok {
		return t, true
	}
	// A read that took too long, or one that another's request began and ended.
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Temporary{Err: err}, true
	}
	return nil, false
}
