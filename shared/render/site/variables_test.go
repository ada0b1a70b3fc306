package site

import (
	"bytes"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	s := &Site{Config: Config{Variables: map[string]string{"version": "4.2", "a-b": "x", "loop": "{{loop}}", "big": strings.Repeat("y", 1<<20)}}}
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"{{version}}", "4.2"},
		{"v{{ version }}, {{a-b}}{{a-b}}!", "v4.2, xx!"},
		{"{{unknown}} {{version", "{{unknown}} {{version"},
		{"{{{version}}}", "{4.2}"},
		{"{{loop}}", "{{loop}}"},
		{"style={{width: 1}}", "style={{width: 1}}"},
		{"{{" + strings.Repeat("n", 500) + "}}", "{{" + strings.Repeat("n", 500) + "}}"},
	} {
		if got := string(s.Expand([]byte(c.in))); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	if got := s.Expand(bytes.Repeat([]byte("{{big}}"), 1000)); len(got) > maxExpansion+7000 {
		t.Errorf("a page of 7,000 bytes becomes one of %d", len(got))
	}
}

// Variables stand in the configuration, in the navigation and in pages' heads.
func TestVariables(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "Site {{v}}", "variables": {"v": "2", "dir": "d", "bad name": "x"},
		"navigation": {"groups": [{"group": "G{{v}}", "pages": ["{{dir}}/a", {"title": "T{{v}}", "href": "https://x.example/{{v}}"}]}]}}`,
		"d/a.mdx", "---\ntitle: About {{v}}\n---\n"), Options{}, "config-variable")
	if s.Config.Name != "Site 2" || s.Pages[0].Title != "About 2" || outline(s, s.Nav) != "group \"G2\"\n  d/a\n  link \"T2\" href=https://x.example/2\n" {
		t.Errorf("%q %q\n%s", s.Config.Name, s.Pages[0].Title, outline(s, s.Nav))
	}
}

func FuzzExpand(f *testing.F) {
	f.Add([]byte("a {{v}} {{ w }} {{{v}} {{"), "v", "{{w}}")
	f.Fuzz(func(t *testing.T, src []byte, name, value string) {
		s := &Site{Config: Config{Variables: map[string]string{name: value}}}
		before := bytes.Clone(src)
		got := s.Expand(src)
		if !bytes.Equal(src, before) {
			t.Error("the source was changed")
		}
		if len(got) > len(src)+maxExpansion {
			t.Errorf("%d bytes become %d", len(src), len(got))
		}
		if name == "" && value == "" && !bytes.Contains(src, []byte("{{")) && !bytes.Equal(got, src) {
			t.Error("a text without variables was changed")
		}
	})
}
