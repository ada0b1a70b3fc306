package island

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/expr"
)

// Limits of what one script may grow to.
const (
	maxSource  = 1 << 20 // bytes of one file
	maxModules = 200     // files of one script
	maxScript  = 4 << 20 // bytes of a script at export
)

// Source is a piece of JavaScript that a page shows.
type Source struct {
	// File is the page's or snippet's source, which imports are relative to.
	File string
	// Module are the import and export statements of that file, each on its
	// own lines.
	Module string
	// Expression is what is shown: JSX, or an expression in braces. What the
	// element holds beyond them is named $children in it.
	Expression string
	// Line is the line of the file that Expression begins at.
	Line int
	// Number is the source's among the page's: the ids that it makes begin with
	// it.
	Number int
	// Props are the properties that the file was used with, as a JSON object;
	// "" for none. Names are its members' names.
	Props string
	Names []string
}

// Error is what is wrong with an author's JavaScript.
type Error struct {
	// Message says what, without a place.
	Message string
	// File and Line are where, as far as it is known.
	File string
	Line int
	// Stack are the calls that led there, innermost first.
	Stack []string
	// Limit reports that a bound was met: what else the page has is better not
	// tried.
	Limit bool
	// Steps is the work that was done until then, as in Shown.
	Steps int
	// Browser reports that only a name is missing that browsers have.
	Browser bool
}

func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s:%d)", e.Message, e.File, e.Line)
}

const entryName = "bindery-entry"

// statements is the name that a file's statements have besides the file's own, which
// an import names.
const statements = "statements:"

// files are the site's, as a process that renders sees them.
type files interface {
	has(name string) bool
	// read returns its content. What the error says is for authors.
	read(name string) (string, error)
}

// maxLeftOut bounds the statements that a script does without.
const maxLeftOut = 10

// bundle makes one script of sources and all that they import. It leaves an
// array of functions in $islands. Statements that can't be read are left out:
// they fail what needs them, and nothing else. without says which, if any.
func bundle(site files, sources []Source, forReaders bool) (script, sourceMap []byte, without []leftOut, err error) {
	b := bundler{site: site, sources: sources, blank: map[string][]span{}}
	options := b.options(b.entry())
	if forReaders {
		options.MinifyWhitespace, options.MinifyIdentifiers, options.MinifySyntax = true, true, true
	} else {
		// Every function has a block, where its calls are counted.
		options.Supported = map[string]bool{"arrow": false}
		options.Sourcemap = api.SourceMapExternal
		options.SourcesContent = api.SourcesContentExclude
		options.Outfile = "island.js"
	}
	result := api.Build(options)
	for len(result.Errors) > 0 {
		fault := b.fault(result.Errors[0])
		text, ok := b.leaveOut(result.Errors[0])
		if !ok || len(without) == maxLeftOut {
			if len(without) > 0 {
				fault = without[0].fault
			}
			return nil, nil, nil, fault
		}
		without = append(without, leftOut{text, fault})
		b.count = 0
		result = api.Build(options)
	}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			sourceMap = f.Contents
		} else {
			script = f.Contents
		}
	}
	if len(script) > maxScript {
		return nil, nil, nil, &Error{Message: fmt.Sprintf("its script has more than %d MiB", maxScript>>20), File: sources[0].File, Line: sources[0].Line}
	}
	return script, sourceMap, without, nil
}

// leftOut is a statement that a script does without, and what is wrong with it.
type leftOut struct {
	text  string
	fault *Error
}

// span is some lines of a text, the last one included.
type span struct{ first, last int }

// leaveOut leaves the statement of a page or a snippet out that an error is in, or
// that imports the file that it is in. It returns the statement's text.
func (b *bundler) leaveOut(e api.Message) (text string, ok bool) {
	if e.Location == nil {
		return "", false
	}
	file := strings.TrimPrefix(e.Location.File, "site:")
	name, own := strings.CutPrefix(file, statements)
	switch {
	case own && b.module(name) != nil:
		m := b.module(name)
		return b.leaveOutLine(file, m.text.String(), e.Location.Line, m.own)
	case loaders[strings.ToLower(path.Ext(file))] == api.LoaderTSX && strings.Contains(path.Ext(file), "md"):
		if text, err := b.site.read(file); err == nil {
			return b.leaveOutLine(file, text, e.Location.Line, strings.Count(text, "\n")+1)
		}
	}
	for i, m := range b.modules {
		imports, _, _, _ := expr.ParseModule(strings.Join(strings.SplitN(m.text.String(), "\n", m.own+1)[:m.own], "\n"))
		for _, im := range imports {
			if found, err := find(b.site, m.file, im.Path); err != nil || found != file {
				continue
			}
			for n, line := range strings.Split(m.text.String(), "\n")[:m.own] {
				if strings.Contains(line, im.Path) {
					return b.leaveOutLine(statements+strconv.Itoa(i), m.text.String(), n+1, m.own)
				}
			}
		}
	}
	return "", false
}

