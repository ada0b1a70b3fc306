package frame

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/render/site"
)

const (
	// llmsBytes is how much of a list of pages stands in one file: what a model
	// still reads whole beside its question. Past it the list is cut into
	// sections, and llms.txt lists those.
	llmsBytes = 100_000
	// maxSlug is how long the name of a section's file may be.
	maxSlug = 60
)

// llmsSection is a part of the list of pages.
type llmsSection struct {
	trail []string // labels of divisions and of the outermost group
	lines []string // with their line ends
}

func (s *llmsSection) title() string { return strings.Join(s.trail, " — ") }

func (s *llmsSection) bytes() int {
	n := len(s.title()) + len("\n## \n\n")
	for _, l := range s.lines {
		n += len(l)
	}
	return n
}

// llms lists the Markdown copies of all pages that search engines may know, by
// the navigation's divisions and groups (llmstxt.org): in llms.txt, or where that
// would be too long in a file for each section below llms/. Versions and
// languages that readers don't see first have files of their own, which stand
// under "Optional".
func (o *ownFiles) llms() {
	sections, others := o.llmsSections()
	var head bytes.Buffer
	c := &o.views.site.Config
	fmt.Fprintf(&head, "# %s\n", oneLine(c.Name))
	if d := oneLine(c.Description); d != "" {
		fmt.Fprintf(&head, "\n> %s\n", d)
	}
	used := make(map[string]int)
	if size := head.Len() + sectionBytes(sections); size > llmsBytes && o.free("llms.txt") {
		o.llmsFiles(&head, sections, used)
	} else {
		writeSections(&head, sections)
	}
	o.llmsSpecifications(&head)
	for i := range others {
		if i == 0 {
			head.WriteString("\n## Optional\n\n")
		}
		o.llmsPart(&head, others[i].title(), others[i].lines, used)
	}
	o.put("llms.txt", head.Bytes())
}

func sectionBytes(sections []llmsSection) (sum int) {
	for i := range sections {
		sum += sections[i].bytes()
	}
	return sum
}

func writeSections(to *bytes.Buffer, sections []llmsSection) {
	for i := range sections {
		s := &sections[i]
		if len(s.trail) > 0 {
			fmt.Fprintf(to, "\n## %s\n\n", s.title())
		} else if i == 0 {
			to.WriteByte('\n')
		}
		for _, line := range s.lines {
			to.WriteString(line)
		}
	}
}

// llmsSpecifications lists the specifications that pages show and that are files
// of the bundle.
func (o *ownFiles) llmsSpecifications(head *bytes.Buffer) {
	s := o.views.site
	var files []string
	seen := map[string]bool{}
	for i := range s.Pages {
		r := s.Pages[i].Reference
		if r == nil || !s.Pages[i].Listed() || seen[r.File] {
			continue
		}
		seen[r.File] = true
		if t := s.Resolve(-1, "/"+escapedPath(r.File)); t.Kind == site.ToFile {
			files = append(files, t.Path)
		}
	}
	slices.Sort(files)
	for i, file := range files {
		if i == 0 {
			head.WriteString("\n## Specifications\n\n")
		}
		fmt.Fprintf(head, "- [%s](%s)\n", linkText(path.Base(file)), s.AbsoluteURL(file))
	}
}

// llmsFiles writes a file for each section, in several parts where one is too
// long, and an index of them. Where even the index would be too long, sections
// that begin alike share files.
func (o *ownFiles) llmsFiles(head *bytes.Buffer, sections []llmsSection, used map[string]int) {
	const entry = 2*maxSlug + 60
	if len(sections)*entry > llmsBytes {
		sections = joinSections(sections)
	}
	head.WriteString("\nThe list of all pages is long; each file below has a part of it.\n\n## Sections\n\n")
	for i := range sections {
		s := &sections[i]
		o.llmsPart(head, cmp.Or(s.title(), oneLine(o.views.site.Config.Name)), s.lines, used)
	}
}

// llmsPart writes lines to a file, or to several where one would be too long, and
// lists them.
func (o *ownFiles) llmsPart(head *bytes.Buffer, title string, lines []string, used map[string]int) {
	parts := cutLines(lines, llmsBytes)
	for n, lines := range parts {
		label := title
		if len(parts) > 1 {
			label = fmt.Sprintf("%s (%d of %d)", title, n+1, len(parts))
		}
		name := o.llmsName(slug(title), used)
		o.put(name, []byte("# "+label+"\n\n"+strings.Join(lines, "")))
		count := "1 page"
		if len(lines) != 1 {
			count = fmt.Sprintf("%d pages", len(lines))
		}
		fmt.Fprintf(head, "- [%s](%s): %s\n", linkText(label), o.views.site.AbsoluteURL(name), count)
	}
}

