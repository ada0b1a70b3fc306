package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// completionTime bounds what a completion may ask the API: a shell waits for it at
// every press of the tab key.
const completionTime = 1500 * time.Millisecond

// values completes a word; words may have a description after a tab.
type values func(cmd *cobra.Command) []cobra.Completion

// fixed completes from a list.
func fixed(list ...string) values {
	return func(*cobra.Command) []cobra.Completion { return list }
}

// asked completes from what the API returns in time, with the access of the
// command's own flags. What fails completes nothing: a shell has no place for an
// error.
func (a *app) asked(ask func(ctx context.Context, c *client.Client, cmd *cobra.Command) []cobra.Completion) values {
	return func(cmd *cobra.Command) []cobra.Completion {
		var who caller
		for name, to := range map[string]*string{"url": &who.url, "key": &who.key, "key-file": &who.keyFile, "profile": &who.profile} {
			if f := cmd.Flags().Lookup(name); f != nil {
				*to = f.Value.String()
			}
		}
		p, err := a.access(&who)
		if err != nil || p.URL == "" || p.Key == "" {
			return nil
		}
		c, err := a.newClient(p.URL, p.Key, p.AllowHTTP, 1)
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), a.completion)
		defer cancel()
		return ask(ctx, c, cmd)
	}
}

// flagText is the value of a flag of a command, "" for one that it does not have.
func flagText(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// completions adds what shells complete beyond names of commands and flags: to
// every command, by what its flags and its first argument are called.
func (a *app) completions(root *cobra.Command) {
	projects := func(word func(id, domain string) string) values {
		return a.asked(func(ctx context.Context, c *client.Client, _ *cobra.Command) (words []cobra.Completion) {
			page, err := c.Projects(ctx, "", 100)
			if err != nil {
				return nil
			}
			for _, p := range page.Projects {
				words = append(words, word(p.ProjectID, p.Domain))
			}
			return words
		})
	}
	domains := projects(func(_, domain string) string { return domain })
	exports := a.asked(func(ctx context.Context, c *client.Client, cmd *cobra.Command) (words []cobra.Completion) {
		page, err := c.Exports(ctx, flagText(cmd, "domain"), "", "", 50)
		if err != nil {
			return nil
		}
		for _, j := range page.Jobs {
			words = append(words, cobra.CompletionWithDesc(j.JobID, string(j.Status)+" "+j.Domain+" "+day(j.CreatedAt)))
		}
		return words
	})
	agentJobs := a.asked(func(ctx context.Context, c *client.Client, cmd *cobra.Command) (words []cobra.Completion) {
		project, err := a.projectOf(flagText(cmd, "project"), &caller{profile: flagText(cmd, "profile")})
		if err != nil {
			return nil
		}
		page, err := c.AgentJobs(ctx, project, "", "", 50)
		if err != nil {
			return nil
		}
		for _, j := range page.Jobs {
			words = append(words, cobra.CompletionWithDesc(j.ID, string(j.Status)+" "+day(j.CreatedAt)))
		}
		return words
	})
	snapshots := a.asked(func(ctx context.Context, c *client.Client, cmd *cobra.Command) (words []cobra.Completion) {
		page, err := c.Snapshots(ctx, flagText(cmd, "domain"), "", 50)
		if err != nil {
			return nil
		}
		for _, s := range page.Snapshots {
			words = append(words, cobra.CompletionWithDesc(s.SnapshotID, day(s.PublishedAt)))
		}
		return words
	})
	kept := func(*cobra.Command) []cobra.Completion {
		all, _ := loadProfiles()
		return all.names()
	}

	complete := map[string]values{
		"--profile": kept, "--domain": domains,
		"--project":  projects(cobra.CompletionWithDesc),
		"--kind":     fixed(string(admin.KindCloud), string(admin.KindClientHosted), string(admin.KindAirGapped)),
		"--fail-on":  fixed(append(slices.Clone(levels), "none")...),
		"--severity": fixed(levels...),
		"--status":   fixed("queued", "running", "completed", "failed"),
		"--format":   fixed(checkFormats...),

		"bindery diff --format":        fixed(diffFormats...),
		"bindery diff --fail-on":       fixed(lossWords...),
		"bindery audit --format":       fixed(auditFormats...),
		"bindery agent list --status":  fixed("active", "completed", "failed", "archived"),
		"bindery export --job":         exports,
		"bindery jobs JOB":             exports,
		"bindery agent JOB":            agentJobs,
		"bindery site JOB":             exports,
		"bindery site rollback --from": exports,
		"--deploy":                     fixed(string(admin.DeployAuto), string(admin.DeployManual)),
		"bindery snapshots SNAPSHOT":   snapshots,
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			own := complete[cmd.CommandPath()+" --"+f.Name]
			if own == nil {
				own = complete["--"+f.Name]
			}
			if own == nil {
				return
			}
			// It has none yet, which would be an error.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return own(cmd), cobra.ShellCompDirectiveNoFileComp
			})
		})
		if words := strings.Fields(cmd.Use); len(words) > 1 && cmd.HasParent() {
			if own := complete[cmd.Parent().CommandPath()+" "+words[1]]; own != nil {
				cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
					if len(args) > 0 {
						return nil, cobra.ShellCompDirectiveNoFileComp
					}
					return own(cmd), cobra.ShellCompDirectiveNoFileComp
				}
			}
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
}

// realIDs puts ids of the API's form in place of "exp_…" in examples and
// descriptions: what a reader sees there looks like what a command prints.
func realIDs(root *cobra.Command) {
	ids := strings.NewReplacer(
		"org_…", "org_5wz3m0kf1v8t6d2hq4rj9xn7pc",
		"prj_…", "prj_2n8c4xj7q0h5tv1wz9dk3m6rfg",
		"key_…", "key_8h1r6tw3y5kd0vz2nj4q9mc7xw",
		"psn_…", "psn_6q4v9m2xd7wj1t0k8hz5rn3cfr",
		"whk_…", "whk_3t7kz5w0n9rv2jq8xd6h1mc4fm",
		"exp_…", "exp_9d2jx6rm4w0tz8k5vq1hn7c3fg",
		"agj_…", "agj_06dw4k2n8q1xv7mz3t9rj5h0kc6f2w8d4qyg",
		"snp_…", "snp_06dw4h7t3c9fk1zn5xr8vq2mj0w6d4h9tk7c",
		"evt_…", "evt_06dw4m5r1j8hx3qt9kz7vn2w0c4fd6m8rj5g",
	)
	root.Example, root.Long = ids.Replace(root.Example), ids.Replace(root.Long)
	for _, below := range root.Commands() {
		realIDs(below)
	}
}
