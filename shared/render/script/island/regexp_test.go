package island

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Expressions with a regular expression, each of which makes a value.
var regexps = []string{
	`"1234567".replace(/\B(?=(\d{3})+(?!\d))/g, ",")`, `"costs $12 and $7.5".match(/(?<=\$)\d+/g)`, "`he said \"it's\" and 'no'`.match(/(['\"]).*?\\1/g)", `/(['"]).*?\1/.exec("a 'b' c")`,
	`"a1b22c".split(/\d+/)`, `"a1b22c".split(/(\d)+/)`, `"abc".split(/(?:)/)`, `"a😀b".split(/(?:)/u)`, `"".split(/x/)`, `"".split(/(?:)/)`, `"abc".split(/b/, 1)`, `"a,b,c".split(/,/, -1)`, `"test".split(/(?=s)/)`, `"aXbX".split(/X/)`, `"ab".split(/a*?/)`, `"ab".split(/a*/)`,
	`"2024-01-02".replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, "$<d>.$<m>.$<y>")`, `"aBc".replace(/b/i, m => m + m)`, `"aaa".replace(/a/g, (m, i) => i)`, `"x".replace(/(y)?x/, "[$1]")`, `"abc".replace(/b/, "$$-$&-$'-` + "$`" + `")`,
	`[..."a1b2".matchAll(/[a-z](\d)/g)].map(m => [m[0], m[1], m.index, m.input])`, `"abc".search(/c/)`, `"abc".search(/d/)`,
	`(() => { const r = /a/g, o = []; let m; while ((m = r.exec("banana"))) o.push(m.index, r.lastIndex); return o })()`,
	`(() => { const r = /a/y; r.lastIndex = 1; return [r.test("ba"), r.lastIndex, r.test("ba"), r.lastIndex] })()`,
	`(() => { const r = /a/g; r.lastIndex = 9; return [r.exec("a"), r.lastIndex] })()`,
	`(() => { const r = /a/; r.lastIndex = 5; return [r.test("a"), r.lastIndex] })()`,
	`(() => { const r = /x/gi; return [String(r), r.source, r.flags, r.global, RegExp.prototype.toString.call(r), Object.keys(r), r instanceof RegExp] })()`,
	`(() => { class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] = "!"; return m } } return ["aba".replace(new R("b"), "x"), "aba".match(new R("b", "g")), "aba".split(new R("b"))] })()`,
	`new RegExp("(" + "ab" + ")+", "i").exec("xABab")`, `new RegExp("/").test("a/b")`, `new RegExp("\n").test("a\nb")`, `/é+/i.exec("xÉé")`, `/\u{1F600}/u.test("😀")`, `/^.$/u.test("😀")`, `/^.$/.test("😀")`,
	`"aaa".lastIndexOf("a") + "x".repeat(3).match(/x{2}/)[0]`, `"camelCaseWord".replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()`, `"a  b".split(/\s+/).length`, `"x".match(/y/)`, `"x".match("x").index`, `"a.b".replaceAll(/\./g, "")`,
	`"abc".match(/(?<first>a)(?<none>z)?/).groups.first`, `Object.keys("abc".match(/(?<first>a)(?<none>z)?/).groups)`, `"abc".match(/a/).groups`, `/a|ab/.exec("abc")[0]`, `/((a)|(ab))((c)|(bc))/.exec("abc")`, `/(z)((a+)?(b+)?(c))*/.exec("zaacbbbcac")`,
	`[/x/.constructor === RegExp, new Set instanceof Set, [] instanceof Set, 1 instanceof Map, new (class M extends Map {}) instanceof Map]`,
	`(() => { try { return new RegExp("(") } catch (e) { return e.name } })()`, `"tEST".replace(/^./, c => c.toUpperCase())`, `"&<>".replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c])`,
}

// TestRegExp: regular expressions give what they give in Node.
func TestRegExp(t *testing.T) {
	node := outside.Program(t, "node")
	cmd := exec.Command(node, "-e", "console.log(JSON.stringify(["+strings.Join(regexps, ",\n")+"].map(v => String(JSON.stringify(v)))))")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	for i, source := range regexps {
		got, err := e.Render(t.Context(), fstest.MapFS{}, Source{File: "p.mdx", Expression: "{String(JSON.stringify(" + source + "))}", Line: 1}, nil)
		if err != nil {
			t.Errorf("%s: %v, Node says %s", source, err, want[i])
		} else if text := shape(got.Nodes); text != want[i] {
			t.Errorf("%s is %s, Node says %s", source, text, want[i])
		}
	}
}

// TestRegExpSteps: an expression that backtracks too long fails after a fixed number of
// steps, with its file and line. One without back-references takes few steps.
func TestRegExpSteps(t *testing.T) {
	files := fstest.MapFS{"snippets/a.jsx": {Data: []byte("export const A = () => {\n  const slow = /(a+)+\\1$/\n  return <p>{String(slow.test('a'.repeat(40) + 'b'))}</p>\n}\n")}}
	page := Source{File: "page.mdx", Module: "import {A} from '/snippets/a.jsx'", Expression: "<A />", Line: 9}
	e := newEngine(t, patient)
	var fault *Error
	if _, err := e.Render(t.Context(), files, page, nil); !errors.As(err, &fault) {
		t.Fatalf("error is %v", err)
	}
	if fault.Limit || fault.File != "snippets/a.jsx" || fault.Line != 3 || fault.Message != errTries.Error() || fault.Steps < maxTries/triesOfStep || fault.Steps > maxTries/triesOfStep+100 {
		t.Errorf("the fault is %+v", fault)
	}
	for _, linear := range []string{`/(a+)+$/g.test("é" + "a".repeat(40) + "!")`, `"é aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".replace(/(a+)+$/g, "")`, `(() => { const r = /(a+)+$/g; r.lastIndex = 1; return r.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") })()`} {
		if _, err := e.Render(t.Context(), files, Source{File: "page.mdx", Expression: "{String(" + linear + ")}", Line: 1}, nil); err != nil {
			t.Errorf("%s: %v", linear, err)
		}
	}
}
