package pull

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// Limits of the search for moved files.
const (
	// alike is the least share of equal lines in a moved file, the default of Git.
	alike = 0.5
	// maxPairs is the most pairs of files that are compared by their text, because neither
	// address nor name matches.
	maxPairs = 400
)

// move pairs files that are gone with new ones that are alike: those that their
// address leads to, those of the same name, and if there are few, any. Of several, the
// one that is most alike. leads has files by those of pages that are gone.
func (w *whole) move(leads map[string]string) {
	var gone, added []int
	names := map[string][]int{}
	for i, f := range w.files {
		_, was := w.before[f.path]
		_, is := w.after[f.path]
		switch {
		case f.change == admin.AgentPageDeleted && was:
			gone = append(gone, i)
		case f.change == admin.AgentPageAdded && is:
			added = append(added, i)
			names[path.Base(f.path)] = append(names[path.Base(f.path)], i)
		}
	}
	taken, over := map[int]bool{}, map[int]bool{}
	for _, g := range gone {
		old := w.files[g].path
		could := names[path.Base(old)]
		if to := slices.IndexFunc(added, func(i int) bool { return w.files[i].path == leads[old] }); to >= 0 {
			could = added[to : to+1]
		} else if len(could) == 0 && len(gone)*len(added) <= maxPairs {
			could = added
		}
		best, share := -1, alike
		for _, i := range could {
			if s := w.kept(old, w.files[i].path); !taken[i] && s >= share && (best < 0 || s > share) {
				best, share = i, s
			}
		}
		if best < 0 {
			continue
		}
		taken[best], over[g] = true, true
		f := &w.files[best]
		f.change, f.from = admin.AgentPageMoved, old
		_, f.added, f.removed = tool.Diff(f.path, w.before[old], w.after[f.path])
	}
	var files []file
	for i, f := range w.files {
		if !over[i] {
			files = append(files, f)
		}
	}
	w.files = files
}

// kept returns the share of a file's lines that another file has, too.
func (w *whole) kept(old, now string) float64 {
	a, b := w.before[old], w.after[now]
	if bytes.Equal(a, b) {
		return 1
	}
	_, added, removed := tool.Diff(now, a, b)
	lines := max(bytes.Count(a, []byte("\n")), bytes.Count(b, []byte("\n")), 1)
	return 1 - float64(max(added, removed))/float64(lines)
}

// linkTargets matches the addresses of links and imports in sources, with the syntax
// before them.
var linkTargets = lazy.Regexp(`(\]\(|\]:[ \t]*|\b(?:href|src|url|img)[ \t]*[=:][ \t]*["'{]*|\bfrom[ \t]+["'])[^\s"')}]*`)

// relinked reports whether nothing but addresses differs in a file.
func (w *whole) relinked(f file) bool {
	was, had := w.before[f.path]
	is, has := w.after[f.path]
	if !had || !has || f.change != admin.AgentPageChanged || f.added != f.removed {
		return false
	}
	return bytes.Equal(linkTargets().ReplaceAll(was, []byte("$1")), linkTargets().ReplaceAll(is, []byte("$1")))
}

// trip is where files were moved from and to: two folders, or two files.
type trip struct{ from, to string }

// tripOf is the trip of a moved file: the folders that differ in its two paths, and
// its paths where its name has changed.
func tripOf(f file) trip {
	from, to := f.from, f.path
	if path.Base(from) != path.Base(to) {
		return trip{from, to}
	}
	for from != "." && to != "." && path.Base(from) == path.Base(to) {
		from, to = path.Dir(from), path.Dir(to)
	}
	return trip{folder(from), folder(to)}
}

func folder(p string) string {
	if p == "." {
		return "the root"
	}
	return p + "/"
}

// summary returns a line for each group of changes: moves of several files, redirects,
// the navigation, and files in which only links differ. rest has the other files.
func (w *whole) summary() (lines []string, rest []file) {
	trips := map[trip][]file{}
	var order []trip
	relinked := 0
	moved := slices.ContainsFunc(w.files, func(f file) bool { return f.change == admin.AgentPageMoved })
	for _, f := range w.files {
		switch {
		case f.change == admin.AgentPageMoved:
			t := tripOf(f)
			if trips[t] == nil {
				order = append(order, t)
			}
			trips[t] = append(trips[t], f)
		case moved && w.relinked(f):
			relinked++
		default:
			rest = append(rest, f)
		}
	}
	for _, t := range order {
		files := trips[t]
		if len(files) == 1 {
			rest = append(rest, files[0])
			continue
		}
		what := "page"
		if !slices.ContainsFunc(files, func(f file) bool { return isPage(f.path) }) {
			what = "file"
		}
		lines = append(lines, tool.Plural(len(files), what)+" moved from "+code(t.from)+" to "+code(t.to))
	}
	slices.SortFunc(rest, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	if relinked > 0 {
		lines = append(lines, "links rewritten in "+tool.Plural(relinked, "file"))
	}
	lines = append(lines, few(w.site.Redirects, "new redirect")...)
	lines = append(lines, few(w.site.Gone, "removed redirect")...)
	for i, n := range w.site.Navigation {
		if i == maxListed {
			lines = append(lines, tool.Plural(len(w.site.Navigation)-i, "more change")+" of the navigation")
			break
		}
		lines = append(lines, "navigation: "+code(n))
	}
	return lines, rest
}

// few lists up to five texts, of more it says how many there are.
func few(texts []string, what string) []string {
	if len(texts) > 5 {
		return []string{tool.Plural(len(texts), what)}
	}
	var lines []string
	for _, t := range texts {
		lines = append(lines, what+" "+code(t))
	}
	return lines
}
