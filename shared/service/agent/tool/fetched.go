package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Names of tools that a job may lack.
const (
	historyName = "history"
	fetchName   = "fetch"
)

// ownRepository names the repository of the site where a call names a repository.
const ownRepository = "repo"

// Fetch asks for a commit of a repository.
type Fetch struct {
	// Repository is "repo" for the site's own, or one of Options.Repositories.
	Repository string `json:"repository"`
	// Ref is a branch, a tag or the id of a commit.
	Ref string `json:"ref"`
	// Path is the folder or file to read, "" for the whole commit.
	Path string `json:"path,omitempty"`
}

// Label begins the paths of a fetched commit's files, before a colon: "repo@v1.4". The id
// of a commit is cut to 12 digits.
func Label(repository, ref string) string {
	if len(ref) == 40 && commitForm().MatchString(ref) {
		ref = ref[:12]
	}
	return repository + "@" + ref
}

// Fetched is a commit that was fetched.
type Fetched struct {
	Label string
	// Path is the folder or file that was fetched, "" for the whole commit. Listed is set if
	// the names of its files were fetched and not their texts, because there is too much.
	Path   string
	Listed bool
	Files  Base
}

// Mount adds the files of a fetched commit to those that list, search, read and diff
// show. Two commits of one label are parts of the same one.
func (s *Set) Mount(f Fetched) error {
	entries := f.Files.Paths()
	for _, e := range entries {
		if !fs.ValidPath(e.Path) {
			return fmt.Errorf("%q: is not a path of a file", e.Path)
		}
	}
	a := s.fetched[f.Label]
	if a == nil {
		a = newArea(f.Label+":", "in "+f.Label)
		a.fetched = true
		s.fetched[f.Label] = a
	}
	a.add(f.Files, entries)
	if !f.Listed {
		a.parts = append(a.parts, f.Path)
	}
	return nil
}

// fetchedList names what can be used in place of a commit that is not fetched.
func (s *Set) fetchedList() string {
	switch {
	case len(s.fetched) > 0:
		return "; there are: " + strings.Join(sortedKeys(s.fetched), ", ")
	case s.has(fetchName):
		return ": call fetch first"
	}
	return ", and the project's settings allow to fetch nothing"
}

var fetchTool = definition{
	name: fetchName,
	about: "Asks for another commit of the repository, or for one of a further repository that the project's settings name, to read it. " +
		"It ends your turn: the next one begins with what came of it. Then list, search, read and diff show the files, read-only, with paths such as repo@v1.4:src/main.go. Secrets are masked.",
	params: []param{
		{name: "repository", about: "repo for the site's own repository, or the name of another one. Default repo."},
		{name: "ref", required: true, about: "A branch, a tag, or the id of a commit, which history shows."},
		{name: "path", about: "The folder or file to read, from the root of the repository. Default: everything. Name it if there is much text."},
	},
	call: (*Set).fetch,
}

// maxFetchPath is the longest path of a fetch, in bytes.
const maxFetchPath = 1000

// refForm matches names that Git allows, and a little more.
var refForm = lazy.Regexp(`^[^\s:~^?*\[\\\x00-\x20\x7f-][^\s:~^?*\[\\\x00-\x20\x7f]{0,199}$`)

