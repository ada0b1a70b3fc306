package page

import (
	"errors"
	"io/fs"
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
	statements  []statement
	diagnostics []mdx.Diagnostic
	err         error
}

// snippetCache holds the snippets of a site by path.
type snippetCache struct{ m sync.Map }

func (r *Renderer) snippet(name string) *snippet {
	v, _ := r.snippets.m.LoadOrStore(name, new(snippet))
	sn := v.(*snippet)
	sn.once.Do(func() {
		src, err := fs.ReadFile(r.fs, name)
		if err != nil {
			sn.err = err
			if !errors.Is(err, fs.ErrNotExist) {
				r.snippets.m.CompareAndDelete(name, v) // it may go well the next time
			}
			return
		}
		if isScript(strings.ToLower(name)) {
			sn.statements = parseScript(string(src))
			return
		}
		sn.file, sn.diagnostics = r.parse(name, src)
		mdx.Unravel(sn.file.Root)
	})
	return sn
}

// parse reads a source after the site's variables were put into it.
func (r *Renderer) parse(name string, src []byte) (*mdx.File, []mdx.Diagnostic) {
	o := mdx.Options{File: name, Dollars: mdx.ClearDollars}
	if latex := r.site.Config.Styling.Latex; latex != nil {
		o.Dollars = mdx.DoubleDollars
		if *latex {
			o.Dollars = mdx.SingleDollars
		}
	}
	return mdx.Parse(r.site.Expand(src), o)
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
	start, line := 0, 1
	flush := func(end, nextLine int) {
		text := src[start:end]
		st := statement{line: line}
		for _, word := range [...]string{"const ", "let ", "var ", "function ", "class "} {
			if strings.HasPrefix(text, word) {
				text = "export " + text
				break
			}
		}
		if strings.HasPrefix(text, "import") || strings.HasPrefix(text, "export") {
			st.text = text
			st.imports, st.exports, _, _ = expr.ParseModule(text)
			out = append(out, st)
		}
		start, line = end, nextLine
	}
	at := 0
	for n := 1; at < len(src); n++ {
		end := strings.IndexByte(src[at:], '\n')
		if end < 0 {
			end = len(src) - at - 1
		}
		for _, word := range [...]string{"import ", "import{", "export ", "export{", "const ", "let ", "var ", "function ", "async ", "class "} {
			if strings.HasPrefix(src[at:], word) && at > start {
				flush(at, n)
				break
			}
		}
		at += end + 1
	}
	flush(len(src), 0)
	return out
}

// isScript reports whether a file, by its name in lower case, is JavaScript.
func isScript(name string) bool {
	for _, ext := range [...]string{".js", ".jsx", ".mjs", ".ts", ".tsx"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}
