package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) snapshotsCommand() *cobra.Command {
	snapshots := a.group("snapshots", "Snapshots of a site: list them, make an older one the newest again", a.snapshotsList(), a.snapshotsRestore())
	snapshots.Aliases = []string{"snapshot"}
	return snapshots
}

// domainFlag adds the flag that names the site.
func domainFlag(cmd *cobra.Command, domain *string) {
	cmd.Flags().StringVar(domain, "domain", "", "the site's domain")
	cmd.PreRunE = func(*cobra.Command, []string) error { return required("domain", *domain) }
}

func (a *app) snapshotsList() *cobra.Command {
	var domain string
	var most int
	cmd := &cobra.Command{
		Use:     "list --domain DOMAIN",
		Short:   "List the published snapshots of a domain, the latest first",
		Example: `  bindery snapshots list --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}
	domainFlag(cmd, &domain)
	mostFlag(cmd, &most, "snapshots")
	return calling(a, cmd, func(ctx context.Context, c *client.Client, _ []string) ([]api.SnapshotSummary, error) {
		if err := checkMost(most); err != nil {
			return nil, err
		}
		return paged(most, func(cursor string, limit int) ([]api.SnapshotSummary, *string, error) {
			page, err := c.Snapshots(ctx, domain, cursor, limit)
			return page.Snapshots, page.NextCursor, err
		})
	}, func(w io.Writer, all []api.SnapshotSummary) {
		var rows [][]string
		for _, p := range all {
			newest := ""
			if p.Newest {
				newest = "newest"
			}
			rows = append(rows, []string{p.SnapshotID, newest, strconv.Itoa(p.FileCount), size(p.SizeBytes), day(p.PublishedAt)})
		}
		table(w, "id newest files size published", rows)
	})
}

func (a *app) snapshotsRestore() *cobra.Command {
	var domain, base string
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT --domain DOMAIN",
		Short: "Make an older snapshot the newest of its domain again",
		Long: `Restore makes an older snapshot the newest again: the next export is made from it, and the
next publish is based on it. If another snapshot has become the newest meanwhile, nothing is done.`,
		Example: `  bindery snapshots restore snp_… --domain docs.example.com`,
		Args:    cobra.ExactArgs(1),
	}
	domainFlag(cmd, &domain)
	cmd.Flags().StringVar(&base, "base", "", "the snapshot that you know as the newest (default: the one that is)")
	return calling(a, cmd, func(ctx context.Context, c *client.Client, args []string) (api.Snapshot, error) {
		if base == "" {
			newest, err := c.LatestSnapshot(ctx, domain)
			if err != nil {
				return api.Snapshot{}, err
			}
			base = newest.SnapshotID
		}
		return c.RestoreSnapshot(ctx, domain, args[0], base)
	}, func(w io.Writer, p api.Snapshot) { fmt.Fprintf(w, "%s is the newest of %s\n", p.SnapshotID, p.Domain) })
}
