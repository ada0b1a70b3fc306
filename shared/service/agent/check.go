package agent

import (
	"context"
	"io/fs"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// checker is the tools' Checker: it finds what is new against the site before.
// It runs no script of the site and asks no host.
type checker struct {
	project admin.Project
	before  []check.Finding
}

var _ tool.Checker = checker{}

// Check implements tool.Checker.
func (c checker) Check(ctx context.Context, site fs.FS) ([]tool.Finding, error) {
	now, err := findings(ctx, c.project, site)
	if err != nil {
		return nil, err
	}
	var found []tool.Finding
	for _, f := range check.New(c.before, now) {
		found = append(found, tool.Finding{Code: f.Code, Level: string(f.Level), File: f.File, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return found, nil
}

// findings is all that is wrong with a site.
func findings(ctx context.Context, p admin.Project, site fs.FS) ([]check.Finding, error) {
	r, err := check.Site(ctx, site, check.Options{Domain: p.Domain})
	if err != nil {
		return nil, err
	}
	return r.Findings, nil
}
