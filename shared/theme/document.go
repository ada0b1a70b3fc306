package theme

import (
	"hash/fnv"
	"strconv"
)

// The theme's own icons, drawn for it on a grid of 16.
const (
	uiOpen     = `<svg class="icon" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">`
	uiMenu     = uiOpen + `<path d="M2.5 4h11M2.5 8h11M2.5 12h11"/></svg>`
	uiClose    = uiOpen + `<path d="m4 4 8 8M12 4l-8 8"/></svg>`
	uiMore     = uiOpen + `<path d="M3 8h.01M8 8h.01M13 8h.01" stroke-width="2.4"/></svg>`
	uiGlobe    = uiOpen + `<circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c4.4 4 4.4 8 0 12-4.4-4-4.4-8 0-12"/></svg>`
	uiCheck    = uiOpen + `<path d="m3 8.5 3.2 3L13 4.5"/></svg>`
	uiList     = uiOpen + `<path d="M2.5 4h8M5 8h8M5 12h6"/></svg>`
	uiArrow    = uiOpen + `<path d="M2.8 8h10.4M9 3.8 13.2 8 9 12.2"/></svg>`
	uiChevron  = `<svg class="icon chevron" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="m6 4 4 4-4 4"/></svg>`
	uiExternal = `<svg class="icon external" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="M6 3.5h6.5V10M12 4 4 12"/></svg>`
	uiSun      = `<svg class="icon only-dark" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" aria-hidden="true" focusable="false"><circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7"/></svg>`
	uiMoon     = `<svg class="icon only-light" viewBox="0 0 16 16" width="1em" height="1em" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="M13.6 9.6A6 6 0 0 1 6.4 2.4a6 6 0 1 0 7.2 7.2Z"/></svg>`
)

