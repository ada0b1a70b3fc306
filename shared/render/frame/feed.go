package frame

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

const (
	// maxFeedItems is how many entries a feed has, those that stand first: pages
	// begin with what is new. Programs that read feeds fetch them whole, again
	// and again.
	maxFeedItems = 100
	// maxFeedText is how many bytes of an entry's text a feed has.
	maxFeedText = 8 << 10
)

// feedPath is the file of a page's feed: beside the page, where subscribers of
// hosted sites look for it.
func feedPath(p *site.Page) string { return path.Join(p.CleanAddress(), "rss.xml") }

// hasFeed reports whether a page has a feed: it has entries of a changelog,
// search engines may know it or its author asks for one, and the site has no file in the feed's place.
func (v *Views) hasFeed(i int, res *page.Result) bool {
	if len(res.Updates) == 0 {
		return false
	}
	p := &v.site.Pages[i]
	if !p.Listed() && !(p.RSS && !p.Excluded && p.URL == "") || site.Reserved(feedPath(p)) {
		return false
	}
	taken := v.fileNames()
	for at := strings.ToLower(feedPath(p)); at != "."; at = path.Dir(at) {
		if _, ok := taken[at]; ok {
			return false
		}
	}
	return true
}

// fileNames are the names of the site's own files in lower case, gathered for
// the first who asks.
func (v *Views) fileNames() map[string]struct{} {
	v.namesOnce.Do(func() {
		v.names = make(map[string]struct{}, len(v.site.Files))
		for _, f := range v.site.Files {
			v.names[strings.ToLower(f)] = struct{}{}
		}
	})
	return v.names
}

// The form of a feed (RSS 2.0, rssboard.org).
type (
	rssFeed struct {
		XMLName xml.Name   `xml:"rss"`
		Version string     `xml:"version,attr"`
		Atom    string     `xml:"xmlns:atom,attr"`
		Channel rssChannel `xml:"channel"`
	}
	rssChannel struct {
		Title       string    `xml:"title"`
		Link        string    `xml:"link"`
		Self        rssSelf   `xml:"atom:link"`
		Description string    `xml:"description"`
		Language    string    `xml:"language,omitempty"`
		Built       string    `xml:"lastBuildDate,omitempty"`
		Items       []rssItem `xml:"item"`
	}
	rssSelf struct {
		Href string `xml:"href,attr"`
		Rel  string `xml:"rel,attr"`
		Type string `xml:"type,attr"`
	}
	rssItem struct {
		Title       string   `xml:"title"`
		Link        string   `xml:"link"`
		GUID        rssGUID  `xml:"guid"`
		Published   string   `xml:"pubDate,omitempty"`
		Categories  []string `xml:"category"`
		Description string   `xml:"description,omitempty"`
	}
	rssGUID struct {
		PermaLink bool   `xml:"isPermaLink,attr"`
		Value     string `xml:",chardata"`
	}
)

