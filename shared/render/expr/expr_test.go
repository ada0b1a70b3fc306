package expr

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are those that the expressions of the tests may use.
func names() *Scope {
	sc := NewScope(nil)
	sc.Set("name", "Ada")
	sc.Set("none", nil)
	sc.Set("list", []any{3.0, 1.0, 2.0})
	sc.Set("people", []any{
		Object{{Key: "name", Value: "Ada"}, {Key: "age", Value: 36.0}},
		Object{{Key: "name", Value: "Bob"}, {Key: "age", Value: 20.0}},
	})
	sc.Set("a", &Lazy{Source: &Source{Text: "b + 1"}, Scope: sc})
	sc.Set("b", &Lazy{Source: &Source{Text: "41"}, Scope: sc})
	sc.Set("self", &Lazy{Source: &Source{Text: "self"}, Scope: sc})
	sc.Set("hook", Opaque{"it is imported from react"})
	return sc
}

// spell is a Host that writes elements out.
type spell struct{}

func (spell) Element(m *Machine, e *Element, sc *Scope) (any, error) {
	out := "<" + e.Name
	for _, a := range e.Attrs {
		v, err := m.Value(a, sc)
		if err != nil {
			return nil, err
		}
		s, _ := m.text(v)
		out += " " + a.Name + "=" + s
	}
	out += ">"
	var err error
	m.Children(e, sc, func(_ Child, v any, failed error) {
		s, _ := m.text(v)
		out += s + "|"
		err = errors.Join(err, failed)
	})
	return out + "</" + e.Name + ">", err
}

func evaluate(source string) (any, error) {
	e, err := Parse(&Source{Text: source})
	if err != nil {
		return nil, err
	}
	return (&Machine{Host: spell{}}).Eval(e, names())
}

