package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// outsideMark begins the paths of files outside the site's folder. They are paths of the
// repository, such as "repo:src/server.go".
const outsideMark = "repo:"

// attachedMark begins the paths of files that the author of the request attached.
const attachedMark = "attachment:"

// isOutside reports whether a path or pattern names files outside the site's folder.
func isOutside(p string) bool {
	p = strings.TrimPrefix(p, "./")
	return strings.HasPrefix(p, outsideMark) || strings.HasPrefix(p, attachedMark) || p == ".." || strings.HasPrefix(p, "../")
}

// errOutside refuses a path of the repository to a tool that works on the site alone.
func errOutside(p string) error {
	return refuse("%.200q is outside the site's folder: only list, search and read accept it, and nothing there is changed", p)
}

// place finds what a path or pattern names: a path of the site's folder, or with outside
// one of the repository, which the project's settings must allow. A path of the
// repository that leads into the site's folder is one of the site's.
func (s *Set) place(field, p string) (at string, outside bool, err error) {
	if !isOutside(p) {
		return p, false, nil
	}
	at = strings.TrimPrefix(p, "./")
	if strings.HasPrefix(at, attachedMark) {
		return "", false, refuse("%s: read and search accept the path of an attachment, and no other tool", field)
	}
	if rest, ok := strings.CutPrefix(at, outsideMark); ok {
		at = rest
	} else {
		at = path.Join(s.tree.root, at)
		if s.tree.root == "" || at == ".." || strings.HasPrefix(at, "../") {
			return "", false, refuse("%s: %.200q is outside the repository", field, p)
		}
	}
	at = strings.TrimSuffix(strings.TrimPrefix(at, "/"), "/")
	if at == "." {
		at = ""
	}
	if at != "" && path.Clean(at) != at || at == ".." || strings.HasPrefix(at, "../") || strings.Contains(at, `\`) {
		return "", false, refuse("%s: %.200q is not a path of the repository, such as %ssrc/main.go", field, p, outsideMark)
	}
	if rel, err := below(at, s.tree.root); err == nil {
		return rel, false, nil
	}
	if at == s.tree.root {
		return "", false, nil
	}
	if !s.outside {
		return "", false, refuse("%s: %.200q is outside the site's folder, and the project's settings allow to read that folder alone", field, p)
	}
	return at, true, nil
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

// outsideText is the text of a file outside the site's folder, as a model reads it.
type outsideText struct {
	text   []byte
	masked int // number of secrets that are masked
}

// loadOutside reads a file outside the site's folder, by its path in the repository.
func (s *Set) loadOutside(p string) (outsideText, error) {
	e, ok := s.tree.beside[p]
	shown := outsideMark + p
	switch {
	case !ok:
		for _, have := range s.tree.besideNames {
			if strings.HasPrefix(have, p+"/") && unreadable(have) == "" {
				return outsideText{}, refuse("%s is a folder, not a file; list shows what is in it", shown)
			}
		}
		return outsideText{}, refuse("there is no file %.200q in the repository outside the site's folder", shown)
	case unreadable(p) != "":
		return outsideText{}, refuse("%s: %s", shown, unreadable(p))
	case e.LeftOut:
		return outsideText{}, refuse("%s: is left out, because the repository has more text outside the site's folder than a job reads", shown)
	case !e.Text:
		return outsideText{}, refuse("%s: %v (%s)", shown, ErrNotText, sizeOf(e))
	}
	return s.maskedText(e)
}

// maskedText reads a file and masks the secrets in it. It remembers the result.
func (s *Set) maskedText(e Entry) (outsideText, error) {
	if t, ok := s.masked[e.Path]; ok {
		return t, nil
	}
	src, err := s.tree.base.Read(e.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotText) {
			return outsideText{}, refuse("%s%s: %v", outsideMark, e.Path, ErrNotText)
		}
		return outsideText{}, refuse("%s%s can't be read", outsideMark, e.Path)
	}
	if isKubeconfig(e.Path, string(src)) {
		return outsideText{}, refuse("%s%s: is a kubeconfig, which has credentials; it is not read", outsideMark, e.Path)
	}
	t := outsideText{text: src}
	if text, n := masked(e.Path, string(src)); n > 0 {
		t = outsideText{[]byte(text), n}
	}
	s.masked[e.Path] = t
	return t, nil
}

// outsideFiles returns the files outside the site's folder that a model may know of,
// sorted, nil if the project's settings don't allow it.
func (s *Set) outsideFiles() []string {
	if !s.outside {
		return nil
	}
	if s.besideNames == nil {
		s.besideNames = make([]string, 0, len(s.tree.besideNames))
		for _, p := range s.tree.besideNames {
			if Readable(p) {
				s.besideNames = append(s.besideNames, p)
			}
		}
	}
	return s.besideNames
}

// outsideTexts calls fn with the texts of the files outside the site's folder that a
// pattern matches, with their secrets masked, until fn returns an error. It skips texts
// for which may returns false, before it looks for secrets. It returns the number of
// texts, and of matching files without a text because the repository has too much; all
// is false if it stopped at the limit of steps.
func (s *Set) outsideTexts(ctx context.Context, pattern string, steps *scan, may func([]byte) bool, fn func(p string, src []byte) error) (texts, left int, all bool, err error) {
	match, err := compileGlob(pattern)
	if err != nil {
		return 0, 0, false, err
	}
	for _, p := range s.outsideFiles() {
		if !match(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return texts, left, false, err
		}
		e := s.tree.beside[p]
		if e.LeftOut {
			left++
		}
		if !e.Text {
			continue
		}
		src, err := s.tree.base.Read(e.Path)
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
		t, err := s.maskedText(e)
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
