package expr

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

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

// importEndings are the endings that an import may leave out, in the order of trial.
var importEndings = [...]string{".jsx", ".tsx", ".js", ".ts", ".mjs", ".mdx", ".md", "/index.jsx", "/index.tsx", "/index.js", "/index.ts"}

// ImportPaths returns the paths that an import in a file may mean, in the order of
// trial, in Unicode's NFC as all names of a site are. It returns nil for a package and for a path outside the site. A name without a
// slash or a dot before it is relative to the root, to the folder of snippets, or to
// the file. The folder of snippets is snippets or _snippets.
func ImportPaths(file, name string) []string {
	name = norm.NFC.String(name)
	var all []string
	add := func(p string) {
		p = strings.TrimPrefix(path.Clean(p), "/")
		if fs.ValidPath(p) && p != "." && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	switch {
	case strings.Contains(name, "://"):
		return nil
	case strings.HasPrefix(name, "/"):
		add(name)
	case strings.HasPrefix(name, "."):
		add(path.Join(path.Dir(file), name))
	default:
		first, _, nested := strings.Cut(name, "/")
		if !(nested && otherSnippets(first) != "") && !isSource(name) {
			return nil
		}
		add(name)
		add("snippets/" + name)
		add("_snippets/" + name)
		add(path.Join(path.Dir(file), name))
	}
	for _, p := range all {
		first, rest, nested := strings.Cut(p, "/")
		if other := otherSnippets(first); nested && other != "" {
			add(other + "/" + rest)
		}
	}
	if isSource(name) {
		return all
	}
	for _, p := range all {
		for _, ending := range importEndings {
			add(p + ending)
		}
	}
	return all
}

// otherSnippets returns the other name of the folder of snippets; "" for another
// folder.
func otherSnippets(folder string) string {
	switch folder {
	case "snippets":
		return "_snippets"
	case "_snippets":
		return "snippets"
	}
	return ""
}

// isSource reports whether a name ends as that of a file that can be imported.
func isSource(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts", ".mjs", ".json", ".css":
		return true
	}
	return false
}

// ExportKind says what an export statement exports.
type ExportKind uint8

// The kinds of exports.
const (
	ExportValue    ExportKind = iota // export const Name = Value
	ExportFunction                   // export function Name …; Value is the whole declaration
	ExportClass                      // export class Name …; Value is the whole declaration
	ExportDefault                    // export default Value
	ExportOther                      // anything else; Value is the source after export
)

// Export is one exported name or statement.
type Export struct {
	Kind  ExportKind
	Name  string
	Value string
	// Offset is where Value begins in the source of the statements.
	Offset int
}

// ParseModule reads import and export statements, one after the other. It stops
// at one that it cannot read: at is where it goes wrong, and want what was
// expected there; "" if nothing is wrong.
func ParseModule(text string) (imports []Import, exports []Export, at int, want string) {
	m := module{parser: newParser(text)}
	for m.want == "" {
		for m.parser.sign(";") {
		}
		if m.i >= len(m.s) {
			break
		}
		switch start := m.i; m.word() {
		case "import":
			m.importStatement()
		case "export":
			m.exportStatement()
		default:
			m.i = start
			m.expect("import or export")
		}
	}
	return m.imports, m.exports, min(m.wantAt, len(text)), m.want
}

// module reads statements.
type module struct {
	parser
	imports []Import
	exports []Export
	wantAt  int
	want    string
}

func (m *module) expect(what string) {
	if m.want == "" {
		m.wantAt, m.want = m.i, what
	}
}

// sign takes a sign, if it is next; otherwise it takes nothing.
func (m *module) sign(sign string) bool {
	start, is := m.i, m.parser.sign(sign)
	if !is {
		m.i = start
	}
	return is
}

// keyword is sign for a word.
func (m *module) keyword(w string) bool {
	start, is := m.i, m.parser.keyword(w)
	if !is {
		m.i = start
	}
	return is
}

// str takes a string, if it is next.
func (m *module) str() (string, bool) {
	start := m.i
	if m.space(); m.peek() == '"' || m.peek() == '\'' {
		if text, end, ok := quoted(m.s, m.i+1, m.s[m.i]); ok {
			m.i = end + 1
			return text, true
		}
	}
	m.i = start
	return "", false
}

func (m *module) name() string {
	if s, ok := m.str(); ok {
		return s
	}
	return m.word()
}

// end takes the end of a statement: a semicolon, a new line or the end.
func (m *module) end() {
	m.space()
	switch {
	case m.peek() == ';':
		m.i++
	case m.i < len(m.s) && m.line != m.i:
		m.expect("the end of the statement")
	}
}

func (m *module) importStatement() {
	m.space()
	var im Import
	if path, ok := m.str(); ok {
		im.Path = path
		m.attributes()
		m.imports = append(m.imports, im)
		return
	}
	if name := m.word(); name != "" {
		im.Default = name
		if !m.sign(",") {
			m.importPath(im)
			return
		}
		m.space()
	}
	switch {
	case m.sign("*"):
		if !m.keyword("as") {
			m.expect("`as`")
			return
		}
		if im.Namespace = m.word(); im.Namespace == "" {
			m.expect("a name")
			return
		}
	case m.sign("{"):
		if im.Names = m.names(); m.want != "" {
			return
		}
	default:
		m.expect("a name, {, * or a path in quotes")
		return
	}
	m.importPath(im)
}

