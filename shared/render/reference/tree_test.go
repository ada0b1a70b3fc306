package reference

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// JSON and YAML are read alike: the order stays, and what JSON has no form for
// is text.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"JSON", `{"b": 1, "a": [true, null, "x", 1.50, {"c": {}}]}`, `{"b":1,"a":[true,null,"x",1.50,{"c":{}}]}`},
		{"a byte order mark", "\ufeff{\"a\": 1}", `{"a":1}`},
		{"YAML", "b: 1\na:\n  - true\n  - ~\n  - x\n  - 1.5\n  - {c: {}}\n", `{"b":1,"a":[true,null,"x",1.5,{"c":{}}]}`},
		{"YAML in braces, with a comment", "{a: 1, # one\n b: 2}", `{"a":1,"b":2}`},
		{"JSON with a comma too many, which YAML allows", "{\"a\": 1,\n}", `{"a":1}`},
		{"texts that look like others", "a: \"1\"\nb: 2024-01-01\nc: .inf\nd: 0x1F\ne: +5\nf: yes\ng: 1_000", `{"a":"1","b":"2024-01-01","c":".inf","d":31,"e":5,"f":"yes","g":"1_000"}`},
		{"numbers of YAML 1.2", "[02142, 010, 0o17, -0x1F, 0b11, 00000000000000000012, 123456789012345678901, .5, 5., 1.e3, +1.0, 010.50, 1e400, 12:30, 1.2.3, -, +, .]",
			`[2142,10,15,"-0x1F","0b11",12,123456789012345678901,0.5,5,1000,1.0,10.5,1e400,"12:30","1.2.3","-","+","."]`},
		{"nothing and booleans", "[~, null, NULL, nuLL, True, FALSE, on, !!str true, !!str 12, 'null']", `[null,null,null,"nuLL",true,false,"on","true","12","null"]`},
		{"an anchor and its aliases", "a: &x {n: 1}\nb: *x\nc: [*x]", `{"a":{"n":1},"b":{"n":1},"c":[{"n":1}]}`},
		{"merge keys", "a: &x {n: 1, m: 2}\nb:\n  <<: *x\n  n: 3\nc:\n  <<: [*x, {k: 4}]", `{"a":{"n":1,"m":2},"b":{"n":3,"m":2},"c":{"n":1,"m":2,"k":4}}`},
		{"numbers as names", "200: ok\n404: no", `{"200":"ok","404":"no"}`},
		{"signs that HTML knows", `{"a": "<b> & </b>"}`, `{"a":"<b> & </b>"}`},
		{"several documents: the first counts", "a: 1\n---\nb: 2", `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := parse([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.json(1 << 20)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

// A file that can't be read says why, and on which line.
func TestParseFaults(t *testing.T) {
	for _, c := range []struct {
		name, src string
		line      int
		message   string
	}{
		{"cut JSON", "{\n\"a\": [1,", 2, "unexpected"},
		{"JSON without a colon", "{\"a\" 1}", 1, "not JSON"},
		{"YAML with a tab", "a:\n\tb: 1", 2, "not YAML"},
		{"an alias of nothing", "a: *x", 0, "not YAML"},
		{"an anchor in itself", "a: &x\n  b: *x", 2, "holds itself"},
		{"nothing", "", 0, "empty"},
		{"deep JSON", `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}", 1, "deep"},
		{"deep YAML", strings.Repeat("[", 300) + strings.Repeat("]", 300), 1, "deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse([]byte(c.src))
			var f *fault
			if !errors.As(err, &f) || f.line != c.line || !strings.Contains(f.message, c.message) {
				t.Errorf("got %+v, want line %d and %q", err, c.line, c.message)
			}
		})
	}
}

// Aliases of aliases make of a small file a value that no memory holds, here a
// million times what the alias names: it is never written out.
func TestParseBomb(t *testing.T) {
	for _, leaf := range []string{"x", "1", "true", "null", "[]", "{}", "{x: 1}"} {
		var b strings.Builder
		b.WriteString("a0: &a0 " + leaf + "\n")
		for i := 1; i < 7; i++ {
			fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
		}
		v, err := parse([]byte(b.String()))
		if err != nil {
			t.Fatalf("of %s: %v", leaf, err)
		}
		if text, err := v.json(1 << 16); !errors.Is(err, errTooLarge) || len(text) > 2<<16 {
			t.Errorf("of %s: %d bytes, %v", leaf, len(text), err)
		}
	}
}
