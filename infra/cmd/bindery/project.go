package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) projectCommand() *cobra.Command {
	return a.group("project", "Projects: domain, repository, deployment, features (for operators)",
		a.projectCreate(), a.projectList(), a.projectConfigure(), a.projectRevoke(), a.credentialCommand())
}

// settingFlags are the flags that describe a project's features and retention,
// with the values that t and r have as defaults.
func settingFlags(f *pflag.FlagSet, t *admin.Settings, r *admin.Retention, agent *admin.AgentSettings) {
	bundleFlags(f, t)
	f.IntVar(&r.SnapshotDays, "snapshot-days", r.SnapshotDays, "remove snapshots after this many days (0: keep; the newest and exported ones stay)")
	f.IntVar(&r.BundleDays, "bundle-days", r.BundleDays, "remove bundles after this many days, but not the newest and live ones (0: the operator's setting)")
	f.StringVar(&agent.Root, "agent-root", agent.Root, "agent jobs: the docs folder in the repository (default: the whole)")
	f.StringVar(&agent.Forge, "agent-forge", agent.Forge, "agent jobs: kind of the repository's server, one of "+strings.Join(admin.ForgeKinds(), ", ")+" (default: by its host)")
	f.StringVar(&agent.API, "agent-forge-api", agent.API, "agent jobs: base address of the server's REST API (default: the usual one of its kind)")
	f.BoolVar(&agent.RefuseNewHosts, "agent-refuse-new-hosts", agent.RefuseNewHosts, "agent jobs: refuse changes that name hosts which the site did not name before")
	f.BoolVar(&agent.RefuseExecutable, "agent-refuse-executable", agent.RefuseExecutable, "agent jobs: refuse changes that add code which runs in readers' browsers, and changed pages that can't be rendered")
	f.BoolVar(&agent.AllowOtherFiles, "agent-allow-other-files", agent.AllowOtherFiles, "agent jobs: allow to write files that are no pages, snippets, pictures, styles or specifications, and that docs.json does not name")
	f.BoolVar(&agent.ReadRepository, "agent-read-repository", agent.ReadRepository, "agent jobs: allow to read the whole repository, not the docs folder alone (new projects: on)")
	f.StringVar(&agent.Repositories, "agent-repositories", agent.Repositories, `agent jobs: further repositories that may be read, as "name=https://host/owner/name", separated by commas`)
	f.StringVar(&agent.BranchPrefix, "agent-branch-prefix", agent.BranchPrefix, `agent jobs: how names of branches begin (default: "`+admin.DefaultBranchPrefix+`")`)
	f.StringVar(&agent.TitlePrefix, "agent-title-prefix", agent.TitlePrefix, `agent jobs: how titles without a type of commit begin, such as "docs: "`)
	f.BoolVar(&agent.SignOff, "agent-sign-off", agent.SignOff, "agent jobs: sign commits off in the agent's name")
	f.BoolVar(&agent.Template, "agent-template", agent.Template, "agent jobs: put the repository's template of pull requests before their text")
	f.StringVar(&agent.Labels, "agent-labels", agent.Labels, "agent jobs: labels of new pull requests, separated by commas")
	f.StringVar(&agent.Reviewers, "agent-reviewers", agent.Reviewers, `agent jobs: users or teams ("acme/writers") who are asked to review new pull requests, separated by commas`)
	f.BoolVar(&agent.CoAuthors, "agent-co-authors", agent.CoAuthors, "agent jobs: name the people who asked for a change as co-authors of its commit, with their mail addresses")
	f.IntVar(&agent.MaxTurns, "agent-max-turns", agent.MaxTurns, "agent jobs: the most turns of a round (0: as the plan says)")
	f.Int64Var(&agent.MaxCost, "agent-max-cost", agent.MaxCost, "agent jobs: the most that a round may cost, in millionths of a US dollar (0: as the plan says)")
	f.Int64Var(&agent.MaxMonthCost, "agent-max-month-cost", agent.MaxMonthCost, "agent jobs: the most that all rounds of the project may cost in a month of UTC, in millionths of a US dollar (0: no limit)")
	f.IntVar(&agent.MaxFiles, "agent-max-files", agent.MaxFiles, "agent jobs: the most files that a round may change (0: as the plan says)")
}

// bundleFlags are the flags of what a bundle has, with the values that t has as
// defaults.
func bundleFlags(f *pflag.FlagSet, t *admin.Settings) {
	f.StringVar(&t.Search, "search", t.Search, `search: "bundled" (in the reader's browser) or the https address of a service`)
	f.StringVar(&t.Assistant, "assistant", t.Assistant, `https address of the AI assistant; "$page" in it becomes the address of the page's text, "$path" the page's path`)
	f.StringVar(&t.AnalyticsID, "analytics-id", t.AnalyticsID, "measurement id of web analytics: G-…, GTM-… or phc_…")
	f.BoolVar(&t.SiteAnalytics, "site-analytics", t.SiteAnalytics, "load the analytics that the site's docs.json names, where the deployment leaves that open")
	f.StringVar(&t.Feedback, "feedback", t.Feedback, "https address that readers' ratings of pages are sent to")
	f.BoolVar(&t.Playground, "playground", t.Playground, "turn the API playground on where the deployment leaves that open")
	f.BoolVar(&t.CanonicalHTML, "canonical-html", t.CanonicalHTML, `write canonical addresses with ".html", for hosts that can't rewrite`)
	f.Var((*baseFlag)(&t.BasePath), "base-path", "path below the domain that the bundle is served at, such as /handbook (default: the root)")
	f.Var(&hostsFlag{settings: t}, "allow-host", `https host that exports may fetch files from, "*." for all below one; may be repeated, "" for none`)
}

// baseFlag is a base path in its normal form.
type baseFlag string

