package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Ignore is a comment on a page that silences findings of one line.
type Ignore struct {
	page.Ignore
	// Used are the codes whose findings the comment has silenced.
	Used []string `json:"used,omitempty"`
}

// codes returns the codes that a comment names, and whether a reason follows them.
func (i *Ignore) codes() (codes []string, reason bool) {
	names, why, _ := strings.Cut(i.Text, ":")
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			codes = append(codes, name)
		}
	}
	return codes, strings.TrimSpace(why) != ""
}

// silences reports whether the comment silences a finding, and notes that it does.
func (i *Ignore) silences(d *mdx.Diagnostic) bool {
	if d.Line != i.For || d.File != i.File {
		return false
	}
	codes, reason := i.codes()
	if !reason || !slices.Contains(codes, d.Code) {
		return false
	}
	if !slices.Contains(i.Used, d.Code) {
		i.Used = append(i.Used, d.Code)
	}
	return true
}

// ignores are the comments of a site, each once: a snippet's are found on each page
// that shows it.
type ignores []*Ignore

// add adds a comment, or what it silenced on one more page.
func (all *ignores) add(i *Ignore) {
	n, again := slices.BinarySearchFunc(*all, i, comparePlaces)
	if !again {
		*all = slices.Insert(*all, n, i)
		return
	}
	known := (*all)[n]
	for _, code := range i.Used {
		if !slices.Contains(known.Used, code) {
			known.Used = append(known.Used, code)
		}
	}
}

func comparePlaces(a, b *Ignore) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// silence reports whether one of the comments silences a finding. All that do are
// noted to have a use.
func (all ignores) silence(d *mdx.Diagnostic) bool {
	n, _ := slices.BinarySearchFunc(all, d.File, func(i *Ignore, file string) int { return strings.Compare(i.File, file) })
	silenced := false
	for ; n < len(all) && all[n].File == d.File; n++ {
		silenced = all[n].silences(d) || silenced
	}
	return silenced
}

// ignoreCode is the code of findings about comments.
const ignoreCode = "ignore-comment"

// faults returns the findings about a comment. whole is set if all that is wrong with
// its file was found.
func (i *Ignore) faults(all []Code, whole bool) []mdx.Diagnostic {
	var found []mdx.Diagnostic
	say := func(format string, args ...any) {
		found = append(found, mdx.Diagnostic{
			Severity: mdx.Warning, Code: ignoreCode, File: i.File, Line: i.Line, Column: i.Column, Message: fmt.Sprintf(format, args...),
		})
	}
	codes, reason := i.codes()
	if whole := i.withColon(all); whole != "" {
		say(`the comment silences nothing, because there is no colon between code and reason: write "bindery-ignore %s"`, rulesfile.Short(whole))
		return found
	}
	switch {
	case len(codes) == 0:
		say(`the comment names no finding: write the code of one and a reason, such as "bindery-ignore link-missing: the page comes soon"`)
	case !reason:
		say(`the comment has no reason, so it silences nothing: write one after a colon, such as "bindery-ignore %s: the page comes soon"`, rulesfile.Short(strings.Join(codes, ", ")))
	}
	for _, code := range codes {
		n := slices.IndexFunc(all, func(c Code) bool { return c.Name == code })
		switch {
		case n < 0:
			say("unknown code %q%s", rulesfile.Short(code), like(all, code))
		case reason && whole && !all[n].Sometimes && !slices.Contains(i.Used, code):
			say("line %d has no finding %s: remove the comment", i.For, code)
		}
	}
	return found
}

// withColon returns the text of a comment with known codes and a reason between which
// the colon is missing as it was meant to be, and "" for all others.
func (i *Ignore) withColon(all []Code) string {
	var codes []string
	rest := i.Text
	for more := true; more; {
		rest = strings.TrimSpace(rest)
		end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ':' })
		if end < 0 || !slices.ContainsFunc(all, func(c Code) bool { return c.Name == rest[:end] }) {
			return ""
		}
		codes = append(codes, rest[:end])
		rest, more = strings.CutPrefix(strings.TrimSpace(rest[end:]), ",")
	}
	reason := strings.TrimLeft(rest, "-–— ")
	if reason == "" || strings.HasPrefix(rest, ":") {
		return ""
	}
	return strings.Join(codes, ", ") + ": " + reason
}

// like suggests the code that was probably meant.
func like(all []Code, code string) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	if near := site.Nearest(code, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
