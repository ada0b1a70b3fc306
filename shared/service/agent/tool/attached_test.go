package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

// Attached files are read and searched by their paths, and by no other tool.
func TestAttached(t *testing.T) {
	s := newSet(t, memory{"docs.json": "{}"}, "", Limits{})
	if r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "attachment:1/a.md"}`)); !r.IsError || !strings.Contains(r.Text, "no files are attached") {
		t.Error(r.Text)
	}
	s.Attach(AttachedPath(1, "a.md"), []byte("one\ntwo\n"))
	s.Attach(AttachedPath(2, "a.md"), []byte("two\n"))
	s.Attach(AttachedPath(2, "b.png"), drawn(t, 3, 2))
	s.TakePictures(true)
	for _, c := range []struct {
		tool, input, want string
		refused           bool
	}{
		{"read", `{"path": "attachment:1/a.md", "from": 2}`, "attachment:1/a.md: 2 lines\n     2\ttwo\n", false},
		{"read", `{"path": "attachment:2/b.png"}`, "attachment:2/b.png: a picture of 3 × 2 pixels", false},
		{"read", `{"path": "attachment:3/a.md"}`, "there are: attachment:1/a.md, attachment:2/a.md, attachment:2/b.png", true},
		{"search", `{"pattern": "two", "path": "attachment:"}`, "2 matching lines in 2 files\nattachment:1/a.md:2: two\nattachment:2/a.md:1: two\n", false},
		{"search", `{"pattern": "two", "path": "attachment:2"}`, "1 matching line in 1 file\nattachment:2/a.md:1: two\n", false},
		{"search", `{"pattern": "two", "path": "attachment:*/a.md"}`, "2 matching lines", false},
		{"search", `{"pattern": "two", "path": "attachment:2/b.png"}`, "is no text", true},
		{"list", `{"path": "attachment:"}`, "read and search accept the path of an attachment", true},
		{"write", `{"path": "attachment:1/a.md", "content": "x"}`, "is outside the site's folder", true},
		{"edit", `{"path": "attachment:1/a.md", "old": "one", "new": "x"}`, "is outside the site's folder", true},
		{"replace", `{"find": "one", "replace": "x", "path": "attachment:1/a.md"}`, "is outside the site's folder", true},
	} {
		if r := s.Call(t.Context(), c.tool, json.RawMessage(c.input)); r.IsError != c.refused || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s %s: %s", c.tool, c.input, r.Text)
		}
	}
}
