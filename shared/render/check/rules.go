package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/bindery-docs/bindery/shared/base/ignore"
	"github.com/bindery-docs/bindery/shared/render/mdx"
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

// Limits of a file of rules, far above what authors write.
const (
	maxRules   = 64 << 10
	maxNesting = 100
)

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
	r := new(ruleReader)
	info, err := fs.Stat(fsys, site.RulesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if info.Size() > maxRules {
		r.whole(1, 1, fmt.Sprintf("the file has more than %d KiB", maxRules>>10))
		return r, nil
	}
	data, err := fs.ReadFile(fsys, site.RulesFile)
	if err == nil {
		r.parse(data)
	}
	return r, err
}

// whole makes a fault of the whole file the only thing that is known of it.
func (r *ruleReader) whole(line, column int, message string) {
	faults := []mdx.Diagnostic{ruleFault(line, column, "%s", message)}
	*r = ruleReader{faults: faults, runFaults: faults}
}

// rulesCode is the code of findings about rules.
const rulesCode = "check-rules"

// ruleFault returns a finding about the file of rules.
func ruleFault(line, column int, format string, args ...any) mdx.Diagnostic {
	return mdx.Diagnostic{Severity: mdx.Error, Code: rulesCode, File: site.RulesFile, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// parse reads a file of rules. It walks the syntax tree and follows no alias,
// so that no file can unfold into something huge.
func (r *ruleReader) parse(src []byte) {
	if depth := strings.Count(string(src), "[") + strings.Count(string(src), "{"); depth > maxNesting {
		r.whole(1, 1, fmt.Sprintf("the file has more than %d brackets", maxNesting))
		return
	}
	defer func() {
		// No file may end a check because of a panic in the parser.
		if p := recover(); p != nil {
			r.whole(1, 1, "the file can't be read as YAML")
		}
	}()
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		line, column, message := 1, 1, "the file is not YAML"
		if fault, ok := errors.AsType[yaml.Error](err); ok {
			message += ": " + fault.GetMessage()
			if t := fault.GetToken(); t != nil && t.Position != nil {
				line, column = t.Position.Line, t.Position.Column
			}
		}
		r.whole(line, column, message)
		return
	}
	r.rules, r.codes = Rules{}, Codes()
	for i, doc := range tree.Docs {
		if i > 0 {
			r.fault(doc.Body, "the file has more than one document")
			break
		}
		r.fields(doc.Body, "the file", func(key string, at, value ast.Node) {
			switch key {
			case "check":
				r.fields(value, `"check"`, r.rule)
			case "run":
				before := len(r.faults)
				r.fields(value, `"run"`, r.setting)
				r.runFaults = slices.Clone(r.faults[before:])
			case "publish":
				r.published(value)
			default:
				r.fault(at, "unknown key %q: the keys are \"check\", \"publish\" and \"run\"", short(key))
			}
		})
	}
}

// ruleReader collects the rules of a file.
type ruleReader struct {
	rules     Rules
	ignored   []*regexp.Regexp // addresses of other sites that nobody asks for
	codes     []Code
	faults    []mdx.Diagnostic
	run       []Setting
	runFaults []mdx.Diagnostic // those of faults that concern run
	publish   ignore.Rules
}

// fault adds a finding at a node; nil stands for the beginning of the file.
func (r *ruleReader) fault(at ast.Node, format string, args ...any) {
	line, column := 1, 1
	if at != nil {
		if t := at.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	r.faults = append(r.faults, ruleFault(line, column, format, args...))
}

// fields calls fn with the members of an object. An empty value has none.
func (r *ruleReader) fields(n ast.Node, what string, fn func(key string, at, value ast.Node)) {
	var members []*ast.MappingValueNode
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentNode, *ast.CommentGroupNode:
		return
	case *ast.MappingNode:
		members = n.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{n}
	default:
		r.fault(n, "%s is not a list of \"key: value\" lines", what)
		return
	}
	for _, m := range members {
		key := ""
		if t := m.Key.GetToken(); t != nil {
			key = t.Value
		}
		fn(key, m.Key, m.Value)
	}
}

// published reads which files are published besides those that the format serves.
func (r *ruleReader) published(value ast.Node) {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		r.fault(value, "\"publish\" must be a list of patterns, in the form of a .gitignore")
		return
	}
	var lines strings.Builder
	for _, v := range list.Values {
		s, ok := v.(*ast.StringNode)
		if !ok || strings.ContainsAny(s.Value, "\r\n") || ignore.Parse(s.Value) == nil {
			r.fault(v, "a pattern of \"publish\" must be a text such as \"*.txt\" or \"downloads/\"")
			continue
		}
		lines.WriteString(s.Value + "\n")
	}
	r.publish = ignore.Parse(lines.String())
}

// rule reads the level of one code.
func (r *ruleReader) rule(code string, at, value ast.Node) {
	if code == "external" {
		r.fields(value, `"external"`, r.external)
		return
	}
	if !slices.ContainsFunc(r.codes, func(c Code) bool { return c.Name == code }) {
		r.fault(at, "unknown code %q%s", short(code), like(r.codes, code))
		return
	}
	if code == rulesCode {
		r.fault(at, "the level of %s can't be set: these findings are about the rules themselves", code)
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
		r.fault(cmp.Or(value, at), "the level of %s must be off, info, notice, warning or error", code)
	}
}

// external reads which links to other sites are not asked for.
func (r *ruleReader) external(key string, at, value ast.Node) {
	list, ok := value.(*ast.SequenceNode)
	switch {
	case key != "ignore":
		r.fault(at, "unknown key %q: the only key of \"external\" is \"ignore\"", short(key))
		return
	case !ok:
		r.fault(cmp.Or(value, at), "\"ignore\" must be a list of addresses, in which * stands for anything")
		return
	}
	for _, v := range list.Values {
		s, ok := v.(*ast.StringNode)
		if !ok {
			r.fault(v, "an address that is ignored must be a text")
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(s.Value), `\*`, ".*")
		if p, err := regexp.Compile("^" + pattern + "$"); err == nil {
			r.ignored = append(r.ignored, p)
		}
	}
}

// short truncates a text for a message.
func short(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
