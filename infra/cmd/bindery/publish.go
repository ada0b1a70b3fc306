package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) publishCommand() *cobra.Command {
	var who caller
	var domain string
	var rebase bool
	cmd := &cobra.Command{
		Use:   "publish DIR --domain DOMAIN",
		Short: "Make a folder the newest snapshot of a site",
		Long: `Publish uploads what is new in a folder with a docs.json and makes it the newest
snapshot of a domain. An interrupted attempt resumes where it stopped.

Hidden files, node_modules, README.md, LICENSE.md, CHANGELOG.md and CONTRIBUTING.md
are left out, and what .mintignore lists, in the form of a .gitignore; "!" in it takes
something back in. So are symbolic links that lead nowhere or out of the folder, which are
listed.`,
		Example: `  bindery publish docs --domain docs.example.com
  bindery publish docs --domain docs.example.com --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if err := required("domain", domain); err != nil {
				return err
			}
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			result, err := a.publish(cmd, c, client.PublishOptions{Dir: args[0], Domain: domain, Rebase: rebase})
			if err != nil {
				return err
			}
			return a.print(result, func(w io.Writer) { a.showPublished(w, result) })
		}),
	}
	cmd.Flags().StringVar(&domain, "domain", "", "the site's domain")
	cmd.Flags().BoolVar(&rebase, "rebase", false, "win over a snapshot that somebody else publishes meanwhile")
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// publish publishes a folder and shows how far it is.
func (a *app) publish(cmd *cobra.Command, c *client.Client, o client.PublishOptions) (client.Published, error) {
	bar := a.meter("publish")
	defer bar.end()
	o.Progress = func(p client.PublishProgress) {
		if bar.progress != nil && p.Total > 0 {
			bar.set(p.Done, p.Total, fmt.Sprintf("%s of %s", size(p.Done), size(p.Total)))
		}
	}
	done, err := c.Publish(cmd.Context(), o)
	for _, r := range done.Refused {
		fmt.Fprintf(a.stderr, "%s %s: the file is left out: %s\n", a.paint(a.stderr, yellow, "!"), visible(r.Path), visible(r.Reason))
	}
	return done, err
}

func (a *app) showPublished(w io.Writer, p client.Published) {
	if p.UpToDate {
		fmt.Fprintf(w, "%s %s is up to date: %s, %s (snapshot %s)\n", a.paint(w, green, "✓"), p.Domain, count(p.Files, "file"), size(p.SizeBytes), p.SnapshotID)
		return
	}
	fmt.Fprintf(w, "%s %s: %s, %s (snapshot %s)\n", a.paint(w, green, "✓"), p.Domain, count(p.Files, "file"), size(p.SizeBytes), p.SnapshotID)
	fmt.Fprintf(w, "  %d added, %d changed, %d removed, %d unchanged\n", p.Added, p.Changed, p.Removed, p.Unchanged)
	fmt.Fprintf(w, "  %s new in %s; %s in %s sent\n", size(p.PackBytes), count(p.Packs, "pack"), size(p.UploadedBytes), count(p.Uploads, "upload"))
}
