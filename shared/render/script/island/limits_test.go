package island

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// What a script makes decides what is shown: not the machine, its load, or how
// often garbage is collected. Other work keeps the processors busy meanwhile, and
// with -short there is neither that nor what takes seconds by itself.
func TestFaultsOfMemory(t *testing.T) {
	outside.NoRace(t, "the time limit ends the script before the counts do")
	made, text, bits := errMade.Error(), errText.Error(), errBits.Error()
	const big = "const big = 'x'.repeat(15 << 20), wide = 'é'.repeat(15 << 20)"
	const long = "const long = Array(2e5).fill(0)"
	const dag = "let d = ['xx']; for (let i = 0; i < 60; i++) d = [d, d]"
	type test struct{ name, module, expression, message string }
	refused := []test{
		{"list of a gigabyte", "", "new Array(1).concat(new Uint8Array(1 << 30)).length", made},
		{"repeat", "", "'x'.repeat(1 << 30).length", text},
		{"repeat without end", "", "'xx'.repeat(1e300).length", text},
		{"padStart", "", "'x'.padStart(1 << 30).length", text},
		{"padEnd", "", "'x'.padEnd(2 ** 40, 'ab').length", text},
		{"concat of texts", big, "big.concat(big, big).length", text},
		{"plus and assign", "const f = () => { let s = 'xx'; for (;;) s += s }", "f()", text},
		{"plus in a member", "const f = () => { const o = {s: 'xx'}; for (;;) o.s += o.s }", "f()", text},
		{"plus in an element", "const f = () => { const o = ['xx']; for (;;) o[0] += o[0] }", "f()", text},
		{"plus in a setter", "const f = () => { let n = 40; const o = {v: 'xx', get p() { return this.v }, set p(v) { this.v = v; if (n--) this.p += v }}; o.p += 'x'; return o.v.length }", "f()", text},
		{"join", "", "Array(100).fill('x'.repeat(1 << 20)).join('').length", text},
		{"join of nothing", "", "Array(3e7).join('ab').length", text},
		{"String.raw", "", "String.raw({raw: Array(100).fill('x'.repeat(1 << 20))}).length", text},
		{"replace with marks", "", "'x'.repeat(1 << 18).replace(/x/g, '$`').length", text},
		{"replace with a function", "const y = 'y'.repeat(1 << 20)", "'x'.repeat(100).replace(/x/g, () => y).length", text},
		{"split", big, "big.split('').length", made},
		{"match", big, "big.match(/./g).length", made},
		{"fill", "", "new Array(1e8).fill(0).length", made},
		{"fill of what is no list", "", "[].fill.call({length: 1e8}, 0).length", made},
		{"Array.from", "", "Array.from({length: 1e8}).length", made},
		{"Array.from in steps", long + "\nconst f = () => { const l = []; for (;;) l.push(Array.from(long)) }", "f()", made},
		{"flat", dag, "d.flat(Infinity).length", made},
		{"gaps", "const f = () => { const l = []; for (;;) { const a = []; a[4095] = 1; l.push(a) } }", "f()", made},
		{"an iterator of the engine's", "", "[...{[Symbol.iterator]: () => ({next: Object})}].length", made},
		{"apply", "const g = () => 0, f = () => { const l = Array(1e5).fill(0); for (;;) g.apply(null, l) }", "f()", made},
		{"bind", "const f = () => { let g = () => 0; for (;;) g = g.bind(null, 1) }", "f()", made},
		{"bytes", "", "new Uint8Array(1 << 30).length", made},
		{"doubles", "", "new Float64Array(1 << 27).length", made},
		{"a buffer", "", "new ArrayBuffer(1 << 30).byteLength", made},
		{"a buffer by its class", "const B = new Uint8Array(1).buffer.constructor", "new B(1 << 30).byteLength", made},
		{"bytes of a class of their own", "class B extends Uint8Array {}", "new B(1 << 30).length", made},
		{"bytes in steps", "const f = () => { const l = []; for (;;) l.push(new Uint8Array(1 << 20)) }", "f()", made},
		{"power", "", "(2n ** (1n << 40n)).toString().length", bits},
		{"power of a power", "const f = () => { let n = 3n; for (;;) n **= 3n }", "f()", bits},
		{"shift", "", "(1n << (1n << 40n)).toString().length", bits},
		{"shift back", "", "(1n >> -1000000000n).toString().length", bits},
		{"product", "const f = () => { let n = 3n; for (;;) n *= n }", "f()", bits},
		{"width", "", "BigInt.asUintN(2 ** 40, -1n).toString().length", bits},
		{"a pattern", "", "new RegExp('(?:(?:a{1000}){1000}){1000}').source", made},
		{"patterns in steps", "const f = () => { const l = []; for (;;) l.push(new RegExp('(?:a{1000}){9}')) }", "f()", made},
		{"within try", "const f = () => { try { return 'x'.repeat(1 << 30) } catch (e) { return 'caught' } finally { return 'at last' } }", "f()", text},
		{"within a generator", "const g = function* () { yield 'x'.repeat(1 << 30) }", "[...g()].length", text},
		{"after a promise", "const f = () => { Promise.resolve().then(() => 'x'.repeat(1 << 30)); return 'shown' }", "f()", text},
		{"promises without end", "const f = () => { const p = () => Promise.resolve().then(p); p(); return 1 }", "f()", made},
		{"a caught promise without end", "const f = () => { const p = () => Promise.reject().catch(p); p(); return 1 }", "f()", made},
		{"a last promise without end", "const f = () => { const p = () => Promise.resolve().finally(p); p(); return 1 }", "f()", made},
		{"promises made by a list", "const f = () => { const p = () => Promise.all([1]).then(p); p(); return 1 }", "f()", made},
		{"asynchronous calls without end", "const f = () => { const p = async () => { await 0; return p() }; p(); return 1 }", "f()", made},
		{"asynchronous turns without end", "const f = () => { (async () => { for (;;) await 0 })(); return 1 }", "f()", made},
		{"code of a text", "", "Function('let s = \"xx\"; for (;;) s += s')()", text},
		{"code of a text in eval", "", "(0, eval)('let s = \"xx\"; for (;;) s += s')", text},

		{"a text below the limit", "", "'x'.repeat(16 << 20).length", ""},
		{"plus below the limit", "const big = 'x'.repeat(8 << 20)", "(big + big).length", ""},
		{"a template below the limit", "const big = 'x'.repeat(8 << 20)", "`${big}${big}`.length", ""},
		{"bytes below the limit", "", "new Uint8Array(700 << 20).length", ""},
		{"join below the limit", "", "Array(16).fill('x'.repeat(1 << 20)).join('').length", ""},
		{"an integer below the limit", "", "(1n << 262143n).toString(16).length", ""},
	}
	// These make much of what a page may before they are refused, or are not.
	filling := []test{
		{"texts in steps", "const f = () => { const l = []; for (;;) l.push('x'.repeat(1 << 20) + l.length) }", "f()", made},
		{"plus", big, "(big + big).length", text},
		{"template", big, "`${big}${big}`.length", text},
		{"one letter after another", "const f = () => { let s = ''; for (;;) s += 'x' }", "f()", made},
		{"text of a list of lists", dag, "String(d).length", made},
		{"toLocaleString", dag, "d.toLocaleString().length", made},
		{"replaceAll", "", "'x'.repeat(1 << 20).replaceAll('x', 'y'.repeat(100)).length", text},
		{"replace with a pattern", "", "'x'.repeat(1 << 20).replace(/x/g, 'y'.repeat(100)).length", text},
		{"spread of a text", big, "[...big].length", made},
		{"keys of a text", big, "Object.keys(big).length", made},
		{"escapes", big, "encodeURIComponent(wide.slice(0, 4 << 20)).length", text},
		{"upper case in steps", big + "\nconst f = () => { const l = []; for (;;) l.push(big.toUpperCase()) }", "f()", made},
		{"spread in steps", "const f = () => { let l = [1]; for (;;) l = [...l, ...l] }", "f()", made},
		{"concat in steps", "const f = () => { let l = [1]; for (;;) l = l.concat(l) }", "f()", made},
		{"slice in steps", long + "\nconst f = () => { const l = []; for (;;) l.push(long.slice()) }", "f()", made},
		{"map by the engine's function", long + "\nconst f = () => { const l = []; for (;;) l.push(long.map(Math.abs)) }", "f()", made},
		{"flatMap", long, "long.flatMap(() => long).length", made},
		{"a set of it", "", "new Set({[Symbol.iterator]: () => ({next: Object})}).size", made},
		{"rest of it", "const f = () => { const [...r] = {[Symbol.iterator]: () => ({next: Object})}; return r.length }", "f()", made},
		{"arguments", "const g = () => 0, f = () => { const l = Array(1e5).fill(0); for (;;) g(...l) }", "f()", made},
		{"slices of bytes", "const b = new Uint8Array(1 << 24), f = () => { const l = []; for (;;) l.push(b.slice()) }", "f()", made},
		{"JSON of lists of lists", dag, "JSON.stringify(d).length", made},
		{"JSON with space", "", "JSON.stringify(Array(1e6).fill([1]), null, '          ').length", text},
		{"JSON of one text", big, "JSON.stringify([big, big]).length", text},
		{"JSON in steps", "const j = '[' + '[],'.repeat(1e5) + '1]', f = () => { const l = []; for (;;) l.push(JSON.parse(j)) }", "f()", made},
		{"objects in steps", "const f = () => { const l = []; for (;;) l.push({a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11, l: 12}) }", "f()", made},
		{"members copied", "const o = Object.fromEntries(Array(1e4).fill(0).map((_, i) => ['k' + i, i])), f = () => { const l = []; for (;;) l.push(Object.assign({}, o)) }", "f()", made},
		{"integers in steps", "const f = () => { const l = [1n << 200000n]; for (;;) l.push(l[0] - 1n) }", "f()", made},
		{"the properties of an element", "const o = Object.fromEntries(Array(1e4).fill(0).map((_, i) => ['k' + i, i])), f = () => { const l = []; for (;;) l.push(<a {...o} />) }", "f()", errSteps.Error()},

		{"a list below the limit", "", "new Array(6e6).fill(0).length", ""},
		{"JSON below the limit", "", "JSON.stringify(Array(1e6).fill('xxxxxxxx')).length", ""},
		{"texts below the limit", "const f = () => { const l = []; for (let i = 0; i < 700; i++) l.push('x'.repeat(1 << 20)); return l.length }", "f()", ""},
		{"letters below the limit", "const f = () => { let s = ''; for (let i = 0; i < 38000; i++) s += 'x'; return s.length }", "f()", ""},
		{"objects below the limit", "const f = () => { const l = []; for (let i = 0; i < 900000; i++) l.push({a: i}); return l.length }", "f()", ""},
	}
	// Each of the second kind takes seconds of a processor. make test-all tries all,
	// with both processors busy: then a guard of time would end them first.
	tests, burners := refused, 0
	if outside.Full() {
		tests, burners = slices.Concat(refused, filling), 2
	} else if !outside.Short(t) {
		for i := 0; i < len(filling); i += 5 {
			tests = append(tests, filling[i])
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range burners {
		go func() {
			for n := 0; ctx.Err() == nil; n++ {
			}
		}()
	}
	e := newEngine(t, patient)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := e.Render(t.Context(), fstest.MapFS{}, Source{File: "page.mdx", Module: test.module, Expression: "{" + test.expression + "}", Line: 9}, nil)
			var fault *Error
			if test.message == "" && (err != nil || shape(got.Nodes) == "") {
				t.Errorf("it is not shown: %v, %v", got, err)
			}
			if test.message != "" && (!errors.As(err, &fault) || !fault.Limit || fault.Message != test.message) {
				t.Errorf("it is shown as %v, error is %v, want %q", got, err, test.message)
			}
		})
	}
	if e.Starts() != 1 {
		t.Errorf("%d processes were needed: a guard ended one", e.Starts())
	}
}