func (b *baseFlag) String() string { return string(*b) }
func (b *baseFlag) Type() string   { return "path" }

// Set takes a path with or without slashes at its ends.
func (b *baseFlag) Set(value string) error {
	path, err := admin.NormalBasePath(value)
	if err != nil {
		return errors.New(withoutField(err))
	}
	*b = baseFlag(path)
	return nil
}

// hostsFlag gathers the hosts of --allow-host, which replace those that were
// there before.
type hostsFlag struct {
	settings *admin.Settings
	given    []string
}

func (h *hostsFlag) String() string {
	if h.settings == nil { // cobra asks an empty one for the default
		return ""
	}
	return h.settings.AllowHosts
}

func (h *hostsFlag) Type() string { return "host" }

// Set adds hosts to those of the flags before.
func (h *hostsFlag) Set(value string) error {
	hosts, err := admin.NormalHosts(append(h.given, strings.Split(value, ",")...))
	if err != nil {
		return errors.New(withoutField(err))
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host != "" && remote.NewHosts([]string{host}).Empty() {
			return fmt.Errorf("%s is a name of a private network; exports fetch only from hosts on the internet", host)
		}
	}
	h.settings.AllowHosts, h.given = hosts, strings.Split(hosts, ",")
	return nil
}

func (a *app) projectCreate() *cobra.Command {
	p := admin.Project{Agent: admin.NewAgentSettings()}
	var kind string
	cmd := &cobra.Command{
		Use:     "create --org ORGANISATION --domain DOMAIN --repository URL",
		Short:   "Create a project, claim its domain, and print its id",
		Example: `  bindery project create --data ./.data --org org_… --domain docs.example.com --repository https://github.com/example/docs`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return required("org", p.Organisation, "domain", p.Domain, "repository", p.Repository)
		},
	}
	cmd.Flags().StringVar(&p.Organisation, "org", "", "id of the organisation")
	cmd.Flags().StringVar(&p.Domain, "domain", "", "the site's domain")
	cmd.Flags().StringVar(&p.Repository, "repository", "", "address of the source repository")
	cmd.Flags().StringVar(&kind, "kind", string(admin.KindCloud), "deployment: cloud, client-hosted or air-gapped")
	deployFlag(cmd.Flags(), &p.Deploy)
	settingFlags(cmd.Flags(), &p.Settings, &p.Retention, &p.Agent)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) (admin.Project, error) {
		p.Kind = admin.Kind(kind)
		return s.CreateProject(ctx, p)
	}, func(w io.Writer, made admin.Project) { fmt.Fprintln(w, made.ID) })
}

func (a *app) projectList() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "list [--org ORGANISATION]",
		Short:   "List projects: their ids are what callers of agent jobs need",
		Example: `  bindery project list --data ./.data --json`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&org, "org", "", "only projects of this organisation")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) ([]admin.Project, error) {
		return ofOrganisations(ctx, s, org, s.ListProjects)
	}, func(w io.Writer, all []admin.Project) {
		var rows [][]string
		for _, p := range all {
			rows = append(rows, []string{p.ID, p.Domain, string(p.Kind), p.Organisation, day(p.CreatedAt), day(p.RevokedAt)})
		}
		table(w, "id domain kind organisation created revoked", rows)
	})
}

func (a *app) projectConfigure() *cobra.Command {
	var given admin.Configuration
	cmd := &cobra.Command{
		Use:     "configure PROJECT",
		Aliases: []string{"set"},
		Short:   "Change a project's deployment, features and retention",
		Long: `Configure changes the given settings and leaves the rest as it is. Exports that have started keep
the deployment and the settings that they started with.`,
		Example: `  bindery project configure prj_… --data ./.data --search bundled --bundle-days 90
  bindery project set prj_… --data ./.data --kind client-hosted --analytics-id G-XXXXXXX`,
		Args: cobra.ExactArgs(1),
	}
	configurationFlags(cmd.Flags(), &given)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (p admin.Project, err error) {
		if p, err = s.GetProject(ctx, args[0]); err != nil {
			return p, err
		}
		c := admin.Configuration{Kind: p.Kind, Settings: p.Settings, Retention: p.Retention, Agent: p.Agent, Deploy: p.Deploy}
		into := pflag.NewFlagSet("", pflag.ContinueOnError)
		configurationFlags(into, &c)
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if setting := into.Lookup(f.Name); setting != nil {
				err = errors.Join(err, setting.Value.Set(f.Value.String()))
			}
		})
		if err != nil {
			return p, err
		}
		return s.ConfigureProject(ctx, p.ID, c)
	}, func(w io.Writer, p admin.Project) { fmt.Fprintf(w, "%s is configured\n", p.ID) })
}

func configurationFlags(f *pflag.FlagSet, c *admin.Configuration) {
	f.StringVar((*string)(&c.Kind), "kind", string(c.Kind), "deployment: cloud, client-hosted or air-gapped")
	deployFlag(f, &c.Deploy)
	settingFlags(f, &c.Settings, &c.Retention, &c.Agent)
}

// deployFlag adds the flag --deploy: exports go live automatically, or by a promote.
func deployFlag(f *pflag.FlagSet, mode *admin.DeployMode) {
	f.StringVar((*string)(mode), "deploy", string(*mode), "whether exports that are started to go live do so by themselves: auto or manual (default: auto)")
}

func (a *app) projectRevoke() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:     "revoke PROJECT",
		Short:   "End a project, free its domain and remove its credential",
		Example: `  bindery project revoke prj_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s *admin.Service, args []string) (admin.Project, error) {
		return s.RevokeProject(ctx, args[0])
	}, func(w io.Writer, p admin.Project) { fmt.Fprintf(w, "%s is revoked; %s is free\n", p.ID, p.Domain) })
}
