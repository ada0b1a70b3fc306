package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

// Sources are files that the model can read: of the site, of the repository, and attached.
func TestSourcesOutside(t *testing.T) {
	s := outsideSet(t, beside())
	s.Attach(AttachedPath(1, "spec.md"), []byte("one\n"))
	for _, c := range []struct{ path, want, refused string }{
		{path: "a.mdx", want: "a.mdx"},
		{path: "./a.mdx", want: "a.mdx"},
		{path: "repo:docs/a.mdx", want: "a.mdx"},
		{path: "repo:src/main.py", want: "repo:src/main.py"},
		{path: "../src/main.py", want: "repo:src/main.py"},
		{path: "attachment:1/spec.md", want: "attachment:1/spec.md"},
		{path: "attachment:2/spec.md", refused: "there are: attachment:1/spec.md"},
		{path: "repo:.env", refused: "credentials"},
		{path: "repo:src/none.py", refused: "there is no file"},
		{path: "../../etc/passwd", refused: "outside the repository"},
	} {
		input, err := json.Marshal(map[string]any{"title": "Done", "summary": "x", "sources": []map[string]any{{"statement": "s", "path": c.path, "line": 1}}})
		if err != nil {
			t.Fatal(err)
		}
		r := s.Call(t.Context(), "finish", input)
		if c.refused != "" {
			if !r.IsError || !strings.Contains(r.Text, c.refused) {
				t.Errorf("%s: %s", c.path, r.Text)
			}
			continue
		}
		if r.IsError || len(r.Finish.Sources) != 1 || r.Finish.Sources[0].Path != c.want {
			t.Errorf("%s: %s, %+v", c.path, r.Text, r.Finish)
		}
	}
	for p, want := range map[string]string{"a.mdx": "docs/a.mdx", "repo:src/main.py": "src/main.py", "attachment:1/spec.md": ""} {
		if label, got, ok := RepositoryPath("docs", p); ok != (want != "") || ok && got != want || label != "" {
			t.Errorf("%s is %q in the repository, %q, %v", p, got, label, ok)
		}
	}
	if label, got, ok := RepositoryPath("docs", "cli@release/2.x:src/main.py"); label != "cli@release/2.x" || got != "src/main.py" || !ok {
		t.Errorf("a fetched file is %q of %q, %v", got, label, ok)
	}
}
