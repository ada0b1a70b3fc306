package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits of one search or replace. The work of a match is at most the bytes of the
// text times the instructions of the expression.
const (
	maxScanned      = 512 << 20 // bytes of text
	maxInstructions = 1000      // of an expression
	maxSteps        = 10_000_000_000
)

// scan counts what a search has read.
type scan struct{ bytes, instructions int }

// more counts a text. It reports whether the limits allow it.
func (s *scan) more(n int) bool {
	s.bytes += n
	return s.bytes <= maxScanned && s.bytes*s.instructions <= maxSteps
}

// outsideHelp describes files outside the site's folder to models.
const outsideHelp = "read-only, if the project allows it"

var listTool = definition{
	name: "list",
	about: "Lists the files of the site's folder with their sizes, folders below the depth by how many files they hold. " +
		"Paths in all tools are those of the site's folder, except those that begin with repo: (" + outsideHelp + "), or as repo@v1.4: those of a commit that was fetched.",
	params: []param{
		{name: "path", about: globHelp + " Default: everything."},
		{name: "depth", kind: number, least: 1, most: 20, about: "How many levels of folders are opened; default 2, with a pattern all."},
	},
	call: (*Set).list,
}

func (s *Set) list(_ context.Context, a args) (Result, error) {
	pattern, in, err := s.place("path", a.text("path"))
	if err != nil {
		return Result{}, err
	}
	match, err := compileGlob(pattern)
	if err != nil {
		return Result{}, err
	}
	depth, base := a.number("depth", 2), ""
	if strings.ContainsAny(pattern, "*?{") {
		depth = a.number("depth", 20)
	} else if base, err = cleanPath("path", pattern); err != nil {
		return Result{}, err
	}
	files, mark := s.tree.files(), ""
	if in != nil {
		files, mark = in.known(), in.mark
	}
	found := 0
	var b pages
	closed := "" // the folder whose files are being counted
	inside := 0
	flush := func() {
		if closed != "" {
			b.add("%s%s/ (%s)", mark, closed, Plural(inside, "file"))
		}
		closed, inside = "", 0
	}
	for _, p := range files {
		if !match(p) || dotted(p) {
			continue
		}
		found++
		folder := ""
		rel := p
		if base != "" && p != base {
			rel = p[len(base)+1:]
		}
		if parts := strings.SplitN(rel, "/", depth+1); len(parts) > depth {
			folder = p[:len(p)-len(parts[depth])-1]
		}
		if folder == "" || folder != closed {
			flush()
		}
		if folder != "" {
			closed = folder
			inside++
			continue
		}
		if in != nil {
			b.add("%s%s (%s)", mark, p, sizeOf(in.files[p].Entry))
		} else {
			b.add("%s (%s)", p, s.sizeOf(p))
		}
	}
	flush()
	if found == 0 && in != nil {
		return Result{}, refuse("there is no file or folder %.200q %s", mark+pattern, in.where)
	}
	if found == 0 {
		return Result{}, s.missing(pattern)
	}
	text := b.end("lines", "name a folder to see them")
	if n := len(s.beside.known()); n > 0 && pattern == "" && in == nil {
		text += fmt.Sprintf("Outside the site's folder %s, the repository has %s to read: list them with path %s\n", s.tree.root, Plural(n, "file"), outsideMark)
	}
	return Result{Text: text, File: mark + pattern, Outcome: Plural(found, "file")}, nil
}

// dotted reports whether lists and searches omit a path: files whose names begin with
// a dot configure programs and don't belong to a site.
func dotted(p string) bool {
	return p[0] == '.' && !strings.HasPrefix(p, ".well-known/") || strings.Contains(p, "/.") || strings.HasPrefix(p, "node_modules/")
}

func (s *Set) sizeOf(p string) string {
	return sizeOf(Entry{Size: s.tree.size(p), Text: s.tree.text(p)})
}

