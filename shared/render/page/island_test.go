package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script/island"
)

// The test's own program is the process that shows components.
func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func newEngine(t testing.TB) *island.Engine {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := island.New(island.Options{Program: program})
	t.Cleanup(e.Close)
	return e
}

// withIslands renders page.mdx of a site.
func withIslands(t testing.TB, islands page.Islands, files map[string]string) *page.Result {
	t.Helper()
	result, err := tryIslands(t, islands, files)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func tryIslands(t testing.TB, islands page.Islands, files map[string]string) (*page.Result, error) {
	t.Helper()
	fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	_, s := open(t, fsys)
	r := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}, Islands: islands})
	for i := range s.Pages {
		if s.Pages[i].Source == "page.mdx" {
			return r.Render(t.Context(), i)
		}
	}
	t.Fatal("the site has no page.mdx")
	return nil, nil
}

// What a page shows of components, and whether it needs scripts for it. Pages
// that need no engine start none.
func TestIslands(t *testing.T) {
	e := newEngine(t)
	const box = "export const Box = ({ title, children }) => { const [n, setN] = useState(0); return <section><button onClick={() => setN(n + 1)}>{n}</button>{children}</section> }\n"
	for _, test := range []struct {
		name, source string
		files        map[string]string
		want         string // part of the HTML
		live         bool
		diagnostics  string // part of them, "" for none
		idle         bool   // no process is needed
	}{
		{name: "text", source: "Text and {1 + 1}.", want: "<p>Text and 2.</p>", idle: true},
		{name: "a component without state", source: "export const A = ({ b }) => <p>{b.map(x => <i>{x}</i>)}</p>\n\n<A b={[1, 2]} />", want: "<p><i>1</i><i>2</i></p>", idle: true},
		{name: "a hook", source: box + "\n<Box />", want: `<bindery-island data-island="0"><section><button>0</button></section>`, live: true},
		{name: "content of the page", source: box + "\n<Box>**Bold**</Box>", want: "<bindery-content><strong>Bold</strong></bindery-content></section>", live: true},
		{name: "within a line", source: "export const N = () => { const [n] = useState(4); return <b>{n}</b> }\n\nNow <N/> of them.", want: `<p>Now <bindery-island data-island="0"><b>4</b></bindery-island> of them.</p>`, live: true},
		{name: "what is shown later", source: "export const R = ({ children }) => { const [on] = useState(false); return <div>{on && children}</div> }\n\n<R>Later</R>", want: "<div></div>\n<bindery-content data-kept>Later</bindery-content>", live: true},
		{name: "a frame", source: "export const C = () => { const [n] = useState(4); return <Card title='T'>{n}</Card> }\n\n<C />", want: `<bindery-frame data-frame="Card[[&quot;title&quot;,&quot;T&quot;]]"><div class="card bdy-card">`, live: true},
		{name: "and its hole", source: "export const C = () => { const [n] = useState(4); return <Card title='T'>{n}</Card> }\n\n<C />", want: `<bindery-hole>4</bindery-hole>`, live: true},
		{name: "a handler", source: "<button onClick={() => alert(1)}>Press</button>", want: `<bindery-island data-island="0"><button><bindery-content>Press</bindery-content></button></bindery-island>`, live: true},
		{name: "ids of two of a kind", source: "export const F = () => { const id = useId(); const [v] = useState(''); return <p><label htmlFor={id}>L</label><input id={id} /></p> }\n\n<F />\n\n<F />", want: `<label for="i2_1">L</label><input id="i2_1">`, live: true},
		{name: "an expression", source: "{(() => { let n = 0; for (let i = 0; i < 4; i++) n += i; return n })()}", want: "6"},
		{name: "components in an expression", source: "export const L = React.memo(({ n }) => <li>{n}</li>)\n\n<ul>{[1, 2].map(n => <L n={n} />)}</ul>", want: "<ul><li>1</li>\n<li>2</li>\n</ul>"},
		{name: "a row that answers", source: "<table><tbody><tr onClick={() => alert(1)}><td>a</td></tr></tbody></table>", want: "<table><tbody><tr><td>a</td>", diagnostics: "script-needed"},
		{name: "a choice that answers", source: "<select onChange={() => alert(1)}><option>a</option></select>", want: "<select><option>a</option></select>", diagnostics: "script-needed"},
		{name: "content in a table", source: "export const T = ({ children }) => { const [n] = useState(0); return <table><tbody>{children}</tbody></table> }\n\n<T><tr><td>a</td></tr></T>", want: "<table><tbody><tr><td>a</td>"},
		{name: "a snippet with properties", source: "import S from '/snippets/s.mdx'\n\n<S name=\"tea\" />", files: map[string]string{"snippets/s.mdx": "<button onClick={() => alert(name)}>Buy {name}</button>"}, want: "Buy tea", live: true},
		{name: "a component of a snippet with a hook", source: "import { C } from '/snippets/c.mdx'\n\n<C />", files: map[string]string{"snippets/c.mdx": "export const C = () => { const [a] = useState(\"x\"); return <p>{a}</p> }"}, want: "<p>x</p>", live: true},
		{name: "a component of a snippet with statements", source: "import { C } from '/snippets/c.mdx'\n\n<C name=\"a.b\">Held *on*</C>", files: map[string]string{"snippets/c.mdx": "Words.\n\nexport const C = ({ name, children }) => {\n  const id = name.replace(/\\./g, '-');\n\n  return <div id={id}>{children}</div>;\n};\n\nMore."}, want: `<div id="a-b">Held <em>on</em></div>`},
		{name: "a component of a snippet with imports and a handler", source: "import { D } from '/snippets/d.mdx'\n\n<D />", files: map[string]string{
			"snippets/d.mdx": "import React, { useState } from 'react'\nimport { E } from './e.mdx'\n\nexport function D() {\n  const [n, set] = React.useState(1)\n\n  return <button onClick={() => set(n + 1)}><E n={n} /></button>\n}\n",
			"snippets/e.mdx": "import { twice } from './f.js'\n\nexport const E = ({ n }) => { const [a] = React.useState(n); return <b>{twice(a)}</b> }\n\n# Title\n",
			"snippets/f.js":  "export const twice = n => n * 2",
		}, want: "<button><b>2</b></button>", live: true},
		{name: "names in two of Unicode's forms", source: "import S from '/snippets/u\u0308.mdx'\n\n<S />\n\n<Snippet file=\"u\u0308.mdx\" />", files: map[string]string{"snippets/ü.mdx": "<b>Here</b>"}, want: "<b>Here</b>\n<b>Here</b>\n"},
		{name: "a component of a snippet within a snippet", source: "<Snippet file=\"g.mdx\" />", files: map[string]string{"_snippets/g.mdx": "import { C } from '/snippets/c.mdx'\n\n<C />", "_snippets/c.mdx": "export const C = () => { const [a] = useState(3); return <p>{a}</p> }"}, want: "<p>3</p>", live: true},
		{name: "a fault in a component of a snippet", source: "import { C } from '/snippets/c.mdx'\n\n<C>Held</C>", files: map[string]string{"snippets/c.mdx": "Words.\n\nexport const C = () => {\n  const [a] = useState();\n  return <p>{a.b}</p>;\n};\n"}, want: "<p>Held</p>", diagnostics: "snippets/c.mdx:5:1: warning: <C> can't be shown as it is meant: TypeError"},
		{name: "Markdown of a snippet in a component", source: "import S from '/snippets/s.mdx'\n\nexport const C = () => { const [a] = useState(1); return <div><S /></div> }\n\n<C>Held</C>", files: map[string]string{"snippets/s.mdx": "Words."}, want: "<p>Held</p>", diagnostics: "a component can show the components of a snippet, not its Markdown"},
		{name: "a component that is not there", source: "import { gone } from '/snippets/c.mdx'\n\nexport const C = () => { const [a] = useState(1); return <gone.A /> }\n\n<C />", files: map[string]string{"snippets/c.mdx": "export const gone = {}"}, want: "", diagnostics: "TypeError: the component of an element is undefined"},
		{name: "a broken export beside another one", source: "export const Bad = () => { const x = ; return <b>{x}</b> }\n\nexport const Good = () => { const [a] = useState(5); return <p>{a}</p> }\n\n<Good />", want: "<p>5</p>", live: true},
		{name: "a broken export that is used", source: "export const Bad = () => { const x = ; return <b>{x}</b> }\n\nexport const Good = () => { const [a] = useState(5); return <p>{a}</p> }\n\n<Good />\n\n<Bad>Held</Bad>", want: "<p>Held</p>", live: true, diagnostics: "page.mdx:1:1: warning: <Bad> can't be shown as it is meant: Unexpected \";\""},
		{name: "a broken file beside another one", source: "import { Bad } from '/b.jsx'\n\nexport const Both = () => <Bad />\n\nexport const Good = () => { const [a] = useState(5); return <p>{a}</p> }\n\n<Good />", files: map[string]string{"b.jsx": "export const Bad = () => { const x = ; return <b>{x}</b> }"}, want: "<p>5</p>", live: true},
		{name: "a broken export of a snippet", source: "import { Good } from '/snippets/s.mdx'\n\n<Good />", files: map[string]string{"snippets/s.mdx": "export const Bad = () => { const x = ; return <b>{x}</b> }\n\nexport const Good = () => { const [a] = useState(5); return <p>{a}</p> }"}, want: "<p>5</p>", live: true},
		{name: "an import that nothing needs", source: "import { x } from 'lodash'\n" + box + "\n<Box />", want: "<section>", live: true},
		{name: "an import that isn't there", source: "import { x } from 'lodash'\n\n{x([1])}\n\nText", want: "<p>{x([1])}</p>\n<p>Text</p>", diagnostics: `page.mdx:1:1: warning: {x([1])} is shown as it was written: "lodash" is not among the site's files`},
		{name: "names that nothing has", source: "GET /users/{userId}/pay with ${order.id}.", want: "<p>GET /users/{userId}/pay with ${order.id}.</p>", diagnostics: "page.mdx:1:12: warning: {userId} is shown as it was written: userId is not defined (script-failed)", idle: true},
		{name: "names in a heading, a link, a cell and a list", source: "## Get {id}\n\n[/a/{id}](https://x.test)\n\n| {id} |\n|---|\n| b |\n\n- {id}", want: "Get {id}", diagnostics: "page.mdx:5:3: warning: {id} is", idle: true},
		{name: "names of the engine", source: "/a/{Date}/{user}/{Map}/{File}", want: "<p>/a/{Date}/{user}/{Map}/{File}</p>", diagnostics: "page.mdx:1:11: warning: {user} is shown as it was written"},
		{name: "braces without a name", source: "/a/{}/{children}/{props.id}{/* no */}{null}", want: "<p>/a//{children}/{props.id}</p>", diagnostics: "page.mdx:1:7: warning: {children} is shown as it was written: nothing gives it a value", idle: true},
		{name: "templates", source: "{{user_id}} and {user-id} and {a|b} and {a/b}", want: "<p>{{user_id}} and {user-id} and {a|b} and {a/b}</p>", diagnostics: "page.mdx:1:17: warning: {user-id} is shown"},
		{name: "nothing but names", source: "{first} {last}", want: "<p>{first} {last}</p>", diagnostics: "page.mdx:1:9: warning: {last} is", idle: true},
		{name: "a call of what is not there", source: "Is {f(1)} one?\n\nAnd <b>{f(2)}</b>", want: "<p>Is {f(1)} one?</p>\n<p>And <b>{f(2)}</b>", diagnostics: "page.mdx:3:8: warning: {f(2)} is shown as it was written: ReferenceError: f is not defined"},
		{name: "a name within a component", source: "export const A = ({ b }) => <p>{b} of {total}</p>\n\n<A b={1} />", want: "<p>1 of {total}</p>", diagnostics: "page.mdx:1:39: warning: <A> can't be shown as it is meant: ReferenceError: total is not defined"},
		{name: "a property that nothing has", source: "Text\n\n<b title=\"x\" lang={de}>B</b>", want: "<b title=\"x\">B</b>", diagnostics: "page.mdx:3:14: warning: <b> can't be shown as it is meant: ReferenceError: de is not defined"},
		{name: "a fault", source: "import { F } from '/snippets/f.jsx'\n\n<F>Held</F>", files: map[string]string{"snippets/f.jsx": "export const F = () => {\n  const [a] = useState(null);\n  return a.b;\n}"}, want: "<p>Held</p>", diagnostics: "snippets/f.jsx:3:1: warning: <F> can't be shown as it is meant: TypeError"},
		{name: "a word of browsers", source: "export const W = () => { const [w] = useState(window.innerWidth); return w }\n\n<W>Held</W>", want: `<bindery-island data-island="0"><bindery-content data-kept>Held</bindery-content></bindery-island>`, live: true, diagnostics: "page.mdx:1:1: notice: <W> is first shown in the browser: ReferenceError: window is not defined: pages are shown first where there is no browser, so use it in an effect or a handler (script-browser)"},
		{name: "a word of browsers in a file", source: "import { S } from '/snippets/s.jsx'\n\nText\n\n<S />", files: map[string]string{"snippets/s.jsx": "const all = btoa('a');\nexport const S = () => <p>{all}</p>;"}, want: `<bindery-island data-island="0"></bindery-island>`, live: true, diagnostics: "snippets/s.jsx:1:1: notice: <S> is first shown in the browser: ReferenceError: btoa is not defined"},
		{name: "components with a word of browsers in an expression", source: "export const W = ({ n }) => <b>{n + location.hash}</b>\n\n{[1, 2].map(n => <W n={n} />)}", want: `<bindery-island data-island="0"></bindery-island>`, live: true, diagnostics: "is first shown in the browser"},
		{name: "a word of browsers in a text", source: "At {window.location.href} and {location.href.length}.", want: "<p>At {window.location.href} and {location.href.length}.</p>", diagnostics: "page.mdx:1:4: warning: {window.location.href} is shown as it was written: window is not defined"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"page.mdx": test.source}
			for name, text := range test.files {
				files[name] = text
			}
			before := e.Starts()
			result := withIslands(t, e, files)
			if !strings.Contains(string(result.HTML), test.want) {
				t.Errorf("it shows %s, want %s", result.HTML, test.want)
			}
			if live := result.Script != nil; live != test.live || live != (result.ScriptPath != "") {
				t.Errorf("it has a script: %v in %q", live, result.ScriptPath)
			}
			d := diagnostics(result)
			if test.diagnostics == "" && d != "" || !strings.Contains(d, test.diagnostics) {
				t.Errorf("it says %q, want %q", d, test.diagnostics)
			}
			for _, f := range checkHTML(result) {
				t.Error(f)
			}
			if test.idle && e.Starts() != before {
				t.Error("a process was started")
			}
			if again := withIslands(t, e, files); string(again.Script) != string(result.Script) || again.ScriptPath != result.ScriptPath || string(again.HTML) != string(result.HTML) {
				t.Error("it is another page the second time")
			}
		})
	}
}

