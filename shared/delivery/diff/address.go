package diff

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// lost finds addresses and anchors that lead nowhere now, and notes where those
// of removed pages lead.
func lost(ctx context.Context, r *Result, was, is *site, old, now map[string][]string) error {
	r.LostAddresses, r.LostAnchors = []LostAddress{}, []LostAnchor{}
	redirects, err := address.NewRedirects(is.info.Redirects)
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.InfoPath, err)
	}
	addresses := address.Addresses{
		Has: func(name string) bool {
			_, page := is.pages[name]
			_, file := is.files[name]
			_, stub := is.stubs[name]
			return page || file || stub
		},
		Stub:      func(name string) bool { _, ok := is.stubs[name]; return ok },
		Redirects: redirects,
	}
	like, err := similar(ctx, was, is, old, now)
	if err != nil {
		return err
	}
	for i := range r.Pages.Removed {
		p := &r.Pages.Removed[i]
		if p.LeadsTo = leadsTo(addresses, p.Address); p.LeadsTo != "" {
			continue
		}
		one := LostAddress{Address: p.Address, Title: p.Title}
		if to, ok := like[p.Address]; ok {
			one.Redirect = &Redirect{p.Address, to}
		}
		r.LostAddresses = append(r.LostAddresses, one)
	}
	for _, name := range slices.Sorted(maps.Keys(was.pages)) {
		if after, ok := is.pages[name]; ok {
			gone, err := anchors(ctx, addressOf(name), was.pages[name].anchors, after.anchors)
			if err != nil {
				return err
			}
			r.LostAnchors = append(r.LostAnchors, gone...)
		}
	}
	return nil
}

// leadsTo returns where an address leads, "" where that is nowhere.
func leadsTo(a address.Addresses, from string) string {
	answer := a.Find(from, "")
	if answer.File != "" {
		return from
	}
	to := answer.To
	if !strings.HasPrefix(to, "/") {
		return to // another site's, or nowhere
	}
	bare, _, _ := strings.Cut(to, "#")
	bare, query, _ := strings.Cut(bare, "?")
	if plain, err := url.PathUnescape(bare); err == nil && a.Find(plain, query).File != "" {
		return to
	}
	return ""
}

// minLikeness is the share of words that a new page must have in common with a
// removed one to be taken for it.
const minLikeness = 0.5

// maxLookups bounds the words that are compared to find where pages went.
const maxLookups = 1 << 24

// similar returns, for the addresses of removed pages, those of new pages that
// say the same: in the same words, else in most of them, a page of the same
// title or name before others.
func similar(ctx context.Context, was, is *site, old, now map[string][]string) (map[string]string, error) {
	type candidate struct {
		name  string
		facts facts
		words map[string]int
	}
	var added []candidate
	for _, name := range slices.Sorted(maps.Keys(is.pages)) {
		if _, ok := was.pages[name]; !ok {
			added = append(added, candidate{name, is.pages[name], tally(now[name])})
		}
	}
	to := map[string]string{}
	lookups := 0
	for _, name := range slices.Sorted(maps.Keys(was.pages)) {
		if _, ok := is.pages[name]; ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page, mine := was.pages[name], tally(old[name])
		best := 0.0
		for _, c := range added {
			score := 0.0
			switch {
			case c.facts.text == page.text:
				score = 2
			case lookups < maxLookups:
				lookups += len(mine) + len(c.words)
				score = likeness(mine, c.words)
			}
			if score < minLikeness {
				continue
			}
			if c.facts.title == page.title {
				score += 0.2
			}
			if path.Base(c.name) == path.Base(name) {
				score += 0.1
			}
			if score > best {
				best, to[addressOf(name)] = score, addressOf(c.name)
			}
		}
	}
	return to, nil
}

func tally(list []string) map[string]int {
	n := make(map[string]int, len(list))
	for _, w := range list {
		n[w]++
	}
	return n
}

// likeness is the share of words that two texts have in common, of the words of
// both.
func likeness(a, b map[string]int) float64 {
	common, all := 0, 0
	for w, n := range a {
		common += min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return float64(2*common) / float64(all)
}

// anchors returns those of a page that are gone.
func anchors(ctx context.Context, page string, was, is []anchor) ([]LostAnchor, error) {
	has, had := map[string]bool{}, map[string]bool{}
	for _, a := range is {
		has[a.id] = true
	}
	for _, a := range was {
		had[a.id] = true
	}
	var list []LostAnchor
	seen := map[string]bool{}
	for i, a := range was {
		if has[a.id] || seen[a.id] {
			continue
		}
		seen[a.id] = true
		if err := ctx.Err(); err != nil { // each is looked for among all new ones
			return nil, err
		}
		list = append(list, LostAnchor{page, a.id, a.text, successor(was, i, is, has, had)})
	}
	return list, nil
}

// successor returns the new anchor of a heading: the one of the same text, else
// the only new one between the same neighbours.
func successor(was []anchor, i int, is []anchor, has, had map[string]bool) string {
	if text := was[i].text; text != "" {
		for _, a := range is {
			if a.text == text && !had[a.id] {
				return a.id
			}
		}
	}
	from, to := 0, len(is)
	for j := i - 1; j >= 0; j-- {
		if has[was[j].id] {
			from = slices.IndexFunc(is, func(a anchor) bool { return a.id == was[j].id }) + 1
			break
		}
		if was[j].text != "" == (was[i].text != "") {
			return "" // two went: which is which is a guess
		}
	}
	for j := i + 1; j < len(was); j++ {
		if has[was[j].id] {
			to = slices.IndexFunc(is, func(a anchor) bool { return a.id == was[j].id })
			break
		}
		if was[j].text != "" == (was[i].text != "") {
			return ""
		}
	}
	var found string
	for j := from; j < to; j++ {
		if a := is[j]; !had[a.id] && (a.text != "") == (was[i].text != "") {
			if found != "" {
				return ""
			}
			found = a.id
		}
	}
	return found
}
