package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// checkFormats are the formats that findings are written in.
var checkFormats = []string{"text", "json", "sarif", "github", "gitlab", "gitea", "junit"}

// checkFlags are the flags of bindery check.
type checkFlags struct {
	domain    string
	groups    []string
	noScripts bool
	format    string
	failOn    []string
	since     string
	baseline  string
	write     string
	external  bool
	timeout   time.Duration
	allowed   []string
	fix       bool
	dryRun    bool
}

// checkReport is the result of a check, as JSON has it.
type checkReport struct {
	Pages       int             `json:"pages"`
	Diagnostics check.Counts    `json:"diagnostics"`
	Findings    []check.Finding `json:"findings"`
	// Known is how many findings are left out because they are not new.
	Known int `json:"known,omitempty"`
	// Fixes are what was mended, with --fix.
	Fixes      []check.Fix `json:"fixes,omitempty"`
	NotChecked []string    `json:"notChecked,omitempty"`
	// NotAsked is how many addresses of other sites were not asked for in time.
	NotAsked int `json:"notAsked,omitempty"`
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Find what is wrong with a site, without making a bundle",
		Long: `Check finds all that an export would report of a folder with a docs.json, in a fraction
of the time: its configuration, syntax, components, links and the places that they lead
to, pictures, navigation, specifications. It needs no server and no network.

Each finding has a level and a code. Those of the level info are one line, which
--verbose replaces by the findings: nothing is wrong with the site. A bindery.yaml beside docs.json can set a code to
off, info, notice, warning or error; exports honour it, too:

  check:
    alt-missing: off
    link-missing: error

A comment on a page silences a finding of its line, or of the next one:

  {/* bindery-ignore link-missing: the page comes with the next release */}

With --fix, what has one right answer is mended in the files: links to pages that have
moved, through their redirects; places of links where a heading changed a little; the
indentation of docs.json. Findings and the exit code are those after that.

With --external, links to other sites are asked for, too: at most two requests at a time to
a host, none to private networks but hosts in --external-allow. What was reached is not
asked for again for a day.

With --since, only findings that are not in a commit are shown, with --baseline those that
are not in a file. A finding that only moved to another line is not new.

The exit code is 5 if there are findings that --fail-on selects: those of a level or above,
or those with one of several codes. With none, it never is.`,
		Example: `  bindery check docs
  bindery check docs --fail-on warning
  bindery check docs --since origin/main --format github
  bindery check docs --write-baseline known.json
  bindery check docs --baseline known.json --fail-on notice
  bindery check docs --format sarif > findings.sarif
  bindery check docs --external --external-timeout 1m
  bindery check docs --fix --dry-run
  bindery check docs --fix`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			server.CollectLate()
			if a.json && cmd.Flags().Changed("format") && f.format != "json" {
				return usagef("--json means --format json: use one of them")
			}
			if a.json {
				f.format = "json"
			}
			if !slices.Contains(checkFormats, f.format) {
				return usagef("--format: unknown format %q; use text, json, sarif, github, gitlab or junit", f.format)
			}
			if f.since != "" && f.baseline != "" {
				return usagef("--since and --baseline can't be used together")
			}
			if !f.external && (cmd.Flags().Changed("external-timeout") || len(f.allowed) > 0) {
				return usagef("--external-timeout and --external-allow are for --external")
			}
			if f.timeout <= 0 {
				return usagef("--external-timeout: must be more than nothing")
			}
			if f.dryRun && !f.fix {
				return usagef("--dry-run is for --fix")
			}
			bar, err := parseFailOn(f.failOn)
			if err != nil {
				return err
			}
			return a.check(cmd.Context(), args[0], f, bar)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.domain, "domain", server.SeedDomain, "domain that the site is published under: links to it are links within the site")
	groupsFlag(cmd, &f.groups)
	flags.BoolVar(&f.noScripts, "no-scripts", false, "run no JavaScript of the site's authors: pages that need some are not checked in full")
	flags.StringVar(&f.format, "format", "text", "text, json, sarif (2.1.0), github (annotations of a workflow), gitlab (a code quality report), gitea (a review of a pull request, for its API) or junit (a report of tests)")
	failOnFlag(cmd, &f.failOn, "error")
	flags.StringVar(&f.since, "since", "", "show only what is new against this commit of the folder's Git repository")
	flags.StringVar(&f.baseline, "baseline", "", "show only what is not in this file")
	flags.StringVar(&f.write, "write-baseline", "", "write all findings to this file, for --baseline, and exit with code 0")
	flags.BoolVar(&f.external, "external", false, "ask whether links to other sites lead anywhere")
	flags.DurationVar(&f.timeout, "external-timeout", check.DefaultTimeout, "how long other sites are asked, all together")
	flags.StringArrayVar(&f.allowed, "external-allow", nil, "ask this host, too, although its addresses are not public: wiki.example:8443, or http://wiki.example; may be repeated")
	flags.BoolVar(&f.fix, "fix", false, "mend what has one right answer: links through redirects, changed headings, the indentation of docs.json")
	flags.BoolVar(&f.dryRun, "dry-run", false, "with --fix: write no file, but print what would change, as a patch; findings are those before that")
	a.jsonFlag(cmd)
	return cmd
}

