package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// backupReport is the JSON output of bindery backup.
type backupReport struct {
	Data string `json:"data"`
	// To is the folder of the copy; "" for a check.
	To string `json:"to,omitempty"`
	local.Report
}

func (a *app) backupCommand() *cobra.Command {
	var data, to string
	var check bool
	cmd := &cobra.Command{
		Use:   "backup --data DIR (--to FOLDER | --check)",
		Short: "Copy a data folder while its server runs, or check it (for operators)",
		Long: `Backup copies a data folder to a new folder, beside a running bindery up: the database as it is
at one moment, and all objects that it names, each checked against its digest. Nothing in the
server waits for it. The copy is a data folder by itself, with keys and tokens: keep it as safe.
To restore it, copy it to the place of the data folder while no server runs, or start bindery up
with the copy as its data folder.

With --check, nothing is copied: the whole database is read, and each object. What is damaged is
listed, and ends the program with exit status 1; a backup has all that is whole then. A damaged
database is refused, with what to do.`,
		Example: `  bindery backup --data ./.data --to /backups/2026-11-26
  cp -a /backups/2026-11-26 ./.data
  bindery backup --data ./.data --check`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if data == "" {
				data = a.env.Data
			}
			if err := required("data", data); err != nil {
				return err
			}
			if (to == "") != check {
				return usagef("backup needs either --to FOLDER, for a copy, or --check")
			}
			if !local.Exists(data) {
				return fmt.Errorf("there is no Bindery in the folder %s", data)
			}
			ctx := cmd.Context()
			l, err := local.Open(ctx, local.Options{Dir: data, Log: a.logger(slog.LevelWarn)})
			if err != nil {
				return err
			}
			defer func() { _ = l.Close(context.WithoutCancel(ctx)) }()
			r := backupReport{Data: data, To: to}
			if check {
				r.Report, err = l.Check(ctx)
			} else {
				r.Report, err = l.Backup(ctx, to, server.NotKept()...)
			}
			if err != nil {
				return err
			}
			if r.Faults == nil {
				r.Faults = []local.Fault{}
			}
			if err := a.print(r, func(w io.Writer) { a.showBackup(w, &r) }); err != nil {
				return err
			}
			if n := len(r.Faults); n > 0 {
				return fmt.Errorf("not as the database says: %s", count(n, "object"))
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&data, "data", "", "data folder of the Bindery (default: $BINDERY_DATA)")
	cmd.Flags().StringVar(&to, "to", "", "folder of the copy, which must not be there or be empty")
	cmd.Flags().BoolVar(&check, "check", false, "read all of the database and of the objects, and copy nothing")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) showBackup(w io.Writer, r *backupReport) {
	const most = 20
	for _, f := range r.Faults[:min(len(r.Faults), most)] {
		fmt.Fprintf(w, "%s: %s\n", f.Key, f.Reason)
	}
	if n := len(r.Faults) - most; n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
	what := "checked: the database and " + count(r.Objects, "object")
	if r.To != "" {
		what = "copied to " + r.To + ": the database and " + count(r.Objects, "object")
	}
	fmt.Fprintf(w, "%s of %s\n", what, size(r.Bytes))
}