func (s *Set) fetch(_ context.Context, a args) (Result, error) {
	f := Fetch{Repository: a.text("repository"), Ref: strings.TrimSpace(a.text("ref"))}
	if f.Repository == "" {
		f.Repository = ownRepository
	}
	switch {
	case !slices.Contains(s.repositories, f.Repository) && f.Repository == ownRepository:
		return Result{}, refuse("repository: the project's settings allow to read the site's folder alone; these can be fetched: %s", strings.Join(s.repositories, ", "))
	case !slices.Contains(s.repositories, f.Repository):
		return Result{}, refuse("repository: %.80q is not one that the project's settings name: %s", f.Repository, strings.Join(s.repositories, ", "))
	case !refForm().MatchString(f.Ref) || strings.Contains(f.Ref, ".."):
		return Result{}, refuse("ref: %.200q is not the name of a branch or tag, and not the id of a commit", f.Ref)
	}
	path := strings.TrimPrefix(a.text("path"), "./")
	if len(path) > maxFetchPath || strings.ContainsFunc(path, unicode.IsControl) {
		return Result{}, refuse("path: must have at most %d bytes and no control characters", maxFetchPath)
	}
	var err error
	if f.Path, err = inRepository("path", path, path); err != nil {
		return Result{}, err
	}
	if f.Repository == ownRepository && !s.history.tagged(f.Ref) {
		if f.Ref, err = s.history.whole(f.Ref); err != nil {
			return Result{}, err
		}
	}
	label := Label(f.Repository, f.Ref)
	if had := s.fetched[label]; had != nil && (slices.Contains(had.parts, "") || slices.Contains(had.parts, f.Path)) {
		return Result{}, refuse("%s is fetched already: its paths begin with %s", label, had.mark)
	}
	if slices.Contains(s.asked, f) {
		return Result{}, refuse("%s is asked for already: your next turn begins with what came of it", label)
	}
	if s.left <= 0 {
		return Result{}, refuse("the job has fetched as many commits as it may; work with those: %s", strings.Join(sortedKeys(s.fetched), ", "))
	}
	s.left--
	s.asked = append(s.asked, f)
	return Result{
		Text: fmt.Sprintf("Asked for %s. Your next turn begins with what came of it.", label),
		File: strings.TrimSuffix(label+":"+f.Path, ":"), Outcome: "asked for", Fetch: &f,
	}, nil
}

// History lists tags and commits of a repository.
type History struct {
	// Tags are sorted: first those of Commits, newest first, then the others by their
	// names, from the highest number.
	Tags []Tag `json:"tags,omitempty"`
	// Commits are the newest ones below the commit that the job began from, newest first.
	// They are empty if the forge does not list commits without their files.
	Commits []Commit `json:"commits,omitempty"`
}

// Tag is a tag of a repository.
type Tag struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

// Commit is a commit in a History.
type Commit struct {
	ID      string    `json:"id"`
	When    time.Time `json:"when"`
	Subject string    `json:"subject,omitempty"`
	// Parents are the places of its parents in History.Commits, as far as they are there.
	Parents []int `json:"parents,omitempty"`
}

// tagged reports whether there is a tag of that name.
func (h History) tagged(name string) bool {
	return slices.ContainsFunc(h.Tags, func(t Tag) bool { return t.Name == name })
}

// whole returns the id of the commit that begins with ref, or ref if none does.
func (h History) whole(ref string) (string, error) {
	id := strings.ToLower(ref)
	if !commitForm().MatchString(id) {
		return ref, nil
	}
	found := ""
	for _, c := range h.Commits {
		if strings.HasPrefix(c.ID, id) {
			if found != "" {
				return "", refuse("two commits begin with %s; give more digits", ref)
			}
			found = c.ID
		}
	}
	return cmp.Or(found, ref), nil
}

// at returns the place of a tag's commit, or of the one that begins with an id.
func (h History) at(name string) (int, error) {
	id, err := h.whole(name)
	if err != nil {
		return 0, err
	}
	tagged := false
	for _, t := range h.Tags {
		if t.Name == name {
			id, tagged = t.Commit, true
		}
	}
	i := slices.IndexFunc(h.Commits, func(c Commit) bool { return c.ID == id })
	switch {
	case i >= 0:
		return i, nil
	case len(h.Commits) == 0:
		return 0, refuse("since: the forge lists no commits, only tags: fetch %s, and see with diff what changed", name)
	case tagged:
		return 0, refuse("since: %s is not among the last %s, so more may have been made since: fetch it, and see with diff what changed", name, Plural(len(h.Commits), "commit"))
	}
	return 0, refuse("since: %.200q is not a tag or commit among the last %s", name, Plural(len(h.Commits), "commit"))
}

// contains returns which commits a commit is made on, with itself.
func (h History) contains(from int) []bool {
	in := make([]bool, len(h.Commits))
	for next := []int{from}; len(next) > 0; {
		i := next[len(next)-1]
		if next = next[:len(next)-1]; !in[i] {
			in[i] = true
			next = append(next, h.Commits[i].Parents...)
		}
	}
	return in
}

