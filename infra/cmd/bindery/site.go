package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) siteCommand() *cobra.Command {
	return a.group("site", "What is live: read and open it, promote a version, roll back, hold",
		a.siteLive(), a.siteOpen(), a.siteHistory(), a.sitePromote(), a.siteRollback(), a.siteHold(), a.siteRelease())
}

func (a *app) siteLive() *cobra.Command {
	var domain string
	cmd := &cobra.Command{
		Use:     "live --domain DOMAIN",
		Short:   "Show which version of a site is live, and whether that is held",
		Example: `  bindery site live --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}
	domainFlag(cmd, &domain)
	return calling(a, cmd, func(ctx context.Context, c *client.Client, _ []string) (api.Live, error) {
		return c.Live(ctx, domain)
	}, showLive)
}

func showLive(w io.Writer, l api.Live) {
	if l.Live == nil {
		fmt.Fprintf(w, "nothing is live for %s\n", l.Domain)
	} else {
		fmt.Fprintf(w, "%s is live for %s: version %s, %s by %s %s at %s\n",
			l.Live.JobID, l.Domain, l.Live.Version, l.Live.Cause, l.Live.By.Kind, l.Live.By.ID, day(l.Live.At))
		if l.URL != "" {
			fmt.Fprintln(w, l.URL)
		}
		for _, over := range l.Live.Skipped {
			fmt.Fprintf(w, "stepped over %s: %s\n", over.JobID, skipText(over.Reason))
		}
	}
	switch {
	case l.Held:
		fmt.Fprintf(w, "held by %s %s since %s: no version goes live by itself before bindery site release\n", l.HeldBy.Kind, l.HeldBy.ID, day(*l.HeldAt))
	case l.Deploy == admin.DeployManual:
		fmt.Fprintln(w, "the project deploys manually: no version goes live by itself")
	}
}

// openedSite is the address of a site.
type openedSite struct {
	Domain string `json:"domain"`
	URL    string `json:"url"`
}

func (a *app) siteOpen() *cobra.Command {
	var who caller
	var domain string
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "open --domain DOMAIN",
		Short: "Open the live version of a site in a browser",
		Long: `Open opens the live version of a site in a browser. The address is printed, too; with --print or
--json it is all that is done.`,
		Example: `  bindery site open --domain docs.example.com`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			l, err := c.Live(cmd.Context(), domain)
			switch {
			case err != nil:
				return err
			case l.URL == "":
				return errors.New("this service serves no sites: fetch the bundle with bindery export, and serve it with bindery serve")
			case l.Live == nil:
				return nothingLive(domain)
			}
			return a.open(cmd.Context(), openedSite{l.Domain, l.URL}, l.URL, printOnly)
		}),
	}
	domainFlag(cmd, &domain)
	printFlag(cmd, &printOnly)
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func nothingLive(domain string) error { return errors.New("nothing is live for " + domain) }

func skipText(r admin.SkipReason) string {
	switch r {
	case admin.SkipGone:
		return "its bundle was removed, or is damaged"
	case admin.SkipKind:
		return "it was made for another kind of deployment"
	}
	return string(r)
}

func (a *app) siteHistory() *cobra.Command {
	var domain string
	var most int
	cmd := &cobra.Command{
		Use:     "history --domain DOMAIN",
		Short:   "List the versions that were live for a domain, the latest first",
		Example: `  bindery site history --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}
	domainFlag(cmd, &domain)
	mostFlag(cmd, &most, "versions")
	return calling(a, cmd, func(ctx context.Context, c *client.Client, _ []string) ([]api.LiveMove, error) {
		if err := checkMost(most); err != nil {
			return nil, err
		}
		return paged(most, func(cursor string, limit int) ([]api.LiveMove, *string, error) {
			page, err := c.LiveHistory(ctx, domain, cursor, limit)
			return page.Moves, page.NextCursor, err
		})
	}, func(w io.Writer, all []api.LiveMove) {
		var rows [][]string
		for _, m := range all {
			rows = append(rows, []string{strconv.Itoa(m.Number), m.JobID, m.Version, string(m.Cause), m.By.Kind + " " + m.By.ID, day(m.At)})
		}
		table(w, "number job version cause by at", rows)
	})
}

// setsLive makes a command that changes what is live.
func (a *app) setsLive(cmd *cobra.Command, request func(ctx context.Context, c *client.Client, domain string, args []string) (api.SetLiveRequest, error)) *cobra.Command {
	var domain string
	domainFlag(cmd, &domain)
	return calling(a, cmd, func(ctx context.Context, c *client.Client, args []string) (api.Live, error) {
		r, err := request(ctx, c, domain, args)
		if err != nil {
			return api.Live{}, err
		}
		return c.SetLive(ctx, domain, r)
	}, showLive)
}

func (a *app) sitePromote() *cobra.Command {
	return a.setsLive(&cobra.Command{
		Use:   "promote JOB --domain DOMAIN",
		Short: "Make the bundle of a completed export live",
		Long: `Promote makes the bundle of an export live that was started to go live: by the dashboard, or
with bindery export --go-live. The version stays live, whatever is exported, until somebody
calls bindery site release.`,
		Example: `  bindery site promote exp_… --domain docs.example.com`,
		Args:    cobra.ExactArgs(1),
	}, func(_ context.Context, _ *client.Client, _ string, args []string) (api.SetLiveRequest, error) {
		return api.SetLiveRequest{Action: admin.ActPromote, JobID: args[0]}, nil
	})
}

func (a *app) siteRollback() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "rollback --domain DOMAIN",
		Short: "Make the version live again that was live before",
		Long: `Rollback goes back by one version. Versions that can't be live any more, since their bundle was
removed or is for another kind of deployment, are stepped over. The version stays live, whatever is exported, until somebody
calls bindery site release. If another version has gone live meanwhile, nothing is done.`,
		Example: `  bindery site rollback --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&from, "from", "", "the job that you know as the live one (default: the one that is)")
	return a.setsLive(cmd, func(ctx context.Context, c *client.Client, domain string, _ []string) (api.SetLiveRequest, error) {
		if from == "" {
			l, err := c.Live(ctx, domain)
			if err != nil {
				return api.SetLiveRequest{}, err
			}
			if l.Live == nil {
				return api.SetLiveRequest{}, nothingLive(domain)
			}
			from = l.Live.JobID
		}
		return api.SetLiveRequest{Action: admin.ActRollback, From: from}, nil
	})
}

func (a *app) siteHold() *cobra.Command {
	return a.setsLive(&cobra.Command{
		Use:     "hold --domain DOMAIN",
		Short:   "Let no version go live by itself",
		Example: `  bindery site hold --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}, func(context.Context, *client.Client, string, []string) (api.SetLiveRequest, error) {
		return api.SetLiveRequest{Action: admin.ActHold}, nil
	})
}

func (a *app) siteRelease() *cobra.Command {
	return a.setsLive(&cobra.Command{
		Use:   "release --domain DOMAIN",
		Short: "Let the next completed export go live by itself again",
		Long: `Release ends a hold. What was completed meanwhile does not go live by that: promote it, or
export once more.`,
		Example: `  bindery site release --domain docs.example.com`,
		Args:    cobra.NoArgs,
	}, func(context.Context, *client.Client, string, []string) (api.SetLiveRequest, error) {
		return api.SetLiveRequest{Action: admin.ActRelease}, nil
	})
}
