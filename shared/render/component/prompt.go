package component

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/words"
)

// maxPromptLink is the longest prompt that is put into an address: editors and
// browsers cut longer ones.
const maxPromptLink = 6000

func promptComponents() []*Component {
	return []*Component{{
		Name: "Prompt", Doc: "A text to give to an assistant, ready to be copied.", Block: true,
		Attrs: slices.Concat(
			[]AttrSpec{
				{"description", "text", "Prompt", "What the prompt does."},
				{"actions", "list", `["copy"]`, "What a reader can do with it: copy, and cursor to open it in that editor."},
			},
			iconAttrs("An icon before the description.")),
		HTML: promptHTML,
		Markdown: func(m *Markdown, e *Element) {
			m.Paragraph(m.Title(e, "description"))
			m.Push("> ", "> ")
			m.Children(e)
			m.Pop()
		},
		Text: func(t *Text, e *Element) {
			t.Line(e.TitleText("description"))
			t.Verbatim(promptText(e))
		},
	}}
}

// promptText is the prompt as Markdown.
func promptText(e *Element) string {
	m := e.page.NewMarkdown()
	m.Children(e)
	return strings.TrimSpace(string(m.Bytes()))
}

// promptHTML shows the prompt as the Markdown that an assistant gets: what a
// reader sees is what is copied.
func promptHTML(w *Writer, e *Element) {
	prompt := promptText(e)
	actions := e.Strings("actions")
	if !e.Has("actions") {
		actions = []string{"copy"}
	}
	w.open("div", e, "bdy-prompt")
	if !slices.Contains(actions, "copy") {
		w.Raw(` data-bindery-copy="false"`)
	}
	w.Raw(`><div class="bdy-prompt-head">`)
	w.icon(e, "icon", "bdy-prompt-icon")
	w.Raw(`<p class="bdy-prompt-title">`)
	if e.Has("description") {
		w.RichTitle(e, "description")
	} else {
		w.Text(w.say(words.Prompt))
	}
	w.Raw("</p>")
	if slices.Contains(actions, "cursor") && len(prompt) <= maxPromptLink {
		w.Raw(`<a class="bdy-prompt-open" rel="noopener"`).Attr("href", "https://cursor.com/link/prompt?text="+url.PathEscape(prompt)).Raw(">").Text(w.say(words.OpenInCursor)).Raw("</a>")
	}
	w.Raw(`</div><pre class="bdy-prompt-body" tabindex="0"><code>`).Text(prompt).Raw("\n</code></pre></div>")
}
