package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/service/server"
)

func (a *app) upCommand() *cobra.Command {
	var data, addr string
	var withSeed bool
	var agents setupFlags
	var callbacks, names, proxies []string
	var sitesAddr string
	var people peopleFlags
	cmd := &cobra.Command{
		Use:   "up --data DIR [--addr ADDRESS] [--seed]",
		Short: "Run a whole Bindery on this machine",
		Long: `Up runs API, storage and export workflow in one process, with all state in one folder.
It survives a restart and a power cut: exports that were running resume.

The file DIR/env gets the address, for the environment of callers. --seed creates an
organisation on the Enterprise plan, a project for ` + server.SeedDomain + ` and a key, once;
the file has key and project then too, and nobody but you can read it.

With --models, agents work for projects that have a credential for their forge (bindery
project credential set), and for projects on GitHub where the App of --github-app is installed.
The file is a table of servers and models; it has no keys. The key of the default model's
server is in $BINDERY_MODEL_KEY, or, as those of all others, in a file of the server's name in
the folder of --model-keys.

The dashboard is at the same address. A link signs you in, once, within a minute; bindery
sign-in prints a new one. For more than one person, name an OpenID provider, with its
client secret in $BINDERY_OIDC_CLIENT_SECRET, and the address under which people come.

Live sites are at http://NAME.localhost:PORT/, each on a host of its own, and so are single
exports for people with a link from the dashboard. With --url, name the host below which they
are with --sites-addr. A request for any other host gets status 421.

Ctrl-C shuts down gracefully; a second Ctrl-C stops immediately.`,
		Example: `  bindery up --data ./.data --seed --open
  set -a; . ./.data/env; set +a
  bindery publish docs --domain ` + server.SeedDomain,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) (err error) {
			if data == "" {
				data = a.env.Data
			}
			if err := required("data", data); err != nil {
				return err
			}
			ctx := cmd.Context()
			log := a.logger(slog.LevelInfo)
			options := server.Options{Dir: data, Addr: addr, Hosts: names, SitesAddr: sitesAddr, Log: log}
			for _, name := range names {
				if err := server.CheckHost(name); err != nil {
					return usagef("--host %s: %s", name, err)
				}
			}
			if sitesAddr != "" {
				if err := server.CheckSitesAddr(sitesAddr); err != nil {
					return usagef("--sites-addr %s", err)
				}
			}
			if err := a.agentOptions(ctx, &agents, &options); err != nil {
				return err
			}
			if callbacks == nil {
				callbacks = a.env.WebhookHosts
			}
			if options.Proxies, err = proxy.Parse(proxies); err != nil {
				return usagef("--trusted-proxy: %s", err)
			}
			options.Callbacks = remote.Callbacks{Private: callbacks}
			if options.Dashboard, err = a.dashboardOptions(&people); err != nil {
				return err
			}
			tempdir.Sweep()
			s, err := openServer(ctx, options)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			have, err := s.Seeded()
			if withSeed {
				have, err = s.Seed(ctx, server.SeedDomain)
			}
			if err != nil {
				return err
			}
			if err := s.Serve(ctx); err != nil {
				return err
			}
			env, err := s.WriteEnv(have)
			if err != nil {
				return err
			}
			a.warnIfOpen(s.Addr())
			a.say("Bindery is at %s; its environment is in %s", s.Public, env)
			link, err := s.SignInLink(ctx)
			if err == nil {
				err = a.offerSignIn(ctx, link, people.open)
			}
			if err != nil && ctx.Err() == nil { // who interrupts it needs no link
				return err
			}
			if err := s.Wait(ctx); err != nil {
				return err
			}
			log.Info("shutting down; interrupt again to stop immediately")
			return nil
		}),
	}
	cmd.Flags().StringVar(&data, "data", "", "folder for all state (default: $BINDERY_DATA)")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8787", "address to listen on; port 0 takes a free one, which is written to DIR/env")
	cmd.Flags().StringSliceVar(&names, "host", nil, "further host name by which clients call the API and the dashboard; may be repeated (default: the names of this machine, of --addr and of --url, and every address)")
	cmd.Flags().StringVar(&sitesAddr, "sites-addr", "", "host below which each site has one, such as sites.example.com, with its port if it is not that of --url (default: localhost, if --url is on this machine)")
	cmd.Flags().BoolVar(&withSeed, "seed", false, "create an organisation, a project and a key, once")
	cmd.Flags().StringSliceVar(&callbacks, "webhook-host", nil, `host of your own network that webhooks may have, with its port unless it is 443, and "http://" in front where it has no encryption; may be repeated (default: $BINDERY_WEBHOOK_HOSTS)`)
	cmd.Flags().StringSliceVar(&proxies, "trusted-proxy", nil, "network or address of a proxy in front, such as 10.0.0.0/8: its X-Forwarded-For or Forwarded says where a request comes from, for key allow-lists, limits and logs; may be repeated")
	agents.add(cmd)
	people.add(cmd)
	return cmd
}

// openServer opens a server that shows components in processes of this program.
func openServer(ctx context.Context, opt server.Options) (*server.Server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	opt.Program = program
	return server.Open(ctx, opt)
}
