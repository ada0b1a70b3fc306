package page

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/mdx"
)

// declare binds what the import and export statements of a file name.
func (s *state) declare(root *mdx.Node, sc *scope) {
	var exports []mdx.Export
	for _, n := range root.Children {
		if n.Kind != mdx.ESM {
			continue
		}
		imports, more := mdx.ParseESM(n.Value)
		for _, im := range imports {
			s.declareImport(im, n.Pos, sc)
		}
		for _, e := range more {
			switch e.Kind {
			case mdx.ExportValue, mdx.ExportFunction:
				if v, ok := s.constant(e, n.Pos, sc); ok {
					sc.values[e.Name] = v
					continue
				}
				exports = append(exports, e)
				fallthrough
			case mdx.ExportClass:
				sc.values[e.Name] = opaque{}
			}
		}
	}
	// A constant may name one that is exported further down.
	for _, e := range exports {
		if v, ok := s.constant(e, root.Pos, sc); ok {
			sc.values[e.Name] = v
		}
	}
}

// constant gives the value of an exported name that needs no JavaScript.
func (s *state) constant(e mdx.Export, pos mdx.Pos, sc *scope) (any, bool) {
	src := e.Value
	if e.Kind == mdx.ExportFunction {
		var ok bool
		if src, ok = functionAsArrow(src); !ok {
			return nil, false
		}
	}
	if a, ok := parseArrow(src); ok {
		return &functionValue{arrow: a, scope: sc, file: sc.file, pos: pos}, true
	}
	return s.evaluate(src, sc, pos, 0)
}

// functionAsArrow turns "function Name(…) {…}" into "(…) => {…}".
func functionAsArrow(src string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(src), "function")
	if !ok {
		return "", false
	}
	open := strings.IndexByte(rest, '(')
	if open < 0 || strings.IndexByte(rest[:open], '*') >= 0 {
		return "", false
	}
	for end := open + 1; end < len(rest); end++ {
		if rest[end] == ')' && closes(rest[open:end+1]) {
			return rest[open:end+1] + " => " + rest[end+1:], true
		}
	}
	return "", false
}

func (s *state) declareImport(im mdx.Import, pos mdx.Pos, sc *scope) {
	bind := func(local string, v any) {
		if local != "" {
			sc.values[local] = v
		}
	}
	lower := strings.ToLower(im.Path)
	if !strings.HasSuffix(lower, ".mdx") && !strings.HasSuffix(lower, ".md") || strings.Contains(im.Path, "://") {
		bind(im.Default, opaque{})
		bind(im.Namespace, opaque{})
		for _, name := range im.Names {
			bind(name.Local, opaque{})
		}
		return
	}
	file := s.importPath(im.Path, sc)
	bind(im.Default, snippetValue{file})
	bind(im.Namespace, opaque{})
	if len(im.Names) == 0 {
		return
	}
	inner := s.exports(file, pos, sc)
	for _, name := range im.Names {
		if name.Name == "default" {
			bind(name.Local, snippetValue{file})
			continue
		}
		v, ok := inner[name.Name]
		if !ok {
			s.report(sc.file, pos, mdx.Warning, "import-missing", file+" exports no "+name.Name)
			v = opaque{}
		}
		bind(name.Local, v)
	}
}

// exports evaluates what another file exports.
func (s *state) exports(file string, pos mdx.Pos, sc *scope) map[string]any {
	if len(s.stack) >= maxSnippetDepth || slices.Contains(s.stack, file) {
		s.report(sc.file, pos, mdx.Error, "snippet-cycle", "the imports of "+file+" lead back to itself")
		return nil
	}
	sn := s.r.snippet(file)
	if sn.err != nil {
		s.snippetError(file, sn.err, pos, sc)
		return nil
	}
	s.input(file)
	inner := &scope{file: file, values: map[string]any{}}
	s.stack = append(s.stack, file)
	s.declare(sn.file.Root, inner)
	s.stack = s.stack[:len(s.stack)-1]
	return inner.values
}

// snippetError reports a snippet that is not there; another error of reading
// ends the rendering.
func (s *state) snippetError(file string, err error, pos mdx.Pos, sc *scope) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
		s.fail(fmt.Errorf("read %s: %w", file, err))
	}
	s.report(sc.file, pos, mdx.Error, "snippet-missing", "there is no snippet "+file)
}
