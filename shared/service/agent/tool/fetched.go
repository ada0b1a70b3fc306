package tool

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

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
	Label  string
	Commit string // its id
	// Path is the folder or file that was fetched, "" for the whole commit.
	Path  string
	Files Base
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
		s.fetched[f.Label] = a
	}
	a.add(f.Files, entries)
	a.commit, a.parts = f.Commit, append(a.parts, f.Path)
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
		{name: "path", about: "The folder or file to read, from the root of the repository. Default: everything. Name it if the repository is large."},
	},
	call: (*Set).fetch,
}

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
	var err error
	if f.Path, err = inRepository("path", a.text("path"), strings.TrimPrefix(a.text("path"), "./")); err != nil {
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
	if s.left <= 0 {
		return Result{}, refuse("the job has fetched as many commits as it may; work with those: %s", strings.Join(sortedKeys(s.fetched), ", "))
	}
	s.left--
	return Result{
		Text: fmt.Sprintf("Asked for %s. Your next turn begins with what came of it.", label),
		File: label + ":" + f.Path, Outcome: "asked for", Fetch: &f,
	}, nil
}

// History lists tags and commits of a repository.
type History struct {
	// Tags are sorted: first those of Commits, newest first.
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
				return "", refuse("ref: two commits begin with %s; give more digits", ref)
			}
			found = c.ID
		}
	}
	if found == "" {
		return ref, nil
	}
	return found, nil
}

// at returns the place of a tag's commit, or of the one that begins with an id.
func (h History) at(name string) (int, error) {
	id, tagged := strings.ToLower(name), h.tagged(name)
	for _, t := range h.Tags {
		if t.Name == name {
			id = t.Commit
		}
	}
	if commitForm().MatchString(id) {
		if i := slices.IndexFunc(h.Commits, func(c Commit) bool { return strings.HasPrefix(c.ID, id) }); i >= 0 {
			return i, nil
		}
	}
	if tagged {
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

// NewestTags returns the names of the newest tags, at most n.
func (h History) NewestTags(n int) []string {
	var names []string
	for _, t := range h.Tags[:min(n, len(h.Tags))] {
		names = append(names, t.Name)
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

// side returns the files of one side of a comparison: of a fetched commit, or of the
// repository as it was before the job.
func (s *Set) side(field, name string) (*area, error) {
	name = strings.TrimSuffix(name, ":")
	if name == ownRepository {
		a := newArea(outsideMark, "in the repository")
		entries := slices.Collect(maps.Values(s.tree.entries))
		if s.beside != nil {
			entries = append(entries, s.tree.beside...)
		}
		a.add(s.tree.base, entries)
		return a, nil
	}
	if a := s.fetched[name]; a != nil {
		return a, nil
	}
	return nil, refuse("%s: %.200q is not repo and is not fetched%s", field, name, s.fetchedList())
}

// compare shows the differences between two commits.
func (s *Set) compare(ctx context.Context, from, to *area, pattern string) (Result, error) {
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
		if !match(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		was, wasErr := from.side(p)
		is, isErr := to.side(p)
		if wasErr != nil || isErr != nil {
			if f, g := from.files[p], to.files[p]; f.Size != g.Size || f.LeftOut || g.LeftOut {
				unseen = append(unseen, p)
			}
			continue
		}
		if string(was) == string(is) && (was == nil) == (is == nil) {
			continue
		}
		files++
		text, plus, minus := Diff(p, was, is)
		added += plus
		removed += minus
		if b.Len()+len(text) > maxResult*3/4 {
			more = append(more, fmt.Sprintf("%s +%d -%d", p, plus, minus))
			continue
		}
		b.WriteString(text)
	}
	label := func(a *area) string { return strings.TrimSuffix(a.mark, ":") }
	outcome := fmt.Sprintf("%s, +%d -%d", Plural(files, "file"), added, removed)
	var out pages
	out.add("From %s to %s: %s", label(from), label(to), outcome)
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
	return Result{Text: out.end("files", "name a folder"), File: label(from) + ".." + label(to), Outcome: outcome}, nil
}

// side returns the text of a file as the model reads it, nil if there is no such file.
func (a *area) side(p string) ([]byte, error) {
	if _, ok := a.files[p]; !ok {
		return nil, nil
	}
	t, err := a.load(p)
	if err == nil && t.text == nil {
		t.text = []byte{}
	}
	return t.text, err
}
