package export

import (
	"hash/fnv"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// layout is the order in which a site's files stand in the archive: pages by
// path, then files that compress, then files that are compressed already. It
// follows from the site alone.
type layout struct {
	pages  []int    // indices into Site.Pages, without excluded ones
	text   []string // static files
	stored []string
	sizes  func(name string) int64
}

func newLayout(s *site.Site, fsys *snapshot.FS) layout {
	l := layout{sizes: func(name string) int64 {
		e, _ := fsys.Entry(s.SourceOf(name))
		return e.Size
	}}
	l.addPages(s)
	for _, f := range s.Files {
		if stored(f) {
			l.stored = append(l.stored, f)
		} else {
			l.text = append(l.text, f)
		}
	}
	return l
}

func (l *layout) addPages(s *site.Site) {
	for i := range s.Pages {
		if !s.Pages[i].Excluded {
			l.pages = append(l.pages, i)
		}
	}
}

// pageEnds returns the pages after which a unit ends.
func pageEnds(s *site.Site) map[int]bool {
	var l layout
	l.addPages(s)
	ends := map[int]bool{}
	for _, u := range l.cut(s) {
		ends[l.pages[u.To-1]] = true
	}
	return ends
}

// least is what a bundle has at least, in bytes: files that are compressed already
// stand in it as they are.
func (l *layout) least() (n int64) {
	for _, f := range l.stored {
		n += l.sizes(f)
	}
	return n
}

// unitKind tells which of a layout's lists a unit is cut from.
type unitKind string

const (
	pageUnit   unitKind = "pages"
	textUnit   unitKind = "text"
	storedUnit unitKind = "stored"
)

// unit is a run of a layout's list: one gzip member of the archive.
type unit struct {
	Kind unitKind `json:"kind"`
	From int      `json:"from"`
	To   int      `json:"to"` // behind the last
	// Slices are where the slices of its pages lie, of those that have one.
	Slices []sliceSpan `json:"slices,omitempty"`
	// weight is what rendering it costs, about, in bytes of a page's source.
	weight int64
}

// shardPlan is what one shard renders.
type shardPlan struct {
	Units []unit `json:"units"`
	Pages int    `json:"pages"`
}

// cut divides a layout into units. Where one ends depends on the paths and
// sizes in it and on nothing else.
func (l *layout) cut(s *site.Site) []unit {
	var units []unit
	list := func(kind unitKind, n int, item func(i int) (name string, size int64)) {
		u := unit{Kind: kind}
		var bytes int64
		flush := func(end int) {
			if u.To = end; u.To > u.From {
				units = append(units, u)
			}
			u, bytes = unit{Kind: kind, From: end}, 0
		}
		for i := range n {
			name, size := item(i)
			if i > u.From && (i-u.From >= unitPages || bytes+size > unitBytes) {
				flush(i)
			}
			bytes += size
			if kind == pageUnit {
				u.weight += size + pageWeight
			} else {
				u.weight += size/fileDivisor + 64
			}
			if kind != pageUnit {
				continue
			}
			if h := hashOf(name); h%unitCut == 0 || bytes >= heavyBytes && h%heavyCut == 0 {
				flush(i + 1)
			}
		}
		flush(n)
	}
	list(pageUnit, len(l.pages), func(i int) (string, int64) {
		p := &s.Pages[l.pages[i]]
		return p.Source, p.Size
	})
	list(textUnit, len(l.text), func(i int) (string, int64) { return l.text[i], l.sizes(l.text[i]) })
	list(storedUnit, len(l.stored), func(i int) (string, int64) { return l.stored[i], l.sizes(l.stored[i]) })
	return units
}

func hashOf(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// shards divides units into runs of about equal weight. want, if above 0, is
// how many there should be; otherwise each has about that weight. most, if above 0, is
// how many there may be.
func shards(units []unit, want, most int, weight int64) []shardPlan {
	var total int64
	for _, u := range units {
		total += u.weight
	}
	n := want
	if n <= 0 {
		n = max(fewestShards, int((total+weight-1)/weight))
	}
	if most <= 0 {
		most = MaxShards
	}
	n = max(1, min(n, len(units), most, MaxShards))
	plans := make([]shardPlan, n)
	var before int64
	at := 0
	for i, u := range units {
		// A unit belongs where its middle lies; every shard gets one at least.
		middle := before + u.weight/2
		place := at
		if total > 0 {
			place = int(middle * int64(n) / max(total, 1))
		}
		place = min(max(place, at), at+1, n-1)
		if len(plans[at].Units) == 0 {
			place = at
		} else if left := len(units) - i; left <= n-1-at {
			place = at + 1
		}
		at = place
		plans[at].Units = append(plans[at].Units, u)
		if u.Kind == pageUnit {
			plans[at].Pages += u.To - u.From
		}
		before += u.weight
	}
	return plans
}
