package island

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// maxDepth bounds how deep what is shown may nest.
const maxDepth = 200

// nodes reads what $show wrote.
func nodes(raw []json.RawMessage) ([]Node, error) {
	var r treeReader
	out := r.nodes(raw, 0)
	return out, r.err
}

// treeReader keeps the first error.
type treeReader struct{ err error }

func (r *treeReader) fail(err error) { r.err = cmp.Or(r.err, err) }

func (r *treeReader) nodes(raw []json.RawMessage, depth int) []Node {
	if depth > maxDepth {
		r.fail(fmt.Errorf("what it shows nests deeper than %d elements", maxDepth))
		return nil
	}
	out := make([]Node, 0, len(raw))
	for _, one := range raw {
		if len(one) > 0 && one[0] == '"' {
			var n Node
			r.fail(json.Unmarshal(one, &n.Text))
			out = append(out, n)
			continue
		}
		var e struct {
			Tag     string            `json:"t"`
			Builtin bool              `json:"b"`
			Key     string            `json:"k"`
			Attrs   json.RawMessage   `json:"p"`
			Content []json.RawMessage `json:"c"`
		}
		if r.fail(json.Unmarshal(one, &e)); r.err != nil {
			return nil
		}
		out = append(out, Node{Tag: e.Tag, Builtin: e.Builtin, Key: e.Key, Attrs: r.attrs(e.Attrs, depth), Children: r.nodes(e.Content, depth+1)})
	}
	return out
}

// attrs reads an object's members in their order.
func (r *treeReader) attrs(raw json.RawMessage, depth int) []Attr {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	r.fail(err)
	var out []Attr
	for r.err == nil && dec.More() {
		name, err := dec.Token()
		r.fail(err)
		key, ok := name.(string)
		if !ok {
			r.fail(errors.New("an attribute has no name"))
		}
		a := Attr{Name: key}
		r.fail(dec.Decode(&a.Value))
		if bytes.HasPrefix(a.Value, []byte(`{"$shown":`)) {
			var shown struct {
				Nodes []json.RawMessage `json:"$shown"`
			}
			r.fail(json.Unmarshal(a.Value, &shown))
			a.Value, a.Shown = nil, r.nodes(shown.Nodes, depth+1)
		}
		out = append(out, a)
	}
	return out
}

// unknownName are the errors about what only browsers have.
var unknownName = lazy.Regexp(`^ReferenceError: (?:window|self|document|navigator|location|history|screen|visualViewport|` +
	`localStorage|sessionStorage|indexedDB|caches|cookieStore|fetch|Headers|Request|Response|FormData|XMLHttpRequest|WebSocket|EventSource|` +
	`BroadcastChannel|MessageChannel|Worker|Intl|URL|URLSearchParams|URLPattern|Image|Audio|Option|FileReader|File|Blob|crypto|performance|` +
	`alert|confirm|prompt|atob|btoa|structuredClone|TextEncoder|TextDecoder|AbortController|AbortSignal|` +
	`matchMedia|getComputedStyle|getSelection|requestAnimationFrame|cancelAnimationFrame|requestIdleCallback|cancelIdleCallback|` +
	`innerWidth|innerHeight|outerWidth|outerHeight|scrollX|scrollY|pageXOffset|pageYOffset|scrollTo|scrollBy|devicePixelRatio|` +
	`addEventListener|removeEventListener|dispatchEvent|Event|CustomEvent|EventTarget|Node|Element|HTMLElement|SVGElement|DOMParser|XMLSerializer|` +
	`customElements|CSS|MutationObserver|IntersectionObserver|ResizeObserver|PerformanceObserver|Notification|speechSynthesis|SpeechSynthesisUtterance|` +
	`OffscreenCanvas|Path2D|ImageData|AudioContext|MediaRecorder|ClipboardItem) is not defined$`)

// located finds the place of an error in the author's files. apart is the map of the
// source's own script, if it has one.
func located(o outcome, source Source, sourceMap, apart []byte) *Error {
	e := &Error{Message: o.err, Limit: o.limit, Steps: o.steps}
	if unknownName().MatchString(o.err) {
		e.Browser = true
		e.Message += ": pages are shown first where there is no browser, so use it in an effect or a handler"
	}
	whole, _ := sourcemap.Parse("", sourceMap)
	own, _ := sourcemap.Parse("", apart)
	for _, f := range o.frames {
		consumer := whole
		if f.apart {
			consumer = own
		}
		if consumer == nil {
			continue
		}
		file, name, line, _, ok := consumer.Source(f.line, f.column)
		if !ok {
			continue
		}
		name = cmp.Or(name, f.fn)
		if strings.HasPrefix(name, "$island") || f.apart && name == "show" { // the page itself
			name = ""
		}
		switch ours := strings.HasPrefix(file, "statements:"); {
		case f.apart:
			file, line = source.File, source.Line+min(max(line-2, 0), strings.Count(source.Expression, "\n"))
		case ours:
			file, line = source.File, source.lineOf(line)
		default:
			file = strings.TrimPrefix(file, "site:")
		}
		if file == entryName || strings.HasPrefix(file, "runtime:") {
			continue
		}
		if e.File == "" {
			e.File, e.Line = file, line
		}
		at := fmt.Sprintf("%s:%d", file, line)
		if name != "" {
			at = name + " (" + at + ")"
		}
		if len(e.Stack) == 0 || e.Stack[len(e.Stack)-1] != at {
			e.Stack = append(e.Stack, at)
		}
	}
	if e.File == "" {
		e.File, e.Line = source.File, source.Line
	}
	return e
}

// lineOf returns the line of the file for one of the module that bundle makes of
// it.
func (s *Source) lineOf(line int) int {
	first := strings.Count(s.Module, "\n") + 3
	if line >= first {
		return s.Line + min(line-first, strings.Count(s.Expression, "\n"))
	}
	return line
}
