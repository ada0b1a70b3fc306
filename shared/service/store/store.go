// Package store declares the four ports that all of Bindery's state goes
// through, what every backend of one refuses (check.go), places in the pages of
// a query (cursor.go), and nothing else:
//
//	Store    records with revisions and all-or-nothing writes (DynamoDB; SQLite)
//	Objects  files with links that strangers may use for a while (S3; a folder)
//	Runner   executions of the workflows (Step Functions; the interpreter in asl)
//	Secrets  credentials of projects, apart from records (KMS; files of mode 0600; secret.go)
//
// The ports are small so that two backends can stay equal; package storetest
// holds the contract that both pass. Rules of the product live above them, in
// package admin.
//
// All methods may be called from many goroutines, stop when their context
// ends, and return one of the errors of this package where its comment says so
// (wrapped errors match by errors.Is and errors.As). Any other error is a
// fault of the backend that a later call may not meet.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Errors that backends return.
var (
	// ErrNotFound: no such record, object or execution.
	ErrNotFound = errors.New("not found")
	// ErrExists: an object that was to be written once is there already.
	ErrExists = errors.New("exists already")
	// ErrRange: a range begins after the end of the object.
	ErrRange = errors.New("range not satisfiable")
	// ErrTooLarge: a record, a transaction or a link is over the backend's limit.
	ErrTooLarge = errors.New("too large")
	// ErrDigest: what was written or uploaded is not what its checksum or size says.
	ErrDigest = errors.New("checksum or size does not match")
)

// ConflictError says that a Write was refused because the condition of at
// least one record did not hold. Nothing was written.
type ConflictError struct {
	// Keys are the records whose condition failed, in the order of the call.
	// Empty when another transaction was changing the same records: try again.
	Keys []Key
}

func (e *ConflictError) Error() string { return fmt.Sprintf("write refused: %v", e.Keys) }

// Coded is an error that says what went wrong in two languages: a code for
// programs, which is also the error name that workflows see, and a message
// that is safe to show to callers. Everything else an error knows belongs in
// the log.
type Coded interface {
	error
	Code() string
	SafeMessage() string
}

// Limits that every backend keeps, so that what works on a laptop works in
// the cloud.
const (
	// MaxRecordBytes is DynamoDB's limit for an item, names and keys included.
	MaxRecordBytes = 400 << 10
	// MaxTransaction is how many records DynamoDB takes in one transaction.
	MaxTransaction = 100
	// MaxStateBytes is Step Functions' limit for a state's input or output.
	MaxStateBytes = 256 << 10
	// MaxObjectKey is S3's limit for a key, in bytes of UTF-8.
	MaxObjectKey = 1024
)

// Key names a record: a partition, and a place in its order. Both are compared
// as bytes and are never empty.
type Key struct{ PK, SK string }

// Record is one document with its conditions.
type Record struct {
	Key Key
	// Revision is 1 after the first write and one more after each other. In a
	// Write it is the revision that was read; 0 says that there must be no
	// such record.
	Revision int64
	// Value is a JSON document.
	Value []byte
	// Active, if not empty, makes the record appear in the index of active
	// jobs, sorted by this value.
	Active string
	// ExpiresAt, if not zero, is when the record may go, in whole seconds. It
	// is gone for readers some time after that, not at once: readers that
	// care compare the time themselves.
	ExpiresAt time.Time
}

// Index names an order in which Query reads.
type Index string

const (
	// ByKey is the order of sort keys within one partition; reads are consistent.
	ByKey Index = ""
	// ByActive holds the records whose Active is set, of all partitions,
	// ordered by Active, then by key. In the cloud it is updated some time
	// after writes.
	ByActive Index = "active"
)

// Query asks for records in order.
type Query struct {
	Index Index
	// PK is the partition; with ByActive it is empty.
	PK string
	// Prefix limits to sort keys (with ByActive: Active values) that begin with it.
	Prefix string
	// Cursor is where a page before this one ended; empty for the first.
	Cursor string
	// Limit is the most records of one page; 0 leaves it to the backend. A
	// page may hold fewer even where more follow.
	Limit int
	// Descending reads from the end.
	Descending bool
}

// Page is one page of a Query. Cursor is empty when nothing follows.
type Page struct {
	Records []Record
	Cursor  string
}

// Store keeps records.
type Store interface {
	// Get reads one record, consistently, or returns ErrNotFound.
	Get(ctx context.Context, key Key) (Record, error)
	// Query reads one page. An unknown cursor is an error.
	Query(ctx context.Context, q Query) (Page, error)
	// Write writes all puts and removes all deletes, or nothing. A put holds
	// the condition of its Revision, a delete that its revision is the one
	// given (a delete with revision 0 has no condition: the record may be
	// gone already). No key may appear twice. It returns a *ConflictError when
	// a condition fails, ErrTooLarge over the limits above.
	Write(ctx context.Context, puts []Record, deletes []Delete) error
}

// Delete names a record to remove.
type Delete struct {
	Key      Key
	Revision int64 // revision that the stored record must have
}

// ObjectInfo describes a stored object.
type ObjectInfo struct {
	Key  string
	Size int64 // in bytes
	// SHA256 is the digest in lower-case hex where the backend knows it, else empty.
	SHA256   string
	Modified time.Time
}

