package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Fix mends what is wrong at one place and has one right answer.
type Fix struct {
	// File, Line and Column are as in a Finding.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Message says what the fix does, as a sentence without its end.
	Message string `json:"message"`
	// Changes are those of the file, as edit.Splice takes them.
	Changes []edit.Change `json:"-"`
}

// newFix returns a fix of a file, which begins where its first change does.
func newFix(file string, src []byte, message string, changes ...edit.Change) Fix {
	at := changes[0].From
	line := bytes.LastIndexByte(src[:at], '\n') + 1
	return Fix{file, 1 + bytes.Count(src[:at], []byte("\n")), at - line + 1, message, changes}
}

// Apply returns the texts of the files that fixes change, by their names.
func Apply(fsys fs.FS, fixes []Fix) (map[string][]byte, error) {
	changes := map[string][]edit.Change{}
	for _, f := range fixes {
		changes[f.File] = append(changes[f.File], f.Changes...)
	}
	texts := make(map[string][]byte, len(changes))
	for file, list := range changes {
		src, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		texts[file] = edit.Splice(src, list)
	}
	return texts, nil
}

// indentCode is the code of findings about indentation.
const indentCode = "config-indent"

// indentation finds whether the configuration is indented as it nests and returns what
// mends it, if that is asked for.
func (c *checker) indentation() ([]Fix, error) {
	file := c.site.ConfigFile
	if !c.Indented || c.rules[indentCode] == Off || path.Ext(file) != ".json" {
		return nil, nil
	}
	src, err := fs.ReadFile(c.fs, file)
	if err != nil {
		return nil, err
	}
	changes, err := edit.Indent(src)
	if err != nil || len(changes) == 0 { // what is not JSON has a finding
		return nil, nil
	}
	// Lines that follow each other are one fix.
	var all []Fix
	lines, last := 0, 0
	for _, change := range changes {
		one := newFix(file, src, "indented as it nests", change)
		switch {
		case one.Line == last:
			all[len(all)-1].Changes = append(all[len(all)-1].Changes, change)
			continue
		case one.Line == last+1 && len(all) > 0:
			all[len(all)-1].Changes = append(all[len(all)-1].Changes, change)
		default:
			all = append(all, one)
		}
		lines++
		last = one.Line
	}
	c.found = append(c.found, mdx.Diagnostic{
		Severity: mdx.Notice, Code: indentCode, File: file, Line: all[0].Line, Column: 1,
		Message: linesText(lines) + " with white space; bindery check --fix mends that",
	})
	return all, nil
}

func linesText(n int) string {
	if n == 1 {
		return "one line is not indented as it nests, or ends"
	}
	return fmt.Sprintf("%d lines are not indented as they nest, or end", n)
}

// address is where a link was written, and how.
type address struct {
	file         string
	line, column int
	raw          string
}

// fixes returns what mends links, and more of the same kind, by file and place. A
// link of a snippet that needs another address on each page stays.
func (c *checker) fixes(more []Fix) ([]Fix, error) {
	wanted := map[address]string{} // "" where there is no one answer
	for i := range c.facts {
		f := &c.facts[i]
		for n := range f.links {
			l := &f.links[n]
			at := address{l.File, l.Line, l.Column, l.Raw}
			now := c.mended(f, l)
			if before, again := wanted[at]; again && before != now {
				now = ""
			}
			wanted[at] = now
		}
	}
	byFile := map[string]map[address]string{}
	for at, now := range wanted {
		if now == "" {
			continue
		}
		if byFile[at.file] == nil {
			byFile[at.file] = map[address]string{}
		}
		byFile[at.file][at] = now
	}
	all := more
	for file, want := range byFile {
		src, err := fs.ReadFile(c.fs, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a page that is made from a specification
		}
		if err != nil {
			return nil, err
		}
		all = append(all, mendLinks(file, src, edit.Refs(src, c.site.Syntax(file)), want)...)
	}
	slices.SortFunc(all, func(a, b Fix) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Changes[0].From, b.Changes[0].From))
	})
	return all, nil
}

// mendLinks returns the fixes of a file's links. A link by reference has its address
// in a definition, which is changed only if all such links want the same.
func mendLinks(file string, src []byte, refs []edit.Ref, want map[address]string) []Fix {
	var all []Fix
	mend := func(r edit.Ref, now string) {
		if now != "" && string(src[r.From:r.To]) == r.Value {
			all = append(all, newFix(file, src, fmt.Sprintf("%s → %s", r.Value, now), edit.Change{Span: r.Span, Text: now}))
		}
	}
	var defined []edit.Ref
	placed := map[address]bool{}
	for _, r := range refs {
		if r.File {
			continue
		}
		found := false
		for _, pos := range []mdx.Pos{r.At, r.Attr} {
			at := address{file, pos.Line, pos.Column, r.Value}
			if now, ok := want[at]; ok && !found {
				found, placed[at] = true, true
				mend(r, now)
			}
		}
		if !found && r.Definition {
			defined = append(defined, r)
		}
	}
	for _, r := range defined {
		var answers []string
		for at, now := range want {
			if at.raw == r.Value && !placed[at] && !slices.Contains(answers, now) {
				answers = append(answers, now)
			}
		}
		if len(answers) == 1 {
			mend(r, answers[0])
		}
	}
	return all
}

