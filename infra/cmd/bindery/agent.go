package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) agentCommand() *cobra.Command {
	type call = func(ctx context.Context, c *client.Client, project, id string) (api.AgentJob, error)
	return a.group("agent", "Agent jobs: changes to a repository of documentation, as pull requests",
		a.agentRun(), a.agentMessage(), a.agentList(), a.agentModels(),
		a.agentOne("show", "Read an agent job", true, call(func(ctx context.Context, c *client.Client, project, id string) (api.AgentJob, error) {
			return c.AgentJob(ctx, project, id)
		})),
		a.agentOne("cancel", "End an active agent job", true, call(func(ctx context.Context, c *client.Client, project, id string) (api.AgentJob, error) {
			return c.CancelAgentJob(ctx, project, id)
		})),
		a.agentOne("archive", "Archive a completed or failed agent job", false, call(func(ctx context.Context, c *client.Client, project, id string) (api.AgentJob, error) {
			return c.ArchiveAgentJob(ctx, project, id)
		})))
}

// agentFlags are the flags that commands for agent jobs share.
type agentFlags struct {
	who     caller
	project string
	follow  bool
	timeout time.Duration
}

// flags adds them to a command. The default project is that of the environment.
func (f *agentFlags) flags(a *app, cmd *cobra.Command, follows bool) {
	cmd.Flags().StringVar(&f.project, "project", "", "id of the project (default: $BINDERY_PROJECT)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		var err error
		f.project, err = a.projectOf(f.project, &f.who)
		return err
	}
	if follows {
		cmd.Flags().BoolVar(&f.follow, "follow", false, "follow the job until it is final, and show what the agent does")
		cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up following after this time (default: never)")
	}
	f.who.flags(cmd)
	a.jsonFlag(cmd)
}

// agentWork makes the call of a command, follows the job if asked to, and prints it.
func (a *app) agentWork(cmd *cobra.Command, f *agentFlags, work func(ctx context.Context, c *client.Client) (api.AgentJob, error)) error {
	if f.timeout < 0 {
		return usagef("--timeout must not be negative")
	}
	c, err := a.client(&f.who)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	job, err := work(ctx, c)
	if err != nil {
		return err
	}
	var ended error
	if f.follow {
		id, round := job.ID, job.Round
		fmt.Fprintf(a.stderr, "agent job %s\n", id)
		job, ended = c.FollowAgent(ctx, f.project, id, client.FollowOptions{Limit: f.timeout, Event: func(e api.AgentEvent) {
			if e.Round >= round { // a message's answer needs no history
				a.showEvent(e)
			}
		}})
		if job.ID == "" || job.Status == "active" {
			fmt.Fprintf(a.stderr, "The job continues. To follow it later: bindery agent show %s --project %s --follow\n", id, f.project)
			return ended
		}
	}
	if err := a.print(job, func(w io.Writer) { showAgentJob(w, job) }); err != nil {
		return err
	}
	return ended
}

func (a *app) agentRun() *cobra.Command {
	var f agentFlags
	var files []string
	var request api.StartAgentJobRequest
	cmd := &cobra.Command{
		Use:   "run --project PROJECT PROMPT",
		Short: "Ask an agent for a change, as a pull request",
		Long: `Run starts an agent job in the project's repository. With --follow it shows the agent's plan, what
it does and what that costs, and ends with the pull request and the size of its change. The exit
code is 3 if the job fails. A job continues if this program is interrupted.`,
		Example: `  bindery agent run --project prj_… "Mend the broken links on the installation page" --follow
  bindery agent run --project prj_… --ref release/2.1 --model fast --draft "Describe the new installer"
  bindery agent run --project prj_… --attach screen.png --attach notes.md "Describe this dialogue"`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			request.Prompt = args[0]
			var err error
			if request.Attachments, err = attachments(files); err != nil {
				return err
			}
			return a.agentWork(cmd, &f, func(ctx context.Context, c *client.Client) (api.AgentJob, error) {
				return c.StartAgentJob(ctx, f.project, request)
			})
		}),
	}
	cmd.Flags().StringVar(&request.Ref, "ref", "", "branch or tag to start from (default: the repository's own)")
	cmd.Flags().StringVar(&request.Model, "model", "", "name of the model (default: the service's)")
	attachFlag(cmd, &files)
	cmd.Flags().BoolVar(&request.AsDraft, "draft", false, "open the pull request as a draft")
	f.flags(a, cmd, true)
	return cmd
}

// attachFlag adds the flag that names files to attach.
func attachFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "attach", nil, "a file for the agent to read: text, a specification or a picture; may be repeated")
}

