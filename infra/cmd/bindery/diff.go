package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// lossError ends a comparison that was to fail on what is lost.
type lossError struct{ text string }

func (e *lossError) Error() string { return e.text }

// Kinds of differences that --fail-on names.
const (
	lostAddress = "lost-address"
	lostAnchor  = "lost-anchor"
	anyChange   = "any"
)

// What --format and --fail-on of a comparison may be.
var (
	diffFormats = []string{"text", "json", "markdown"}
	lossWords   = []string{lostAddress, lostAnchor, anyChange, "none"}
)

func (a *app) diffCommand() *cobra.Command {
	var (
		c      caller
		format string
		failOn []string
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two bundles as their readers see them",
		Long: `Diff compares two bundles: pages that came, went and changed, in the words that readers
see; addresses and anchors that lead nowhere now, with the redirect or the heading that
would save them; files, sizes, and words that can be searched for in one of them alone.

Each of the two is an archive, a folder that a bundle was unpacked into, or the id of a
completed export (exp_…), which is downloaded from the API.

The exit code is 5 on what --fail-on names: lost-address, lost-anchor, any, or none.`,
		Example: `  bindery diff before.tar.gz after.tar.gz
  bindery diff before.tar.gz after.tar.gz --fail-on lost-address,lost-anchor
  bindery diff ./public exp_3zvzr8bqk3stbdeek8xbpy0c1w --format markdown > summary.md`,
		Args: cobra.ExactArgs(2),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if a.json && cmd.Flags().Changed("format") && format != "json" {
				return usagef("--json is --format json")
			}
			a.json = a.json || format == "json"
			if !slices.Contains(diffFormats, format) {
				return usagef("--format: unknown format %q; use text, json or markdown", format)
			}
			for _, word := range failOn {
				if !slices.Contains(lossWords, word) {
					return usagef("--fail-on: unknown difference %q; use lost-address, lost-anchor, any or none", word)
				}
			}
			result, err := a.compare(cmd.Context(), &c, args)
			if err != nil {
				return err
			}
			if format == "markdown" {
				_, err = io.WriteString(a.stdout, visible(result.Markdown()))
			} else {
				err = a.print(result, func(w io.Writer) { a.showDiff(w, result) })
			}
			if err != nil {
				return err
			}
			return judgeDiff(result, failOn)
		}),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown (a summary for a pull request)")
	cmd.Flags().StringSliceVar(&failOn, "fail-on", []string{"none"}, "end with exit code 5 on these differences: lost-address, lost-anchor, any, or none; with commas between them")
	a.jsonFlag(cmd)
	return cmd
}

// compare opens both bundles, downloading those that are named by a job.
func (a *app) compare(ctx context.Context, c *caller, names []string) (_ *diff.Result, err error) {
	var dir *tempdir.Dir
	defer func() {
		if dir != nil {
			err = errors.Join(err, dir.Remove())
		}
	}()
	var sources [2]diff.Source
	for i, name := range names {
		file := name
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) && strings.HasPrefix(name, "exp_") {
			if dir == nil {
				if dir, err = tempdir.Make("diff"); err != nil {
					return nil, err
				}
			}
			file = filepath.Join(dir.Path, fmt.Sprintf("%d.tar.gz", i))
			if err := a.bundleOf(ctx, c, name, file); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if sources[i], err = diff.Open(file); err != nil {
			return nil, err
		}
	}
	result, err := diff.Compare(ctx, sources[0], sources[1])
	if err != nil {
		return nil, err
	}
	result.Before.Name, result.After.Name = names[0], names[1]
	return result, nil
}

// bundleOf downloads the bundle of a completed job.
func (a *app) bundleOf(ctx context.Context, c *caller, jobID, file string) error {
	api, err := a.client(c)
	if err != nil {
		return err
	}
	bar := a.meter("download")
	defer bar.end()
	_, err = api.Download(ctx, jobID, client.DownloadOptions{Path: file, Progress: func(done, total int64) {
		if bar.progress != nil {
			bar.set(done, total, fmt.Sprintf("%s of %s", size(done), size(total)))
		}
	}})
	return err
}

// shownPages is how many pages of each list a terminal shows; JSON has all.
const shownPages = 40

