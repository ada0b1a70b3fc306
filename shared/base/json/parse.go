package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Options are how a text is read.
type Options struct {
	// Depth is how deep values may lie in each other; the document itself lies
	// at depth 0.
	Depth int
	// Values is how many values the text may have, 0 for any number: one of two
	// bytes takes a hundred in memory.
	Values int
	// Lenient takes what encoding/json takes: names that stand twice, bytes that
	// are not UTF-8 and lone surrogates, which are replaced; and a byte order
	// mark. Syntax errors are then in encoding/json's words.
	Lenient bool
}

// Error is what is wrong with a text, and where.
type Error struct {
	// Path and Pointer name the value, as Value's do.
	Path, Pointer string
	// Offset, Line and Column are the place, as Value's are.
	Offset, Line, Column int
	// Message says what is wrong, of the value: "is nested too deeply".
	Message string
	// Deep reports that the limit of depth was met, Many that of values, Cut
	// that the text ends too early.
	Deep, Many, Cut bool
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

const (
	byteOrderMark = "\ufeff"
	space         = " \t\r\n"
)

// Parse reads one value and nothing after it. It returns an *Error.
func Parse(src []byte, o Options) (*Value, error) {
	r := newReader(src, o)
	v := &Value{}
	if err := r.value(v, 0); err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return v, nil
}

type reader struct {
	Options
	src  []byte
	dec  *jsontext.Decoder
	skip int // where the decoder's text begins
	read int // values
	// The last place that was asked for, its line, and where that begins.
	seen, line, begin int
}

func newReader(src []byte, o Options) *reader {
	r := &reader{Options: o, src: src, line: 1}
	if o.Lenient && bytes.HasPrefix(src, []byte(byteOrderMark)) {
		r.skip = len(byteOrderMark)
	}
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(src[r.skip:]), jsontext.AllowDuplicateNames(o.Lenient), jsontext.AllowInvalidUTF8(o.Lenient))
	return r
}

// end refuses what follows the value.
func (r *reader) end() error {
	if at := r.next(space); at < len(r.src) {
		return r.syntax(&Value{}, at, "there is more after the JSON value")
	}
	return nil
}

// offset is how far the decoder has read.
func (r *reader) offset() int { return r.skip + int(r.dec.InputOffset()) }

// next returns where the next token begins, after bytes of these.
func (r *reader) next(over string) int {
	at := r.offset()
	for at < len(r.src) && bytes.IndexByte([]byte(over), r.src[at]) >= 0 {
		at++
	}
	return at
}

// place returns line and column of an offset; offsets come in order.
func (r *reader) place(offset int) (line, column int) {
	if offset < r.seen {
		r.seen, r.line, r.begin = 0, 1, 0
	}
	passed := r.src[r.seen:offset]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		r.line += bytes.Count(passed, []byte("\n"))
		r.begin = r.seen + last + 1
	}
	r.seen = offset
	return r.line, offset - r.begin + 1
}

// value reads what follows into v, which has its place in the tree.
func (r *reader) value(v *Value, depth int) error {
	v.Offset = r.next(space + ",:")
	v.Line, v.Column = r.place(v.Offset)
	if depth > r.Depth {
		e := r.fault(v, v.Offset, "is nested too deeply")
		e.Deep = true
		return e
	}
	if r.read++; r.Values > 0 && r.read > r.Values {
		e := r.fault(v, v.Offset, "is one value too many")
		e.Many = true
		return e
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return r.explain(v, err)
	}
	switch token.Kind() {
	case '[':
		v.Kind = Array
		for r.dec.PeekKind() != ']' {
			item := &Value{up: v, at: len(v.Items)}
			if err := r.value(item, depth+1); err != nil {
				return err
			}
			v.Items = append(v.Items, item)
		}
		_, err = r.dec.ReadToken()
		v.End = r.offset()
		return err
	case '{':
		v.Kind = Object
		for r.dec.PeekKind() != '}' {
			at := r.next(space + ",")
			token, err := r.dec.ReadToken()
			if err != nil {
				return r.explain(v, err)
			}
			line, _ := r.place(at)
			item := &Value{up: v, at: len(v.Members)}
			v.Members = append(v.Members, Member{token.String(), line, at, item})
			if err := r.value(item, depth+1); err != nil {
				return err
			}
		}
		_, err = r.dec.ReadToken()
		v.End = r.offset()
		return err
	case '"':
		v.Kind = String
	case '0':
		v.Kind = Number
	case 't', 'f':
		v.Kind = Bool
	}
	v.Text, v.End = token.String(), r.offset()
	return nil
}

func (r *reader) fault(v *Value, offset int, message string) *Error {
	e := &Error{Path: v.Path(), Pointer: v.Pointer(), Offset: offset, Message: message}
	e.Line, e.Column = r.place(offset)
	return e
}

// explain says what the decoder met at v, the value that was to be read or the
// object whose next name was. Its own words may change with its version, so
// they are not used: the place of the error and what was read say enough.
func (r *reader) explain(v *Value, err error) *Error {
	at, duplicate := len(r.src), false
	var s *jsontext.SyntacticError
	if errors.As(err, &s) && !errors.Is(err, io.ErrUnexpectedEOF) {
		at = r.skip + int(s.ByteOffset)
		duplicate = errors.Is(err, jsontext.ErrDuplicateName)
	}
	if duplicate {
		v.Members = append(v.Members, Member{Name: s.JSONPointer.LastToken()})
		return r.fault(&Value{up: v, at: len(v.Members) - 1}, at, "is there twice")
	}
	kind, read := r.dec.StackIndex(r.dec.StackDepth())
	token := r.next(space + ",:")
	between := r.src[r.offset():token]
	message := "is not valid JSON"
	switch {
	case token < at && r.src[token] == '"':
		message = faultOfString(r.src[at:])
	case token < at && bytes.IndexByte([]byte("-0123456789"), r.src[token]) >= 0:
		message = "is not a valid number"
	case kind == '[' && read > 0 && bytes.IndexByte(between, ',') < 0:
		v = v.up
		message += ": a comma or the end of the array was expected"
	case kind == '{' && read%2 == 1 && bytes.IndexByte(between, ':') < 0:
		message += ": a colon was expected"
	case kind == '{' && read%2 == 0 && read > 0 && bytes.IndexByte(between, ',') < 0:
		message += ": a comma or the end of the object was expected"
	case kind == '{' && read%2 == 0:
		message += ": the name of a field was expected"
	}
	return r.syntax(v, at, message)
}

// faultOfString says what is wrong with a string whose rest this is.
func faultOfString(rest []byte) string {
	switch {
	case len(rest) == 0:
		return "is a string that does not end"
	case rest[0] == '\\':
		return "has an escape that is not valid"
	case rest[0] < 0x20:
		return "has a control character that is not escaped"
	}
	return "is not valid UTF-8"
}

// syntax is a fault of the syntax.
func (r *reader) syntax(v *Value, offset int, message string) *Error {
	cut := offset >= len(r.src)
	var whole json.RawMessage
	var s *json.SyntaxError
	if r.Lenient && errors.As(json.Unmarshal(r.src[r.skip:], &whole), &s) {
		message, offset = s.Error(), r.skip+max(int(s.Offset)-1, 0)
		if cut = message == "unexpected end of JSON input"; cut {
			offset = len(bytes.TrimRight(r.src, space))
		}
	}
	e := r.fault(v, offset, message)
	e.Cut = cut
	return e
}
