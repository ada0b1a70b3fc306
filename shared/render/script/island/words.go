package island

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits of the words of one script that may be names of classes.
const (
	maxWords = 1000
	maxWord  = 200 // bytes
)

// className is what names of utility classes look like, among all words.
var className = lazy.Regexp(`^[!@*\-\[a-z][A-Za-z0-9!#$%&'()*+,\-./:=>@\[\]_~]*$`)

// classWords returns the words in a script's texts that may be names of classes:
// which of them a component will set is known only when it does. A script that
// can't be read has none.
func classWords(script []byte) []string {
	program, err := parser.ParseFile(nil, "island.js", string(script), 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil
	}
	found := map[string]struct{}{}
	take := func(text string) {
		for word := range strings.FieldsSeq(text) {
			if len(word) <= maxWord && className().MatchString(word) {
				found[word] = struct{}{}
			}
		}
	}
	inspect(program, func(n any) {
		switch n := n.(type) {
		case *ast.StringLiteral:
			take(n.Value.String())
		case *ast.TemplateElement:
			take(n.Parsed.String())
		case *ast.PropertyKeyed: // clsx({ "font-bold": on })
			if key, ok := n.Key.(*ast.StringLiteral); ok {
				take(key.Value.String())
			}
		}
	})
	words := slices.Sorted(maps.Keys(found))
	return words[:min(len(words), maxWords)]
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
