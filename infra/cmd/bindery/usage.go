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
)

// monthForm is how a month is written, in UTC.
const monthForm = "2006-01"

// usage is what an organisation used in a month.
type usage struct {
	Organisation string `json:"organisation"`
	Name         string `json:"name"`
	admin.Usage
	Calls int64 `json:"apiCalls"`
	// ByOperation are the calls by the name of what was called.
	ByOperation map[string]int64 `json:"apiCallsByOperation"`
}

func (a *app) usageCommand() *cobra.Command {
	var o operator
	var org, month string
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "usage [--org ORGANISATION] [--month YYYY-MM] [--csv | --json]",
		Short: "Show what organisations used in a month (for operators)",
		Long: `Usage shows exports, their pages and the bytes of their bundles, which are counted when an
export completes, and calls of the API with a valid key, which are counted before they are
answered; answers that were a fault of the service (5xx) don't count. Months are UTC.`,
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
			return a.operateOn(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				all, err := usageOf(ctx, s, org, when)
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

// usageOf gathers what was used, by organisation.
func usageOf(ctx context.Context, s *admin.Service, org string, month time.Time) ([]usage, error) {
	if _, err := s.SettleCalls(ctx); err != nil {
		return nil, err
	}
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
	all := make([]usage, len(orgs))
	for i, o := range orgs {
		months, err := s.Usage(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		calls, err := s.Calls(ctx, o.ID, month)
		if err != nil {
			return nil, err
		}
		all[i] = usage{Organisation: o.ID, Name: o.Name, Usage: admin.Usage{Month: month.Format(monthForm)}, Calls: calls.Total, ByOperation: calls.ByOperation}
		if j := slices.IndexFunc(months, func(u admin.Usage) bool { return u.Month == all[i].Month }); j >= 0 {
			all[i].Usage = months[j]
		}
	}
	slices.SortFunc(all, func(x, y usage) int { return cmp.Compare(x.Organisation, y.Organisation) })
	return all, nil
}

func usageTable(w io.Writer, all []usage) {
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.Month, u.Organisation, fmt.Sprint(u.Exports), fmt.Sprint(u.Reused), fmt.Sprint(u.Pages), size(u.BundleBytes),
			fmt.Sprint(u.AgentRounds), admin.USDollars(u.AgentCost), fmt.Sprint(u.Calls), u.Name})
	}
	table(w, "month organisation exports reused pages bundles rounds cost calls name", rows)
}

func usageCSV(w io.Writer, all []usage) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, section 2
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	if err := out.Write([]string{"month", "organisation", "name", "exports", "pages", "bundle_bytes", "api_calls", "reused", "agent_rounds", "agent_cost_micros"}); err != nil {
		return err
	}
	for _, u := range all {
		if err := out.Write([]string{u.Month, u.Organisation, formulaSafe(u.Name), number(u.Exports), number(u.Pages), number(u.BundleBytes), number(u.Calls), number(u.Reused),
			number(u.AgentRounds), number(u.AgentCost)}); err != nil {
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
