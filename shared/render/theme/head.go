package theme

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// siteHead is the part of the head that no page changes.
func (t *Theme) siteHead() []byte {
	b := []byte(`<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="generator" content="Bindery">`)
	switch {
	case t.cfg.Appearance == "dark":
		b = append(b, `<meta name="color-scheme" content="dark light">`...)
	case t.cfg.Appearance == "light" && t.cfg.Strict:
		b = append(b, `<meta name="color-scheme" content="light">`...)
	default:
		b = append(b, `<meta name="color-scheme" content="light dark">`...)
	}
	return b
}

// htmlTag opens the document. Class "dark" is there from the start for sites
// that begin dark; boot.js replaces it by the reader's choice before the first
// paint.
func (t *Theme) htmlTag(dst []byte, lang, dir, class, banner, path string) []byte {
	lang = cmp.Or(lang, t.cfg.Lang)
	dir = cmp.Or(dir, direction(lang))
	dst = append(dst, "<!doctype html>\n<html"...)
	dst = html.AppendAttr(dst, "lang", lang)
	dst = html.AppendAttr(dst, "dir", dir)
	if t.cfg.Appearance == "dark" {
		if class != "" {
			class += " "
		}
		class += "dark"
	}
	if class != "" {
		dst = html.AppendAttr(dst, "class", class)
	}
	dst = html.AppendAttr(dst, "data-site", t.cfg.SiteKey)
	if path != "" {
		dst = html.AppendAttr(dst, "data-current-path", path)
	}
	switch t.cfg.Appearance {
	case "dark", "light":
		dst = html.AppendAttr(dst, "data-bindery-appearance", t.cfg.Appearance)
	}
	if t.cfg.Strict {
		dst = append(dst, " data-bindery-strict"...)
	}
	if banner != "" {
		dst = html.AppendAttr(dst, "data-bindery-banner", banner)
	}
	return append(dst, '>')
}

// direction returns the direction that a language's usual script runs in.
func direction(lang string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	switch strings.ToLower(base) {
	case "ar", "he", "iw", "fa", "ur", "ps", "yi", "dv", "sd", "ug", "ckb":
		return "rtl"
	}
	return "ltr"
}

func (t *Theme) appendHead(dst []byte, v *View) []byte {
	// The encoding first: it must stand in the first 1024 bytes.
	dst = append(dst, `<head><meta charset="utf-8">`...)
	dst = append(dst, t.headSite...)
	dst = appendText(dst, `<title>`, t.docTitle(v.Title), `</title>`)
	dst = appendMeta(dst, "description", v.Description)
	dst = appendIf(dst, v.NoIndex, `<meta name="robots" content="noindex">`)
	if v.Canonical != "" {
		dst = appendHref(append(dst, `<link rel="canonical"`...), v.Canonical)
		dst = append(dst, '>')
	}
	for _, a := range v.Alternates {
		dst = append(dst, `<link rel="alternate"`...)
		dst = html.AppendAttr(dst, "hreflang", a.Lang)
		dst = appendHref(dst, a.Href)
		dst = append(dst, '>')
	}
	if v.Markdown != "" {
		dst = appendHref(append(dst, `<link rel="alternate" type="text/markdown"`...), v.Markdown)
		dst = append(dst, '>')
	}
	if v.Feed != "" {
		dst = appendHref(append(dst, `<link rel="alternate" type="application/rss+xml"`...), v.Feed)
		dst = append(dst, '>')
	}
	title := cmp.Or(v.Title, t.cfg.SiteName)
	// What the author says of the page stands alone: services read the first.
	dst = appendUnset(dst, v.Meta, "og:type", "article")
	dst = appendUnset(dst, v.Meta, "og:site_name", t.cfg.SiteName)
	dst = appendUnset(dst, v.Meta, "og:title", title)
	dst = appendUnset(dst, v.Meta, "og:description", v.Description)
	dst = appendUnset(dst, v.Meta, "og:url", v.Canonical)
	dst = appendUnset(dst, v.Meta, "og:image", v.Image)
	if v.ImageDrawn {
		dst = append(dst, imageSize...)
	}
	if !v.Modified.IsZero() {
		dst = appendUnset(dst, v.Meta, "article:modified_time", v.Modified.UTC().Format(time.DateOnly))
	}
	// The title, the text and the picture of these cards are those of Open Graph.
	if v.Image != "" {
		dst = appendUnset(dst, v.Meta, "twitter:card", "summary_large_image")
	} else {
		dst = appendUnset(dst, v.Meta, "twitter:card", "summary")
	}
	for _, m := range v.Meta {
		dst = appendMeta(dst, m.Name, m.Content)
	}
	dst = t.appendFavicon(dst, v.Root)
	dst = append(dst, `<script src="`...)
	dst = html.AppendValue(dst, v.Root)
	dst = append(dst, t.boot...)
	dst = append(dst, `"></script><link rel="stylesheet" href="`...)
	dst = html.AppendValue(dst, v.Root)
	dst = append(dst, t.css...)
	dst = append(dst, `">`...)
	for _, s := range v.Styles {
		dst = appendHref(append(dst, `<link rel="stylesheet"`...), s)
		dst = append(dst, '>')
	}
	dst = append(dst, `<script defer src="`...)
	dst = html.AppendValue(dst, v.Root)
	dst = append(dst, t.js...)
	dst = append(dst, `"></script>`...)
	for _, s := range v.Scripts {
		dst = append(dst, `<script defer`...)
		dst = html.AppendAttr(dst, "src", html.Safe(s))
		dst = append(dst, `></script>`...)
	}
	if v.Canonical != "" && !v.NoIndex {
		dst = t.appendLinkedData(dst, v, title)
	}
	return append(dst, `</head>`...)
}

