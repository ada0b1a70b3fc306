package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) jobsCommand() *cobra.Command {
	jobs := a.group("jobs", "Export jobs: list, read, open and cancel them, read what they found and changed",
		a.jobsList(), a.jobsShow(), a.jobsOpen(), a.jobsCancel(), a.jobsFindings(), a.jobsChanges())
	jobs.Aliases = []string{"job"}
	return jobs
}

// calling completes a command that asks the API and prints what it returned.
func calling[T any](a *app, cmd *cobra.Command, ask func(ctx context.Context, c *client.Client, args []string) (T, error), show func(w io.Writer, result T)) *cobra.Command {
	var who caller
	who.flags(cmd)
	a.jsonFlag(cmd)
	cmd.RunE = a.does(func(cmd *cobra.Command, args []string) error {
		c, err := a.client(&who)
		if err != nil {
			return err
		}
		result, err := ask(cmd.Context(), c, args)
		if err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) { show(w, result) })
	})
	return cmd
}

// mostFlag adds the flag that bounds a list.
func mostFlag(cmd *cobra.Command, most *int, what string) {
	cmd.Flags().IntVar(most, "limit", 50, "the most "+what+" to list")
}

func checkMost(most int) error {
	if most <= 0 {
		return usagef("--limit must be positive")
	}
	return nil
}

// paged reads pages of a list until there are enough items or no more.
func paged[T any](most int, read func(cursor string, limit int) ([]T, *string, error)) ([]T, error) {
	all := []T{}
	for cursor := ""; ; {
		page, next, err := read(cursor, min(most-len(all), 200))
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == nil || len(all) >= most {
			return all, nil
		}
		cursor = *next
	}
}

func (a *app) jobsList() *cobra.Command {
	var domain, status string
	var most int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the organisation's exports, newest first",
		Example: `  bindery jobs list --domain docs.example.com --status failed`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&domain, "domain", "", "only exports of this domain")
	cmd.Flags().StringVar(&status, "status", "", "only jobs that are queued, running, completed or failed")
	mostFlag(cmd, &most, "jobs")
	return calling(a, cmd, func(ctx context.Context, c *client.Client, _ []string) ([]api.ExportJob, error) {
		if err := checkMost(most); err != nil {
			return nil, err
		}
		return paged(most, func(cursor string, limit int) ([]api.ExportJob, *string, error) {
			page, err := c.Exports(ctx, domain, status, cursor, limit)
			return page.Jobs, page.NextCursor, err
		})
	}, func(w io.Writer, jobs []api.ExportJob) {
		var rows [][]string
		for _, j := range jobs {
			rows = append(rows, []string{
				j.JobID, string(j.Status), fmt.Sprintf("%d%%", j.Progress), strconv.Itoa(j.PageCount), j.Domain, j.Version, day(j.CreatedAt), j.Error,
			})
		}
		table(w, "id status progress pages domain version created error", rows)
	})
}

func (a *app) jobsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show JOB",
		Short: "Read an export",
		Long: `Show prints what an export is, how far it is and why it failed. bindery export --job follows one
and downloads its bundle.`,
		Example: `  bindery jobs show exp_…
  bindery jobs show exp_… --json`,
		Args: cobra.ExactArgs(1),
	}
	return calling(a, cmd, func(ctx context.Context, c *client.Client, args []string) (api.ExportJob, error) {
		job, _, err := c.GetExport(ctx, args[0])
		return job, err
	}, func(w io.Writer, j api.ExportJob) {
		pairs := []string{
			"id", j.JobID, "status", string(j.Status), "progress", fmt.Sprintf("%d%%", j.Progress), "pages", strconv.Itoa(j.PageCount),
			"domain", j.Domain, "version", j.Version, "bundle of", j.Reused,
		}
		if c := j.Changes; c != nil {
			pairs = append(pairs, "changes", changesText(c), "since", fmt.Sprintf("%s, version %s", c.Since.JobID, c.Since.Version))
		}
		if j.Failure != nil {
			pairs = append(pairs, "failure", fmt.Sprintf("%s (%s)", j.Failure.Message, j.Failure.Code))
		}
		facts(w, append(pairs, "created", day(j.CreatedAt), "updated", day(j.UpdatedAt))...)
	})
}

