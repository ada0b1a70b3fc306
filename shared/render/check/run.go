package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/bindery-docs/bindery/shared/render/rulesfile"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Setting is one that a folder has for exports by the program itself. It is named as
// the flag that wins over it.
type Setting struct {
	Key string
	// Values are what is written, one unless the setting is a list.
	Values       []string
	Line, Column int
}

// RunKeys are the names of all settings, sorted.
func RunKeys() []string {
	return []string{
		"allow-host", "analytics-id", "assistant", "base-path", "canonical-html", "domain", "feedback", "kind", "path", "playground", "search", "site-analytics",
	}
}

// setting reads one setting. What its value means is for those to say who honour it.
func (r *ruleReader) setting(key string, at, value ast.Node) {
	keys := RunKeys()
	if !slices.Contains(keys, key) {
		r.file.Fault(at, "unknown key %q: the keys of \"run\" are %s", rulesfile.Short(key), strings.Join(keys, ", "))
		return
	}
	if slices.ContainsFunc(r.run, func(s Setting) bool { return s.Key == key }) {
		r.file.Fault(at, "%q is set twice", key)
		return
	}
	s := Setting{Key: key}
	if t := at.GetToken(); t != nil && t.Position != nil {
		s.Line, s.Column = t.Position.Line, t.Position.Column
	}
	list, many := value.(*ast.SequenceNode)
	if many && key != "allow-host" && key != "path" {
		r.file.Fault(value, "%q is not a list", key)
		return
	}
	nodes := []ast.Node{value}
	if many {
		nodes = list.Values
	}
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.StringNode:
			s.Values = append(s.Values, n.Value)
		case *ast.BoolNode:
			s.Values = append(s.Values, n.GetToken().Value)
		default:
			r.file.Fault(n, "the value of %q must be a text, true or false", key)
			return
		}
	}
	r.run = append(r.run, s)
}

// Place returns where a setting stands, as "file:line:column".
func (s Setting) Place() string { return fmt.Sprintf("%s:%d:%d", site.RulesFile, s.Line, s.Column) }
