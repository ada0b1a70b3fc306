package rulesfile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/rulesfile"
)

func TestPublish(t *testing.T) {
	tests := []struct {
		name, text string
		selects    string // one path
		faults     []string
	}{
		{name: "patterns", text: "publish:\n  - \"*.html\"\n  - downloads/\n", selects: "downloads/a.bin"},
		{name: "on one line", text: "publish: ['*.html']", selects: "a/b.html"},
		{name: "nothing", text: ""},
		{name: "a comment", text: "# nothing\n"},
		{name: "no list", text: "publish: '*.html'\n", faults: []string{`1:10: "publish" must be a list of patterns, in the form of a .gitignore`}},
		{
			name: "some are no patterns", text: "publish:\n- 7\n- '# none'\n- a.txt\n", selects: "a.txt",
			faults: []string{`2:3: a pattern of "publish" must be a text such as "*.txt" or "downloads/"`, `3:3: a pattern of "publish" must be a text such as "*.txt" or "downloads/"`},
		},
		{name: "an unknown key", text: "publish: [a.txt]\nother: 1\n", selects: "a.txt", faults: []string{`2:1: unknown key "other": the keys are "check", "publish" and "run"`}},
		{name: "a second document", text: "publish: [a.txt]\n---\npublish: [b.txt]\n", selects: "a.txt", faults: []string{"3:8: the file has more than one document"}},
		{name: "too long", text: "publish: [a.txt]\n#" + strings.Repeat("x", rulesfile.MaxBytes), faults: []string{"1:1: the file has more than 64 KiB"}},
		{name: "too deep", text: strings.Repeat("[", 101), faults: []string{"1:1: the file has more than 100 brackets"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := rulesfile.Read(fstest.MapFS{rulesfile.Name: {Data: []byte(test.text)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var faults []string
			for _, one := range f.Faults {
				faults = append(faults, fmt.Sprintf("%d:%d: %s", one.Line, one.Column, one.Message))
			}
			if diff := cmp.Diff(test.faults, faults); diff != "" {
				t.Error(diff)
			}
			if test.selects == "" && f.Publish != nil || test.selects != "" && !f.Publish.Selects(test.selects) {
				t.Errorf("published is %v", f.Publish)
			}
		})
	}
	if f, err := rulesfile.Read(fstest.MapFS{}, nil); f != nil || err != nil {
		t.Errorf("a site without the file: %v, %v", f, err)
	}
}

func TestSectionsAreRead(t *testing.T) {
	var got []string
	read := func(what string) func(*rulesfile.File, ast.Node) {
		return func(f *rulesfile.File, value ast.Node) {
			f.Fields(value, what, func(key string, at, _ ast.Node) {
				got = append(got, what+"."+key)
				f.Fault(at, "no %s", key)
			})
		}
	}
	f := rulesfile.Parse([]byte("run:\n  kind: cloud\ncheck:\n  a: off\n  b: off\n"), rulesfile.Sections{"check": read("check"), "run": read("run")})
	if diff := cmp.Diff([]string{"run.kind", "check.a", "check.b"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]rulesfile.Fault{{2, 3, "no kind"}, {4, 3, "no a"}, {5, 3, "no b"}}, f.Faults); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse: whatever is in the file, reading it ends, and each fault has its place.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"publish: [a, '!b']", "publish:\n- &a [*a]\n", "---\n---\n", "? publish\n: [a]\n", "publish: !!x\n", "check:\n\tx: y", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file := rulesfile.Parse(src, nil)
		file.Publish.Selects("a/b")
		for _, one := range file.Faults {
			if one.Line < 1 || one.Column < 1 || one.Message == "" {
				t.Errorf("a fault has no place, or nothing to say: %+v", one)
			}
		}
	})
}
