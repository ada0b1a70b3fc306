package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// A call that only looks is not made if its result is too long. One that changes
// something is made, and its result is short.
func TestCallWithin(t *testing.T) {
	const full = "(not run: this turn's results would be too long for your context window) Ask for less."
	const short = notShown + "; diff shows the changes.)"
	page := "---\ntitle: A\n---\n\nText.\n"
	for _, c := range []struct {
		name, input, want string
		refused           bool
	}{
		{"read", `{"path": "a.mdx"}`, full, true},
		{"list", `{}`, full, true},
		{"search", `{"pattern": "Text"}`, full, true},
		{"diff", `{}`, full, true},
		{"replace", `{"find": "Text", "replace": "Word"}`, full, true}, // a preview
		{"read", `{"path": "none.mdx"}`, `there is no file or folder "none.mdx" in the site's folder`, true},
		{"edit", `{"path": "a.mdx", "old": "Text", "new": "Word"}`, "Done: edited. " + short, false},
		{"write", `{"path": "b.mdx", "content": "---\ntitle: B\n---\n"}`, "Done: written. " + short, false},
		{"replace", `{"find": "Text", "replace": "Word", "apply": true}`, "Done: replaced 1 place in 1 file. " + short, false},
		{"delete", `{"path": "a.mdx"}`, "Done: deleted; 0 places left. " + short, false},
		{"plan", `{"steps": [{"text": "Look", "state": "doing"}]}`, "Done: 0 of 1 done. " + short, false},
	} {
		s := newSet(t, memory{"docs.json": "{}", "a.mdx": page}, "", Limits{})
		seen := ""
		r := s.CallWithin(context.Background(), c.name, json.RawMessage(c.input), func(r Result) string { seen = r.Text; return full })
		if r.Text != c.want || r.IsError != c.refused {
			t.Errorf("%s %s: %t %q, want %t %q", c.name, c.input, r.IsError, r.Text, c.refused, c.want)
		}
		if changed := len(s.tree.Changes()) > 0; changed != (!c.refused && c.name != "plan") {
			t.Errorf("%s %s: changed the tree: %t", c.name, c.input, changed)
		}
		whole := newSet(t, memory{"docs.json": "{}", "a.mdx": page}, "", Limits{}).Call(context.Background(), c.name, json.RawMessage(c.input))
		if !whole.IsError && seen != whole.Text {
			t.Errorf("%s %s: judged by %q, want %q", c.name, c.input, seen, whole.Text)
		}
		if r = s.CallWithin(context.Background(), "read", json.RawMessage(`{"path": "docs.json"}`), func(Result) string { return "" }); !strings.Contains(r.Text, "{}") {
			t.Errorf("a result that fits is %q", r.Text)
		}
	}
}

// A page counts as read only if its lines were shown, and no longer after Forget.
func TestForget(t *testing.T) {
	text := "---\ntitle: A\n---\n\nText.\n"
	s := newSet(t, memory{"docs.json": "{}", "a.mdx": text}, "", Limits{})
	read := json.RawMessage(`{"path": "a.mdx"}`)
	unread := func(when string, want int) {
		t.Helper()
		if n := s.unread("a.mdx", []byte(text)); n != want {
			t.Errorf("%s, line %d is the first unread one, want %d", when, n, want)
		}
	}
	unread("at first", 1)
	s.CallWithin(t.Context(), "read", read, func(Result) string { return "too long" })
	unread("after a read that was not run", 1)
	s.Call(t.Context(), "read", read)
	unread("after a read", 0)
	s.Forget()
	unread("after Forget", 1)
}
