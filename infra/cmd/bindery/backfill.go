package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// backfilled is how many records were added.
type backfilled struct {
	Exports int `json:"exports"`
}

func (a *app) backfillCommand() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "backfill",
		Short: "Add to the list of exports those of earlier releases (for operators)",
		Long: `Backfill reads all records of a stack and adds the rows by which exports of earlier releases are
listed. Run it after the stack was updated. A data folder needs no call: bindery up does it. After the
first time it does nothing, unless --again is set.`,
		Example: `  bindery backfill --stack Bindery-prod`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&again, "again", false, "read all records also where this was done before, such as before the update")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) (backfilled, error) {
		n, err := s.Backfill(ctx, again)
		return backfilled{n}, err
	}, func(w io.Writer, b backfilled) { fmt.Fprintf(w, "added %s\n", count(b.Exports, "export")) })
}
