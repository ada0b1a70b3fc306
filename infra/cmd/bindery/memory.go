package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

func (a *app) memoryCommand() *cobra.Command {
	var name string
	var days int
	cmd := &cobra.Command{
		Use:   "memory [--stack STACK] [--days DAYS] [--json]",
		Short: "Measure what a stack's functions need, and advise their memory (for operators)",
		Long: `Memory reads what Lambda logs of each call of a stack's functions, at most 20,000 calls of
each, and prints for each function how long its calls took, the most memory that one used, and
the memory that it should have: so much that the peak is at most three fifths of it, and so
much of a processor (1,769 MB are one) that 95 of 100 answers of the API come within half a
second, and 95 of 100 steps end within a minute, if all of their time is work.`,
		Example: `  bindery memory --stack Bindery-prod --days 7`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				name = a.env.Stack
			}
			if name == "" {
				return usagef("the stack is missing: --stack or BINDERY_STACK")
			}
			if days < 1 {
				return usagef("--days: %d is less than a day", days)
			}
			aws, err := stack.Config(cmd.Context())
			if err != nil {
				return err
			}
			found, err := stack.Read(cmd.Context(), aws, name)
			if err != nil {
				return err
			}
			now := time.Now()
			all, err := stack.Memory(cmd.Context(), aws, found, now.AddDate(0, 0, -days), now)
			if err != nil {
				return err
			}
			return a.print(listed(all), func(w io.Writer) { memoryTable(w, all) })
		}),
	}
	cmd.Flags().StringVar(&name, "stack", "", "name of the Bindery's stack on AWS (default: $BINDERY_STACK)")
	cmd.Flags().IntVar(&days, "days", 7, "how many days of logs are read")
	a.jsonFlag(cmd)
	return cmd
}

func memoryTable(w io.Writer, all []stack.MemoryUse) {
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{
			u.Function, strconv.Itoa(u.Calls), fmt.Sprintf("%.0f", u.Median), fmt.Sprintf("%.0f", u.P95), fmt.Sprintf("%.0f", u.Init),
			strconv.Itoa(u.PeakMiB), strconv.Itoa(u.MemoryMiB), strconv.Itoa(u.AdvisedMiB),
		})
	}
	table(w, "function calls median-ms p95-ms cold-ms peak-mb memory-mb advised-mb", rows)
}
