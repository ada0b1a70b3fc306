package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// bundleReport is what a script learns of a bundle that was downloaded and
// checked.
type bundleReport struct {
	JobID     string `json:"jobId"`
	Domain    string `json:"domain"`
	Version   string `json:"version"`
	Bundle    string `json:"bundle"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"sizeBytes"`
	Pages     int    `json:"pages"`
	Files     int    `json:"files"`
	// Diagnostics are how many there are by severity, Findings by code.
	Diagnostics bundle.Counts  `json:"diagnostics"`
	Findings    map[string]int `json:"findings"`
}

// inspect reads a whole bundle in a file that is to be at path: every file of
// it against the lists in it, and what the lists say about the site.
func inspect(ctx context.Context, file, path string, job api.ExportJob, link api.BundleLink) (*bundleReport, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report := &bundleReport{
		JobID: job.JobID, Domain: job.Domain, Version: job.Version,
		Bundle: path, SHA256: link.SHA256, SizeBytes: link.SizeBytes, Findings: map[string]int{},
	}
	info, err := bundle.Read(ctx, bufio.NewReaderSize(f, 1<<20), bundle.Limits{}, func(e bundle.Entry, data io.Reader) error {
		if e.Path == bundle.DiagnosticsPath {
			return countFindings(data, report.Findings)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("what was downloaded is not a whole bundle: %w", err)
	}
	report.Pages, report.Files, report.Diagnostics = info.Pages, info.Files, info.Diagnostics
	return report, nil
}

// countFindings counts the lines of a list of diagnostics by their code.
func countFindings(r io.Reader, into map[string]int) error {
	d := json.NewDecoder(r)
	for {
		var line struct {
			Code string `json:"code"`
		}
		if err := d.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		into[line.Code]++
	}
}

func (a *app) showBundle(w io.Writer, r *bundleReport) {
	fmt.Fprintf(w, "%s %s of %s, version %s\n", a.paint(w, green, "✓"), count(r.Pages, "page"), r.Domain, r.Version)
	found := fmt.Sprintf("%s, %s, %s", count(r.Diagnostics.Errors, "error"), count(r.Diagnostics.Warnings, "warning"), count(r.Diagnostics.Notices, "notice"))
	var kinds []string
	for _, code := range slices.Sorted(maps.Keys(r.Findings)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", code, r.Findings[code]))
	}
	if len(kinds) > 0 {
		found += " (" + strings.Join(kinds, ", ") + ")"
	}
	facts(w,
		"  bundle", r.Bundle,
		"  size", fmt.Sprintf("%s in %s", size(r.SizeBytes), count(r.Files, "file")),
		"  sha256", r.SHA256+" (checked)",
		"  found", found,
		"  open it", "bindery serve "+r.Bundle)
}
