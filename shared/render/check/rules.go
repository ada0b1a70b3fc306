package check

import (
	"cmp"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/bindery-docs/bindery/shared/base/ignore"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Off is the level of findings that are left out.
const Off mdx.Severity = "off"

// Rules are the levels that a site's own rules set for findings, by code. Nil
// leaves all as they are.
type Rules map[string]mdx.Severity

// apply sets a finding's level and reports whether the finding is kept.
func (r Rules) apply(d *mdx.Diagnostic) bool {
	d.Severity = cmp.Or(r[d.Code], d.Severity)
	return d.Severity != Off
}

// maxNesting is the greatest depth of JSON in a site.
const maxNesting = 100

// ReadRules reads the rules of the site in fsys from its file site.RulesFile. Faults
// in the file are returned as findings, and the other rules still apply. The error is
// about reading the file.
func ReadRules(fsys fs.FS) (Rules, []mdx.Diagnostic, error) {
	r, err := readRules(fsys)
	return r.rules, r.faults, err
}

// ReadRun reads what the rules' file sets for exports of its folder by the program
// itself. A server does not: its projects' records say what they may. Findings are
// the file's faults that concern this part. The error is about reading the file.
func ReadRun(fsys fs.FS) ([]Setting, []mdx.Diagnostic, error) {
	r, err := readRules(fsys)
	return r.run, r.runFaults, err
}

// ReadPublish reads the patterns of files that a site publishes beside the types that the
// format serves. ReadRules reports faults in the file. ReadPublish returns an error if it
// can't read the file.
func ReadPublish(fsys fs.FS) (ignore.Rules, error) {
	r, err := readRules(fsys)
	return r.publish, err
}

// readRules reads the file; it is empty where there is none.
func readRules(fsys fs.FS) (*ruleReader, error) {
	r := newRuleReader()
	f, err := rulesfile.Read(fsys, r.sections())
	if f == nil {
		return new(ruleReader), err
	}
	r.take(f)
	return r, nil
}

func newRuleReader() *ruleReader { return &ruleReader{rules: Rules{}, codes: Codes()} }

// sections read what is this package's.
func (r *ruleReader) sections() rulesfile.Sections {
	return rulesfile.Sections{
		"check": func(f *rulesfile.File, value ast.Node) {
			r.file = f
			f.Fields(value, `"check"`, r.rule)
		},
		"run": func(f *rulesfile.File, value ast.Node) {
			before := len(f.Faults)
			r.file = f
			f.Fields(value, `"run"`, r.setting)
			r.runFaults = findings(f.Faults[before:])
		},
	}
}

// take ends the reading of a file.
func (r *ruleReader) take(f *rulesfile.File) {
	faults := findings(f.Faults)
	if f.Unusable {
		*r = ruleReader{faults: faults, runFaults: faults}
		return
	}
	r.faults, r.publish = faults, f.Publish
}

// rulesCode is the code of findings about rules.
const rulesCode = "check-rules"

// findings are the faults of the file of rules.
func findings(faults []rulesfile.Fault) []mdx.Diagnostic {
	var all []mdx.Diagnostic
	for _, f := range faults {
		all = append(all, mdx.Diagnostic{Severity: mdx.Error, Code: rulesCode, File: site.RulesFile, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return all
}

// ruleReader collects the rules of a file.
type ruleReader struct {
	file      *rulesfile.File // while it is read
	rules     Rules
	ignored   []*regexp.Regexp // addresses of other sites that nobody asks for
	codes     []Code
	faults    []mdx.Diagnostic
	run       []Setting
	runFaults []mdx.Diagnostic // those of faults that concern run
	publish   ignore.Rules
}

// rule reads the level of one code.
func (r *ruleReader) rule(code string, at, value ast.Node) {
	if code == "external" {
		r.file.Fields(value, `"external"`, r.external)
		return
	}
	if !slices.ContainsFunc(r.codes, func(c Code) bool { return c.Name == code }) {
		r.file.Fault(at, "unknown code %q%s", rulesfile.Short(code), like(r.codes, code))
		return
	}
	if code == rulesCode {
		r.file.Fault(at, "the level of %s can't be set: these findings are about the rules themselves", code)
		return
	}
	word := ""
	if s, ok := value.(*ast.StringNode); ok {
		word = s.Value
	}
	switch level := mdx.Severity(word); level {
	case Off, mdx.Info, mdx.Notice, mdx.Warning, mdx.Error:
		r.rules[code] = level
	default:
		r.file.Fault(cmp.Or(value, at), "the level of %s must be off, info, notice, warning or error", code)
	}
}

// external reads which links to other sites are not asked for.
func (r *ruleReader) external(key string, at, value ast.Node) {
	list, ok := value.(*ast.SequenceNode)
	switch {
	case key != "ignore":
		r.file.Fault(at, "unknown key %q: the only key of \"external\" is \"ignore\"", rulesfile.Short(key))
		return
	case !ok:
		r.file.Fault(cmp.Or(value, at), "\"ignore\" must be a list of addresses, in which * stands for anything")
		return
	}
	for _, v := range list.Values {
		s, ok := v.(*ast.StringNode)
		if !ok {
			r.file.Fault(v, "an address that is ignored must be a text")
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(s.Value), `\*`, ".*")
		if p, err := regexp.Compile("^" + pattern + "$"); err == nil {
			r.ignored = append(r.ignored, p)
		}
	}
}