// check checks a folder and shows what was found.
func (a *app) check(ctx context.Context, dir string, f checkFlags, bar failOn) error {
	tree, err := client.OpenTree(ctx, dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	opt := check.Options{
		Paths: tree.Paths, Domain: f.domain, Groups: f.groups, Log: a.logger(slog.LevelError), Fix: f.fix, Indented: true,
	}
	slices.Sort(opt.Groups)
	if !f.noScripts {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		scripts := island.New(island.Options{Program: program, Log: opt.Log})
		defer scripts.Close()
		opt.Islands = scripts
	}
	opt.Tools = check.NewTools(opt.Log)
	if f.external {
		prober := remote.NewProber(remote.ProbeOptions{Dialer: remote.Dialer{Private: remote.Callbacks{Private: f.allowed}.PrivateHost}})
		defer prober.Close()
		opt.External = &check.External{Prober: prober, Timeout: f.timeout}
		if user, err := os.UserCacheDir(); err == nil {
			opt.External.Cache = filepath.Join(user, "bindery", "links.json")
		}
	}
	for _, r := range tree.Refused {
		opt.Refused = append(opt.Refused, check.Refused(r))
	}
	found, err := check.Site(ctx, tree, opt)
	if err != nil {
		return fmt.Errorf("check %s: %w", dir, err)
	}
	fixes := found.Fixes
	if len(fixes) > 0 {
		if err := a.fix(tree, fixes, f); err != nil {
			return err
		}
		if !f.dryRun {
			opt.Fix = false
			if found, err = check.Site(ctx, tree, opt); err != nil {
				return fmt.Errorf("check %s: %w", dir, err)
			}
		}
	}
	if f.dryRun {
		return bar.judge(found.Findings)
	}
	if f.write != "" {
		return a.writeBaseline(f.write, found.Findings)
	}
	report := &checkReport{Pages: found.Pages, Diagnostics: found.Counts, Findings: found.Findings, NotChecked: found.NotChecked, NotAsked: found.NotAsked, Fixes: fixes}
	if err := a.leaveNew(ctx, dir, f, opt, report); err != nil {
		return err
	}
	if err := a.writeFindings(ctx, dir, f.format, report, sourceOf(tree)); err != nil {
		return err
	}
	return bar.judge(report.Findings)
}

// fix mends files, or prints what it would change of them as a patch.
func (a *app) fix(tree *client.Tree, fixes []check.Fix, f checkFlags) error {
	texts, err := check.Apply(tree, fixes)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		was, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if f.dryRun {
			patch, _, _ := edit.Diff(name, was, texts[name], nil)
			fmt.Fprint(a.stdout, patch)
			continue
		}
		if err := tree.Replace(name, was, texts[name]); err != nil {
			return err
		}
	}
	w := a.stderr
	if f.format == "text" && !f.dryRun {
		w = a.stdout
	}
	for _, one := range fixes {
		fmt.Fprintf(w, "%s:%d:%d: %s\n", visible(one.File), one.Line, one.Column, visible(one.Message))
	}
	what := "mended"
	if f.dryRun {
		what = "would be mended"
	}
	fmt.Fprintf(w, "%s %s %s in %s\n\n", a.paint(w, green, "✓"), count(len(fixes), "place"), what, count(len(texts), "file"))
	return nil
}

