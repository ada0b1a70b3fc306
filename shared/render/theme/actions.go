package theme

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// appendActions writes what can be done with the page's text: the first action
// as a button, the others in a menu beside it. Copying needs JavaScript, so its
// button is hidden without.
func (t *Theme) appendActions(dst []byte, v *View, w words.Language) []byte {
	if len(v.Actions) == 0 {
		return dst
	}
	dst = append(v.id(append(dst, `<div`...), "page-context-menu"), ` class="bdy-transparent"><div class="bdy-actions" id="bindery-actions">`...)
	dst = t.appendAction(dst, &v.Actions[0], v, w)
	if len(v.Actions) > 1 {
		dst = appendLabel(dst, `<details class="bdy-menu" name="bindery-menu"><summary`, w.Say(words.Actions), `>`+uiChevron+`</summary><ul class="bdy-menu-list">`)
		for i := range v.Actions[1:] {
			dst = append(dst, `<li>`...)
			dst = t.appendAction(dst, &v.Actions[i+1], v, w)
			dst = append(dst, `</li>`...)
		}
		dst = append(dst, `</ul></details>`...)
	}
	return append(dst, `</div></div>`...)
}

// appendActionList writes the actions as a list, for the column of the
// contents.
func (t *Theme) appendActionList(dst []byte, v *View, w words.Language) []byte {
	dst = appendLabel(dst, `<ul class="bdy-action-list"`, w.Say(words.Actions), `>`)
	for i := range v.Actions {
		dst = append(dst, `<li>`...)
		dst = t.appendAction(dst, &v.Actions[i], v, w)
		dst = append(dst, `</li>`...)
	}
	return append(dst, `</ul>`...)
}

func (t *Theme) appendAction(dst []byte, a *Action, v *View, w words.Language) []byte {
	label, own := a.Label, uiChat
	switch a.Name {
	case "copy":
		own = uiCopy
		label = cmp.Or(label, w.Say(words.CopyPage))
	case "view":
		own = uiPage
		label = cmp.Or(label, w.Say(words.ViewPage))
	}
	if a.Name == "copy" {
		dst = append(dst, `<button type="button" class="bdy-action bdy-needs-js"`...)
		dst = html.AppendAttr(dst, "data-bindery-copy-page", html.Safe(a.Href))
	} else {
		dst = appendHref(append(dst, `<a class="bdy-action"`...), a.Href)
		dst = appendIf(dst, a.External, ` rel="noopener" target="_blank"`)
	}
	dst = append(dst, '>')
	before := len(dst)
	if a.Icon != "" {
		dst = t.appendIcon(dst, a.Icon)
	}
	if len(dst) == before {
		dst = append(dst, own...)
	}
	dst = appendText(dst, `<span class="bdy-menu-text"><span data-bindery-label>`, label, `</span>`)
	if a.Description != "" {
		dst = appendText(dst, `<span class="bdy-menu-description">`, a.Description, `</span>`)
	}
	dst = append(dst, `</span>`...)
	if a.Name == "copy" {
		return append(dst, `</button>`...)
	}
	dst = appendIf(dst, a.External, uiExternal)
	return append(dst, `</a>`...)
}

// appendPageFoot writes what is known of the page's source: where to change it,
// where to report a fault, when it last changed.
func appendPageFoot(dst []byte, v *View, w words.Language) []byte {
	if v.EditURL == "" && v.IssueURL == "" && v.Modified.IsZero() && !v.FeedShown {
		return dst
	}
	dst = append(dst, `<div class="bdy-page-foot">`...)
	link := func(class, href, icon, word string) {
		if href == "" {
			return
		}
		dst = append(dst, `<a rel="noopener"`...)
		dst = html.AppendAttr(dst, "class", class)
		dst = appendHref(dst, href)
		dst = append(dst, '>')
		dst = append(dst, icon...)
		dst = append(dst, word...)
		dst = append(dst, `</a>`...)
	}
	link("bdy-edit", v.EditURL, uiPencil, w.Say(words.Edit))
	link("bdy-issue", v.IssueURL, uiIssue, w.Say(words.Issue))
	if v.FeedShown {
		dst = appendHref(append(dst, `<a class="bdy-feed" type="application/rss+xml"`...), v.Feed)
		dst = append(dst, `>`+uiFeed+`RSS</a>`...)
	}
	if !v.Modified.IsZero() {
		before, after, _ := strings.Cut(w.Say(words.Modified), "%s")
		dst = append(dst, `<p class="bdy-modified">`...)
		dst = append(dst, before...)
		dst = append(dst, `<time`...)
		dst = html.AppendAttr(dst, "datetime", v.Modified.UTC().Format(time.DateOnly))
		dst = append(dst, '>')
		dst = append(dst, day(w, v.Modified)...)
		dst = append(dst, `</time>`...)
		dst = append(dst, after...)
		dst = append(dst, `</p>`...)
	}
	return append(dst, `</div>`...)
}

// day returns the date of t, in UTC.
func day(w words.Language, t time.Time) string {
	y, m, d := t.UTC().Date()
	months := strings.Fields(w.Say(words.Months))
	return strings.NewReplacer("%y", strconv.Itoa(y), "%m", months[m-1], "%d", strconv.Itoa(d)).Replace(w.Say(words.Date))
}