// missing returns the error for a path that doesn't exist, with similar names.
func (s *Set) missing(p string) error {
	if p == "" {
		return refuse("the site's folder is empty")
	}
	p = strings.Trim(p, "/")
	if _, there := slices.BinarySearch(s.beside.known(), p); there {
		return refuse("there is no file or folder %.200q in the site's folder; the repository has %s%s", p, outsideMark, p)
	}
	name := strings.ToLower(p[strings.LastIndexByte(p, '/')+1:])
	stem, _, _ := strings.Cut(name, ".")
	var near []string
	for _, have := range s.tree.files() {
		lower := strings.ToLower(have)
		base := lower[strings.LastIndexByte(lower, '/')+1:]
		if base == name || stem != "" && (strings.HasPrefix(base, stem+".") || strings.HasSuffix(lower, strings.ToLower(p))) {
			if near = append(near, have); len(near) == 5 {
				break
			}
		}
	}
	if len(near) > 0 {
		return refuse("there is no file or folder %.200q in the site's folder; similar names are: %s", p, strings.Join(near, ", "))
	}
	return refuse("there is no file or folder %.200q in the site's folder", p)
}

// private finds the names of files that hold credentials, though not of their samples.
var private = lazy.Regexp(`(?i)(?:^|/)(?:[^/]*\.env(?:\.[\w-]+)*|\.envrc|\.npmrc|\.netrc|\.pypirc|\.dockercfg|\.htpasswd|\.pgpass|\.git-credentials` +
	`|[^/]*_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|keytab|kdbx|kubeconfig|tfstate|tfvars)(?:\.backup)?` +
	`|kube[._-]?config(?:[._-][\w.-]*)?|(?:\.aws|\.ssh|\.docker|\.kube|\.gnupg)/.*)$`)

// sampleName finds the endings of samples of such files.
var sampleName = lazy.Regexp(`(?i)\.(?:example|sample|template|dist|defaults?)$`)

// isPrivate reports whether programs store credentials in a file of this name.
func isPrivate(p string) bool {
	return private().MatchString(p) && !sampleName().MatchString(p) && !isPage(p)
}

// load reads a file that a call names.
func (s *Set) load(p string) ([]byte, error) {
	if s.tree.exists(p) {
		if reason := unreadable(p); reason != "" {
			return nil, refuse("%s: %s", p, reason)
		}
	}
	b, err := s.tree.read(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if n := len(s.tree.below(p)); n > 0 {
			return nil, refuse("%s is a folder of %s, not a file", p, Plural(n, "file"))
		}
		return nil, s.missing(p)
	case errors.Is(err, ErrNotText):
		return nil, refuse("%s: %v (%s)", p, ErrNotText, s.sizeOf(p))
	case err != nil:
		return nil, refuse("%s can't be read", p)
	}
	return b, nil
}

var readTool = definition{
	name: "read",
	about: "Reads a file of the site's folder, or with repo: before its path one of the repository (" + outsideHelp + "), or of a fetched commit. Each line has its number and a tab before it, which are not part of the file. " +
		"A result has at most 16 KiB; where more follows, also of one line, it says how to go on. A picture (.png, .jpg, .gif, .webp) is shown, if you can see pictures.",
	params: []param{
		{name: "path", required: true, about: "The file."},
		{name: "from", kind: number, least: 1, most: 1 << 30, about: "The first line, from 1. Default 1."},
		{name: "column", kind: number, least: 1, most: 1 << 30, about: "Where in the first line to begin, in bytes from 1. Default 1."},
		{name: "lines", kind: number, least: 1, most: 1 << 20, about: "How many lines. Default: as many as fit."},
	},
	call: (*Set).readFile,
}

