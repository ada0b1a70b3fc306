package island

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// Whatever the process answers is read, or refused; nothing of it is deeper
// than a page may be.
func FuzzNodes(f *testing.F) {
	for _, seed := range []string{
		`["text"]`, `[{"t":"p","p":{"class":"a","title":{"$shown":["x",{"t":"b"}]}},"c":["x"]}]`,
		`[{"t":"Card","b":true,"k":"Card[]","p":{},"c":[{"t":"$children"}]}]`, `[1]`, `[null]`, `[{"p":[1]}]`, `[{"p":{"a":`,
		strings.Repeat(`[{"t":"p","c":`, 250) + "[]" + strings.Repeat("}]", 250),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var raw []json.RawMessage
		if json.Unmarshal([]byte(text), &raw) != nil {
			return
		}
		list, err := nodes(raw)
		if err != nil {
			return
		}
		var depth func(list []Node) int
		depth = func(list []Node) (most int) {
			for _, n := range list {
				most = max(most, 1+depth(n.Children))
				for _, a := range n.Attrs {
					most = max(most, 1+depth(a.Shown))
				}
			}
			return most
		}
		if n := depth(list); n > maxDepth+1 {
			t.Errorf("it is %d deep", n)
		}
	})
}

// A script with its calls and turns counted is a script still, and says the same.
func FuzzCounted(f *testing.F) {
	for _, seed := range []string{
		"var a=0;for(var i=0;i<3;i++)a+=i;a", "(function(){return 1})()", "var f=()=>{return 2};f()", "while(0);", "for(;;)break;7",
		"do 1;while(0)", "for(var k in {a:1})k;for(var x of [1]){x}", "if(1)for(;;){break}else while(1)break", "label:for(;;){for(;;)break label}5",
		"class A{m(){return 1} get x(){return 2}};new A().x", "var o={f(){return 3}};o.f()", "for(let a=0;a<2;a++)if(a)1;else 2", "`a${1}b`", "/a/.test('a')",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		if _, err := goja.Compile("", text, false); err != nil {
			return
		}
		if _, err := counted("", text, nameStep); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		classWords([]byte(text))
	})
}

// Counting changes nothing of what a script works out.
func TestCounted(t *testing.T) {
	for _, text := range []string{
		"var a=0;for(var i=0;i<3;i++)a+=i;a", "(function(){return 1})()", "var f=()=>{return 2};f()", "var n=0;while(n<9)if(n%2)n+=3;else n++;n",
		"var n=0;do n++;while(n<5);n", "var s='';for(var k in {a:1,b:2})s+=k;for(var x of [1,2]){s+=x}s", "label:for(;;){for(;;)break label}5",
		"class A{m(){return 1} get x(){return this.m()+2}};new A().x", "function f(){'use strict';return this===undefined}f()",
	} {
		plain, err := goja.New().RunString(text)
		if err != nil {
			t.Fatal(err)
		}
		script, err := counted("", text, nameStep)
		if err != nil {
			t.Fatal(err)
		}
		vm := goja.New()
		m := newMeter(vm, scripts{})
		if err := m.install(); err != nil {
			t.Fatal(err)
		}
		v, err := vm.RunProgram(script)
		if err != nil || !v.StrictEquals(plain) || m.steps == 0 {
			t.Errorf("%s gives %v (%v) with %d counted, %v before", text, v, err, m.steps, plain)
		}
	}
}
