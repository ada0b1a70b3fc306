package theme

import (
	"cmp"
	"hash/fnv"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// The theme's own icons, drawn for it on a grid of 16.
const (
	uiOpen     = `<svg class="icon bdy-icon" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">`
	uiMenu     = uiOpen + `<path d="M2.5 4h11M2.5 8h11M2.5 12h11"/></svg>`
	uiClose    = uiOpen + `<path d="m4 4 8 8M12 4l-8 8"/></svg>`
	uiMore     = uiOpen + `<path d="M3 8h.01M8 8h.01M13 8h.01" stroke-width="2.4"/></svg>`
	uiGlobe    = uiOpen + `<circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c4.4 4 4.4 8 0 12-4.4-4-4.4-8 0-12"/></svg>`
	uiCheck    = uiOpen + `<path d="m3 8.5 3.2 3L13 4.5"/></svg>`
	uiList     = uiOpen + `<path d="M2.5 4h8M5 8h8M5 12h6"/></svg>`
	uiArrow    = uiOpen + `<path d="M2.8 8h10.4M9 3.8 13.2 8 9 12.2"/></svg>`
	uiChevron  = `<svg class="icon bdy-icon bdy-chevron" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="m6 4 4 4-4 4"/></svg>`
	uiExternal = `<svg class="icon bdy-icon bdy-external" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="M6 3.5h6.5V10M12 4 4 12"/></svg>`
	uiCopy     = uiOpen + `<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/></svg>`
	uiPage     = uiOpen + `<path d="M9 2H4.5A1.5 1.5 0 0 0 3 3.5v9A1.5 1.5 0 0 0 4.5 14h7a1.5 1.5 0 0 0 1.5-1.5V6L9 2v4h4M5.5 8.8h5M5.5 11.2h3"/></svg>`
	uiChat     = uiOpen + `<path d="M2.5 3.5h11V11H8l-3 2.5V11H2.5z"/></svg>`
	uiPencil   = uiOpen + `<path d="m10.8 2.7 2.5 2.5L5.5 13l-3 .5.5-3 7.8-7.8Z"/></svg>`
	uiIssue    = uiOpen + `<circle cx="8" cy="8" r="6"/><path d="M8 5v3.5M8 11h.01"/></svg>`
	uiFeed     = uiOpen + `<path d="M3 7.5A5.5 5.5 0 0 1 8.5 13M3 3a10 10 0 0 1 10 10M3.5 12.5h.01"/></svg>`
	uiSystem   = uiOpen + `<rect x="2" y="2.8" width="12" height="8.2" rx="1"/><path d="M5.5 13.5h5"/></svg>`
	uiSearch   = uiOpen + `<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/></svg>`
	uiSun      = uiOpen + `<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7"/></svg>`
	uiMoon     = uiOpen + `<path d="M13.6 9.6A6 6 0 0 1 6.4 2.4a6 6 0 1 0 7.2 7.2Z"/></svg>`
)

// Document appends the whole HTML document of a page to dst. Its own ids begin
// with "bindery-": a page may well have a heading called "Contents". Those of the
// source language (hooks.go) give way to the page's.
func (t *Theme) Document(dst []byte, v *View) []byte {
	page := *v
	page.taken = takenIDs(v)
	v = &page
	w := words.In(cmp.Or(v.Lang, t.cfg.Lang))
	mode := v.Mode
	class := "bdy-mode-default"
	switch mode {
	case ModeWide, ModeCustom, ModeFrame, ModeCenter:
		class = "bdy-mode-" + string(mode)
	default:
		mode = ModeDefault
	}
	if len(v.Header.Tabs) > 0 {
		class += " bdy-has-tabs"
	}
	if len(v.Header.Switches) > 0 {
		class += " bdy-has-switches"
	}
	if !t.showSidebar(v) {
		class += " bdy-no-menu"
	}
	switch t.cfg.Decoration {
	case "gradient", "grid", "windows":
		class += " bdy-backdrop-" + t.cfg.Decoration
	}
	if themes[t.cfg.Theme] {
		class += " " + t.cfg.Theme
	}
	dst = t.htmlTag(dst, v.Lang, v.Dir, class, bannerKey(v.Banner), v.Path)
	dst = t.appendHead(dst, v)
	// The words that scripts need, of components too.
	dst = append(dst, `<body`...)
	dst = html.AppendAttr(dst, "data-bindery-copy", w.Say(words.Copy))
	dst = html.AppendAttr(dst, "data-bindery-copied", w.Say(words.Copied))
	dst = append(dst, `><a class="bdy-skip" href="#bindery-content">`...)
	dst = append(dst, w.Say(words.Skip)...)
	dst = append(dst, `</a>`...)
	if v.Banner != nil && len(v.Banner.HTML) > 0 {
		dst = appendBanner(dst, v, w)
	}
	dst = t.appendHeader(dst, v, w)
	dst = append(v.id(append(dst, `<div`...), "body-content"), ` class="bdy-layout`...)
	sidebar, contents := t.showSidebar(v), t.showContents(v)
	dst = appendIf(dst, !sidebar, ` bdy-no-sidebar`)
	dst = appendIf(dst, !contents, ` bdy-no-contents`)
	dst = appendIf(dst, v.Beside, ` bdy-has-beside`)
	dst = append(dst, `">`...)
	if sidebar {
		dst = v.id(append(dst, `<div class="bdy-side"`...), "sidebar")
		dst = appendLabel(dst, `><nav class="bdy-sidebar" id="bindery-sidebar" popover`, w.Say(words.Navigation), `><button type="button" class="bdy-icon-button bdy-sidebar-close" popovertarget="bindery-sidebar" popovertargetaction="hide"`)
		dst = html.AppendAttr(dst, "aria-label", w.Say(words.Close))
		dst = append(dst, `>`+uiClose+`</button><div`...)
		dst = append(v.id(dst, "sidebar-content"), '>')
		dst = v.Sidebar.append(dst, v)
		dst = append(dst, `</div></nav></div>`...)
	}
	// All of the layout's width, with the room of the sidebar as its padding: what
	// authors say of its margins and its width was written for such a box.
	dst = v.id(append(dst, `<div class="bdy-room"`...), "content-container")
	dst = v.id(append(dst, `><div class="bdy-page"><main id="bindery-content" tabindex="-1"><article`...), "content-area")
	dst = append(dst, '>')
	if mode != ModeCustom && mode != ModeFrame {
		dst = t.appendTitle(dst, v, w, contents)
	}
	dst = append(v.id(append(dst, `<div`...), "content"), ` class="`...)
	// Who makes a page of their own wants none of our rules for text.
	dst = appendIf(dst, mode != ModeCustom && mode != ModeFrame, `prose `)
	dst = append(dst, `mdx-content">`...)
	dst = append(dst, v.Body...)
	dst = append(dst, `</div></article>`...)
	if mode != ModeCustom && mode != ModeFrame {
		dst = t.appendRating(dst, v, w)
		dst = appendPageFoot(dst, v, w)
	}
	dst = append(dst, `</main>`...)
	if mode != ModeCustom && mode != ModeFrame {
		dst = appendPager(dst, v, w)
	}
	dst = t.appendFooter(dst, v, w)
	dst = append(dst, `</div>`...)
	if contents {
		dst = append(v.id(append(dst, `<div`...), "table-of-contents"), '>')
		dst = append(t.appendContents(dst, v, w), `</div>`...)
	}
	return append(dst, "</div></div></body></html>\n"...)
}

func (t *Theme) showSidebar(v *View) bool {
	return v.Sidebar != nil && v.Mode != ModeCustom && v.Mode != ModeCenter
}

func (t *Theme) showContents(v *View) bool {
	switch v.Mode {
	case ModeWide, ModeCustom, ModeFrame, ModeCenter:
		return false
	}
	return len(v.Contents) > 0
}

// bannerKey distinguishes one banner from the next, so that dismissing it hides only
// this one; empty where there is nothing to dismiss.
func bannerKey(b *Banner) string {
	if b == nil || !b.Dismissible || len(b.HTML) == 0 {
		return ""
	}
	h := fnv.New64a()
	h.Write(b.HTML)
	return strconv.FormatUint(h.Sum64(), 36)
}

func appendBanner(dst []byte, v *View, w words.Language) []byte {
	b := v.Banner
	class, light, dark := "bdy-banner", b.ColorLight, b.ColorDark
	switch b.Kind {
	case "warning", "critical":
		class += " bdy-banner-" + b.Kind
	}
	dark = cmp.Or(dark, light)
	light = cmp.Or(light, dark)
	lightFill, okLight := parseHex(light)
	darkFill, okDark := parseHex(dark)
	colored := okLight && okDark
	if colored {
		// The words are black or white, whichever the colour asks for.
		class += " bdy-banner-own"
		if contrastText(lightFill) == (rgb{}) {
			class += " bdy-light-black"
		}
		if contrastText(darkFill) == (rgb{}) {
			class += " bdy-dark-black"
		}
	}
	if colored {
		// The pictures stand around the banner and not in it, where authors' rules for
		// what it holds would reach them.
		dst = append(dst, `<div class="bdy-banner-fill">`...)
		dst = appendFill(dst, "only-light", lightFill)
		dst = appendFill(dst, "only-dark", darkFill)
	}
	dst = v.id(append(dst, `<div role="region" data-banner`...), "banner")
	dst = html.AppendAttr(dst, "class", class)
	dst = html.AppendAttr(dst, "aria-label", w.Say(words.Banner))
	dst = append(dst, '>')
	dst = append(dst, `<div class="bdy-banner-text">`...)
	dst = append(dst, b.HTML...)
	dst = append(dst, `</div>`...)
	if b.Dismissible {
		dst = appendLabel(dst, `<button type="button" class="bdy-icon-button bdy-needs-js" data-bindery-banner-close`, w.Say(words.Close), `>`+uiClose+`</button>`)
	}
	dst = append(dst, `</div>`...)
	return appendIf(dst, colored, `</div>`)
}

// appendFill writes a colour of the author's own as a picture, because a style
// on an element is what a strict content security policy refuses.
func appendFill(dst []byte, class string, c rgb) []byte {
	dst = append(dst, `<svg class="bdy-fill `...)
	dst = append(dst, class...)
	dst = append(dst, `" preserveAspectRatio="none" viewBox="0 0 1 1" aria-hidden="true" focusable="false"><path fill="`...)
	dst = append(dst, c.String()...)
	return append(dst, `" d="M0 0h1v1H0z"/></svg>`...)
}

func (t *Theme) appendTitle(dst []byte, v *View, w words.Language, contents bool) []byte {
	dst = append(v.id(append(dst, `<header`...), "header"), ` class="bdy-page-head">`...)
	if !v.ActionsInContents || !contents {
		dst = t.appendActions(dst, v, w)
	}
	if len(v.Breadcrumbs) > 0 {
		dst = appendLabel(dst, `<nav class="bdy-breadcrumbs eyebrow"`, w.Say(words.Breadcrumbs), `><ol>`)
		for i := range v.Breadcrumbs {
			b := &v.Breadcrumbs[i]
			dst = append(dst, `<li>`...)
			dst = appendIf(dst, i > 0, uiChevron)
			if b.Href != "" {
				dst = appendHref(append(dst, `<a`...), b.Href)
				dst = appendText(dst, `>`, b.Label, `</a>`)
			} else {
				dst = appendText(dst, `<span>`, b.Label, `</span>`)
			}
			dst = append(dst, `</li>`...)
		}
		dst = append(dst, `</ol></nav>`...)
	}
	if v.Title != "" {
		dst = append(v.id(append(dst, `<h1`...), "page-title"), '>')
		if v.Deprecated {
			dst = appendText(dst, `<s>`, v.Title, `</s>`)
		} else {
			dst = html.AppendText(dst, v.Title)
		}
		if v.Tag != "" {
			dst = appendText(dst, ` <span class="bdy-tag">`, v.Tag, `</span>`)
		}
		dst = append(dst, `</h1>`...)
	}
	if len(v.Lead) > 0 || v.Description != "" {
		dst = append(dst, `<p class="bdy-lead">`...)
		if len(v.Lead) > 0 {
			dst = append(dst, v.Lead...)
		} else {
			dst = html.AppendText(dst, v.Description)
		}
		dst = append(dst, `</p>`...)
	}
	if contents {
		dst = append(dst, `<div class="bdy-contents-place"><button type="button" class="bdy-contents-button" popovertarget="bindery-contents">`+uiList+`<span class="bdy-contents-label">`...)
		dst = append(dst, w.Say(words.Contents)...)
		dst = append(dst, `</span> <span class="bdy-contents-now"></span></button></div>`...)
	}
	return append(dst, `</header>`...)
}

// appendContents writes "On this page": a column on wide screens, a popover on
// narrow ones. Depth is shown by a class, relative to the highest level there
// is, so that pages that begin with h3 are not indented for nothing.
func (t *Theme) appendContents(dst []byte, v *View, w words.Language) []byte {
	headings, top := v.Contents, 6
	for _, h := range headings {
		top = min(top, h.Level)
	}
	dst = append(dst, `<nav class="bdy-contents" id="bindery-contents" popover aria-labelledby="bindery-contents-title"><p class="bdy-contents-title" id="bindery-contents-title">`...)
	dst = append(dst, w.Say(words.Contents)...)
	dst = append(v.id(append(dst, `</p><ul`...), "table-of-contents-content"), ` class="toc">`...)
	for i := range headings {
		h := &headings[i]
		switch d := h.Level - top; {
		case d <= 0:
			dst = append(dst, `<li class="toc-item">`...)
		case d == 1:
			dst = append(dst, `<li class="toc-item bdy-l2">`...)
		default:
			dst = append(dst, `<li class="toc-item bdy-l3">`...)
		}
		dst = append(dst, `<a href="#`...)
		dst = html.AppendValue(dst, h.ID)
		dst = appendText(dst, `">`, h.Text, `</a></li>`)
	}
	dst = append(dst, `</ul>`...)
	if v.ActionsInContents && len(v.Actions) > 0 {
		dst = t.appendActionList(dst, v, w)
	}
	return append(dst, `</nav>`...)
}

func appendPager(dst []byte, v *View, w words.Language) []byte {
	if v.Prev == nil && v.Next == nil {
		return dst
	}
	dst = appendLabel(v.id(append(dst, `<nav class="bdy-pager"`...), "pagination"), "", w.Say(words.Pager), `>`)
	one := func(l *Link, rel, word string) {
		if l == nil {
			return
		}
		dst = append(dst, `<a`...)
		dst = html.AppendAttr(dst, "class", "bdy-"+rel+" pagination-"+rel)
		dst = html.AppendAttr(dst, "rel", rel)
		dst = appendHref(dst, l.Href)
		dst = append(dst, `><span class="bdy-pager-word">`...)
		dst = appendIf(dst, rel == "prev", uiArrow)
		dst = append(dst, word...)
		dst = appendIf(dst, rel == "next", uiArrow)
		dst = appendText(dst, `</span><span class="bdy-pager-title pagination-title">`, l.Label, `</span></a>`)
	}
	one(v.Prev, "prev", w.Say(words.Prev))
	one(v.Next, "next", w.Say(words.Next))
	return append(dst, `</nav>`...)
}

func (t *Theme) appendFooter(dst []byte, v *View, w words.Language) []byte {
	f := &v.Footer
	if len(f.Columns) == 0 && len(f.Socials) == 0 {
		return dst
	}
	dst = append(v.id(append(dst, `<footer`...), "footer"), ` class="bdy-footer">`...)
	if len(f.Columns) > 0 {
		dst = append(dst, `<div class="bdy-footer-columns">`...)
		for i := range f.Columns {
			c := &f.Columns[i]
			dst = append(dst, `<div>`...)
			if c.Title != "" {
				dst = appendText(dst, `<p class="bdy-footer-title">`, c.Title, `</p>`)
			}
			dst = append(dst, `<ul>`...)
			for j := range c.Links {
				dst = append(dst, `<li>`...)
				dst = t.appendLink(dst, &c.Links[j], "")
				dst = append(dst, `</li>`...)
			}
			dst = append(dst, `</ul></div>`...)
		}
		dst = append(dst, `</div>`...)
	}
	if len(f.Socials) > 0 {
		dst = appendLabel(dst, `<ul class="bdy-socials"`, w.Say(words.Socials), `>`)
		for i := range f.Socials {
			s := &f.Socials[i]
			dst = appendHref(append(dst, `<li><a rel="noopener"`...), s.Href)
			dst = html.AppendAttr(dst, "aria-label", s.Label)
			dst = html.AppendAttr(dst, "title", s.Label)
			dst = append(dst, '>')
			before := len(dst)
			dst = t.appendIcon(dst, s.Icon)
			if len(dst) == before {
				dst = appendText(dst, `<span>`, s.Label, `</span>`)
			}
			dst = append(dst, `</a></li>`...)
		}
		dst = append(dst, `</ul>`...)
	}
	return append(dst, `</footer>`...)
}