// mended returns the address that a link should have, "" if it should stay or there is
// no one answer.
func (c *checker) mended(f *pageFacts, l *page.Ref) string {
	if l.Missing || l.Asset || strings.Contains(l.Raw, "{") || l.Page < 0 && l.Fragment != "" {
		return ""
	}
	s, from := c.site, f.Page
	moved := s.Moved(from, l.Raw)
	fragment, renamed := l.Fragment, false
	if c.rules["fragment-missing"] != Off && !silenced(f, l) {
		fragment, renamed = c.renamed(l)
	}
	if !moved && !renamed {
		return ""
	}
	written, anchor, _ := strings.Cut(l.Raw, "#")
	part, query, asked := strings.Cut(written, "?")
	if asked {
		query = "?" + query
	}
	parts := []string{part}
	if moved {
		parts = c.addresses(from, l, part)
	}
	anchors := []string{""}
	if fragment != "" {
		anchors = []string{"#" + fragment, "#" + edit.EscapeAddress(fragment)}
		if !renamed && anchor != "" {
			anchors = []string{"#" + anchor}
		}
	}
	for _, p := range parts {
		for _, a := range anchors {
			if now := p + query + a; c.leads(from, now, l, fragment) {
				return now
			}
		}
	}
	return ""
}

// leads reports whether an address on a page leads where a link does, to a place of
// this name, through no redirect.
func (c *checker) leads(from int, address string, l *page.Ref, fragment string) bool {
	if !plainAddress(address) || c.site.Moved(from, address) {
		return false
	}
	t := c.site.Resolve(from, address)
	inside := t.Kind == site.ToPage || t.Kind == site.ToAnchor || t.Kind == site.ToFile
	return inside && t.Page == l.Page && t.Path == l.Path && t.Fragment == fragment
}

// addresses returns how a link may write the page or file that it leads to, the
// likeliest first; part is its path as it is written.
func (c *checker) addresses(from int, l *page.Ref, part string) []string {
	s := c.site
	if l.File != s.Pages[from].Source && !strings.HasPrefix(part, "/") {
		return nil // what is relative in a snippet depends on who shows it
	}
	name := l.Path
	if l.Page >= 0 {
		p := &s.Pages[l.Page]
		name = edit.NameOf(p.Address+cmp.Or(path.Ext(p.Source), ".mdx"), part)
	}
	host := ""
	if scheme, rest, ok := strings.Cut(part, "//"); ok {
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			return nil
		}
		host, part = scheme+"//"+rest[:end], rest[end:]
		if s.Base != "" {
			host += "/" + s.Base
		}
	}
	all := edit.Addresses(part, path.Dir(s.Pages[from].Source), name, strings.Trim(part, "/"))
	for i := range all {
		all[i] = host + all[i]
	}
	return all
}

// plainAddress reports whether an address means the same wherever it is written: in
// Markdown, in quotes of any kind and in JSON.
func plainAddress(a string) bool {
	return !strings.ContainsAny(a, " \t\n()<>\"'`\\{}&[]")
}

// silenced reports whether a comment silences what is wrong with a link's place.
func silenced(f *pageFacts, l *page.Ref) bool {
	d := mdx.Diagnostic{Code: "fragment-missing", File: l.File, Line: l.Line}
	return slices.ContainsFunc(f.Ignores, func(i Ignore) bool { return i.silences(&d) })
}

// renamed returns the place of a link's page that is certainly meant where the page
// lacks the one that the link names.
func (c *checker) renamed(l *page.Ref) (string, bool) {
	if l.Page < 0 || !needsID(l.Fragment) {
		return l.Fragment, false
	}
	n, ok := slices.BinarySearchFunc(c.facts, l.Page, func(f pageFacts, page int) int { return cmp.Compare(f.Page, page) })
	if !ok || c.facts[n].unknown || slices.Contains(c.facts[n].IDs, l.Fragment) {
		return l.Fragment, false
	}
	want := wordsOf(l.Fragment)
	answer, same := "", ""
	for _, id := range c.facts[n].IDs {
		words := wordsOf(id)
		if !alike(want, words) {
			continue
		}
		switch joined := strings.Join(words, ""); {
		case answer == "":
			answer, same = id, joined
		case joined != same: // more than another id of the same heading
			return l.Fragment, false
		}
	}
	return cmp.Or(answer, l.Fragment), answer != ""
}

// wordsOf returns the words of an id in lower case, without those that say nothing.
func wordsOf(id string) []string {
	words := strings.FieldsFunc(strings.ToLower(id), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains([]string{"a", "an", "the", "your", "our"}, w) })
}

// alike reports whether two ids are of the same heading, worded a little otherwise:
// the same letters, the same words in another order, or words with few letters
// changed. Numbers and short words are the same in both.
func alike(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if strings.Join(a, "") == strings.Join(b, "") {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
		return true
	}
	for i := range a {
		if a[i] != b[i] && !misspelt(a[i], b[i]) {
			return false
		}
	}
	return true
}

// misspelt reports whether two words differ by one letter, or by two if they are long.
func misspelt(a, b string) bool {
	numbered := func(w string) bool { return strings.IndexFunc(w, unicode.IsNumber) >= 0 }
	most := 1
	switch n := min(len(a), len(b)); {
	case n < 4 || max(len(a), len(b)) > 64 || numbered(a) || numbered(b):
		return false
	case n > 8:
		most = 2
	}
	return site.Distance(a, b) <= most
}
