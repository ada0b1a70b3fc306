package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// jsonDepth is how deep values of a file may be nested, as in a site's configuration.
const jsonDepth = 100

// fault is why a file can't be parsed.
type fault struct {
	line, column int
	message      string
}

// settings returns the site's settings for its sources, or the defaults if the
// configuration can't be read.
func (t *Tree) settings() *site.Site {
	if t.config == nil {
		t.config = &site.Site{}
		if name := t.configFile(); name != "" {
			if s, _, err := site.Load(context.Background(), t.FS(), []string{name}, site.Options{}); err == nil {
				t.config = s
			}
		}
	}
	return t.config
}

// configFile returns the name of the site's configuration, "" if it has none.
func (t *Tree) configFile() string {
	for _, name := range [...]string{"docs.json", "mint.json"} {
		if t.exists(name) {
			return name
		}
	}
	return ""
}

func isPage(p string) bool { return path.Ext(p) == ".mdx" || path.Ext(p) == ".md" }

// faults returns the faults of those files that have some.
func (t *Tree) faults(ctx context.Context, files []string) map[string]fault {
	out := map[string]fault{}
	var pages []string
	for _, p := range files {
		if !t.text(p) {
			continue
		}
		src, err := t.read(p)
		if err != nil {
			continue
		}
		switch {
		case isPage(p):
			pages = append(pages, p)
			for _, d := range t.parse(p, src) {
				if d.Severity == mdx.Error {
					out[p] = fault{d.Line, d.Column, d.Message}
					break
				}
			}
		case path.Ext(p) == ".json":
			if _, err := json.Parse(src, json.Options{Depth: jsonDepth, Lenient: true}); err != nil {
				e, _ := errors.AsType[*json.Error](err)
				out[p] = fault{e.Line, e.Column, "this is not JSON: " + e.Error()}
			}
		}
	}
	t.yamlFaults(files, out)
	// The exporter's reader knows the rules for heads and configurations.
	slices.Sort(pages)
	_, diags, _ := site.Load(ctx, headsFS{treeFS{t}}, slices.Concat(pages, []string{bare}), site.Options{})
	for _, d := range diags {
		if _, worse := out[d.File]; d.Code == "front-matter" && !worse {
			out[d.File] = fault{d.Line, d.Column, d.Message}
		}
	}
	if name := t.configFile(); name != "" && slices.ContainsFunc(files, func(p string) bool { return path.Ext(p) == ".json" }) {
		_, _, err := site.Load(ctx, t.FS(), []string{name}, site.Options{})
		if e, ok := errors.AsType[*site.ConfigError](err); ok && slices.Contains(files, e.File) {
			out[e.File] = fault{e.Line, e.Column, e.Message}
		}
	}
	return out
}

// yamlFaults adds the faults of YAML files.
func (t *Tree) yamlFaults(files []string, out map[string]fault) {
	for _, p := range files {
		if ext := path.Ext(p); ext != ".yaml" && ext != ".yml" || !t.text(p) {
			continue
		}
		r := reference.NewReader(treeFS{t})
		r.Spec(p)
		for _, d := range r.Diagnostics() {
			// YAML that is not a specification is not checked further.
			if d.Code == "api-unreadable" && d.File == p && strings.Contains(d.Message, "is not YAML") {
				out[p] = fault{d.Line, d.Column, d.Message}
			}
		}
	}
}

// headsFS is a tree with an empty configuration, so that checking the heads of pages
// doesn't read what the real one refers to.
type headsFS struct{ treeFS }

const bare = "docs.json"

// ReadFile implements fs.ReadFileFS.
func (f headsFS) ReadFile(name string) ([]byte, error) {
	if name == bare {
		return []byte("{}"), nil
	}
	return f.treeFS.ReadFile(name)
}

// Stat implements fs.StatFS.
func (f headsFS) Stat(name string) (fs.FileInfo, error) {
	if name == bare {
		return info{name: bare, size: 2}, nil
	}
	return f.treeFS.Stat(name)
}

// parse returns the result of the exporter's parser for a page.
func (t *Tree) parse(p string, src []byte) []mdx.Diagnostic {
	s := t.settings()
	_, diags := mdx.Parse(s.Expand(src), s.Syntax(p))
	return diags
}

