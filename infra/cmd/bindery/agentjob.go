package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) agentJobCommand() *cobra.Command {
	var link string
	finish := a.agentJobMove("finish", "Complete an active job, with the pull request if there is one",
		func(ctx context.Context, s *admin.Service, project, id string) (admin.AgentJob, error) {
			return s.FinishAgentJob(ctx, project, id, link)
		})
	finish.Flags().StringVar(&link, "pr-link", "", "address of the pull request (default: nothing was changed)")
	return a.group("agent-job", "Agent jobs and their states (for operators)",
		a.agentJobCreate(), a.agentJobList(), finish,
		a.agentJobMove("fail", "Fail an active job", func(ctx context.Context, s *admin.Service, project, id string) (admin.AgentJob, error) {
			return s.FailAgentJob(ctx, project, id)
		}),
		a.agentJobMove("archive", "Archive a job that is completed or failed", func(ctx context.Context, s *admin.Service, project, id string) (admin.AgentJob, error) {
			return s.ArchiveAgentJob(ctx, project, id)
		}),
		a.agentJobShow())
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

func (a *app) agentJobCreate() *cobra.Command {
	var request admin.AgentJobRequest
	cmd := &cobra.Command{
		Use:     "create --project PROJECT --model MODEL",
		Short:   "Create an active agent job and print its id",
		Example: `  bindery agent-job create --data ./.data --project prj_… --model example-1 --ref docs/fix-links`,
		Args:    cobra.NoArgs,
	}
	a.projectFlag(cmd, &request.Project)
	hasProject := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := hasProject(cmd, args); err != nil {
			return err
		}
		return required("model", request.Model)
	}
	cmd.Flags().StringVar(&request.Model, "model", "", "the AI model")
	cmd.Flags().StringVar(&request.Ref, "ref", "", "the branch that the agent works on")
	cmd.Flags().StringVar(&request.Repository, "repository", "", "address of the source repository (default: the project's)")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) (admin.AgentJob, error) {
		return s.CreateAgentJob(ctx, request)
	}, func(w io.Writer, job admin.AgentJob) { fmt.Fprintln(w, job.ID) })
}

func (a *app) agentJobMove(name, short string, move func(ctx context.Context, s *admin.Service, project, id string) (admin.AgentJob, error)) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:     name + " JOB --project PROJECT",
		Short:   short,
		Example: fmt.Sprintf("  bindery agent-job %s job_… --project prj_… --data ./.data", name),
		Args:    cobra.ExactArgs(1),
	}
	a.projectFlag(cmd, &project)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (admin.AgentJob, error) {
		return move(ctx, s, project, args[0])
	}, func(w io.Writer, job admin.AgentJob) { fmt.Fprintf(w, "%s is %s\n", job.ID, job.Status) })
}

func (a *app) agentJobList() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:     "list --project PROJECT",
		Short:   "List a project's agent jobs",
		Example: `  bindery agent-job list --project prj_… --data ./.data`,
		Args:    cobra.NoArgs,
	}
	a.projectFlag(cmd, &project)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) ([]admin.AgentJob, error) {
		all, err := s.ListAgentJobs(ctx, project)
		return listed(all), err
	}, func(w io.Writer, all []admin.AgentJob) {
		var rows [][]string
		for _, j := range all {
			rows = append(rows, []string{j.ID, string(j.Status), j.Model, j.Ref, day(j.CreatedAt), j.PRLink})
		}
		table(w, "id status model ref created pull-request", rows)
	})
}

// agentJobShow reads a job as callers do, over the API.
func (a *app) agentJobShow() *cobra.Command {
	var who caller
	var project string
	cmd := &cobra.Command{
		Use:     "show JOB --project PROJECT",
		Short:   "Read an agent job over the API, as its callers do",
		Example: `  bindery agent-job show job_… --project prj_…`,
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
