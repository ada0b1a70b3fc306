package capability

import (
	"iter"
	"slices"
	"strings"
)

// Kind is where an author writes something.
type Kind string

// The kinds of capabilities.
const (
	Setting   Kind = "setting"   // of docs.json, by its path
	Entry     Kind = "entry"     // a field of an entry of the navigation, at any level
	Head      Kind = "head"      // a field of a page's front matter
	Attribute Kind = "attribute" // of a component or an element, as "Name.attribute"
	Fence     Kind = "fence"     // after the language of a block of code
	Extension Kind = "extension" // of a specification
	Hook      Kind = "hook"      // an id, a class or an attribute for authors' styles and scripts, as a selector
)

// State is what a bundle does about a capability.
type State string

// The states of capabilities. What is Done by half says so in its rule.
const (
	Done State = "done"
	Told State = "told" // without effect, and reported
	// Apart needs a service that runs elsewhere: no file of an author asks for
	// it, so there is nothing to report.
	Apart State = "apart"
)

// Row is one capability.
type Row struct {
	Kind Kind
	// Name is what an author writes: a path for a setting. One that ends with a
	// full stop or a colon stands for all that begin with it.
	Name  string
	State State
	// Rule says what a bundle does, for one that is Told what to do instead. It
	// is the end of a message: no capital, no full stop.
	Rule string
	// Code is the code of the finding for a row that is Told, and Example what
	// an author writes to get it: a value in JSON, a line of YAML, or MDX.
	Code, Example string
	// Loses is set where readers lose something, and not looks alone: the finding
	// is a warning then, and a notice otherwise.
	Loses bool
	// Elsewhere is set where the code that reads the value reports it, because
	// not every value is without effect.
	Elsewhere bool
}

// All returns the rows of a kind in the order of their names.
func All(kind Kind) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for i := range rows {
			if rows[i].Kind == kind && !yield(&rows[i]) {
				return
			}
		}
	}
}

// Find returns the row of a capability, or nil.
func Find(kind Kind, name string) *Row {
	i, found := slices.BinarySearchFunc(rows[:], Row{Kind: kind, Name: name}, compare)
	if found {
		return &rows[i]
	}
	for r := range All(kind) {
		if last := r.Name[len(r.Name)-1]; (last == ':' || last == '.') && strings.HasPrefix(name, r.Name) {
			return r
		}
	}
	return nil
}

// compare orders rows by kind and name.
func compare(a, b Row) int {
	if a.Kind != b.Kind {
		return strings.Compare(string(a.Kind), string(b.Kind))
	}
	return strings.Compare(a.Name, b.Name)
}
