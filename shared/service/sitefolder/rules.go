// Package sitefolder knows which files of a folder are a site's: what is left out, by which
// name a file is published, and what makes a folder a site. All who publish ask it: the
// command line of its disk, the dashboard of a folder that a browser has.
//
//	rules.go  Rules: which files and folders are left out
//	names.go  Names: the paths of files in a snapshot; Config
package sitefolder

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/ignore"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
)

// IgnoreFile is the name of the file, at the root of a site, that lists what is not
// published, in the form of a .gitignore.
const IgnoreFile = ".mintignore"

// defaultIgnores are left out of every site unless its own file takes them
// back in with "!": hidden files, and what repositories hold beside a site.
// Well-known URIs (RFC 8615) are for readers.
const defaultIgnores = `
.*
!.well-known
!snippets/**/.*.mdx
!_snippets/**/.*.mdx
node_modules/
README.md
LICENSE.md
CHANGELOG.md
CONTRIBUTING.md
`

// Rules say which files of a folder are published. Paths have slashes and are below the
// folder.
type Rules struct {
	all  ignore.Rules // what is left out
	own  ignore.Rules // those of all that the site's author wrote
	show ignore.Rules // what is published although all leaves it out, unless own does
}

// ReadRules reads the rules of the site in fsys. It returns the errors of fsys.
func ReadRules(fsys fs.FS) (*Rules, error) {
	ignores, err := fs.ReadFile(fsys, IgnoreFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := rulesfile.Read(fsys, nil)
	if err != nil {
		return nil, err
	}
	return newRules(string(ignores), file), nil
}

// ParseRules are the rules of a site with these texts of its files IgnoreFile and
// rulesfile.Name; one that the site lacks is empty.
func ParseRules(ignores, file string) *Rules {
	return newRules(ignores, rulesfile.Parse([]byte(file), nil))
}

func newRules(ignores string, file *rulesfile.File) *Rules {
	r := &Rules{all: ignore.Parse(defaultIgnores + ignores), own: ignore.Parse(ignores)}
	if file != nil {
		r.show = file.Publish
	}
	return r
}

// LeavesOut reports whether a file or folder is left out. within means that its folder is:
// then only files that the site's own rules publish are not left out.
func (r *Rules) LeavesOut(name string, dir, within bool) bool {
	switch {
	case path.Base(name) == ".git" || r.own.Match(name, dir):
		return true
	case !within && !r.all.Match(name, dir):
		return false
	case dir:
		return !r.show.Below(name)
	}
	return !r.show.Selects(name)
}

// Within reports whether what is in a folder is left out, but for what the site's own
// rules publish. within says it of the folder that this one is in.
func (r *Rules) Within(dir string, within bool) bool { return within || r.all.Match(dir, true) }

// Publishes reports whether a file is published: that it is not left out, nor any
// folder above it.
func (r *Rules) Publishes(name string) bool { return r.reaches(name, false) }

// Enters reports whether a folder has to be looked into: it is not left out, nor any
// folder above it.
func (r *Rules) Enters(dir string) bool { return r.reaches(dir, true) }

func (r *Rules) reaches(name string, dir bool) bool {
	within := false
	for i, c := range name {
		if c != '/' {
			continue
		}
		if r.LeavesOut(name[:i], true, within) {
			return false
		}
		within = r.Within(name[:i], within)
	}
	return !strings.HasSuffix(name, "/") && !r.LeavesOut(name, dir, within)
}