// leaveNew removes findings from a report that a commit or a file, if one was named,
// has as well.
func (a *app) leaveNew(ctx context.Context, dir string, f checkFlags, opt check.Options, report *checkReport) error {
	var before []check.Finding
	switch {
	case f.since != "":
		old, err := client.OpenCommit(ctx, dir, f.since)
		if errors.Is(err, client.ErrNoGit) {
			return fmt.Errorf("--since: %w", err)
		}
		if err != nil {
			return err
		}
		defer old.Close()
		if len(old.Paths) == 0 { // the folder is new
			return nil
		}
		opt.Paths, opt.Refused = old.Paths, nil
		if opt.External != nil {
			opt.External.Known = true
		}
		was, err := check.Site(ctx, old, opt)
		if err != nil {
			return fmt.Errorf("check %s: %w", f.since, err)
		}
		before = was.Findings
	case f.baseline != "":
		file, err := os.Open(f.baseline)
		if err != nil {
			return err
		}
		defer file.Close()
		if before, err = check.ReadBaseline(file); err != nil {
			return fmt.Errorf("%s: %w", f.baseline, err)
		}
	default:
		return nil
	}
	all := len(report.Findings)
	report.Findings = check.New(before, report.Findings)
	report.Diagnostics, report.Known = check.Count(report.Findings), all-len(report.Findings)
	return nil
}

// writeBaseline writes findings to a file.
func (a *app) writeBaseline(name string, list []check.Finding) error {
	var b bytes.Buffer
	if err := check.WriteBaseline(&b, list); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		return err
	}
	a.say("%s %s in %s", a.paint(a.stdout, green, "✓"), count(len(list), "finding"), name)
	return nil
}

// writeFindings writes a report in one of the formats.
func (a *app) writeFindings(ctx context.Context, dir, format string, r *checkReport, source lineReader) error {
	if r.Findings == nil {
		r.Findings = []check.Finding{}
	}
	var b bytes.Buffer
	var err error
	switch format {
	case "text":
		shown, _ := a.mendable(r.Findings)
		a.showFindings(&b, a.stdout, shown, source)
		a.showSummary(&b, r)
	case "json":
		out := json.NewEncoder(&b)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(r)
	default:
		prefix := repositoryPath(ctx, dir)
		list := r.Findings
		if format == "github" || format == "gitea" { // which people read
			list, _ = a.mendable(list)
		}
		list = slices.Clone(list)
		for i := range list {
			list[i].Column = check.InRunes(source(list[i].File, list[i].Line), list[i].Column)
		}
		switch format {
		case "sarif":
			err = check.WriteSARIF(&b, prefix, strings.Fields(version())[0], list)
		case "github":
			err = check.WriteGitHub(&b, prefix, list)
		case "gitea":
			err = check.WriteGitea(&b, prefix, list)
		case "junit":
			err = check.WriteJUnit(&b, prefix, list)
		default:
			err = check.WriteGitLab(&b, prefix, list)
		}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(a.stdout, &b)
	return err
}

// repositoryPath returns a folder's path in its Git repository, "" for its root and
// for a folder outside of one.
func repositoryPath(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "--show-prefix").Output()
	if err != nil {
		return ""
	}
	return strings.Trim(string(out), "/\n")
}
