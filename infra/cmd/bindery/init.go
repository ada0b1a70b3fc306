package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// starter is the site that init writes; NAME stands for the site's name.
//
//go:embed site
var starter embed.FS

// initReport is what a script learns of a site that was made.
type initReport struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
}

func (a *app) initCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make a small site to begin with",
		Long: `Init writes a docs.json and four pages into a folder, which is made if it is missing. It
overwrites nothing: where one of its files is there already, it writes none.`,
		Example: `  bindery init docs
  bindery init docs --name "Example"`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(_ *cobra.Command, args []string) error {
			if name == "" {
				abs, err := filepath.Abs(args[0])
				if err != nil {
					return err
				}
				name = filepath.Base(abs)
			}
			report, err := writeStarter(args[0], name)
			if err != nil {
				return err
			}
			return a.print(report, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s: %s\n", a.paint(w, green, "✓"), report.Dir, count(len(report.Files), "file"))
				for _, name := range report.Files {
					fmt.Fprintln(w, "  "+name)
				}
				facts(w,
					"\npreview it", "bindery dev "+report.Dir+" --open",
					"check it", "bindery check "+report.Dir,
					"export it", "bindery run "+report.Dir+" --out bundle.tar.gz")
			})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "what the site is called (default: the folder's name)")
	a.jsonFlag(cmd)
	return cmd
}

// writeStarter writes the site into a folder, all of it or nothing.
func writeStarter(dir, name string) (*initReport, error) {
	report := &initReport{Dir: dir}
	files, err := fs.Sub(starter, "site")
	if err != nil {
		return nil, err
	}
	var there []string
	err = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		report.Files = append(report.Files, file)
		_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		there = append(there, file)
		return err
	})
	if err != nil {
		return nil, err
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
	for _, file := range report.Files {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(file)), 0o755); err != nil {
			return nil, err
		}
		if err := root.WriteFile(filepath.FromSlash(file), []byte(named(file, string(text), name)), 0o644); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// named puts the site's name into a file, as text of that file's kind.
func named(file, text, name string) string {
	switch filepath.Ext(file) {
	case ".json":
		quoted, err := json.Marshal(name)
		if err != nil {
			return text // no string fails
		}
		name = strings.Trim(string(quoted), `"`)
	case ".mdx":
		// In front matter and in text: what would begin something else is left out.
		name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("<>{}`*_[]\\#:\"'\n\r&", r) }), " ")
	}
	return strings.ReplaceAll(text, "NAME", name)
}
