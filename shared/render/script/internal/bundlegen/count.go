package main

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// prelude declares what a counted program calls: $begin says how many steps it may
// take, $left how many are left, and $charge takes more than one.
const prelude = `let $steps = Infinity;
const $stop = () => { throw new Error("steps") };
const $begin = (n) => { $steps = n };
const $left = () => $steps;
const $charge = (n) => { if (($steps -= n) < 0) $stop() };
`

// tick stands at the beginning of each function and of each turn of a loop. Once no
// step is left every tick throws, so that the program can't go on after it caught
// one of these errors.
const tick = "if (--$steps < 0) $stop();"

// counted writes a tick into all functions and loops of a script that esbuild made
// with blocks for all functions.
func counted(name string, script []byte) ([]byte, error) {
	program, err := parser.ParseFile(nil, name, string(script), 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	c := &counter{script: script, seen: map[uintptr]bool{}, at: map[int][]string{}}
	c.walk(reflect.ValueOf(program))
	if c.err != nil {
		return nil, c.err
	}
	out := []byte(prelude)
	places := make([]int, 0, len(c.at))
	for at := range c.at {
		places = append(places, at)
	}
	slices.Sort(places)
	last := 0
	for _, at := range places {
		out = append(out, script[last:at]...)
		for _, text := range c.at[at] {
			out = append(out, text...)
		}
		last = at
	}
	return append(out, script[last:]...), nil
}

// counter finds the places of ticks in a tree, as offsets in the script.
type counter struct {
	script []byte
	seen   map[uintptr]bool
	at     map[int][]string
	err    error
}

func (c *counter) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.walk(v.Elem())
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
		c.node(v.Interface())
		c.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				c.walk(v.Field(i))
			}
		}
	}
}

func (c *counter) node(n any) {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		c.put(n.Body)
	case *ast.ArrowFunctionLiteral:
		b, _ := n.Body.(*ast.BlockStatement)
		c.put(b)
	case *ast.ForStatement:
		c.loop(n.Body)
	case *ast.ForInStatement:
		c.loop(n.Body)
	case *ast.ForOfStatement:
		c.loop(n.Body)
	case *ast.WhileStatement:
		c.loop(n.Body)
	case *ast.DoWhileStatement:
		c.loop(n.Body)
	}
}

func (c *counter) loop(body ast.Statement) {
	if b, ok := body.(*ast.BlockStatement); ok {
		c.put(b)
		return
	}
	end, ok := c.end(body)
	if !ok {
		c.fail(fmt.Sprintf("a loop's body ends in %T", body), body.Idx0())
		return
	}
	begin := int(body.Idx0()) - 1
	c.at[begin] = append(c.at[begin], "{"+tick)
	c.at[end] = append(c.at[end], "}")
}

// end is the offset after a statement. It is known for those that are the only one
// of a loop.
func (c *counter) end(s ast.Statement) (int, bool) {
	switch s := s.(type) {
	case *ast.BlockStatement:
		return int(s.RightBrace), true
	case *ast.ExpressionStatement:
		at := int(s.Idx1()) - 1
		return at + 1, at < len(c.script) && c.script[at] == ';'
	case *ast.ForStatement:
		return c.end(s.Body)
	case *ast.ForInStatement:
		return c.end(s.Body)
	case *ast.ForOfStatement:
		return c.end(s.Body)
	case *ast.WhileStatement:
		return c.end(s.Body)
	case *ast.IfStatement:
		if s.Alternate != nil {
			return c.end(s.Alternate)
		}
		return c.end(s.Consequent)
	}
	return 0, false
}

func (c *counter) put(b *ast.BlockStatement) {
	if b == nil {
		c.fail("a function has no block", 0)
		return
	}
	c.at[int(b.LeftBrace)] = append(c.at[int(b.LeftBrace)], tick)
}

func (c *counter) fail(message string, at file.Idx) {
	if c.err == nil {
		c.err = fmt.Errorf("offset %d: %s", at, message)
	}
}
