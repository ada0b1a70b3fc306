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
	// Failure is there for a failed job.
	Failure *Failure `json:"failure,omitempty"`
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
}

// AgentJob is an agent's work on a docs repository. Every field is always
// there.
type AgentJob struct {
	ID     string            `json:"id"`
	Status admin.AgentStatus `json:"status"`
	Source AgentSource       `json:"source"`
	Model  string            `json:"model"`
	// PRLink is null while the job is active, and when nothing changed.
	PRLink     *string    `json:"prLink"`
	CreatedAt  time.Time  `json:"createdAt"`
	ArchivedAt *time.Time `json:"archivedAt"`
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

// ManifestLink is where a snapshot's manifest can be read until ExpiresAt.
type ManifestLink struct {
	Blob
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}