// opened is the address of a job's page.
type opened struct {
	JobID string `json:"jobId"`
	URL   string `json:"url"`
}

func (a *app) jobsOpen() *cobra.Command {
	var who caller
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "open JOB",
		Short: "Open an export's page in the dashboard",
		Long: `Open opens an export's page in the dashboard, which is served beside the API, in a browser. The
address is printed, too; with --print or --json it is all that is done.`,
		Example: `  bindery jobs open exp_…
  bindery jobs open exp_… --print`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			job, _, err := c.GetExport(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			org, err := c.Organisation(cmd.Context())
			if err != nil {
				return err
			}
			access, err := a.access(&who)
			if err != nil {
				return err
			}
			page := opened{job.JobID, strings.TrimRight(access.URL, "/") + "/org/" + url.PathEscape(org.OrganisationID) + "/exports/" + url.PathEscape(job.JobID)}
			return a.open(cmd.Context(), page, page.URL, printOnly)
		}),
	}
	printFlag(cmd, &printOnly)
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) jobsCancel() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cancel JOB",
		Short:   "End an export that is queued or running",
		Long:    "Cancel ends an export: it is failed, with the code cancelled. Pages that were rendered count as used.",
		Example: `  bindery jobs cancel exp_…`,
		Args:    cobra.ExactArgs(1),
	}
	return calling(a, cmd, func(ctx context.Context, c *client.Client, args []string) (api.ExportJob, error) {
		return c.CancelExport(ctx, args[0])
	}, func(w io.Writer, j api.ExportJob) { fmt.Fprintf(w, "%s is cancelled\n", j.JobID) })
}

func (a *app) jobsFindings() *cobra.Command {
	var of client.FindingsOf
	var most int
	cmd := &cobra.Command{
		Use:     "findings JOB",
		Short:   "Show what a finished export found in its site",
		Long:    "Findings shows what an export that is completed or failed found: of a failed one, what was found by then.",
		Example: `  bindery jobs findings exp_… --severity error`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&of.Severity, "severity", "", "only findings that are error, warning, notice or info")
	cmd.Flags().StringVar(&of.Code, "code", "", "only findings of this code")
	cmd.Flags().StringVar(&of.File, "file", "", "only findings in this file")
	mostFlag(cmd, &most, "findings")
	return calling(a, cmd, func(ctx context.Context, c *client.Client, args []string) ([]api.Finding, error) {
		if err := checkMost(most); err != nil {
			return nil, err
		}
		of.JobID = args[0]
		return paged(most, func(cursor string, limit int) ([]api.Finding, *string, error) {
			page, err := c.Findings(ctx, of, cursor, limit)
			return page.Findings, page.NextCursor, err
		})
	}, func(w io.Writer, found []api.Finding) {
		list := findingsOf(found)
		shown, info := list, 0
		if of.Severity == "" && of.Code == "" { // else they were asked for
			shown, info = a.mendable(list)
		}
		a.showFindings(w, a.stdout, shown, noSource)
		if info > 0 {
			fmt.Fprintln(w, infoText(info))
		}
	})
}

// setText sets a text of a type of its own.
// findingsOf returns findings of the API as check has them.
func findingsOf(found []api.Finding) []check.Finding {
	list := make([]check.Finding, len(found))
	for i, f := range found {
		list[i] = check.Finding{Code: f.Code, File: f.File, Message: f.Message}
		setText(&list[i].Level, f.Severity)
		if f.Line != nil {
			list[i].Line = *f.Line
		}
		if f.Column != nil {
			list[i].Column = *f.Column
		}
	}
	return list
}

func setText[T ~string](to *T, text string) { *to = T(text) }
