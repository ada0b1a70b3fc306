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
			w.open("div", e, "card bdy-card", "bdy-card-horizontal", "bdy-repo", when(e.String("variant") == "flat", "bdy-repo-flat")).Raw(">")
			if svg, ok := w.Icon(e, "github"); ok {
				w.Raw(`<span class="bdy-card-icon">`).Raw(svg).Raw("</span>")
			}
			w.Raw(`<div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link"`).
				Attr("href", w.Link(e, repoAddress(e))).Raw(">").Text(repoName(e)).
				Raw(`</a></p></div><span class="bdy-card-arrow" aria-hidden="true">` + arrowIcon + `</span></div>`)
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
