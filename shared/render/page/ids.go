package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// footnotesID is the id of the heading above the footnotes.
const footnotesID = "bindery-footnotes"

// idSet holds the ids that are given out.
type idSet struct {
	taken map[string]struct{}
	// next is the number that the next id of a name begins its search at.
	next map[string]int
}

// unique returns id, or id with the first number from 2 on that makes it free,
// and takes it.
func (s *idSet) unique(id string) string {
	id = cmp.Or(id, "section")
	if s.take(id) {
		return id
	}
	for i := max(s.next[id], 2); ; i++ {
		numbered := id + "-" + strconv.Itoa(i)
		if s.take(numbered) {
			put(&s.next, id, i+1)
			return numbered
		}
	}
}

// take takes an id, and reports whether it was free.
func (s *idSet) take(id string) bool {
	_, used := s.taken[id]
	if !used {
		s.taken[id] = struct{}{}
	}
	return !used
}

// assignIDs gives every heading, and every component that wants one, an id
// that no other element of the page has. Ids that authors wrote come first,
// then headings in order, then components, then the aliases of headings, then
// the names for styles and scripts: what an author wrote down is never changed by
// what another part of the page is called.
func (s *resolver) assignIDs() {
	// The document around a body uses these.
	for _, id := range [...]string{"bindery-content", "bindery-contents", "bindery-contents-title", "bindery-sidebar", "bindery-links", footnotesID} {
		s.used.take(id)
	}
	written, headings, components := s.wantIDs()
	for _, n := range written {
		s.takeWritten(n)
	}
	for _, n := range headings {
		if id := norm.NFC.String(s.ownIDs[n]); id != "" {
			s.ids[n] = s.used.unique(id)
		}
	}
	texts := make([]string, len(headings))
	for i, n := range headings {
		texts[i] = norm.NFC.String(s.plain(n.Children))
		if s.ownIDs[n] == "" {
			s.ids[n] = s.used.unique(slug(texts[i]))
		}
	}
	for _, n := range components {
		prefix, text := s.component(n).ID(s.element(n, s.component(n)))
		if text = slug(norm.NFC.String(text)); text != "" {
			s.ids[n] = s.used.unique(prefix + text)
		}
	}
	s.addAliases(headings, texts)
	for _, n := range components {
		s.addComponentAliases(n)
	}
	s.addHooks(components)
}

// addHooks gives the first panel and the first examples of a page that have no id
// the ids that the source language documents for authors' styles and scripts, as
// far as they are free. They come last: no link was written for them.
func (s *resolver) addHooks(components []*mdx.Node) {
	for _, n := range components {
		if hook := component.HookID(n.Name); hook != "" && s.ids[n] == "" && s.used.take(hook) {
			s.ids[n] = hook
		}
	}
}

// wantIDs returns the page's elements with an id of their author's, and those
// without one that get one. It defines the footnotes on its way.
func (s *resolver) wantIDs() (written, headings, components []*mdx.Node) {
	visit := func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Heading:
			headings = append(headings, n)
		case mdx.FootnoteDef:
			if _, again := s.footnotes[n.Name]; !again {
				s.footnotes[n.Name] = n
			}
		case mdx.Element:
			asHeading(n)
			c := s.component(n)
			_, own := n.Attr("id")
			switch {
			case own && (c == nil || c.ID != nil):
				written = append(written, n)
			case c != nil && c.ID != nil:
				components = append(components, n)
			case c == nil && isHeadingTag(n.Name):
				headings = append(headings, n)
			}
		}
		return true
	}
	for _, n := range s.root {
		s.walk(n, visit)
	}
	return written, headings, components
}

// asHeading makes a heading of HTML of <Heading level={3}>.
func asHeading(n *mdx.Node) {
	if n.Name != "Heading" {
		return
	}
	n.Name = "h2"
	n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a mdx.Attr) bool {
		if a.Name != "level" {
			return false
		}
		v, _ := component.AttrValue(a)
		if level, ok := display(v); ok && len(level) == 1 && '1' <= level[0] && level[0] <= '6' {
			n.Name = "h" + level
		}
		return true
	})
}

// takeWritten takes the id that an element's author wrote, unless another
// element has it.
func (s *resolver) takeWritten(n *mdx.Node) {
	id, _ := n.Attr("id")
	v, _ := component.AttrValue(id)
	text, _ := display(v)
	if text = norm.NFC.String(strings.TrimSpace(text)); text == "" {
		return
	}
	if !s.used.take(text) {
		s.report(s.fileOf(n), id.Pos, mdx.Warning, "id-duplicate", "the id "+text+" is taken already on this page; this one is left out")
		return
	}
	s.ids[n] = text
}

