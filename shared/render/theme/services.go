package theme

import (
	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// appendAssistant writes the button that leads to the AI assistant: a plain link,
// so that nothing is asked of it before a reader does.
func appendAssistant(dst []byte, v *View, w words.Language) []byte {
	dst = appendHref(v.id(append(dst, `<a class="bdy-assistant" rel="noopener" target="_blank"`...), "assistant-entry"), v.Header.Assistant)
	dst = html.AppendAttr(dst, "aria-label", w.Say(words.Assistant))
	dst = append(dst, `>`+uiChat+`<span>`...)
	dst = append(dst, w.Say(words.Assistant)...)
	return append(dst, `</span></a>`...)
}

// appendRating asks whether the page helped. Sending the answer needs JavaScript,
// so it is hidden without.
func (t *Theme) appendRating(dst []byte, v *View, w words.Language) []byte {
	if t.cfg.Ratings == "" {
		return dst
	}
	dst = append(dst, `<div class="bdy-rating feedback-toolbar bdy-needs-js" role="group" aria-labelledby="bindery-rating"`...)
	dst = html.AppendAttr(dst, "data-bindery-rating", html.Safe(t.cfg.Ratings))
	dst = html.AppendAttr(dst, "data-bindery-thanks", w.Say(words.Thanks))
	dst = append(dst, `><p id="bindery-rating">`...)
	dst = append(dst, w.Say(words.Helpful)...)
	dst = append(v.id(append(dst, `</p><button type="button" value="yes"`...), "feedback-thumbs-up"), ` aria-pressed="false">`...)
	dst = append(dst, w.Say(words.HelpfulYes)...)
	dst = append(v.id(append(dst, `</button><button type="button" value="no"`...), "feedback-thumbs-down"), ` aria-pressed="false">`...)
	dst = append(dst, w.Say(words.HelpfulNo)...)
	return append(dst, `</button><p role="status"></p></div>`...)
}
