package json

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A value knows its place, path and pointer.
func TestPlaces(t *testing.T) {
	const src = "{\r\n  \"ü\": [1, \"é\", true],\n\t\"a/b~c\": {\"x.y\": -0.5e+3,\r\n\"n\": null}\n}"
	for _, bom := range []string{"", byteOrderMark} {
		v, err := Parse([]byte(bom+src), Options{Depth: 9, Lenient: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var walk func(*Value)
		walk = func(v *Value) {
			if text := (bom + src)[v.Offset:]; v.Kind < Array && v.Kind != String && !strings.HasPrefix(text, v.Text) {
				t.Errorf("%s is not at %.10q", v.Text, text)
			}
			if whole, err := Parse([]byte((bom + src)[v.Offset:v.End]), Options{Depth: 9}); err != nil || whole.Kind != v.Kind {
				t.Errorf("%s is not all of %q: %v", v.Pointer(), (bom + src)[v.Offset:v.End], err)
			}
			got = append(got, fmt.Sprintf("%d:%d %s %q %q %s", v.Line, v.Column, v.Kind, v.Pointer(), v.Path(), v.Text))
			for _, i := range v.Items {
				walk(i)
			}
			for _, m := range v.Members {
				if m.Line != m.Value.Line {
					t.Errorf("%q stands on line %d", m.Name, m.Line)
				}
				if text := (bom + src)[m.Offset:]; !strings.HasPrefix(text, `"`+m.Name+`"`) {
					t.Errorf("the name %q is not at %.10q", m.Name, text)
				}
				walk(m.Value)
			}
		}
		walk(v)
		want := []string{
			fmt.Sprintf(`1:%d an object "" "" `, len(bom)+1),
			`2:9 an array "/ü" "\"ü\"" `,
			`2:10 a number "/ü/0" "\"ü\"[0]" 1`,
			`2:13 a string "/ü/1" "\"ü\"[1]" é`,
			`2:19 a boolean "/ü/2" "\"ü\"[2]" true`,
			`3:11 an object "/a~1b~0c" "\"a/b~c\"" `,
			`3:19 a number "/a~1b~0c/x.y" "\"a/b~c\".\"x.y\"" -0.5e+3`,
			`4:6 null "/a~1b~0c/n" "\"a/b~c\".n" null`,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// What strict reading refuses, where and why; and what lenient reading says of
// the same ("" where it takes it).
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, src, strict, lenient string }{
		{"nothing", "", "1:1 is not valid JSON", "1:1 unexpected end of JSON input"},
		{"a name twice", `{"a": {"b": 1, "b": 2}}`, "1:16 a.b: is there twice", ""},
		{"a name twice, once escaped", `{"a": 1, "\u0061": 2}`, "1:10 a: is there twice", ""},
		{"names that differ by case", `{"a": 1, "A": 2}`, "", ""},
		{"two values", "1\n2", "2:1 there is more after the JSON value", "2:1 invalid character '2' after top-level value"},
		{"a comma after all", "{} ,", "1:4 there is more after the JSON value", "1:4 invalid character ',' after top-level value"},
		{"a byte order mark", byteOrderMark + "1", "1:1 is not valid JSON", ""},
		{"bytes that are not UTF-8", "{\"a\":\n\"b\xff\"}", "2:3 a: is not valid UTF-8", ""},
		{"a name that is not UTF-8", "{\"a\xff\": 1}", "1:4 is not valid UTF-8", ""},
		{"a lone surrogate", `["\ud800"]`, "1:3 [0]: has an escape that is not valid", ""},
		{"surrogates that make no pair", `["\ud800\ud800"]`, "1:3 [0]: has an escape that is not valid", ""},
		{"an unknown escape", `["é\x"]`, "1:5 [0]: has an escape that is not valid", "1:6 [0]: invalid character 'x' in string escape code"},
		{"a line feed in a string", "[\"a\nb\"]", "1:4 [0]: has a control character that is not escaped", "1:4 [0]: invalid character '\\n' in string literal"},
		{"a string without end", `{"a": "b`, "1:9 a: is a string that does not end", "1:9 a: unexpected end of JSON input"},
		{"an escape without end", `"\u12`, "1:6 is a string that does not end", "1:5 invalid character ' ' in \\u hexadecimal character escape"},
		{"half a number", "[1.]", "1:4 [0]: is not a valid number", "1:4 [0]: invalid character ']' after decimal point in numeric literal"},
		{"a leading zero", "[01]", "1:3 is not valid JSON: a comma or the end of the array was expected", "1:3 invalid character '1' after array element"},
		{"half a word", "[tru]", "1:5 [0]: is not valid JSON", "1:5 [0]: invalid character ']' in literal true (expecting 'e')"},
		{"a comma missing in an array", "[1 2]", "1:4 is not valid JSON: a comma or the end of the array was expected", "1:4 invalid character '2' after array element"},
		{"a comma missing in an object", `{"a": 1 "b": 2}`, "1:9 is not valid JSON: a comma or the end of the object was expected", "1:9 invalid character '\"' after object key:value pair"},
		{"a comma too many in an array", "[1,]", "1:3 [1]: is not valid JSON", "1:4 [1]: invalid character ']' looking for beginning of value"},
		{"a comma too many in an object", `{"a": 1,}`, "1:8 is not valid JSON: the name of a field was expected", "1:9 invalid character '}' looking for beginning of object key string"},
		{"a name without quotes", `{a: 1}`, "1:2 is not valid JSON: the name of a field was expected", "1:2 invalid character 'a' looking for beginning of object key string"},
		{"no colon", `{"a" 1}`, "1:6 a: is not valid JSON: a colon was expected", "1:6 a: invalid character '1' after object key"},
		{"no value", `{"a": }`, "1:7 a: is not valid JSON", "1:7 a: invalid character '}' looking for beginning of value"},
		{"the wrong bracket", `{"a": 1]`, "1:8 is not valid JSON: a comma or the end of the object was expected", "1:8 invalid character ']' after object key:value pair"},
		{"as deep as may be", "[[[1]]]", "", ""},
		{"too deep", "[[[\n[1]]]]", "2:2 [0][0][0][0]: is nested too deeply", "2:2 [0][0][0][0]: is nested too deeply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lenient, want := range map[bool]string{false: c.strict, true: c.lenient} {
				_, err := Parse([]byte(c.src), Options{Depth: 3, Lenient: lenient})
				got := ""
				var e *Error
				if errors.As(err, &e) {
					got = fmt.Sprintf("%d:%d %v", e.Line, e.Column, err)
				}
				if got != want {
					t.Errorf("lenient %v\ngot  %s\nwant %s", lenient, got, want)
				}
				if e != nil && (e.Deep != (c.name == "too deep") || lenient && e.Cut != strings.Contains(want, "unexpected end")) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// Numbers stay as they are written, names in messages readable.
func TestTexts(t *testing.T) {
	huge := "-" + strings.Repeat("9", 5000) + ".0e+999"
	v, err := Parse([]byte(`["`+`\ud83d\ude00\u0000`+`", `+huge+`]`), Options{Depth: 1})
	if err != nil || v.Items[0].Text != "😀\x00" || v.Items[1].Text != huge {
		t.Errorf("%v, %v", v, err)
	}
	for name, want := range map[string]string{"": `a.""`, "sizeBytes": "a.sizeBytes", "x y": `a."x y"`, "\n": `a."\n"`, strings.Repeat("é", 99): `a."` + strings.Repeat("é", 64) + `…"`} {
		if got := Join("a", name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Fields that nobody took are told, and a name is only itself.
func TestFields(t *testing.T) {
	v, err := Parse([]byte(`{"Domain": 1, "domain": 2, "x": {}}`), Options{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := v.Fields()
	if got := f.Take("domain"); got == nil || got.Text != "2" || f.Take("none") != nil {
		t.Errorf("got %v", got)
	}
	if name, ok := f.Unknown(); !ok || name != "Domain" {
		t.Errorf("unknown is %q", name)
	}
	f.Take("Domain")
	f.Take("x")
	if name, ok := f.Unknown(); ok {
		t.Errorf("unknown is %q", name)
	}
}

type inner struct {
	Size int64 `json:"size,omitempty"`
}

type outer struct {
	inner
	Domain string `json:"domain"`
	Secret string `json:"-"`
	Plain  int
	Many   map[string][]*inner `json:"many"`
	Raw    json.RawMessage     `json:"raw"`
	At     time.Time           `json:"at"`
}

// A member is a field's only under the field's own name.
func TestUnmarshal(t *testing.T) {
	for _, c := range []struct{ name, src, strict, known string }{
		{"all", `{"domain": "x", "size": 1, "Plain": 2, "many": {"Any": [{"size": 3}, null]}, "raw": {"Domain": 1}, "at": "2026-01-02T03:04:05Z"}`, "", ""},
		{"another case", `{"Domain": "x"}`, "Domain: is not a known field", "Domain: is not a known field"},
		{"another case beside the right one", `{"domain": "x", "DOMAIN": "y"}`, "DOMAIN: is not a known field", "DOMAIN: is not a known field"},
		{"another case below", `{"many": {"a": [{}, {"Size": 1}]}}`, "many.a[1].Size: is not a known field", "many.a[1].Size: is not a known field"},
		{"a letter that folds to another", `{"\u017fize": 1}`, `"ſize": is not a known field`, `"ſize": is not a known field`},
		{"a field that is not there", `{"other": {"domain": 1}}`, "other: is not a known field", ""},
		{"a field that JSON does not have", `{"Secret": "x"}`, "Secret: is not a known field", ""},
		{"a name twice", `{"domain": "x", "domain": "y"}`, "domain: is there twice", "domain: is there twice"},
		{"not UTF-8", "{\"domain\": \"\xff\"}", "domain: is not valid UTF-8", "domain: is not valid UTF-8"},
		{"another type", `{"domain": 1}`, "json: cannot unmarshal number into Go struct field outer.domain of type string", "json: cannot unmarshal number into Go struct field outer.domain of type string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for want, read := range map[*string]func([]byte, any) error{&c.strict: Unmarshal, &c.known: UnmarshalKnown} {
				var v outer
				got := ""
				if err := read([]byte(c.src), &v); err != nil {
					got = err.Error()
				}
				if got != *want {
					t.Errorf("got  %s\nwant %s", got, *want)
				}
			}
		})
	}
}

// plainly is what encoding/json makes of the same text.
func plainly(v *Value) any {
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case String:
		return v.Text
	case Number:
		return json.Number(v.Text)
	case Array:
		all := []any{}
		for _, item := range v.Items {
			all = append(all, plainly(item))
		}
		return all
	case Object:
		all := map[string]any{}
		for _, m := range v.Members {
			all[m.Name] = plainly(m.Value)
		}
		return all
	}
	return nil
}

// FuzzParse: what strict reading takes, lenient reading takes and encoding/json
// reads the same; lenient reading takes exactly what encoding/json takes; and
// what is refused has a place in the text and a message.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,"\ud83d\ude00\n",true,null,{}]}`, `[]`, `"\ud800"`, "\"\xff\"", `{"a":1,"a":2}`, `01`, `1 2`, ` `, "[[[[[[[[[[1]]]]]]]]]]",
		byteOrderMark + "{}", "{\"a\"\n:\r\n1,}", `{"a"`, "[1 2]", `"\u12`, `"\ud800\u`, "-", "1e", "nul", "[\"\xe2\x82",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		const deepest = 8
		strict, err1 := Parse(src, Options{Depth: deepest})
		lenient, err2 := Parse(src, Options{Depth: deepest, Lenient: true})
		deep := false
		for _, err := range []error{err1, err2} {
			var e *Error
			if err == nil {
				continue
			}
			if !errors.As(err, &e) || e.Message == "" || !utf8.ValidString(e.Path) || e.Offset < 0 || e.Offset > len(src) ||
				e.Line != 1+strings.Count(string(src[:e.Offset]), "\n") || e.Column != e.Offset-strings.LastIndexByte(string(src[:e.Offset]), '\n') {
				t.Fatalf("%q: error is %+v", src, err)
			}
			deep = deep || e.Deep
		}
		if err1 == nil && (err2 != nil || !reflect.DeepEqual(plainly(strict), plainly(lenient))) {
			t.Errorf("%q is read in two ways: %v", src, err2)
		}
		var raw json.RawMessage
		if err := Unmarshal(src, &raw); !deep && (err == nil) != (err1 == nil) {
			t.Errorf("%q: %v, but Unmarshal says %v", src, err1, err)
		}
		src = []byte(strings.TrimPrefix(string(src), byteOrderMark))
		if valid := json.Valid(src); !deep && valid != (err2 == nil) {
			t.Errorf("%q: %v, but encoding/json says %v", src, err2, valid)
		}
		if err2 == nil {
			d := json.NewDecoder(strings.NewReader(string(src)))
			d.UseNumber()
			var want any
			if err := d.Decode(&want); err != nil || !reflect.DeepEqual(plainly(lenient), want) {
				t.Errorf("%q is read as %v, want %v (%v)", src, plainly(lenient), want, err)
			}
		}
	})
}
