// Package searchtest asks an index as a reader's browser does: with the script
// that bundles carry, in a JavaScript engine without a page. For tests alone.
package searchtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/bindery-docs/bindery/shared/render/search"
)

// Engine asks one index. It is not safe for concurrent use.
type Engine struct {
	vm    *goja.Runtime
	files func(name string) (string, bool)
	index goja.Value

	fetched []string
	bytes   int
}

// Result is a page that was found.
type Result struct {
	Title    string    `json:"title"`
	Path     string    `json:"path"`
	Trail    string    `json:"trail"`
	Score    float64   `json:"score"`
	Sections []Section `json:"sections"`
}

// Section is a section of a page that was found.
type Section struct {
	Heading string `json:"heading"`
	ID      string `json:"id"`
	Text    string `json:"text"`
}

// glue hands files to the script in the way in which they come in a page: each
// calls binderySearch. Nothing is kept, as in a browser that begins anew.
const glue = `
var arrived;
function binderySearch(name, data) { arrived = [name, data]; }
function load(name) {
  return new Promise(function (done, fail) {
    arrived = null;
    var err = fetchFile(name);
    if (err) fail(new Error(err));
    else if (!arrived || arrived[0] !== name) fail(new Error(name + " holds " + (arrived && arrived[0])));
    else done(arrived[1]);
  });
}
function ask(index, query) {
  var out = { pages: null, err: null };
  index.find(query).then(function (f) {
    out.pages = JSON.stringify(f.pages.map(function (p) { return { title: p.title, path: p.path, trail: p.trail, score: p.score, sections: p.sections }; }));
  }, function (err) { out.err = String(err && err.stack || err); });
  return out;
}
function begin(name) {
  var out = { index: null, err: null };
  load(name).then(function (root) { out.index = new Index(root, load); }).catch(function (err) { out.err = String(err && err.stack || err); });
  return out;
}
`

// New starts an engine for the index whose root is a file of the bundle. files
// gives a file by its path in the bundle.
func New(root string, files func(name string) (string, bool)) (*Engine, error) {
	e := &Engine{vm: goja.New(), files: files}
	if _, err := e.vm.RunString(search.Core() + glue); err != nil {
		return nil, fmt.Errorf("searchtest: %w", err)
	}
	if err := e.vm.Set("fetchFile", e.fetch); err != nil {
		return nil, fmt.Errorf("searchtest: %w", err)
	}
	name := strings.TrimSuffix(strings.TrimPrefix(root, search.Folder), ".js")
	out, err := e.call("begin", e.vm.ToValue(name))
	if err != nil {
		return nil, err
	}
	e.index = out.Get("index")
	return e, nil
}

// fetch runs a file's script; it returns what went wrong.
func (e *Engine) fetch(name string) string {
	path := search.Folder + name + ".js"
	data, ok := e.files(path)
	if !ok {
		return path + " is not there"
	}
	e.fetched = append(e.fetched, path)
	e.bytes += len(data)
	if _, err := e.vm.RunScript(path, data); err != nil {
		return err.Error()
	}
	return ""
}

// call calls a function of the glue, whose promises are settled when it returns.
func (e *Engine) call(fn string, args ...goja.Value) (*goja.Object, error) {
	f, ok := goja.AssertFunction(e.vm.Get(fn))
	if !ok {
		return nil, fmt.Errorf("searchtest: there is no %s", fn)
	}
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		return nil, fmt.Errorf("searchtest: %w", err)
	}
	out := v.ToObject(e.vm)
	if wrong := out.Get("err"); !goja.IsNull(wrong) {
		return nil, fmt.Errorf("searchtest: %s", wrong)
	}
	return out, nil
}

// Find asks a question.
func (e *Engine) Find(query string) ([]Result, error) {
	out, err := e.call("ask", e.index, e.vm.ToValue(query))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", query, err)
	}
	pages := out.Get("pages")
	if goja.IsNull(pages) {
		return nil, fmt.Errorf("searchtest: %q has no answer", query)
	}
	var results []Result
	return results, json.Unmarshal([]byte(pages.String()), &results)
}

// Fetched are the files that were fetched so far, and their bytes.
func (e *Engine) Fetched() (files []string, bytes int) { return e.fetched, e.bytes }