// refusal is why a set of edits was not made. Its text is for the model.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return refusal{fmt.Sprintf(format, args...)} }

// edit makes all changes, by path and nil for a file to delete, or none and returns an
// error. A file that could be parsed before must still be afterwards.
func (s *Set) edit(ctx context.Context, contents map[string][]byte) error {
	next := s.tree.clone()
	paths := slices.Sorted(maps.Keys(contents))
	// Delete first: new files may take the place of deleted ones.
	slices.SortStableFunc(paths, func(a, b string) int { return boolean(contents[a] != nil) - boolean(contents[b] != nil) })
	changes := make([]Change, 0, len(paths))
	for _, p := range paths {
		b := contents[p]
		if len(b) > s.limits.FileBytes {
			return refuse("%s: would have %d bytes; the limit of a file is %d", p, len(b), s.limits.FileBytes)
		}
		if err := next.put(p, b); err != nil {
			return err
		}
		changes = append(changes, Change{Path: next.full(p), Content: b, Delete: b == nil})
	}
	if err := next.collision(changes); err != nil {
		return err
	}
	if n := len(next.changed); n > s.limits.Files && n > len(s.tree.changed) {
		return refuse("that would make %d changed files; a job may change %d", n, s.limits.Files)
	}
	if n := next.bytes(); n > s.limits.Bytes && n > s.tree.bytes() {
		return refuse("that would make %d bytes of changed files; a job may change %d", n, s.limits.Bytes)
	}
	after := next.faults(ctx, paths)
	if len(after) > 0 {
		before := s.tree.faults(ctx, slices.Sorted(maps.Keys(after)))
		var b strings.Builder
		for _, p := range slices.Sorted(maps.Keys(after)) {
			if _, broken := before[p]; !broken {
				f := after[p]
				src, _ := next.read(p)
				fmt.Fprintf(&b, "%s:%d:%d: %s\n%s", p, f.line, f.column, f.message, excerpt(src, f.line, f.column))
			}
		}
		if b.Len() > 0 {
			return refuse("Nothing was changed, because the result could not be read:\n%s", b.String())
		}
	}
	for _, p := range paths {
		if err := s.mayWrite(p, contents[p]); err != nil {
			return err
		}
	}
	if err := s.noSecrets(contents); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	*s.tree = *next
	return nil
}

// noSecrets returns an error for new texts with secrets that the site doesn't have
// already. It says kind and line, and never the value.
func (s *Set) noSecrets(contents map[string][]byte) error {
	published := func(value string) bool {
		for _, p := range s.kinds.was.files() {
			if src, err := s.kinds.was.read(p); err == nil && IsSource(p) && !dotted(p) && bytes.Contains(src, []byte(value)) {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(contents)) {
		old, _ := s.tree.read(p) // nil for a new file
		for _, m := range freshSecrets(p, string(contents[p]), string(old), published) {
			fmt.Fprintf(&b, "%s:%d: looks like a secret: %s\n", p, lineOf(contents[p], m.at), m.kind)
		}
	}
	if b.Len() > 0 {
		return refuse("Nothing was changed, because pages are public. Write a placeholder, such as YOUR_TOKEN, in the place of:\n%s", b.String())
	}
	return nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bytes returns how many bytes the changed files have.
func (t *Tree) bytes() int64 {
	n := int64(0)
	for _, b := range t.changed {
		n += int64(len(b))
	}
	return n
}

// excerpt returns the lines around a place, with a caret below it.
func excerpt(src []byte, line, column int) string {
	lines := bytes.Split(src, []byte("\n"))
	var b strings.Builder
	for i := max(line-2, 1); i <= min(line+2, len(lines)); i++ {
		text := strings.TrimSuffix(string(lines[i-1]), "\r")
		fmt.Fprintf(&b, "%6d\t%s\n", i, cutLine(text))
		if i == line && column > 0 && column <= len(text)+1 && column <= maxLine {
			indent := strings.Map(func(r rune) rune {
				if r == '\t' {
					return r
				}
				return ' '
			}, text[:column-1])
			fmt.Fprintf(&b, "      \t%s^\n", indent)
		}
	}
	return b.String()
}
