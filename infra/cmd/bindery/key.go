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
	Domain           string         `json:"domain,omitempty"` // the only one that it is for
	CreatedAt        time.Time      `json:"createdAt"`
	ExpiresAt        time.Time      `json:"expiresAt,omitzero"`
	RevokedAt        time.Time      `json:"revokedAt,omitzero"`
	UsedAt           time.Time      `json:"usedAt,omitzero"` // the hour of its last use
}

func shown(k admin.Key, secret string) shownKey {
	return shownKey{
		ID: k.ID, Organisation: k.Organisation, Name: k.Name, Key: secret, Scopes: k.Scopes,
		AllowedAddresses: listed(k.AllowedAddresses), Domain: k.Domain, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
		UsedAt: k.UsedAt,
	}
}

func (a *app) keyCreate() *cobra.Command {
	var request admin.KeyRequest
	var expires string
	var scopes, addresses []string
	cmd := &cobra.Command{
		Use:   "create --org ORGANISATION --name NAME",
		Short: "Create an admin key and print it, once",
		Long: `Create prints the new key. It is stored as a digest only, so nobody can show it again:
put it where it is kept safe at once.`,
		Example: `  bindery key create --data ./.data --org org_… --name "docs pipeline"
  bindery key create --data ./.data --org org_… --name reader --scope read --expires 90d --allow 192.0.2.0/24`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if err := required("org", request.Organisation, "name", request.Name); err != nil {
				return err
			}
			for _, scope := range scopes {
				request.Scopes = append(request.Scopes, admin.Scope(scope))
			}
			if request.AllowedAddresses, err = prefixes(addresses); err != nil {
				return err
			}
			request.ExpiresAt, err = end(expires, time.Now())
			return err
		},
	}
	cmd.Flags().StringVar(&request.Organisation, "org", "", "id of the organisation")
	cmd.Flags().StringVar(&request.Name, "name", "", "what the key is for")
	cmd.Flags().StringVar(&request.Domain, "domain", "", "the only domain that the key is for (default: all of the organisation)")
	cmd.Flags().StringVar(&expires, "expires", "", `end of the key: "90d", a duration as "12h", or a time as "2027-01-31T00:00:00Z" (default: never)`)
	cmd.Flags().StringArrayVar(&scopes, "scope", nil, "right of the key: read, write, manage or deploy, which may be repeated; or bundle with --domain, alone (default: read and write)")
	cmd.Flags().StringArrayVar(&addresses, "allow", nil, "address or network that the key may be used from; may be repeated (default: any)")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) (shownKey, error) {
		k, secret, err := s.CreateKey(ctx, request)
		return shown(k, secret), err
	}, func(w io.Writer, k shownKey) {
		fmt.Fprintln(w, k.Key)
		fmt.Fprintf(a.stderr, "This is %s of %s. It is not shown again.\n", k.ID, k.Organisation)
	})
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
	var org string
	cmd := &cobra.Command{
		Use:     "list [--org ORGANISATION]",
		Short:   "List keys and when each was last used, without the keys themselves",
		Example: `  bindery key list --data ./.data --json`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&org, "org", "", "only keys of this organisation")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, _ []string) ([]shownKey, error) {
		all, err := ofOrganisations(ctx, s, org, s.ListKeys)
		keys := make([]shownKey, len(all))
		for i, k := range all {
			keys[i] = shown(k, "")
		}
		return keys, err
	}, func(w io.Writer, all []shownKey) {
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
			rows = append(rows, []string{k.ID, k.Organisation, strings.Join(scopes, ","), strings.Join(addresses, ","), day(k.CreatedAt), day(k.ExpiresAt), day(k.RevokedAt), day(k.UsedAt), k.Name})
		}
		table(w, "id organisation scopes addresses created expires revoked used name", rows)
	})
}

func (a *app) keyRevoke() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "revoke KEY --org ORGANISATION",
		Short:   "End a key at once",
		Long:    "Revoke ends a key by its id, as `bindery key list` shows it. Requests with it are refused from then on.",
		Example: `  bindery key revoke key_… --org org_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error { return required("org", org) },
	}
	cmd.Flags().StringVar(&org, "org", "", "id of the key's organisation")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (shownKey, error) {
		k, err := s.RevokeKey(ctx, org, args[0])
		return shown(k, ""), err
	}, func(w io.Writer, k shownKey) { fmt.Fprintf(w, "%s is revoked\n", k.ID) })
}