func TestEval(t *testing.T) {
	for source, want := range map[string]any{
		"":                                   nil,
		" /* x */ 1 // y":                    1.0,
		"'a' + 1 + true":                     "a1true",
		"1 + 2 * 3 - 4 / 2 % 3 ** 1":         5.0,
		"(1 + 2) * 3":                        9.0,
		"-'3' + +'4'":                        1.0,
		"1 < 2 && 'b' >= 'a'":                true,
		"0 || '' || null || 'x'":             "x",
		"null ?? undefined ?? 0":             0.0,
		"!none && !!name":                    true,
		"name === 'Ada' ? 'yes' : 'no'":      "yes",
		"1 == '1' && 1 !== '1'":              true,
		"1 << 3 | 6 & ~2 ^ 1":                13.0,
		"-9 >> 1 >>> 28":                     15.0,
		"2 ** 3 ** 2":                        512.0,
		"none == undefined":                  true,
		"typeof window":                      "undefined",
		"typeof name":                        "string",
		"`${name} is ${1 + 1}\\n\\`x\\``":    "Ada is 2\n`x`",
		"name.length + list.length":          6.0,
		"people[1].name":                     "Bob",
		"people[7]?.name":                    nil,
		"none?.x.y":                          nil,
		"people.map(p => p.name).join(', ')": "Ada, Bob",
		"people.map(({name: n, age = 1}, i) => `${i}${n}${age}`)": []any{"0Ada36", "1Bob20"},
		"people.filter((p) => p.age > 30).length":                 1.0,
		"people.find(p => p.age < 30).name":                       "Bob",
		"people.reduce((sum, p) => sum + p.age, 0)":               56.0,
		"list.sort((x, y) => x - y)":                              []any{1.0, 2.0, 3.0},
		"[...list].reverse()":                                     []any{2.0, 1.0, 3.0},
		"[1, , [2, 3]].flat()":                                    []any{1.0, nil, 2.0, 3.0},
		"[0, 1, '', 'a'].filter(Boolean)":                         []any{1.0, "a"},
		"list.map(String)":                                        []any{"3", "1", "2"},
		"Array.from({length: 3}, (_, i) => i * 2)":                []any{0.0, 2.0, 4.0},
		"[...Array(2).keys()]":                                    []any{0.0, 1.0},
		"Object.keys({x: 1, 'y z': 2})":                           []any{"x", "y z"},
		"Object.entries({x: 1}).map(([k, v]) => k + v)":           []any{"x1"},
		"({...{x: 1}, x: 2, ['y' + 1]: 3})":                       Object{{Key: "x", Value: 2.0}, {Key: "y1", Value: 3.0}},
		"({name}).name":                                           "Ada",
		"JSON.stringify({a: [1, 'x'], b: {}}, null, 2)":           "{\n  \"a\": [\n    1,\n    \"x\"\n  ],\n  \"b\": {}\n}",
		"JSON.stringify('<a>')":                                   `"<a>"`,
		"Math.max(1, ...list) + Math.round(1.5)":                  5.0,
		"(1.005).toFixed(1)":                                      "1.0",
		"'a-b-c'.split('-').slice(-2).join('+')":                  "b+c",
		"'😀ab'.slice(2, 3)":                                       "a",
		"'abc'.replace('b', 'x').padStart(5, '.')":                "..axc",
		"'Hello'.includes('ell') && 'Hello'.startsWith('H')":      true,
		"'x'.charCodeAt":                                          errors.New("charCodeAt"),
		"a":                                                       42.0,
		"(x => x * 2)(21)":                                        42.0,
		"((a, b = a + 1, ...c) => [a, b, c])(1, undefined, 3, 4)": []any{1.0, 2.0, []any{3.0, 4.0}},
		"(function f({x: [, y]}) { return y })({x: [1, 2]})":      2.0,
		"(() => { const x = 1, {y} = {y: 2}; if (x > y) { return 'a' } else if (y) return 'b'; return 'c' })()": "b",
		"(() => { function inc(n) { return n + 1 } return inc(1) })()":                                          2.0,
		"(() => { const x = 1\n\n let {y} = {y: x}, z\n if (y) return x + y\n\n return z\n })()":                2.0,
		"(() => { 'use client'\n const f = () => {\n return\n 1\n }\n return [f()]\n})()":                       []any{nil},
		"(() => { const x = 1 return x })()":                                                                    errors.New(`unexpected "return x })("`),
		"(n => { 'use client'; return n })(1)":                                                                  1.0,
		"<A b='1 &amp; 2' c={name} d/>":                                                                         "<A b=1 & 2 c=Ada d=true></A>",
		"<>a {name}\n  b\n\n  c{/* no */}<B>{1}</B> </>":                                                        "<>a |Ada|b c|<B>1|</B>| |</>",
		"list.length > 2 && <b>{list.map(n => <i key={n}>{n}</i>)}</b>":                                         "<b><i key=3>3|</i>,<i key=1>1|</i>,<i key=2>2|</i>|</b>",
		"1e21 + ''":          "1e+21",
		"0.1 + 0.2 + ''":     "0.30000000000000004",
		"Number('x')":        math.NaN(),
		"true || new Date()": true,
		"typeof (() => { for (;;) { `}${'}'}` /* } */ } })": "function",
		"hook":                                errors.New("imported from react"),
		"hook.x":                              errors.New("imported from react"),
		"self":                                errors.New("refers to itself"),
		"useState(0)":                         errors.New("it calls useState"),
		"missing":                             errors.New("missing is not defined"),
		"user.name":                           nil,
		"user?.a?.b ?? typeof user":           "object",
		"(user => user.name)({name: 1})":      1.0,
		"user.a.b":                            errors.New("it reads b of null or undefined"),
		"x = 1":                               errors.New("assigns"),
		"i++":                                 errors.New("it uses ++"),
		"new Date()":                          errors.New("it uses new"),
		"await x":                             errors.New("it uses await"),
		"async () => 1":                       errors.New("asynchronous"),
		"/x/.test('x')":                       errors.New("regular expression"),
		"(() => { for (;;) {} })()":           errors.New("loop"),
		"(() => { name.trim(); return 1 })()": errors.New("besides returning"),
		"(f => f(f))(f => f(f))":              errors.New("too deep"),
		"[1, 2":                               errors.New("ends too early"),
		"'x'.repeat(1e9)":                     errors.New("too long"),
		"Array(1e9)":                          errors.New("too long"),
		"<a><b></a>":                          errors.New("closed by"),
		"1 2":                                 errors.New(`"2"`),
	} {
		got, err := evaluate(source)
		if fail, ok := want.(error); ok {
			if err == nil || !strings.Contains(err.Error(), fail.Error()) {
				t.Errorf("%s: got %v, %v; want the error %q", source, got, err, fail)
			}
			continue
		}
		if f, ok := want.(float64); ok && math.IsNaN(f) {
			if g, ok := got.(float64); !ok || !math.IsNaN(g) {
				t.Errorf("%s: got %v, want NaN", source, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", source, err, diff)
		}
	}
}

// Sources that would take for ever, or all memory, end with an error.
func TestBounds(t *testing.T) {
	for name, source := range map[string]string{
		"doubling":                   "(() => { const f = (s, n) => n > 0 ? f(s + s, n - 1) : s; return f('xx', 60) })()",
		"a list in itself, as text":  "(() => { const f = (l, n) => n > 0 ? f([l, l], n - 1) : '' + l; return f([], 100) })()",
		"a list in itself, sorted":   "(() => { const f = (l, n) => n > 0 ? f([l, l], n - 1) : [l, l].sort(); return f([], 100) })()",
		"a list in itself, as a key": "(() => { const f = (l, n) => n > 0 ? f([l, l], n - 1) : ({[l]: 1}); return f([1], 100) })()",
		"many calls":                 "Array(5000).map(() => Array(5000).map(() => 1))",
		"tree of calls":              "(() => { const f = (n) => n > 0 ? [f(n - 1), f(n - 1)] : 1; return f(100) })()",
		"deep brackets":              strings.Repeat("[", 10_000),
		"deep arrows":                strings.Repeat("(a = ", 5_000),
		"deep elements":              strings.Repeat("<a>", 10_000),
		"long sum":                   "1" + strings.Repeat("+1", 100_000),
	} {
		if v, err := evaluate(source); err == nil {
			t.Errorf("%s: got %.60v", name, v)
		}
	}
}

// FuzzEval: no source makes it panic or go on.
func FuzzEval(f *testing.F) {
	f.Add("people.map(({name: n, ...r}, i) => <b {...r} c='x'>{n} {`${i}`}</b>)")
	f.Add("((a, [b, , ...c] = [], {d = 1}) => { const e = a ?? b; if (!e) return c; return {...d, [e]: -1} })(1, list, {})")
	f.Add("Object.entries({a: [1]}).flatMap(([k, v]) => v.concat(k).sort()).slice(-1)[0]?.toString()")
	f.Add("'a\\u{1F600}'.padEnd(9).split('').reverse().join('') + JSON.stringify({a: 1}, null, 3)")
	f.Add("list.at(-5) + list[1e99] + 'x'.at(NaN) + 'y'.slice(NaN, Infinity) + Array(NaN)")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 5000 {
			return
		}
		_, err := evaluate(source)
		var u *Unsupported
		if err != nil && !errors.As(err, &u) {
			t.Errorf("%v", err)
		}
	})
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		expr string
		want any
	}{
		{`2`, 2.0},
		{` -1.5e+3 `, -1500.0},
		{`0x1F`, 31.0},
		{`1_000`, 1000.0},
		{`.5`, 0.5},
		{`true`, true},
		{`null`, nil},
		{`undefined`, nil},
		{`"a\n\u0041\u{1F600}\x41\"\\"`, "a\nA😀A\"\\"},
		{`'\ud83d\ude00'`, "😀"},
		{"`a\nb`", "a\nb"},
		{`["a", 'b', [1,], ]`, []any{"a", "b", []any{1.0}}},
		{`{ z: 1, "a b": '2', c: {d: []}, 3: null, }`, Object{{"z", 1.0}, {"a b", "2"}, {"c", Object{{"d", []any{}}}}, {"3", nil}}},
		{`/* a */ (1) // b`, 1.0},
	} {
		got, ok := Literal(c.expr)
		if !ok {
			t.Errorf("%s: no literal", c.expr)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.expr, diff)
		}
	}
	for _, expr := range []string{``, `a`, `f()`, `1 + 1`, `"a`, "`${a}`", `[1`, `{a}`, `{...a}`, `{a: b}`, `"a" "b"`, `01x`, strings.Repeat("[", 5000)} {
		if got, ok := Literal(expr); ok {
			t.Errorf("%.20s: read as %v", expr, got)
		}
	}
	if v, ok := (Object{{"a", 1.0}, {"a", 2.0}}).Get("a"); !ok || v != 2.0 {
		t.Errorf("the last of two members counts, got %v", v)
	}
}