func (s *Set) readFile(_ context.Context, a args) (Result, error) {
	if p := a.text("path"); strings.HasPrefix(p, attachedMark) {
		src, err := s.loadAttached(p)
		if err != nil {
			return Result{File: p}, err
		}
		if !isText(src) {
			return s.show(p, src)
		}
		return lined(p, src, 0, a)
	}
	p, in, err := s.place("path", a.text("path"))
	if err != nil {
		return Result{}, err
	}
	if p, err = cleanPath("path", p); err != nil {
		return Result{}, err
	}
	if f, ok := s.fileOf(p, in); ok && !f.Text && isPicture(p) {
		return s.picture(p, f, in)
	}
	var src []byte
	hidden := 0
	if in != nil {
		var t outsideText
		t, err = in.load(p)
		src, hidden, p = t.text, t.masked, in.mark+p
	} else {
		src, err = s.load(p)
	}
	if err != nil {
		return Result{File: p}, err
	}
	return lined(p, src, hidden, a)
}

// lined shows lines of a text with their numbers; hidden is how many secrets are masked.
func lined(p string, src []byte, hidden int, a args) (Result, error) {
	lines := linesOf(src)
	from, column := a.number("from", 1), a.number("column", 1)
	if from > len(lines) && len(lines) > 0 {
		return Result{File: p}, refuse("%s has only %s", p, Plural(len(lines), "line"))
	}
	to := min(len(lines), from-1+a.number("lines", len(lines)))
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p, Plural(len(lines), "line"))
	if _, mixed, crlf := endings(src); crlf {
		b.WriteString(", which end in CR LF")
	} else if mixed {
		b.WriteString(", some of which end in CR LF")
	}
	if len(src) > 0 && src[len(src)-1] != '\n' {
		b.WriteString(", the last without an end")
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "; %s masked", Plural(hidden, "secret"))
	}
	if column > 1 {
		fmt.Fprintf(&b, "; line %d from column %d", from, column)
	}
	b.WriteByte('\n')
	at, begin, rest := from, column-1, 0
	for ; at <= to; at++ {
		line := withoutCR(src, lines, at)
		if begin > 0 && begin >= len(line) {
			return Result{File: p}, refuse("column: line %d of %s has only %s", at, p, Plural(len(line), "byte"))
		}
		line = line[runeStart(line, begin):]
		number := fmt.Sprintf("%6d\t", at)
		if room := maxResult - 256 - b.Len() - len(number); len(line) > room {
			if at > from {
				break // the next result has more room
			}
			n := runeStart(line, room)
			begin, rest = len(lines[at-1])-len(lines[at-1][begin:])+n, len(line)-n
			line = line[:n]
		}
		b.WriteString(number + line + "\n")
		if rest > 0 {
			break
		}
		begin = 0
	}
	outcome := fmt.Sprintf("lines %d–%d of %d", from, at-1, len(lines))
	if rest > 0 {
		outcome = fmt.Sprintf("part of line %d of %d", at, len(lines))
		fmt.Fprintf(&b, "… line %d has %d more bytes; read on with from=%d column=%d\n", at, rest, at, begin+1)
		at++
	}
	if at <= len(lines) {
		fmt.Fprintf(&b, "… %d more lines", len(lines)-at+1)
		if rest == 0 {
			fmt.Fprintf(&b, "; read on with from=%d", at)
		}
		b.WriteByte('\n')
	}
	return Result{Text: b.String(), File: p, Outcome: outcome}, nil
}

// linesOf returns a text's lines without their ends; what follows the last end
// does not count if it is empty.
func linesOf(src []byte) []string {
	text := strings.TrimSuffix(string(src), "\n")
	if text == "" && len(src) == 0 {
		return nil
	}
	return strings.Split(text, "\n")
}

// withoutCR returns the line n, from 1, without the CR that is part of its end. At the end of
// a text without an LF, a CR is a character of the line.
func withoutCR(src []byte, lines []string, n int) string {
	if n == len(lines) && src[len(src)-1] != '\n' {
		return lines[n-1]
	}
	return strings.TrimSuffix(lines[n-1], "\r")
}

// endings describes how a text's lines end: all with LF, or some or all with CR LF.
func endings(src []byte) (lf, mixed, crlf bool) {
	all, returns := bytes.Count(src, []byte("\n")), bytes.Count(src, []byte("\r\n"))
	return returns == 0, returns > 0 && returns < all, returns > 0 && returns == all
}

