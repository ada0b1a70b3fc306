package tool

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/edit"
)

// document is a JSON file that is edited in place and keeps its formatting.
type document struct {
	file string
	src  []byte
	root *json.Value
	// unit is one step of indentation, newline the end of a line.
	unit, newline string
}

// pair and pairs are an object to be written, in order.
type pair struct {
	name  string
	value any // a string, []any or pairs
}

type pairs []pair

func newDocument(file string, src []byte) (*document, error) {
	root, err := json.Parse(src, json.Options{Depth: jsonDepth, Lenient: true})
	if err != nil {
		return nil, fmt.Errorf("%s: this is not JSON: %w", file, err)
	}
	d := &document{file: file, src: src, root: root, unit: "  ", newline: "\n"}
	if bytes.Contains(src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	first := -1
	switch {
	case len(root.Members) > 0:
		first = root.Members[0].Offset
	case len(root.Items) > 0:
		first = root.Items[0].Offset
	}
	if first >= 0 {
		if indent, alone := d.indentAt(first); alone && indent != "" {
			d.unit = indent
		}
	}
	return d, nil
}

// indentAt returns the white space that the line at an offset begins with;
// alone reports whether nothing else is before the offset.
func (d *document) indentAt(at int) (indent string, alone bool) {
	line := d.src[bytes.LastIndexByte(d.src[:at], '\n')+1 : at]
	n := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:n]), n == len(line)
}

// quote writes a text in JSON as people do.
func quote(s string) string {
	var b bytes.Buffer
	e := stdjson.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// render writes a value: on one line, or with lines indented from indent on.
func (d *document) render(v any, indent string, inline bool) string {
	open, end := "{", "}"
	var parts []string
	inner := indent + d.unit
	switch v := v.(type) {
	case raw:
		return d.reindent(v, indent)
	case string:
		return quote(v)
	case []any:
		open, end = "[", "]"
		for _, item := range v {
			parts = append(parts, d.render(item, inner, inline))
		}
	case pairs:
		for _, p := range v {
			parts = append(parts, quote(p.name)+": "+d.render(p.value, inner, inline))
		}
	}
	switch {
	case len(parts) == 0:
		return open + end
	case inline && open == "{":
		return "{ " + strings.Join(parts, ", ") + " }"
	case inline:
		return "[" + strings.Join(parts, ", ") + "]"
	}
	between := "," + d.newline + inner
	return open + d.newline + inner + strings.Join(parts, between) + d.newline + indent + end
}

// raw is the text of a value in a document, and its indentation.
type raw struct{ text, indent string }

// reindent returns a value's text with its further lines moved to an indentation.
func (d *document) reindent(v raw, indent string) string {
	lines := strings.Split(v.text, "\n")
	for i := 1; i < len(lines); i++ {
		if rest, ok := strings.CutPrefix(lines[i], v.indent); ok {
			lines[i] = indent + rest
		}
	}
	return strings.Join(lines, "\n")
}

// place is where an item or a member of a container is or comes.
type place struct{ start, end int }

func places(v *json.Value) []place {
	var all []place
	for _, i := range v.Items {
		all = append(all, place{i.Offset, i.End})
	}
	for _, m := range v.Members {
		all = append(all, place{m.Offset, m.Value.End})
	}
	return all
}

// insert returns the change that puts a value into an array at an index, or a
// member at the end of an object, in the style of what stands there.
func (d *document) insert(in *json.Value, at int, name string, v any) edit.Change {
	all := places(in)
	text := func(indent string, inline bool) string {
		if in.Kind == json.Object {
			return quote(name) + ": " + d.render(v, indent, inline)
		}
		return d.render(v, indent, inline)
	}
	if len(all) == 0 {
		outer, _ := d.indentAt(in.Offset)
		open, end := string(d.src[in.Offset]), string(d.src[in.End-1])
		after, _, _ := bytes.Cut(d.src[in.End:], []byte("\n"))
		if !bytes.Contains(d.src, []byte("\n")) || bytes.HasPrefix(bytes.TrimLeft(after, " \t"), []byte("}")) { // on one line with what is around it
			return edit.Change{Span: edit.Span{From: in.Offset, To: in.End}, Text: open + text("", true) + end}
		}
		indent := outer + d.unit
		return edit.Change{Span: edit.Span{From: in.Offset, To: in.End}, Text: open + d.newline + indent + text(indent, false) + d.newline + outer + end}
	}
	near := all[min(at, len(all)-1)]
	indent, alone := d.indentAt(near.start)
	separator := ", "
	if alone {
		separator = "," + d.newline + indent
	} else if len(all) > 1 {
		separator = "," + strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(string(d.src[all[0].end:all[1].start])), ","), " ")
		if d.src[all[1].start-1] == ' ' {
			separator = ", "
		}
	}
	// What is near is on one line, and so is what is added.
	inline := !alone || d.src[near.start] == '{' && !bytes.Contains(d.src[near.start:near.end], []byte("\n"))
	value := text(indent, inline)
	if at < len(all) {
		return edit.Change{Span: edit.Span{From: near.start, To: near.start}, Text: value + separator}
	}
	last := all[len(all)-1]
	return edit.Change{Span: edit.Span{From: last.end, To: last.end}, Text: separator + value}
}

