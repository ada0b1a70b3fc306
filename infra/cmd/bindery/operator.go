package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// operator holds the flags by which an operator's command finds the records:
// a data folder, or a stack on AWS.
type operator struct {
	data, stack string
	// fresh: the folder may be one that is not there yet. Else a name that was
	// mistyped would be made, and be empty.
	fresh bool
}

func (o *operator) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.data, "data", "", "data folder of the Bindery (default: $BINDERY_DATA)")
	cmd.Flags().StringVar(&o.stack, "stack", "", "name of the Bindery's stack on AWS (default: $BINDERY_STACK)")
}

// place is where the records are: a folder or a stack. Flags go before the
// environment.
func (a *app) place(o *operator) (data, stack string, err error) {
	data, stack = o.data, o.stack
	if data == "" && stack == "" {
		data, stack = a.env.Data, a.env.Stack
	}
	switch {
	case data != "" && stack != "":
		return "", "", usagef("use either --data or --stack, not both")
	case data == "" && stack == "":
		return "", "", usagef("the data folder is missing: --data or BINDERY_DATA, or a stack: --stack or BINDERY_STACK")
	}
	return data, stack, nil
}

// operating completes a command that works on an operator's records: the flags
// that find them, the work, and how its result is shown to people. It works
// beside a running `bindery up`. What is wrong with other flags is PreRunE's.
func operating[T any](a *app, o operator, cmd *cobra.Command,
	work func(ctx context.Context, s *admin.Service, args []string) (T, error), show func(w io.Writer, result T)) *cobra.Command {
	o.flags(cmd)
	a.jsonFlag(cmd)
	cmd.RunE = a.does(func(cmd *cobra.Command, args []string) error {
		return a.operateOn(cmd, &o, func(ctx context.Context, s *admin.Service) error {
			result, err := work(ctx, s, args)
			if err != nil {
				return err
			}
			return a.print(result, func(w io.Writer) { show(w, result) })
		})
	})
	return cmd
}

func (a *app) operateOn(cmd *cobra.Command, o *operator, work func(ctx context.Context, s *admin.Service) error) error {
	data, name, err := a.place(o)
	if err != nil {
		return err
	}
	if name != "" {
		return a.operateStack(cmd.Context(), name, work)
	}
	if !o.fresh && !local.Exists(data) {
		return fmt.Errorf("there is no Bindery in the folder %s", data)
	}
	log := a.logger(slog.LevelWarn)
	l, err := local.Open(cmd.Context(), local.Options{Dir: data, Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close(context.WithoutCancel(cmd.Context())) }()
	return work(cmd.Context(), admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Secrets: l.Secrets(), Operator: operatorName(), Log: log}))
}

// operateStack opens the records of a stack, with the credentials that the AWS
// tools of this machine use.
func (a *app) operateStack(ctx context.Context, name string, work func(ctx context.Context, s *admin.Service) error) error {
	aws, err := stack.Config(ctx)
	if err != nil {
		return err
	}
	found, err := stack.Read(ctx, aws, name)
	if err != nil {
		return err
	}
	records := dynamo.New(aws, dynamo.Options{Table: found.Table})
	return work(ctx, admin.New(admin.Options{
		Store:   records,
		Secrets: kmsstore.New(aws, kmsstore.Options{Key: found.Outputs[stack.OutputCredentialKey], Records: records}),
		Objects: s3store.New(aws, s3store.Options{Sources: found.SourcesBucket, Exports: found.ExportsBucket}),
		Log:     a.logger(slog.LevelWarn), Operator: operatorName(),
	}))
}

// operatorName is who operates, for the audit log: the user of this machine.
func operatorName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// day shows a time as lists do; nothing for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// ofOrganisations lists what one organisation has, or all have where org is
// empty.
func ofOrganisations[T any](ctx context.Context, s *admin.Service, org string, list func(ctx context.Context, org string) ([]T, error)) ([]T, error) {
	if org != "" {
		all, err := list(ctx, org)
		return listed(all), err
	}
	orgs, err := s.ListOrganisations(ctx)
	if err != nil {
		return nil, err
	}
	all := []T{}
	for _, o := range orgs {
		some, err := list(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// listed is what a list prints: an empty one is [] in JSON.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
