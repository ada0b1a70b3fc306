package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// cost is what an export costs on AWS, and what that follows from.
type cost struct {
	Job       string  `json:"jobId,omitempty"`
	Pages     int     `json:"pages"`
	Shards    int     `json:"shards"`
	GBSeconds float64 `json:"gbSeconds"`
	Bundle    int64   `json:"bundleBytes"`
	// Stored is the bundle, and the part of a month of what is kept for later exports.
	Stored int64 `json:"storedBytes"`
	job.Bill
	// Untimed reports that the job's steps were not timed: their line is missing.
	Untimed bool `json:"untimed,omitempty"`
}

// agentCost is what an agent job costs: its model, and what AWS takes for it.
type agentCost struct {
	Job       string  `json:"jobId"`
	Rounds    int     `json:"rounds"`
	Turns     int     `json:"turns"`
	GBSeconds float64 `json:"gbSeconds"`
	job.Bill
}

// costShown is the result of the command: a cost or an agentCost.
type costShown interface{ show(w io.Writer) }

func (a *app) costCommand() *cobra.Command {
	var o operator
	var id, project, prices string
	var polls int
	cmd := &cobra.Command{
		Use:   "cost --job JOB",
		Short: "Show what a finished export or agent job costs (for operators)",
		Long: `Cost reads a finished export's own records (how long each step ran and in how much memory, how
many shards it had, how large its archive is) and shows what making it, keeping it for a month
(and what later exports reuse of it for three days) and downloading it once costs. What it asks
of DynamoDB, S3 and Step Functions follows from the number of its shards. For an export of a data folder, its steps are priced as if they had
run in functions of 1,769 MB.

For an agent job it shows what the model cost, by the service's table of models, and what AWS
takes for the steps, as long as its rounds were worked on.

Prices are those that AWS lists for us-east-1. --prices names a file with others, as JSON:
` + pricesExample(),
		Example: `  bindery cost --stack Bindery-prod --job exp_…
  bindery cost --data ./.data --job exp_… --prices eu.json --json
  bindery cost --stack Bindery-prod --project prj_… --job agj_…`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&id, "job", "", "id of the export or agent job")
	cmd.Flags().StringVar(&project, "project", "", "id of an agent job's project (default: $BINDERY_PROJECT)")
	cmd.Flags().StringVar(&prices, "prices", "", "file with prices in US dollars, as JSON")
	cmd.Flags().IntVar(&polls, "polls", 10, "how often its callers asked for its state")
	return operating(a, o, cmd, func(ctx context.Context, s *admin.Service, _ []string) (costShown, error) {
		if id == "" {
			return nil, usagef("the job is missing: --job")
		}
		if polls < 0 {
			return nil, usagef("--polls: a number of at least 0 was expected")
		}
		p, err := readPrices(prices)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(id, "agj_") {
			return exportCost(ctx, s, p, id, polls)
		}
		if project = cmp.Or(project, a.env.Project); project == "" {
			return nil, usagef("the project of the agent job is missing: --project or BINDERY_PROJECT")
		}
		return costOfAgent(ctx, s, p, project, id, polls)
	}, func(w io.Writer, c costShown) { c.show(w) })
}

func exportCost(ctx context.Context, s *admin.Service, p job.Prices, id string, polls int) (costShown, error) {
	j, err := s.FindExport(ctx, id)
	if err != nil {
		return nil, err
	}
	if !j.Status.Final() {
		return nil, fmt.Errorf("the export is %s: what it costs is known when it is done", j.Status)
	}
	steps, err := s.StepTimes(ctx, id)
	if err != nil {
		return nil, err
	}
	run := job.RunOf(j, steps, polls+2)
	return cost{
		Job: j.ID, Pages: run.Pages, Shards: run.Shards, GBSeconds: run.GBSeconds, Bundle: run.Bundle, Stored: run.Stored(),
		Bill: p.Bill(run), Untimed: len(steps) == 0,
	}, nil
}

func costOfAgent(ctx context.Context, s *admin.Service, p job.Prices, project, id string, polls int) (costShown, error) {
	j, err := s.FindAgentJob(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if !j.Final() {
		return nil, errors.New("the agent job is active: what it costs is known when it is done")
	}
	events, err := s.FindAgentEvents(ctx, id)
	if err != nil {
		return nil, err
	}
	run := job.AgentRunOf(j, events, polls)
	return agentCost{Job: j.ID, Rounds: run.Rounds, Turns: run.Turns, GBSeconds: run.GBSeconds, Bill: p.AgentBill(run)}, nil
}

// pricesExample is a file of prices, with those that are the default.
func pricesExample() string {
	b, _ := json.Marshal(job.DefaultPrices()) // numbers always encode
	return "  " + string(b)
}

// readPrices reads a file of prices; those that it does not name keep their
// default.
func readPrices(name string) (job.Prices, error) {
	p := job.DefaultPrices()
	if name == "" {
		return p, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return p, usagef("--prices: %v", err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, usagef("--prices: %s: %v", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, usagef("--prices: %s: there is more than one value", name)
	}
	return p, nil
}

// rows are the lines of a bill as a table shows them.
func rows(b job.Bill) [][]string {
	var all [][]string
	for _, l := range b.Lines {
		all = append(all, []string{l.Name, l.About, dollars(l.Dollars)})
	}
	return all
}

func (c agentCost) show(w io.Writer) {
	table(w, "part of dollars", append(rows(c.Bill), []string{"made", count(c.Rounds, "round"), dollars(c.Made)}))
}

func (c cost) show(w io.Writer) {
	rows := append(rows(c.Bill),
		[]string{"made", fmt.Sprintf("%d pages", c.Pages), dollars(c.Made)},
		[]string{"kept for a month", size(c.Stored), dollars(c.Kept)},
		[]string{"downloaded once", "to the internet", dollars(c.Download)})
	table(w, "part of dollars", rows)
	if c.Untimed {
		fmt.Fprintln(w, "The steps of this export were not timed: their part is missing.")
	}
}

func dollars(d float64) string { return fmt.Sprintf("%.6f", d) }