// leaveOutLine leaves the statement at a line out of a file, whose statements are
// the first lines of its text.
func (b *bundler) leaveOutLine(file, text string, at, own int) (string, bool) {
	lines := strings.Split(text, "\n")[:own]
	begins := func(n int) bool {
		return strings.HasPrefix(lines[n-1], "import ") || strings.HasPrefix(lines[n-1], "export ")
	}
	if at < 1 || at > own {
		return "", false
	}
	s := span{at, at}
	for s.first > 1 && !begins(s.first) {
		s.first--
	}
	for s.last < own && !begins(s.last+1) {
		s.last++
	}
	if !begins(s.first) || slices.Contains(b.blank[file], s) {
		return "", false
	}
	b.blank[file] = append(b.blank[file], s)
	return strings.Join(lines[s.first-1:s.last], "\n"), true
}

// rest returns a text without the lines that are left out of its file.
func (b *bundler) rest(file, text string) string {
	if len(b.blank[file]) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, s := range b.blank[file] {
		clear(lines[s.first-1 : s.last])
	}
	return strings.Join(lines, "\n")
}

// bundler is what esbuild asks for the modules of one script.
type bundler struct {
	site    files
	sources []Source
	modules []*module
	blank   map[string][]span // what is left out of files

	mu    sync.Mutex // esbuild reads files at the same time
	count int        // files of the site that were asked for
}

// module holds the sources of one file: they share its state.
type module struct {
	file  string
	text  strings.Builder
	lines int
	own   int         // lines of the file's statements
	first map[int]int // line of the module → line of the file
}

// entry makes the modules, and returns the text that imports all sources.
func (b *bundler) entry() string {
	var entry, list strings.Builder
	for i, s := range b.sources {
		at := slices.IndexFunc(b.modules, func(m *module) bool { return m.file == s.File })
		if at < 0 {
			at = len(b.modules)
			m := &module{file: s.File, first: map[int]int{}}
			m.text.WriteString(s.Module + "\n")
			m.lines = strings.Count(s.Module, "\n") + 1
			m.own = m.lines
			b.modules = append(b.modules, m)
		}
		b.modules[at].add(i, s)
		fmt.Fprintf(&entry, "import { $island%d } from %q;\n", i, statements+strconv.Itoa(at))
		fmt.Fprintf(&list, "$island%d, ", i)
	}
	return entry.String() + "export default [" + list.String() + "];\n"
}

func (m *module) add(i int, s Source) {
	names := ""
	if len(s.Names) > 0 {
		names = "const {" + strings.Join(s.Names, ", ") + "} = props; "
	}
	begin := fmt.Sprintf("export const $island%d = (props, $children) => { %sreturn (<>\n", i, names)
	text := begin + s.Expression + "\n</>); };\n"
	m.text.WriteString(text)
	for n := range strings.Count(s.Expression, "\n") + 1 {
		m.first[m.lines+2+n] = s.Line + n
	}
	m.lines += strings.Count(text, "\n")
}

// module finds a module by the name that the entry has for it, nil for none.
func (b *bundler) module(name string) *module {
	n, err := strconv.Atoi(name)
	if err != nil || n >= len(b.modules) {
		return nil
	}
	return b.modules[n]
}

func (b *bundler) options(entry string) api.BuildOptions {
	return api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: entry, Sourcefile: entryName, Loader: api.LoaderJS},
		Bundle:            true,
		Format:            api.FormatIIFE,
		GlobalName:        "$islands",
		Platform:          api.PlatformNeutral,
		Target:            api.ES2017,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		JSX:               api.JSXTransform,
		JSXFactory:        "$react.h",
		JSXFragment:       "$react.Fragment",
		TsconfigRaw:       "{}",
		TreeShaking:       api.TreeShakingTrue,
		IgnoreAnnotations: true,
		LogLimit:          1,
		Plugins: []api.Plugin{{Name: "bindery", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: ".*"}, b.resolve)
			build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "site"}, b.loadFile)
			build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "runtime"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
				text := "module.exports = $react;"
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
			})
			build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "statements"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				m := b.module(a.Path)
				if m == nil {
					return api.OnLoadResult{}, errors.New("unknown module")
				}
				text := b.rest(statements+a.Path, m.text.String())
				// As in TypeScript, imports that nothing speaks of are left out: what
				// is missing costs only those who need it.
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderTSX}, nil
			})
		}}},
	}
}

