package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) orgCommand() *cobra.Command {
	return a.group("org", "Organisations and their plans (for operators)",
		a.orgCreate(), a.orgList(), a.orgPlan(), a.orgRevoke())
}

func (a *app) orgCreate() *cobra.Command {
	o := operator{fresh: true} // nothing can be done before it
	var name, plan string
	cmd := &cobra.Command{
		Use:     "create --name NAME [--plan PLAN]",
		Short:   "Create an organisation and print its id",
		Example: `  bindery org create --data ./.data --name "Example Ltd" --plan enterprise`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if err := required("name", name); err != nil {
				return err
			}
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				org, err := s.CreateOrganisation(ctx, admin.Organisation{Name: name, Plan: admin.Plan(plan)})
				if err != nil {
					return err
				}
				return a.print(org, func(w io.Writer) { fmt.Fprintln(w, org.ID) })
			})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "the organisation's name")
	cmd.Flags().StringVar(&plan, "plan", string(admin.PlanFree), "free, pro or enterprise; static export needs enterprise")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) orgList() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List organisations",
		Example: `  bindery org list --data ./.data --json`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				all, err := s.ListOrganisations(ctx)
				if err != nil {
					return err
				}
				return a.print(listed(all), func(w io.Writer) {
					var rows [][]string
					for _, org := range all {
						rows = append(rows, []string{org.ID, string(org.Plan), day(org.CreatedAt), day(org.RevokedAt), org.Name})
					}
					table(w, "id plan created revoked name", rows)
				})
			})
		}),
	}
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) orgPlan() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:     "set-plan ORGANISATION PLAN",
		Short:   "Move an organisation to another plan",
		Example: `  bindery org set-plan org_… enterprise --data ./.data`,
		Args:    cobra.ExactArgs(2),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				org, err := s.SetPlan(ctx, args[0], admin.Plan(args[1]))
				if err != nil {
					return err
				}
				return a.print(org, func(w io.Writer) { fmt.Fprintf(w, "%s is on plan %s\n", org.ID, org.Plan) })
			})
		}),
	}
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) orgRevoke() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "revoke ORGANISATION",
		Short: "End an organisation: its keys, its projects",
		Long: `Revoke ends all keys of an organisation at once, and its projects, whose domains are free
then. What was published and exported stays until its retention.`,
		Example: `  bindery org revoke org_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				org, err := s.RevokeOrganisation(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(org, func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", org.ID) })
			})
		}),
	}
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}
