package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// monthForm is how a month is written, in UTC.
const monthForm = "2006-01"

// usage is what an organisation used in a month: what its exports counted, and
// the calls that the log has.
type usage struct {
	Organisation string `json:"organisation"`
	Name         string `json:"name"`
	admin.Usage
	Calls int64 `json:"apiCalls"`
	// ByOperation are the calls by the name of what was called.
	ByOperation map[string]int64 `json:"apiCallsByOperation"`
	// CallsFrom is given when the log no longer goes back to the beginning of
	// the month: calls before it are not counted.
	CallsFrom *time.Time `json:"apiCallsFrom,omitempty"`
}

func (a *app) usageCommand() *cobra.Command {
	var o operator
	var org, month string
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "usage [--org ORGANISATION] [--month YYYY-MM] [--csv | --json]",
		Short: "Show what organisations used in a month (for operators)",
		Long: `Usage shows exports, their pages and the bytes of their bundles, which are counted when an
export completes, and calls of the API with a valid key, counted from the log's lines of
requests; answers that were a fault of the service (5xx) don't count. Months are UTC.

Lines of requests are kept as long as the stack keeps its logs, and for 13 months in a data
folder. For a month that begins before, calls are those since then, and a warning says so.`,
		Example: `  bindery usage --data ./.data --org org_… --month 2026-11
  bindery usage --stack Bindery-prod --month 2026-11 --csv >usage.csv`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if asCSV && a.json {
				return usagef("--csv and --json can't be used together")
			}
			when := time.Now().UTC()
			if month != "" {
				var err error
				if when, err = time.Parse(monthForm, month); err != nil {
					return usagef("--month: %q is not a month; write it as 2026-11", month)
				}
			}
			when = time.Date(when.Year(), when.Month(), 1, 0, 0, 0, 0, time.UTC)
			return a.operateOn(cmd, &o, func(ctx context.Context, s *admin.Service, lines requestLines) error {
				all, err := a.usage(ctx, s, lines, org, when)
				if err != nil {
					return err
				}
				if asCSV {
					return usageCSV(a.stdout, all)
				}
				return a.print(listed(all), func(w io.Writer) { usageTable(w, all) })
			})
		}),
	}
	cmd.Flags().StringVar(&org, "org", "", "the organisation's id (default: all)")
	cmd.Flags().StringVar(&month, "month", "", "the month, as 2026-11 (default: the running one)")
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print comma-separated values with exact numbers (RFC 4180)")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// usage gathers what was used, by organisation.
func (a *app) usage(ctx context.Context, s *admin.Service, open requestLines, org string, month time.Time) ([]usage, error) {
	var orgs []admin.Organisation
	var err error
	if org == "" {
		orgs, err = s.ListOrganisations(ctx)
	} else {
		var one admin.Organisation
		one, err = s.GetOrganisation(ctx, org)
		orgs = []admin.Organisation{one}
	}
	if err != nil {
		return nil, err
	}
	log, err := open(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := log.kept(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]usage, len(orgs))
	byID := make(map[string]*usage, len(orgs))
	for i, o := range orgs {
		months, err := s.Usage(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		all[i] = usage{Organisation: o.ID, Name: o.Name, Usage: admin.Usage{Month: month.Format(monthForm)}, ByOperation: map[string]int64{}}
		if j := slices.IndexFunc(months, func(u admin.Usage) bool { return u.Month == all[i].Month }); j >= 0 {
			all[i].Usage = months[j]
		}
		if kept.After(month) {
			all[i].CallsFrom = &kept
		}
		byID[o.ID] = &all[i]
	}
	if kept.After(month) {
		a.warn("the log goes back to " + day(kept) + " only: calls before that are not counted")
	}
	err = log.lines(ctx, org, month, func(line []byte) error {
		c, ok := api.ParseCall(line)
		if u := byID[c.Organisation]; ok && u != nil && c.Counts() && c.Time.UTC().Format(monthForm) == u.Month {
			u.Calls++
			u.ByOperation[c.Operation]++
		}
		return nil
	})
	slices.SortFunc(all, func(x, y usage) int { return cmp.Compare(x.Organisation, y.Organisation) })
	return all, err
}

func usageTable(w io.Writer, all []usage) {
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.Month, u.Organisation, fmt.Sprint(u.Exports), fmt.Sprint(u.Pages), size(u.BundleBytes), fmt.Sprint(u.Calls), u.Name})
	}
	table(w, "month organisation exports pages bundles calls name", rows)
}

func usageCSV(w io.Writer, all []usage) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, section 2
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	if err := out.Write([]string{"month", "organisation", "name", "exports", "pages", "bundle_bytes", "api_calls"}); err != nil {
		return err
	}
	for _, u := range all {
		if err := out.Write([]string{u.Month, u.Organisation, formulaSafe(u.Name), number(u.Exports), number(u.Pages), number(u.BundleBytes), number(u.Calls)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// formulaSafe keeps a spreadsheet from reading a name as a formula.
func formulaSafe(name string) string {
	if name != "" && (name[0] == '=' || name[0] == '+' || name[0] == '-' || name[0] == '@') {
		return "'" + name
	}
	return name
}