// llmsName finds the name of a section's file that neither another section nor
// the site has: its own list would be lost. used counts the sections by name.
func (o *ownFiles) llmsName(slug string, used map[string]int) string {
	for {
		name := "llms/" + slug + ".txt"
		if used[slug]++; used[slug] > 1 {
			name = "llms/" + slug + "-" + strconv.Itoa(used[slug]) + ".txt"
		}
		if o.free(name) {
			return name
		}
	}
}

// joinSections puts sections together that begin with the same label and follow
// each other.
func joinSections(sections []llmsSection) []llmsSection {
	var out []llmsSection
	for _, s := range sections {
		first := s.trail[:min(1, len(s.trail))]
		if n := len(out); n > 0 && strings.Join(out[n-1].trail, "") == strings.Join(first, "") {
			out[n-1].lines = append(out[n-1].lines, s.lines...)
			continue
		}
		out = append(out, llmsSection{trail: first, lines: append([]string(nil), s.lines...)})
	}
	if len(out) < len(sections)/2 {
		return out
	}
	// All of them are on one level: the list is cut by length alone.
	one := llmsSection{}
	for _, s := range out {
		one.lines = append(one.lines, s.lines...)
	}
	return []llmsSection{one}
}

// cutLines cuts lines into runs of at most that many bytes.
func cutLines(lines []string, most int) [][]string {
	var out [][]string
	size := 0
	for _, l := range lines {
		if len(out) == 0 || size+len(l) > most {
			out, size = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], l)
		size += len(l)
	}
	return out
}

// slug makes a title a file's name: its letters and digits in lower case.
func slug(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(title) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		if b.Len() >= maxSlug {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "pages"
	}
	return strings.TrimSuffix(b.String(), "-")
}

// llmsSections gathers the list of pages. Those outside all sections come first,
// in one without a title. others are one for each version and language that
// readers don't see first.
func (o *ownFiles) llmsSections() (out, others []llmsSection) {
	s := o.views.site
	seen := make([]bool, len(s.Pages))
	all := []llmsSection{{}}
	line := func(i int) {
		p := &s.Pages[i]
		if seen[i] || !p.Listed() {
			return
		}
		seen[i] = true
		text := "- [" + linkText(p.Title) + "](" + s.AbsoluteURL(p.MarkdownPath()) + ")"
		if d := oneLine(p.Description); d != "" {
			text += ": " + d
		}
		at := &all[len(all)-1]
		at.lines = append(at.lines, text+"\n")
	}
	// apart gathers what a part of the navigation has in a list of its own.
	apart := func(trail []string, walk func()) {
		before := all
		all = []llmsSection{{}}
		walk()
		one := llmsSection{trail: trail}
		for _, section := range all {
			one.lines = append(one.lines, section.lines...)
		}
		if all = before; len(one.lines) > 0 {
			others = append(others, one)
		}
	}
	var walk func(n *site.Node, trail []string, inGroup bool)
	walk = func(n *site.Node, above []string, inGroup bool) {
		trail := above
		if n.Hidden {
			return
		}
		if n.Kind == site.KindPage {
			line(n.Page)
			return
		}
		// A division or an outermost group begins a section; groups within
		// groups stay in it.
		group := n.Kind == site.KindGroup && !inGroup
		if group || n.Kind.Division() {
			if label := oneLine(n.Label); label != "" {
				trail = append(trail[:len(trail):len(trail)], label)
			}
			all = append(all, llmsSection{trail: trail})
		}
		if n.Root >= 0 {
			line(n.Root)
		}
		for _, c := range n.Children {
			if !s.Secondary(n, c) {
				walk(c, trail, inGroup || group)
			}
		}
		for _, c := range n.Children { // later, so that a page of both is in the main list
			if s.Secondary(n, c) {
				apart(append(trail[:len(trail):len(trail)], oneLine(c.Label)), func() { walk(c, trail, inGroup || group) })
			}
		}
		if group { // what comes after is the division's again
			all = append(all, llmsSection{trail: above})
		}
	}
	walk(s.Nav, nil, false)
	all = append(all, llmsSection{trail: []string{"More"}})
	for i := range s.Pages {
		line(i)
	}
	out = []llmsSection{{}}
	for _, section := range all {
		switch {
		case len(section.lines) == 0: // without pages it is not a section
		case len(section.trail) == 0:
			out[0].lines = append(out[0].lines, section.lines...)
		default:
			out = append(out, section)
		}
	}
	if len(out[0].lines) == 0 {
		out = out[1:]
	}
	return out, others
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// linkText is a text that can stand in the brackets of a link.
func linkText(s string) string {
	if !strings.ContainsAny(s, "[]") {
		return oneLine(s)
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(oneLine(s))
}
