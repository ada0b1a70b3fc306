package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/render/check"
)

// findingsError fails a command because of its findings.
type findingsError struct{ counts check.Counts }

func (e *findingsError) Error() string {
	return "found " + countsText(e.counts)
}

// levels are the levels of findings, the most severe first.
var levels = []string{"error", "warning", "notice", "info"}

// failOn says which findings end a command with exitFindings.
type failOn struct {
	levels []string
	codes  []string
}

// failOnFlag adds the flag that parseFailOn reads.
func failOnFlag(cmd *cobra.Command, words *[]string, initial string) {
	cmd.Flags().StringSliceVar(words, "fail-on", []string{initial}, "exit with code 5 if there are findings of this level or above (error, warning, notice, info) or with one of these codes, separated by commas; none: never")
}

// parseFailOn reads levels and codes.
func parseFailOn(words []string) (failOn, error) {
	var f failOn
	for _, word := range words {
		at := slices.Index(levels, word)
		switch {
		case word == "none":
		case at >= 0:
			f.levels = append(f.levels, levels[:at+1]...)
		case slices.ContainsFunc(check.Codes(), func(c check.Code) bool { return c.Name == word }):
			f.codes = append(f.codes, word)
		default:
			return f, usagef("--fail-on: unknown level %q; use error, warning, notice, info, none or the code of a finding", word)
		}
	}
	return f, nil
}

// judge returns a *findingsError if findings are among those to fail on.
func (f failOn) judge(list []check.Finding) error {
	var c check.Counts
	for _, one := range list {
		if slices.Contains(f.levels, string(one.Level)) || slices.Contains(f.codes, one.Code) {
			n := check.Count([]check.Finding{one})
			c.Errors, c.Warnings, c.Notices, c.Infos = c.Errors+n.Errors, c.Warnings+n.Warnings, c.Notices+n.Notices, c.Infos+n.Infos
		}
	}
	if c.All() == 0 {
		return nil
	}
	return &findingsError{c}
}

// countsText returns how many findings of each level there are.
func countsText(c check.Counts) string {
	text := fmt.Sprintf("%s, %s, %s", count(c.Errors, "error"), count(c.Warnings, "warning"), count(c.Notices, "notice"))
	if c.Infos > 0 {
		text += fmt.Sprintf(", %d for information", c.Infos)
	}
	return text
}

// summary returns how many findings of each level there are, of how many kinds the
// warnings are, and how much of the site has neither errors nor warnings.
func summary(list []check.Finding, c check.Counts, pages int) string {
	kinds, files := map[string]bool{}, map[string]bool{}
	for _, f := range list {
		if f.Level == "error" || f.Level == "warning" {
			files[cmp.Or(f.Page, f.File)] = true
		}
		if f.Level == "warning" {
			kinds[f.Code] = true
		}
	}
	warnings := count(c.Warnings, "warning")
	if len(kinds) > 1 {
		warnings += " of " + count(len(kinds), "kind")
	}
	text := fmt.Sprintf("%s, %s, %s", count(c.Errors, "error"), warnings, count(c.Notices, "notice"))
	// A file other than a page counts as a page, so the percentage is never too high.
	if pages > 1 && len(files) > 0 && len(list) == c.All() {
		text += fmt.Sprintf("; %d%% of pages without error or warning", max(0, pages-len(files))*100/pages)
	}
	return text
}

// mendable returns the findings that an author can fix, and the number of the others,
// which are for information. With --verbose it returns all findings.
func (a *app) mendable(list []check.Finding) (shown []check.Finding, info int) {
	if a.verbose {
		return list, 0
	}
	for _, f := range list {
		if f.Level == "info" {
			info++
			continue
		}
		shown = append(shown, f)
	}
	return shown, info
}

// infoText returns the line about findings that are for information.
func infoText(n int) string {
	return count(n, "finding") + " for information: --verbose lists all"
}

// lineReader returns a line of a file, counted from 1, or "" if the file has no
// such line.
type lineReader func(file string, line int) string

// sourceOf reads lines of a site's files. It keeps the last file, as findings come
// file by file.
func sourceOf(fsys fs.FS) lineReader {
	var name string
	var lines []string
	return func(file string, line int) string {
		if file != name {
			name, lines = file, nil
			if info, err := fs.Stat(fsys, file); err == nil && info.Size() < 16<<20 {
				data, _ := fs.ReadFile(fsys, file)
				lines = strings.Split(string(data), "\n")
			}
		}
		if line < 1 || line > len(lines) {
			return ""
		}
		return strings.TrimSuffix(lines[line-1], "\r")
	}
}

// noSource is the lineReader for findings whose files are not available.
func noSource(string, int) string { return "" }

// colourOf returns the colour of a level.
func colourOf(level string) string {
	switch level {
	case "error":
		return red
	case "warning":
		return yellow
	}
	return blue
}

// fewTimes is the largest number of findings with one cause that are listed one by one.
const fewTimes = 3

