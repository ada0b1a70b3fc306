package page

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// link gives what stands in href for an address on the page, and records it.
// Of an address that would run code nothing is left.
func (s *state) link(n *mdx.Node, pos mdx.Pos, href string) string {
	return s.refer(n, pos, href, false)
}

// asset does the same for a file that the page loads.
func (s *state) asset(n *mdx.Node, pos mdx.Pos, src string) string {
	return s.refer(n, pos, src, true)
}

func (s *state) refer(n *mdx.Node, pos mdx.Pos, address string, asset bool) string {
	if s.href != nil {
		return s.href(address)
	}
	t := s.r.site.Resolve(s.page, address)
	switch t.Kind {
	case site.External, site.Other:
		if asset {
			s.allowLoading(n, t.Href)
			if t.Kind == site.External && s.r.airGapped {
				s.report(s.fileOf(n), pos, mdx.Notice, "asset-outside", "the page loads something of another host; the bundle is for readers without a network, who don't see it: "+excerpt(address))
			}
		}
		return t.Href
	case site.Unsafe:
		s.report(s.fileOf(n), pos, mdx.Warning, "link-unsafe", "a link to "+excerpt(address)+" is left out: its scheme is not safe on a page")
		return ""
	case site.Restricted:
		code, what := "link-restricted", "the link to "
		if asset {
			code, what = "file-restricted", "the file "
		}
		s.report(s.fileOf(n), pos, mdx.Warning, code, what+excerpt(address)+" is left out: "+s.r.site.WhyRestricted(t))
		return ""
	}
	ref := Ref{Raw: address, Page: -1, Path: t.Path, Fragment: t.Fragment, Asset: asset, File: s.fileOf(n), Line: pos.Line, Column: pos.Column}
	switch t.Kind {
	case site.ToPage, site.ToAnchor:
		ref.Page = t.Page
	case site.Missing:
		ref.Missing = true
		if asset {
			s.report(ref.File, pos, mdx.Warning, "file-missing", "there is no file "+t.Path+" ("+excerpt(address)+")")
		} else {
			s.report(ref.File, pos, mdx.Warning, "link-missing", "there is no page or file "+t.Path+" ("+excerpt(address)+")")
		}
	}
	s.result.Links = append(s.result.Links, ref)
	return t.Href
}

// styleAddress does the same for a file that a style loads, which a file in the
// bundle's folder "bindery" names. "" means that there is none.
func (s *state) styleAddress(n *mdx.Node, pos mdx.Pos, address string) string {
	t := s.r.site.Resolve(s.page, address)
	switch t.Kind {
	case site.External, site.Other:
		s.allow("img-src", origin(t.Href))
		return t.Href
	case site.ToFile:
		s.refer(n, pos, address, true)
		return site.Rel("bindery/x.css", t.Path)
	case site.ToAnchor:
		return t.Href
	}
	s.refer(n, pos, address, true)
	return ""
}

// markdownLink gives an address for the Markdown copy: links to pages lead to
// their copies.
func (s *state) markdownLink(href string) string {
	t := s.r.site.Resolve(s.page, href)
	out := t.Href
	if t.Kind == site.ToPage {
		end := strings.IndexAny(out, "?#")
		if end < 0 {
			end = len(out)
		}
		if base, ok := strings.CutSuffix(out[:end], ".html"); ok {
			out = base + ".md" + out[end:]
		}
	}
	return out
}

// markdownAddress writes an address as the target of a Markdown link.
func markdownAddress(href string) string {
	if href == "" {
		return "<>"
	}
	depth, plain := 0, true
	for i := 0; i < len(href) && plain; i++ {
		switch c := href[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
			plain = depth >= 0
		case c <= ' ' || c == '<' || c == '>' || c == '\\':
			plain = false
		}
	}
	if plain && depth == 0 {
		return href
	}
	var b strings.Builder
	b.WriteByte('<')
	for i := 0; i < len(href); i++ {
		switch c := href[i]; c {
		case '<', '>', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n', '\r':
			b.WriteString("%0A")
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('>')
	return b.String()
}
