package check

import (
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Finding is something that the authors of a site should know. Its JSON is a line of
// a bundle's list.
type Finding struct {
	Level mdx.Severity `json:"severity"`
	// Code is a stable name such as "link-missing"; Codes lists all of them.
	Code string `json:"code"`
	// File is a path below the site's root.
	File string `json:"file"`
	// Line and Column count from 1; 0 where the place is unknown. Columns count
	// bytes.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	// Page is the source of the first page that shows the fault, where that is
	// another file.
	Page string `json:"page,omitempty"`
}

// Group holds the findings of one cause: the same level, code and message.
type Group struct {
	Finding     // the first
	Times   int // number of findings
}

// Groups joins findings of one cause, in the order of the first of each.
func Groups(list []Finding) []Group {
	type cause struct {
		level         mdx.Severity
		code, message string
	}
	at := make(map[cause]int, len(list))
	var out []Group
	for _, f := range list {
		key := cause{f.Level, f.Code, f.Message}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{Finding: f})
		}
		out[i].Times++
	}
	return out
}

// Counts are how many findings there are by level.
type Counts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notices  int `json:"notices"`
	Infos    int `json:"infos"`
}

// count adds n findings of a level.
func (c *Counts) count(level mdx.Severity, n int) {
	switch level {
	case mdx.Error:
		c.Errors += n
	case mdx.Warning:
		c.Warnings += n
	case mdx.Info:
		c.Infos += n
	default:
		c.Notices += n
	}
}

// All is the number of all findings.
func (c Counts) All() int { return c.Errors + c.Warnings + c.Notices + c.Infos }

// Count counts findings.
func Count(list []Finding) Counts {
	var c Counts
	for i := range list {
		c.count(list[i].Level, 1)
	}
	return c
}

// same identifies a finding. Lines are not part of it, as they move.
type same struct{ code, file, message string }

// New returns the findings of now that are not among those of before, in their
// order. The line of a finding doesn't matter; if there are more equal ones than
// before, the last ones are new.
func New(before, now []Finding) []Finding {
	known := make(map[same]int, len(before))
	for _, f := range before {
		known[same{f.Code, f.File, f.Message}]++
	}
	var fresh []Finding
	for _, f := range now {
		key := same{f.Code, f.File, f.Message}
		if known[key] > 0 {
			known[key]--
			continue
		}
		fresh = append(fresh, f)
	}
	return fresh
}