// resolve finds what an import names.
func (b *bundler) resolve(a api.OnResolveArgs) (api.OnResolveResult, error) {
	if rest, ok := strings.CutPrefix(a.Path, statements); ok && a.Importer == entryName {
		return api.OnResolveResult{Path: rest, Namespace: "statements"}, nil
	}
	if isRuntime(a.Path) {
		return api.OnResolveResult{Path: "runtime", Namespace: "runtime"}, nil
	}
	from := a.Importer
	if a.Namespace == "statements" {
		m := b.module(from)
		if m == nil {
			return api.OnResolveResult{}, errors.New("unknown importer")
		}
		from = m.file
	}
	name, err := find(b.site, from, a.Path)
	if err != nil {
		return api.OnResolveResult{}, err
	}
	return api.OnResolveResult{Path: name, Namespace: "site"}, nil
}

func (b *bundler) loadFile(a api.OnLoadArgs) (api.OnLoadResult, error) {
	b.mu.Lock()
	b.count++
	tooMany := b.count > maxModules
	b.mu.Unlock()
	if tooMany {
		return api.OnLoadResult{}, fmt.Errorf("it imports more than %d files", maxModules)
	}
	loader, ok := loaders[strings.ToLower(path.Ext(a.Path))]
	if !ok {
		// Pictures and the like have no value in a script.
		return api.OnLoadResult{}, fmt.Errorf("files of the kind %s can't be imported", path.Ext(a.Path))
	}
	var text string
	if loader != api.LoaderEmpty {
		var err error
		if text, err = b.site.read(a.Path); err != nil {
			return api.OnLoadResult{}, err
		}
		text = b.rest(a.Path, text)
	}
	return api.OnLoadResult{Contents: &text, Loader: loader}, nil
}

// fault returns what esbuild found wrong, with the place where its author wrote
// it.
func (b *bundler) fault(m api.Message) *Error {
	e := &Error{Message: m.Text}
	if m.Location != nil {
		e.File, e.Line = strings.TrimPrefix(m.Location.File, "site:"), m.Location.Line
		if name, ok := strings.CutPrefix(m.Location.File, statements); ok {
			if m := b.module(name); m != nil {
				e.File = m.file
				if line, ok := m.first[e.Line]; ok {
					e.Line = line
				}
			}
		}
	}
	if e.File == entryName || e.File == "" {
		e.File, e.Line = b.sources[0].File, b.sources[0].Line
	}
	return e
}

func isRuntime(name string) bool {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "react", "react-dom", "preact":
		return true
	}
	return false
}

// loaders are the files that can be imported. Styles have no meaning here: a
// site's style sheets are loaded by its pages. A snippet of MDX is here the
// statements in it: see Engine.Render.
var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".jsx": api.LoaderJSX, ".mjs": api.LoaderJSX, ".ts": api.LoaderTS, ".tsx": api.LoaderTSX,
	".json": api.LoaderJSON, ".css": api.LoaderEmpty, ".mdx": api.LoaderTSX, ".md": api.LoaderTSX,
}

// find returns the file that an import names.
func find(site files, importer, name string) (string, error) {
	all := expr.ImportPaths(importer, name)
	for _, file := range all {
		if site.has(file) {
			return file, nil
		}
	}
	switch {
	case !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("%q is not among the site's files: only react, preact and the site's own files can be imported", name)
	case len(all) == 0:
		return "", fmt.Errorf("%q leads out of the site", name)
	}
	return "", fmt.Errorf("there is no file %s", all[0])
}

var identifier = lazy.Regexp(`[A-Za-z_$][A-Za-z0-9_$]*`)

// builtins declares those of the built-in components and of the runtime's names
// that a script speaks of: authors use both without importing them. What the
// script declares itself hides them.
func builtins(script []byte, components []string) string {
	said := map[string]bool{}
	for _, name := range identifier().FindAll(script, -1) {
		said[string(name)] = true
	}
	var b strings.Builder
	for _, name := range hookNames {
		if said[name] {
			b.WriteString("var " + name + "=$react." + name + ";")
		}
	}
	if said["React"] {
		b.WriteString("var React=$react;")
	}
	if said["user"] { // the reader, of whom a bundle knows nothing
		b.WriteString("var user={};")
	}
	for _, name := range components {
		first, rest, dotted := strings.Cut(name, ".")
		if !said[first] || name == native {
			continue
		}
		if dotted {
			fmt.Fprintf(&b, "%s.%s=$react.builtin(%q);", first, rest, name)
		} else {
			fmt.Fprintf(&b, "var %s=$react.builtin(%q);", name, name)
		}
	}
	return b.String()
}

// native is the built-in component that has the name of one of the language's own
// values. The runtimes distinguish them: only elements are of the component.
const native = "Error"

// hookNames are the names of the runtime that authors use without an import.
var hookNames = [...]string{
	"useState", "useReducer", "useMemo", "useCallback", "useRef", "useContext", "useEffect", "useLayoutEffect", "useId",
	"useSyncExternalStore", "useTransition", "useDeferredValue", "useImperativeHandle", "useInsertionEffect", "useDebugValue",
	"createContext", "createRef", "memo", "forwardRef", "Fragment", "Component", "cloneElement", "isValidElement", "Children", "createPortal",
}
