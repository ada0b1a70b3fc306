package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits of a file. They stop only what no author wrote.
const (
	// maxFileBytes is how large a file may be; the largest public
	// specifications have about 20 MB.
	maxFileBytes = 64 << 20
	// maxDepth is how deep values may lie in each other.
	maxDepth = 200
)

// valueKind is what a value of a file is.
type valueKind uint8

const (
	nullValue valueKind = iota
	boolValue
	numberValue
	stringValue
	listValue
	objectValue
)

// value is a value of JSON or YAML, which knows its line. Objects keep the order in which
// their author wrote them: readers see properties in that order.
type value struct {
	kind valueKind
	line int32
	// text has the characters of a scalar.
	text string
	// plain is a number or a boolean as JSON, where YAML has written it otherwise.
	plain   string
	items   []*value
	members []member
	// index finds members of large objects.
	index map[string]*value
}

type member struct {
	key  string
	line int32
	val  *value
}

// get returns the member of an object with this name, nil if there is none.
func (v *value) get(key string) *value {
	if v == nil || v.kind != objectValue {
		return nil
	}
	if len(v.members) > 16 {
		if v.index == nil {
			v.index = make(map[string]*value, len(v.members))
			for _, m := range v.members {
				v.index[m.key] = m.val
			}
		}
		return v.index[key]
	}
	for i := len(v.members) - 1; i >= 0; i-- { // the last one counts
		if v.members[i].key == key {
			return v.members[i].val
		}
	}
	return nil
}

// find is get without an index: for one look at each object of a file.
func (v *value) find(key string) *value {
	for i := len(v.fields()) - 1; i >= 0; i-- {
		if v.members[i].key == key {
			return v.members[i].val
		}
	}
	return nil
}

// str returns a string's text, or a scalar's as it is written; "" for others.
func (v *value) str() string {
	if v == nil || v.kind == nullValue || v.kind > stringValue {
		return ""
	}
	return v.text
}

// first returns the text of the first of these members that has one.
func (v *value) first(keys ...string) string {
	for _, k := range keys {
		if s := v.get(k).str(); s != "" {
			return s
		}
	}
	return ""
}

func (v *value) isTrue() bool  { return v != nil && v.kind == boolValue && v.literal() == "true" }
func (v *value) isFalse() bool { return v != nil && v.kind == boolValue && v.literal() == "false" }

// literal returns a number or a boolean as JSON.
func (v *value) literal() string { return cmp.Or(v.plain, v.text) }

func (v *value) list() []*value {
	if v == nil || v.kind != listValue {
		return nil
	}
	return v.items
}

// fields returns the members of an object.
func (v *value) fields() []member {
	if v == nil || v.kind != objectValue {
		return nil
	}
	return v.members
}

