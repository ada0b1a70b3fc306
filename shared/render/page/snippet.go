package page

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// snippet is a source that others include, parsed once for the site.
type snippet struct {
	once sync.Once
	// file is the tree of one in MDX, statements are those of one in
	// JavaScript.
	file        *mdx.File
	size        int // bytes of the source
	statements  []statement
	diagnostics []mdx.Diagnostic
	ignores     []Ignore
	err         error
}

func (r *Renderer) snippet(name string) *snippet {
	v, _ := r.snippets.LoadOrStore(name, new(snippet))
	sn := v.(*snippet)
	sn.once.Do(func() {
		src, err := fs.ReadFile(r.FS, name)
		if err != nil {
			sn.err = err
			if !errors.Is(err, fs.ErrNotExist) {
				r.snippets.CompareAndDelete(name, v) // it may go well the next time
			}
			return
		}
		sn.size = len(src)
		if isScript(strings.ToLower(name)) {
			sn.statements = parseScript(string(src))
			return
		}
		sn.file, sn.ignores, sn.diagnostics = r.parse(name, src)
		mdx.Unravel(sn.file.Root)
	})
	return sn
}

// parse reads a source after the site's variables were put into it.
func (r *Renderer) parse(name string, src []byte) (*mdx.File, []Ignore, []mdx.Diagnostic) {
	src = r.Site.Expand(src)
	file, diagnostics := mdx.Parse(src, r.Site.Syntax(name))
	return file, ignoresIn(name, src, file.Root), diagnostics
}

// statement is one statement of a file of JavaScript.
type statement struct {
	text    string
	line    int
	imports []expr.Import
	exports []expr.Export
}

// parseScript reads the statements of a file of JavaScript: those that begin
// at the start of a line. What a file declares without exporting it is known
// to the rest of the file.
func parseScript(src string) []statement {
	var out []statement
	add := func(text string, line int) {
		if beginsWith(text, "const ", "let ", "var ", "function ", "class ") {
			text = "export " + text
		}
		if beginsWith(text, "import", "export") {
			st := statement{text: text, line: line}
			st.imports, st.exports, _, _ = expr.ParseModule(text)
			out = append(out, st)
		}
	}
	start, first, at, n := 0, 1, 0, 0 // of a statement and its first line, of a line and its number
	for line := range strings.Lines(src) {
		n++
		if at > start && beginsWith(line, "import ", "import{", "export ", "export{", "const ", "let ", "var ", "function ", "async ", "class ") {
			add(src[start:at], first)
			start, first = at, n
		}
		at += len(line)
	}
	add(src[start:], first)
	return out
}

func beginsWith(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// isScript reports whether a file, by its name in lower case, is JavaScript.
func isScript(name string) bool {
	return slices.Contains([]string{".js", ".jsx", ".mjs", ".ts", ".tsx"}, path.Ext(name))
}

// moduleFS is the site's files as scripts import them: of MDX and Markdown they
// get the import and export statements, each on its line.
type moduleFS struct{ *tree }

// Open implements fs.FS.
func (f moduleFS) Open(name string) (fs.File, error) { return f.r.FS.Open(name) }

// Stat implements fs.StatFS.
func (f moduleFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.r.FS, name) }

// ReadFile implements fs.ReadFileFS.
func (f moduleFS) ReadFile(name string) ([]byte, error) {
	if !isSnippet(name) {
		return fs.ReadFile(f.r.FS, name)
	}
	sn := f.included(name)
	if sn.err != nil {
		return nil, sn.err
	}
	return []byte(module(sn.file.Root) + noDefault(sn.file.Root)), nil
}

// noDefault is the default export of a snippet without one: its content is Markdown,
// which scripts can't render.
func noDefault(root *mdx.Node) string {
	for _, n := range root.Children {
		if n.Kind != mdx.ESM {
			continue
		}
		_, exports, _, _ := expr.ParseModule(n.Value)
		if slices.ContainsFunc(exports, func(e expr.Export) bool { return e.Kind == expr.ExportDefault }) {
			return ""
		}
	}
	return "export default () => { throw new TypeError('a component can show the components of a snippet, not its Markdown') };\n"
}