// Class names that only an interaction sets are among those that may need rules.
func TestMaybeClasses(t *testing.T) {
	result := withIslands(t, newEngine(t), map[string]string{"page.mdx": "export const C = () => { const [on, set] = useState(false); const size = 3; return <p className={on ? 'bg-[#fff] md:flex' : 'plain'} onClick={() => set(true)}>{on && <b className={`p-2 m-${size}`}>Some Words, here</b>}</p> }\n\n<C />\n"})
	got := " " + strings.Join(result.MaybeClasses, " ") + " "
	for _, want := range []string{" bg-[#fff] ", " md:flex ", " plain ", " p-2 "} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not among%s", want, got)
		}
	}
	if strings.Contains(got, " Some ") {
		t.Errorf("a word with a capital is among%s", got)
	}
}

// fakeIslands shows what a test says.
type fakeIslands struct {
	shown *island.Shown
	err   error
	asked int
}

func (f *fakeIslands) Render(context.Context, fs.FS, island.Source, []string) (*island.Shown, error) {
	f.asked++
	return f.shown, f.err
}

func (f *fakeIslands) Script(context.Context, fs.FS, []island.Source, []string, []byte) ([]byte, []string, error) {
	return []byte("live"), nil, nil
}

// Whatever scripts show, the page keeps its rules: nothing in it runs, and
// nothing closes what it didn't open.
func TestHostileIslands(t *testing.T) {
	value := func(v any) json.RawMessage { b, _ := json.Marshal(v); return b }
	element := func(tag string, attrs ...island.Attr) island.Node { return island.Node{Tag: tag, Attrs: attrs} }
	deep := island.Node{Tag: "div"}
	for range 300 {
		deep = island.Node{Tag: "div", Children: []island.Node{deep}}
	}
	for name, node := range map[string]island.Node{
		"script":      {Tag: "script", Children: []island.Node{{Text: "alert(1)"}}},
		"markup":      {Text: "</bindery-island><script>alert(1)</script>"},
		"handler":     element("p", island.Attr{Name: "onclick", Value: value("alert(1)")}),
		"address":     element("a", island.Attr{Name: "href", Value: value("java\nscript:alert(1)")}),
		"raw":         element("p", island.Attr{Name: "dangerouslySetInnerHTML", Value: value(map[string]string{"__html": "<script>alert(1)</script>"})}),
		"style":       element("p", island.Attr{Name: "style", Value: value("color:red}body{display:none")}),
		"tag":         element("p><script>alert(1)</script"),
		"attribute":   element("p", island.Attr{Name: "x><script>alert(1)</script", Value: value("1")}),
		"frame":       {Tag: "Card", Builtin: true, Key: `"><script>alert(1)</script>`},
		"unknown":     {Tag: "Nothing", Builtin: true},
		"void":        {Tag: "br", Children: []island.Node{{Text: "in it"}}},
		"nested":      deep,
		"wrong value": element("p", island.Attr{Name: "title", Value: json.RawMessage(`{"a`)}),
		"frame tags":  element("bindery-island", island.Attr{Name: "data-island", Value: value("7")}),
		"children":    {Tag: island.Children, Children: []island.Node{{Text: "x"}}},
		"iframe":      element("iframe", island.Attr{Name: "srcdoc", Value: value("<script>alert(1)</script>")}),
	} {
		for _, live := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				result := withIslands(t, &fakeIslands{shown: &island.Shown{Nodes: []island.Node{node}, Live: live}}, map[string]string{"page.mdx": "export const A = () => { const [a] = useState(1); return a }\n\n<A>Held</A>"})
				for _, f := range checkHTML(result) {
					t.Error(f)
				}
				for _, bad := range []string{"<script", "onclick", "script:alert", "srcdoc", "display:none"} {
					if strings.Contains(string(result.HTML), bad) {
						t.Errorf("%s is in %s", bad, result.HTML)
					}
				}
				for class, rule := range result.Styles {
					if strings.Contains(rule, "}") {
						t.Errorf("the rule of %s is %s", class, rule)
					}
				}
			})
		}
	}
}

