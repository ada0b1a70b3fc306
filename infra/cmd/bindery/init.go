package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// starter is the site that init writes; NAME stands for the site's name.
//
//go:embed site
var starter embed.FS

// initReport is what a script learns of a site that was made.
type initReport struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	// Pages is how many pages that were there the new docs.json names.
	Pages int `json:"pages,omitempty"`
	// Readme is set where the folder has a README.md, which is not published, and
	// no page to begin with.
	Readme bool `json:"readme,omitempty"`
}

func (a *app) initCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make a small site to begin with",
		Long: `Init writes a docs.json and four pages into a folder, which is made if it is missing. In a
folder that has pages, .md or .mdx, it writes a docs.json alone, which names them: a group
for each folder. It overwrites nothing: where one of its files is there already, it writes none.`,
		Example: `  bindery init docs
  bindery init docs --name "Example"`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if name == "" {
				abs, err := filepath.Abs(args[0])
				if err != nil {
					return err
				}
				name = filepath.Base(abs)
			}
			report, err := begin(cmd.Context(), args[0], name)
			if err != nil {
				return err
			}
			return a.print(report, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s: %s\n", a.paint(w, green, "✓"), report.Dir, count(len(report.Files), "file"))
				for _, name := range report.Files {
					fmt.Fprintln(w, "  "+name)
				}
				if report.Pages > 0 {
					fmt.Fprintf(w, "\nIt names the %s of the folder. The order of groups and pages is yours to change.\n", count(report.Pages, "page"))
				}
				if report.Readme {
					fmt.Fprintf(w, "%s README.md is not published. Rename it to index.md if the site should begin with it.\n", a.paint(w, yellow, "!"))
				}
				facts(w,
					"\npreview it", called()+" dev "+report.Dir+" --open",
					"check it", called()+" check "+report.Dir,
					"export it", called()+" run "+report.Dir+" --out bundle.tar.gz")
			})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "what the site is called (default: the folder's name)")
	a.jsonFlag(cmd)
	return cmd
}

// begin writes what a folder lacks to be a site, all of it or nothing.
func begin(ctx context.Context, dir, name string) (*initReport, error) {
	report := &initReport{Dir: dir}
	texts, err := startOf(ctx, dir, name, report)
	if err != nil {
		return nil, err
	}
	var there []string
	for _, file := range append([]string{"mint.json"}, report.Files...) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file))); err == nil {
			there = append(there, file)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("%s already has %s; nothing was written", dir, strings.Join(there, ", "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for n, file := range report.Files {
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(file)), 0o755); err != nil {
			return nil, err
		}
		if err := root.WriteFile(filepath.FromSlash(file), texts[n], 0o644); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// startOf notes which files a folder lacks, and returns their texts: those of a whole
// site, or a docs.json for the pages that are there.
func startOf(ctx context.Context, dir, name string, report *initReport) (texts [][]byte, err error) {
	tree, err := client.OpenTree(ctx, dir)
	if err == nil {
		defer func() { err = errors.Join(err, tree.Close()) }()
		config, pages, err := site.Begin(name, tree.Paths)
		if err != nil {
			return nil, err
		}
		if pages > 0 {
			report.Files, report.Pages = []string{"docs.json"}, pages
			first := slices.ContainsFunc(tree.Paths, func(p string) bool { return p == "index.md" || p == "index.mdx" })
			if _, err := os.Lstat(filepath.Join(dir, "README.md")); err == nil && !first {
				report.Readme = true
			}
			return [][]byte{config}, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files, err := fs.Sub(starter, "site")
	if err != nil {
		return nil, err
	}
	return texts, fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		report.Files, texts = append(report.Files, file), append(texts, []byte(named(file, string(text), name)))
		return err
	})
}

// named puts the site's name into a file, as text of that file's kind.
func named(file, text, name string) string {
	switch filepath.Ext(file) {
	case ".json":
		quoted, err := json.Marshal(name)
		if err != nil {
			return text // no string fails
		}
		name = string(quoted[1 : len(quoted)-1])
	case ".mdx":
		// In front matter and in text: what would begin something else is left out.
		name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("<>{}`*_[]\\#:\"'\n\r&", r) }), " ")
	}
	return strings.ReplaceAll(text, "NAME", name)
}
