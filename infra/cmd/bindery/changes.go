package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// changesText is a line of counts, those of what is lost only where there are any.
func changesText(c *api.Changes) string {
	text := fmt.Sprintf("%s added, %d removed, %d changed", count(c.PagesAdded, "page"), c.PagesRemoved, c.PagesChanged)
	if n := c.FilesAdded + c.FilesRemoved + c.FilesChanged; n > 0 {
		text += fmt.Sprintf("; files: %d added, %d removed, %d changed", c.FilesAdded, c.FilesRemoved, c.FilesChanged)
	}
	var lost []string
	if c.AddressesLost > 0 {
		lost = append(lost, fmt.Sprintf("addresses that lead nowhere: %d", c.AddressesLost))
	}
	if c.AnchorsLost > 0 {
		lost = append(lost, fmt.Sprintf("anchors that are gone: %d", c.AnchorsLost))
	}
	if len(lost) > 0 {
		text += "; " + strings.Join(lost, ", ")
	}
	return text
}

func (a *app) jobsChanges() *cobra.Command {
	var who caller
	var format string
	cmd := &cobra.Command{
		Use:   "changes JOB",
		Short: "Show what a completed export changed against the one before",
		Long: `Changes shows what differs between the bundle of a completed export and that of the export before it,
as bindery diff does, without downloading either.`,
		Example: `  bindery jobs changes exp_…
  bindery jobs changes exp_… --format markdown`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("format") && a.json && format != "json" {
				return usagef("--json is --format json")
			}
			a.json = a.json || format == "json"
			if !slices.Contains(diffFormats, format) {
				return usagef("--format: unknown format %q; use text, json or markdown", format)
			}
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			result, err := a.changesOf(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if format == "markdown" {
				_, err = io.WriteString(a.stdout, visible(result.Markdown()))
				return err
			}
			return a.print(result, func(w io.Writer) { a.showDiff(w, result) })
		}),
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown (a summary for a pull request)")
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// changesOf reads the list of what an export changed. Of one with the bundle of the
// export before there is none to read.
func (a *app) changesOf(ctx context.Context, c *client.Client, jobID string) (*diff.Result, error) {
	job, _, err := c.GetExport(ctx, jobID)
	if err != nil {
		return nil, err
	}
	list, err := c.Changes(ctx, jobID)
	if errors.Is(err, client.ErrNoChanges) && job.Changes != nil {
		before := diff.Bundle{Name: job.Changes.Since.JobID, Domain: job.Domain, Version: job.Changes.Since.Version, Pages: job.PageCount}
		after := before
		after.Name, after.Version = job.JobID, job.Version
		return &diff.Result{Before: before, After: after, Pages: diff.Pages{
			Added: []diff.Page{}, Removed: []diff.Page{}, Changed: []diff.Page{}, Unchanged: job.PageCount,
		}, LostAddresses: []diff.LostAddress{}, LostAnchors: []diff.LostAnchor{}, Files: diff.Files{
			Added: []diff.File{}, Removed: []diff.File{}, Changed: []diff.File{}, Bytes: map[string][2]int64{},
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	result := new(diff.Result)
	if err := json.Unmarshal(list, result); err != nil {
		return nil, fmt.Errorf("the list of changes can't be read: %w", err)
	}
	return result, nil
}
