package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) projectCommand() *cobra.Command {
	return a.group("project", "Projects: domain, repository, deployment, features (for operators)",
		a.projectCreate(), a.projectList(), a.projectConfigure(), a.projectRevoke())
}

// settingFlags are the flags that describe a project's features and retention.
func settingFlags(cmd *cobra.Command, t *admin.Settings, r *admin.Retention) {
	f := cmd.Flags()
	f.StringVar(&t.Search, "search", "", `search: "bundled" (in the reader's browser) or the https address of a service`)
	f.StringVar(&t.Assistant, "assistant", "", `https address of the AI assistant; "$page" in it becomes the address of the page's text, "$path" the page's path`)
	f.StringVar(&t.AnalyticsID, "analytics-id", "", "measurement id of web analytics: G-…, GTM-… or phc_…")
	f.BoolVar(&t.SiteAnalytics, "site-analytics", false, "load the analytics that the site's docs.json names, where the deployment leaves that open")
	f.StringVar(&t.Feedback, "feedback", "", "https address that readers' ratings of pages are sent to")
	f.BoolVar(&t.Playground, "playground", false, "turn the API playground on where the deployment leaves that open")
	f.BoolVar(&t.CanonicalHTML, "canonical-html", false, `write canonical addresses with ".html", for hosts that can't rewrite`)
	f.Var(&hostsFlag{t}, "allow-host", `https host that exports may fetch files from, "*." for all below one; may be repeated, "" for none`)
	f.IntVar(&r.SnapshotDays, "snapshot-days", 0, "remove snapshots after this many days (0: keep; the newest and exported ones stay)")
	f.IntVar(&r.BundleDays, "bundle-days", 0, "remove bundles after this many days (0: keep)")
}

// hostsFlag gathers the hosts of --allow-host.
type hostsFlag struct{ settings *admin.Settings }

func (h *hostsFlag) String() string {
	if h.settings == nil { // cobra asks an empty one for the default
		return ""
	}
	return h.settings.AllowHosts
}

func (h *hostsFlag) Type() string { return "host" }

// Set adds hosts to those of the flags before.
func (h *hostsFlag) Set(value string) error {
	hosts, err := admin.NormalHosts(append(h.settings.Hosts(), strings.Split(value, ",")...))
	if err != nil {
		return err
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host != "" && remote.NewHosts([]string{host}).Empty() {
			return fmt.Errorf("%s is a name of a private network; exports fetch only from hosts on the internet", host)
		}
	}
	h.settings.AllowHosts = hosts
	return nil
}

func (a *app) projectCreate() *cobra.Command {
	var o operator
	var p admin.Project
	var kind string
	cmd := &cobra.Command{
		Use:     "create --org ORGANISATION --domain DOMAIN --repository URL",
		Short:   "Create a project, claim its domain, and print its id",
		Example: `  bindery project create --data ./.data --org org_… --domain docs.example.com --repository https://github.com/example/docs`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if err := required("org", p.Organisation, "domain", p.Domain, "repository", p.Repository); err != nil {
				return err
			}
			p.Kind = admin.Kind(kind)
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				made, err := s.CreateProject(ctx, p)
				if err != nil {
					return err
				}
				return a.print(made, func(w io.Writer) { fmt.Fprintln(w, made.ID) })
			})
		}),
	}
	cmd.Flags().StringVar(&p.Organisation, "org", "", "id of the organisation")
	cmd.Flags().StringVar(&p.Domain, "domain", "", "the site's domain")
	cmd.Flags().StringVar(&p.Repository, "repository", "", "address of the source repository")
	cmd.Flags().StringVar(&kind, "kind", string(admin.KindCloud), "deployment: cloud, client-hosted or air-gapped")
	settingFlags(cmd, &p.Settings, &p.Retention)
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) projectList() *cobra.Command {
	var o operator
	var org string
	cmd := &cobra.Command{
		Use:     "list [--org ORGANISATION]",
		Short:   "List projects: their ids are what callers of agent jobs need",
		Example: `  bindery project list --data ./.data --json`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				ids, err := organisations(ctx, s, org)
				if err != nil {
					return err
				}
				var all []admin.Project
				for _, id := range ids {
					some, err := s.ListProjects(ctx, id)
					if err != nil {
						return err
					}
					all = append(all, some...)
				}
				return a.print(listed(all), func(w io.Writer) {
					var rows [][]string
					for _, p := range all {
						rows = append(rows, []string{p.ID, p.Domain, string(p.Kind), p.Organisation, day(p.CreatedAt), day(p.RevokedAt)})
					}
					table(w, "id domain kind organisation created revoked", rows)
				})
			})
		}),
	}
	cmd.Flags().StringVar(&org, "org", "", "only projects of this organisation")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) projectConfigure() *cobra.Command {
	var o operator
	var given admin.Settings
	var retention admin.Retention
	var kind string
	cmd := &cobra.Command{
		Use:     "configure PROJECT",
		Aliases: []string{"set"},
		Short:   "Change a project's deployment, features and retention",
		Long: `Configure changes the given settings and leaves the rest as it is. Exports that have started keep
the deployment and the settings that they started with.`,
		Example: `  bindery project configure prj_… --data ./.data --search bundled --bundle-days 90
  bindery project set prj_… --data ./.data --kind client-hosted --analytics-id G-XXXXXXX`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				p, err := s.GetProject(ctx, args[0])
				if err != nil {
					return err
				}
				changed := cmd.Flags().Changed
				c := admin.Configuration{Kind: p.Kind, Settings: p.Settings, Retention: p.Retention}
				settings, keep := &c.Settings, &c.Retention
				if changed("kind") {
					c.Kind = admin.Kind(kind)
				}
				if changed("search") {
					settings.Search = given.Search
				}
				if changed("assistant") {
					settings.Assistant = given.Assistant
				}
				if changed("analytics-id") {
					settings.AnalyticsID = given.AnalyticsID
				}
				if changed("site-analytics") {
					settings.SiteAnalytics = given.SiteAnalytics
				}
				if changed("feedback") {
					settings.Feedback = given.Feedback
				}
				if changed("playground") {
					settings.Playground = given.Playground
				}
				if changed("canonical-html") {
					settings.CanonicalHTML = given.CanonicalHTML
				}
				if changed("allow-host") {
					settings.AllowHosts = given.AllowHosts
				}
				if changed("snapshot-days") {
					keep.SnapshotDays = retention.SnapshotDays
				}
				if changed("bundle-days") {
					keep.BundleDays = retention.BundleDays
				}
				p, err = s.ConfigureProject(ctx, p.ID, c)
				if err != nil {
					return err
				}
				return a.print(p, func(w io.Writer) { fmt.Fprintf(w, "%s is configured\n", p.ID) })
			})
		}),
	}
	cmd.Flags().StringVar(&kind, "kind", "", "deployment: cloud, client-hosted or air-gapped")
	settingFlags(cmd, &given, &retention)
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) projectRevoke() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:     "revoke PROJECT",
		Short:   "End a project and free its domain",
		Example: `  bindery project revoke prj_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				p, err := s.RevokeProject(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(p, func(w io.Writer) { fmt.Fprintf(w, "%s is revoked; %s is free\n", p.ID, p.Domain) })
			})
		}),
	}
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}