func TestParseModule(t *testing.T) {
	src := `import A from "./a.mdx"
import B, {c as d, e} from 'b';
import * as F from "f" // comment
import "g.css"; import h from "h"

export const i = {
  j: [1, 2],
}, k = "l, m"
export let n
export function O({ p }) {
  return <a>{p}</a>
}
export const Q = ({ r }) => <b>
  it's {r}
</b>
export default function () {}
export class S { t = 1 }
export {u as v}
export * from "w"
export const {x, y} = z
`
	imports, exports, _, want := ParseModule(src)
	if want != "" {
		t.Errorf("it expects %s", want)
	}
	wantImports := []Import{
		{Default: "A", Path: "./a.mdx"},
		{Default: "B", Names: []ImportName{{"c", "d"}, {"e", "e"}}, Path: "b"},
		{Namespace: "F", Path: "f"},
		{Path: "g.css"},
		{Default: "h", Path: "h"},
	}
	if diff := cmp.Diff(wantImports, imports); diff != "" {
		t.Errorf("imports: -want +got:\n%s", diff)
	}
	wantExports := []Export{
		{Kind: ExportValue, Name: "i", Value: "{\n  j: [1, 2],\n}"},
		{Kind: ExportValue, Name: "k", Value: `"l, m"`},
		{Kind: ExportValue, Name: "n"},
		{Kind: ExportFunction, Name: "O", Value: "function O({ p }) {\n  return <a>{p}</a>\n}"},
		{Kind: ExportValue, Name: "Q", Value: "({ r }) => <b>\n  it's {r}\n</b>"},
		{Kind: ExportDefault, Value: "function () {}"},
		{Kind: ExportClass, Name: "S", Value: "class S { t = 1 }"},
		{Kind: ExportOther, Value: "{u as v}"},
		{Kind: ExportOther, Value: `* from "w"`},
		{Kind: ExportOther, Value: "const {x, y} = z"},
	}
	for i := range exports {
		e := &exports[i]
		if e.Value != "" && !strings.HasPrefix(src[e.Offset:], e.Value) {
			t.Errorf("%s does not stand at offset %d", e.Value, e.Offset)
		}
		e.Offset = 0
	}
	if diff := cmp.Diff(wantExports, exports); diff != "" {
		t.Errorf("exports: -want +got:\n%s", diff)
	}
}

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{`{a: [1, "b", 'c', null, -2.5e3, 0x1f]}`, "`a\\u{41}`", `/* a */ ("\x41")`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Literal(s)
		for _, e := range func() []Export { _, e, _, _ := ParseModule("export const a = " + s); return e }() {
			if e.Offset < 0 || e.Offset > len(s)+17 {
				t.Errorf("offset %d", e.Offset)
			}
		}
	})
}

// FuzzImportPaths: whatever an import names, it leads to no file outside of the site.
func FuzzImportPaths(f *testing.F) {
	for _, name := range []string{"/snippets/a.mdx", "../../a.jsx", "snippets/a", "a.mdx", "react", "/../x", "https://x.test/a.js"} {
		f.Add("guides/page.mdx", name)
	}
	f.Fuzz(func(t *testing.T, file, name string) {
		for _, p := range ImportPaths(file, name) {
			if !fs.ValidPath(p) || p == "." {
				t.Errorf("%q in %q leads to %q", name, file, p)
			}
		}
	})
}