// Faults of the author are told to the author; those of the engine are not, and
// cost the page no more than the component.
func TestIslandErrors(t *testing.T) {
	const source = "export const A = () => { const [a] = useState(1); return a }\n\n<A>Held</A>\n"
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"the author's", &island.Error{Message: "no", File: "page.mdx", Line: 1, Stack: []string{"a (page.mdx:1)", "b (page.mdx:2)"}}, "page.mdx:1:1: warning: <A> can't be shown as it is meant: no; called from b (page.mdx:2) (script-failed)\n"},
		{"the engine's", errors.New("secret /path"), "page.mdx:3:1: warning: <A> needs JavaScript, only its content is shown: it calls useState (script-needed)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := withIslands(t, &fakeIslands{err: test.err}, map[string]string{"page.mdx": source})
			if d := diagnostics(result); !strings.HasPrefix(d, test.want) || strings.Contains(d, "secret") {
				t.Errorf("the report is %s, want %s", d, test.want)
			}
			if !strings.Contains(string(result.HTML), "<p>Held</p>") || result.Script != nil {
				t.Errorf("the page is %s", result.HTML)
			}
		})
	}
}

// What can't be run now ends the page: another try might show something else.
func TestUnknownIslands(t *testing.T) {
	f := &fakeIslands{err: fmt.Errorf("wrapped: %w", island.ErrUnavailable)}
	_, err := tryIslands(t, f, map[string]string{"page.mdx": "export const A = () => { const [a] = useState(1); return a }\n\n<A />\n"})
	if !errors.Is(err, island.ErrUnavailable) {
		t.Errorf("error is %v", err)
	}
}

