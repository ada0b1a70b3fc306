package island

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// The test's own program is the process that renders.
func TestMain(m *testing.M) {
	if IsWorker(os.Getenv) {
		time.Local = time.FixedZone("here", 5*60*60) // as on somebody's machine
		if slices.Contains(os.Args, patient) {
			maxCPU = time.Hour
		}
		os.Exit(Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// patient is the argument of a process that takes all the time it needs, so that
// counts alone decide on any machine.
const patient = "patient"

func newEngine(t *testing.T, args ...string) *Engine {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := New(Options{Program: program, Args: args})
	t.Cleanup(e.Close)
	return e
}

// shape writes nodes the way they are easiest to read.
func shape(list []Node) string {
	var b strings.Builder
	for _, n := range list {
		if n.Tag == "" {
			b.WriteString(n.Text)
			continue
		}
		b.WriteString("<" + n.Tag)
		for _, a := range n.Attrs {
			b.WriteString(" " + a.Name + "=")
			if a.Shown != nil {
				b.WriteString("[" + shape(a.Shown) + "]")
			} else {
				b.Write(a.Value)
			}
		}
		b.WriteString(">" + shape(n.Children) + "</>")
	}
	return b.String()
}

func TestRender(t *testing.T) {
	files := fstest.MapFS{
		"snippets/counter.jsx": {Data: []byte("import { useState } from 'react';\nimport { double } from './math';\nexport const Counter = ({ start = 1 }) => {\n  const [n, setN] = useState(start);\n  return <button onClick={() => setN(n + 1)}>{double(n)}</button>;\n};\n")},
		"snippets/math.ts":     {Data: []byte("export const double = (n: number): number => n * 2;\n")},
		"snippets/typed.tsx":   {Data: []byte("type P = { name: string };\nexport default function Hello({ name }: P) { return <b>Hello {name}</b>; }\n")},
		"snippets/data.json":   {Data: []byte(`{"items": ["a", "b"]}`)},
		"snippets/style.css":   {Data: []byte("a{}")},
	}
	e := newEngine(t)
	for _, test := range []struct {
		name, module, expression, props string
		names                           []string
		want                            string
		live                            bool
	}{
		{name: "an expression", expression: "{[3, 1, 2].sort().reverse().map(n => <li key={n}>{n}</li>)}", want: "<li>3</><li>2</><li>1</>"},
		{name: "state", module: "import { Counter } from '/snippets/counter.jsx'", expression: "<Counter start={4} />", want: "<button>8</>", live: true},
		{name: "relative import and a default", module: "import Hello from '../snippets/typed'", expression: `<Hello name="you" />`, want: "<b>Hello you</>"},
		{name: "data", module: "import data from '/snippets/data.json'\nimport '/snippets/style.css'", expression: "{data.items.join(', ')}", want: "a, b"},
		{name: "hooks without an import", module: "export const C = () => { const [v] = useState('x'); const m = useMemo(() => v + v, [v]); return <i>{m}</i>; }", expression: "<C />", want: "<i>xx</>", live: true},
		{name: "built-in components", module: "export const C = () => <Card title='T' icon={<b>i</b>}><Tree.File name='f' /></Card>", expression: "<C />", want: `<Card title="T" icon=[<b>i</>]><Tree.File name="f"></></>`},
		{name: "own components hide built-in ones", module: "export const Card = () => <u>own</u>", expression: "<Card />", want: "<u>own</>"},
		{name: "the callout and the value of that name", module: "export const C = () => { try { throw new Error('no') } catch (e) { return <Error>{e.message}</Error> } }", expression: "<C />", want: "<Error>no</>"},
		{name: "context", module: "const X = React.createContext('no'); \nexport const C = () => { const v = React.useContext(X); return <>{v}</> }", expression: "<><C /><X.Provider value='yes'><C /></X.Provider><C /></>", want: "noyesno"},
		{name: "ids", module: "export const C = () => { const a = useId(), b = React.useId(); return <b id={a}>{b}</b> }", expression: "<><C /><C /></>", want: `<b id="i7_1">i7_2</><b id="i7_3">i7_4</>`},
		{name: "effects do not run", module: "export const C = () => { const [s, set] = useState('first'); useEffect(() => { set('then') }, []); return s; }", expression: "<C />", want: "first", live: true},
		{name: "a class", module: "import React from 'react'\nexport class C extends React.Component { state = { n: 2 }; render() { return <b>{this.state.n + this.props.m}</b> } }", expression: "<C m={3} />", want: "<b>5</>", live: true},
		{name: "memo and forwardRef", module: "import { memo, forwardRef } from 'react'\nexport const C = memo(forwardRef((p, ref) => <b>{p.x}</b>))", expression: "<C x='1' />", want: "<b>1</>"},
		{name: "content of the page", module: "export const C = ({children}) => <section>{children}</section>", expression: "<C>{$children}</C>", want: "<section><$children></></>"},
		{name: "properties", expression: "{name.toUpperCase()}", props: `{"name":"ada"}`, names: []string{"name"}, want: "ADA"},
		{name: "an event of an element", expression: "<button onClick={() => alert(1)}>x</button>", want: "<button>x</>", live: true},
		{name: "style and class", expression: "<p className='a' style={{color: 'red'}} data-x={1} hidden>x</p>", want: `<p className="a" style={"color":"red"} data-x=1 hidden=true>x</>`},
		{name: "the reader is nobody", module: "export const C = () => { const [n] = useState(user.name ?? 'you'); return n }", expression: "<>{user?.org?.name}<C />{typeof user}</>", want: "youobject", live: true},
		{name: "a user of the page's own", module: "export const user = { name: 'Ada' }", expression: "{user.name}", want: "Ada"},
		{name: "no clock and no randomness", expression: "{[Date.now(), new Date().getFullYear(), typeof window, typeof fetch].join()}", want: "0,1970,undefined,undefined"},
		{name: "no time zone", expression: "{[new Date(2020, 0, 1).toISOString(), new Date('2020-06-01T12:00').getUTCHours(), new Date(0).getTimezoneOffset(), String(new Date(0))].join()}", want: "2020-01-01T00:00:00.000Z,12,0,Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)"},
		{name: "numbers as people write them", expression: "{[1234567.8915, -999, 1e6, 0.5, 0.0004, 1e21, 2].map(n => n.toLocaleString()).join(' ')} {(3).toLocaleString('en-US', {minimumFractionDigits: 2})} {(1234.56).toLocaleString(['en'], {maximumFractionDigits: 0})} {NaN.toLocaleString()}", want: "1,234,567.892 -999 1,000,000 0.5 0 1,000,000,000,000,000,000,000 2 3.00 1,235 NaN"},
		{name: "array methods and generators", module: "function* g() { for (let i = 0; i < 3; i++) yield i }", expression: "{[...g()].map(x => x ** 2).join('')}", want: "014"},
		{name: "loops without blocks", module: "const f = () => { let n = 0; for (let i = 0; i < 3; i++) n++; while (n < 9) if (n % 2) n += 3; else n++; do n++; while (n < 20); for (const k in {a: 1}) for (const x of [1, 2]) n += x; l: for (;;) { for (;;) break l; } return n }", expression: "{f()}", want: "23"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := e.Render(t.Context(), files, Source{File: "guides/x.mdx", Module: test.module, Expression: test.expression, Line: 9, Number: 7, Props: test.props, Names: test.names}, []string{"Card", "Tree", "Tree.File"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shape(got.Nodes)); diff != "" {
				t.Errorf("it shows something else (-want +got):\n%s", diff)
			}
			if got.Live != test.live {
				t.Errorf("live is %v", got.Live)
			}
		})
	}
	if n := e.Starts(); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}

// What a script draws at random is the same in each process and at each time:
// the same site gives the same bytes.
func TestNothingByChance(t *testing.T) {
	dice := Source{File: "p.mdx", Expression: "{[1, 2, 3].map(() => Math.random()).join()}", Line: 1}
	var first string
	for range 2 {
		e := newEngine(t)
		for range 2 {
			got, err := e.Render(t.Context(), fstest.MapFS{}, dice, nil)
			if err != nil {
				t.Fatal(err)
			}
			drawn := shape(got.Nodes)
			if first == "" {
				first = drawn
			}
			if numbers := strings.Split(drawn, ","); drawn != first || len(numbers) != 3 || numbers[0] == numbers[1] {
				t.Errorf("it draws %s, before %s", drawn, first)
			}
		}
	}
}

// What is wrong with an author's script is told with its place, and costs no
// more than that.
func TestFaults(t *testing.T) {
	files := fstest.MapFS{
		"a.jsx":    {Data: []byte("export const A = () => {\n  const list = undefined;\n  return <ul>{list.map(x => x)}</ul>;\n};\n")},
		"bad.jsx":  {Data: []byte("export const B = () => {\n  return <ul>\n}\n")},
		"loop.jsx": {Data: []byte("export const L = () => { for (;;) ; }\n")},
		"deep.jsx": {Data: []byte("export const D = () => <D />\n")},
	}
	e := newEngine(t, patient)
	for _, test := range []struct{ name, module, expression, message, file string }{
		{"an exception", "import {A} from '/a.jsx'", "<A />", "Cannot read property 'map' of undefined", "a.jsx:3"},
		{"thrown in the page", "", "{(() => { throw new Error('no') })()}", "Error: no", "page.mdx:9"},
		{"on a later line", "", "{[1].map(() => {\n  throw 'text'\n})}", "text", "page.mdx:10"},
		{"syntax", "import {B} from '/bad.jsx'", "<B />", "Unexpected", "bad.jsx:"},
		{"syntax in the page", "", "{1 +}", "Unexpected", "page.mdx:9"},
		{"no such file", "import {B} from './none'", "<B />", "there is no file none", "page.mdx:1"},
		{"no such export", "import {Z} from '/a.jsx'", "<Z />", `No matching export in "site:a.jsx" for import "Z"`, "page.mdx:1"},
		{"a package", "import {B} from 'lodash'", "<B />", `"lodash" is not among the site's files`, "page.mdx:1"},
		{"out of the site", "import {B} from '../../etc/passwd.js'", "<B />", "leads out of the site", "page.mdx:1"},
		{"an unknown name", "", "{window.location.href}", "window is not defined", "page.mdx:9"},
		{"another name of browsers", "", "{structuredClone({})}", "use it in an effect or a handler", "page.mdx:9"},
		{"numbers of another language", "", "{(1234.5).toLocaleString('de-DE')}", "no locales at the export but English", "page.mdx:9"},
		{"numbers as money", "", "{(1234.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'})}", "no locales at the export but English", "page.mdx:9"},
		{"an object", "", "{({a: 1})}", "an object is no content: {a}", "page.mdx:9"},
		{"no component", "import {A} from '/a.jsx'\nexport const x = {}", "<x.Y />", "the component of an element is undefined", "page.mdx:9"},
		{"an endless loop", "import {L} from '/loop.jsx'", "<L />", "more work than a page may", "loop.jsx:1"},
		{"endless calls", "export const f = () => f()", "{f()}", "without an end", "page.mdx:1"},
		{"a component that shows itself", "import {D} from '/deep.jsx'", "<D />", "without an end", ""},
		{"a gigabyte at once", "", "{new Array(1).concat(new Uint8Array(1 << 30)).length}", "makes more than 768 MiB", "page.mdx:9"},
		{"a gigabyte in steps", "export const f = () => { const l = []; for (;;) l.push('x'.repeat(1 << 20) + l.length) }", "{f()}", "makes more than 768 MiB", "page.mdx:1"},
		{"endless text", "", "{'x'.repeat(5 << 20)}", "shows more than 4 MiB", "page.mdx:9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "a gigabyte in steps" {
				outside.Long(t, "fills the memory that a page may")
			}
			if test.name == "a gigabyte at once" {
				outside.NoRace(t, "the time limit ends the script before the counts do")
			}
			_, err := e.Render(t.Context(), files, Source{File: "page.mdx", Module: test.module, Expression: test.expression, Line: 9}, nil)
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(fault.Message, test.message) || !strings.Contains(fault.Error(), test.file) {
				t.Errorf("the error is %q, want %q at %s", fault, test.message, test.file)
			}
		})
	}
	// The next page is shown as ever.
	got, err := e.Render(t.Context(), files, Source{File: "page.mdx", Expression: "{1 + 1}", Line: 1}, nil)
	if err != nil || shape(got.Nodes) != "2" {
		t.Errorf("after all that: %v, %v", got, err)
	}
}

// A cancelled export ends the process.
func TestCancelled(t *testing.T) {
	e := newEngine(t)
	ctx, cancel := contextWithCancelSoon(t)
	defer cancel()
	_, err := e.Render(ctx, fstest.MapFS{}, Source{File: "p.mdx", Expression: endless, Line: 1}, nil)
	if !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
		t.Errorf("error is %v", err)
	}
	if e.worker != nil {
		t.Error("the process is still there")
	}
}
