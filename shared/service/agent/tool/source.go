package tool

import (
	"errors"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Source names where a statement in the changes comes from: a file, a commit or a
// message. Reviewers read it in the pull request.
type Source struct {
	Statement string `json:"statement"`
	// Path is a file relative to the site's folder, or "repo:" and a path of the repository,
	// or that of a file of a fetched commit, or that of an attachment. Line is one of its lines from 1, 0 for the file.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	// Commit is the id of a commit, or how it begins.
	Commit string `json:"commit,omitempty"`
	// Message is the number of a message of the request's author, from 1; 0 for none.
	Message int `json:"message,omitempty"`
}

// Limits of the sources of a round.
const (
	maxSources   = 50
	maxStatement = 300
	maxMessage   = 1000
)

var sourcesParam = param{name: "sources", kind: objects, about: "Where statements come from that you added to pages, for the reviewer. Each has one of path, commit or message.", fields: []param{
	{name: "statement", required: true, about: "The statement, in one short sentence."},
	{name: "path", about: "The file that says so."},
	{name: "line", kind: number, least: 1, most: 10_000_000, about: "Its line in that file, as it is now."},
	{name: "commit", about: "The id of the commit that made it so."},
	{name: "message", kind: number, least: 1, most: maxMessage, about: "The number of the author's message that says so: 1 is the request."},
}}

var commitForm = lazy.Regexp(`^[0-9a-f]{7,64}$`)

// sources reads and checks the sources in the input of finish.
func (s *Set) sources(a args) ([]Source, error) {
	list := a["sources"]
	if list == nil {
		return nil, nil
	}
	if len(list.Items) > maxSources {
		return nil, refuse("sources: has %d entries; the limit is %d", len(list.Items), maxSources)
	}
	var all []Source
	for i, item := range list.Items {
		f, err := fields(sourcesParam.fields, item)
		if err != nil {
			return nil, err
		}
		x := Source{
			Statement: strings.Join(strings.Fields(f.text("statement")), " "),
			Line:      f.number("line", 0), Commit: strings.ToLower(f.text("commit")), Message: f.number("message", 0),
		}
		var text []byte
		if x.Path, text, err = s.sourceFile(i, f); err != nil {
			return nil, err
		}
		named := 0
		for _, has := range []bool{x.Path != "", x.Commit != "", x.Message > 0} {
			if has {
				named++
			}
		}
		switch {
		case x.Statement == "" || len(x.Statement) > maxStatement:
			return nil, refuse("sources[%d].statement: has %d bytes; 1 to %d are allowed", i, len(x.Statement), maxStatement)
		case len(secrets("", x.Statement)) > 0:
			return nil, refuse("sources[%d].statement: looks like a secret. Describe it without", i)
		case named != 1:
			return nil, refuse("sources[%d]: must have one of path, commit and message", i)
		case x.Commit != "" && !commitForm().MatchString(x.Commit):
			return nil, refuse("sources[%d].commit: %.80q is not the id of a commit", i, x.Commit)
		case x.Line > 0 && x.Path == "":
			return nil, refuse("sources[%d].line: is a line of what file? Give its path", i)
		}
		if n := len(linesOf(text)); x.Line > n {
			return nil, refuse("sources[%d].line: %s has %s, not %d", i, x.Path, Plural(n, "line"), x.Line)
		}
		all = append(all, x)
	}
	return all, nil
}

// sourceFile returns the file of a source, as its path is written in the record of the
// round, and its text: "" without a path.
func (s *Set) sourceFile(i int, f args) (p string, text []byte, err error) {
	asked := strings.TrimPrefix(f.text("path"), "./")
	if strings.HasPrefix(asked, attachedMark) {
		text, err = s.loadAttached(asked)
		return asked, text, err
	}
	if isOutside(asked) {
		at, in, err := s.place("path", asked)
		if err != nil {
			return "", nil, err
		}
		if in != nil {
			t, err := in.load(at)
			return in.mark + at, t.text, err
		}
		asked = at
	} else if asked, err = f.path("path"); err != nil || asked == "" {
		return "", nil, err
	}
	if !s.tree.exists(asked) {
		return "", nil, refuse("sources[%d].path: there is no file %s", i, asked)
	}
	if text, err = s.tree.read(asked); err != nil && !errors.Is(err, ErrNotText) {
		return "", nil, refuse("sources[%d].path: %s can't be read", i, asked)
	}
	return asked, text, nil
}

// RepositoryPath returns the path of a file in its repository, given the site's folder and
// the path of a Source, and the label of the fetched commit that has the file, "" for the
// site's own repository as it is. It reports false for an attachment.
func RepositoryPath(root, p string) (label, at string, ok bool) {
	if rest, ok := strings.CutPrefix(p, outsideMark); ok {
		return "", rest, true
	}
	if m := fetchedForm().FindStringSubmatch(p); m != nil {
		return m[1], p[len(m[0]):], true
	}
	return "", path.Join(root, p), !strings.HasPrefix(p, attachedMark)
}