// appendUnset appends a tag that none of the author's own has the name of.
func appendUnset(dst []byte, own []Meta, name, content string) []byte {
	for i := range own {
		if own[i].Content != "" && strings.EqualFold(own[i].Name, name) {
			return dst
		}
	}
	return appendMeta(dst, name, content)
}

// imageSize is the size of drawn pictures: with it services show one to the
// first who shares a link, too.
const imageSize = `<meta property="og:image:width" content="1200"><meta property="og:image:height" content="630">`

// docTitle is the title of the window: page and site, each once.
func (t *Theme) docTitle(title string) string {
	switch {
	case title == "" || title == t.cfg.SiteName:
		return t.cfg.SiteName
	case t.cfg.SiteName == "":
		return title
	}
	return title + " - " + t.cfg.SiteName
}

// appendMeta writes a meta element, nothing if its content is empty.
func appendMeta(dst []byte, name, content string) []byte {
	if name == "" || content == "" {
		return dst
	}
	attr := "name"
	if strings.HasPrefix(name, "og:") || strings.HasPrefix(name, "article:") || strings.HasPrefix(name, "fb:") {
		attr = "property"
	}
	dst = append(dst, `<meta`...)
	dst = html.AppendAttr(dst, attr, name)
	dst = html.AppendAttr(dst, "content", content)
	return append(dst, '>')
}

func (t *Theme) appendFavicon(dst []byte, root string) []byte {
	one := func(path, media string) {
		if path == "" {
			return
		}
		dst = appendHref(append(dst, `<link rel="icon"`...), fromRoot(root, path))
		if media != "" {
			dst = html.AppendAttr(dst, "media", media)
		}
		dst = append(dst, '>')
	}
	if t.cfg.FaviconDark != "" && t.cfg.FaviconDark != t.cfg.Favicon {
		one(t.cfg.Favicon, "(prefers-color-scheme: light)")
		one(t.cfg.FaviconDark, "(prefers-color-scheme: dark)")
		return dst
	}
	if t.cfg.Favicon == "" {
		// Else a browser asks for /favicon.ico, which is outside the bundle.
		return append(dst, `<link rel="icon" href="data:,">`...)
	}
	one(t.cfg.Favicon, "")
	return dst
}

// fromRoot makes a path from the bundle's root an address on a page.
func fromRoot(root, path string) string {
	if isAbsolute(path) {
		return path
	}
	return root + strings.TrimLeft(path, "/")
}

// linkedPage and linkedTrail are schema.org's descriptions of a page and of the
// way to it.
type linkedPage struct {
	Context     string     `json:"@context"`
	Type        string     `json:"@type"`
	Headline    string     `json:"headline"`
	Description string     `json:"description,omitempty"`
	URL         string     `json:"url"`
	Image       string     `json:"image,omitempty"`
	Modified    string     `json:"dateModified,omitempty"`
	PartOf      linkedSite `json:"isPartOf"`
}

type linkedSite struct {
	Type string `json:"@type"`
	Name string `json:"name"`
}

type linkedTrail struct {
	Context string       `json:"@context"`
	Type    string       `json:"@type"`
	Items   []linkedItem `json:"itemListElement"`
}

type linkedItem struct {
	Type     string `json:"@type"`
	Position int    `json:"position"`
	Name     string `json:"name"`
	// Item is left out of the last one, the page itself.
	Item string `json:"item,omitempty"`
}

// appendLinkedData writes schema.org's description of the page, and of the way
// to it where there is one. It is data, not a script that runs, so a content
// security policy does not stop it; encoding/json escapes <, > and &, so nothing
// in it can end the element.
func (t *Theme) appendLinkedData(dst []byte, v *View, title string) []byte {
	const context = "https://schema.org"
	page := linkedPage{
		Context: context, Type: "TechArticle", Headline: title, Description: v.Description, URL: v.Canonical, Image: v.Image,
		PartOf: linkedSite{"WebSite", t.cfg.SiteName},
	}
	if !v.Modified.IsZero() {
		page.Modified = v.Modified.UTC().Format(time.DateOnly)
	}
	var data any = page
	if len(v.Trail) > 1 {
		trail := linkedTrail{Context: context, Type: "BreadcrumbList", Items: make([]linkedItem, len(v.Trail))}
		for i, l := range v.Trail {
			trail.Items[i] = linkedItem{Type: "ListItem", Position: i + 1, Name: l.Label, Item: l.Href}
		}
		trail.Items[len(v.Trail)-1].Item = ""
		data = []any{page, trail}
	}
	text, err := json.Marshal(data)
	if err != nil {
		return dst
	}
	dst = append(dst, `<script type="application/ld+json">`...)
	dst = append(dst, text...)
	return append(dst, `</script>`...)
}
