package json

import (
	"strconv"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as messages do, with its article.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Value is a JSON value.
type Value struct {
	Kind Kind
	// Text is a string's characters, or any other scalar as it is written.
	Text string
	// Offset is where the value begins, in bytes of the source. Line and Column
	// are the same from 1, the column in bytes; a byte order mark counts.
	Offset, Line, Column int
	// End is just past the value's last byte.
	End int
	// Items are those of an array, Members those of an object, both as written.
	Items   []*Value
	Members []Member

	up *Value // the array or object around it
	at int    // among up's items or members
}

// Member is one member of an object.
type Member struct {
	Name string
	// Line is where the name stands, Offset where its quote does.
	Line, Offset int
	Value        *Value
}

// Path is where a value stands, as messages name it: packs[1].sizeBytes. It is
// empty for the whole document.
func (v *Value) Path() string {
	switch {
	case v == nil || v.up == nil:
		return ""
	case v.up.Kind == Array:
		return v.up.Path() + "[" + strconv.Itoa(v.at) + "]"
	}
	return Join(v.up.Path(), v.up.Members[v.at].Name)
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is where a value stands as a JSON pointer (RFC 6901).
func (v *Value) Pointer() string {
	switch {
	case v == nil || v.up == nil:
		return ""
	case v.up.Kind == Array:
		return v.up.Pointer() + "/" + strconv.Itoa(v.at)
	}
	return v.up.Pointer() + "/" + escapePointer.Replace(v.up.Members[v.at].Name)
}

// Join is the path of a member. Names come from outside: what would spoil a
// message is quoted, what is long is cut.
func Join(path, name string) string {
	if !plain(name) {
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

func plain(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}) < 0
}

// Fields takes the members of an object one by one; those that were not taken are
// not known.
type Fields struct {
	*Value
	taken map[string]bool
}

// Fields returns a value's members for taking. What is not an object has none.
func (v *Value) Fields() *Fields { return &Fields{v, make(map[string]bool)} }

// Take returns the last member of a name, nil if there is none, and marks the
// name as known.
func (f *Fields) Take(name string) *Value {
	f.taken[name] = true
	for i := len(f.Members) - 1; i >= 0; i-- {
		if f.Members[i].Name == name {
			return f.Members[i].Value
		}
	}
	return nil
}

// Unknown returns the first name that was not taken; ok is false if all are
// known.
func (f *Fields) Unknown() (name string, ok bool) {
	for _, m := range f.Members {
		if !f.taken[m.Name] {
			return m.Name, true
		}
	}
	return "", false
}
