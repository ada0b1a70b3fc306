package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/server"
)

func (a *app) runCommand() *cobra.Command {
	var data, domain, cache string
	var project admin.Configuration
	var noCache, open bool
	f := exportFlags{interval: time.Second, maxPolls: 3600}
	cmd := &cobra.Command{
		Use:   "run DIR --out FILE",
		Short: "Turn a folder into a bundle, through a Bindery of its own",
		Long: `Run starts a Bindery as up does, on a free port of this machine, and does what a pipeline
does with its API: publish the folder, start an export, follow it, and take the bundle. The exit
code is 0 only if the bundle is there, with the size and SHA-256 that the API says.

What the flags set of the project can stand in bindery.yaml beside docs.json, below "run"; a
flag wins over it.

Without --data all state is temporary. With it, a second run publishes only what changed, and
renders nothing where nothing did, unless --fresh is given.

What pages are made into is kept for the next run of the same folder, below bindery in the
cache folder of your account or in --cache, up to 2 GiB a site: pages whose sources, snippets,
pictures, links and settings are the same are then not rendered again. The last bundle, up to
512 MiB, is there too: a run for which nothing changed takes it. So are the folder's files, up
to 1 GiB, and those that rest are not read again. The bundle has the same bytes with and
without it. --fresh and --no-cache render all pages.`,
		Example: `  bindery run docs --out bundle.tar.gz
  bindery run docs --out bundle.tar.gz --open
  bindery run docs --out bundle.tar.gz --domain docs.example.org --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) (err error) {
			server.CollectLate()
			set, err := settingsOf(cmd, args[0])
			if err != nil {
				return err
			}
			if err := set.check(domain, project, f.paths); err != nil {
				return err
			}
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
				folder, err := tempdir.Make("run")
				if err != nil {
					return err
				}
				data = folder.Path
				defer func() { _ = folder.Remove() }()
			}
			folder := ""
			if !noCache && !f.fresh {
				if folder, err = keptFolder(cache, args[0], domain, f); err != nil {
					return err
				}
			}
			opt := server.Options{Dir: data, Temporary: temporary, Kept: folder, Addr: "127.0.0.1:0", Log: a.logger(slog.LevelError)}
			source := client.PublishOptions{Dir: args[0], Domain: domain, Kept: folder, Leave: []string{f.out, data}}
			if cache != "" {
				source.Leave = append(source.Leave, cache)
			}
			if temporary {
				// One snapshot is made there. Named by what it holds, equal folders make
				// equal bundles, in whatever packs their files lie.
				var contents atomic.Value
				source.Named = func(sum string) { contents.Store(sum) }
				opt.SnapshotID = func(string) string { return "snp_" + contents.Load().(string)[:36] }
			}
			s, err := openServer(ctx, opt)
			if err != nil {
				return err
			}
			result, err := a.runThrough(ctx, cmd, s, source, project, f)
			if err == nil {
				err = a.print(result, func(w io.Writer) { a.showBundle(w, result) })
			}
			if err = errors.Join(err, s.Close()); err != nil {
				return err
			}
			if open {
				if err := a.serveBundle(ctx, f.out, "127.0.0.1:0", true); err != nil {
					return err
				}
			}
			return bar.judge(result.Listed)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "file to write")
	flags.StringVar(&domain, "domain", server.SeedDomain, "domain that the site is published under: canonical addresses have it")
	flags.StringVar((*string)(&project.Kind), "kind", string(admin.KindCloud), "deployment: cloud, client-hosted or air-gapped")
	bundleFlags(flags, &project.Settings)
	flags.StringArrayVar(&f.paths, "path", nil, "export only pages below this path; may be repeated")
	groupsFlag(cmd, &f.groups)
	freshFlag(cmd, &f.fresh)
	flags.StringVar(&data, "data", "", "folder for all state, kept for the next run (default: a temporary one)")
	flags.StringVar(&cache, "cache", "", "folder for what is kept for the next run (default: bindery in your cache folder)")
	flags.BoolVar(&noCache, "no-cache", false, "render all pages, and keep nothing")
	flags.BoolVar(&open, "open", false, "open the site in a browser, and serve it until Ctrl-C; what --fail-on names counts after that")
	cmd.MarkFlagsMutuallyExclusive("cache", "no-cache")
	failOnFlag(cmd, &f.failOn, "none")
	a.jsonFlag(cmd)
	return cmd
}

// keptFolder returns the folder of what is kept of an export from run to run;
// empty where none was named and the account has none that can be used.
func keptFolder(cache, dir, domain string, f exportFlags) (string, error) {
	named := cache != ""
	if !named {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", nil
		}
		cache = filepath.Join(user, "bindery")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	folder, err := kept.Folder(cache, append(append([]string{dir, domain, fmt.Sprint(len(f.paths))}, f.paths...), f.groups...)...)
	if err != nil && !named {
		return "", nil
	}
	return folder, err
}

// runThrough does with a server's API what a pipeline does.
func (a *app) runThrough(ctx context.Context, cmd *cobra.Command, s *server.Server, source client.PublishOptions, project admin.Configuration, f exportFlags) (*bundleReport, error) {
	have, err := s.Seed(ctx, source.Domain)
	if err != nil {
		return nil, err
	}
	if p, err := s.Admin.GetProject(ctx, have.Project); err != nil {
		return nil, err
	} else if p.Kind != project.Kind || p.Settings != project.Settings {
		if _, err := s.Admin.ConfigureProject(ctx, p.ID, project); err != nil {
			return nil, err
		}
	}
	if err := s.Serve(ctx); err != nil {
		return nil, err
	}
	c, err := a.newClient(s.URL, have.Key, false, 0)
	if err != nil {
		return nil, err
	}
	source.Domain, source.Take = have.Domain, s.TakeUpload
	published, err := a.publish(cmd, c, source)
	if err != nil {
		return nil, err
	}
	if !a.json {
		a.showPublished(a.stdout, published)
	}
	f.domain, f.own = have.Domain, s
	result, err := a.export(ctx, c, f)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", source.Dir, err)
	}
	return result, nil
}
