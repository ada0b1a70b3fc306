package island

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// counted puts a call of $t to the beginning of each function and of each turn
// of a loop. Lines stay where they are. The script is esbuild's, whose functions
// all have blocks.
func counted(script string) (string, error) {
	program, err := parser.ParseFile(nil, "island.js", script, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return "", err
	}
	type insert struct {
		at   int
		text string
	}
	var inserts []insert
	put := func(at file.Idx, text string) {
		if at > 0 && int(at) <= len(script) {
			inserts = append(inserts, insert{int(at) - 1, text})
		}
	}
	block := func(b *ast.BlockStatement) {
		if b != nil && b.LeftBrace > 0 {
			put(b.LeftBrace+1, "$t();")
		}
	}
	// body is block for a function's, whose directives stay its first words.
	body := func(b *ast.BlockStatement) {
		var last ast.Expression
		for _, s := range b.List {
			e, ok := s.(*ast.ExpressionStatement)
			if !ok {
				break
			}
			text, ok := e.Expression.(*ast.StringLiteral)
			if !ok {
				break
			}
			last = text
		}
		if last == nil {
			block(b)
			return
		}
		put(last.Idx1(), ";$t()")
	}
	turn := func(s ast.Statement) {
		switch s := s.(type) {
		case *ast.BlockStatement:
			block(s)
		case *ast.ExpressionStatement:
			put(s.Expression.Idx0(), "$t(),")
		case *ast.EmptyStatement:
			put(s.Idx0(), "$t()")
		case *ast.IfStatement: // the parser doesn't keep where it begins
			put(s.Test.Idx0(), "$t(),")
		case *ast.WhileStatement:
			put(s.Test.Idx0(), "$t(),")
		case *ast.DoWhileStatement: // each of its turns counts
		case nil:
		default:
			put(s.Idx0(), "if($t(),1)")
		}
	}
	inspect(program, func(n any) {
		switch n := n.(type) {
		case *ast.FunctionLiteral:
			body(n.Body)
		case *ast.ArrowFunctionLiteral:
			if b, ok := n.Body.(*ast.BlockStatement); ok {
				body(b)
			}
		case *ast.ForStatement:
			turn(n.Body)
		case *ast.ForInStatement:
			turn(n.Body)
		case *ast.ForOfStatement:
			turn(n.Body)
		case *ast.WhileStatement:
			turn(n.Body)
		case *ast.DoWhileStatement:
			turn(n.Body)
		}
	})
	slices.SortStableFunc(inserts, func(a, b insert) int { return a.at - b.at })
	var out strings.Builder
	out.Grow(len(script) + 6*len(inserts))
	last := 0
	for _, i := range inserts {
		out.WriteString(script[last:i.at])
		out.WriteString(i.text)
		last = i.at
	}
	out.WriteString(script[last:])
	return out.String(), nil
}

// inspect calls visit for every node of a program once.
func inspect(program *ast.Program, visit func(n any)) {
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] || v.Elem().Kind() != reflect.Struct || v.Type() == reflect.TypeFor[*file.File]() {
				return
			}
			seen[v.Pointer()] = true
			visit(v.Interface())
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				// Declarations are lists of what stands in the tree anyhow.
				if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
					walk(v.Field(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(program))
}