// PutOptions go with Objects.Put.
type PutOptions struct {
	// IfAbsent refuses with ErrExists where the object is there already.
	IfAbsent bool
	// SHA256, in hex, is checked if not empty: ErrDigest, and nothing is stored.
	SHA256 string
	// ContentType is kept for links; default application/octet-stream.
	ContentType string
}

// Part is a piece of an object that is written in parts.
type Part struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // of its bytes, in lower-case hex where the backend knows it, else empty
	// Tag is what the backend calls it.
	Tag string `json:"tag,omitempty"`
}

// Link lets anyone who holds it read or write one object until ExpiresAt.
type Link struct {
	URL string
	// Header is what the request must send along, exactly.
	Header    http.Header
	ExpiresAt time.Time
}

// Objects keeps files under keys: names of printable ASCII with slashes,
// without "." or ".." as an element, without empty elements.
type Objects interface {
	// Put stores what r returns. Readers see the whole object or none: a Put
	// that fails half-way leaves what was there before. It streams: memory
	// does not grow with the object.
	Put(ctx context.Context, key string, r io.Reader, opt PutOptions) (ObjectInfo, error)
	// BeginUpload begins to write an object in parts, which may take several
	// processes one after another, and returns a name for that. All parts but
	// the last have partBytes; S3 takes none below 5 MiB, and 10,000 of them.
	// Of opt only ContentType counts.
	BeginUpload(ctx context.Context, key string, partBytes int64, opt PutOptions) (upload string, err error)
	// UploadPart writes the n-th part, counted from 1. It may be written again.
	// ErrNotFound: the upload was completed or aborted, or is so old that it
	// was swept.
	UploadPart(ctx context.Context, key, upload string, n int, data []byte) (Part, error)
	// CompleteUpload makes the object of all its parts, as UploadPart returned
	// them; sha256, in hex, is the digest of the whole. Doing it again is
	// success while the object is there. ErrNotFound as of UploadPart;
	// ErrDigest where the parts are not those that were written.
	CompleteUpload(ctx context.Context, key, upload string, parts []Part, sha256 string) (ObjectInfo, error)
	// AbortUpload removes the parts of an upload that will not be completed.
	// One that is not there is not an error. Backends remove by themselves what
	// nobody has gone on with for long.
	AbortUpload(ctx context.Context, key, upload string) error
	// Get opens an object from offset on, at most length bytes; length < 0
	// means to the end. ErrNotFound; ErrRange when offset lies after the
	// last byte of an object that has any.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Stat describes an object, or returns ErrNotFound.
	Stat(ctx context.Context, key string) (ObjectInfo, error)
	// Copy makes an object of the bytes and the content type of another, without
	// passing them through the caller: ErrNotFound where from is not there. What
	// was at to is replaced as a whole. The two then have lives of their own.
	Copy(ctx context.Context, from, to string) error
	// List returns up to limit objects (0: the backend's choice) whose keys
	// begin with prefix and come after the key after, in byte order. Fewer
	// than a full page may come though more follow: the end is an empty page.
	List(ctx context.Context, prefix, after string, limit int) ([]ObjectInfo, error)
	// Delete removes objects; one that does not exist is not an error.
	Delete(ctx context.Context, keys ...string) error
	// PresignGet makes a link to read key, valid for at most life, that a
	// browser saves under filename. The object need not be there.
	PresignGet(ctx context.Context, key, filename string, life time.Duration) (Link, error)
	// PresignPut makes a link to write key once, bound to size and digest:
	// other bytes are refused, and so is an object that is there already.
	PresignPut(ctx context.Context, key string, size int64, sha256 string, life time.Duration) (Link, error)
}

// ExecutionState is where an execution stands.
type ExecutionState string

// Execution states, named as Step Functions names them.
const (
	Running   ExecutionState = "RUNNING"
	Succeeded ExecutionState = "SUCCEEDED"
	Failed    ExecutionState = "FAILED"
	TimedOut  ExecutionState = "TIMED_OUT"
	Aborted   ExecutionState = "ABORTED"
)

// The workflows that every Runner knows.
const (
	WorkflowExport = "export"
	WorkflowAgent  = "agent"
)

// Workflows lists them.
func Workflows() []string { return []string{WorkflowExport, WorkflowAgent} }

// Execution is one run of a workflow.
type Execution struct {
	Workflow string
	Name     string
	// Input is what it was started with.
	Input     string
	State     ExecutionState
	StartedAt time.Time
	StoppedAt time.Time
	// Error and Cause are those of a failed execution: the error's name, and
	// a text for the log.
	Error, Cause string
}

// Runner runs workflows, one of Workflows each time. It refuses others. Executions
// of two workflows may have one name.
type Runner interface {
	// Start begins an execution under a name that it is known by for good.
	// One that was started by this name before is success, whatever its
	// state. Input is JSON of at most MaxStateBytes: ErrTooLarge.
	Start(ctx context.Context, workflow, name string, input []byte) error
	// Status returns the state of an execution, or ErrNotFound.
	Status(ctx context.Context, workflow, name string) (Execution, error)
	// Stop ends a running execution as Aborted. One that has ended, or was
	// never started, is not an error.
	Stop(ctx context.Context, workflow, name, reason string) error
}
