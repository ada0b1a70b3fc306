package theme

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// ListingKey is the View.CurrentKey of a page that lists a section: its link
// stands above the sidebar's tree.
const ListingKey = -2

// ListEntry is one entry of a listing.
type ListEntry struct {
	// Item is shown as in a sidebar; its Children and Expanded are not used.
	Item NavItem
	// Description is plain text, or empty.
	Description string
	// Children are those of a group. A group of which only a part is listed
	// here has Continued set.
	Children  []ListEntry
	Continued bool
}

// AllPages is the name of a section's listing in a language (BCP 47; empty means
// the site's): "All pages of …", and without a section's name "All pages".
func (t *Theme) AllPages(lang, section string) string {
	w := words.In(cmp.Or(lang, t.cfg.Lang))
	if section == "" {
		return w.Say(words.AllPages)
	}
	return strings.Replace(w.Say(words.PagesOf), "%s", section, 1)
}

// AppendListing writes entries as lists: the groups of the first level under
// headings, which it returns for the page's contents, and groups in groups as
// lists in lists.
func (t *Theme) AppendListing(dst []byte, entries []ListEntry) ([]byte, []Heading) {
	var headings []Heading
	dst = append(dst, `<div class="bdy-listing">`...)
	open := false // the list of entries that stand in no group
	for i := range entries {
		e := &entries[i]
		if len(e.Children) == 0 {
			if !open {
				dst = append(dst, `<ul>`...)
				open = true
			}
			dst = t.appendListEntry(dst, e)
			continue
		}
		if open {
			dst = append(dst, `</ul>`...)
			open = false
		}
		h := Heading{ID: "bindery-group-" + strconv.Itoa(len(headings)+1), Text: e.Item.Label, Level: 2}
		headings = append(headings, h)
		dst = append(dst, `<h2`...)
		dst = html.AppendAttr(dst, "id", h.ID)
		dst = append(dst, '>')
		dst = t.appendListLabel(dst, e)
		dst = append(dst, `</h2>`...)
		if e.Description != "" {
			dst = appendText(dst, `<p>`, e.Description, `</p>`)
		}
		dst = t.appendList(dst, e.Children)
	}
	dst = appendIf(dst, open, `</ul>`)
	return append(dst, `</div>`...), headings
}

func (t *Theme) appendList(dst []byte, entries []ListEntry) []byte {
	dst = append(dst, `<ul>`...)
	for i := range entries {
		dst = t.appendListEntry(dst, &entries[i])
	}
	return append(dst, `</ul>`...)
}

func (t *Theme) appendListEntry(dst []byte, e *ListEntry) []byte {
	dst = append(dst, `<li>`...)
	dst = appendIf(dst, len(e.Children) > 0, `<span class="bdy-listing-group">`)
	dst = t.appendListLabel(dst, e)
	dst = appendIf(dst, len(e.Children) > 0, `</span>`)
	if e.Description != "" {
		dst = appendText(dst, ` <span class="bdy-listing-description">`, e.Description, `</span>`)
	}
	if len(e.Children) > 0 {
		dst = t.appendList(dst, e.Children)
	}
	return append(dst, `</li>`...)
}

// appendListLabel writes an entry's name, as a link where it leads somewhere.
func (t *Theme) appendListLabel(dst []byte, e *ListEntry) []byte {
	it := &e.Item
	if it.Href != "" {
		dst = appendHref(append(dst, `<a`...), it.Href)
		dst = appendIf(dst, it.External, ` rel="noopener" target="_blank"`)
		dst = append(dst, '>')
	}
	dst = t.appendNavLabel(dst, it)
	if it.Href != "" {
		dst = appendIf(dst, it.External, uiExternal)
		dst = append(dst, `</a>`...)
	}
	if e.Continued {
		dst = append(dst, " …"...)
	}
	return dst
}

// appendPagesLink writes the link to a section's listing above its tree.
func appendPagesLink(dst []byte, l *Link, current bool) []byte {
	if l == nil || l.Href == "" {
		return dst
	}
	dst = append(dst, `<p class="bdy-nav-all"><a`...)
	dst = appendIf(dst, current, currentMark)
	dst = appendHref(dst, l.Href)
	return appendText(dst, `>`+uiList+`<span>`, l.Label, `</span></a></p>`)
}
