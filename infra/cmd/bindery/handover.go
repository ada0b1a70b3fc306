package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// linkReport is what a script learns of a bundle that stays where it is.
type linkReport struct {
	JobID     string    `json:"jobId"`
	Domain    string    `json:"domain"`
	Version   string    `json:"version"`
	SHA256    string    `json:"sha256"`
	SizeBytes int64     `json:"sizeBytes"`
	Pages     int       `json:"pages"`
	ExpiresAt time.Time `json:"expiresAt"`
	// BundleURL is empty where a file took the link: it opens the bundle to
	// everyone who reads a log.
	BundleURL string `json:"bundleUrl,omitempty"`
	// GoLive is set for an export with --go-live.
	GoLive *liveReport `json:"goLive,omitempty"`
}

// showLink writes the link on a line of its own, if it is to be shown.
func (a *app) showLink(w io.Writer, r *linkReport) {
	fmt.Fprintf(a.stderr, "%s %s of %s, version %s, %s; the link ends at %s\n", a.paint(a.stderr, green, "✓"),
		count(r.Pages, "page"), r.Domain, r.Version, size(r.SizeBytes), r.ExpiresAt.Format(time.RFC3339))
	a.showWentLive(a.stderr, r.GoLive)
	if r.BundleURL != "" {
		fmt.Fprintln(w, r.BundleURL)
	}
}

// handover says who gets the link to a bundle.
type handover struct {
	// github: the step of a GitHub Actions workflow that this program runs in.
	github bool
	// outputs is the file that GitHub reads a step's outputs from.
	outputs string
	// values is a file of values for the Helm chart.
	values string
}

// takes reports whether the link goes into a file, and so not to the terminal.
func (h handover) takes() bool { return h.github || h.values != "" }

// check finds out before an export what would lose the link after it.
func (h handover) check() error {
	if h.github && h.outputs == "" {
		return usagef("--github-output: GITHUB_OUTPUT is not set; is this a step of a GitHub Actions workflow?")
	}
	if h.values == "" {
		return nil
	}
	if err := checkOut(h.values); err != nil {
		return usagef("%s", strings.Replace(err.Error(), "--out", "--helm-values", 1))
	}
	return nil
}

// give writes the link to where it was requested. commands is where GitHub's
// runner reads commands from: the standard output of the step.
func (h handover) give(commands io.Writer, link api.BundleLink, job api.ExportJob) error {
	if h.github {
		if err := h.giveGitHub(commands, link, job); err != nil {
			return fmt.Errorf("writing the step's outputs: %w", err)
		}
	}
	if h.values != "" {
		if err := writeValues(h.values, link); err != nil {
			return fmt.Errorf("writing the chart's values: %w", err)
		}
	}
	return nil
}

// giveGitHub adds the step's outputs, once GitHub knows that the link is to be
// hidden in logs.
func (h handover) giveGitHub(commands io.Writer, link api.BundleLink, job api.ExportJob) error {
	var lines strings.Builder
	for _, output := range [][2]string{
		{"job-id", link.JobID},
		{"version", link.Version},
		{"sha256", link.SHA256},
		{"size-bytes", fmt.Sprint(link.SizeBytes)},
		{"pages", fmt.Sprint(job.PageCount)},
		{"expires-at", link.ExpiresAt.UTC().Format(time.RFC3339)},
		{"bundle-url", link.BundleURL},
		{"changed", "true"},
	} {
		if strings.ContainsAny(output[1], "\r\n") {
			return fmt.Errorf("%s contains a line break", output[0])
		}
		fmt.Fprintf(&lines, "%s=%s\n", output[0], output[1])
	}
	// Percent signs of a command's data are escaped; the runner undoes it.
	if _, err := fmt.Fprintf(commands, "::add-mask::%s\n", strings.ReplaceAll(link.BundleURL, "%", "%25")); err != nil {
		return err
	}
	return h.output(lines.String())
}

// output adds lines to the step's outputs.
func (h handover) output(lines string) error {
	f, err := os.OpenFile(h.outputs, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}

// writeValues writes values of the Helm chart: JSON, which is YAML as well. Only
// the file's owner may read it, and it is there as a whole or not at all.
func writeValues(file string, link api.BundleLink) error {
	text, err := json.MarshalIndent(map[string]any{"staticExport": map[string]any{
		"enabled": true, "bundleUrl": link.BundleURL, "version": link.Version, "sha256": link.SHA256,
		// Where pods get fresh links, it is those of this job from now on.
		"source": map[string]any{"jobId": link.JobID},
	}}, "", "  ")
	if err != nil {
		return err
	}
	return writeSecretly(file, append(text, '\n'))
}

// writeSecretly writes a file with a link for its owner alone: whole or not at all.
func writeSecretly(file string, text []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".values-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