// attachments reads files that are to be attached.
func attachments(files []string) ([]api.Attachment, error) {
	var all []api.Attachment
	left := int64(admin.MaxAttached)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, usagef("--attach: %v", err)
		}
		if left -= info.Size(); left < 0 || !info.Mode().IsRegular() {
			return nil, usagef("--attach: %s: is not a file, or the files have more than %d bytes together", name, admin.MaxAttached)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, usagef("--attach: %v", err)
		}
		all = append(all, api.Attachment{Name: filepath.Base(name), Data: data})
	}
	return all, nil
}

func (a *app) agentMessage() *cobra.Command {
	var f agentFlags
	var files []string
	cmd := &cobra.Command{
		Use:     "message JOB PROMPT --project PROJECT",
		Short:   "Send a message to an agent job; a job that has ended becomes active again",
		Example: `  bindery agent message agj_… "Please mention Windows too" --project prj_… --follow`,
		Args:    cobra.ExactArgs(2),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			request := api.MessageRequest{Prompt: args[1]}
			var err error
			if request.Attachments, err = attachments(files); err != nil {
				return err
			}
			return a.agentWork(cmd, &f, func(ctx context.Context, c *client.Client) (api.AgentJob, error) {
				return c.MessageAgentJob(ctx, f.project, args[0], request)
			})
		}),
	}
	attachFlag(cmd, &files)
	f.flags(a, cmd, true)
	return cmd
}

// agentOne returns a command whose only argument is a job.
func (a *app) agentOne(name, short string, follows bool, call func(ctx context.Context, c *client.Client, project, id string) (api.AgentJob, error)) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:     name + " JOB --project PROJECT",
		Short:   short,
		Example: fmt.Sprintf("  bindery agent %s agj_… --project prj_…", name),
		Args:    cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.agentWork(cmd, &f, func(ctx context.Context, c *client.Client) (api.AgentJob, error) {
				return call(ctx, c, f.project, args[0])
			})
		}),
	}
	f.flags(a, cmd, follows)
	return cmd
}

func (a *app) agentList() *cobra.Command {
	var f agentFlags
	var status string
	var most int
	cmd := &cobra.Command{
		Use:     "list --project PROJECT",
		Short:   "List a project's agent jobs, newest first",
		Example: `  bindery agent list --project prj_… --status failed`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if err := checkMost(most); err != nil {
				return err
			}
			c, err := a.client(&f.who)
			if err != nil {
				return err
			}
			jobs, err := paged(most, func(cursor string, limit int) ([]api.AgentJob, *string, error) {
				page, err := c.AgentJobs(cmd.Context(), f.project, status, cursor, limit)
				return page.Jobs, page.NextCursor, err
			})
			if err != nil {
				return err
			}
			return a.print(jobs, func(w io.Writer) {
				var rows [][]string
				for _, j := range jobs {
					rows = append(rows, []string{j.ID, string(j.Status), agentName(j), j.Model, orEmpty(j.Source.Ref), day(j.CreatedAt), orEmpty(j.PRLink)})
				}
				table(w, "id status title model ref created pull-request", rows)
			})
		}),
	}
	cmd.Flags().StringVar(&status, "status", "", "only jobs that are active, completed, failed or archived")
	cmd.Flags().IntVar(&most, "limit", 50, "the most jobs to list")
	f.flags(a, cmd, false)
	return cmd
}

func (a *app) agentModels() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:     "models --project PROJECT",
		Short:   "List the models that a project's agents can use",
		Example: `  bindery agent models --project prj_…`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			c, err := a.client(&f.who)
			if err != nil {
				return err
			}
			all, err := c.AgentModels(cmd.Context(), f.project)
			if err != nil {
				return err
			}
			return a.print(all, func(w io.Writer) {
				var rows [][]string
				for _, m := range all.Models {
					row := []string{m.Name, m.Model, strconv.Itoa(m.ContextTokens), strconv.Itoa(m.OutputTokens), "", "", ""}
					if p := m.Price; p != nil {
						row[4], row[5] = admin.USDollars(p.InputMicros), admin.USDollars(p.OutputMicros)
					}
					if m.Name == orEmpty(all.Default) {
						row[6] = "default"
					}
					rows = append(rows, row)
				}
				table(w, "name model context output per-million-read per-million-written used", rows)
			})
		}),
	}
	f.flags(a, cmd, false)
	return cmd
}

