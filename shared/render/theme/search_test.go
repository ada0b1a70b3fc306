package theme

import (
	"strings"
	"testing"
)

// The search field is a button with the author's words, hidden without
// JavaScript, that leads to the index and the dialog's script; pages without
// search have nothing of it.
func TestSearchField(t *testing.T) {
	for _, tt := range []struct {
		name, prompt, lang string
		search             *Search
		want               string
	}{
		{name: "none"},
		{
			name: "the theme's words", lang: "de", search: &Search{Index: "../i.js", Script: "../s.js"},
			want: `<div class="bdy-search-place bdy-needs-js" id="bindery-search" data-bindery-index="../i.js" data-bindery-script="../s.js">` +
				`<button type="button" id="search-bar-entry" class="bdy-search-open" aria-haspopup="dialog" aria-keyshortcuts="/ Control+K Meta+K">` + uiSearch +
				`<span>Suchen</span><kbd aria-hidden="true">/</kbd></button></div>`,
		},
		{name: "what would break out", prompt: `Ask <"us">`, search: &Search{Index: `"><b>`}, want: `data-bindery-index="&quot;&gt;&lt;b&gt;"`},
		{name: "the author's words", prompt: `Ask <"us">`, search: &Search{}, want: `<span>Ask &lt;"us"&gt;</span>`},
	} {
		th, err := New(Config{SiteName: "Docs", SearchPrompt: tt.prompt})
		if err != nil {
			t.Fatal(err)
		}
		doc := string(th.Document(nil, &View{Title: "Page", Lang: tt.lang, Header: Header{Search: tt.search}}))
		if tt.search == nil && strings.Contains(doc, "search") {
			t.Errorf("%s: there is a trace of search", tt.name)
		}
		if !strings.Contains(doc, tt.want) {
			at := strings.Index(doc, `<div class="bdy-search-place`)
			t.Errorf("%s: lacks %s\nhas %s", tt.name, tt.want, doc[max(at, 0):][:min(600, len(doc)-max(at, 0))])
		}
	}
}
