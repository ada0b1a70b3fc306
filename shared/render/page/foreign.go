package page

import (
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// calloutsElsewhere are the components that show what other tools write as ":::note" or
// "> [!NOTE]", by the words of those tools. Here such lines are text.
var calloutsElsewhere = map[string]string{
	"note": "Note", "info": "Info", "important": "Info", "tip": "Tip", "hint": "Tip", "success": "Check", "check": "Check",
	"warning": "Warning", "caution": "Warning", "attention": "Warning", "danger": "Danger", "error": "Danger", "details": "Accordion",
}

// foreignFence reports a paragraph that begins as a callout of other tools does.
func (w *htmlWriter) foreignFence(n *mdx.Node) {
	if len(n.Children) == 0 || !strings.HasPrefix(n.Children[0].Value, ":::") {
		return
	}
	word := strings.TrimLeft(strings.TrimLeft(n.Children[0].Value, ":"), " ")
	end := strings.IndexFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end >= 0 {
		word = word[:end]
	}
	w.foreign(n, ":::"+word, word)
}

// foreignQuote reports a quotation that begins as an alert of GitHub does.
func (w *htmlWriter) foreignQuote(n *mdx.Node) {
	if len(n.Children) == 0 {
		return
	}
	text := mdx.PlainText(n.Children[0])
	if !strings.HasPrefix(text, "[!") {
		return
	}
	if word, _, ok := strings.Cut(text[2:], "]"); ok {
		w.foreign(n, "> [!"+word+"]", word)
	}
}

func (w *htmlWriter) foreign(n *mdx.Node, written, word string) {
	if name := calloutsElsewhere[strings.ToLower(word)]; name != "" {
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "callout-foreign", fmt.Sprintf("%q is text here: write <%s> before and </%[2]s> after what it is about", written, name))
	}
}

// spaced finds text that is not a link only because its address has a space.
var spaced = lazy.Regexp(`\[[^\[\]\n]*\]\(([^()<>"'\s]+(?: [^()<>"'\s]+)+)\)`)

// spacedLink reports text with the form of a link and a space in its address.
func (w *htmlWriter) spacedLink(n *mdx.Node) {
	if !strings.Contains(n.Value, "](") {
		return
	}
	for _, m := range spaced().FindAllStringSubmatchIndex(n.Value, -1) {
		address := n.Value[m[2]:m[3]]
		if !strings.Contains(address, "/") && !strings.HasPrefix(address, "#") && !fileEnd().MatchString(address) {
			continue // words in brackets
		}
		pos := n.Pos
		before := n.Value[:m[0]]
		if lines := strings.Count(before, "\n"); lines > 0 {
			pos.Line, pos.Column = pos.Line+lines, m[0]-strings.LastIndexByte(before, '\n')
		} else {
			pos.Column += m[0]
		}
		w.report(w.fileOf(n), pos, mdx.Warning, "link-space", fmt.Sprintf("the address %q has a space, so this is text and no link: write %s", excerpt(address), strings.ReplaceAll(excerpt(address), " ", "%20")))
	}
}

// fileEnd is the end of a file's name.
var fileEnd = lazy.Regexp(`\.[A-Za-z][A-Za-z0-9]{1,4}$`)