// showAgentJob writes a job for people.
func showAgentJob(w io.Writer, job api.AgentJob) {
	pairs := []string{
		"id", job.ID, "title", orEmpty(job.Title), "prompt", said(job.Prompt), "status", string(job.Status), "repository", job.Source.Repository, "ref", orEmpty(job.Source.Ref), "model", job.Model,
		"phase", phaseText(job), "pull request", orEmpty(job.PRLink), "branch", orEmpty(job.Branch), "changes", diffStat(job.Changes),
		"turns", strconv.Itoa(job.TurnCount), "used", tokensText(job.Usage), "cost", costText(job),
	}
	if job.Failure != nil {
		pairs = append(pairs, "failure", fmt.Sprintf("%s (%s)", job.Failure.Message, job.Failure.Code))
	}
	if job.Unfinished {
		pairs = append(pairs, "unfinished", "the round used up its budget; a message goes on")
	}
	for _, p := range job.Pages {
		pairs = append(pairs, p.Change, strings.TrimPrefix(orEmpty(p.From)+" → "+p.Path, " → "))
	}
	for _, f := range job.Findings {
		pairs = append(pairs, "finding", f)
	}
	pairs = append(pairs, "created", day(job.CreatedAt))
	if job.ArchivedAt != nil {
		pairs = append(pairs, "archived", day(*job.ArchivedAt))
	}
	facts(w, append(pairs, "summary", said(job.Summary), "question", said(job.Question))...)
}

// phaseText returns the phase of a job, and what it waits for.
func phaseText(job api.AgentJob) string {
	switch {
	case job.Position != nil:
		return fmt.Sprintf("%s, number %d in the queue", orEmpty(job.Phase), *job.Position)
	case job.RetryAt != nil:
		return fmt.Sprintf("%s, asks the model again at %s UTC", orEmpty(job.Phase), job.RetryAt.UTC().Format(time.TimeOnly))
	}
	return orEmpty(job.Phase)
}

// agentName tells people one job from another: its title, else how its prompt begins.
func agentName(job api.AgentJob) string {
	name := cmp.Or(orEmpty(job.Title), said(job.Prompt))
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60]) + "…"
	}
	return name
}

// said is a text of several lines on one. The client shows their ends as they are
// escaped in JSON.
func said(s *string) string { return oneLine(strings.ReplaceAll(orEmpty(s), `\n`, " ")) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func diffStat(c api.AgentChanges) string {
	if c.Files == 0 {
		return ""
	}
	return fmt.Sprintf("%s, +%d -%d", count(c.Files, "file"), c.Added, c.Removed)
}

func tokensText(u api.AgentUsage) string {
	return fmt.Sprintf("%d tokens in, %d cached, %d out", u.InputTokens, u.CachedTokens, u.OutputTokens)
}

// costText returns what a job has cost, by the prices of the service's table of models.
func costText(job api.AgentJob) string {
	u := job.Usage
	switch {
	case u.CostMicros == 0 && u.InputTokens+u.CachedTokens+u.OutputTokens > 0:
		return "the model has no price"
	case job.Round > 1:
		return fmt.Sprintf("%s in %d rounds, %s of it in the last", usDollars(u.CostMicros), job.Round, usDollars(job.RoundCostMicros))
	}
	return usDollars(u.CostMicros)
}

// usDollars formats an amount in millionths of a dollar to a hundredth of a cent.
func usDollars(micros int64) string { return fmt.Sprintf("$%.4f", float64(micros)/1e6) }

// showEvent prints an event for people, on standard error.
func (a *app) showEvent(e api.AgentEvent) {
	say := func(what, text string) {
		fmt.Fprintf(a.stderr, "%s %s\n", a.paint(a.stderr, gray, what), text)
	}
	switch e.Kind {
	case "plan":
		for _, item := range e.Plan {
			say("plan   ", fmt.Sprintf("[%s] %s", item.State, item.Text))
		}
	case "turn":
		for _, t := range e.Tools {
			parts := strings.Join(strings.Fields(t.Name+" "+t.File), " ")
			if t.Failed {
				parts += " " + a.paint(a.stderr, red, "refused")
			}
			if t.Outcome != "" {
				parts += ": " + t.Outcome
			}
			say(fmt.Sprintf("turn %-2d", e.Turn), parts)
		}
		if e.Text != "" {
			say(fmt.Sprintf("turn %-2d", e.Turn), e.Text)
		}
	case "usage":
		if e.Usage != nil {
			say("used   ", tokensText(*e.Usage)+", "+usDollars(e.Usage.CostMicros))
		}
	case "end": // the result says how
	default:
		for line := range strings.SplitSeq(e.Text, `\n`) { // as the client shows the ends of lines
			if line != "" {
				say(fmt.Sprintf("%-7s", e.Kind), line)
			}
		}
		var files []string
		for _, f := range e.Attachments {
			files = append(files, f.Name+" ("+size(int64(f.SizeBytes))+")")
		}
		if len(files) > 0 {
			say("files  ", strings.Join(files, ", "))
		}
	}
}