// NewestTags returns the names of the newest tags of Commits, at most n.
func (h History) NewestTags(n int) (names []string) {
	for _, t := range h.Tags {
		if len(names) < n && slices.ContainsFunc(h.Commits, func(c Commit) bool { return c.ID == t.Commit }) {
			names = append(names, t.Name)
		}
	}
	return names
}

var historyTool = definition{
	name:  historyName,
	about: "Lists the last commits of the repository with their dates, subjects and tags, newest first, then its older tags. fetch shows the files of one, diff what changed between two.",
	params: []param{
		{name: "since", about: "A tag or the id of a commit: lists the commits that it does not contain. Default: all."},
		{name: "matching", about: "Lists only commits with this text in subject, id or tag, in any case. Default: all."},
		{name: "from", kind: number, least: 1, most: 1000, about: "The first line to show, from 1. Default 1."},
	},
	call: (*Set).showHistory,
}

func (s *Set) showHistory(_ context.Context, a args) (Result, error) {
	h := s.history
	if len(h.Commits)+len(h.Tags) == 0 {
		return Result{}, refuse("the forge lists no commits and tags of the repository")
	}
	hidden := make([]bool, len(h.Commits))
	since := a.text("since")
	if since != "" {
		at, err := h.at(since)
		if err != nil {
			return Result{}, err
		}
		hidden = h.contains(at)
	}
	tags := map[string][]string{}
	for _, t := range h.Tags {
		tags[t.Commit] = append(tags[t.Commit], t.Name)
	}
	var lines []string
	add := func(line string) {
		if strings.Contains(strings.ToLower(line), strings.ToLower(a.text("matching"))) {
			lines = append(lines, line)
		}
	}
	for i, c := range h.Commits {
		if named := tags[c.ID]; !hidden[i] {
			line := fmt.Sprintf("%.12s %s %s", c.ID, c.When.Format(time.DateOnly), c.Subject)
			if len(named) > 0 {
				line += " (tags: " + strings.Join(named, ", ") + ")"
			}
			add(line)
		}
		delete(tags, c.ID)
	}
	commits := len(lines)
	if since == "" {
		for _, t := range h.Tags {
			if tags[t.Commit] != nil {
				add(fmt.Sprintf("%.12s tag %s", t.Commit, t.Name))
			}
		}
	}
	from := a.number("from", 1)
	if from > len(lines) {
		return Result{Text: "There are no such commits.", Outcome: Plural(len(lines), "line")}, nil
	}
	var b pages
	for _, line := range lines[from-1:] {
		b.add("%s", line)
	}
	text := b.end("lines", fmt.Sprintf("go on with from=%d", len(lines)-b.more+1))
	return Result{Text: text, Outcome: Plural(commits, "commit")}, nil
}

// areaOf returns the files of one side of a comparison: of a fetched commit, or of the
// repository as it was before the job.
func (s *Set) areaOf(field, name string) (*area, error) {
	name = strings.TrimSuffix(name, ":")
	if name == ownRepository {
		a := newArea(outsideMark, "in the repository")
		a.parts = []string{""}
		entries := slices.Collect(maps.Values(s.tree.entries))
		if s.beside != nil {
			entries = append(entries, s.tree.beside...)
		} else {
			a.parts = []string{s.tree.root}
		}
		a.add(s.tree.base, entries)
		return a, nil
	}
	if a := s.fetched[name]; a != nil {
		return a, nil
	}
	return nil, refuse("%s: %.200q is not repo and is not fetched%s", field, name, s.fetchedList())
}

// covers reports whether an area has the file at a path if its commit has it.
func (a *area) covers(p string) bool {
	return slices.ContainsFunc(a.parts, func(part string) bool { return part == "" || p == part || strings.HasPrefix(p, part+"/") })
}

// partial describes what an area covers of its commit, "" if that is all.
func (a *area) partial() string {
	switch {
	case slices.Contains(a.parts, ""):
		return ""
	case len(a.parts) == 0:
		return fmt.Sprintf("Of %s, no text is fetched. ", a.label())
	}
	return fmt.Sprintf("Of %s, only this is fetched: %s. ", a.label(), strings.Join(a.parts, ", "))
}

