package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The lines of the page between which a run writes.
const (
	begin = "{/* bench-peers: begin */}"
	end   = "{/* bench-peers: end */}"
)

// write puts the figures into the page.
func (b *bench) write(ctx context.Context) error {
	page, err := os.ReadFile(b.page)
	if err != nil {
		return err
	}
	from, to := bytes.Index(page, []byte(begin)), bytes.Index(page, []byte(end))
	if from < 0 || to < from {
		return errors.New("the page of figures has no lines for what was measured")
	}
	text := b.section(ctx)
	fmt.Print(text)
	return os.WriteFile(b.page, slices.Concat(page[:from+len(begin)], []byte("\n\n"+text+"\n"), page[to:]), 0o644)
}

// section is what the page says of this run.
func (b *bench) section(ctx context.Context) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Measured on %s with Bindery %s, %s and %s, on %s of %s: each round in turn, %d rounds. The columns\n",
		time.Now().UTC().Format("2 January 2006"), version(ctx, "git", "describe", "--always", "--abbrev=12"),
		"Hugo "+first(`v[\d.]+`, version(ctx, b.hugo(), "version")), first(`go[\d.]+`, runtime.Version()), plural(runtime.NumCPU(), "processor"), runtime.GOARCH, b.rounds)
	s.WriteString("are pages a CPU second of the one by pages a CPU second of the other; 2 is twice as fast. Two figures are the slowest and the\nfastest round.\n\n")
	s.WriteString("| pages | diagrams | Bindery by Hugo | Bindery by Hugo, Pagefind and `tar \\| gzip -5` |\n|---|---|---|---|\n")
	for _, r := range b.rows {
		diagrams := "drawn"
		if !r.set.diagrams {
			diagrams = "as text"
		}
		fmt.Fprintf(&s, "| %s: %s | %s | %s | %s |\n", thousands(r.set.pages), r.set.about, diagrams, ratios(r.hugo, r.bindery), ratios(r.same, r.bindery))
	}
	for _, r := range b.rows {
		if len(r.others) == 0 {
			continue
		}
		fmt.Fprintf(&s, "\n| %s pages, diagrams drawn by Bindery alone, beside | Bindery by it |\n|---|---|\n", thousands(r.set.pages))
		for _, tool := range [][2]string{{"docusaurus", "Docusaurus, its fastest way"}, {"starlight", "Starlight, without search"}, {"vitepress", "VitePress"}} {
			if t := r.others[tool[0]]; len(t) > 0 {
				fmt.Fprintf(&s, "| %s | %s |\n", tool[1], ratios(t, r.bindery))
			}
		}
	}
	if len(b.skipped) > 0 {
		fmt.Fprintf(&s, "\nNot measured: %s.\n", strings.Join(b.skipped, "; "))
	}
	return s.String()
}

// ratios are how much more processor time a tool takes than ours, in the round
// where that is least and where it is most.
func ratios(theirs, ours []took) string {
	if len(theirs) == 0 {
		return "–"
	}
	var all []float64
	for i, t := range theirs {
		all = append(all, t.CPU.Seconds()/ours[i].CPU.Seconds())
	}
	return fmt.Sprintf("%.2f–%.2f", slices.Min(all), slices.Max(all))
}

// version is what a command says, or nothing.
func version(ctx context.Context, name string, args ...string) string {
	out, _ := exec.CommandContext(ctx, name, args...).Output() // a page without it is still true
	return strings.TrimSpace(string(out))
}

func first(pattern, in string) string { return regexp.MustCompile(pattern).FindString(in) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
