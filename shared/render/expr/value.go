package expr

import "fmt"

// Object is the value of an object: its members in the order in which they were
// written.
type Object []Member

// Member is one member of an Object.
type Member struct {
	Key   string
	Value any
}

// Get returns the value of a key, that of the last member if it stands twice.
func (o Object) Get(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return o[i].Value, true
		}
	}
	return nil, false
}

// Function is a function of the source.
type Function struct {
	params []param
	body   node   // an arrow's expression, or
	block  []stmt // a body of statements
	scope  *Scope
}

// Source is a text that elements of JSX stand in.
type Source struct {
	Text string
	// Origin is the host's: where the text was found.
	Origin any
}

// Scope holds the values of names. The zero Scope is empty.
type Scope struct {
	parent *Scope
	vars   map[string]any
	// Host is the host's; scopes below the one it is set on share it.
	Host any
}

// NewScope makes a scope whose names may hide those of parent.
func NewScope(parent *Scope) *Scope {
	s := &Scope{parent: parent}
	if parent != nil {
		s.Host = parent.Host
	}
	return s
}

// Set binds a name.
func (s *Scope) Set(name string, v any) {
	if s.vars == nil {
		s.vars = map[string]any{}
	}
	s.vars[name] = v
}

// Lookup finds the value of a name. A *Lazy is returned as it is.
func (s *Scope) Lookup(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// Lazy is a constant that is evaluated when it is first asked for, so that
// constants may name each other in any order.
type Lazy struct {
	Source *Source
	Scope  *Scope
	done   bool
	busy   bool
	value  any
	err    error
}

// Opaque stands for a value that only an engine could make.
type Opaque struct{ Reason string }

// Unsupported says what of a source needs a JavaScript engine.
type Unsupported struct{ Reason string }

func (e *Unsupported) Error() string { return e.Reason }

func unsupported(format string, args ...any) error {
	return &Unsupported{fmt.Sprintf(format, args...)}
}

// Limits of one Machine.
const (
	// maxSteps bounds the work of all evaluations together.
	maxSteps = 300_000
	maxDepth = 150
	// maxText bounds a string, in bytes, maxList a list, and maxMembers an
	// object.
	maxText    = 1 << 20
	maxList    = 50_000
	maxMembers = 2000
)

// Host is who evaluates: it makes values of JSX.
type Host interface {
	// Element returns the value of an element; its attributes and children are
	// evaluated by calls of the Machine.
	Element(m *Machine, e *Element, sc *Scope) (any, error)
}

// Machine evaluates; it is for one goroutine.
type Machine struct {
	Host  Host
	steps int
	depth int
}

// charge accounts for work.
func (m *Machine) charge(n int) {
	if m.steps += n; m.steps > maxSteps {
		fail("it takes too many steps")
	}
}
