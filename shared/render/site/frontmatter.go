package site

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Limits of a page's head; real ones have a few hundred bytes. The YAML parser
// takes time that grows with the square of some heads, of nested brackets most.
const (
	maxFrontMatter = 64 << 10
	maxNesting     = 32
)

// field is one entry of a page's head: a scalar, or a list of scalars, or the
// fields of an object ("name" and so on) one level down.
type field struct {
	text   string
	list   []string
	fields map[string]string
	// present is set where the entry has a value, of whatever kind.
	present bool
}

// isTrue takes true, also in quotes.
func (f field) isTrue() bool { return f.text == "true" || f.text == "True" || f.text == "TRUE" }

// frontMatter reads a page's YAML head. The returned diagnostic says what is
// wrong; what could be read is used all the same.
func frontMatter(file string, src []byte) (map[string]field, *mdx.Diagnostic) {
	if len(src) == 0 {
		return nil, nil
	}
	if len(src) > maxFrontMatter {
		return nil, &mdx.Diagnostic{Severity: mdx.Error, Code: "front-matter", File: file, Line: 1, Column: 1,
			Message: fmt.Sprintf("the front matter has more than %d KiB", maxFrontMatter>>10)}
	}
	if f, ok := simpleYAML(string(src)); ok {
		return f, nil
	}
	return fullYAML(file, src)
}

// headingKey is the field that Head adds to a page's head.
const headingKey = "bindery-first-heading"

// Head returns the front matter of a page. Without a title, it has one more field: the
// first heading, if it is of level 1 and begins the page. It is the page's title.
func Head(src []byte) []byte {
	yaml, from := mdx.SplitFrontMatter(src)
	for line := range bytes.Lines(yaml) {
		key, _, field := bytes.Cut(line, []byte{':'})
		if field && string(bytes.Trim(key, " \"'")) == "title" && line[0] != ' ' {
			return yaml
		}
	}
	heading := firstHeading(src[from.Offset:])
	if heading == "" {
		return yaml
	}
	out := bytes.Clone(yaml)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return append(out, headingKey+": "+strconv.Quote(heading)+"\n"...)
}

// withoutComments returns a line without the comments of HTML in it, which no page
// shows. Code keeps its signs.
func withoutComments(line string) string {
	for from := 0; ; {
		at := strings.Index(line[from:], "<!--")
		if at < 0 {
			return line
		}
		at += from
		if before := line[:at]; strings.Count(before, "`")%2 == 1 || strings.HasSuffix(before, `\\`) {
			from = at + 1
			continue
		}
		end := strings.Index(line[at:], "-->")
		if end < 0 {
			return line[:at]
		}
		line, from = line[:at]+line[at+end+len("-->"):], at
	}
}

// firstHeading returns the words of the heading of the first level that begins a page,
// "" where the page begins with something else than imports and comments.
func firstHeading(body []byte) string {
	for len(body) > 0 {
		line := body
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			line, body = body[:i], body[i+1:]
		} else {
			body = nil
		}
		text := strings.TrimSpace(string(line))
		comment := strings.HasPrefix(text, "{/*") && strings.HasSuffix(text, "*/}") || strings.HasPrefix(text, "<!--") && strings.HasSuffix(text, "-->")
		if text == "" || comment || strings.HasPrefix(text, "import ") {
			continue
		}
		if len(line)-len(bytes.TrimLeft(line, " ")) > 3 || !utf8.ValidString(text) {
			return ""
		}
		if rest, ok := strings.CutPrefix(text, "# "); ok {
			text = strings.TrimRight(rest, "#")
			if text != rest && !strings.HasSuffix(text, " ") {
				text = rest // "C#"
			}
		} else {
			under, _, _ := bytes.Cut(body, []byte{'\n'})
			if u := strings.TrimSpace(string(under)); u == "" || strings.Trim(u, "=") != "" {
				return ""
			}
		}
		text = strings.TrimSpace(withoutComments(text))
		if i := strings.LastIndex(text, "{#"); i > 0 && strings.HasSuffix(text, "}") {
			text = strings.TrimSpace(text[:i]) // without the id
		}
		var words strings.Builder
		for _, n := range mdx.ParseInline(text) {
			words.WriteString(mdx.PlainText(n))
		}
		return strings.Join(strings.Fields(words.String()), " ")
	}
	return ""
}

