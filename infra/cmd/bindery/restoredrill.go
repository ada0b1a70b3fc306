package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// drill is what a restore drill found.
type drill struct {
	Table string `json:"table"`
	// Seconds is how long the restore took.
	Seconds float64 `json:"restoreSeconds"`
	Kept    bool    `json:"kept"`
	job.Audit
}

func (a *app) restoreDrillCommand() *cobra.Command {
	var name, table, at string
	var keep bool
	cmd := &cobra.Command{
		Use:   "restore-drill [--stack STACK] [--at TIME] [--table NAME] [--keep] [--json]",
		Short: "Restore a stack's table to a point in time, beside it, and check it (for operators)",
		Long: `Restore-drill restores the table of a stack to a point in time, into a new table, and holds
its records against the buckets: the manifest and the packs of each published snapshot and the
bundle of each completed export are there, in the size that the record says. The stack and its
own table are not touched. Afterwards the new table is deleted; with --keep it is made ready to
take the other's place instead. What is missing ends the program with exit status 1.`,
		Example: `  bindery restore-drill --stack Bindery-prod
  bindery restore-drill --stack Bindery-prod --at 2026-11-20T08:30:00Z --keep`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				name = a.env.Stack
			}
			if name == "" {
				return usagef("the stack is missing: --stack or BINDERY_STACK")
			}
			var when time.Time
			if at != "" {
				var err error
				if when, err = time.Parse(time.RFC3339, at); err != nil {
					return usagef("--at: %q is not a time; write it as 2026-11-20T08:30:00Z", at)
				}
			}
			d, err := a.drill(cmd.Context(), name, table, when, keep)
			if err != nil {
				return err
			}
			if err := a.print(d, func(w io.Writer) { drillReport(w, d) }); err != nil {
				return err
			}
			if d.FaultCount > 0 {
				return fmt.Errorf("%d objects are not as the restored records say", d.FaultCount)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "stack", "", "name of the Bindery's stack on AWS (default: $BINDERY_STACK)")
	cmd.Flags().StringVar(&at, "at", "", "the point in time, as 2026-11-20T08:30:00Z (default: the latest that can be restored)")
	cmd.Flags().StringVar(&table, "table", "", "name of the new table (default: that of the old one with -drill- and the time)")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the new table, with expiry, recovery and protection from deletion")
	a.jsonFlag(cmd)
	return cmd
}

// drill restores, checks, and removes what it has made.
func (a *app) drill(ctx context.Context, name, table string, at time.Time, keep bool) (d drill, err error) {
	aws, err := stack.Config(ctx)
	if err != nil {
		return d, err
	}
	found, err := stack.Read(ctx, aws, name)
	if err != nil {
		return d, err
	}
	began := time.Now()
	if table == "" {
		table = found.Table + began.UTC().Format("-drill-20060102-150405")
	}
	d.Table, d.Kept = table, keep
	tables := stack.NewTables(aws)
	if err := tables.Restore(ctx, found.Table, table, at); err != nil {
		return d, err
	}
	d.Seconds = time.Since(began).Seconds()
	if keep {
		err = tables.Ready(ctx, table, dynamo.AttrExpires)
	} else {
		defer func() {
			if e := tables.Drop(context.WithoutCancel(ctx), table); err == nil {
				err = e
			}
		}()
	}
	if err != nil {
		return d, err
	}
	records := dynamo.New(aws, dynamo.Options{Table: table})
	objects := s3store.New(aws, s3store.Options{Sources: found.SourcesBucket, Exports: found.ExportsBucket})
	log := a.logger(slog.LevelWarn)
	keeper := job.NewKeeper(job.Options{Admin: admin.New(admin.Options{Store: records, Objects: objects, Log: log}), Objects: objects, Log: log})
	d.Audit, err = keeper.Audit(ctx, records.Scan, found.BundleDays)
	return d, err
}

func drillReport(w io.Writer, d drill) {
	fmt.Fprintf(w, "restored into %s in %.0f s\n", d.Table, d.Seconds)
	fmt.Fprintf(w, "%d organisations, %d snapshots, %d exports (%d with a bundle that was removed by age)\n", d.Organisations, d.Snapshots, d.Exports, d.Expired)
	for _, f := range d.Faults {
		fmt.Fprintf(w, "%s, which %s needs: %s\n", f.Object, f.NeededBy, f.Reason)
	}
	if n := d.FaultCount - len(d.Faults); n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
	if d.Kept {
		fmt.Fprintf(w, "the table is kept; deploy with -c table=%s to use it\n", d.Table)
	}
}
