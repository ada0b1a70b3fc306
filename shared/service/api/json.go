package api

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// encoding/json is too kind for requests: it takes null for anything, the last
// of two members of one name, any case, and replaces bad UTF-8 silently. This
// reader is strict (RFC 8259, as I-JSON narrows it in RFC 7493: one member for
// each name, no lone surrogates), and every error of it names the field.

type kind int

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is a JSON value. Text is a string's characters, or a number as it
// stands there.
type value struct {
	kind    kind
	text    string
	items   []value
	members []member
}

type member struct {
	name  string
	value value
}

// maxDepth is more than any body of ours is deep.
const maxDepth = 8

// body is the name of the field that is the whole body.
const bodyField = "body"

type jsonReader struct {
	b  []byte
	at int
}

// parseJSON reads one value and nothing after it.
func parseJSON(b []byte) (value, error) {
	r := jsonReader{b: b}
	r.space()
	if r.at == len(b) {
		return value{}, admin.FieldErrorf(bodyField, "is empty; it must be a JSON object")
	}
	v, err := r.value("", 0)
	if err != nil {
		return value{}, err
	}
	r.space()
	if r.at < len(b) {
		return value{}, r.fault("", "there is more after the JSON value")
	}
	return v, nil
}

func fieldName(path string) string {
	if path == "" {
		return bodyField
	}
	return path
}

func (r *jsonReader) fault(path, format string, args ...any) error {
	return admin.FieldErrorf(fieldName(path), "%s (at byte %d of the body)", fmt.Sprintf(format, args...), r.at)
}

func (r *jsonReader) space() {
	for r.at < len(r.b) {
		switch r.b[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

func (r *jsonReader) peek() byte {
	if r.at < len(r.b) {
		return r.b[r.at]
	}
	return 0
}

func (r *jsonReader) literal(word string) bool {
	if len(r.b)-r.at >= len(word) && string(r.b[r.at:r.at+len(word)]) == word {
		r.at += len(word)
		return true
	}
	return false
}

func (r *jsonReader) value(path string, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, r.fault(path, "is nested too deeply")
	}
	switch c := r.peek(); {
	case c == '{':
		return r.object(path, depth)
	case c == '[':
		return r.array(path, depth)
	case c == '"':
		s, err := r.str(path)
		return value{kind: kindString, text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return r.number(path)
	case r.literal("true"), r.literal("false"):
		return value{kind: kindBool}, nil
	case r.literal("null"):
		return value{kind: kindNull}, nil
	}
	return value{}, r.fault(path, "is not valid JSON")
}

func (r *jsonReader) object(path string, depth int) (value, error) {
	v := value{kind: kindObject}
	seen := make(map[string]bool)
	r.at++
	r.space()
	if r.peek() == '}' {
		r.at++
		return v, nil
	}
	for {
		r.space()
		if r.peek() != '"' {
			return v, r.fault(path, "is not valid JSON: the name of a field was expected")
		}
		name, err := r.str(path)
		if err != nil {
			return v, err
		}
		inner := joined(path, name)
		if seen[name] {
			return v, r.fault(inner, "is there twice")
		}
		seen[name] = true
		r.space()
		if r.peek() != ':' {
			return v, r.fault(inner, "is not valid JSON: a colon was expected")
		}
		r.at++
		r.space()
		item, err := r.value(inner, depth+1)
		if err != nil {
			return v, err
		}
		v.members = append(v.members, member{name, item})
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case '}':
			r.at++
			return v, nil
		default:
			return v, r.fault(path, "is not valid JSON: a comma or the end of the object was expected")
		}
	}
}

func (r *jsonReader) array(path string, depth int) (value, error) {
	v := value{kind: kindArray}
	r.at++
	r.space()
	if r.peek() == ']' {
		r.at++
		return v, nil
	}
	for {
		r.space()
		item, err := r.value(path+"["+strconv.Itoa(len(v.items))+"]", depth+1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.at++
			return v, nil
		default:
			return v, r.fault(path, "is not valid JSON: a comma or the end of the array was expected")
		}
	}
}

func (r *jsonReader) digits() bool {
	from := r.at
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.at++
	}
	return r.at > from
}

func (r *jsonReader) number(path string) (value, error) {
	from := r.at
	if r.peek() == '-' {
		r.at++
	}
	ok := true
	if r.peek() == '0' {
		r.at++
	} else {
		ok = r.digits()
	}
	if ok && r.peek() == '.' {
		r.at++
		ok = r.digits()
	}
	if c := r.peek(); ok && (c == 'e' || c == 'E') {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		ok = r.digits()
	}
	if !ok {
		return value{}, r.fault(path, "is not a valid number")
	}
	return value{kind: kindNumber, text: string(r.b[from:r.at])}, nil
}

// str reads a string; the reader stands at its opening quote.
func (r *jsonReader) str(path string) (string, error) {
	r.at++
	var out []byte
	for r.at < len(r.b) {
		c := r.b[r.at]
		switch {
		case c == '"':
			r.at++
			return string(out), nil
		case c < 0x20:
			return "", r.fault(path, "has a control character that is not escaped")
		case c == '\\':
			r.at++
			ch, ok := r.escape()
			if !ok {
				return "", r.fault(path, "has an escape that is not valid")
			}
			out = utf8.AppendRune(out, ch)
		case c < utf8.RuneSelf:
			out = append(out, c)
			r.at++
		default:
			ch, size := utf8.DecodeRune(r.b[r.at:])
			if ch == utf8.RuneError && size == 1 {
				return "", r.fault(path, "is not valid UTF-8")
			}
			out = append(out, r.b[r.at:r.at+size]...)
			r.at += size
		}
	}
	return "", r.fault(path, "is a string that does not end")
}

// escape reads what follows a backslash.
func (r *jsonReader) escape() (rune, bool) {
	c := r.peek()
	r.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'u':
		ch, ok := r.hex4()
		if !ok || !utf16.IsSurrogate(ch) {
			return ch, ok
		}
		if !r.literal(`\u`) {
			return 0, false
		}
		low, ok := r.hex4()
		if !ok {
			return 0, false
		}
		ch = utf16.DecodeRune(ch, low)
		return ch, ch != utf8.RuneError // two that make no pair
	}
	return 0, false
}

func (r *jsonReader) hex4() (rune, bool) {
	if len(r.b)-r.at < 4 {
		return 0, false
	}
	var ch rune
	for _, c := range r.b[r.at : r.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		ch = ch<<4 | rune(c)
	}
	r.at += 4
	return ch, true
}

// joined is the path of a member. Names come from outside: what would spoil a
// message is quoted, what is long is cut.
func joined(path, name string) string {
	if !plainName(name) {
		const most = 64
		if r := []rune(name); len(r) > most {
			name = string(r[:most]) + "…"
		}
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plainName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
