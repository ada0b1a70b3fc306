package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) personCommand() *cobra.Command {
	return a.group("person", "Members of an organisation (for operators)", a.personInvite(), a.personList(), a.personRemove())
}

// orgFlag adds the flag that names the organisation.
func orgFlag(cmd *cobra.Command, org *string) {
	cmd.Flags().StringVar(org, "org", "", "id of the organisation")
	cmd.PreRunE = func(*cobra.Command, []string) error { return required("org", *org) }
}

func (a *app) personInvite() *cobra.Command {
	var org, role string
	cmd := &cobra.Command{
		Use:   "invite ADDRESS --org ORGANISATION",
		Short: "Invite whoever has a mail address to an organisation",
		Long: `Invite makes a member of the first person who signs in with this address, if the identity provider
has verified it, within 14 days. No mail is sent. Inviting an address again changes the role.`,
		Example: `  bindery person invite ada@example.com --org org_… --role owner`,
		Args:    cobra.ExactArgs(1),
	}
	orgFlag(cmd, &org)
	cmd.Flags().StringVar(&role, "role", string(admin.RoleMember), "owner (everything), admin (keys, projects, webhooks), member (exports, agent jobs) or viewer (reading)")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (admin.Invitation, error) {
		return s.Invite(ctx, s.Operator(org), args[0], admin.Role(role))
	}, func(w io.Writer, in admin.Invitation) {
		fmt.Fprintf(w, "%s may sign in as %s of %s until %s\n", in.Address, in.Role, in.Organisation, day(in.ExpiresAt))
	})
}

// listedPerson is a member, or an invitation, which has no person yet.
type listedPerson struct {
	Person  string     `json:"person,omitempty"`
	Address string     `json:"address"`
	Role    admin.Role `json:"role"`
	Since   time.Time  `json:"since,omitzero"`
	// Until is the end of an invitation.
	Until time.Time `json:"until,omitzero"`
}

func (a *app) personList() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "list --org ORGANISATION",
		Short:   "List an organisation's members and invitations",
		Example: `  bindery person list --org org_…`,
		Args:    cobra.NoArgs,
	}
	orgFlag(cmd, &org)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) ([]listedPerson, error) {
		if _, err := s.GetOrganisation(ctx, org); err != nil {
			return nil, err
		}
		people := []listedPerson{}
		for cursor := ""; ; {
			members, next, err := s.Members(ctx, s.Operator(org), cursor, 0)
			if err != nil {
				return nil, err
			}
			for _, m := range members {
				people = append(people, listedPerson{Person: m.Person, Address: m.Address, Role: m.Role, Since: m.Since})
			}
			if cursor = next; next == "" {
				break
			}
		}
		for cursor := ""; ; {
			waiting, next, err := s.Invitations(ctx, s.Operator(org), cursor, 0)
			if err != nil {
				return nil, err
			}
			for _, in := range waiting {
				people = append(people, listedPerson{Address: in.Address, Role: in.Role, Until: in.ExpiresAt})
			}
			if cursor = next; next == "" {
				return people, nil
			}
		}
	}, func(w io.Writer, people []listedPerson) {
		var rows [][]string
		for _, p := range people {
			rows = append(rows, []string{p.Person, p.Address, string(p.Role), day(p.Since), day(p.Until)})
		}
		table(w, "person address role since invited-until", rows)
	})
}

func (a *app) personRemove() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:   "remove PERSON|ADDRESS --org ORGANISATION",
		Short: "End a membership, or take an invitation back",
		Long: `Remove ends the membership of a person, by the id that the list shows, or takes back the invitation
of an address. The last owner stays: make somebody else an owner first.`,
		Example: `  bindery person remove psn_… --org org_…
  bindery person remove ada@example.com --org org_…`,
		Args: cobra.ExactArgs(1),
	}
	orgFlag(cmd, &org)
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (listedPerson, error) {
		if strings.Contains(args[0], "@") {
			return listedPerson{Address: args[0]}, s.Withdraw(ctx, s.Operator(org), args[0])
		}
		return listedPerson{Person: args[0]}, s.RemoveMember(ctx, s.Operator(org), args[0])
	}, func(w io.Writer, p listedPerson) { fmt.Fprintf(w, "%s is removed\n", p.Person+p.Address) })
}

// auditFormats are the formats of the audit log.
var auditFormats = []string{"jsonl", "csv"}

func (a *app) auditCommand() *cobra.Command {
	var org, since, until, format string
	var list admin.AuditList
	var o operator
	cmd := &cobra.Command{
		Use:   "audit --org ORGANISATION",
		Short: "Print an organisation's audit log, the latest first (for operators)",
		Long: `Audit prints who changed what, on what, when, from where and how: people, admin keys and operators.
Entries are kept for 400 days.`,
		Example: `  bindery audit --org org_… --action key --since 2026-11-01
  bindery audit --org org_… --format csv > audit.csv`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if !slices.Contains(auditFormats, format) {
				return usagef("--format: %q is neither csv nor jsonl", format)
			}
			for _, f := range []struct {
				name, text string
				to         *time.Time
			}{{"since", since, &list.Since}, {"until", until, &list.Until}} {
				if *f.to, err = moment(f.text); err != nil {
					return usagef("--%s: %q is neither a day (2026-11-01) nor a time (2026-11-01T08:00:00Z)", f.name, f.text)
				}
			}
			return required("org", org)
		},
	}
	cmd.Flags().StringVar(&org, "org", "", "id of the organisation")
	cmd.Flags().StringVar(&list.Action, "action", "", `only this action, such as "key.created", or all of a kind, such as "key"`)
	cmd.Flags().StringVar(&list.Actor, "actor", "", "only what this person, key or operator did")
	cmd.Flags().StringVar(&list.Target, "target", "", "only what was done to this")
	cmd.Flags().StringVar(&since, "since", "", "only from this day or time on, in UTC")
	cmd.Flags().StringVar(&until, "until", "", "only before this day or time, in UTC")
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl (a line of JSON each) or csv")
	o.flags(cmd)
	cmd.RunE = a.does(func(cmd *cobra.Command, _ []string) error {
		return a.operateOn(cmd, &o, func(ctx context.Context, s *admin.Service) error {
			if _, err := s.GetOrganisation(ctx, org); err != nil {
				return err
			}
			return s.WriteAudit(ctx, s.Operator(org), list, format == "csv", a.stdout)
		})
	})
	return cmd
}

// moment reads a day or a time; zero for none.
func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, text)
}
