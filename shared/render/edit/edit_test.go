package edit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
)

func TestIndent(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"as it nests", "{\n\"a\": [\n\"b\"\n  ]\n}\n", "{\n  \"a\": [\n    \"b\"\n  ]\n}\n"},
		{"by its own step", "{\n\t\"a\": {\n  \"b\": 1}, \n\t\"c\": 2\n}", "{\n\t\"a\": {\n\t\t\"b\": 1},\n\t\"c\": 2\n}"},
		{"brackets together", "{\n    \"a\": [{\n    \"b\": \"]{\"\n    }, {\n    \"c}\": []\n    }]\n}\r\n", "{\n    \"a\": [{\n        \"b\": \"]{\"\n    }, {\n        \"c}\": []\n    }]\n}\r\n"},
		{"empty lines", "{\n\n  \"a\": 1,\n  \n  \"b\": 2\n }\n", "{\n\n  \"a\": 1,\n\n  \"b\": 2\n}\n"},
		{"one line", `{"a": [1, {"b": 2}]}`, `{"a": [1, {"b": 2}]}`},
		{"a mark at the beginning", "\ufeff{\n \"a\": 1\n}", "\ufeff{\n \"a\": 1\n}"},
	} {
		changes, err := Indent([]byte(c.src))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if diff := cmp.Diff(c.want, string(Splice([]byte(c.src), changes))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if _, err := Indent([]byte("{")); err == nil {
		t.Error("what is not JSON is indented")
	}
}

// Whatever a file's indentation was, it is mended to the same, its values stay, and
// there is nothing to do a second time.
func TestIndentAgain(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) any { return someValue(t, 3) }).Draw(t, "value")
		good, err := json.MarshalIndent(map[string]any{"a": value, "b": 1}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(good), "\n")
		for i := range lines {
			if rapid.Bool().Draw(t, "moved") && !strings.HasPrefix(lines[i], "  \"") {
				lines[i] = rapid.StringMatching("[ \t]{0,5}").Draw(t, "white") + strings.TrimLeft(lines[i], " ")
			}
		}
		src := []byte(strings.Join(lines, ""))
		changes, err := Indent(src)
		if err != nil {
			t.Fatal(err)
		}
		got := Splice(src, changes)
		if string(got) != string(good) {
			t.Fatalf("got\n%s\nfor\n%s", got, good)
		}
		if again, err := Indent(got); err != nil || len(again) > 0 {
			t.Fatal(again, err)
		}
	})
}

// someValue draws a JSON value.
func someValue(t *rapid.T, depth int) any {
	kinds := 2
	if depth > 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.StringMatching(`[a-z{}\[\]"\\ ]{0,6}`).Draw(t, "text")
	case 1:
		return rapid.IntRange(0, 9).Draw(t, "number")
	case 2:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, someValue(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[rapid.StringMatching(`[a-z"\\\]]{1,4}`).Draw(t, "name")] = someValue(t, depth-1)
	}
	return object
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		written, folder, name, was string
		want                       []string
	}{
		{"/old", "guides", "new/page", "old", []string{"/new/page"}},
		{"/old/", "guides", "new", "old", []string{"/new/"}},
		{"../old", "guides", "new", "old", []string{"../new", "/new"}},
		{"./old", "guides", "guides/new", "guides/old", []string{"./new", "/guides/new"}},
		{"guides/old", "guides", "guides/new", "guides/old", []string{"guides/new", "new", "/guides/new"}},
		{"old", "guides", "guides/a b", "guides/old", []string{"a%20b", "/guides/a%20b"}},
	} {
		if got := Addresses(c.written, c.folder, c.name, c.was); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// FuzzIndent: whatever JSON is indented, its values stay, nothing but white space
// changes, and there is nothing to do a second time.
func FuzzIndent(f *testing.F) {
	for _, seed := range []string{
		"{\n\"a\": [\n\"b\"\n  ]\n}\n", "{\n\t\"a\": {\n  \"b\": 1}, \n\t\"c\": 2\n}", "{\n    \"a\": [{\n    \"b\": \"]{\"\n    }, {\n    \"c}\": []\n    }]\n}\r\n",
		"\ufeff{\n \"a\": 1\n}", "[1,\r\n2\r]", "{\"a\\\"{\n\": 1}", " 1 ", "{\"\\u007b\":\n[]}", "[[[[\n]]\n]]", "{\"a\"\n:\n1}", "[\t\n\t]\t",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		changes, err := Indent(src)
		if err != nil || len(src) > 10_000 {
			return
		}
		for _, c := range changes {
			if strings.Trim(string(src[c.From:c.To])+c.Text, " \t\r") != "" {
				t.Fatalf("%q becomes %q", src[c.From:c.To], c.Text)
			}
		}
		got := Splice(src, changes)
		if json.Valid(src) {
			var before, after any
			if err := json.Unmarshal(src, &before); err != nil {
				return // deeper than the other reader goes, or a number that it has no room for
			}
			if err := json.Unmarshal(got, &after); err != nil || !reflect.DeepEqual(before, after) {
				t.Fatalf("%q becomes %q (%v)", src, got, err)
			}
		}
		if again, err := Indent(got); err != nil || len(again) > 0 {
			t.Errorf("%q becomes %q, and again %+v (%v)", src, got, again, err)
		}
	})
}
