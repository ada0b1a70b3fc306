package island

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// What a run of code makes once is charged by what stands in it: bytes, about
// what the engine takes.
const (
	costFunction = 384
	costClass    = 1024
	costObject   = 256 // one that has members
	costMember   = 64
	costList     = 512
	costSlot     = 16
	costCall     = 64
	costNew      = 320
	costCatch    = 1024 // an error and its stack
	costJob      = 4096 // a promise, what waits for it, and the time that this takes the engine
)

// The functions of meter.install that a counted script calls. No script can say
// or hide these names.
const (
	nameStep   unistring.String = "bindery step"
	nameTurn   unistring.String = "bindery turn" // as nameStep, of our own script: it costs, but counts no step
	nameMade   unistring.String = "bindery made"
	nameList   unistring.String = "bindery list"
	nameKey    unistring.String = "bindery key"
	nameText   unistring.String = "bindery text"
	nameJoined unistring.String = "bindery joined"
	namePower  unistring.String = "bindery power"
	nameLeft   unistring.String = "bindery left"
	nameRight  unistring.String = "bindery right"
)

// counted compiles a script whose work is counted. A call of tick stands at the
// beginning of each function and of each turn of a loop, with the cost of what
// stands there as its argument. Operators and spreads whose results have no size
// of their own are handed to the functions of meter.install.
func counted(name, script string, tick unistring.String) (*goja.Program, error) {
	program, err := parser.ParseFile(nil, name, script, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	c := &counter{tick: tick, seen: map[uintptr]bool{}, dropped: map[ast.Expression]bool{}}
	c.walk(reflect.ValueOf(program))
	return goja.CompileAST(program, false)
}

// counter rewrites the tree of a script.
type counter struct {
	tick unistring.String
	// cost is of what was met since the beginning of the function or loop.
	cost int64
	seen map[uintptr]bool
	// dropped are the expressions whose values nothing keeps.
	dropped map[ast.Expression]bool
}

var expressionType = reflect.TypeFor[ast.Expression]()

// walk rewrites all that a value of the tree holds, each node once.
func (c *counter) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		c.walk(v.Elem())
		if e, ok := v.Interface().(ast.Expression); ok && v.Type() == expressionType && v.CanSet() {
			v.Set(reflect.ValueOf(c.rewritten(e)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.walk(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() || c.seen[v.Pointer()] || v.Elem().Kind() != reflect.Struct || v.Type() == reflect.TypeFor[*file.File]() {
			return
		}
		c.seen[v.Pointer()] = true
		c.node(v)
	case reflect.Struct:
		for i := range v.NumField() {
			// Declarations are lists of what stands in the tree anyhow.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				c.walk(v.Field(i))
			}
		}
	}
}

// node walks what a node holds, and puts a tick where it begins a function or a
// loop's turn.
func (c *counter) node(v reflect.Value) {
	walk := func(p any) { c.walk(reflect.ValueOf(p).Elem()) }
	switch n := v.Interface().(type) {
	case *ast.FunctionLiteral:
		c.part(costFunction, func() { walk(&n.ParameterList); walk(&n.Body) }, func() {
			c.promise(n.Async)
			n.Body.List = c.begin(n.Body)
		})
	case *ast.ArrowFunctionLiteral:
		c.part(costFunction, func() { walk(&n.ParameterList); walk(&n.Body) }, func() {
			c.promise(n.Async)
			b, ok := n.Body.(*ast.BlockStatement)
			if e, is := n.Body.(*ast.ExpressionBody); is && !ok {
				at := e.Expression.Idx0()
				b = &ast.BlockStatement{LeftBrace: at, List: []ast.Statement{&ast.ReturnStatement{Return: at, Argument: e.Expression}}, RightBrace: n.Idx1()}
			}
			b.List = c.begin(b)
			n.Body = b
		})
	case *ast.ForStatement:
		walk(&n.Initializer)
		c.dropped[n.Update] = true
		c.part(0, func() { walk(&n.Test); walk(&n.Update); walk(&n.Body) }, func() { n.Body = c.turn(n.Body, n.For) })
	case *ast.ForInStatement:
		walk(&n.Source)
		c.part(0, func() { walk(&n.Into); walk(&n.Body) }, func() { n.Body = c.turn(n.Body, n.For) })
	case *ast.ForOfStatement:
		walk(&n.Source)
		c.part(0, func() { walk(&n.Into); walk(&n.Body) }, func() { n.Body = c.turn(n.Body, n.For) })
	case *ast.WhileStatement:
		c.part(0, func() { walk(&n.Test); walk(&n.Body) }, func() { n.Body = c.turn(n.Body, n.While) })
	case *ast.DoWhileStatement:
		c.part(0, func() { walk(&n.Test); walk(&n.Body) }, func() { n.Body = c.turn(n.Body, n.Do) })
	case *ast.ExpressionStatement:
		c.dropped[n.Expression] = true
		walk(&n.Expression)
	default:
		c.charge(n)
		c.walk(v.Elem())
	}
}

// part walks a part of the script that has a tick of its own, which put puts.
func (c *counter) part(cost int64, walk, put func()) {
	outer := c.cost + cost
	c.cost = 0
	walk()
	put()
	c.cost = outer
}

// promise adds what an asynchronous function makes whenever it is called.
func (c *counter) promise(async bool) {
	if async {
		c.cost += costJob
	}
}

// charge adds what a node makes whenever it is reached.
func (c *counter) charge(n any) {
	switch n := n.(type) {
	case *ast.ClassLiteral:
		c.cost += costClass + costMember*int64(len(n.Body))
	case *ast.ObjectLiteral:
		c.cost += costObject + costMember*int64(len(n.Value))
	case *ast.ArrayLiteral:
		c.cost += costList + costSlot*int64(len(n.Value))
		c.spread(n.Value)
	case *ast.CallExpression:
		c.cost += costCall + costSlot*int64(len(n.ArgumentList))
		c.spread(n.ArgumentList)
	case *ast.NewExpression:
		c.cost += costNew + costSlot*int64(len(n.ArgumentList))
		c.spread(n.ArgumentList)
	case *ast.TemplateLiteral, *ast.RegExpLiteral:
		c.cost += costNew
	case *ast.CatchStatement:
		c.cost += costCatch
	case *ast.AwaitExpression:
		c.cost += costJob
	case *ast.Binding:
		c.cost += costSlot
		if n.Initializer != nil && takesRest(n.Target) {
			n.Initializer = call(nameList, n.Initializer.Idx0(), n.Initializer)
		}
	case *ast.AssignExpression:
		switch left := n.Left.(type) {
		case *ast.DotExpression:
			c.cost += costMember
		case *ast.BracketExpression:
			c.cost += costMember
			if _, ok := left.Member.(*ast.StringLiteral); !ok && simple(left.Left) {
				left.Member = call(nameKey, left.LeftBracket, left.Left, left.Member)
			}
		case *ast.ArrayPattern:
			if takesRest(left) {
				n.Right = call(nameList, n.Right.Idx0(), n.Right)
			}
		}
	}
}

// spread hands what is spread into a list to nameList.
func (c *counter) spread(list []ast.Expression) {
	for _, e := range list {
		if s, ok := e.(*ast.SpreadElement); ok {
			s.Expression = call(nameList, s.Expression.Idx0(), s.Expression)
		}
	}
}

// takesRest reports whether a pattern collects the rest of what it is given.
func takesRest(target ast.Expression) bool {
	p, ok := target.(*ast.ArrayPattern)
	return ok && (p.Rest != nil || slices.ContainsFunc(p.Elements, takesRest))
}

// simple reports whether an expression may be read twice.
func simple(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.Identifier, *ast.ThisExpression, *ast.StringLiteral, *ast.NumberLiteral:
		return true
	case *ast.DotExpression:
		switch e.Left.(type) {
		case *ast.Identifier, *ast.ThisExpression, *ast.SuperExpression:
			return true
		}
	case *ast.BracketExpression:
		return simple(e.Left) && simple(e.Member)
	case *ast.CallExpression: // a key that charge handed to nameKey
		name, ok := e.Callee.(*ast.Identifier)
		return ok && name.Name == nameKey && simple(e.ArgumentList[1])
	}
	return false
}

// call is a call of one of the functions of meter.install.
func call(name unistring.String, at file.Idx, args ...ast.Expression) *ast.CallExpression {
	return &ast.CallExpression{Callee: &ast.Identifier{Name: name, Idx: at}, LeftParenthesis: at, ArgumentList: args, RightParenthesis: at}
}

// rewritten is an expression whose result is bounded.
func (c *counter) rewritten(e ast.Expression) ast.Expression {
	switch n := e.(type) {
	case *ast.BinaryExpression:
		return c.operation(n)
	case *ast.UnaryExpression:
		switch n.Operator {
		case token.INCREMENT, token.DECREMENT:
			if c.dropped[e] {
				return e
			}
			fallthrough
		case token.MINUS, token.BITWISE_NOT:
			if !isNumber(n.Operand) {
				return call(nameMade, n.Idx0(), n)
			}
		}
	case *ast.AssignExpression:
		switch n.Operator {
		case token.PLUS, token.MINUS, token.MULTIPLY, token.EXPONENT, token.SLASH, token.REMAINDER, token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT:
			if simple(n.Left) {
				n.Right = c.operation(&ast.BinaryExpression{Operator: n.Operator, Left: n.Left, Right: n.Right})
				n.Operator = token.ASSIGN
				return n
			}
			return call(nameMade, n.Idx0(), n)
		}
	case *ast.TemplateLiteral:
		if n.Tag != nil || len(n.Expressions) == 0 {
			return e
		}
		var parts []ast.Expression
		for i, t := range n.Elements {
			if t.Parsed != "" {
				parts = append(parts, &ast.StringLiteral{Idx: t.Idx, Value: t.Parsed})
			}
			if i < len(n.Expressions) {
				parts = append(parts, call(nameText, n.Expressions[i].Idx0(), n.Expressions[i]))
			}
		}
		return call(nameJoined, n.OpenQuote, parts...)
	}
	return e
}

// operation bounds the result of an operator: texts at +, integers of any length at
// all others.
func (c *counter) operation(n *ast.BinaryExpression) ast.Expression {
	numbers := isNumber(n.Left) || isNumber(n.Right) // then neither is of any length, or it throws
	at := n.Idx0()
	switch n.Operator {
	case token.PLUS:
		if isNumber(n.Left) && isNumber(n.Right) {
			return n
		}
		return call(nameMade, at, n)
	case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.AND, token.OR, token.EXCLUSIVE_OR:
		if !numbers {
			return call(nameMade, at, n)
		}
	case token.EXPONENT:
		if !numbers {
			return call(namePower, at, n.Left, n.Right)
		}
	case token.SHIFT_LEFT:
		if !numbers {
			return call(nameLeft, at, n.Left, n.Right)
		}
	case token.SHIFT_RIGHT:
		if !numbers {
			return call(nameRight, at, n.Left, n.Right)
		}
	}
	return n
}

// isNumber reports whether an expression is a number as it stands, and no
// integer of any length.
func isNumber(e ast.Expression) bool {
	n, ok := e.(*ast.NumberLiteral)
	if !ok {
		return false
	}
	_, big := n.Value.(*big.Int)
	return !big
}

// begin puts a tick before a function's statements; its directives stay its
// first words.
func (c *counter) begin(b *ast.BlockStatement) []ast.Statement {
	at, i := b.LeftBrace+1, 0
	for ; i < len(b.List); i++ {
		e, ok := b.List[i].(*ast.ExpressionStatement)
		if !ok {
			break
		}
		text, ok := e.Expression.(*ast.StringLiteral)
		if !ok {
			break
		}
		at = text.Idx1()
	}
	return slices.Insert(b.List, i, c.counts(at))
}

// turn puts a tick before what a loop does in one turn.
func (c *counter) turn(body ast.Statement, loop file.Idx) ast.Statement {
	if b, ok := body.(*ast.BlockStatement); ok {
		b.List = slices.Insert(b.List, 0, c.counts(b.LeftBrace+1))
		return b
	}
	return &ast.BlockStatement{LeftBrace: loop, List: []ast.Statement{c.counts(loop), body}, RightBrace: loop}
}

func (c *counter) counts(at file.Idx) ast.Statement {
	return &ast.ExpressionStatement{Expression: call(c.tick, at, &ast.NumberLiteral{Idx: at, Value: c.cost})}
}
