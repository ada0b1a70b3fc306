package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tag is a tag of a repository.
type Tag struct {
	Name string
	// Commit is the id of the commit that the tag leads to. An annotated tag of something
	// else has that id.
	Commit string
}

// tagList returns the tags of a server, sorted by name.
func (s *server) tagList() (all []Tag) {
	for name, id := range s.refs {
		if short, ok := strings.CutPrefix(name, "refs/tags/"); ok {
			all = append(all, Tag{short, cmp.Or(s.tags[name], id)})
		}
	}
	slices.SortFunc(all, func(a, b Tag) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// LogEntry is a commit in a history.
type LogEntry struct {
	ID string
	// When is the time of the commit, zero if it is not in the years 1970 to 9999. Subject is
	// the first paragraph of its message in one line.
	When    time.Time
	Subject string
	Parents []string // ids
}

// Log returns the newest n of the commits within n generations of the tree's commit,
// that one included. It fetches no files. It returns nothing if the server can't omit
// files or history. Errors are those of Fetch.
func (t *Tree) Log(ctx context.Context, n int) (all []LogEntry, err error) {
	err = t.forge.do(ctx, "log", t.Repository, func(c Credential) error {
		s, err := t.forge.connect(ctx, t.Repository, c, uploadPack)
		if err != nil || !s.can("filter") || !s.can("shallow") {
			return err
		}
		all, err = s.log(ctx, t.Commit, n)
		return err
	})
	return all[:min(n, len(all))], err
}

// log returns the commits of a number of generations up to a commit, newest first.
func (s *server) log(ctx context.Context, id string, depth int) (all []LogEntry, err error) {
	p, err := newPack(s.f.opt.TempDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var ask bytes.Buffer
	writeLine(&ask, "want "+id+" "+s.words("ofs-delta", "side-band-64k", "filter", "shallow")+"\n")
	writeLine(&ask, "deepen "+strconv.Itoa(depth)+"\n")
	writeLine(&ask, "filter tree:0\n")
	ask.WriteString("0000")
	writeLine(&ask, "done\n")
	if _, err := s.receive(ctx, p, &ask); err != nil {
		return nil, err
	}
	var ids []string
	if err := p.history(id, func(id string, has bool) bool {
		if has {
			ids = append(ids, id)
		}
		return true
	}); err != nil {
		return nil, err
	}
	for _, id := range ids {
		data, err := p.object("commit", id)
		if err != nil {
			return nil, err
		}
		all = append(all, logEntry(id, data))
	}
	// Of commits in the same second, history has a child before its parents.
	slices.SortStableFunc(all, func(a, b LogEntry) int { return b.When.Compare(a.When) })
	return all, nil
}

// lastSecond is the last one of the year 9999: RFC 3339, and so JSON, has no later one.
const lastSecond = 253402300799

// logEntry reads a commit.
func logEntry(id string, data []byte) LogEntry {
	e := LogEntry{ID: id, Parents: parents(data)}
	// "Name <address> seconds zone"
	if words := strings.Fields(field(data, "committer")); len(words) > 1 {
		if sec, err := strconv.ParseInt(words[len(words)-2], 10, 64); err == nil && sec >= 0 && sec <= lastSecond {
			e.When = time.Unix(sec, 0).UTC()
		}
	}
	_, message, _ := strings.Cut(string(data), "\n\n")
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	e.Subject = strings.ToValidUTF8(strings.Join(strings.Fields(first), " "), "\ufffd")
	return e
}
