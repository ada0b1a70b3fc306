package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

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
	info, err := fs.Stat(fsys, site.RulesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > maxRules {
		return nil, []mdx.Diagnostic{ruleFault(1, 1, "the file has more than %d KiB", maxRules>>10)}, nil
	}
	data, err := fs.ReadFile(fsys, site.RulesFile)
	if err != nil {
		return nil, nil, err
	}
	rules, faults := parseRules(data)
	return rules, faults, nil
}

// rulesCode is the code of findings about rules.
const rulesCode = "check-rules"

// ruleFault returns a finding about the file of rules.
func ruleFault(line, column int, format string, args ...any) mdx.Diagnostic {
	return mdx.Diagnostic{Severity: mdx.Error, Code: rulesCode, File: site.RulesFile, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// parseRules reads a file of rules. It walks the syntax tree and follows no alias,
// so that no file can unfold into something huge.
func parseRules(src []byte) (rules Rules, faults []mdx.Diagnostic) {
	if depth := strings.Count(string(src), "[") + strings.Count(string(src), "{"); depth > maxNesting {
		return nil, []mdx.Diagnostic{ruleFault(1, 1, "the file has more than %d brackets", maxNesting)}
	}
	defer func() {
		// No file may end a check because of a panic in the parser.
		if p := recover(); p != nil {
			rules, faults = nil, []mdx.Diagnostic{ruleFault(1, 1, "the file can't be read as YAML")}
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
		return nil, []mdx.Diagnostic{ruleFault(line, column, "%s", message)}
	}
	r := ruleReader{rules: Rules{}, codes: Codes()}
	for i, doc := range tree.Docs {
		if i > 0 {
			r.fault(doc.Body, "the file has more than one document")
			break
		}
		r.fields(doc.Body, "the file", func(key string, at, value ast.Node) {
			if key != "check" {
				r.fault(at, "unknown key %q: the only key is \"check\"", short(key))
				return
			}
			r.fields(value, `"check"`, r.rule)
		})
	}
	return r.rules, r.faults
}

// ruleReader collects the rules of a file.
type ruleReader struct {
	rules  Rules
	codes  []Code
	faults []mdx.Diagnostic
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

// rule reads the level of one code.
func (r *ruleReader) rule(code string, at, value ast.Node) {
	if !slices.ContainsFunc(r.codes, func(c Code) bool { return c.Name == code }) {
		r.fault(at, "unknown code %q%s", short(code), r.like(code))
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
	case Off, mdx.Notice, mdx.Warning, mdx.Error:
		r.rules[code] = level
	default:
		r.fault(cmp.Or(value, at), "the level of %s must be off, notice, warning or error", code)
	}
}

// like suggests the code that was probably meant.
func (r *ruleReader) like(code string) string {
	names := make([]string, len(r.codes))
	for i, c := range r.codes {
		names[i] = c.Name
	}
	if near := site.Nearest(code, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// short truncates a text for a message.
func short(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
