package check

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A folder's settings are read with their places; what is wrong has its place too,
// and findings of a check for another part of the file don't concern them.
func TestReadRun(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []Setting
		faults     []string
	}{
		{"none", "", nil, nil},
		{"all", "check:\n  no-code: off\nrun:\n  kind: air-gapped\n  playground: true\n  allow-host:\n    - a.example\n    - '*.b.example'\n  base-path: /x\n", []Setting{
			{"kind", []string{"air-gapped"}, 4, 3}, {"playground", []string{"true"}, 5, 3},
			{"allow-host", []string{"a.example", "*.b.example"}, 6, 3}, {"base-path", []string{"/x"}, 9, 3},
		}, nil},
		{"an unknown key", "run:\n  kind: cloud\n  hosts: a\n", []Setting{{"kind", []string{"cloud"}, 2, 3}}, []string{
			`3:3 unknown key "hosts": the keys of "run" are allow-host, analytics-id, assistant, base-path, canonical-html, domain, feedback, kind, path, playground, search, site-analytics`}},
		{"a list of one", "run: {kind: [cloud]}", nil, []string{`1:13 "kind" is not a list`}},
		{"an object", "run: {path: {a: b}}", nil, []string{`1:13 the value of "path" must be a text, true or false`}},
		{"no list of keys", "run: on", nil, []string{`1:6 "run" is not a list of "key: value" lines`}},
		{"no YAML", "run: [", nil, []string{"1:6 the file is not YAML"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{"bindery.yaml": {Data: []byte(tt.file)}}
			got, faults, err := ReadRun(fsys)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, d := range faults {
				told = append(told, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Message))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			prefix := cmpopts.AcyclicTransformer("cut", func(s string) string { return s[:min(len(s), 150)] })
			if tt.name == "no YAML" {
				prefix = cmpopts.AcyclicTransformer("cut", func(s string) string { return s[:min(len(s), 24)] })
			}
			if d := cmp.Diff(tt.faults, told, prefix); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}