// Feed returns the file of a page's feed and what it holds; an empty name if the
// page has no feed. An error is a fault of our own.
func (v *Views) Feed(i int, res *page.Result) (name string, data []byte, err error) {
	if !v.hasFeed(i, res) {
		return "", nil, nil
	}
	p := &v.site.Pages[i]
	address := v.canonical(p)
	title := p.Title
	if name := v.site.Config.Name; name != "" && name != title {
		title += " - " + name
	}
	about := cmp.Or(mdx.InlineText(p.Description), title) // the format asks for one
	f := rssFeed{Version: "2.0", Atom: "http://www.w3.org/2005/Atom", Channel: rssChannel{
		Title: title, Link: address, Description: about, Language: v.languageOf(i),
		Self: rssSelf{Href: v.site.AbsoluteURL(feedPath(p)), Rel: "self", Type: "application/rss+xml"},
	}}
	if modified := v.modified(p.File()); !modified.IsZero() {
		f.Channel.Built = modified.UTC().Format(time.RFC1123Z)
	}
	for n := range res.Updates {
		items := feedItems(address, &res.Updates[n])
		f.Channel.Items = append(f.Channel.Items, items[:min(len(items), maxFeedItems-len(f.Channel.Items))]...)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(f); err != nil {
		return "", nil, fmt.Errorf("a feed could not be written: %w", err)
	}
	b.WriteByte('\n')
	return feedPath(p), b.Bytes(), nil
}

// feedItems returns the entries of an update: one for each heading of its
// highest level, after one for the text before them. An update without headings,
// or whose author says what feeds show, has one. What an entry is known by stays
// when others are added before it, although ids of headings may not.
func feedItems(address string, u *page.Update) []rssItem {
	title := cmp.Or(u.Title, u.Label)
	if title == "" {
		return nil
	}
	item := rssItem{Title: title, Description: u.Summary, Categories: u.Tags, Link: address, GUID: rssGUID{Value: address + " " + title}}
	if u.ID != "" {
		item.Link += "#" + component.FragmentEscape(u.ID)
		item.GUID = rssGUID{PermaLink: true, Value: item.Link}
	}
	for _, s := range []string{u.Label, u.Description} {
		if at, ok := dayIn(s); ok {
			item.Published = at.Format(time.RFC1123Z)
			break
		}
	}
	parts := feedParts(u.Text)
	if len(parts) == 1 || u.Title != "" || u.Summary != "" {
		item.Description = cmp.Or(item.Description, feedText(u.Text))
		return []rssItem{item}
	}
	var out []rssItem
	said := map[string]int{}
	for _, part := range parts {
		entry := item
		if head := part[0].Heading; head != "" {
			said[head]++
			entry.Title += ": " + head
			entry.GUID = rssGUID{Value: item.GUID.Value + " " + head}
			if said[head] > 1 {
				entry.GUID.Value += fmt.Sprintf(" %d", said[head])
			}
			if part[0].ID != "" {
				entry.Link = address + "#" + component.FragmentEscape(part[0].ID)
			}
			part[0].Heading = ""
		}
		if entry.Description = feedText(part); entry.Description != "" || entry.Title != item.Title {
			out = append(out, entry)
		}
	}
	return out
}

// feedParts divides an update's text before each heading of its highest level.
// The first part is what stands before them all. The sections are copies.
func feedParts(text []component.Section) [][]component.Section {
	top := 0
	for _, s := range text {
		if s.Heading != "" && (top == 0 || s.Level < top) {
			top = s.Level
		}
	}
	parts := [][]component.Section{{{}}}
	for _, s := range text {
		if s.Heading != "" && s.Level == top {
			parts = append(parts, nil)
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], s)
	}
	return parts
}

// feedText is the text of sections with the headings in it, as far as a feed has
// room for it.
func feedText(sections []component.Section) string {
	var b strings.Builder
	for _, s := range sections {
		for _, part := range []string{s.Heading, s.Text} {
			if part == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('\n')
				if part == s.Heading {
					b.WriteByte('\n')
				}
			}
			b.WriteString(part)
		}
		if b.Len() > maxFeedText {
			return strings.ToValidUTF8(b.String()[:maxFeedText], "") + "…"
		}
	}
	return b.String()
}

// languageOf is the language of a page, empty where the site names none.
func (v *Views) languageOf(i int) string {
	lang := ""
	for _, n := range v.site.Trail(i) {
		if n.Kind == site.KindLanguage {
			lang = languageTag(n.Label)
		}
	}
	return lang
}

// dayForm finds what may be a day or a month in an entry's label.
var dayForm = lazy.Regexp(`\b\d{4}-\d{2}(?:-\d{2})?\b|\b(?:\d{1,2}(?:st|nd|rd|th)? )?[A-Z][a-z]{2,8}\.? (?:\d{1,2}(?:st|nd|rd|th)?,? )?\d{4}\b`)

var ordinal = lazy.Regexp(`(\d)(?:st|nd|rd|th)\b`)

// dayIn reads the date in an entry's label, such as "2026-05-04", "May 4th,
// 2026" or "v2.1 (May 2026)"; a month means its first day. Labels without one
// that is certain have none.
func dayIn(label string) (time.Time, bool) {
	found := ordinal().ReplaceAllString(dayForm().FindString(label), "$1")
	found = strings.NewReplacer(",", "", ".", "", "Sept ", "Sep ").Replace(found)
	for _, layout := range []string{time.DateOnly, "2006-01", "January 2 2006", "Jan 2 2006", "2 January 2006", "2 Jan 2006", "January 2006", "Jan 2006"} {
		if at, err := time.Parse(layout, found); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
