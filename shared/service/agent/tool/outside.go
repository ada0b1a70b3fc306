package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// outsideMark begins the paths of files outside the site's folder. They are paths of the
// repository, such as "repo:src/server.go".
const outsideMark = "repo:"

// attachedMark begins the paths of files that the author of the request attached.
const attachedMark = "attachment:"

// fetchedForm matches the paths of files of fetched commits, as "repo@v1.4:src/server.go".
var fetchedForm = lazy.Regexp(`^([a-z0-9][a-z0-9-]*@[^\s:]+):`)

// isOutside reports whether a path or pattern names files that are not the site's.
func isOutside(p string) bool {
	p = strings.TrimPrefix(p, "./")
	return strings.HasPrefix(p, outsideMark) || strings.HasPrefix(p, attachedMark) || p == ".." || strings.HasPrefix(p, "../") || fetchedForm().MatchString(p)
}

// errOutside refuses a path of the repository to a tool that works on the site alone.
func errOutside(p string) error {
	return refuse("%.200q is outside the site's folder: only tools that read accept it, and nothing there is changed", p)
}

// area holds files that list, search and read show and that no tool changes: those of the
// repository outside the site's folder, or those of a fetched commit.
type area struct {
	mark  string // begins the paths of its files: "repo:" or "repo@v1.4:"
	where string // where they are, for messages: "in the repository outside the site's folder"

	files map[string]areaFile // by path in the repository
	names []string            // the paths, sorted
	// parts are the folders and files of its commit that it has, "" for all. fetched is set
	// for the files of a fetched commit.
	parts   []string
	fetched bool
	// readable are the names that the model may know of, nil if not known; masked are texts
	// as it reads them, by path.
	readable []string
	masked   map[string]outsideText
}

type areaFile struct {
	Entry
	base Base
}

func newArea(mark, where string) *area {
	return &area{mark: mark, where: where, files: map[string]areaFile{}, masked: map[string]outsideText{}}
}

// add adds files of a repository. Of two files of one path, the one with a text counts.
func (a *area) add(base Base, entries []Entry) {
	for _, e := range entries {
		old, had := a.files[e.Path]
		if !had {
			a.names = append(a.names, e.Path)
		}
		if !old.Text {
			a.files[e.Path] = areaFile{e, base}
		}
	}
	slices.Sort(a.names)
	a.readable = nil
}

// place finds what a path or pattern names: a path of the site's folder, where the area is
// nil, or a path of an area. The project's settings must allow to read outside the site's
// folder. A path of the repository that leads into that folder is one of the site's.
func (s *Set) place(field, p string) (at string, in *area, err error) {
	if !isOutside(p) {
		return p, nil, nil
	}
	at = strings.TrimPrefix(p, "./")
	if strings.HasPrefix(at, attachedMark) {
		return "", nil, refuse("%s: read and search accept the path of an attachment, and no other tool", field)
	}
	if m := fetchedForm().FindStringSubmatch(at); m != nil {
		in = s.fetched[m[1]]
		if in == nil {
			return "", nil, refuse("%s: %.200q is not fetched%s", field, m[1], s.fetchedList())
		}
		at, err = inRepository(field, p, at[len(m[0]):])
		return at, in, err
	}
	if rest, ok := strings.CutPrefix(at, outsideMark); ok {
		at = rest
	} else {
		at = path.Join(s.tree.root, at)
		if s.tree.root == "" || at == ".." || strings.HasPrefix(at, "../") {
			return "", nil, refuse("%s: %.200q is outside the repository", field, p)
		}
	}
	if at, err = inRepository(field, p, at); err != nil {
		return "", nil, err
	}
	if rel, err := below(at, s.tree.root); err == nil {
		return rel, nil, nil
	}
	if at == s.tree.root {
		return "", nil, nil
	}
	if s.beside == nil {
		return "", nil, refuse("%s: %.200q is outside the site's folder, and the project's settings allow to read that folder alone", field, p)
	}
	return at, s.beside, nil
}

