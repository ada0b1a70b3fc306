package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
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
	// Listed has all findings of the job. The bundle's own list lacks those that
	// name a restricted page.
	Listed []check.Finding `json:"listed"`
	// GoLive is set for an export with --go-live.
	GoLive *liveReport `json:"goLive,omitempty"`
	// more reports that Listed is longer than the bundle's own list.
	more bool
}

// inspect reads a whole bundle in a file that is to be at path: every file of
// it against the lists in it, and what the lists say about the site.
func inspect(ctx context.Context, file, path string, job api.ExportJob, link api.BundleLink) (*bundleReport, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report := newReport(path, job, link)
	info, err := bundle.Read(ctx, bufio.NewReaderSize(f, 1<<20), bundle.Limits{}, func(e bundle.Entry, data io.Reader) error {
		if e.Path == bundle.DiagnosticsPath {
			return report.read(data)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("what was downloaded is not a whole bundle: %w", err)
	}
	report.Pages, report.Files, report.Diagnostics = info.Pages, info.Files, info.Diagnostics
	return report, nil
}

// inspectEnd reads only a bundle's end, which begins at that byte: the bundle was
// made here, and has the digest that it was made with.
func inspectEnd(ctx context.Context, file, path string, job api.ExportJob, link api.BundleLink, end int64) (*bundleReport, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report := newReport(path, job, link)
	info, err := bundle.ReadLists(ctx, io.NewSectionReader(f, end, link.SizeBytes-end), bundle.Limits{}, func(path string, data io.Reader) error {
		if path == bundle.DiagnosticsPath {
			return report.read(data)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the bundle's lists can't be read: %w", err)
	}
	report.Pages, report.Files, report.Diagnostics = info.Pages, info.Files, info.Diagnostics
	return report, nil
}

func newReport(path string, job api.ExportJob, link api.BundleLink) *bundleReport {
	return &bundleReport{
		JobID: job.JobID, Domain: job.Domain, Version: job.Version,
		Bundle: path, SHA256: link.SHA256, SizeBytes: link.SizeBytes, Findings: map[string]int{}, Listed: []check.Finding{},
	}
}

// read reads a bundle's list of findings.
func (r *bundleReport) read(list io.Reader) error {
	for f, err := range json.Values[check.Finding](list) {
		if err != nil {
			return err
		}
		r.Findings[f.Code]++
		r.Listed = append(r.Listed, *f)
	}
	return nil
}

func (a *app) showBundle(w io.Writer, r *bundleReport) {
	fmt.Fprintf(w, "%s %s of %s, version %s\n", a.paint(w, green, "✓"), count(r.Pages, "page"), r.Domain, r.Version)
	listed, info := a.mendable(r.Listed)
	facts(w,
		"  bundle", r.Bundle,
		"  size", fmt.Sprintf("%s in %s", size(r.SizeBytes), count(r.Files, "file")),
		"  sha256", r.SHA256+" (checked)",
		"  found", summary(r.Listed, check.Counts(r.Diagnostics), r.Pages),
		"  open it", called()+" serve "+r.Bundle)
	causes := worst(listed)
	if a.verbose {
		causes = check.Groups(listed)
	}
	rest, kind := len(listed), "notice"
	if len(causes) > 0 {
		kind = "more finding"
		fmt.Fprintln(w)
		a.showCauses(w, w, causes, noSource)
	}
	for _, c := range causes {
		rest -= c.Times
	}
	if info > 0 {
		fmt.Fprintln(w, infoText(info))
	}
	if rest > 0 && r.more {
		fmt.Fprintf(w, "To read %s, not all of which the bundle lists: --verbose or --json\n", count(rest, kind))
	} else if rest > 0 {
		fmt.Fprintf(w, "To read %s: tar -xzOf %s %s\n", count(rest, kind), r.Bundle, bundle.DiagnosticsPath)
	}
	a.showWentLive(w, r.GoLive)
}