// Document appends the whole HTML document of a page to dst. Its own ids begin
// with "bindery-": a page may well have a heading called "Contents".
func (t *Theme) Document(dst []byte, v *View) []byte {
	w := wordsFor(v.Lang, t.cfg.Lang)
	mode := v.Mode
	class := "mode-default"
	switch mode {
	case ModeWide, ModeCustom, ModeFrame, ModeCenter:
		class = "mode-" + string(mode)
	default:
		mode = ModeDefault
	}
	if len(v.Header.Tabs) > 0 {
		class += " has-tabs"
	}
	if len(v.Header.Switches) > 0 {
		class += " has-switches"
	}
	if !t.showSidebar(v) {
		class += " no-menu"
	}
	dst = t.htmlTag(dst, v.Lang, v.Dir, w, class, bannerKey(v.Banner))
	dst = t.appendHead(dst, v)
	dst = append(dst, `<body><a class="skip" href="#bindery-content">`...)
	dst = append(dst, w.skip...)
	dst = append(dst, `</a>`...)
	if v.Banner != nil && len(v.Banner.HTML) > 0 {
		dst = appendBanner(dst, v.Banner, w)
	}
	dst = t.appendHeader(dst, v, w)
	dst = append(dst, `<div class="layout`...)
	sidebar, contents := t.showSidebar(v), t.showContents(v)
	if !sidebar {
		dst = append(dst, ` no-sidebar`...)
	}
	if !contents {
		dst = append(dst, ` no-contents`...)
	}
	dst = append(dst, `">`...)
	if sidebar {
		dst = append(dst, `<nav class="sidebar" id="bindery-sidebar" popover`...)
		dst = appendAttr(dst, "aria-label", w.navigation)
		dst = append(dst, `><button type="button" class="icon-button sidebar-close" popovertarget="bindery-sidebar" popovertargetaction="hide"`...)
		dst = appendAttr(dst, "aria-label", w.close)
		dst = append(dst, '>')
		dst = append(dst, uiClose...)
		dst = append(dst, `</button>`...)
		dst = v.Sidebar.append(dst, v.CurrentKey)
		dst = append(dst, `</nav>`...)
	}
	dst = append(dst, `<div class="page">`...)
	dst = append(dst, `<main id="bindery-content" tabindex="-1"><article>`...)
	if mode != ModeCustom && mode != ModeFrame {
		dst = t.appendTitle(dst, v, w, contents)
	}
	dst = append(dst, `<div class="prose">`...)
	dst = append(dst, v.Body...)
	dst = append(dst, `</div></article></main>`...)
	if mode != ModeCustom && mode != ModeFrame {
		dst = appendPager(dst, v, w)
	}
	dst = t.appendFooter(dst, &v.Footer, w)
	dst = append(dst, `</div>`...)
	if contents {
		dst = appendContents(dst, v.Contents, w)
	}
	return append(dst, "</div></body></html>\n"...)
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

// bannerKey tells one banner from the next, so that dismissing it hides only
// this one; empty where there is nothing to dismiss.
func bannerKey(b *Banner) string {
	if b == nil || !b.Dismissible || len(b.HTML) == 0 {
		return ""
	}
	h := fnv.New64a()
	h.Write(b.HTML)
	return strconv.FormatUint(h.Sum64(), 36)
}

func appendBanner(dst []byte, b *Banner, w *words) []byte {
	dst = append(dst, `<div class="banner" role="region" data-banner`...)
	dst = appendAttr(dst, "aria-label", w.banner)
	dst = append(dst, `><div class="banner-text">`...)
	dst = append(dst, b.HTML...)
	dst = append(dst, `</div>`...)
	if b.Dismissible {
		dst = append(dst, `<button type="button" class="icon-button" hidden data-banner-close`...)
		dst = appendAttr(dst, "aria-label", w.close)
		dst = append(dst, '>')
		dst = append(dst, uiClose...)
		dst = append(dst, `</button>`...)
	}
	return append(dst, `</div>`...)
}

func (t *Theme) appendTitle(dst []byte, v *View, w *words, contents bool) []byte {
	dst = append(dst, `<header class="page-head">`...)
	if len(v.Breadcrumbs) > 0 {
		dst = append(dst, `<nav class="breadcrumbs"`...)
		dst = appendAttr(dst, "aria-label", w.breadcrumbs)
		dst = append(dst, `><ol>`...)
		for i := range v.Breadcrumbs {
			b := &v.Breadcrumbs[i]
			dst = append(dst, `<li>`...)
			if i > 0 {
				dst = append(dst, uiChevron...)
			}
			if b.Href != "" {
				dst = append(dst, `<a`...)
				dst = appendHref(dst, b.Href)
				dst = append(dst, '>')
				dst = appendText(dst, b.Label)
				dst = append(dst, `</a>`...)
			} else {
				dst = append(dst, `<span>`...)
				dst = appendText(dst, b.Label)
				dst = append(dst, `</span>`...)
			}
			dst = append(dst, `</li>`...)
		}
		dst = append(dst, `</ol></nav>`...)
	}
	if v.Title != "" {
		dst = append(dst, `<h1>`...)
		if v.Deprecated {
			dst = append(dst, `<s>`...)
			dst = appendText(dst, v.Title)
			dst = append(dst, `</s>`...)
		} else {
			dst = appendText(dst, v.Title)
		}
		if v.Tag != "" {
			dst = append(dst, ` <span class="tag">`...)
			dst = appendText(dst, v.Tag)
			dst = append(dst, `</span>`...)
		}
		dst = append(dst, `</h1>`...)
	}
	if v.Description != "" {
		dst = append(dst, `<p class="lead">`...)
		dst = appendText(dst, v.Description)
		dst = append(dst, `</p>`...)
	}
	if contents {
		dst = append(dst, `<button type="button" class="contents-button" popovertarget="bindery-contents">`...)
		dst = append(dst, uiList...)
		dst = append(dst, w.contents...)
		dst = append(dst, `</button>`...)
	}
	return append(dst, `</header>`...)
}

// appendContents writes "On this page": a column on wide screens, a popover on
// narrow ones. Depth is shown by a class, relative to the highest level there
// is, so that pages that begin with h3 are not indented for nothing.
func appendContents(dst []byte, headings []Heading, w *words) []byte {
	top := 6
	for _, h := range headings {
		top = min(top, h.Level)
	}
	dst = append(dst, `<nav class="contents" id="bindery-contents" popover aria-labelledby="bindery-contents-title"><p class="contents-title" id="bindery-contents-title">`...)
	dst = append(dst, w.contents...)
	dst = append(dst, `</p><ul>`...)
	for i := range headings {
		h := &headings[i]
		switch d := h.Level - top; {
		case d <= 0:
			dst = append(dst, `<li>`...)
		case d == 1:
			dst = append(dst, `<li class="l2">`...)
		default:
			dst = append(dst, `<li class="l3">`...)
		}
		dst = append(dst, `<a href="#`...)
		dst = appendText(dst, h.ID)
		dst = append(dst, `">`...)
		dst = appendText(dst, h.Text)
		dst = append(dst, `</a></li>`...)
	}
	return append(dst, `</ul></nav>`...)
}

func appendPager(dst []byte, v *View, w *words) []byte {
	if v.Prev == nil && v.Next == nil {
		return dst
	}
	dst = append(dst, `<nav class="pager"`...)
	dst = appendAttr(dst, "aria-label", w.pager)
	dst = append(dst, '>')
	one := func(l *Link, class, word string) {
		if l == nil {
			return
		}
		dst = append(dst, `<a`...)
		dst = appendAttr(dst, "class", class)
		dst = appendAttr(dst, "rel", class)
		dst = appendHref(dst, l.Href)
		dst = append(dst, `><span class="pager-word">`...)
		if class == "prev" {
			dst = append(dst, uiArrow...)
		}
		dst = append(dst, word...)
		if class == "next" {
			dst = append(dst, uiArrow...)
		}
		dst = append(dst, `</span><span class="pager-title">`...)
		dst = appendText(dst, l.Label)
		dst = append(dst, `</span></a>`...)
	}
	one(v.Prev, "prev", w.prev)
	one(v.Next, "next", w.next)
	return append(dst, `</nav>`...)
}

func (t *Theme) appendFooter(dst []byte, f *Footer, w *words) []byte {
	if len(f.Columns) == 0 && len(f.Socials) == 0 {
		return dst
	}
	dst = append(dst, `<footer class="footer">`...)
	if len(f.Columns) > 0 {
		dst = append(dst, `<div class="footer-columns">`...)
		for i := range f.Columns {
			c := &f.Columns[i]
			dst = append(dst, `<div>`...)
			if c.Title != "" {
				dst = append(dst, `<p class="footer-title">`...)
				dst = appendText(dst, c.Title)
				dst = append(dst, `</p>`...)
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
		dst = append(dst, `<ul class="socials"`...)
		dst = appendAttr(dst, "aria-label", w.socials)
		dst = append(dst, '>')
		for i := range f.Socials {
			s := &f.Socials[i]
			dst = append(dst, `<li><a rel="noopener"`...)
			dst = appendHref(dst, s.Href)
			dst = appendAttr(dst, "aria-label", s.Label)
			dst = appendAttr(dst, "title", s.Label)
			dst = append(dst, '>')
			before := len(dst)
			dst = t.appendIcon(dst, s.Icon)
			if len(dst) == before {
				dst = append(dst, `<span>`...)
				dst = appendText(dst, s.Label)
				dst = append(dst, `</span>`...)
			}
			dst = append(dst, `</a></li>`...)
		}
		dst = append(dst, `</ul>`...)
	}
	return append(dst, `</footer>`...)
}
