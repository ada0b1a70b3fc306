package island

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The operators of ECMA-262, by where their operands stand.
var (
	binaryOperators = strings.Fields("+ - * / % ** << >> >>> < > <= >= == != === !== & | ^ && || ?? in instanceof ,")
	assignOperators = strings.Fields("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
	prefixOperators = strings.Fields("+ - ! ~ ++ -- typeof void delete")
	otherOperators  = []string{
		"a ? b : c", "a ?.5 : c", "a ? b : c ? a : b", "a++", "a--", "a++ + b", "a-- - b", "a.b", "a?.b", "a?.[0]", "a?.()", "a[0]", "f(...[a, b])",
		"[...[a], ...[b]]", "({...{a}, b})", "() => a", "async () => { await a }", "new Date(0)", "new Date", "`${a}${b !== c}`", "String.raw`x${a}`",
		"(a, b)", "function* () { yield a; yield* [b] }", "/[/]/.test(a)", "a / b / c", "1_000n", "0x1f & 0b11 | 0o7", "a\n!== b", "a\n? b\n: c", "a /* > */ !== b",
		"class { #p = 1; has(o) { return #p in o } }", "{}", "x => ({x})", "x => { if (x !== 1) { return x <= 2 } }", "import.meta", "(function () { return new.target })",
		"from < 3", "of / 2", "as > 1 && from !== of",
	}
)

// operatorSources are expressions with every operator among others.
func operatorSources() []string {
	operands := []string{"a", "2", `"3"`, "f(1)", "[1][0]", "{b}.b", "`x`", "/x/g", "-b", "!c", "typeof a"}
	out := append([]string{}, otherOperators...)
	for _, op := range binaryOperators {
		for i, l := range operands {
			r := operands[(i*7+3)%len(operands)]
			if strings.HasPrefix(l, "{") {
				l = "(" + l + ")"
			}
			out = append(out, l+" "+op+" "+r, l+"\n"+op+"\n"+r, "("+l+" "+op+" "+r+")")
			if op[0] > 'z' || op[0] < 'a' {
				out = append(out, l+op+r)
			}
		}
		for _, next := range binaryOperators {
			out = append(out, "a "+op+" b "+next+" c", "a "+op+" 2 "+next+" 5")
		}
		for _, prefix := range prefixOperators {
			out = append(out, prefix+" a "+op+" b", "a "+op+" "+prefix+" b")
		}
	}
	for _, op := range assignOperators {
		out = append(out, "a "+op+" 2", "a"+op+"b", "() => { a "+op+" b }", "a "+op+" b "+op+" c", "(a "+op+" b) !== c")
	}
	for _, op := range prefixOperators {
		out = append(out, op+" a", op+" a.b", "("+op+" a)", "!"+op+" a")
	}
	return out
}

// Whatever esbuild reads as an expression, the scanner that finds the ends of
// expressions takes as a whole, and what package expr works out is what the
// engine works out.
func TestOperators(t *testing.T) {
	outside.NoRace(t, "the time limit may end its scripts before the counts do")
	const names = "var a = 7, b = 2, c = '3', of = 8, as = 4, from = 1, f = x => x;"
	scope := expr.NewScope(nil)
	for name, value := range map[string]any{"a": 7.0, "b": 2.0, "c": "3", "of": 8.0, "as": 4.0, "from": 1.0} {
		scope.Set(name, value)
	}
	scope.Set("f", &expr.Lazy{Source: &expr.Source{Text: "x => x"}, Scope: scope})
	read, worked := 0, 0
	for _, source := range operatorSources() {
		built := api.Transform("async () => (<a>{"+source+"}</a>)", api.TransformOptions{Loader: api.LoaderJSX, LogLevel: api.LogLevelSilent})
		if len(built.Errors) > 0 {
			continue
		}
		read++
		for _, end := range []string{"", " ", "\n"} {
			text := source + end + "} } `"
			j := expr.Scanner{Text: text, Expression: true}
			closed := j.Scan()
			if message, at := j.Fault(); message != "" || !closed || !j.Complete() || j.At != len(source+end) {
				t.Errorf("{%s}: the scanner ends at %d of %d: %s at %d", source, j.At, len(source+end), message, at)
			}
		}
		e, err := expr.Parse(&expr.Source{Text: source})
		if err != nil {
			continue
		}
		got, err := new(expr.Machine).Eval(e, scope)
		if err != nil {
			continue
		}
		if _, ok := got.(*expr.Function); ok {
			continue
		}
		vm := goja.New()
		want, err := vm.RunString(names + "(" + source + ")")
		if err != nil {
			continue
		}
		worked++
		value := want.Export()
		if _, object := got.(expr.Object); object || comparisons(source) > 1 { // goja reads a < b < c as a < (b < c)
			continue
		}
		if n, ok := value.(int64); ok {
			value = float64(n)
		}
		if g, ok := got.(float64); ok {
			w, ok := value.(float64)
			if ok && (g == w || math.IsNaN(g) && math.IsNaN(w)) {
				continue
			}
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(value); g != w {
			t.Errorf("{%s} is %s, in the engine %s", source, g, w)
		}
	}
	if read < 1500 || worked < 800 {
		t.Errorf("only %d expressions were read, %d worked out", read, worked)
	}
}

// comparisons counts the operators that say which operand is less.
func comparisons(source string) int {
	n := 0
	for _, word := range strings.Fields(source) {
		switch word {
		case "<", ">", "<=", ">=":
			n++
		}
	}
	return n
}
