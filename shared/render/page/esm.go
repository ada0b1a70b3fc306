package page

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// declare binds what the import and export statements of a file name.
func (s *resolver) declare(root *mdx.Node, sc *scope) {
	if s.r.Islands != nil {
		sc.module = module(root)
	}
	for _, n := range root.Children {
		if n.Kind != mdx.ESM {
			continue
		}
		imports, exports, _, _ := expr.ParseModule(n.Value)
		s.declareAll(imports, exports, n.Value, n.Pos, sc)
	}
}

// declareAll binds the names of statements that stand in a text at a place.
func (s *resolver) declareAll(imports []expr.Import, exports []expr.Export, text string, pos mdx.Pos, sc *scope) {
	for _, im := range imports {
		s.declareImport(im, pos, sc)
	}
	src := &expr.Source{Text: text, Origin: pos}
	for _, e := range exports {
		name := e.Name
		switch e.Kind {
		case expr.ExportDefault:
			name = "default"
			fallthrough
		case expr.ExportValue, expr.ExportFunction:
			sc.names.Set(name, &expr.Lazy{Source: &expr.Source{Text: e.Value, Origin: placeOf(src, e.Offset)}, Scope: sc.names})
		case expr.ExportClass:
			sc.names.Set(name, expr.Opaque{Reason: "it is a class"})
		}
	}
}

func (s *resolver) declareImport(im expr.Import, pos mdx.Pos, sc *scope) {
	bind := func(local string, v any) {
		if local != "" {
			sc.names.Set(local, v)
		}
	}
	file, found := s.firstOf(expr.ImportPaths(sc.file, im.Path))
	own := strings.HasPrefix(im.Path, "/") || strings.HasPrefix(im.Path, ".") // else it may be a package, such as chart.js
	if file == "" || !found && !isSnippet(im.Path) && !(own && isScript(strings.ToLower(im.Path))) {
		v := expr.Opaque{Reason: "it is imported from " + im.Path}
		bind(im.Default, v)
		bind(im.Namespace, v)
		for _, name := range im.Names {
			bind(name.Local, v)
		}
		return
	}
	snippet := isSnippet(file)
	var inner *scope
	if !snippet || len(im.Names) > 0 || im.Namespace != "" {
		inner = s.module(file, pos, sc)
	}
	exported := func(name string) any {
		if snippet && name == "default" {
			return snippetValue{file}
		}
		if inner == nil {
			return expr.Opaque{Reason: file + " can't be read"}
		}
		v, ok := inner.names.Lookup(name)
		if !ok && name == "default" {
			// Authors take the only component of a file for its default.
			v, ok = inner.names.Lookup(im.Default)
		}
		if !ok {
			s.report(sc.file, pos, mdx.Warning, "import-missing", file+" exports no "+name)
			return expr.Opaque{Reason: file + " exports no " + name}
		}
		return v
	}
	if im.Default != "" {
		bind(im.Default, exported("default"))
	}
	bind(im.Namespace, expr.Opaque{Reason: "everything of " + im.Path + " is imported as one name"})
	for _, name := range im.Names {
		bind(name.Local, exported(name.Name))
	}
}

// module returns the scope of another file, whose names are what it exports; nil
// when it can't be read.
func (s *resolver) module(file string, pos mdx.Pos, sc *scope) *scope {
	if len(s.stack) >= maxSnippetDepth || slices.Contains(s.stack, file) {
		s.report(sc.file, pos, mdx.Error, "snippet-cycle", "the imports of "+file+" lead back to itself")
		return nil
	}
	if inner, ok := s.modules[file]; ok {
		return inner
	}
	sn := s.included(file)
	if sn.err != nil {
		s.snippetError(file, sn.err, pos, sc)
		return nil
	}
	inner := newScope(file, nil)
	s.stack = append(s.stack, file)
	if sn.file != nil {
		s.declare(sn.file.Root, inner)
	}
	for _, st := range sn.statements {
		s.declareAll(st.imports, st.exports, st.text, mdx.Pos{Line: st.line, Column: 1}, inner)
	}
	s.stack = s.stack[:len(s.stack)-1]
	put(&s.modules, file, inner)
	return inner
}

// snippetError reports a snippet that is not there; another error of reading
// ends the rendering.
func (s *resolver) snippetError(file string, err error, pos mdx.Pos, sc *scope) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
		s.fail(fmt.Errorf("read %s: %w", file, err))
	}
	s.report(sc.file, pos, mdx.Error, "snippet-missing", "there is no snippet "+file)
}

// firstOf returns the first of some files that is in the site: a snippet or
// JavaScript. Where none is, it is the first that there could be; "" for none.
func (s *resolver) firstOf(files []string) (first string, found bool) {
	for _, file := range files {
		if !isSnippet(file) && !isScript(strings.ToLower(file)) {
			continue
		}
		if first == "" {
			first = file
		}
		if sn := s.included(file); !errors.Is(sn.err, fs.ErrNotExist) {
			return file, true
		}
	}
	return first, false
}

// snippetFile returns the file that <Snippet file> names on a page: in the folder of
// snippets at the root or nearer to the page, or from the root.
func (s *resolver) snippetFile(name string, sc *scope) string {
	files := expr.ImportPaths(sc.file, "/snippets/"+name)
	if strings.HasPrefix(name, "/") {
		files = expr.ImportPaths(sc.file, name)
	}
	for dir := path.Dir(sc.file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		files = append(files, path.Join(dir, "_snippets", name), path.Join(dir, "snippets", name))
	}
	files = append(files, expr.ImportPaths(sc.file, "/"+name)...)
	file, _ := s.firstOf(slices.DeleteFunc(files, func(file string) bool { return !fs.ValidPath(file) || !isSnippet(file) }))
	return file
}

// isSnippet reports whether a file is MDX or Markdown.
func isSnippet(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".mdx" || ext == ".md"
}

// module collects the import and export statements of a source, each on its
// own line.
func module(root *mdx.Node) string {
	var b strings.Builder
	line := 1
	for _, n := range root.Children {
		if n.Kind != mdx.ESM {
			continue
		}
		for ; line < n.Pos.Line; line++ {
			b.WriteByte('\n')
		}
		b.WriteString(n.Value)
		b.WriteByte('\n')
		line += strings.Count(n.Value, "\n") + 1
	}
	return b.String()
}
