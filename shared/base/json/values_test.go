package json

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type Placed struct {
	Name string `json:"name,omitempty"`
	Line int    `json:"line"`
}

type listed struct {
	Placed
	Coded
	IDs   []string          `json:"ids,omitempty"`
	Words map[string]string `json:"words,omitempty"`
	Deep  *Placed           `json:"deep,omitempty"`
}

type Coded struct {
	Code string `json:"code"`
}

func read[T any](r io.Reader) (all []T, err error) {
	for v, err := range Values[T](r) {
		if err != nil {
			return all, err
		}
		all = append(all, *v)
	}
	return all, nil
}

func TestValues(t *testing.T) {
	const two = `{"name":"a","line":3,"code":"x","ids":["é","<"],"later":{"b":[1]}}` + "\n" + `{"words":{"k":"v"},"deep":{"line":1}}` + "\n"
	first := listed{Placed: Placed{"a", 3}, Coded: Coded{"x"}, IDs: []string{"é", "<"}}
	for _, c := range []struct {
		name, src string
		want      []listed
		err       string
	}{
		{"lines", two, []listed{first, {Words: map[string]string{"k": "v"}, Deep: &Placed{Line: 1}}}, ""},
		{"nothing", "", nil, ""},
		{"an empty line at the end", "{}\n\n", []listed{{}}, ""},
		{"a value cut short", two + `{"na`, []listed{first, {Words: map[string]string{"k": "v"}, Deep: &Placed{Line: 1}}}, "unexpected EOF"},
		{"a name of another case", `{"Name":"a"}`, []listed{{}}, ""},
		{"a member twice", `{"line":1,"line":2}`, nil, "duplicate"},
		{"another type", `{"line":"1"}`, nil, "line"},
		{"not UTF-8", "{\"name\":\"\xff\"}", nil, "UTF-8"},
		{"not JSON", "{}\n<", []listed{{}}, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read[listed](strings.NewReader(c.src))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, not %q", err, c.err)
			}
		})
	}
	t.Run("the reader's error", func(t *testing.T) {
		own := errors.New("own")
		for _, src := range []string{"", "{}\n", `{"na`} {
			if _, err := read[listed](io.MultiReader(strings.NewReader(src), iotest.ErrReader(own))); !errors.Is(err, own) {
				t.Errorf("after %q: %v", src, err)
			}
		}
	})
	t.Run("a caller that stops", func(t *testing.T) {
		for range Values[listed](strings.NewReader("{}\n<")) {
			break
		}
	})
}

// What Values reads, encoding/json reads too, and as the same.
func FuzzValues(f *testing.F) {
	f.Add(`{"name":"a","ids":["b"],"words":{"c":"d"}}` + "\n" + `{"deep":{"name":"é","line":-2}}`)
	f.Fuzz(func(t *testing.T, src string) {
		got, err := read[listed](iotest.OneByteReader(strings.NewReader(src)))
		dec := json.NewDecoder(strings.NewReader(src))
		for i, v := range got {
			var want map[string]any
			if err := dec.Decode(&want); err != nil {
				t.Fatalf("value %d: %v", i, err)
			}
			name, _ := want["name"].(string)
			line, _ := want["line"].(float64)
			code, _ := want["code"].(string)
			if v.Name != name || float64(v.Line) != line && v.Line < 1<<50 && v.Line > -1<<50 || v.Code != code {
				t.Fatalf("value %d is %+v, not %v", i, v, want)
			}
		}
		if err == nil {
			if _, err := dec.Token(); err != io.EOF {
				t.Fatalf("after all values there is more: %v", err)
			}
		}
	})
}
