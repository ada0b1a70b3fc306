package sitetest

import "net/http"

// Discard is a http.ResponseWriter that throws the body away, for benchmarks.
type Discard struct{ header http.Header }

// NewDiscard returns one without headers.
func NewDiscard() *Discard { return &Discard{http.Header{}} }

// Header implements http.ResponseWriter.
func (d *Discard) Header() http.Header { return d.header }

// Write implements io.Writer.
func (d *Discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (d *Discard) WriteHeader(int) {}