// showDiff writes what differs, what is lost last: it is what is to be mended.
func (a *app) showDiff(w io.Writer, r *diff.Result) {
	for _, p := range first(w, r.Pages.Removed) {
		line := a.paint(a.stdout, red, "-") + " " + p.Address
		if p.LeadsTo != "" {
			line += ", leads to " + p.LeadsTo
		}
		fmt.Fprintln(w, line)
	}
	for _, p := range first(w, r.Pages.Added) {
		fmt.Fprintln(w, a.paint(a.stdout, green, "+"), p.Address)
	}
	for _, p := range first(w, r.Pages.Changed) {
		fmt.Fprintf(w, "%s %s (%s added, %d removed)\n", a.paint(a.stdout, yellow, "~"), a.paint(a.stdout, bold, p.Address), count(p.Words.Added, "word"), p.Words.Removed)
		for i, c := range p.Changes {
			if i == 5 {
				fmt.Fprintln(w, "    …")
				break
			}
			fmt.Fprintln(w, "   "+a.showChange(c))
		}
	}
	for _, list := range []struct {
		sign, colour string
		files        []diff.File
	}{{"-", red, r.Files.Removed}, {"+", green, r.Files.Added}, {"~", yellow, r.Files.Changed}} {
		for _, f := range first(w, list.files) {
			fmt.Fprintf(w, "%s %s (%s → %s)\n", a.paint(a.stdout, list.colour, list.sign), f.Path, size(f.Before), size(f.After))
		}
	}
	a.showLost(w, r)
	fmt.Fprintf(w, "%s\n", r.Summary())
	pairs := []string{"  before", side(r.Before), "  after", side(r.After)}
	if t := r.Terms; t != nil {
		pairs = append(pairs, "  words to find", fmt.Sprintf("%d gained%s, %d gone%s", t.Added, some(t.Gained), t.Removed, some(t.Gone)))
	}
	facts(w, pairs...)
}

func (a *app) showLost(w io.Writer, r *diff.Result) {
	if len(r.LostAddresses) > 0 {
		fmt.Fprintf(w, "%s addresses lead nowhere now: %d\n", a.paint(a.stdout, red, "✗"), len(r.LostAddresses))
		for _, one := range first(w, r.LostAddresses) {
			fmt.Fprintln(w, "  "+one.Address)
			if one.Redirect != nil {
				fmt.Fprintf(w, "    this redirect in docs.json would save it: {\"source\": %q, \"destination\": %q}\n", one.Redirect.Source, one.Redirect.Destination)
			}
		}
	}
	if len(r.LostAnchors) > 0 {
		fmt.Fprintf(w, "%s anchors are gone: %d\n", a.paint(a.stdout, yellow, "!"), len(r.LostAnchors))
		for _, one := range first(w, r.LostAnchors) {
			line := "  " + one.Address + "#" + one.Anchor
			if one.Now != "" {
				line += ", now #" + one.Now
			}
			fmt.Fprintln(w, line)
		}
	}
}

// first returns the part of a list that a terminal shows.
func first[T any](w io.Writer, list []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, one := range list {
			if i == shownPages {
				fmt.Fprintf(w, "  and %d more; --format json has all\n", len(list)-i)
				return
			}
			if !yield(i, one) {
				return
			}
		}
	}
}

func (a *app) showChange(c diff.Change) string {
	var parts []string
	for _, part := range []struct{ text, colour, open, end string }{
		{c.Before, "", "", ""}, {c.Removed, red, "[-", "-]"}, {c.Added, green, "{+", "+}"}, {c.After, "", "", ""},
	} {
		switch {
		case part.text == "":
		case part.colour == "":
			parts = append(parts, part.text)
		default:
			parts = append(parts, a.paint(a.stdout, part.colour, part.open+part.text+part.end))
		}
	}
	return strings.Join(parts, " ")
}

func side(b diff.Bundle) string {
	return fmt.Sprintf("%s: %s of %s, version %s, %s in %s", b.Name, count(b.Pages, "page"), b.Domain, b.Version, size(b.Bytes), count(b.Files, "file"))
}

// some writes a few words as examples.
func some(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list[:min(len(list), 5)], ", ") + ")"
}

// judgeDiff returns a *lossError if there are differences to fail on.
func judgeDiff(r *diff.Result, failOn []string) error {
	var found []string
	for _, word := range failOn {
		switch {
		case word == lostAddress && len(r.LostAddresses) > 0:
			found = append(found, fmt.Sprintf("addresses that lead nowhere (%d)", len(r.LostAddresses)))
		case word == lostAnchor && len(r.LostAnchors) > 0:
			found = append(found, fmt.Sprintf("anchors that are gone (%d)", len(r.LostAnchors)))
		case word == anyChange && !r.Empty():
			found = append(found, "differences")
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &lossError{"found " + strings.Join(found, " and ")}
}