func (m *module) importPath(im Import) {
	if !m.keyword("from") {
		m.expect("`from`")
		return
	}
	path, ok := m.str()
	if !ok {
		m.expect("a path in quotes")
		return
	}
	im.Path = path
	m.attributes()
	m.imports = append(m.imports, im)
}

// attributes skips with {type: "json"}, and takes the end of the statement.
func (m *module) attributes() {
	if m.keyword("with") {
		if !m.sign("{") {
			m.expect("{")
			return
		}
		for m.i < len(m.s) && m.s[m.i] != '}' {
			m.i++
		}
		m.i = min(m.i+1, len(m.s))
	}
	m.end()
}

// names reads a, b as c} after the brace.
func (m *module) names() []ImportName {
	var out []ImportName
	for {
		if m.sign("}") {
			return out
		}
		name := m.name()
		if name == "" {
			m.expect("a name or }")
			return nil
		}
		n := ImportName{Name: name, Local: name}
		if m.keyword("as") {
			if n.Local = m.name(); n.Local == "" {
				m.expect("a name")
				return nil
			}
		}
		out = append(out, n)
		if !m.sign(",") {
			if !m.sign("}") {
				m.expect(", or }")
				return nil
			}
			return out
		}
	}
}

func (m *module) exportStatement() {
	m.space()
	start := m.i
	other := func() {
		m.exports = append(m.exports, Export{Kind: ExportOther, Value: strings.TrimSpace(m.s[start:m.i]), Offset: start})
	}
	switch {
	case m.sign("{"):
		m.names()
		if m.want != "" {
			return
		}
		if m.keyword("from") {
			if _, ok := m.str(); !ok {
				m.expect("a path in quotes")
				return
			}
			m.attributes()
		} else {
			m.end()
		}
		other()
		return
	case m.sign("*"):
		if m.keyword("as") {
			m.word()
		}
		if !m.keyword("from") {
			m.expect("`from`")
			return
		}
		if _, ok := m.str(); !ok {
			m.expect("a path in quotes")
			return
		}
		m.attributes()
		other()
		return
	}
	switch word := m.word(); word {
	case "default":
		m.space()
		from := m.i
		m.statement()
		m.exports = append(m.exports, Export{Kind: ExportDefault, Value: trimStatement(m.s[from:m.i]), Offset: from})
	case "const", "let", "var":
		m.declarations(start)
	case "async", "function", "class":
		kind := ExportFunction
		if word == "async" && !m.keyword("function") {
			m.expect("`function`")
			return
		}
		if word == "class" {
			kind = ExportClass
		}
		m.sign("*")
		name := m.word()
		if name == "" {
			m.expect("a name")
			return
		}
		m.statement()
		m.exports = append(m.exports, Export{Kind: kind, Name: name, Value: trimStatement(m.s[start:m.i]), Offset: start})
	default:
		m.i = start
		m.expect("default, const, let, var, function, class, {, or *")
	}
}

// declarations reads a = 1, b = 2.
func (m *module) declarations(start int) {
	for {
		name := m.word()
		if name == "" {
			if m.i < len(m.s) && (m.s[m.i] == '{' || m.s[m.i] == '[') {
				// Names taken out of an object.
				m.statement()
				m.exports = append(m.exports, Export{Kind: ExportOther, Value: trimStatement(m.s[start:m.i]), Offset: start})
				return
			}
			m.expect("a name")
			return
		}
		if !m.sign("=") {
			m.exports = append(m.exports, Export{Kind: ExportValue, Name: name, Offset: m.i})
			if m.sign(",") {
				continue
			}
			m.end()
			return
		}
		m.space()
		from := m.i
		comma := m.until(true)
		value := trimStatement(m.s[from:m.i])
		if value == "" {
			m.expect("a value")
			return
		}
		m.exports = append(m.exports, Export{Kind: ExportValue, Name: name, Value: value, Offset: from})
		if !comma {
			return
		}
		m.i++
	}
}

// statement skips to the end of the statement.
func (m *module) statement() { m.until(false) }

// until skips to the end of the statement, or to a comma outside of brackets,
// and reports whether it found the comma. A statement ends with a semicolon,
// or where the next line begins another one.
func (m *module) until(comma bool) bool {
	j := Scanner{Text: m.s, At: m.i}
	for j.fault == "" && j.At < len(m.s) {
		c := m.s[j.At]
		if len(j.stack) == 0 {
			switch {
			case c == ';':
				m.i = j.At + 1
				return false
			case c == ',' && comma && j.Complete():
				m.i = j.At
				return true
			case c == '\n' && j.Complete() && !j.Empty():
				if at, _ := spaceEnd(m.s, j.At); !goesOn(m.s[at:]) {
					m.i = at
					return false
				}
			}
		}
		j.step(c)
	}
	m.i = len(m.s)
	switch name, _ := j.Opened(); {
	case j.fault != "":
		_, m.i = j.Fault()
		m.expect("JavaScript")
	case name != "":
		m.expect(name)
	case !j.Complete() || j.Empty():
		m.expect("the rest of the statement")
	}
	return false
}

// goesOn reports whether a line goes on with the expression of the line before
// it: with an operator or a bracket. A tag is content that was not parted from
// the statement.
func goesOn(line string) bool {
	if line == "" {
		return false
	}
	word := line[:wordEnd(line, 0)]
	if word == "in" || word == "instanceof" || strings.HasPrefix(line, "!=") || strings.HasPrefix(line, "<=") || strings.HasPrefix(line, "<<") {
		return true
	}
	return strings.IndexByte(".,?:=+-*/%&|^>([`", line[0]) >= 0
}

func trimStatement(s string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ";"))
}
