package frame

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/preview"
)

// maxCards is how many pictures for links a bundle has at most. Drawing one
// takes as long as rendering some twenty pages, so each section of a site has
// one, and in a site of very many sections the rest share one.
const maxCards = 48

// cards are the pictures that services show beside links to a site's pages.
type cards struct {
	all []preview.Card // the site's own first
	of  map[*site.Node]int
}

// newCards makes a card for the site and for each section that has pages, in
// the order of the pages.
func newCards(s *site.Site) cards {
	c := &s.Config
	base := preview.Card{
		Name: c.Name, Domain: s.Domain, Color: c.Colors.Primary,
		Dark: c.Thumbnails.Appearance == "dark" || c.Thumbnails.Appearance == "" && c.Appearance.Default == "dark",
	}
	out := cards{all: []preview.Card{base}, of: map[*site.Node]int{nil: 0}}
	known := map[string]int{"": 0}
	for i := range s.Pages {
		section := s.Near(i)
		if _, ok := out.of[section]; ok || s.Pages[i].Excluded {
			continue
		}
		card := base
		card.Section = sectionName(s, section)
		at, ok := known[card.Section]
		if !ok && len(out.all) < maxCards {
			at = len(out.all)
			known[card.Section] = at
			out.all = append(out.all, card)
		}
		out.of[section] = at
	}
	return out
}

// sectionName names a section by all divisions that lead to it.
func sectionName(s *site.Site, section *site.Node) string {
	name := ""
	for n := section; n != nil; n = s.Parent(n) {
		label := strings.TrimSpace(n.Label)
		switch {
		case !n.Kind.Division() || label == "":
			continue
		case n.Kind == site.KindLanguage:
			label = languageName(label)
		}
		if name == "" {
			name = label
		} else {
			name = label + " · " + name
		}
	}
	return name
}

// path is the path of a page's picture in the bundle.
func (c *cards) path(section *site.Node) string { return c.all[c.of[section]].Path() }

// pictures draws the cards, unless the site has a picture of its own for all
// pages.
func (o *ownFiles) pictures() {
	v := o.views
	if v.image != "" {
		return
	}
	pen, err := preview.NewPen()
	if err != nil {
		o.err = fmt.Errorf("the pictures for links could not be drawn: %w", err)
		return
	}
	for _, card := range v.cards.all {
		data, err := pen.Draw(card)
		if err != nil {
			o.err = cmp.Or(o.err, fmt.Errorf("a picture for links could not be drawn: %w", err))
			return
		}
		o.put(card.Path(), data)
	}
}
