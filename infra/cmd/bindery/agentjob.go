package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) agentCommand() *cobra.Command {
	return a.group("agent", "Agent jobs: changes to a repository of documentation, as pull requests", a.agentShow())
}

// projectFlag is the project that an agent job belongs to: the one given, or
// the environment's.
func (a *app) projectFlag(cmd *cobra.Command, project *string) {
	cmd.Flags().StringVar(project, "project", "", "id of the project (default: $BINDERY_PROJECT)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *project = cmp.Or(*project, a.env.Project); *project == "" {
			return usagef("the project is missing: --project or BINDERY_PROJECT")
		}
		return nil
	}
}

// agentShow reads a job as callers do, over the API.
func (a *app) agentShow() *cobra.Command {
	var who caller
	var project string
	cmd := &cobra.Command{
		Use:     "show JOB --project PROJECT",
		Short:   "Read an agent job over the API, as its callers do",
		Example: `  bindery agent show agj_… --project prj_…`,
		Args:    cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			job, err := c.AgentJob(cmd.Context(), project, args[0])
			if err != nil {
				return err
			}
			return a.print(job, func(w io.Writer) {
				text := func(s *string) string {
					if s == nil {
						return ""
					}
					return *s
				}
				archived := ""
				if job.ArchivedAt != nil {
					archived = day(*job.ArchivedAt)
				}
				facts(w, "id", job.ID, "status", string(job.Status), "repository", job.Source.Repository,
					"ref", text(job.Source.Ref), "model", job.Model, "pull request", text(job.PRLink), "created", day(job.CreatedAt), "archived", archived)
			})
		}),
	}
	a.projectFlag(cmd, &project)
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}
