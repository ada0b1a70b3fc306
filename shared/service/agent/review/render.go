package review

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// A state is a site at one commit.
type state struct {
	files fs.FS
	paths []string // sorted
	// live renders it; nil if no site can be made of the files, for the reason unusable.
	live     *export.Live
	unusable string
	steps    *Steps
}

// open reads the files of a site, for all groups of readers. What is the same in before
// is rendered once.
func (s *Steps) open(ctx context.Context, project admin.Project, files fs.FS, before *state) (*state, error) {
	st := &state{files: files, steps: s}
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(e.Name(), ".") && e.IsDir():
			return fs.SkipDir
		case !e.IsDir():
			st.paths = append(st.paths, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(st.paths)
	in := export.LiveInput{Files: files, Paths: st.paths, Domain: project.Domain, Kind: project.Kind, Settings: project.Settings}
	if before != nil {
		in.Before, in.Files = before.live, later{files}
	}
	// A page may be for some groups of readers alone. Pages of a group may name others.
	for {
		live, err := s.export.Live(ctx, in)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			st.unusable = "the site can't be rendered"
			if c, ok := errors.AsType[*site.ConfigError](err); ok {
				st.unusable += ": " + c.Error()
			} else {
				s.opt.Log.WarnContext(ctx, "a site was not rendered for review", "error", err)
			}
			return st, nil
		}
		st.live = live
		groups := map[string]bool{}
		for _, g := range in.Groups {
			groups[g] = true
		}
		for _, w := range live.Site().Withheld {
			for _, g := range w.Groups {
				groups[g] = true
			}
		}
		if len(groups) == len(in.Groups) {
			return st, nil
		}
		in.Groups = slices.Sorted(maps.Keys(groups))
	}
}

// later are files with another time than those of the state before: what is known of a
// file's bytes holds as long as size and time are the same.
type later struct{ fs.FS }

// ReadFile implements fs.ReadFileFS.
func (f later) ReadFile(name string) ([]byte, error) { return fs.ReadFile(f.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (f later) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// Stat implements fs.StatFS.
func (f later) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return nil, err
	}
	return laterInfo{info}, nil
}

type laterInfo struct{ fs.FileInfo }

func (i laterInfo) ModTime() time.Time { return i.FileInfo.ModTime().Add(time.Second) }

// each calls fn with what browsers get of each touched page and file, by its source, and
// with the reason why it could not be rendered. After end it begins to render no page: it
// returns how many are left.
func (st *state) each(ctx context.Context, t touched, end time.Time, fn func(file string, seen tool.Seen, failed string)) (left int, err error) {
	for at, i := range t.pages {
		if st.steps.opt.Now().After(end) {
			left = len(t.pages) - at
			break
		}
		source := st.live.Site().Pages[i].Source
		seen, err := st.page(ctx, i)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case admin.CodeOf(err) == admin.CodeTemporary:
			return 0, err
		case err != nil:
			reason := "it can't be rendered"
			if c, ok := errors.AsType[store.Coded](err); ok && c.Code() != admin.CodeInternal {
				reason = c.SafeMessage()
			}
			st.steps.opt.Log.WarnContext(ctx, "a page was not rendered for review", "page", source, "error", err)
			fn(source, tool.Seen{}, reason)
		default:
			fn(source, seen, "")
		}
	}
	for _, name := range t.files {
		b, err := fs.ReadFile(st.files, name)
		if err != nil {
			continue // it is not there in this state
		}
		if len(b) > maxDocument {
			fn(name, tool.Seen{}, "it is too large to look at")
			continue
		}
		fn(name, file(name, b), "")
	}
	return left, nil
}

// maxDocument is the largest document that is read, in bytes: what it is read into takes
// some fifty times as much memory.
const maxDocument = 8 << 20

// page reads what browsers get of a page: its document, the script of its components,
// and its part of the style sheet.
func (st *state) page(ctx context.Context, i int) (tool.Seen, error) {
	var seen tool.Seen
	res, err := st.live.Result(ctx, i)
	if err != nil {
		return seen, err
	}
	doc, err := st.live.File(ctx, st.live.Site().Pages[i].Output)
	if err != nil {
		return seen, err
	}
	if len(doc) > maxDocument || len(res.Script) > maxDocument {
		return seen, admin.Errorf(admin.CodeSiteTooLarge, "it is too large to look at")
	}
	seen.Document(doc)
	if res.Script != nil {
		seen.Script("a component that runs in the browser", res.Script)
	}
	for _, class := range slices.Sorted(maps.Keys(res.Styles)) {
		seen.Sheet([]byte("a{" + res.Styles[class] + "}"))
	}
	seen.Classes(res.Classes)
	return seen, nil
}

// file reads a file that a bundle has as it is.
func file(name string, b []byte) tool.Seen {
	var seen tool.Seen
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".css":
		seen.Sheet(b)
	case ext == ".svg", ext == ".html", ext == ".htm", ext == ".xml", ext == ".xhtml":
		seen.Document(b)
	case edit.IsScript(name):
		seen.Script("a script", bytes.TrimSpace(b))
	}
	return seen
}
