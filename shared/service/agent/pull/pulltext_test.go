package pull

import "testing"

// What a model writes in a pull request reads as it was written, and leads nowhere.
func TestTextLeadsNowhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[a](https://evil.example/b)", "[a&#93;(https&#58;//evil.example/b)"},
		{"[a](//evil.example/b)", "[a&#93;(//evil.example/b)"},
		{"[a](</evil>)", "[a&#93;(&#60;/evil>)"},
		{"[a]( //evil.example )", "[a&#93;( //evil.example )"},
		{"[a][b]\n\n[b]: //evil.example/b", "[a][b]\n\n[b&#93;: //evil.example/b"},
		{"[b]:\n//evil.example\n\n[b]", "[b&#93;:\n&#47;/evil.example\n\n[b]"},
		{"![a](//evil.example/b.png)", "&#33;&#91;a&#93;(//evil.example/b.png)"},
		{"![[a](//evil.example)](b)", "&#33;&#91;&#91;a&#93;(//evil.example)&#93;(b)"},
		{"[[a|https://evil.example]]", "&#91;&#91;a|https&#58;//evil.example]]"},
		{"see www.evil.example", "see www&#46;evil.example"},
		{"see WWW.evil.example", "see WWW&#46;evil.example"},
		{"ftp://evil.example and x-y+z://evil", "ftp&#58;//evil.example and x-y+z&#58;//evil"},
		{"- [ ] a task, and a list [1, 2]", "- [ ] a task, and a list [1, 2]"},
	} {
		got := inert(c.text)
		if got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	for _, title := range []string{"see https://evil.example", "see www.evil.example", "see FTP://evil.example"} {
		if got := inertLine(title, maxTitle); got != "see evil.example" {
			t.Errorf("the title %q becomes %q", title, got)
		}
	}
}
