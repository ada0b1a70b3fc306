package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// exportFlags are how an export is started, followed and fetched.
type exportFlags struct {
	domain   string
	version  string
	paths    []string
	groups   []string
	out      string
	job      string
	interval time.Duration
	maxPolls int
	// link: leave the bundle where it is and make a link to it.
	link     bool
	handover handover
	failOn   []string
	fresh    bool
	goLive   bool
	// have is the digest of a bundle that the caller has. With ifChanged, the same
	// one again is not fetched, and ends the command with the code unchanged.
	have      string
	ifChanged bool
	unchanged int
	// own is the service where it ends with this program: nothing can be resumed
	// with a job later, and its bundles are on this disk. Else nil.
	own *server.Server
}

func (a *app) exportCommand() *cobra.Command {
	var who caller
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --domain DOMAIN [--out FILE]",
		Short: "Export a site's newest snapshot and download the bundle",
		Long: `Export starts an export, follows it, and downloads the bundle. The file gets its name
only when its size and SHA-256 are those that the API says, and the bundle's own lists
agree with it.

The job is read every --interval, or at the pace that the service asks for, until
--max-polls intervals are over: exit code 4. A job that failed is exit code 3. A job
continues after this program has ended; --job follows one that was started before,
and an interrupted download is resumed.

A service that has the same bundle already, of the same files, settings and renderer,
renders nothing and copies it; --fresh has it rendered. With --if-changed, the command
ends with exit code 6 where the bundle is the one that --have names or, without it, the
file of --out or the one of the site's last export; nothing is then downloaded or written.

With --go-live the command says at its end whether the version is live and, if it is not, why.

With --no-download the bundle stays where it is, and its link is printed: for servers
that fetch bundles themselves, such as the Helm chart. --github-output and --helm-values
put the link into a file instead, where no log shows it.`,
		Example: `  bindery export --domain docs.example.com --out bundle.tar.gz
  bindery export --domain docs.example.com --no-download --helm-values values.json
  bindery export --domain docs.example.com --export-version 2026-03 --path guides --path api
  bindery export --domain docs.example.com --out bundle.tar.gz --if-changed
  bindery export --job exp_… --out bundle.tar.gz`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			server.CollectLate()
			if f.job == "" {
				if err := required("domain", f.domain); err != nil {
					return err
				}
			} else if f.version != "" || len(f.paths)+len(f.groups) > 0 || f.fresh || f.goLive || f.ifChanged || f.have != "" {
				return usagef("--export-version, --path, --groups, --fresh, --go-live, --have and --if-changed belong to a new job, not to --job")
			}
			if f.link && f.out != "" {
				return usagef("--out is the file of a download, and --no-download makes none")
			}
			f.handover.outputs = a.env.GitHubOutput
			if err := f.handover.check(); err != nil {
				return err
			}
			if f.interval <= 0 || f.maxPolls <= 0 {
				return usagef("--interval and --max-polls must be positive")
			}
			c, err := a.client(&who)
			if err != nil {
				return err
			}
			bar, err := parseFailOn(f.failOn)
			if err != nil {
				return err
			}
			if f.link && cmd.Flags().Changed("fail-on") {
				return usagef("--fail-on needs the bundle's list of findings, and --no-download leaves it where it is")
			}
			if f.link {
				result, err := a.exportLink(cmd.Context(), c, f)
				if err != nil {
					return err
				}
				return a.print(result, func(w io.Writer) { a.showLink(w, result) })
			}
			result, err := a.export(cmd.Context(), c, f)
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
	flags.StringVar(&f.domain, "domain", "", "the site's domain")
	flags.StringVar(&f.version, "export-version", "", "label of the export (default: made of the snapshot's id)")
	flags.StringArrayVar(&f.paths, "path", nil, "export only pages below this path; may be repeated")
	groupsFlag(cmd, &f.groups)
	flags.StringVarP(&f.out, "out", "o", "", "file to write (default: DOMAIN-VERSION.tar.gz)")
	freshFlag(cmd, &f.fresh)
	flags.BoolVar(&f.goLive, "go-live", false, "make the bundle the live version of the site, or let it be promoted to that; the key needs the scope deploy")
	flags.BoolVar(&f.ifChanged, "if-changed", false, "fetch and write nothing where the bundle is the same as before, and exit with code 6")
	flags.StringVar(&f.have, "have", "", "SHA-256 of the bundle that is there, for --if-changed; the service makes no copy of it")
	flags.IntVar(&f.unchanged, "unchanged-code", exitUnchanged, "the exit code of --if-changed where nothing changed")
	flags.StringVar(&f.job, "job", "", "follow this job instead of starting one")
	flags.DurationVar(&f.interval, "interval", 10*time.Second, "how often to read the job, if the service does not say")
	flags.IntVar(&f.maxPolls, "max-polls", 60, "give up after this many intervals")
	flags.BoolVar(&f.link, "no-download", false, "leave the bundle where it is and make a link to it")
	flags.BoolVar(&f.handover.github, "github-output", false, "add job-id, version, sha256, bundle-url and more to the outputs of a GitHub Actions step")
	flags.StringVar(&f.handover.values, "helm-values", "", "write values for the Helm chart to this file: link, version, digest and job")
	failOnFlag(cmd, &f.failOn, "none")
	who.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// freshFlag adds the flag that has everything rendered.
func freshFlag(cmd *cobra.Command, fresh *bool) {
	cmd.Flags().BoolVar(fresh, "fresh", false, "render the bundle, also where the same one is stored")
}

// groupsFlag adds the flag that names who the bundle is for.
func groupsFlag(cmd *cobra.Command, groups *[]string) {
	cmd.Flags().StringSliceVar(groups, "groups", nil, "let in what the site keeps for these groups of readers, with commas between them")
}

// export starts or finds a job, follows it and fetches its bundle.
func (a *app) export(ctx context.Context, c *client.Client, f exportFlags) (*bundleReport, error) {
	if err := checkOut(f.out); err != nil {
		return nil, err
	}
	job, live, err := a.exported(ctx, c, f)
	if err != nil {
		return nil, err
	}
	result, err := a.fetchBundle(ctx, c, job, f)
	if err != nil {
		// What the service refuses it will refuse again.
		var refused *client.Error
		if f.own == nil && (!errors.As(err, &refused) || refused.Code == "") {
			fmt.Fprintf(a.stderr, "The bundle is there. To resume the download: bindery export --job %s\n", job.JobID)
		}
		return nil, err
	}
	result.GoLive = live
	if f.handover.takes() {
		if _, err := a.giveLink(ctx, c, job, f); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// exportLink starts or finds a job, follows it and makes a link to its bundle.
func (a *app) exportLink(ctx context.Context, c *client.Client, f exportFlags) (*linkReport, error) {
	job, live, err := a.exported(ctx, c, f)
	if err != nil {
		return nil, err
	}
	link, err := a.giveLink(ctx, c, job, f)
	if err != nil {
		return nil, err
	}
	report := &linkReport{
		JobID: job.JobID, Domain: job.Domain, Version: link.Version, SHA256: link.SHA256, SizeBytes: link.SizeBytes,
		Pages: job.PageCount, ExpiresAt: link.ExpiresAt, GoLive: live,
	}
	if !f.handover.takes() {
		report.BundleURL = link.BundleURL
	}
	return report, nil
}

// giveLink makes a fresh link to a job's bundle and hands it over.
func (a *app) giveLink(ctx context.Context, c *client.Client, job api.ExportJob, f exportFlags) (api.BundleLink, error) {
	link, err := c.GenerateBundle(ctx, job.JobID)
	if err != nil {
		return link, err
	}
	return link, f.handover.give(a.stdout, link, job)
}

// exported returns a completed job, and whether it is live if it was to be. It returns an
// *unchangedError where the bundle is the one that was there and the caller wants no other.
func (a *app) exported(ctx context.Context, c *client.Client, f exportFlags) (api.ExportJob, *liveReport, error) {
	job, err := a.finishedJob(ctx, c, f)
	if err != nil {
		return job, nil, err
	}
	live := a.wentLive(ctx, c, job)
	return job, live, a.changed(f, job, live)
}

// finishedJob starts or finds a job and follows it to its end.
func (a *app) finishedJob(ctx context.Context, c *client.Client, f exportFlags) (api.ExportJob, error) {
	id := f.job
	if id == "" {
		have, err := a.before(ctx, c, f)
		if err != nil {
			return api.ExportJob{}, err
		}
		job, err := c.StartExport(ctx, api.StartExportRequest{
			Domain: f.domain, Version: f.version, Paths: f.paths, Groups: f.groups, Fresh: f.fresh, Have: have, GoLive: f.goLive,
		}, "")
		if err != nil {
			return job, err
		}
		id = job.JobID
	} else if f.domain != "" {
		job, _, err := c.GetExport(ctx, id)
		if err != nil {
			return job, err
		}
		if job.Domain != f.domain {
			return job, fmt.Errorf("job %s is of %s, not of %s", id, job.Domain, f.domain)
		}
	}
	bar := a.meter("export")
	job, err := c.Wait(ctx, id, client.WaitOptions{
		Interval: f.interval, MaxPolls: f.maxPolls,
		Progress: func(job api.ExportJob) {
			bar.set(int64(job.Progress), 100, fmt.Sprintf("%s, %d%%, %s", job.Status, job.Progress, count(job.PageCount, "page")))
		},
	})
	bar.end()
	if err != nil {
		// A job outlives this program.
		if _, timeout := errors.AsType[*client.TimeoutError](err); f.own == nil && (timeout || ctx.Err() != nil) {
			fmt.Fprintf(a.stderr, "The job continues. To fetch its bundle later: bindery export --job %s\n", id)
		}
	}
	return job, err
}

// checkOut finds out before an export what would keep its file from being
// written in the end.
func checkOut(out string) error {
	if out == "" {
		return nil
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return usagef("--out: %s is a folder; the name of a file was expected", out)
	}
	// Folders that are missing are made. What is in their place may be
	// something else.
	for dir := filepath.Dir(out); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir() || dir == filepath.Dir(dir):
			return nil
		case err == nil:
			return usagef("--out: %s is not a folder", dir)
		}
	}
}

// fetchBundle downloads and checks the bundle of a completed job.
func (a *app) fetchBundle(ctx context.Context, c *client.Client, job api.ExportJob, f exportFlags) (*bundleReport, error) {
	out := f.out
	if out == "" {
		out = filepath.Base(job.Domain + "-" + job.Version + ".tar.gz")
	}
	bar := a.meter("download")
	var report *bundleReport
	options := client.DownloadOptions{
		Path: out,
		Check: func(file string, link api.BundleLink) (err error) {
			report, err = inspect(ctx, file, out, job, link)
			return err
		},
		Progress: func(done, total int64) {
			if bar.progress != nil {
				bar.set(done, total, fmt.Sprintf("%s of %s", size(done), size(total)))
			}
		},
	}
	if f.own != nil {
		made, open, err := f.own.Bundle(ctx, job.JobID)
		if err != nil {
			return nil, err
		}
		options.File = open
		options.Check = func(file string, link api.BundleLink) (err error) {
			report, err = inspectEnd(ctx, file, out, job, link, made.End)
			return err
		}
	}
	_, err := c.Download(ctx, job.JobID, options)
	bar.end()
	if err != nil {
		return nil, err
	}
	return report, a.addUnnamed(ctx, c, report)
}

// addUnnamed replaces the bundle's findings by the job's if the bundle lacks some: it has
// none that names restricted content.
func (a *app) addUnnamed(ctx context.Context, c *client.Client, r *bundleReport) error {
	of := client.FindingsOf{JobID: r.JobID}
	read := func(cursor string, limit int) ([]api.Finding, *string, error) {
		page, err := c.Findings(ctx, of, cursor, limit)
		return page.Findings, page.NextCursor, err
	}
	const most = 200 // of one page
	found, next, err := read("", most)
	if err == nil && next != nil {
		found = nil
		for _, code := range check.Codes() {
			if !strings.HasSuffix(code.Name, "-restricted") {
				continue
			}
			of.Code = code.Name
			var some []api.Finding
			if some, _, err = read("", 1); err != nil {
				break
			}
			if len(some) > 0 {
				of.Code = ""
				found, err = paged(check.MaxFindings+1, read)
				break
			}
		}
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		a.logger(slog.LevelWarn).DebugContext(ctx, "the job's findings can't be read, the bundle's are shown", "error", refused)
		return nil
	}
	if err != nil {
		return err
	}
	if len(found) <= len(r.Listed) {
		return nil
	}
	r.Listed, r.Findings = findingsOf(found), map[string]int{}
	for _, f := range r.Listed {
		r.Findings[f.Code]++
	}
	r.Diagnostics = bundle.Counts(check.Count(r.Listed))
	r.more = true
	return nil
}
