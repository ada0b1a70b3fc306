package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What a release says of itself, put here by its build (-ldflags -X). Other builds
// know what Go keeps of version control.
var releaseVersion, releaseCommit, releaseDate string

// build is what a program knows of itself.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is when the commit was made, as RFC 3339: builds know no time of their
	// own, or no two would be the same file.
	Date string `json:"date,omitempty"`
	// Modified: there were changes beside the commit.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: releaseVersion, Commit: releaseCommit, Date: releaseDate, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			case "vcs.modified":
				b.Modified = releaseCommit == "" && s.Value == "true"
			}
		}
	}
	b.Version = cmp.Or(b.Version, "(unknown)")
	return b
}

// version is the program's version, one word.
func version() string { return thisBuild().Version }

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, its date and the Go release",
		Example: `  bindery version
  bindery version --json`,
		Args: cobra.NoArgs,
		RunE: a.does(func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.print(b, func(w io.Writer) {
				commit := b.Commit
				if b.Modified {
					commit += ", with changes"
				}
				fmt.Fprintf(w, "bindery %s\n", b.Version)
				facts(w, "commit", commit, "date", b.Date, "go", b.Go, "platform", b.Platform)
			})
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}
