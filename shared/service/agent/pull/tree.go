package pull

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Limits of what Prepare keeps of a repository.
const (
	// maxText is the largest file that counts as text, in bytes. Of larger ones only
	// path and size are kept.
	maxText = 1 << 20
	// maxTexts is the most text of one repository, in bytes: Work has it in
	// memory.
	maxTexts = 256 << 20
	// maxInstructions is the most of AGENTS.md that the model reads, in bytes.
	maxInstructions = 16 << 10
)

// isText reports whether a file's bytes are text that a model can read and edit.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// read reads the files of a fetched commit into memory. It returns site_too_large if
// their text exceeds the limit.
func read(ctx context.Context, t *forge.Tree) (*agent.Repository, []agent.File, error) {
	r := &agent.Repository{Texts: map[string][]byte{}}
	var files []agent.File
	var total int64
	for f := range t.Files() {
		if !fs.ValidPath(f.Path) { // a commit keeps the files that it doesn't name
			continue
		}
		plain := f.Mode == forge.Regular
		entry := tool.Entry{Path: f.Path, Size: f.Size, Plain: plain}
		b, err := textOf(ctx, t, f)
		if err != nil {
			return nil, nil, err
		}
		if b != nil {
			entry.Text, r.Texts[f.Path] = true, b
			if total += int64(len(b)); total > maxTexts {
				return nil, nil, admin.Errorf(admin.CodeRepositoryBig, "the repository has more than %d MiB of text", maxTexts>>20)
			}
		}
		files = append(files, agent.File{Path: f.Path, Size: f.Size, Plain: plain})
		r.Entries = append(r.Entries, entry)
	}
	slices.SortFunc(files, func(a, b agent.File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Entries, func(a, b tool.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return r, files, nil
}

// readFiles is read for those of paths that a commit has.
func readFiles(ctx context.Context, t *forge.Tree, paths []string) (*agent.Repository, error) {
	r := &agent.Repository{Texts: map[string][]byte{}}
	for _, path := range paths {
		f, ok := t.File(path)
		if !ok {
			continue
		}
		b, err := textOf(ctx, t, f)
		if err != nil {
			return nil, err
		}
		if b != nil {
			r.Texts[path] = b
		}
		r.Entries = append(r.Entries, tool.Entry{Path: path, Size: f.Size, Text: b != nil, Plain: f.Mode == forge.Regular})
	}
	return r, nil
}

// textOf returns the text of a file, nil if it is none, or too large.
func textOf(ctx context.Context, t *forge.Tree, f forge.File) ([]byte, error) {
	if f.Mode != forge.Regular && f.Mode != forge.Executable || f.Size < 0 || f.Size > maxText {
		return nil, nil
	}
	b, err := readFile(ctx, t, f.Path)
	if err != nil || !isText(b) {
		return nil, err
	}
	return b, nil
}

func readFile(ctx context.Context, t *forge.Tree, path string) ([]byte, error) {
	f, err := t.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// siteRoot finds the folder of the site: the one that the project names, else
// the only one with a docs.json, else the highest.
func siteRoot(r *agent.Repository, want string) (string, error) {
	const name = "docs.json"
	if want != "" {
		if _, ok := r.Texts[want+"/"+name]; !ok {
			return "", admin.Errorf(admin.CodeInvalidSite, "the folder %[2]s of the repository has no %[1]s", name, want)
		}
		return want, nil
	}
	var roots []string
	for _, e := range r.Entries {
		if e.Path == name {
			return "", nil
		}
		if root, ok := strings.CutSuffix(e.Path, "/"+name); ok {
			roots = append(roots, root)
		}
	}
	if len(roots) == 0 {
		return "", admin.Errorf(admin.CodeInvalidSite, "the repository has no %s", name)
	}
	slices.SortStableFunc(roots, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	if len(roots) > 1 && strings.Count(roots[0], "/") == strings.Count(roots[1], "/") {
		return "", admin.Errorf(admin.CodeInvalidSite, "the repository has several sites (%s, %s); name the folder in the project's settings", roots[0], roots[1])
	}
	return roots[0], nil
}

// instructions returns the repository's instructions for agents, from the folder of
// the site or from the root.
func instructions(r *agent.Repository, root string) string {
	for _, folder := range []string{root, ""} {
		for _, name := range []string{".bindery/AGENTS.md", ".mintlify/AGENTS.md"} {
			if folder != "" {
				name = folder + "/" + name
			}
			if b, ok := r.Texts[name]; ok {
				return agent.Cut(string(b), maxInstructions)
			}
		}
	}
	return ""
}