// simpleYAML reads what nearly every head is: one "key: value" a line, with a
// plain scalar or one in quotes without escapes. It returns false for all
// else. It exists because a site has tens of thousands of heads, and a YAML
// parser takes a hundred times as long.
func simpleYAML(src string) (map[string]field, bool) {
	out := make(map[string]field, 4)
	for len(src) > 0 {
		line := src
		if i := strings.IndexByte(src, '\n'); i >= 0 {
			line, src = src[:i], src[i+1:]
		} else {
			src = ""
		}
		line = strings.TrimRight(strings.TrimSuffix(line, "\r"), " ")
		if strings.IndexFunc(line, isControl) >= 0 {
			return nil, false
		}
		if line == "" || line[0] == '#' {
			continue
		}
		i := 0
		for i < len(line) && (isAlnum(line[i]) || line[i] == '_' || i > 0 && line[i] == '-') {
			i++
		}
		if i == 0 || i+1 >= len(line) || line[i] != ':' || line[i+1] != ' ' {
			return nil, false
		}
		key, val := line[:i], strings.TrimLeft(line[i+1:], " ")
		if _, twice := out[key]; twice {
			return nil, false
		}
		text, ok := simpleScalar(val)
		if !ok {
			return nil, false
		}
		out[key] = field{text: text, present: true}
	}
	return out, true
}

// simpleScalar reads a value that is not empty. It returns false for one that
// only a YAML parser understands.
func simpleScalar(val string) (string, bool) {
	switch c := val[0]; {
	case c == '"' || c == '\'':
		if len(val) < 2 || val[len(val)-1] != c {
			return "", false
		}
		val = val[1 : len(val)-1]
		return val, strings.IndexByte(val, c) < 0 && (c != '"' || strings.IndexByte(val, '\\') < 0)
	case isAlnum(c) || c >= 0x80 || c == '/':
		unclear := strings.Contains(val, ": ") || strings.Contains(val, " #") || strings.HasSuffix(val, ":")
		return val, !unclear && !strings.EqualFold(val, "null")
	}
	return "", false
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// fullYAML reads a head with the YAML parser. It walks the syntax tree and
// never follows aliases, so that no head can unfold into something huge.
func fullYAML(file string, src []byte) (out map[string]field, diag *mdx.Diagnostic) {
	fail := func(line, column int, message string) *mdx.Diagnostic {
		return &mdx.Diagnostic{Severity: mdx.Error, Code: "front-matter", File: file, Line: line, Column: column, Message: message}
	}
	if depth := nesting(src); depth > maxNesting {
		return nil, fail(2, 1, "the front matter has brackets nested too deeply")
	}
	defer func() {
		// The parser is another's; no head may end an export.
		if p := recover(); p != nil {
			diag = fail(1, 1, "the front matter can't be read as YAML")
		}
	}()
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		line, column, message := 1, 1, "the front matter is not YAML"
		if ye, ok := errors.AsType[yaml.Error](err); ok {
			message += ": " + ye.GetMessage()
			if t := ye.GetToken(); t != nil && t.Position != nil {
				// The head begins on the page's second line.
				line, column = t.Position.Line+1, t.Position.Column
			}
		}
		return nil, fail(line, column, message)
	}
	out = make(map[string]field)
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		values := mappingValues(doc.Body)
		if values == nil {
			if doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.CommentGroupType {
				continue
			}
			return out, fail(2, 1, "the front matter is not a list of \"key: value\" lines")
		}
		for _, mv := range values {
			value := unwrap(mv.Value)
			f := field{present: value != nil && value.Type() != ast.NullType}
			switch v := value.(type) {
			case *ast.SequenceNode:
				for _, item := range v.Values {
					if s, ok := scalarText(unwrap(item)); ok {
						f.list = append(f.list, s)
					}
				}
			default:
				if s, ok := scalarText(v); ok {
					f.text = s
				} else if inner := mappingValues(v); inner != nil {
					f.fields = make(map[string]string, len(inner))
					for _, kv := range inner {
						if s, ok := scalarText(unwrap(kv.Value)); ok {
							f.fields[keyText(kv)] = s
						}
					}
				}
			}
			out[keyText(mv)] = f
		}
	}
	return out, nil
}

// nesting is how deep brackets lie in each other, at most; brackets in quotes
// count too.
func nesting(src []byte) int {
	depth, most := 0, 0
	for _, c := range src {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

func mappingValues(n ast.Node) []*ast.MappingValueNode {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	return nil
}

func keyText(mv *ast.MappingValueNode) string {
	if s, ok := scalarText(mv.Key); ok {
		return s
	}
	return ""
}

// unwrap takes anchors and tags off a node.
func unwrap(n ast.Node) ast.Node {
	for range 8 {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
	return n
}

// scalarText returns the text of a scalar as the author wrote it, quotes and
// escapes resolved. Null is not a scalar here: it means "not said".
func scalarText(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(v.Value.Value, "\n"), true
	case *ast.NullNode, nil:
		return "", false
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}