// remove returns the change that takes an item out of an array.
func (d *document) remove(from *json.Value, at int) edit.Change {
	all := places(from)
	switch {
	case len(all) == 1:
		return edit.Change{Span: edit.Span{From: from.Offset + 1, To: from.End - 1}, Text: ""}
	case at+1 < len(all):
		return edit.Change{Span: edit.Span{From: all[at].start, To: all[at+1].start}, Text: ""}
	}
	return edit.Change{Span: edit.Span{From: all[at-1].end, To: all[at].end}, Text: ""}
}

// rawOf returns a value's own text, to be put elsewhere.
func (d *document) rawOf(v *json.Value) raw {
	indent, _ := d.indentAt(v.Offset)
	return raw{string(d.src[v.Offset:v.End]), indent}
}

// member returns the last member with a name, or nil.
func member(v *json.Value, name string) *json.Value {
	if v == nil || v.Kind != json.Object {
		return nil
	}
	return v.Fields().Take(name)
}

// maxConfigFiles is the most files that a configuration may consist of.
const maxConfigFiles = 200

// configDocuments returns the configuration and the files that it refers to, by
// name. What can't be read is left out.
func (t *Tree) configDocuments() map[string]*document {
	all := map[string]*document{}
	var open func(file string)
	open = func(file string) {
		if all[file] != nil || len(all) >= maxConfigFiles || !t.text(file) {
			return
		}
		src, err := t.read(file)
		if err != nil {
			return
		}
		d, err := newDocument(file, src)
		if err != nil {
			return
		}
		all[file] = d
		walkTexts(d.root, nil, func(v *json.Value, keys []string) {
			if len(keys) > 0 && keys[len(keys)-1] == "$ref" {
				if to := refFile(file, v.Text); to != "" {
					open(to)
				}
			}
		})
	}
	if name := t.configFile(); name != "" {
		open(name)
	}
	return all
}

// refFile returns the file that a $ref names, "" for one outside the site.
func refFile(from, target string) string {
	switch {
	case target == "" || target[0] == '#' || strings.Contains(target, "//"):
		return ""
	case target[0] == '/':
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return path.Join(path.Dir(from), target)
}

// walkTexts calls fn for each text in a value, with the names of the members
// around it.
func walkTexts(v *json.Value, keys []string, fn func(v *json.Value, keys []string)) {
	if v.Kind == json.String {
		fn(v, keys)
	}
	for _, i := range v.Items {
		walkTexts(i, keys, fn)
	}
	for _, m := range v.Members {
		walkTexts(m.Value, append(keys[:len(keys):len(keys)], m.Name), fn)
	}
}