// showFindings writes findings as showCauses does. It writes more than fewTimes
// findings of one cause as one: the first, with their number.
func (a *app) showFindings(w, screen io.Writer, list []check.Finding, source lineReader) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, inOrder)
	type key struct{ level, code, message string }
	often := map[key]int{}
	for _, g := range check.Groups(list) {
		often[key{string(g.Level), g.Code, g.Message}] = g.Times
	}
	var causes []check.Group
	for _, f := range list {
		k := key{string(f.Level), f.Code, f.Message}
		switch n := often[k]; {
		case n > fewTimes:
			causes, often[k] = append(causes, check.Group{Finding: f, Times: n}), 0
		case n > 0:
			causes = append(causes, check.Group{Finding: f, Times: 1})
		}
	}
	a.showCauses(w, screen, causes, source)
}

// inOrder compares findings by their places.
func inOrder(a, b check.Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// showCauses writes findings by file, each with its line and a mark below the
// column. screen is where they end up: they have colours if it is a terminal.
func (a *app) showCauses(w, screen io.Writer, list []check.Group, source lineReader) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b check.Group) int {
		return inOrder(a.Finding, b.Finding)
	})
	file := ""
	for i, f := range list {
		if i == 0 || f.File != file {
			if i > 0 {
				fmt.Fprintln(w)
			}
			file = f.File
			fmt.Fprintln(w, a.paint(screen, bold, visible(file)))
		}
		place := "-"
		if f.Line > 0 {
			place = fmt.Sprintf("%d:%d", f.Line, max(f.Column, 1))
		}
		level := a.paint(screen, colourOf(string(f.Level)), fmt.Sprintf("%-7s", f.Level))
		message := oneLine(f.Message)
		if f.Page != "" {
			message += ", shown on " + f.Page
		}
		if f.Times > 1 {
			message += ": " + thousands(f.Times) + " times, first here"
		}
		fmt.Fprintf(w, "  %-8s %s  %s (%s)\n", place, level, visible(message), f.Code)
		if line := source(f.File, f.Line); strings.TrimSpace(line) != "" {
			text, mark := excerpt(line, f.Column)
			number := fmt.Sprint(f.Line)
			fmt.Fprintf(w, "    %s │ %s\n", number, text)
			fmt.Fprintf(w, "    %s │ %s\n", strings.Repeat(" ", len(number)), a.paint(screen, colourOf(string(f.Level)), strings.Repeat(" ", mark)+"^"))
		}
	}
	if len(list) > 0 {
		fmt.Fprintln(w)
	}
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// excerptWidth is how much of a line is shown, in characters.
const excerptWidth = 100

// excerpt returns the part of a line around a column, which counts bytes from 1,
// as a terminal may show it, and where in it the column is.
func excerpt(line string, column int) (text string, mark int) {
	at := min(max(column, 1)-1, len(line))
	before, after := shownRunes(line[:at]), shownRunes(line[at:])
	for i, r := range before { // skip the indentation
		if r != ' ' {
			before = before[i:]
			break
		} else if i == len(before)-1 {
			before = nil
		}
	}
	if cut := len(before) - excerptWidth*2/3; cut > 0 && len(before)+len(after) > excerptWidth {
		before = append([]rune("…"), before[cut:]...)
	}
	if cut := excerptWidth - len(before); cut < len(after) {
		after = append(after[:max(cut, 1):max(cut, 1)], '…')
	}
	return string(before) + string(after), len(before)
}

// shownRunes are the characters of a text as a terminal may show them.
func shownRunes(text string) []rune {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return []rune(visible(strings.ReplaceAll(text, "\t", " ")))
}

// showSummary writes the end of a report.
func (a *app) showSummary(w io.Writer, r *checkReport) {
	sign := a.paint(a.stdout, green, "✓")
	switch {
	case r.Diagnostics.Errors > 0:
		sign = a.paint(a.stdout, red, "✗")
	case r.Diagnostics.Warnings > 0:
		sign = a.paint(a.stdout, yellow, "!")
	}
	what := "found"
	if r.Known > 0 {
		what = "new"
	}
	fmt.Fprintf(w, "%s %s checked, %s: %s\n", sign, count(r.Pages, "page"), what, summary(r.Findings, r.Diagnostics, r.Pages))
	if _, info := a.mendable(r.Findings); info > 0 {
		fmt.Fprintf(w, "  %s\n", infoText(info))
	}
	if r.Known > 0 {
		fmt.Fprintf(w, "  %s not shown: not new\n", count(r.Known, "finding"))
	}
	if r.NotAsked > 0 {
		fmt.Fprintf(w, "  links to other sites that were not asked for in time: %d; --external-timeout gives more\n", r.NotAsked)
	}
	if n := len(r.NotChecked); n > 0 {
		fmt.Fprintf(w, "  not checked in full, because they need JavaScript: %s", visible(strings.Join(r.NotChecked[:min(n, 5)], ", ")))
		if n > 5 {
			fmt.Fprintf(w, " and %d more", n-5)
		}
		fmt.Fprintln(w)
	}
}

// worstFindings is how many findings a command about a bundle shows.
const worstFindings = 10

// worst returns the most severe causes of findings in their order, at most
// worstFindings and no notices.
func worst(list []check.Finding) []check.Group {
	var out []check.Group
	groups := check.Groups(list)
	for _, level := range levels[:2] {
		for _, g := range groups {
			if string(g.Level) == level && len(out) < worstFindings {
				out = append(out, g)
			}
		}
	}
	return out
}
