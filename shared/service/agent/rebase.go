package agent

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/agent/merge"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// Conflict is a change that could not be made, since others changed the same place.
type Conflict struct {
	Path string
	// Lines are those of the file as it is now, such as "7-9"; "" for the whole file.
	Lines string
	// Reason describes the change of others; Lost is our text of the place.
	Reason, Lost string
}

// String returns place, reason and text.
func (c Conflict) String() string {
	s := c.Place() + ": " + c.Reason
	if c.Lost != "" {
		s += "; the text that was lost:\n" + strings.TrimSuffix(Cut(c.Lost, maxRemembered), "\n")
	}
	return s
}

// Place returns the path, with the lines if they are known.
func (c Conflict) Place() string {
	if c.Lines == "" {
		return c.Path
	}
	return c.Path + ":" + c.Lines
}

// Rebase makes changes of one state of a repository in another one. Where others changed
// the same file, it merges line by line, and the site's configuration by its entries. Of what conflicts, the result has the others'
// text. Changes that are there already are left out.
func Rebase(from *Repository, changes []tool.Change, onto *Repository) (merged []tool.Change, conflicts []Conflict) {
	before, now := from.byPath(), onto.byPath()
	conflict := func(c tool.Change, reason string) {
		conflicts = append(conflicts, Conflict{Path: c.Path, Reason: reason})
	}
	for _, c := range changes {
		was, had := before[c.Path]
		is, has := now[c.Path]
		old, text := from.Texts[c.Path], onto.Texts[c.Path]
		same := had == has && was.Text == is.Text && was.Plain == is.Plain && (is.Text || was.Size == is.Size) && bytes.Equal(old, text)
		switch {
		case same:
			merged = append(merged, c)
		case c.Delete && !has, !c.Delete && has && is.Text && is.Plain && bytes.Equal(c.Content, text):
			// It is there already.
		case c.Delete:
			conflict(c, "others changed the file, which the agent deleted")
		case !has:
			conflict(c, "others deleted the file, which the agent changed")
		case !is.Text || !is.Plain:
			conflict(c, "the file is no plain text file any more")
		default:
			b, places := join(c.Path, old, c.Content, text)
			conflicts = append(conflicts, places...)
			if !bytes.Equal(b, text) {
				merged = append(merged, tool.Change{Path: c.Path, Content: b})
			}
		}
	}
	return merged, conflicts
}

// configurations are the files that are merged by their entries.
var configurations = map[string]bool{"docs.json": true, "mint.json": true}

// join merges the texts of one file.
func join(file string, base, ours, theirs []byte) ([]byte, []Conflict) {
	var conflicts []Conflict
	if configurations[path.Base(file)] {
		if b, places, ok := merge.JSON(base, ours, theirs); ok {
			for _, p := range places {
				conflicts = append(conflicts, Conflict{Path: file, Lost: p.Lost, Reason: "others changed " + cmp.Or(p.Path, "it") + ", too"})
			}
			return b, conflicts
		}
	}
	b, places := merge.Text(base, ours, theirs)
	for _, p := range places {
		conflicts = append(conflicts, Conflict{Path: file, Lines: p.String(), Lost: p.Lost, Reason: "others changed the same lines"})
	}
	return b, conflicts
}

// byPath returns the files by their paths.
func (r *Repository) byPath() map[string]tool.Entry {
	all := make(map[string]tool.Entry, len(r.Entries))
	for _, e := range r.Entries {
		all[e.Path] = e
	}
	return all
}