// addAliases adds to headings the ids that GitHub and the source language make of
// them, as far as they are free: links written for those lead there.
func (s *resolver) addAliases(headings []*mdx.Node, texts []string) {
	count := map[string]int{}
	for i, n := range headings {
		alias := githubSlug(texts[i])
		if times := count[alias]; times > 0 {
			count[alias]++
			alias += "-" + strconv.Itoa(times)
		} else {
			count[alias] = 1
		}
		if s.ownIDs[n] != "" {
			continue
		}
		s.alias(n, alias)
		s.alias(n, keptSlug(texts[i]))
		if plain, has := s.withoutBadges(n); has {
			s.alias(n, slug(plain))
			s.alias(n, keptSlug(plain))
		}
	}
}

// alias adds an id to a node unless another node has it.
func (s *resolver) alias(n *mdx.Node, id string) {
	if id != "" && id != s.ids[n] && s.used.take(id) {
		if s.aliases == nil {
			s.aliases = make(map[*mdx.Node][]string)
		}
		s.aliases[n] = append(s.aliases[n], id)
	}
}

// withoutBadges returns a heading's text without the badges in it, and whether
// it has any.
func (s *resolver) withoutBadges(n *mdx.Node) (text string, has bool) {
	rest := slices.DeleteFunc(slices.Clone(n.Children), func(c *mdx.Node) bool {
		return c.Kind == mdx.Element && c.Name == "Badge"
	})
	if len(rest) == len(n.Children) {
		return "", false
	}
	return strings.TrimSpace(s.plain(rest)), true
}

// addComponentAliases adds to a component the ids that the source language makes
// of it: its words as they are kept there, for a field of an answer those of a
// parameter too, and for a name in camel case the words of which it is made.
func (s *resolver) addComponentAliases(n *mdx.Node) {
	prefix, text := s.component(n).ID(s.element(n, s.component(n)))
	if _, own := n.Attr("id"); own || text == "" {
		return
	}
	prefixes := []string{prefix}
	if prefix == "response-" {
		prefixes = append(prefixes, "param-")
	}
	for _, prefix := range prefixes {
		s.alias(n, prefix+slug(text))
		s.alias(n, prefix+keptSlug(text))
		if prefix != "" {
			s.alias(n, prefix+slug(splitCamel(text)))
		}
	}
}

// splitCamel puts a space before each capital letter that follows a small one.
func splitCamel(text string) string {
	b := make([]byte, 0, len(text)+4)
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b = append(b, ' ')
		}
		b, before = utf8.AppendRune(b, r), r
	}
	return string(b)
}

// keptSlug returns the id that the source language makes of a text: lower case,
// white space and full stops as hyphens; apostrophes, quotes and three full stops
// as typographic ones. Other signs are kept, but for those that an address carries
// as they are: ! ~ * ( ).
func keptSlug(text string) string {
	text = strings.ReplaceAll(text, "...", "…")
	b := make([]byte, 0, len(text)+4)
	gap := false
	for _, r := range text {
		switch {
		case r == '"' && gap:
			r = '“'
		case r == '"':
			r = '”'
		case unicode.IsSpace(r) || r == '.':
			gap = len(b) > 0
			continue
		case r == '\'':
			r = '’'
		case strings.ContainsRune("!~*()", r) || unicode.IsControl(r):
			continue
		}
		if gap {
			b, gap = append(b, '-'), false
		}
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return string(b)
}

// slug makes an id from a heading: its words in lower case, joined by hyphens.
// A word is a run of letters, marks and digits; an apostrophe within one is
// left out.
func slug(text string) string {
	b := make([]byte, 0, len(text)+2)
	gap := false
	for i, r := range text {
		switch inWord := len(b) > 0 && !gap; {
		case inWord && (r == '\'' || r == '’') && beginsWithLetter(text[i+utf8.RuneLen(r):]):
		case unicode.IsLetter(r) || unicode.IsDigit(r) || inWord && unicode.Is(unicode.Mn, r):
			if gap {
				b = append(b, '-')
				gap = false
			}
			b = utf8.AppendRune(b, unicode.ToLower(r))
		case unicode.Is(unicode.Cf, r) || r == '\uFE0F':
		default:
			gap = len(b) > 0
		}
	}
	return string(b)
}

func beginsWithLetter(s string) bool { return s != "" && isASCIILetter(s[0]) }

// githubSlug makes the id that GitHub gives to a heading: lower case, spaces
// to hyphens one by one, everything dropped but letters, digits, hyphens and
// underscores.
func githubSlug(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == ' ':
			b = append(b, '-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return string(b)
}
