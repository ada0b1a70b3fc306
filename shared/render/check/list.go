package check

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// MaxFindings is the most findings of a list; counts include the rest.
const MaxFindings = 50_000

// Facts are what a page contributes to the findings about all pages.
type Facts struct {
	Page        int              `json:"page"` // its index in Site.Pages
	IDs         []string         `json:"ids,omitempty"`
	Links       []Link           `json:"links,omitempty"`
	Diagnostics []mdx.Diagnostic `json:"diagnostics,omitempty"`
	// Ignores are the comments of the page and of what it includes. Diagnostics
	// don't have what they silence.
	Ignores []Ignore `json:"ignores,omitempty"`

	// unknown is set where not all ids of the page are known.
	unknown bool
}

// Link is a link to a place on another page.
type Link struct {
	Page     int    `json:"page"`
	Fragment string `json:"fragment"`
	Raw      string `json:"raw"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

// FactsOf returns the facts of the page with this index. Links to places on the
// page itself are settled here.
func FactsOf(s *site.Site, i int, res *page.Result) Facts {
	f := Facts{Page: i, IDs: res.IDs, Diagnostics: res.Diagnostics}
	var comments ignores
	for _, comment := range res.Ignores {
		comments.add(&Ignore{Ignore: comment})
	}
	var own map[string]bool
	hints := 0
	for _, l := range res.Links {
		if l.Page < 0 || l.Missing || l.Asset || !needsID(l.Fragment) || s.Pages[l.Page].Excluded {
			continue
		}
		link := Link{Page: l.Page, Fragment: l.Fragment, Raw: l.Raw, File: l.File, Line: l.Line, Column: l.Column}
		if l.Page != i {
			f.Links = append(f.Links, link)
			continue
		}
		if own == nil {
			own = make(map[string]bool, len(res.IDs))
			for _, id := range res.IDs {
				own[id] = true
			}
		}
		if !own[l.Fragment] && !res.Unrun {
			var names []string
			if hints++; hints <= maxHints {
				names = strings.Split(namesOf(res.IDs), "\n")
			}
			f.Diagnostics = append(f.Diagnostics, fragmentMissing(s, link, names))
		}
	}
	if len(comments) > 0 {
		kept := make([]mdx.Diagnostic, 0, len(f.Diagnostics))
		for _, d := range f.Diagnostics {
			if !comments.silence(&d) {
				kept = append(kept, d)
			}
		}
		f.Diagnostics = kept
		for _, comment := range comments {
			f.Ignores = append(f.Ignores, *comment)
		}
	}
	return f
}

// needsID reports whether a fragment must be the id of an element: browsers handle
// some others themselves.
func needsID(fragment string) bool {
	return fragment != "" && !strings.EqualFold(fragment, "top") && !strings.HasPrefix(fragment, ":~:") && fragment != themeContent
}

// themeContent is the id of the content in the document around a body.
const themeContent = "bindery-content"

// fragmentMissing returns the finding about a link to a place that its page does not
// have. ids are the places that it has, as far as they are known.
func fragmentMissing(s *site.Site, l Link, ids []string) mdx.Diagnostic {
	hint := ""
	if near := site.Nearest(l.Fragment, ids); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", "#"+near)
	}
	return mdx.Diagnostic{
		Severity: mdx.Warning, Code: "fragment-missing", File: l.File, Line: l.Line, Column: l.Column,
		Message: fmt.Sprintf("the link %q leads to %s, which has no place %q%s", l.Raw, s.Pages[l.Page].Source, l.Fragment, hint),
	}
}

// Bounds of what suggestions cost.
const (
	maxNames    = 16 << 10 // bytes of ids of a page that are compared
	maxHints    = 100      // missing places of a page's own that are compared
	maxAllHints = 2000     // the same of links between pages
)

// namesOf joins the first ids of a page to one text, which takes less memory than a list.
func namesOf(ids []string) string {
	var b strings.Builder
	for _, id := range ids {
		if b.Len()+len(id) >= maxNames {
			break
		}
		b.WriteString(id + "\n")
	}
	return b.String()
}

// CodePageFailed is the code of PageFailed.
const CodePageFailed = "page-failed"

// PageFailed returns the finding about a page that can't be rendered.
func PageFailed(p *site.Page, reason string) mdx.Diagnostic {
	return mdx.Diagnostic{Severity: mdx.Error, Code: CodePageFailed, File: p.File(), Line: 1, Column: 1, Message: reason}
}

// List joins the findings about a site and its pages. They are added in the order in
// which they are listed.
type List struct {
	site  *site.Site
	rules Rules
	// ids are the hashes of each page's ids. Hashes are enough: if two ids had the
	// same one, a missing id might go unreported.
	ids     [][]uint32
	names   []string     // namesOf the ids of each page
	unknown map[int]bool // pages that have ids beside those
	events  []event      // in order
	kept    int          // findings among the events
	// seen holds the hashes of all findings: what is wrong in a snippet is
	// found on each page that shows it, and reported once.
	seen    map[uint64]struct{}
	counts  Counts
	ignores ignores
	// partial are the files of which not all findings are known.
	partial map[string]bool
}

// event is a finding, or a link to a place that is yet to be looked up.
type event struct {
	finding *mdx.Diagnostic
	link    *Link
	page    int // the index of the page that it was found on, or -1
}

// NewList begins the list of a site, to which the site's rules are applied.
func NewList(s *site.Site, rules Rules) *List {
	return &List{site: s, rules: rules, ids: make([][]uint32, len(s.Pages)), names: make([]string, len(s.Pages)), unknown: map[int]bool{}, partial: map[string]bool{}, seen: make(map[uint64]struct{})}
}

// Add adds findings about the site as a whole.
func (l *List) Add(d mdx.Diagnostic) { l.add(&d, -1) }

// AddPage adds the facts of a page, which the list keeps.
func (l *List) AddPage(f *Facts) {
	if f.Page >= 0 && f.Page < len(l.ids) {
		ids := make([]uint32, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = hashOf(id)
		}
		l.ids[f.Page] = ids
		l.names[f.Page] = namesOf(f.IDs)
		if f.unknown {
			l.unknown[f.Page] = true
		}
	}
	for i := range f.Ignores {
		comment := f.Ignores[i]
		l.ignores.add(&comment)
		if f.unknown {
			l.partial[comment.File] = true
		}
	}
	for i := range f.Diagnostics {
		l.add(&f.Diagnostics[i], f.Page)
	}
	for i := range f.Links {
		// A link back to a page that was added before is checked at once.
		if to := &f.Links[i]; to.Page < 0 || to.Page >= len(l.ids) || !l.has(to.Page, to.Fragment) {
			l.events = append(l.events, event{link: to, page: f.Page})
		}
	}
}

// again reports whether the same finding was added before.
func (l *List) again(d *mdx.Diagnostic) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d\x00%d\x00%s\x00%s", d.File, d.Line, d.Column, d.Code, d.Message)
	key := h.Sum64()
	if _, ok := l.seen[key]; ok {
		return true
	}
	l.seen[key] = struct{}{}
	return false
}

// add counts a finding and keeps it, as long as the list has room.
func (l *List) add(d *mdx.Diagnostic, page int) {
	if l.again(d) || !l.rules.apply(d) {
		return
	}
	l.counts.count(d.Severity, 1)
	if l.kept < MaxFindings {
		l.kept++
		l.events = append(l.events, event{finding: d, page: page})
	}
}

// Finish looks up the places that links lead to and calls fn with all findings in
// order, until fn returns an error. It returns the counts, which include findings
// that the list has no room for.
func (l *List) Finish(fn func(Finding) error) (Counts, error) {
	listed := 0
	list := func(f Finding) error {
		if listed >= MaxFindings {
			return nil
		}
		listed++
		return fn(f)
	}
	hints := 0
	for _, e := range l.events {
		d := e.finding
		if to := e.link; to != nil {
			if to.Page < 0 || to.Page >= len(l.ids) || l.has(to.Page, to.Fragment) {
				continue
			}
			var names []string
			if hints++; hints <= maxAllHints {
				names = strings.Split(l.names[to.Page], "\n")
			}
			missing := fragmentMissing(l.site, *to, names)
			if l.again(&missing) || l.ignores.silence(&missing) || !l.rules.apply(&missing) {
				continue
			}
			l.counts.count(missing.Severity, 1)
			d = &missing
		} else if l.ignores.silence(d) { // found before the page was read
			l.counts.count(d.Severity, -1)
			continue
		}
		if err := list(l.shown(d, e.page)); err != nil {
			return l.counts, err
		}
	}
	for _, d := range l.aboutIgnores() {
		l.counts.count(d.Severity, 1)
		if err := list(l.shown(&d, -1)); err != nil {
			return l.counts, err
		}
	}
	if l.counts.All() > listed {
		l.counts.count(mdx.Notice, 1)
		return l.counts, fn(Finding{
			Level: mdx.Notice, Code: "list-cut", File: l.site.ConfigFile,
			Message: "there are more diagnostics than this list holds",
		})
	}
	return l.counts, nil
}

// aboutIgnores returns the findings about comments, which are known once all
// others are.
func (l *List) aboutIgnores() []mdx.Diagnostic {
	// Without some of the pages, links to them have no findings.
	whole := !slices.ContainsFunc(l.site.Pages, func(p site.Page) bool { return p.Excluded })
	codes := Codes()
	var found []mdx.Diagnostic
	for _, comment := range l.ignores {
		for _, d := range comment.faults(codes, whole && !l.partial[comment.File]) {
			if l.rules.apply(&d) {
				found = append(found, d)
			}
		}
	}
	return found
}

// shown removes secrets from the addresses in a finding.
func (l *List) shown(d *mdx.Diagnostic, page int) Finding {
	f := Finding{
		Level: d.Severity, Code: d.Code, File: remote.Shown(d.File), Line: d.Line, Column: d.Column, Message: remote.Shown(d.Message),
	}
	if page >= 0 && page < len(l.site.Pages) && l.site.Pages[page].Source != d.File {
		f.Page = l.site.Pages[page].Source
	}
	return f
}

func (l *List) has(page int, id string) bool {
	return l.unknown[page] || slices.Contains(l.ids[page], hashOf(id))
}

func hashOf(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}
