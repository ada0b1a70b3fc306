package pull

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
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
	// maxText is the largest file of the site's folder that counts as text, in
	// bytes: specifications of some megabytes are common. maxOther is that of files
	// elsewhere. A manifest has only path and size of larger ones.
	maxText  = 8 << 20
	maxOther = 1 << 20
	// maxTexts is the most text of one repository, in bytes: Work has it in
	// memory.
	maxTexts = 256 << 20
	// maxInstructions is the most of instructions for agents that the model reads,
	// in bytes.
	maxInstructions = 16 << 10
)

// isText reports whether a file's bytes are text that a model can read and edit.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// read reads the files of a fetched commit into memory; want is the folder of the
// site that the project names. It returns site_too_large if their text exceeds the
// limit.
func read(ctx context.Context, t *forge.Tree, want string) (*agent.Repository, []agent.File, error) {
	r := &agent.Repository{Texts: map[string][]byte{}}
	for f := range t.Files() {
		if fs.ValidPath(f.Path) { // a commit keeps the files that it doesn't name
			r.Entries = append(r.Entries, tool.Entry{Path: f.Path, Size: f.Size, Plain: f.Mode == forge.Regular})
		}
	}
	slices.SortFunc(r.Entries, func(a, b tool.Entry) int { return cmp.Compare(a.Path, b.Path) })
	root, rootErr := siteRoot(r, want) // the caller reports an error
	files := make([]agent.File, len(r.Entries))
	var total int64
	for i := range r.Entries {
		e := &r.Entries[i]
		most := int64(maxOther)
		if rootErr == nil && (root == "" || strings.HasPrefix(e.Path, root+"/")) {
			most = maxText
		}
		f, _ := t.File(e.Path)
		b, err := textOf(ctx, t, f, most)
		if err != nil {
			return nil, nil, err
		}
		if b != nil {
			e.Size, e.Text, r.Texts[e.Path] = int64(len(b)), true, b
			if total += int64(len(b)); total > maxTexts {
				return nil, nil, admin.Errorf(admin.CodeRepositoryBig, "the repository has more than %d MiB of text", maxTexts>>20)
			}
		}
		files[i] = agent.File{Path: e.Path, Size: e.Size, Plain: e.Plain}
	}
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
		b, err := textOf(ctx, t, f, maxText)
		if err != nil {
			return nil, err
		}
		if b != nil {
			r.Texts[path], f.Size = b, int64(len(b))
		}
		r.Entries = append(r.Entries, tool.Entry{Path: path, Size: f.Size, Text: b != nil, Plain: f.Mode == forge.Regular})
	}
	return r, nil
}

// textOf returns the text of a file, nil if it is none or has more than most bytes.
func textOf(ctx context.Context, t *forge.Tree, f forge.File, most int64) ([]byte, error) {
	if !mayBeText(f, most) {
		return nil, nil
	}
	b, err := readFile(ctx, t, f.Path)
	if err != nil || int64(len(b)) > most || !isText(b) {
		return nil, err
	}
	return b, nil
}

// mayBeText reports whether a file is opened to see if it is text. A large file is
// still on the forge, which doesn't say how large it is: only those of a kind that
// is text come from there.
func mayBeText(f forge.File, most int64) bool {
	switch {
	case f.Mode != forge.Regular && f.Mode != forge.Executable:
		return false
	case f.Size < 0:
		return most > maxOther && tool.IsSource(f.Path)
	}
	return f.Size <= most
}

// readFile reads a file, of a larger one than maxText its beginning alone.
func readFile(ctx context.Context, t *forge.Tree, path string) ([]byte, error) {
	f, err := t.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// siteRoot finds the folder of the site: the one that the project names, else the
// only one with a configuration, else the highest. A mint.json counts where no folder
// has a docs.json.
func siteRoot(r *agent.Repository, want string) (string, error) {
	for _, name := range []string{"docs.json", "mint.json"} {
		var roots []string
		for _, e := range r.Entries {
			root, base := path.Split(e.Path)
			if root = strings.TrimSuffix(root, "/"); base != name || want != "" && root != want {
				continue
			}
			if root == "" || root == want {
				return root, nil
			}
			roots = append(roots, root)
		}
		slices.SortStableFunc(roots, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		switch {
		case len(roots) > 1 && strings.Count(roots[0], "/") == strings.Count(roots[1], "/"):
			return "", admin.Errorf(admin.CodeInvalidSite, "the repository has several sites (%s, %s); name the folder in the project's settings", roots[0], roots[1])
		case len(roots) > 0:
			return roots[0], nil
		}
	}
	if want != "" {
		return "", admin.Errorf(admin.CodeInvalidSite, "the folder %s of the repository has no docs.json", want)
	}
	return "", admin.Errorf(admin.CodeInvalidSite, "the repository has no docs.json")
}

// instructions returns the repository's instructions for agents: those of the site's
// folder first, then of each folder above it up to the root. In a folder, those for
// documentation come before those for all work. Case does not count in their names.
func instructions(r *agent.Repository, root string) string {
	names := map[string]string{}
	for _, e := range r.Entries {
		if low := strings.ToLower(e.Path); e.Text && (strings.HasSuffix(low, "agents.md") || strings.HasSuffix(low, "claude.md")) && names[low] == "" {
			names[low] = e.Path
		}
	}
	var b strings.Builder
	add := func(folder string, candidates ...string) {
		for _, c := range candidates {
			name := names[strings.ToLower(path.Join(folder, c))]
			if name == "" {
				continue
			}
			if b.Len() > 0 {
				fmt.Fprintf(&b, "\nFrom %s:\n\n", name)
			}
			b.WriteString(strings.TrimRight(string(r.Texts[name]), "\n") + "\n")
			return
		}
	}
	for folder := root; ; folder = path.Dir(folder) {
		if folder == "." {
			folder = ""
		}
		add(folder, ".bindery/AGENTS.md", ".mintlify/AGENTS.md")
		add(folder, "AGENTS.md", "CLAUDE.md")
		if folder == "" {
			return agent.Cut(b.String(), maxInstructions)
		}
	}
}
