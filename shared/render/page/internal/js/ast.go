package js

// expr is an expression.
type expr interface{}

type (
	literal  struct{ value any }
	name     struct{ name string }
	template struct {
		texts []string
		parts []expr
	}
	spread struct{ of expr }
	list   struct{ items []expr } // an item may be a spread; nil is a hole
	object struct{ members []memberExpr }
	// memberExpr is key: value, with a computed key, or a spread.
	memberExpr struct {
		key      string
		computed expr
		value    expr
	}
	dot struct {
		of       expr
		name     string
		optional bool
	}
	index struct {
		of, at   expr
		optional bool
	}
	call struct {
		of       expr
		args     []expr
		optional bool
	}
	unary struct {
		op string
		of expr
	}
	binary struct {
		op   string
		l, r expr
	}
	ternary  struct{ test, then, other expr }
	function struct {
		params []param
		body   expr
		block  []stmt
	}
)

// fails is what can be read and not be evaluated: the error comes when its
// value is asked for, so that what stands around it is still there.
type fails struct{ err error }

// Element is an element of JSX, or with an empty Name a fragment.
type Element struct {
	Name string
	// Attrs are its attributes in order.
	Attrs []Attr
	// Offset is where it begins in Source.Text.
	Offset   int
	Source   *Source
	children []child
}

// Attr is one attribute.
type Attr struct {
	// Name is empty for a spread.
	Name   string
	Offset int
	// text is the value in quotes, value an expression; neither means true.
	text  *string
	value expr
}

// child is text or an expression.
type child struct {
	text string
	expr expr
}

// param is a parameter or the target of a declaration: a name, or a pattern
// that takes a value apart.
type param struct {
	name     string
	fallback expr
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

// stmt is a statement.
type stmt interface{}

type (
	declare struct{ targets []declaration }
	returns struct{ value expr }
	branch  struct {
		test        expr
		then, other []stmt
	}
	blockOf     struct{ body []stmt }
	declaration struct {
		into  param
		value expr
	}
)
