package agent

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// A Checker satisfies tool.Checker: it finds what is new compared with the original
// site, by that site's rules, which an agent can't relax. It runs no script of the
// site and makes no request.
type Checker struct {
	domain string
	rules  check.Rules
	tools  *check.Tools
	before []check.Finding
}

var _ tool.Checker = (*Checker)(nil)

// NewChecker returns a checker of changes to a site. before is what is wrong
// with it; where it is nil, all that is found is new.
func NewChecker(domain string, site fs.FS, before []check.Finding) (*Checker, error) {
	// Faults in the rules are findings of their own.
	rules, _, err := check.ReadRules(site)
	if rules == nil {
		rules = check.Rules{}
	}
	return &Checker{domain: domain, rules: rules, tools: check.NewTools(nil), before: before}, err
}

// Before makes what is wrong with a site what was there before.
func (c *Checker) Before(ctx context.Context, site fs.FS) (err error) {
	c.before, err = c.Findings(ctx, site)
	return err
}

// Check implements tool.Checker.
func (c *Checker) Check(ctx context.Context, site fs.FS, all bool) ([]tool.Finding, error) {
	now, err := c.Findings(ctx, site)
	if err != nil {
		return nil, err
	}
	if !all {
		now = check.New(c.before, now)
	}
	var found []tool.Finding
	for _, f := range now {
		found = append(found, tool.Finding{Code: f.Code, Level: string(f.Level), File: f.File, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return found, nil
}

// Findings is all that is wrong with a site. What only looks wrong because a file is
// too large to be read is not among it.
func (c *Checker) Findings(ctx context.Context, site fs.FS) ([]check.Finding, error) {
	r, err := check.Site(ctx, site, check.Options{Domain: c.domain, Rules: c.rules, Tools: c.tools})
	if err != nil {
		return nil, err
	}
	return certain(site, r.Findings), nil
}

// certain leaves out findings that files too large for the check may cause.
func certain(site fs.FS, found []check.Finding) []check.Finding {
	tree, ok := site.(interface{ LeftOut() []string })
	if !ok {
		return found
	}
	left := tree.LeftOut()
	specification, inUse := false, false
	for _, p := range left {
		switch path.Ext(p) {
		case ".json", ".yaml", ".yml":
			specification = true
			for _, name := range []string{"docs.json", "mint.json"} {
				b, err := fs.ReadFile(site, name)
				inUse = inUse || err == nil && bytes.Contains(b, []byte(path.Base(p)))
			}
		}
	}
	return slices.DeleteFunc(found, func(f check.Finding) bool {
		for _, p := range left {
			if f.File == p || strings.Contains(f.Message, p) {
				return true
			}
		}
		switch f.Code {
		case "api-operation", "api-missing", "nav-endpoint":
			return specification // it may have the operation
		case "link-missing", "fragment-missing", "nav-missing", "nav-empty":
			return inUse // its pages are not there
		}
		return false
	})
}