// What ends its process is left out and reported, the rest of the page is shown. No
// other component of the page is tried.
func TestEndedIslands(t *testing.T) {
	f := &fakeIslands{err: fmt.Errorf("wrapped: %w", &island.Ended{File: "page.mdx", Line: 3, Reason: "it took too long"})}
	result := withIslands(t, f, map[string]string{"page.mdx": "export const A = () => { const [a] = useState(1); return a }\n\n<A>Held</A>\n\n<A>More</A>\n\nEnd.\n"})
	d := diagnostics(result)
	if !strings.Contains(d, "page.mdx:3:1: error: <A> is left out: its JavaScript did not finish: it took too long") || strings.Count(d, "("+page.CodeScriptEnded+")") != 1 {
		t.Errorf("the report is %s", d)
	}
	if html := string(result.HTML); !strings.Contains(html, "Held") || !strings.Contains(html, "More") || !strings.Contains(html, "End.") {
		t.Errorf("the page is %s", html)
	}
	if !result.Inputs.Unsure && result.Inputs.Sum != "" {
		t.Error("the page may be kept")
	}
}

// After JavaScript that ran into the clock, no other JavaScript of the site runs, and
// pages that lack some say so. What ends by memory stops nothing else.
func TestOneIslandRunsIntoTheClock(t *testing.T) {
	const source = "export const A = () => { const [a] = useState(1); return a }\n\n<A />\n"
	for _, test := range []struct {
		ended island.Ended
		asked int
	}{
		{island.Ended{File: "a.mdx", Line: 3, Reason: "it took longer than 8s", Clock: true}, 1},
		{island.Ended{File: "a.mdx", Line: 3, Reason: "it took more memory"}, 3},
	} {
		fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["a", "b", "c"]}}`)}}
		for _, name := range []string{"a.mdx", "b.mdx", "c.mdx"} {
			fsys[name] = &fstest.MapFile{Data: []byte(source)}
		}
		_, s := open(t, fsys)
		f := &fakeIslands{err: &test.ended}
		r := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}, Islands: f})
		for i := range s.Pages {
			result, err := r.Render(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			if d := diagnostics(result); strings.Count(d, page.CodeScriptEnded) != 1 || test.ended.Clock && strings.Contains(d, "because other JavaScript took too long (a.mdx:3)") != (i > 0) {
				t.Errorf("%s: page %d reports %s", test.ended.Reason, i, d)
			}
		}
		if f.asked != test.asked {
			t.Errorf("%s: %d pieces ran, want %d", test.ended.Reason, f.asked, test.asked)
		}
	}
}

// A page that has nothing more to report shows its components all the same:
// with an engine they are there, without one the words they hold.
func TestIslandsAfterManyDiagnostics(t *testing.T) {
	const counter = "export const Counter = () => { const [n] = useState(41); return <b>{n}</b> }\n\n"
	for name, islands := range map[string]page.Islands{"an engine": newEngine(t), "none": nil} {
		for what, source := range map[string]string{
			"an element":    "<Counter>Held</Counter>",
			"an expression": "{[1].map(() => <Counter>Held</Counter>)}",
			"a handler":     "<button onClick={() => alert(1)}>Held</button>",
		} {
			t.Run(what+", "+name, func(t *testing.T) {
				show := func(missing int) string {
					var b strings.Builder
					b.WriteString(counter)
					for i := range missing {
						fmt.Fprintf(&b, "<Snippet file=\"%d.mdx\" />\n\n", i)
					}
					return string(withIslands(t, islands, map[string]string{"page.mdx": b.String() + source}).HTML)
				}
				few, many := show(3), show(1100)
				if few != many || !strings.Contains(few, "bindery-island") && (islands != nil || !strings.Contains(few, "Held")) {
					t.Errorf("after 3 diagnostics the page is %s, after 1,100 %s", few, many)
				}
			})
		}
	}
}

// Components are written with semicolons or without, in pages, in snippets of
// MDX and in files of JavaScript, and none of that needs an engine.
func TestStatementsWithoutSemicolons(t *testing.T) {
	for what, body := range map[string]string{
		"with semicolons": "const z = 2;\n\n  return <div>{z}</div>;",
		"a blank line":    "const z = 2\n\n  return <div>{z}</div>",
		"a line":          "const [z] = [2]\n  return <div>{z}</div>",
		"a condition":     "const y = 1, z = y + 1\n\n  if (!z)\n    return null\n\n  return (\n    <div>{z}</div>\n  )",
	} {
		component := "export const V = () => {\n  " + body + "\n}\n"
		for name, files := range map[string]map[string]string{
			"a page":                  {"page.mdx": component + "\n<V />"},
			"a snippet":               {"page.mdx": "import {V} from '/snippets/v.mdx'\n\n<V />", "snippets/v.mdx": component},
			"a file of JavaScript":    {"page.mdx": "import {V} from '/snippets/v.jsx'\n\n<V />", "snippets/v.jsx": component},
			"a snippet after a value": {"page.mdx": "import {V} from '/snippets/v.mdx'\n\n<V />", "snippets/v.mdx": "export const u = 1\n\n" + component + "\nText.\n"},
		} {
			t.Run(what+" in "+name, func(t *testing.T) {
				result := withIslands(t, nil, files)
				if d := diagnostics(result); !strings.Contains(string(result.HTML), "<div>2</div>") || d != "" {
					t.Errorf("it shows %s and says %q", result.HTML, d)
				}
			})
		}
	}
}

// A page with many components shows each as a page with few does.
func TestThousandIslands(t *testing.T) {
	const count = 400
	var b strings.Builder
	b.WriteString("import {Param, Pair as Two} from '/snippets/p.jsx'\nimport All from '/snippets/p.jsx'\n\nexport const Own = ({n}) => { const [a] = useState(n); return <i>{a}</i> }\n\n")
	for i := range count / 4 {
		fmt.Fprintf(&b, "<Param name=\"n%[1]d\">\n\nText **%[1]d**\n\n</Param>\n\n<Two n={%[1]d} />\n\n<Own n={%[1]d} />\n\n<All>{[1, 2].map(x => <Card key={x} title={`c${x}`} />)}</All>\n\n", i)
	}
	files := map[string]string{
		"page.mdx":       b.String(),
		"snippets/p.jsx": "import {words} from './w.js'\nlet calls = 0\nexport const Param = ({name, children}) => { const [open, set] = useState(false); const id = useId(); return <div id={id} onClick={() => set(!open)}><b>{name} {words[0]} {++calls}</b>{children}</div> }\nexport const Pair = ({n}) => { useEffect(() => {}); return <><i>{n}</i><b>{n + 1}</b></> }\nexport default ({children}) => { useEffect(() => {}); return <section>{children}</section> }\n",
		"snippets/w.js":  "export const words = ['a']\n",
	}
	result := withIslands(t, newEngine(t), files)
	if d := diagnostics(result); d != "" {
		t.Fatal(d)
	}
	blocks := strings.Split(string(result.HTML), "<b>n")[1:]
	if len(blocks) != count/4 {
		t.Fatalf("%d of %d are shown", len(blocks), count/4)
	}
	number := regexp.MustCompile(`\d+`)
	shape := func(s string) string { return number.ReplaceAllString(s, "N") }
	for i, block := range blocks[:len(blocks)-1] {
		if shape(block) != shape(blocks[0]) || !strings.HasPrefix(block, fmt.Sprintf("%d a 1</b>", i)) {
			t.Fatalf("the one with number %d is\n%s, the first\n%s", i, block, blocks[0])
		}
	}
}

// What fails among many is named by its place.
func TestFaultAmongMany(t *testing.T) {
	result := withIslands(t, newEngine(t), map[string]string{
		"page.mdx":       "import {A} from '/snippets/a.jsx'\n\n" + strings.Repeat("<A />\n\n", 30) + "<A list={[1,\n  2]}\n  bad />\n\n{[1].map(x =>\n  useState(x)[0].none.x)}\n",
		"snippets/a.jsx": "export const A = ({bad}) => {\n  const [a] = useState(1)\n  if (bad) throw new Error('bad')\n  return <p>{a}</p>\n}\n",
	})
	if d := diagnostics(result); !strings.Contains(d, "snippets/a.jsx:3") || !strings.Contains(d, "shown at page.mdx:63") || !strings.Contains(d, "page.mdx:68") || strings.Count(d, "script-failed") != 2 {
		t.Errorf("it says %s", d)
	}
}

// The pieces of JavaScript on a page are bounded.
func TestManyIslands(t *testing.T) {
	f := &fakeIslands{shown: &island.Shown{Nodes: []island.Node{{Text: "x"}}}}
	result := withIslands(t, f, map[string]string{"page.mdx": "export const A = () => { const [a] = useState(1); return a }\n" + strings.Repeat("\n<A />\n", 2100)})
	if f.asked != 2000 {
		t.Errorf("%d were shown", f.asked)
	}
	if d := diagnostics(result); strings.Count(d, "script-needed") != 100 {
		t.Errorf("%d are left out and told", strings.Count(d, "script-needed"))
	}
	if d := diagnostics(result); strings.Count(d, "more than 2000 places that need JavaScript") != 1 {
		t.Errorf("the bound is named %d times", strings.Count(d, "more than 2000 places"))
	}
}

// A regular expression that goes back without an end costs its component, and no
// other on its page.
func TestEndlessRegExp(t *testing.T) {
	result := withIslands(t, newEngine(t), map[string]string{
		"snippets/slow.jsx": "export const Slow = () => {\n  const slow = /(a+)+\\1$/\n  return <p>{String(slow.test('a'.repeat(40) + '!'))}</p>\n}\n",
		"snippets/sum.jsx":  "export const Sum = ({n}) => { const [a] = useState(n); return <p>{String(a).replace(/\\B(?=(\\d{3})+(?!\\d))/g, ',')}</p> }\n",
		"page.mdx":          "import {Slow} from '/snippets/slow.jsx'\nimport {Sum} from '/snippets/sum.jsx'\n\n<Sum n={1234567} />\n\n<Slow />\n\n<Sum n={7654321} />\n",
	})
	if html := string(result.HTML); !strings.Contains(html, "1,234,567") || !strings.Contains(html, "7,654,321") {
		t.Errorf("the others are %s", html)
	}
	d := diagnostics(result)
	if strings.Count(d, "script-failed") != 1 || !strings.Contains(d, "snippets/slow.jsx:3") || !strings.Contains(d, "regular expression takes more than 20000000 steps") || strings.Contains(d, page.CodeScriptEnded) {
		t.Errorf("it says %s", d)
	}
}

// What meets a bound is the last that is tried on its page, and a site of such
// pages is given up on.
func TestStoppedIslands(t *testing.T) {
	f := &fakeIslands{err: &island.Error{Message: "too much", File: "page.mdx", Line: 1, Limit: true}}
	source := "export const A = () => { const [a] = useState(1); return a }\n" + strings.Repeat("\n<A />\n", 5)
	withIslands(t, f, map[string]string{"page.mdx": source})
	if f.asked != 1 {
		t.Errorf("%d were tried behind a bound", f.asked)
	}
	f = &fakeIslands{shown: &island.Shown{Nodes: []island.Node{{Text: "x"}}, Steps: 400_000}}
	withIslands(t, f, map[string]string{"page.mdx": source})
	if f.asked != 3 {
		t.Errorf("%d were tried, together of too much work", f.asked)
	}
}
