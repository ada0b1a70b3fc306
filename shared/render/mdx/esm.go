package mdx

import "strings"

// Import is one import statement.
type Import struct {
	// Default is the local name of the default export, Namespace that of
	// everything (import * as name); empty where not imported.
	Default, Namespace string
	Names              []ImportName
	// Path is the module as written.
	Path string
}

// ImportName is one name in the braces of an import: {Name as Local}.
type ImportName struct{ Name, Local string }

// ExportKind tells what an export statement exports.
type ExportKind uint8

// The kinds of exports.
const (
	ExportValue    ExportKind = iota // export const Name = Value
	ExportFunction                   // export function Name …; Value is the whole declaration
	ExportClass                      // export class Name …; Value is the whole declaration
	ExportDefault                    // export default Value
	ExportOther                      // anything else; Value is the source behind export
)

// Export is one exported name or statement.
type Export struct {
	Kind  ExportKind
	Name  string
	Value string
	// Offset is where Value begins in the source of the statements.
	Offset int
}

// ParseESM reads the import and export statements of an ESM node's Value.
// Statements that it cannot read are left out; Parse lets none through.
func ParseESM(value string) ([]Import, []Export) {
	e := readESM(value)
	return e.imports, e.exports
}

// checkESM returns where the statements go wrong and what was expected there;
// nothing expected means that they are fine.
func checkESM(value string) (int, string) {
	e := readESM(value)
	return min(e.errAt, len(value)), e.want
}

type esmReader struct {
	s       string
	i       int
	imports []Import
	exports []Export
	errAt   int
	want    string
}

func readESM(s string) *esmReader {
	e := &esmReader{s: s}
	for e.want == "" {
		e.space()
		for e.i < len(s) && s[e.i] == ';' {
			e.i++
			e.space()
		}
		if e.i >= len(s) {
			break
		}
		switch start := e.i; e.word() {
		case "import":
			e.importStatement()
		case "export":
			e.exportStatement()
		default:
			e.i = start
			e.expect("import or export")
		}
	}
	return e
}

func (e *esmReader) expect(what string) {
	if e.want == "" {
		e.errAt, e.want = e.i, what
	}
}

// space skips white space and comments.
func (e *esmReader) space() {
	for e.i < len(e.s) {
		rest := e.s[e.i:]
		switch {
		case isSpaceOrEOL(rest[0]) || rest[0] == '\r':
			e.i++
		case strings.HasPrefix(rest, "//"):
			if k := strings.IndexByte(rest, '\n'); k >= 0 {
				e.i += k
			} else {
				e.i = len(e.s)
			}
		case strings.HasPrefix(rest, "/*"):
			if k := strings.Index(rest[2:], "*/"); k >= 0 {
				e.i += k + 4
			} else {
				e.i = len(e.s)
			}
		default:
			return
		}
	}
}

// word reads an identifier.
func (e *esmReader) word() string {
	start := e.i
	for k, r := range e.s[start:] {
		if k == 0 && !isIDStart(r) || !isIDPart(r) {
			e.i = start + k
			return e.s[start:e.i]
		}
	}
	e.i = len(e.s)
	return e.s[start:]
}

// sign takes a sign, if it is next.
func (e *esmReader) sign(c byte) bool {
	start := e.i
	e.space()
	if e.i < len(e.s) && e.s[e.i] == c {
		e.i++
		return true
	}
	e.i = start
	return false
}

// keyword takes a word, if it is next.
func (e *esmReader) keyword(w string) bool {
	start := e.i
	e.space()
	if e.word() == w {
		return true
	}
	e.i = start
	return false
}

// str reads a string.
func (e *esmReader) str() (string, bool) {
	start := e.i
	e.space()
	if e.i >= len(e.s) || e.s[e.i] != '"' && e.s[e.i] != '\'' {
		e.i = start
		return "", false
	}
	l := literal{s: e.s, i: e.i}
	v, ok := l.str()
	if ok {
		e.i = l.i
	}
	return v, ok
}

// end takes the end of a statement: a semicolon, a new line or the end.
func (e *esmReader) end() {
	start := e.i
	e.space()
	if e.i < len(e.s) && e.s[e.i] == ';' {
		e.i++
		return
	}
	if e.i < len(e.s) && strings.IndexByte(e.s[start:e.i], '\n') < 0 {
		e.expect("the end of the statement")
	}
}

func (e *esmReader) importStatement() {
	e.space()
	var im Import
	if path, ok := e.str(); ok {
		im.Path = path
		e.attributes()
		e.imports = append(e.imports, im)
		return
	}
	if name := e.word(); name != "" {
		im.Default = name
		if !e.sign(',') {
			e.importPath(im)
			return
		}
		e.space()
	}
	switch {
	case e.sign('*'):
		if !e.keyword("as") {
			e.expect("`as`")
			return
		}
		e.space()
		if im.Namespace = e.word(); im.Namespace == "" {
			e.expect("a name")
			return
		}
	case e.sign('{'):
		if im.Names = e.names(); e.want != "" {
			return
		}
	default:
		e.expect("a name, {, * or a path in quotes")
		return
	}
	e.importPath(im)
}

func (e *esmReader) importPath(im Import) {
	if !e.keyword("from") {
		e.expect("`from`")
		return
	}
	path, ok := e.str()
	if !ok {
		e.expect("a path in quotes")
		return
	}
	im.Path = path
	e.attributes()
	e.imports = append(e.imports, im)
}

