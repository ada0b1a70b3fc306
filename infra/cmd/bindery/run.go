package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/server"
)

func (a *app) runCommand() *cobra.Command {
	var data, domain string
	f := exportFlags{interval: time.Second, maxPolls: 3600}
	cmd := &cobra.Command{
		Use:   "run DIR --out FILE",
		Short: "Turn a folder into a bundle, through a Bindery of its own",
		Long: `Run starts a Bindery as up does, on a free port of this machine, and does what a pipeline
does with its API: publish the folder, start an export, follow it, and take the bundle. The exit
code is 0 only if the bundle is there, with the size and SHA-256 that the API says.

Without --data all state is temporary. With it, a second run publishes only what changed.`,
		Example: `  bindery run docs --out bundle.tar.gz
  bindery run docs --out bundle.tar.gz --domain docs.example.org --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) (err error) {
			server.CollectLate()
			if err := required("out", f.out); err != nil {
				return err
			}
			if err := checkOut(f.out); err != nil {
				return err
			}
			bar, err := parseFailOn(f.failOn)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			temporary := data == ""
			if temporary {
				if data, err = os.MkdirTemp("", "bindery-run-"); err != nil {
					return err
				}
				defer func() { _ = os.RemoveAll(data) }()
			}
			s, err := openServer(ctx, server.Options{Dir: data, Temporary: temporary, Addr: "127.0.0.1:0", Log: a.logger(slog.LevelError)})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			result, err := a.runThrough(ctx, cmd, s, args[0], domain, f)
			if err != nil {
				return err
			}
			if err := a.print(result, func(w io.Writer) { a.showBundle(w, result) }); err != nil {
				return err
			}
			return bar.judge(result.Listed)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "file to write")
	flags.StringVar(&domain, "domain", server.SeedDomain, "domain that the site is published under: canonical addresses have it")
	flags.StringArrayVar(&f.paths, "path", nil, "export only pages below this path; may be repeated")
	groupsFlag(cmd, &f.groups)
	flags.StringVar(&data, "data", "", "folder for all state, kept for the next run (default: a temporary one)")
	failOnFlag(cmd, &f.failOn, "none")
	a.jsonFlag(cmd)
	return cmd
}

// runThrough does with a server's API what a pipeline does.
func (a *app) runThrough(ctx context.Context, cmd *cobra.Command, s *server.Server, dir, domain string, f exportFlags) (*bundleReport, error) {
	have, err := s.Seed(ctx, domain)
	if err != nil {
		return nil, err
	}
	if err := s.Serve(ctx); err != nil {
		return nil, err
	}
	c, err := a.newClient(s.URL, have.Key, false)
	if err != nil {
		return nil, err
	}
	published, err := a.publish(cmd, c, dir, have.Domain, false)
	if err != nil {
		return nil, err
	}
	if !a.json {
		a.showPublished(a.stdout, published)
	}
	f.domain, f.own = have.Domain, s
	result, err := a.export(ctx, c, f)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", dir, err)
	}
	return result, nil
}
