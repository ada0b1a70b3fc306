package component

import "strings"

func repoComponents() []*Component {
	return []*Component{{
		Name: "GitHub.Repo", Doc: "A link to a repository on GitHub.", Block: true,
		Attrs: []AttrSpec{
			{"repo", "string", "", "owner/name, or the whole address."},
			{"variant", "string", "inset", "inset, or flat: without a background."},
		},
		HTML: func(w *Writer, e *Element) {
			w.open("div", e, "card", "card-horizontal", "repo", when(e.String("variant") == "flat", "repo-flat")).Raw(">")
			if svg, ok := w.Icon(e, "github"); ok {
				w.Raw(`<span class="card-icon">`).Raw(svg).Raw("</span>")
			}
			w.Raw(`<div class="card-body"><p class="card-title"><a class="card-link"`).
				Attr("href", w.Link(e, repoAddress(e))).Raw(">").Text(repoName(e)).
				Raw(`</a></p></div><span class="card-arrow" aria-hidden="true">` + arrowIcon + `</span></div>`)
		},
		Markdown: func(m *Markdown, e *Element) {
			m.Paragraph("[" + escapeText(repoName(e)) + "](" + repoAddress(e) + ")")
		},
		Text: func(t *Text, e *Element) { t.Line(repoName(e)) },
	}}
}

// repoName is owner/name, also where the author gave the whole address.
func repoName(e *Element) string {
	name := strings.TrimSpace(e.String("repo"))
	for _, prefix := range []string{"https://", "http://", "www.", "github.com/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.Trim(name, "/ ")
}

func repoAddress(e *Element) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune(`()<>"`, r) {
			return -1
		}
		return r
	}, repoName(e))
	return "https://github.com/" + name
}
