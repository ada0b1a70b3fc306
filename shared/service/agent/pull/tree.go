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
	// maxTexts is the most text of the site's folder, and maxBeside that of the rest of
	// the repository, in bytes: Work has both in memory.
	maxTexts  = 256 << 20
	maxBeside = 64 << 20
	// maxPictures is the most bytes of pictures that a model may see. Further ones are
	// left out.
	maxPictures = 32 << 20
	// maxInstructions is the most of instructions for agents that the model reads,
	// in bytes.
	maxInstructions = 16 << 10
)

// isText reports whether a file's bytes are text that a model can read and edit.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// Ranks of files: outside the site's folder, those of a lower rank are read first.
const (
	inSite = iota
	asInstructions
	asText
	asRest // an agent may not read it
	ranks
)

// rank returns the rank of a file; root is the folder of the site, noSite is set if there
// is none.
func rank(p, root string, noSite bool) int {
	switch {
	case !noSite && (root == "" || strings.HasPrefix(p, root+"/")):
		return inSite
	case isInstructions(p):
		return asInstructions
	case tool.Readable(p):
		return asText
	}
	return asRest
}

// read reads the files of a fetched commit into memory; want is the folder of the
// site that the project names. Outside that folder, texts that exceed the limit are left
// out. It returns repository_too_large if the texts in it exceed theirs.
func read(ctx context.Context, t *forge.Tree, want string) (*agent.Repository, []agent.File, error) {
	return readWithin(ctx, t, want, maxBeside)
}

// readWithin is read with another limit of the text outside the site's folder.
func readWithin(ctx context.Context, t *forge.Tree, want string, room int64) (*agent.Repository, []agent.File, error) {
	r := entries(t, "")
	root, rootErr := siteRoot(r, want) // the caller reports an error
	files := make([]agent.File, len(r.Entries))
	var total, beside int64
	for at := range ranks {
		for i := range r.Entries {
			e := &r.Entries[i]
			if rank(e.Path, root, rootErr != nil) != at {
				continue
			}
			most := int64(maxOther)
			if at == inSite {
				most = maxText
			}
			f, _ := t.File(e.Path)
			b, err := textOf(ctx, t, f, most)
			if err != nil {
				return nil, nil, err
			}
			size := int64(len(b))
			switch {
			case b == nil:
			case at == inSite:
				if total += size; total > maxTexts {
					return nil, nil, admin.Errorf(admin.CodeRepositoryBig, "the site's folder has more than %d MiB of text", maxTexts>>20)
				}
				e.Size, e.Text, r.Texts[e.Path] = size, true, b
			case beside+size > room:
				e.Size, e.LeftOut = size, true
			default:
				beside += size
				e.Size, e.Text, r.Texts[e.Path] = size, true, b
			}
			files[i] = fileOf(*e)
		}
	}
	return r, files, nil
}

// fileOf returns the line of a manifest for a file.
func fileOf(e tool.Entry) agent.File {
	f := agent.File{Path: e.Path, Size: e.Size, Plain: e.Plain, ID: e.ID, LeftOut: e.LeftOut}
	if e.Text {
		f.ID = ""
	}
	return f
}

// entries lists the files of a fetched commit in a folder, or the one of that name, "" for
// all.
func entries(t *forge.Tree, folder string) *agent.Repository {
	r := &agent.Repository{Texts: map[string][]byte{}}
	for f := range t.Files() {
		if fs.ValidPath(f.Path) && (folder == "" || f.Path == folder || strings.HasPrefix(f.Path, folder+"/")) { // a commit keeps the files that it doesn't name
			r.Entries = append(r.Entries, tool.Entry{Path: f.Path, Size: f.Size, Plain: f.Mode == forge.Regular, ID: f.ID})
		}
	}
	slices.SortFunc(r.Entries, func(a, b tool.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return r
}

// readPictures adds to a repository the pictures of a fetched commit that a model may see,
// those of the site's folder first.
func readPictures(ctx context.Context, t *forge.Tree, r *agent.Repository, root string, room int) error {
	r.Pictures = map[string][]byte{}
	for at := range ranks {
		for _, e := range r.Entries {
			f, _ := t.File(e.Path)
			if rank(e.Path, root, false) != at || at == asRest || e.Text || !e.Plain || !tool.IsPicture(e.Path, f.Size) || int(f.Size) > room {
				continue
			}
			b, err := readFile(ctx, t, e.Path)
			if err != nil {
				return err
			}
			if int64(len(b)) != e.Size || len(b) > room { // a pointer to a file elsewhere
				continue
			}
			room -= len(b)
			r.Pictures[e.Path] = b
		}
	}
	return nil
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

// instructionNames are the names, in lower case, of files with instructions for agents in
// a folder. Of each row, the first one counts.
var instructionNames = [][]string{
	{".bindery/agents.md", ".mintlify/agents.md"},
	{"agents.md", "claude.md"},
	{"style-guide.md", "style-guide.mdx", "styleguide.md", "styleguide.mdx", "style_guide.md", "style_guide.mdx"},
}

// isInstructions reports whether a file may have instructions for agents.
func isInstructions(p string) bool {
	low := strings.ToLower(path.Base(p))
	return slices.ContainsFunc(instructionNames, func(row []string) bool { return slices.Contains(row, low) })
}

// instructions returns the repository's instructions for agents: those of the site's
// folder first, then of each folder above it up to the root. In a folder, those for
// documentation come before those for all work, and the style guide comes last. Case
// does not count in their names.
func instructions(r *agent.Repository, root string) string {
	names := map[string]string{}
	for _, e := range r.Entries {
		if low := strings.ToLower(e.Path); e.Text && isInstructions(e.Path) && names[low] == "" {
			names[low] = e.Path
		}
	}
	var b strings.Builder
	for folder := root; ; folder = path.Dir(folder) {
		if folder == "." {
			folder = ""
		}
		for _, row := range instructionNames {
			for _, candidate := range row {
				name := names[strings.ToLower(path.Join(folder, candidate))]
				if name == "" {
					continue
				}
				if b.Len() > 0 {
					fmt.Fprintf(&b, "\nFrom %s:\n\n", name)
				}
				b.WriteString(strings.TrimRight(string(r.Texts[name]), "\n") + "\n")
				break
			}
		}
		if folder == "" {
			break
		}
	}
	text := b.String()
	if n := len(text) - maxInstructions; n > 0 {
		return agent.Cut(text, maxInstructions) + fmt.Sprintf("\n(%d more bytes of instructions are left out)\n", n)
	}
	return text
}