var searchTool = definition{
	name: "search",
	about: "Searches the text of files line by line and shows the lines that match, as path:line: " +
		"first those of the site, then those of the rest of the repository, with paths that begin with repo: (" + outsideHelp + ").",
	params: []param{
		{name: "pattern", required: true, about: "A regular expression in RE2's syntax, or with literal a text."},
		{name: "literal", kind: yesNo, about: "Whether pattern is a text to find as it is. Default false."},
		{name: "ignore_case", kind: yesNo, about: "Default false."},
		{name: "path", about: globHelp + " Default: everything."},
		{name: "context", kind: number, least: 0, most: 10, about: "How many lines around each match are shown. Default 0."},
	},
	call: (*Set).search,
}

// compilePattern reads the pattern of a search.
func compilePattern(pattern string, literal, ignoreCase bool) (*regexp.Regexp, *scan, error) {
	if pattern == "" {
		return nil, nil, refuse("the pattern is empty")
	}
	if len(pattern) > 10_000 {
		return nil, nil, refuse("the pattern has %d bytes; the limit is 10000", len(pattern))
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := "(?m)"
	if ignoreCase {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, nil, refuse("the pattern is not a regular expression in RE2's syntax, which has no look-around and no back references: %v", err)
	}
	size := len(flags + pattern)
	if !literal {
		if tree, err := syntax.Parse(flags+pattern, syntax.Perl); err == nil {
			if program, err := syntax.Compile(tree.Simplify()); err == nil {
				if size = len(program.Inst); size > maxInstructions {
					return nil, nil, refuse("the pattern is too complex: make it shorter, or its repetitions smaller")
				}
			}
		}
	}
	return re, &scan{instructions: min(size, maxInstructions)}, nil
}

// texts calls fn with the text of each file that a pattern matches, until fn returns
// an error. It omits files whose names begin with a dot. all is false if it stopped at
// the limit of steps.
func (s *Set) texts(ctx context.Context, pattern string, steps *scan, fn func(p string, src []byte) error) (all bool, err error) {
	match, err := compileGlob(pattern)
	if err != nil {
		return false, err
	}
	found := false
	for _, p := range s.tree.files() {
		if !match(p) || dotted(p) || isPrivate(p) || !s.tree.text(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		src, err := s.tree.read(p)
		if err != nil {
			continue
		}
		if !steps.more(len(src)) {
			return false, nil
		}
		found = true
		if err := fn(p, src); err != nil {
			return false, err
		}
	}
	if !found {
		return false, s.missing(pattern)
	}
	return true, nil
}

func (s *Set) search(ctx context.Context, a args) (Result, error) {
	re, steps, err := compilePattern(a.text("pattern"), a.yes("literal"), a.yes("ignore_case"))
	if err != nil {
		return Result{}, err
	}
	around := a.number("context", 0)
	if p := a.text("path"); strings.HasPrefix(p, attachedMark) {
		return s.searchAttached(p, re, around)
	}
	pattern, in, err := s.place("path", a.text("path"))
	if err != nil {
		return Result{}, err
	}
	var b pages
	files, hits, beside, left := 0, 0, 0, 0
	all := true
	if in == nil {
		all, err = s.texts(ctx, pattern, steps, func(p string, src []byte) error {
			if found := matches(re, src); len(found) > 0 {
				files++
				hits += len(found)
				show(&b, p, src, found, around)
			}
			return nil
		})
	}
	// The whole repository is searched unless a path was named, also for a site of no text.
	among := in
	if in == nil && pattern == "" && len(s.beside.known()) > 0 && (err == nil || ctx.Err() == nil) {
		among = s.beside
	}
	if among != nil {
		var texts int
		var complete bool
		texts, left, complete, err = among.texts(ctx, pattern, steps, re.Match, func(p string, src []byte) error {
			if found := matches(re, src); len(found) > 0 {
				files++
				hits += len(found)
				beside += len(found)
				show(&b, among.mark+p, src, found, around)
			}
			return nil
		})
		all = all && complete
		if err == nil && in != nil && texts == 0 && left == 0 {
			err = refuse("there is no text %.200q %s", in.mark+pattern, in.where)
		}
	}
	if err != nil {
		return Result{}, err
	}
	out := fmt.Sprintf("%s in %s", Plural(hits, "matching line"), Plural(files, "file"))
	if beside > 0 && in == nil {
		out += fmt.Sprintf(", %d of them outside the site's folder", beside)
	}
	out += "\n" + b.end("lines", "narrow the pattern or the path to see them")
	if !all {
		out += "There are more files than one search looks at; name a folder.\n"
	}
	if left > 0 {
		out += fmt.Sprintf("%s %s were not searched, because there is more text than a job reads.\n", Plural(left, "file"), strings.TrimPrefix(among.where, "in the repository "))
	}
	return Result{Text: out, File: a.text("path"), Outcome: fmt.Sprintf("%s in %s", Plural(hits, "match"), Plural(files, "file"))}, nil
}

// hit is a line, from 1, in which something begins that matches.
type hit struct {
	line int
	// at are where in the line matches begin, in bytes from 0, the first few.
	at []int
}

// maxPlaces is how many places of one line a search shows, if the line is too long
// to be shown whole.
const maxPlaces = 20

// matches returns the lines in which something begins that matches.
func matches(re *regexp.Regexp, src []byte) []hit {
	var all []hit
	line, from, begin := 1, 0, 0
	for _, m := range re.FindAllIndex(src, -1) {
		if m[0] == len(src) && len(src) > 0 && src[len(src)-1] == '\n' {
			break // after the last end there is no further line
		}
		if n := bytes.Count(src[from:m[0]], []byte("\n")); n > 0 {
			line += n
			begin = bytes.LastIndexByte(src[:m[0]], '\n') + 1
		}
		from = m[0]
		if len(all) == 0 || all[len(all)-1].line != line {
			all = append(all, hit{line: line})
		}
		if h := &all[len(all)-1]; len(h.at) <= maxPlaces {
			h.at = append(h.at, m[0]-begin)
		}
	}
	return all
}

// show appends lines of a file with their context.
func show(b *pages, p string, src []byte, found []hit, around int) {
	if b.more > 0 {
		b.more += len(found)
		return
	}
	lines := linesOf(src)
	last := 0
	for i, h := range found {
		from, to := max(h.line-around, last+1), min(h.line+around, len(lines))
		if i+1 < len(found) {
			to = min(to, found[i+1].line-1)
		}
		if around > 0 && last > 0 && from > last+1 {
			b.add("--")
		}
		for n := from; n <= to; n++ {
			sign := ':'
			if n != h.line {
				sign = '-'
			}
			text := strings.TrimSuffix(lines[n-1], "\r")
			switch whole := fmt.Sprintf("%s%c%d%c %s", p, sign, n, sign, text); {
			case len(whole) <= maxResult-1024: // fits if it is the only one
				b.add("%s", whole)
			case n != h.line:
				b.add("%s-%d- (%s; read shows them)", p, n, Plural(len(text), "byte"))
			default:
				partsOf(b, p, n, text, h.at)
			}
		}
		last = max(last, to)
	}
}

// partsOf appends the parts around the places at of a line that is longer than a
// result.
func partsOf(b *pages, p string, n int, text string, at []int) {
	const before, after = 200, 400
	b.add("%s:%d: (%s; these are parts of it, each with its column: read shows more with from and column)", p, n, Plural(len(text), "byte"))
	end := 0
	for i, place := range at {
		if i == maxPlaces {
			b.more++
			return
		}
		if i > 0 && place < end {
			continue // shown already
		}
		from := runeStart(text, max(place-before, 0))
		end = runeStart(text, min(place+after, len(text)))
		b.add("%s:%d:%d: %s", p, n, from+1, text[from:end])
	}
}

// sortedKeys returns the keys of a map for a result.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
