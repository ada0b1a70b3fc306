package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// AllExports is what the keys of all exports' objects begin with.
const AllExports = "exports/"

// FindingsKey is the object key of a final job's findings: a line of JSON each.
func FindingsKey(job string) string { return AllExports + job + "/findings.jsonl" }

// Finding is something that an export found in a site.
type Finding struct {
	Severity string `json:"severity"` // one of Severities
	// Code names its kind, such as "link-missing".
	Code string `json:"code"`
	File string `json:"file"`
	// Line and Column count from 1; 0 where the place is unknown.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// SeverityInfo is the severity of findings that leave nothing to fix in the site.
const SeverityInfo = "info"

// Severities lists how much findings matter, the gravest first.
func Severities() []string { return []string{"error", "warning", "notice", SeverityInfo} }

// Forms of what callers may ask findings by.
const (
	// FindingsCursorPattern: a place in the object.
	FindingsCursorPattern = `^(0|[1-9][0-9]{0,11})$`
	// FindingCodePattern: words joined by hyphens.
	FindingCodePattern = `^[a-z0-9]+(-[a-z0-9]+)*$`
	MaxFindingCode     = 64   // characters
	MaxFindingFile     = 1024 // bytes
	// maxFindingsRead is how many bytes of findings are read for one page, unless the
	// first of them has more: a link that leads nowhere is quoted however long it is.
	maxFindingsRead = 1 << 20
	maxFindingText  = 16 << 10 // bytes of a message that are returned
	// findingsPause is how long the findings of a failed job may take to be there.
	findingsPause = 2 * time.Minute
)

var findingsCursorForm, findingCodeForm = lazy.Regexp(FindingsCursorPattern), lazy.Regexp(FindingCodePattern)

// FindingList asks for a page of a job's findings.
type FindingList struct {
	Job string
	// Severity, Code and File, where not empty, are those that findings have.
	Severity, Code, File string
	// Cursor is where the page before ended; empty for the first.
	Cursor string
	Limit  int // 0: DefaultPage
}

func (in FindingList) check() error {
	switch {
	case in.Severity != "" && !slices.Contains(Severities(), in.Severity):
		return FieldErrorf("severity", "must be error, warning, notice or info")
	case in.Code != "" && (len(in.Code) > MaxFindingCode || !findingCodeForm().MatchString(in.Code)):
		return FieldErrorf("code", `must be a code such as "link-missing"`)
	case len(in.File) > MaxFindingFile:
		return FieldErrorf("file", "must be at most %d bytes", MaxFindingFile)
	case in.Cursor != "" && !findingsCursorForm().MatchString(in.Cursor):
		return FieldErrorf("cursor", "is not one that a list of findings returned")
	}
	return nil
}

func (in FindingList) wants(f Finding) bool {
	return (in.Severity == "" || f.Severity == in.Severity) && (in.Code == "" || f.Code == in.Code) && (in.File == "" || f.File == in.File)
}

// Findings returns what a caller's job found in its site, in the order of its
// report, and the cursor of the next page, which is empty at the end. Of a failed
// job they are those that were found by then. A page may hold fewer than its
// limit, or none, where more follow.
//
// It returns CodeInvalid, CodeNotFound, CodeJobRunning while the job is not final
// and CodeFindingsGone where they were removed, or the job is of a release that
// did not keep them.
func (s *Service) Findings(ctx context.Context, c Caller, in FindingList) ([]Finding, string, error) {
	limit, err := checkPage(in.Limit)
	if err != nil {
		return nil, "", err
	}
	if err := in.check(); err != nil {
		return nil, "", err
	}
	j, err := s.callersJob(ctx, c, in.Job)
	if err != nil {
		return nil, "", err
	}
	if !j.Status.Final() {
		return nil, "", Errorf(CodeJobRunning, "the export is %s: its findings come with its end", j.Status).After(s.opt.PollAfter)
	}
	at, _ := strconv.ParseInt(in.Cursor, 10, 64) // the form is a number's; 0 for none
	data, more, err := s.findingLines(ctx, j.ID, at)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return []Finding{}, "", s.noFindings(j)
	case errors.Is(err, store.ErrRange):
		return []Finding{}, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("findings of %s: %w", j.ID, err)
	}
	found := []Finding{}
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			break // the next page begins with it
		}
		var f Finding
		if err := json.Unmarshal(line, &f); err != nil {
			if at == 0 || len(found) > 0 {
				return nil, "", fmt.Errorf("findings of %s: %w", j.ID, err)
			}
			return nil, "", FieldErrorf("cursor", "is not one that a list of findings returned")
		}
		if in.wants(f) {
			if len(found) == limit {
				return found, strconv.FormatInt(at, 10), nil
			}
			f.Message = cutText(f.Message, maxFindingText)
			found = append(found, f)
		}
		at += int64(len(line) + 1)
		data = rest
	}
	if more {
		return found, strconv.FormatInt(at, 10), nil
	}
	return found, "", nil
}

// noFindings returns why a final job has no list of findings; nil if it found
// nothing.
func (s *Service) noFindings(j ExportJob) error {
	switch failed := j.Status == ExportFailed; {
	case failed && s.now().Sub(j.UpdatedAt) < findingsPause:
		// They are gathered by whoever ends the workflow, after the job has failed.
		return Errorf(CodeJobRunning, "the findings of the export are being gathered").After(s.opt.PollAfter)
	case failed && j.Failure.Code == CodeCancelled && j.Plan.Renderer == "":
		return nil // it was cancelled before it had a workflow that somebody ends
	}
	return Errorf(CodeFindingsGone, "the findings of this export are no longer kept")
}

// findingLines reads the findings of a job from a place on: at least one line, if
// there is one, and reports whether more may follow.
func (s *Service) findingLines(ctx context.Context, job string, at int64) (data []byte, more bool, err error) {
	for size := int64(maxFindingsRead); ; size *= 4 {
		body, err := s.opt.Objects.Get(ctx, FindingsKey(job), at, size)
		if err != nil {
			return nil, false, err
		}
		data, err = io.ReadAll(body)
		_ = body.Close() // it was read
		if more = int64(len(data)) == size; err != nil || !more || bytes.IndexByte(data, '\n') >= 0 {
			return data, more, err
		}
	}
}
