package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// peopleFlags say how people reach the dashboard.
type peopleFlags struct {
	url, issuer, client string
	groups, claim       string
	open                bool
}

func (f *peopleFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "public address of this server, such as https://bindery.example.com: all links begin with it (default: the address it listens on)")
	cmd.Flags().StringVar(&f.issuer, "oidc-issuer", "", "address of an OpenID provider that signs people in; its client secret is in $BINDERY_OIDC_CLIENT_SECRET")
	cmd.Flags().StringVar(&f.client, "oidc-client-id", "bindery", "what the provider knows the dashboard as")
	cmd.Flags().StringVar(&f.groups, "oidc-groups", "", "file with the table of roles that groups at the provider have, as JSON")
	cmd.Flags().StringVar(&f.claim, "oidc-groups-claim", "groups", "claim with a person's groups")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the sign-in link in a browser")
}

// dashboardOptions are those of a server for people.
func (a *app) dashboardOptions(f *peopleFlags) (*server.Dashboard, error) {
	d := &server.Dashboard{URL: f.url}
	if u, err := url.Parse(f.issuer); f.issuer != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http") {
		return nil, usagef("--oidc-issuer must be an address that begins with https:// or http://")
	}
	if f.url != "" {
		if err := server.CheckURL(f.url); err != nil {
			return nil, usagef("--url %s", err)
		}
	}
	if f.issuer != "" {
		d.Provider = &dashboard.Provider{Issuer: f.issuer, ClientID: f.client, ClientSecret: a.env.OIDCClientSecret, GroupsClaim: f.claim}
	}
	if f.groups == "" {
		return d, nil
	}
	if d.Provider == nil {
		return nil, usagef("--oidc-groups needs --oidc-issuer")
	}
	table, err := os.ReadFile(f.groups)
	if err != nil {
		return nil, err
	}
	if d.Provider.Groups, err = dashboard.ParseGroups(table); err != nil {
		return nil, fmt.Errorf("%s: %w", f.groups, err)
	}
	return d, nil
}

// offerSignIn prints a sign-in link, and opens it where that is asked for. There may be
// none.
func (a *app) offerSignIn(ctx context.Context, link string, open bool) error {
	if link == "" {
		return nil
	}
	a.say("Sign in within a minute, once: %s", link)
	if open {
		a.browse(ctx, link)
	}
	return nil
}

// printFlag adds the flag of commands that open an address.
func printFlag(cmd *cobra.Command, printOnly *bool) {
	cmd.Flags().BoolVar(printOnly, "print", false, "print the address and open no browser")
}

// open prints an address, as JSON with what else is in page, and opens it in a browser,
// unless it is only to be printed. A machine without a browser is no error.
func (a *app) open(ctx context.Context, page any, address string, printOnly bool) error {
	if err := a.print(page, func(w io.Writer) { fmt.Fprintln(w, address) }); err != nil || printOnly || a.json {
		return err
	}
	a.browse(ctx, address)
	return nil
}

// browse opens an address in a browser, or warns that there is none.
func (a *app) browse(ctx context.Context, address string) {
	if err := browse(ctx, address); err != nil {
		a.warn("no browser could be opened: " + err.Error())
	}
}

// browse opens an address in the browser of this machine.
func browse(ctx context.Context, address string) error {
	command := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", address}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	// The browser may outlive this program.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // what it says is its own matter
	return nil
}

func (a *app) signInCommand() *cobra.Command {
	var o operator
	var open bool
	cmd := &cobra.Command{
		Use:   "sign-in --data DIR",
		Short: "Print a link that signs you in to the dashboard of this machine",
		Long: `Sign-in prints a link to the dashboard of a running bindery up. The link signs its owner in, once,
within a minute, from this machine alone, as an owner of every organisation.`,
		Example: `  bindery sign-in --data ./.data --open`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if o.data == "" {
				o.data = a.env.Data
			}
			if err := required("data", o.data); err != nil {
				return err
			}
			return a.operateOn(cmd, &o, func(ctx context.Context, s *admin.Service) error {
				link, err := server.SignInLink(ctx, s, o.data)
				if err != nil {
					return err
				}
				if open {
					return a.offerSignIn(ctx, link, true)
				}
				_, err = fmt.Fprintln(a.stdout, link)
				return err
			})
		}),
	}
	cmd.Flags().StringVar(&o.data, "data", "", "data folder of the Bindery (default: $BINDERY_DATA)")
	cmd.Flags().BoolVar(&open, "open", false, "open the link in a browser")
	return cmd
}
