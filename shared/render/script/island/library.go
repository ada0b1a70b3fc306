package island

import (
	"maps"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/bindery-docs/bindery/shared/render/expr"
)

const (
	// apartFrom is the number on a page from which sources are read apart from what
	// they import, which is read once for all of them.
	apartFrom = 20
	// maxLibraries is the number of libraries that are cached from one source to the next.
	maxLibraries = 50
)

// libraries are what one piece of work leaves to the next: what sources import and
// declare, ready to run, and the scripts of ours.
type libraries struct {
	kept    map[string]*library
	scripts scripts
}

// library is what a file's statements make of some of its names, as a script that
// leaves them in $library.
type library struct {
	program   *goja.Program
	sourceMap []byte
	asked     []asked
}

// asked is a question about the site's files, and its answer.
type asked struct {
	need need
	text string
	is   bool
}

// askingFiles records which files it was asked for.
type askingFiles struct {
	files
	asked []asked
}

func (a *askingFiles) has(name string) bool {
	is := a.files.has(name)
	a.asked = append(a.asked, asked{need: need{Name: name}, is: is})
	return is
}

func (a *askingFiles) read(name string) (string, error) {
	text, err := a.files.read(name)
	a.asked = append(a.asked, asked{need: need{Name: name, Read: true}, text: text, is: err == nil})
	return text, err
}

// same reports whether the files are as they were.
func (l *library) same(site files) bool {
	for _, a := range l.asked {
		if !a.need.Read {
			if site.has(a.need.Name) != a.is {
				return false
			}
		} else if text, err := site.read(a.need.Name); text != a.text || (err == nil) != a.is {
			return false
		}
	}
	return true
}

// bound returns the names that a source's expression may have of its file's
// statements; ok is false where it takes more than names to know.
func bound(s Source) (names []string, ok bool) {
	imports, exports, _, fault := expr.ParseModule(s.Module)
	if fault != "" {
		return nil, false
	}
	declared := map[string]bool{}
	for _, im := range imports {
		declared[im.Default], declared[im.Namespace] = true, true
		for _, n := range im.Names {
			declared[n.Local] = true
		}
	}
	for _, e := range exports {
		if e.Kind == expr.ExportOther {
			return nil, false
		}
		declared[e.Name] = true
	}
	for _, name := range append([]string{"", "props", "$children", native}, s.Names...) {
		delete(declared, name)
	}
	said := map[string]bool{}
	for _, name := range identifier().FindAllString(s.Expression, -1) {
		said[name] = declared[name]
	}
	maps.DeleteFunc(said, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(said)), true
}

// of returns the library of a source, made or kept; nil if there is none.
func (l *libraries) of(site files, s Source, components, names []string) *library {
	key := strings.Join([]string{s.File, s.Module, strings.Join(names, ","), strings.Join(components, ",")}, "\x00")
	if known := l.kept[key]; known != nil && known.same(site) {
		return known
	}
	asking := &askingFiles{files: site}
	var b strings.Builder
	for _, name := range names {
		b.WriteString("get " + name + "() { return " + name + " }, ")
	}
	script, sourceMap, without, err := bundle(asking, []Source{{File: s.File, Module: s.Module, Expression: "{{" + b.String() + "}}", Line: s.Line}}, false)
	if err != nil || len(without) > 0 {
		return nil
	}
	// What the function shows is one object: the names.
	program, err := counted("island.js", builtins(script, components)+string(script)+"var $library = $islands.default[0]({}).props.children;", nameStep)
	if err != nil {
		return nil
	}
	if len(l.kept) >= maxLibraries {
		clear(l.kept)
	}
	l.kept[key] = &library{program, sourceMap, asking.asked}
	return l.kept[key]
}

// apart makes a script of a source alone; it leaves its function in $apart.
func apart(s Source, names []string) (script, sourceMap []byte, ok bool) {
	begin := "export const show = (props, $children) => { "
	if len(names) > 0 {
		begin += "const {" + strings.Join(names, ", ") + "} = $library; "
	}
	if len(s.Names) > 0 {
		begin += "const {" + strings.Join(s.Names, ", ") + "} = props; "
	}
	result := api.Transform(begin+"return (<>\n"+s.Expression+"\n</>); };\n", api.TransformOptions{
		Loader:         api.LoaderTSX,
		Format:         api.FormatIIFE,
		GlobalName:     "$apart",
		Platform:       api.PlatformNeutral,
		Target:         api.ES2017,
		Supported:      map[string]bool{"arrow": false},
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		JSX:            api.JSXTransform,
		JSXFactory:     "$react.h",
		JSXFragment:    "$react.Fragment",
		TsconfigRaw:    "{}",
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Sourcefile:     apartName,
		LogLimit:       1,
	})
	return result.Code, result.Map, len(result.Errors) == 0
}

// apartName is the file that apart calls a source.
const apartName = "apart.js"
