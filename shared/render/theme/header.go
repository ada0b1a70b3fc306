package theme

import (
	"cmp"
	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// appendHeader writes the rows at the top: logo, switches, links, appearance;
// then the tabs.
func (t *Theme) appendHeader(dst []byte, v *View, w words.Language) []byte {
	h := &v.Header
	dst = append(v.id(append(dst, `<header`...), "navbar"), ` class="bdy-top"><div class="bdy-top-row">`...)
	if t.showSidebar(v) {
		dst = appendLabel(dst, `<button type="button" class="bdy-icon-button bdy-menu-button" popovertarget="bindery-sidebar"`, w.Say(words.Menu), `>`+uiMenu+`</button>`)
	}
	dst = t.appendLogo(dst, v)
	if len(h.Switches) > 0 {
		dst = append(dst, `<div class="bdy-switches">`...)
		for i := range h.Switches {
			dst = t.appendSwitch(dst, &h.Switches[i], w)
		}
		dst = append(dst, `</div>`...)
	}
	dst = append(dst, `<div class="bdy-top-end topbar-right-container">`...)
	if h.Search != nil {
		dst = t.appendSearch(dst, v, w)
	}
	if h.Assistant != "" {
		dst = appendAssistant(dst, v, w)
	}
	if len(h.Links) > 0 {
		// One list: a row on wide screens, a popover on narrow ones.
		dst = appendLabel(dst, `<nav class="bdy-top-links" id="bindery-links" popover`, w.Say(words.Links), `><ul>`)
		for i := range h.Links {
			dst = append(dst, `<li class="navbar-link">`...)
			dst = t.appendLink(dst, &h.Links[i], "")
			dst = append(dst, `</li>`...)
		}
		dst = append(dst, `</ul></nav>`...)
	}
	if h.Primary != nil {
		dst = append(v.id(append(dst, `<div class="bdy-primary"`...), "topbar-cta-button"), `><a class="bdy-button"`...)
		dst = append(t.appendLinkTo(dst, h.Primary), `</div>`...)
	}
	if !t.cfg.Strict {
		dst = t.appendAppearance(dst, w)
	}
	if len(h.Links) > 0 {
		dst = appendLabel(dst, `<button type="button" class="bdy-icon-button bdy-more-button" popovertarget="bindery-links"`, w.Say(words.Links), `>`+uiMore+`</button>`)
	}
	dst = append(dst, `</div></div>`...)
	if len(h.Tabs) > 0 {
		dst = appendLabel(dst, `<nav class="bdy-tabs-row"`, w.Say(words.Sections), `><ul class="nav-tabs">`)
		for i := range h.Tabs {
			dst = t.appendTab(dst, &h.Tabs[i])
		}
		dst = append(dst, `</ul></nav>`...)
	}
	return append(dst, `</header>`...)
}

// appendSearch writes the search field. It is a button: what is typed goes into
// the dialog that it opens.
func (t *Theme) appendSearch(dst []byte, v *View, w words.Language) []byte {
	s := v.Header.Search
	prompt := cmp.Or(t.cfg.SearchPrompt, w.Say(words.Search))
	dst = append(dst, `<div class="bdy-search-place bdy-needs-js" id="bindery-search"`...)
	dst = html.AppendAttr(dst, "data-bindery-index", s.Index)
	dst = html.AppendAttr(dst, "data-bindery-script", s.Script)
	dst = v.id(append(dst, `><button type="button"`...), "search-bar-entry")
	return appendText(dst, ` class="bdy-search-open" aria-haspopup="dialog" aria-keyshortcuts="/ Control+K Meta+K">`+uiSearch+`<span>`, prompt, `</span><kbd aria-hidden="true">/</kbd></button></div>`)
}

// appendAppearance writes the choice between light, dark and what the system
// says. Without JavaScript there is nothing to choose with, so it is hidden.
func (t *Theme) appendAppearance(dst []byte, w words.Language) []byte {
	dst = append(dst, `<details class="bdy-menu bdy-appearance bdy-needs-js" name="bindery-menu" data-bindery-appearance-menu><summary class="bdy-icon-button"`...)
	dst = html.AppendAttr(dst, "aria-label", w.Say(words.Appearance))
	dst = html.AppendAttr(dst, "title", w.Say(words.Appearance))
	dst = append(dst, `><span class="only-light">`+uiSun+`</span><span class="only-dark">`+uiMoon+`</span></summary><ul class="bdy-menu-list">`...)
	for _, c := range [...]struct{ value, icon, word string }{{"light", uiSun, w.Say(words.Light)}, {"dark", uiMoon, w.Say(words.Dark)}, {"system", uiSystem, w.Say(words.System)}} {
		dst = append(dst, `<li><button type="button" aria-pressed="false"`...)
		dst = html.AppendAttr(dst, "data-bindery-choice", c.value)
		dst = append(dst, '>')
		dst = append(dst, c.icon...)
		dst = append(dst, `<span class="bdy-menu-text">`...)
		dst = append(dst, c.word...)
		dst = append(dst, `</span>`+uiCheck+`</button></li>`...)
	}
	return append(dst, `</ul></details>`...)
}

func (t *Theme) appendLogo(dst []byte, v *View) []byte {
	home := v.Home
	if t.cfg.Logo.Href != "" && isAbsolute(t.cfg.Logo.Href) {
		home = t.cfg.Logo.Href
	}
	home = cmp.Or(home, v.Root+"index.html")
	dst = appendHref(append(dst, `<a class="bdy-logo"`...), home)
	light, dark := t.cfg.Logo.Light, t.cfg.Logo.Dark
	light = cmp.Or(light, dark)
	if light == "" {
		return appendText(dst, `><span class="nav-logo">`, t.cfg.SiteName, `</span></a>`)
	}
	// The name is the link's label: one of the two pictures is always hidden.
	dst = html.AppendAttr(dst, "aria-label", t.cfg.SiteName)
	dst = append(dst, '>')
	img := func(class, src string) {
		dst = append(dst, `<img`...)
		dst = html.AppendAttr(dst, "class", class+"nav-logo")
		dst = html.AppendAttr(dst, "src", html.Safe(fromRoot(v.Root, src)))
		dst = append(dst, ` alt="">`...)
	}
	if dark == "" || dark == light {
		img("", light)
	} else {
		img("only-light ", light)
		img("only-dark ", dark)
	}
	return append(dst, `</a>`...)
}

func (t *Theme) appendLink(dst []byte, l *Link, class string) []byte {
	dst = append(dst, `<a`...)
	if class != "" {
		dst = html.AppendAttr(dst, "class", class)
	}
	return t.appendLinkTo(dst, l)
}

// appendLinkTo appends the rest of a link whose tag is open.
func (t *Theme) appendLinkTo(dst []byte, l *Link) []byte {
	dst = appendHref(dst, l.Href)
	dst = append(dst, '>')
	icon := len(dst)
	dst = t.appendIcon(dst, l.Icon)
	if l.IconOnly && len(dst) > icon {
		return appendText(dst, `<span class="bdy-sr">`, l.Label, `</span></a>`)
	}
	return appendText(dst, `<span>`, l.Label, `</span></a>`)
}

func (t *Theme) appendSwitch(dst []byte, s *Switch, w words.Language) []byte {
	if len(s.Options) == 0 {
		return dst
	}
	cur := &s.Options[0]
	for i := range s.Options {
		if s.Options[i].Current {
			cur = &s.Options[i]
		}
	}
	dst = append(dst, `<details class="bdy-menu" name="bindery-menu"><summary class="nav-dropdown-trigger`...)
	dst = appendIf(dst, s.Kind == "language", ` bdy-is-language`)
	dst = appendText(dst, `"><span class="bdy-sr">`, w.Say(switchName(s.Kind)), `: </span>`)
	if s.Kind == "language" && cur.Icon == "" {
		dst = append(dst, uiGlobe...)
	} else {
		dst = t.appendIcon(dst, cur.Icon)
	}
	dst = appendText(dst, `<span>`, cur.Label, `</span>`)
	dst = appendTag(dst, cur.Tag)
	dst = append(dst, uiChevron+`</summary>`...)
	dst = t.appendOptions(dst, s.Options)
	return append(dst, `</details>`...)
}

func (t *Theme) appendOptions(dst []byte, opts []Option) []byte {
	dst = append(dst, `<ul class="bdy-menu-list nav-dropdown-content">`...)
	for i := range opts {
		o := &opts[i]
		dst = appendHref(append(dst, `<li><a class="nav-dropdown-item"`...), o.Href)
		if o.Lang != "" {
			dst = html.AppendAttr(dst, "hreflang", o.Lang)
			dst = html.AppendAttr(dst, "lang", o.Lang)
		}
		dst = appendIf(dst, o.Current, ` aria-current="true" data-active`)
		dst = append(dst, '>')
		dst = t.appendIcon(dst, o.Icon)
		dst = appendText(dst, `<span class="bdy-menu-text nav-dropdown-item-text-container"><span class="nav-dropdown-item-title">`, o.Label, `</span>`)
		dst = appendTag(dst, o.Tag)
		if o.Description != "" {
			dst = appendText(dst, `<span class="bdy-menu-description nav-dropdown-item-description">`, o.Description, `</span>`)
		}
		dst = append(dst, `</span>`...)
		dst = appendIf(dst, o.Current, uiCheck)
		dst = append(dst, `</a></li>`...)
	}
	return append(dst, `</ul>`...)
}

func (t *Theme) appendTab(dst []byte, tab *Tab) []byte {
	dst = append(dst, `<li>`...)
	if len(tab.Menu) > 0 {
		dst = append(dst, `<details class="bdy-menu" name="bindery-menu"><summary class="nav-tabs-item"`...)
		dst = appendIf(dst, tab.Current, ` aria-current="true" data-active`)
		dst = append(dst, '>')
		dst = t.appendIcon(dst, tab.Icon)
		dst = appendText(dst, `<span>`, tab.Label, `</span>`+uiChevron+`</summary>`)
		dst = t.appendOptions(dst, tab.Menu)
		return append(dst, `</details></li>`...)
	}
	dst = appendHref(append(dst, `<a class="nav-tabs-item"`...), tab.Href)
	dst = appendIf(dst, tab.Current, ` aria-current="true" data-active`)
	dst = append(dst, '>')
	dst = t.appendIcon(dst, tab.Icon)
	return appendText(dst, `<span>`, tab.Label, `</span></a></li>`)
}

func switchName(kind string) words.Phrase {
	switch kind {
	case "version":
		return words.VersionSwitch
	case "language":
		return words.LanguageSwitch
	case "product":
		return words.ProductSwitch
	}
	return words.OtherSwitch
}