func (a *area) label() string { return strings.TrimSuffix(a.mark, ":") }

// compare shows the differences between two commits, from a line of the first file's
// difference on.
func (s *Set) compare(ctx context.Context, from, to *area, pattern string, first int) (Result, error) {
	for _, a := range []*area{from, to} {
		pattern = strings.TrimPrefix(pattern, a.mark)
	}
	match, err := compileGlob(pattern)
	if err != nil {
		return Result{}, err
	}
	names := slices.Concat(from.known(), to.known())
	slices.Sort(names)
	var b strings.Builder
	var more, unseen []string
	files, added, removed := 0, 0, 0
	for _, p := range slices.Compact(names) {
		if !match(p) || !from.covers(p) || !to.covers(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		was, wasKnown := from.bytes(p)
		is, isKnown := to.bytes(p)
		if !wasKnown || !isKnown {
			if f, g := from.files[p], to.files[p]; f.ID == "" || f.ID != g.ID {
				unseen = append(unseen, p)
			}
			continue
		}
		if bytes.Equal(was, is) && (was == nil) == (is == nil) {
			continue
		}
		files++
		_, plus, minus := Diff(p, was, is)
		added, removed = added+plus, removed+minus
		if b.Len() >= maxCompared {
			more = append(more, fmt.Sprintf("%s +%d -%d", p, plus, minus))
			continue
		}
		// Secrets are masked in what is shown.
		seen, err := from.textAt(p)
		if err == nil {
			is, err = to.textAt(p)
		}
		if err != nil {
			unseen = append(unseen, p)
			continue
		}
		switch text, _, _ := Diff(p, seen, is); {
		case b.Len()+len(text) <= maxCompared && first == 1:
			b.WriteString(text)
		case files == 1:
			b.WriteString(part(text, first, maxCompared))
		default:
			more = append(more, fmt.Sprintf("%s +%d -%d", p, plus, minus))
		}
	}
	outcome := fmt.Sprintf("%s, +%d -%d", Plural(files, "file"), added, removed)
	var out pages
	out.add("%s", strings.TrimSpace(fmt.Sprintf("From %s to %s: %s. %s%s", from.label(), to.label(), outcome, from.partial(), to.partial())))
	out.WriteString(b.String())
	if len(more) > 0 {
		out.add("Not shown, because the result would be too long; name one of them, or a folder, with path:")
	}
	for _, line := range more {
		out.add("%s", line)
	}
	if len(unseen) > 0 {
		out.add("Different or not known, and not shown, because they are not text, are left out or have credentials: %s", strings.Join(unseen[:min(len(unseen), 50)], ", "))
	}
	return Result{Text: out.end("files", "name a folder"), File: from.label() + ".." + to.label(), Outcome: outcome}, nil
}

// maxCompared limits the differences that one result of diff shows, in bytes.
const maxCompared = maxResult * 3 / 4

// part returns the lines of a text from one on, counted from 1, as many as fit into most
// bytes, and says how to see more.
func part(text string, first, most int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if first > len(lines) {
		return fmt.Sprintf("The difference has %s.\n", Plural(len(lines), "line"))
	}
	var b strings.Builder
	for i, line := range lines[first-1:] {
		if b.Len()+len(line) > most {
			fmt.Fprintf(&b, "… %d more lines of this file's difference; go on with line=%d\n", len(lines)-first-i+1, first+i)
			return b.String()
		}
		b.WriteString(line)
	}
	b.WriteByte('\n')
	return b.String()
}

// bytes returns the content of a file, nil if there is no such file. It reports false for
// a file without text.
func (a *area) bytes(p string) ([]byte, bool) {
	f, ok := a.files[p]
	if !ok {
		return nil, true
	}
	src, err := f.base.Read(p)
	if src == nil {
		src = []byte{}
	}
	return src, f.Text && err == nil
}

// textAt returns the text of a file as the model reads it, nil if there is no such file.
func (a *area) textAt(p string) ([]byte, error) {
	if _, ok := a.files[p]; !ok {
		return nil, nil
	}
	t, err := a.load(p)
	if err == nil && t.text == nil {
		t.text = []byte{}
	}
	return t.text, err
}