// inRepository returns the path of a repository that is part of p, "" for all of it.
func inRepository(field, p, at string) (string, error) {
	at = strings.TrimSuffix(strings.TrimPrefix(at, "/"), "/")
	if at == "." {
		at = ""
	}
	if at != "" && path.Clean(at) != at || at == ".." || strings.HasPrefix(at, "../") || strings.Contains(at, `\`) {
		return "", refuse("%s: %.200q is not a path of the repository, such as %ssrc/main.go", field, p, outsideMark)
	}
	return at, nil
}

// unreadable returns why a file is never read, for its name alone; "" if it may be.
func unreadable(p string) string {
	switch {
	case isPrivate(p):
		return "programs keep credentials in a file of this name; it is not read"
	case p[0] == '.' && !strings.HasPrefix(p, ".well-known/") || strings.Contains(p, "/."):
		return "files and folders with a name that begins with a dot are not read"
	}
	return ""
}

// Readable reports whether an agent may read a file of this name outside the site's
// folder, if it may read there at all. Its text can still be refused.
func Readable(p string) bool {
	return unreadable(p) == "" && !dotted(p) && !strings.Contains(p, "/node_modules/")
}

// kubeconfig finds what makes a file one: it has credentials whatever its name is.
var kubeconfig = lazy.Regexp(`\bkind["']?[ \t]*:[ \t]*["']?Config\b`)

// isKubeconfig reports whether a file of data is the configuration of a client of
// Kubernetes. Pages and code that quote one are not: their secrets are masked.
func isKubeconfig(p, text string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case "", ".yaml", ".yml", ".json", ".conf", ".cfg", ".config", ".txt", ".bak":
		return strings.Contains(text, "clusters") && (strings.Contains(text, "users") || strings.Contains(text, "contexts")) && kubeconfig().MatchString(text)
	}
	return false
}

// outsideText is the text of a file of an area, as a model reads it.
type outsideText struct {
	text   []byte
	masked int // number of secrets that are masked
}

// load reads a file.
func (a *area) load(p string) (outsideText, error) {
	f, ok := a.files[p]
	shown := a.mark + p
	switch {
	case !ok:
		for _, have := range a.names {
			if strings.HasPrefix(have, p+"/") && unreadable(have) == "" {
				return outsideText{}, refuse("%s is a folder, not a file; list shows what is in it", shown)
			}
		}
		return outsideText{}, refuse("there is no file %.200q %s", shown, a.where)
	case unreadable(p) != "":
		return outsideText{}, refuse("%s: %s", shown, unreadable(p))
	case f.LeftOut:
		return outsideText{}, refuse("%s: is left out, because there is more text than a job reads", shown)
	case !f.Text:
		return outsideText{}, refuse("%s: %v (%s)", shown, ErrNotText, sizeOf(f.Entry))
	}
	return a.text(f)
}

// text reads a file and masks the secrets in it. It remembers the result.
func (a *area) text(f areaFile) (outsideText, error) {
	if t, ok := a.masked[f.Path]; ok {
		return t, nil
	}
	src, err := f.base.Read(f.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotText) {
			return outsideText{}, refuse("%s%s: %v", a.mark, f.Path, ErrNotText)
		}
		return outsideText{}, refuse("%s%s can't be read", a.mark, f.Path)
	}
	if isKubeconfig(f.Path, string(src)) {
		return outsideText{}, refuse("%s%s: is a kubeconfig, which has credentials; it is not read", a.mark, f.Path)
	}
	t := outsideText{text: src}
	if text, n := masked(f.Path, string(src)); n > 0 {
		t = outsideText{[]byte(text), n}
	}
	a.masked[f.Path] = t
	return t, nil
}

// known returns the files that a model may know of, sorted. An area that is nil has none.
func (a *area) known() []string {
	if a == nil {
		return nil
	}
	if a.readable == nil {
		a.readable = make([]string, 0, len(a.names))
		for _, p := range a.names {
			if Readable(p) {
				a.readable = append(a.readable, p)
			}
		}
	}
	return a.readable
}

// texts calls fn with the texts of the files that a pattern matches, with their secrets
// masked, until fn returns an error. It skips texts for which may returns false, before
// it looks for secrets. It returns the number of texts, and of matching files without a
// text because there is too much; all is false if it stopped at the limit of steps.
func (a *area) texts(ctx context.Context, pattern string, steps *scan, may func([]byte) bool, fn func(p string, src []byte) error) (texts, left int, all bool, err error) {
	match, err := compileGlob(pattern)
	if err != nil {
		return 0, 0, false, err
	}
	for _, p := range a.known() {
		if !match(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return texts, left, false, err
		}
		f := a.files[p]
		if f.LeftOut {
			left++
		}
		if !f.Text {
			continue
		}
		src, err := f.base.Read(p)
		if err != nil {
			continue
		}
		if !steps.more(len(src)) {
			return texts, left, false, nil
		}
		texts++
		if !may(src) {
			continue
		}
		t, err := a.text(f)
		if err != nil {
			continue // a kubeconfig
		}
		if err := fn(p, t.text); err != nil {
			return texts, left, false, err
		}
	}
	return texts, left, true, nil
}

// sizeOf describes the size of a file.
func sizeOf(e Entry) string {
	switch {
	case e.LeftOut:
		return fmt.Sprintf("%d bytes, left out", e.Size)
	case e.Size < 0:
		return "not text"
	case !e.Text:
		return fmt.Sprintf("%d bytes, not text", e.Size)
	}
	return fmt.Sprintf("%d bytes", e.Size)
}
