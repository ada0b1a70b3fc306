package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) keyCommand() *cobra.Command {
	return a.group("key", "Admin keys (for operators)", a.keyCreate(), a.keyList(), a.keyRevoke())
}

// shownKey is what a command says of a key: what is stored, without the
// digest, and only at its creation the key itself.
type shownKey struct {
	ID               string         `json:"id"`
	Organisation     string         `json:"organisation"`
	Name             string         `json:"name"`
	Key              string         `json:"key,omitempty"`
	Scopes           []admin.Scope  `json:"scopes"`
	AllowedAddresses []netip.Prefix `json:"allowedAddresses"`
	CreatedAt        time.Time      `json:"createdAt"`
	ExpiresAt        time.Time      `json:"expiresAt,omitzero"`
	RevokedAt        time.Time      `json:"revokedAt,omitzero"`
}

func shown(k admin.Key, secret string) shownKey {
	return shownKey{
		ID: k.ID, Organisation: k.Organisation, Name: k.Name, Key: secret, Scopes: k.Scopes,
		AllowedAddresses: listed(k.AllowedAddresses), CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
	}
}

func (a *app) keyCreate() *cobra.Command {
	var o operator
	var org, name, expires string
	var scopes, addresses []string
	cmd := &cobra.Command{
		Use:   "create --org ORGANISATION --name NAME",
		Short: "Create an admin key and print it, once",
		Long: `Create prints the new key. It is stored as a digest only, so nobody can show it again:
put it where it is kept safe at once.`,
		Example: `  bindery key create --data ./.data --org org_… --name "docs pipeline"
  bindery key create --data ./.data --org org_… --name reader --scope read --expires 90d --allow 192.0.2.0/24`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if err := required("org", org, "name", name); err != nil {
				return err
			}
			request := admin.KeyRequest{Organisation: org, Name: name}
			for _, scope := range scopes {
				request.Scopes = append(request.Scopes, admin.Scope(scope))
			}
			var err error
			if request.AllowedAddresses, err = prefixes(addresses); err != nil {
				return err
			}
			if request.ExpiresAt, err = end(expires, time.Now()); err != nil {
				return err
			}
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				k, secret, err := s.CreateKey(ctx, request)
				if err != nil {
					return err
				}
				return a.print(shown(k, secret), func(w io.Writer) {
					fmt.Fprintln(w, secret)
					fmt.Fprintf(a.stderr, "This is %s of %s. It is not shown again.\n", k.ID, k.Organisation)
				})
			})
		}),
	}
	cmd.Flags().StringVar(&org, "org", "", "id of the organisation")
	cmd.Flags().StringVar(&name, "name", "", "what the key is for")
	cmd.Flags().StringVar(&expires, "expires", "", `end of the key: "90d", a duration as "12h", or a time as "2027-01-31T00:00:00Z" (default: never)`)
	cmd.Flags().StringArrayVar(&scopes, "scope", nil, "right of the key: read or write; may be repeated (default: both)")
	cmd.Flags().StringArrayVar(&addresses, "allow", nil, "address or network that the key may be used from; may be repeated (default: any)")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// prefixes reads addresses and networks.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, usagef("--allow: %q is neither an address nor a network", text)
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		all = append(all, p)
	}
	return all, nil
}

// end reads when a key ends: days, a duration, or a time.
func end(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 {
			return now.AddDate(0, 0, n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, usagef(`--expires: %q is neither days ("90d"), nor a duration ("12h"), nor a time ("2027-01-31T00:00:00Z")`, text)
}

func (a *app) keyList() *cobra.Command {
	var o operator
	var org string
	cmd := &cobra.Command{
		Use:     "list [--org ORGANISATION]",
		Short:   "List keys, without the keys themselves",
		Example: `  bindery key list --data ./.data --json`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				ids, err := organisations(ctx, s, org)
				if err != nil {
					return err
				}
				var all []shownKey
				for _, id := range ids {
					some, err := s.ListKeys(ctx, id)
					if err != nil {
						return err
					}
					for _, k := range some {
						all = append(all, shown(k, ""))
					}
				}
				return a.print(listed(all), func(w io.Writer) {
					var rows [][]string
					for _, k := range all {
						scopes := make([]string, len(k.Scopes))
						for i, s := range k.Scopes {
							scopes[i] = string(s)
						}
						addresses := make([]string, len(k.AllowedAddresses))
						for i, p := range k.AllowedAddresses {
							addresses[i] = p.String()
						}
						rows = append(rows, []string{k.ID, k.Organisation, strings.Join(scopes, ","), strings.Join(addresses, ","), day(k.CreatedAt), day(k.ExpiresAt), day(k.RevokedAt), k.Name})
					}
					table(w, "id organisation scopes addresses created expires revoked name", rows)
				})
			})
		}),
	}
	cmd.Flags().StringVar(&org, "org", "", "only keys of this organisation")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) keyRevoke() *cobra.Command {
	var o operator
	var org string
	cmd := &cobra.Command{
		Use:     "revoke KEY --org ORGANISATION",
		Short:   "End a key at once",
		Long:    "Revoke ends a key by its id, as `bindery key list` shows it. Requests with it are refused from then on.",
		Example: `  bindery key revoke key_… --org org_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if err := required("org", org); err != nil {
				return err
			}
			return a.operate(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				k, err := s.RevokeKey(ctx, org, args[0])
				if err != nil {
					return err
				}
				return a.print(shown(k, ""), func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", k.ID) })
			})
		}),
	}
	cmd.Flags().StringVar(&org, "org", "", "id of the key's organisation")
	o.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}