// texts returns the texts of a list, or a single text as a list of one.
func (v *value) texts() []string {
	if v == nil {
		return nil
	}
	if v.kind == stringValue {
		return []string{v.text}
	}
	var out []string
	for _, i := range v.list() {
		if s := i.str(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// errTooLarge is returned for a value whose JSON does not fit.
var errTooLarge = errors.New("the value is too large")

// json returns a value as JSON of at most limit bytes, objects in the order of
// the file. Aliases make small files of huge values, so the limit matters.
func (v *value) json(limit int) (json.RawMessage, error) {
	b, err := v.appendJSON(nil, limit, 0)
	return b, err
}

func (v *value) appendJSON(b []byte, limit, depth int) ([]byte, error) {
	if len(b) > limit || depth > maxDepth {
		return b, errTooLarge
	}
	var err error
	switch {
	case v == nil || v.kind == nullValue:
		return append(b, "null"...), nil
	case v.kind == listValue:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = item.appendJSON(b, limit, depth+1); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case v.kind == objectValue:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSONString(b, m.key), ':')
			if b, err = m.val.appendJSON(b, limit, depth+1); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	case v.kind == stringValue:
		if len(b)+len(v.text) > limit {
			return b, errTooLarge
		}
		return appendJSONString(b, v.text), nil
	}
	return append(b, v.literal()...), nil
}

// appendJSONString appends a string as JSON, without the escapes for HTML.
func appendJSONString(b []byte, s string) []byte {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f || r == '"' || r == '\\' }) < 0 {
		return append(append(append(b, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// Members returns the names of the members at the top of a file, JSON or the first
// document of YAML, in their order; nil if the file can't be read or is no object.
func Members(src []byte) []string {
	v, err := parse(src)
	if err != nil {
		return nil
	}
	var all []string
	for _, m := range v.members {
		all = append(all, m.key)
	}
	return all
}

// fault is what is wrong with a file, at a line (0 where there is none).
type fault struct {
	line    int
	message string
}

func (f *fault) Error() string { return f.message }

// parse reads a file, JSON or YAML.
func parse(src []byte) (v *value, err error) {
	if len(src) > maxFileBytes {
		return nil, &fault{message: fmt.Sprintf("the file has more than %d MiB", maxFileBytes>>20)}
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(src, " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] == '{' {
		v, err := parseJSON(src)
		if err == nil {
			return v, nil
		}
		// Flow style YAML begins with a brace too, and may have comments.
		if y, yamlErr := parseYAML(src); yamlErr == nil {
			return y, nil
		}
		return nil, err
	}
	return parseYAML(src)
}

func parseJSON(src []byte) (*value, error) {
	v, err := basejson.Parse(src, basejson.Options{Depth: maxDepth, Lenient: true})
	if e, ok := errors.AsType[*basejson.Error](err); ok {
		if e.Deep {
			return nil, &fault{line: e.Line, message: "values lie too deep in each other"}
		}
		return nil, &fault{line: e.Line, message: "the file is not JSON: " + e.Message}
	}
	return newValue(v), err
}

var kinds = [...]valueKind{
	basejson.Null: nullValue, basejson.Bool: boolValue, basejson.Number: numberValue, basejson.String: stringValue,
	basejson.Array: listValue, basejson.Object: objectValue,
}

// newValue takes a value apart: of a large file there is never twice as much.
func newValue(from *basejson.Value) *value {
	v := &value{kind: kinds[from.Kind], line: int32(from.Line)}
	if v.kind != nullValue {
		v.text = from.Text
	}
	for i, item := range from.Items {
		v.items = append(v.items, newValue(item))
		from.Items[i] = nil
	}
	for i, m := range from.Members {
		v.members = append(v.members, member{m.Name, int32(m.Line), newValue(m.Value)})
		from.Members[i].Value = nil
	}
	return v
}

func parseYAML(src []byte) (v *value, err error) {
	defer func() {
		// The parser is another's; no file may end an export.
		if p := recover(); p != nil {
			v, err = nil, &fault{message: "the file can't be read as YAML"}
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		f := &fault{message: "the file is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
		if _, scanErr := fmt.Sscanf(err.Error(), "yaml: line %d:", &f.line); scanErr != nil {
			f.line = 0
		}
		return nil, f
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, &fault{message: "the file is empty"}
	}
	c := converter{done: map[*yaml.Node]*value{}}
	return c.value(doc.Content[0], 0)
}

// converter makes values of YAML's nodes. What an anchor names is one value,
// wherever it is used.
type converter struct {
	done   map[*yaml.Node]*value // those with an anchor; nil while in work
	merged int                   // members that merge keys brought, or would have
}

func (c *converter) value(n *yaml.Node, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, &fault{line: n.Line, message: "values lie too deep in each other"}
	}
	if n.Kind == yaml.AliasNode {
		v, seen := c.done[n.Alias]
		if !seen {
			return c.value(n.Alias, depth)
		}
		if v == nil {
			return nil, &fault{line: n.Line, message: "an anchor holds itself"}
		}
		return v, nil
	}
	if n.Anchor != "" {
		c.done[n] = nil
	}
	v := &value{line: int32(n.Line)}
	switch n.Kind {
	case yaml.SequenceNode:
		v.kind = listValue
		v.items = make([]*value, 0, len(n.Content))
		for _, i := range n.Content {
			item, err := c.value(i, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
	case yaml.MappingNode:
		if err := c.object(v, n, depth); err != nil {
			return nil, err
		}
	case yaml.ScalarNode:
		v.scalar(n)
	}
	if n.Anchor != "" {
		c.done[n] = v
	}
	return v, nil
}

func (c *converter) object(v *value, n *yaml.Node, depth int) error {
	v.kind = objectValue
	v.members = make([]member, 0, len(n.Content)/2)
	var merged []*value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		item, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if key.Tag == "!!merge" {
			if item.kind == listValue {
				merged = append(merged, item.items...)
			} else {
				merged = append(merged, item)
			}
			continue
		}
		name := key.Value
		if key.Kind == yaml.AliasNode && key.Alias != nil {
			name = key.Alias.Value
		}
		v.members = append(v.members, member{name, int32(key.Line), item})
	}
	if len(merged) == 0 {
		return nil
	}
	have := make(map[string]bool, len(v.members))
	for _, m := range v.members {
		have[m.key] = true
	}
	for _, other := range merged {
		for _, m := range other.fields() {
			if c.merged++; c.merged > maxFileMerged || !have[m.key] && len(v.members) >= maxMerged {
				return &fault{line: n.Line, message: fmt.Sprintf("merge keys bring more than %d members to an object, or %d to the file", maxMerged, maxFileMerged)}
			}
			if !have[m.key] {
				have[m.key] = true
				v.members = append(v.members, m)
			}
		}
	}
	return nil
}

// The core schema of YAML 1.2 (YAML 1.2.2, section 10.3.2) for numbers.
var (
	coreInt   = lazy.Regexp(`^[-+]?[0-9]+$`)
	coreOctal = lazy.Regexp(`^0o[0-7]+$`)
	coreHex   = lazy.Regexp(`^0x[0-9a-fA-F]+$`)
	coreFloat = lazy.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// scalar reads a scalar by the core schema of YAML 1.2, whatever the parser takes it
// for: 010 is ten, 1_000 and yes are text. What JSON has no form for is text:
// dates, infinity.
func (v *value) scalar(n *yaml.Node) {
	v.kind, v.text = stringValue, n.Value
	if n.Style&^yaml.FlowStyle&^yaml.TaggedStyle != 0 || n.Style&yaml.TaggedStyle != 0 && n.Tag == "!!str" {
		return // quoted, a block, or called a text
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		v.kind, v.text = nullValue, ""
		return
	case "true", "True", "TRUE", "false", "False", "FALSE":
		v.kind = boolValue
		v.setPlain(strings.ToLower(n.Value))
		return
	}
	first := n.Value[0]
	if first != '-' && first != '+' && first != '.' && (first < '0' || first > '9') || len(n.Value) > maxDigits {
		return
	}
	var whole big.Int
	switch {
	case coreInt().MatchString(n.Value):
		whole.SetString(n.Value, 10)
		v.kind = numberValue
		v.setPlain(whole.String())
	case coreOctal().MatchString(n.Value), coreHex().MatchString(n.Value):
		whole.SetString(n.Value, 0)
		v.kind = numberValue
		v.setPlain(whole.String())
	case coreFloat().MatchString(n.Value):
		text := strings.TrimPrefix(n.Value, "+")
		if !json.Valid([]byte(text)) { // leading zeros, or nothing on one side of the point
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return
			}
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		v.kind = numberValue
		v.setPlain(text)
	}
}

// maxDigits is how long a number may be. Longer ones are text.
const maxDigits = 1000

// setPlain notes a scalar's JSON if its characters are not it.
func (v *value) setPlain(text string) {
	if text != v.text {
		v.plain = text
	}
}
