package expr

// node is an expression: a value itself (string, float64,
// bool, nil, []any or Object), or one of the types below.
type node = any

type (
	name     struct{ name string }
	template struct {
		texts []string
		parts []node
	}
	spread struct{ of node }
	list   struct{ items []node } // an item may be a spread
	object struct{ members []memberExpr }
	// memberExpr is key: value, with a computed key, or a spread.
	memberExpr struct {
		key      string
		computed node
		value    node
	}
	dot struct {
		of       node
		name     string
		optional bool
	}
	index struct {
		of, at   node
		optional bool
	}
	call struct {
		of       node
		args     []node
		optional bool
	}
	unary struct {
		op string
		of node
	}
	binary struct {
		op   string
		l, r node
	}
	ternary  struct{ test, then, other node }
	function struct {
		params []param
		body   node
		block  []stmt
	}
)

// fails is what can be read and not be evaluated: the error comes when its
// value is asked for, so that what stands around it is still there.
type fails struct{ err error }

// isValue reports whether an expression is itself a value.
func isValue(e node) bool {
	switch e.(type) {
	case nil, string, float64, bool, []any, Object:
		return true
	}
	return false
}

// Element is an element of JSX, or with an empty Name a fragment.
type Element struct {
	Name string
	// Attrs are its attributes in order.
	Attrs []Attr
	// Offset is where it begins in Source.Text.
	Offset   int
	Source   *Source
	children []Child
}

// Child is a part of an element's content: a text, an element or an expression.
type Child struct {
	// Source is the source of an expression, without its braces; "" for others.
	Source string
	// Offset is where the expression's brace is in the element's Source.Text.
	Offset int
	of     node // that of a text is a string
}

// Attr is one attribute.
type Attr struct {
	// Name is empty for a spread.
	Name   string
	Offset int
	value  node
}

// param is a parameter or the target of a declaration: a name, or a pattern
// that takes a value apart.
type param struct {
	name     string
	fallback node
	rest     bool
	// object or list are set for patterns.
	object []paramMember
	list   []*param // nil is a hole
	kind   byte     // 'n' name, 'o' object, 'l' list
}

// paramMember is a member of an object's pattern.
type paramMember struct {
	key  string
	into param
}

type stmt interface{}

type (
	declare struct{ targets []declaration }
	returns struct{ value node }
	branch  struct {
		test        node
		then, other []stmt
	}
	blockOf     struct{ body []stmt }
	declaration struct {
		into  param
		value node
	}
)
