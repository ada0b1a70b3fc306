package tool

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Limits of an overview, in bytes: of the navigation, and of the pages that it leaves
// out.
const (
	maxOverview = 12 << 10
	maxLoose    = 2 << 10
)

// Overview describes a site to a model that has seen nothing of it yet: its navigation
// with the files and titles of pages, and the pages outside of it. A large navigation is
// shown without titles, a larger one without its deeper parts, but with their numbers of pages.
// It returns an error only if ctx is done.
func Overview(ctx context.Context, t *Tree) (string, error) {
	titles, order := map[string]string{}, []string(nil)
	if s, err := t.site(ctx); err == nil {
		for i := range s.Pages {
			if p := &s.Pages[i]; p.From == "" {
				titles[p.Source] = p.Title
				order = append(order, p.Source)
			}
		}
		for _, w := range s.Withheld {
			if isPage(w.Source) {
				order = append(order, w.Source)
			}
		}
	} else if ctx.Err() != nil {
		return "", ctx.Err()
	} else {
		for _, p := range t.files() {
			if isPage(p) && !dotted(p) {
				order = append(order, p)
			}
		}
	}
	// The model reads instructions for agents apart from this.
	order = slices.DeleteFunc(order, func(p string) bool { return forbiddenNames[strings.ToLower(path.Base(p))] })
	var b strings.Builder
	n, err := t.navigator()
	loose := order
	if err != nil {
		fmt.Fprintf(&b, "It has %s. The navigation can't be read: %v.\n", Plural(len(order), "page"), err)
	} else {
		o := overview{all: n.all, titles: titles, files: map[*navEntry]string{}}
		inside := map[string]bool{}
		for _, e := range n.all {
			if e.page != "" {
				o.files[e] = t.pageFile(e.page)
				inside[o.files[e]] = true
			}
		}
		loose = nil
		for _, p := range order {
			if !inside[p] {
				loose = append(loose, p)
			}
		}
		fmt.Fprintf(&b, "It has %s.\n\nNavigation:\n%s", Plural(len(order), "page"), o.String())
	}
	if len(loose) > 0 {
		fmt.Fprintf(&b, "\nPages outside of the navigation: %d\n", len(loose))
		for i, room := 0, maxLoose; i < len(loose); i++ {
			line := described(loose[i], titles[loose[i]])
			if room -= len(line) + 1; room < 0 {
				fmt.Fprintf(&b, "… and %d more\n", len(loose)-i)
				break
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String(), nil
}

// pageFile returns the file of a page of the navigation, "" if there is none.
func (t *Tree) pageFile(name string) string {
	name = pageName(name)
	for _, end := range [...]string{".mdx", ".md", "/index.mdx", "/index.md"} {
		if p := strings.TrimPrefix(name+end, "/"); t.exists(p) {
			return p
		}
	}
	return ""
}

// overview writes a navigation.
type overview struct {
	all    []*navEntry // in order, each before what it holds
	titles map[string]string
	files  map[*navEntry]string
}

// String returns the most detailed form that fits.
func (o overview) String() string {
	deepest := 0
	for _, e := range o.all {
		deepest = max(deepest, e.depth)
	}
	text := ""
	for depth := deepest; depth >= 0; depth-- {
		for _, titles := range [...]bool{true, false} {
			if text = o.write(depth, titles); len(text) <= maxOverview {
				return text
			}
		}
	}
	n := strings.LastIndexByte(text[:maxOverview], '\n') + 1
	return text[:n] + fmt.Sprintf("… and %d more lines; navigation shows them\n", strings.Count(text[n:], "\n"))
}

// write writes the entries down to a depth. A part with deeper entries has their number
// of pages.
func (o overview) write(depth int, titles bool) string {
	var b strings.Builder
	for i, e := range o.all {
		if e.depth > depth {
			continue
		}
		b.WriteString(strings.Repeat("  ", e.depth))
		switch file := o.files[e]; {
		case e.page == "":
			b.WriteString(cutLine(e.labels[len(e.labels)-1]) + e.kind())
			if e.depth == depth {
				pages := 0
				for _, inner := range o.all[i+1:] {
					if inner.depth <= e.depth {
						break
					}
					if inner.page != "" {
						pages++
					}
				}
				if pages > 0 {
					b.WriteString(": " + Plural(pages, "page"))
				}
			}
		case file == "":
			b.WriteString(cutLine(e.page))
		case titles:
			b.WriteString(described(file, o.titles[file]))
		default:
			b.WriteString(file)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// kind returns what a part of the navigation is, in brackets, "" for a group.
func (e *navEntry) kind() string {
	for _, name := range labelNames {
		if v := member(e.inner, name); v != nil && v == e.name {
			if name == "group" {
				return ""
			}
			return " (" + name + ")"
		}
	}
	return ""
}

// described returns a page with its title.
func described(file, title string) string {
	if title == "" {
		return file
	}
	return file + ": " + strings.Join(strings.Fields(cutLine(title)), " ")
}
