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
	var name, plan string
	cmd := &cobra.Command{
		Use:     "create --name NAME [--plan PLAN]",
		Short:   "Create an organisation and print its id",
		Example: `  bindery org create --data ./.data --name "Example Ltd" --plan enterprise`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return required("name", name) },
	}
	cmd.Flags().StringVar(&name, "name", "", "the organisation's name")
	cmd.Flags().StringVar(&plan, "plan", string(admin.PlanFree), "free, pro or enterprise; static export needs enterprise")
	// Nothing can be done before it, so the folder may be new.
	return operating(a, operator{fresh: true}, cmd, func(ctx context.Context, s *admin.Service, _ []string) (admin.Organisation, error) {
		return s.CreateOrganisation(ctx, admin.Organisation{Name: name, Plan: admin.Plan(plan)})
	}, func(w io.Writer, org admin.Organisation) { fmt.Fprintln(w, org.ID) })
}

func (a *app) orgList() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:     "list",
		Short:   "List organisations",
		Example: `  bindery org list --data ./.data --json`,
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, s *admin.Service, _ []string) ([]admin.Organisation, error) {
		all, err := s.ListOrganisations(ctx)
		return listed(all), err
	}, func(w io.Writer, all []admin.Organisation) {
		var rows [][]string
		for _, org := range all {
			rows = append(rows, []string{org.ID, string(org.Plan), day(org.CreatedAt), day(org.RevokedAt), org.Name})
		}
		table(w, "id plan created revoked name", rows)
	})
}

func (a *app) orgPlan() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:     "set-plan ORGANISATION PLAN",
		Short:   "Move an organisation to another plan",
		Example: `  bindery org set-plan org_… enterprise --data ./.data`,
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, s *admin.Service, args []string) (admin.Organisation, error) {
		return s.SetPlan(ctx, args[0], admin.Plan(args[1]))
	}, func(w io.Writer, org admin.Organisation) { fmt.Fprintf(w, "%s is on plan %s\n", org.ID, org.Plan) })
}

func (a *app) orgRevoke() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:   "revoke ORGANISATION",
		Short: "End an organisation: its keys, its projects",
		Long: `Revoke ends all keys of an organisation at once, and its projects, whose domains are free
then. What was published and exported stays until its retention.`,
		Example: `  bindery org revoke org_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s *admin.Service, args []string) (admin.Organisation, error) {
		return s.RevokeOrganisation(ctx, args[0])
	}, func(w io.Writer, org admin.Organisation) { fmt.Fprintf(w, "%s is revoked\n", org.ID) })
}