// attributes skips with {type: "json"}, and takes the end of the statement.
func (e *esmReader) attributes() {
	if e.keyword("with") {
		if !e.sign('{') {
			e.expect("{")
			return
		}
		for e.i < len(e.s) && e.s[e.i] != '}' {
			e.i++
		}
		e.i++
	}
	e.end()
}

// names reads a, b as c} behind the brace.
func (e *esmReader) names() []ImportName {
	var out []ImportName
	for {
		if e.sign('}') {
			return out
		}
		e.space()
		name, ok := e.str()
		if !ok {
			name = e.word()
		}
		if name == "" {
			e.expect("a name or }")
			return nil
		}
		n := ImportName{Name: name, Local: name}
		if e.keyword("as") {
			e.space()
			if n.Local, ok = e.str(); !ok {
				n.Local = e.word()
			}
			if n.Local == "" {
				e.expect("a name")
				return nil
			}
		}
		out = append(out, n)
		if !e.sign(',') {
			if !e.sign('}') {
				e.expect(", or }")
				return nil
			}
			return out
		}
	}
}

func (e *esmReader) exportStatement() {
	e.space()
	start := e.i
	other := func() {
		e.exports = append(e.exports, Export{Kind: ExportOther, Value: strings.TrimSpace(e.s[start:e.i]), Offset: start})
	}
	switch {
	case e.sign('{'):
		e.names()
		if e.want != "" {
			return
		}
		if e.keyword("from") {
			if _, ok := e.str(); !ok {
				e.expect("a path in quotes")
				return
			}
			e.attributes()
		} else {
			e.end()
		}
		other()
		return
	case e.sign('*'):
		if e.keyword("as") {
			e.space()
			e.word()
		}
		if !e.keyword("from") {
			e.expect("`from`")
			return
		}
		if _, ok := e.str(); !ok {
			e.expect("a path in quotes")
			return
		}
		e.attributes()
		other()
		return
	}
	word := e.word()
	switch word {
	case "default":
		e.space()
		from := e.i
		e.statement()
		e.exports = append(e.exports, Export{Kind: ExportDefault, Value: trimStatement(e.s[from:e.i]), Offset: from})
	case "const", "let", "var":
		e.declarations(start)
	case "async", "function", "class":
		kind := ExportFunction
		if word == "async" && !e.keyword("function") {
			e.expect("`function`")
			return
		}
		if word == "class" {
			kind = ExportClass
		}
		e.sign('*')
		e.space()
		name := e.word()
		if name == "" {
			e.expect("a name")
			return
		}
		e.statement()
		e.exports = append(e.exports, Export{Kind: kind, Name: name, Value: trimStatement(e.s[start:e.i]), Offset: start})
	default:
		e.i = start
		e.expect("default, const, let, var, function, class, {, or *")
	}
}

// declarations reads a = 1, b = 2.
func (e *esmReader) declarations(start int) {
	for {
		e.space()
		name := e.word()
		if name == "" {
			if e.i < len(e.s) && (e.s[e.i] == '{' || e.s[e.i] == '[') {
				// Names taken out of an object.
				e.statement()
				e.exports = append(e.exports, Export{Kind: ExportOther, Value: trimStatement(e.s[start:e.i]), Offset: start})
				return
			}
			e.expect("a name")
			return
		}
		if !e.sign('=') {
			e.exports = append(e.exports, Export{Kind: ExportValue, Name: name, Offset: e.i})
			if e.sign(',') {
				continue
			}
			e.end()
			return
		}
		e.space()
		from := e.i
		comma := e.until(true)
		value := trimStatement(e.s[from:e.i])
		if value == "" {
			e.expect("a value")
			return
		}
		e.exports = append(e.exports, Export{Kind: ExportValue, Name: name, Value: value, Offset: from})
		if !comma {
			return
		}
		e.i++
	}
}

// statement skips to the end of the statement.
func (e *esmReader) statement() { e.until(false) }

// until skips to the end of the statement, or to a comma outside of brackets,
// and reports whether it found the comma. A statement ends with a semicolon,
// or where the next line begins another one.
func (e *esmReader) until(comma bool) bool {
	r := &reader{view: view{s: e.s, base: 0}, end: len(e.s), p: &parser{s: e.s, lines: []int{0}}}
	j := jsScanner{r: r, i: e.i}
	for j.err == nil && j.i < len(e.s) {
		if len(j.stack) == 0 {
			switch c := e.s[j.i]; {
			case c == ';':
				e.i = j.i + 1
				return false
			case c == ',' && comma && j.complete():
				e.i = j.i
				return true
			case c == '\n' && j.complete() && j.last != lastNone:
				next := esmReader{s: e.s, i: j.i}
				next.space()
				at := next.i
				// What goes on an expression is an operator or a bracket; a tag
				// is content that was not parted from the statement.
				w := next.word()
				if w != "in" && w != "instanceof" && (at == len(e.s) || strings.IndexByte(".,?:=+-*/%&|^>([`", e.s[at]) < 0) {
					e.i = at
					return false
				}
			}
		}
		j.scan(j.i + 1)
	}
	if j.err != nil {
		e.i = min(j.err.at, len(e.s))
		e.expect("JavaScript")
		return false
	}
	e.i = len(e.s)
	return false
}

func trimStatement(s string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ";"))
}
