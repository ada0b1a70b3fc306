package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

var editTool = definition{
	name: "edit",
	about: "Replaces a text in a file, or several with edits. The old text must be in the file exactly once, or count times; give enough lines around it. " +
		"White space counts. An edit after which a page or a JSON file could not be read is refused.",
	params: append([]param{
		{name: "path", required: true, about: "The file."},
		{name: "edits", kind: objects, fields: editParams, about: "Several replacements in the place of old, new and count, made in this order: all of them or none."},
	}, editParams...),
	call: (*Set).editFile,
}

// editParams describe one replacement.
var editParams = []param{
	{name: "old", about: "The text to replace, exactly as it is in the file, without line numbers."},
	{name: "new", about: "The text to put in its place; empty to take it out."},
	{name: "count", kind: number, least: 1, most: 10_000, about: "How often old is in the file; all are replaced. Default 1."},
}

func (s *Set) editFile(ctx context.Context, a args) (Result, error) {
	p, err := a.path("path")
	if err != nil {
		return Result{}, err
	}
	src, err := s.load(p)
	if err != nil {
		return Result{File: p}, err
	}
	all := []args{a}
	if v := a["edits"]; v != nil {
		if a["old"] != nil || a["new"] != nil || len(v.Items) == 0 {
			return Result{File: p}, refuse("edits: has one replacement or more, and stands in the place of old and new")
		}
		all = all[:0]
		for _, item := range v.Items {
			one, err := fields(editParams, item)
			if err != nil {
				return Result{File: p}, err
			}
			all = append(all, one)
		}
	}
	text, places := src, 0
	var lines []edit.Span // of the new texts, in lines
	for i, one := range all {
		before := text
		at, count := 0, 0
		if text, at, count, err = s.replaceOne(p, text, one); err != nil {
			if len(all) > 1 {
				err = refuse("edits[%d]: %s. Nothing was changed", i, err)
			}
			return Result{File: p}, err
		}
		places += count
		line := 1 + bytes.Count(before[:at], []byte("\n"))
		added := bytes.Count(text, []byte("\n")) - bytes.Count(before, []byte("\n"))
		for j := range lines { // the lines below move
			if lines[j].From > line {
				lines[j].From, lines[j].To = lines[j].From+added, lines[j].To+added
			}
		}
		lines = append(lines, edit.Span{From: line - 2, To: line + strings.Count(one.text("new"), "\n") + 2})
	}
	if err := s.edit(ctx, map[string][]byte{p: text}); err != nil {
		return Result{File: p}, err
	}
	var b strings.Builder
	where := "the first place"
	if len(all) > 1 {
		where = "the first place of each"
	}
	fmt.Fprintf(&b, "Replaced in %s, %s. Around %s now:\n", p, times(places), where)
	for i, l := range lines {
		shown := window(text, l.From, l.To)
		if i > 0 && b.Len()+len(shown) > maxResult-128 {
			fmt.Fprintf(&b, "… %d more places\n", len(lines)-i)
			break
		}
		if i > 0 {
			b.WriteString("--\n")
		}
		b.WriteString(shown)
	}
	return Result{Text: b.String(), File: p, Outcome: "edited"}, nil
}

// replaceOne makes one replacement of edit in the text of a file. It returns the new
// text, where the old one stood first, and how often.
func (s *Set) replaceOne(p string, src []byte, a args) (text []byte, at, count int, err error) {
	was, is, count := a.text("old"), a.text("new"), a.number("count", 1)
	for _, name := range []string{"old", "new"} {
		if a[name] == nil {
			return nil, 0, 0, refuse("the field %q is missing", name)
		}
	}
	if was == "" {
		return nil, 0, 0, refuse("old is empty; write makes a new file")
	}
	if _, _, crlf := endings(src); crlf { // what models read and write has LF
		was, is = withCRLF(was), withCRLF(is)
	}
	if was == is {
		return nil, 0, 0, refuse("old and new are the same text")
	}
	if err := uncut("new", is, src); err != nil {
		return nil, 0, 0, err
	}
	switch n := bytes.Count(src, []byte(was)); {
	case n == 0:
		return nil, 0, 0, refuse("old is not in %s%s", p, nearMisses(src, was))
	case n != count:
		return nil, 0, 0, refuse("old is %s in %s, at %s; include more of the surrounding text, or use count=%d to replace all", times(n), p, linesAt(src, was), n)
	}
	if n := len(src) + count*(len(is)-len(was)); n > s.limits.FileBytes {
		return nil, 0, 0, refuse("%s: would have %d bytes; the limit of a file is %d", p, n, s.limits.FileBytes)
	}
	return bytes.ReplaceAll(src, []byte(was), []byte(is)), bytes.Index(src, []byte(was)), count, nil
}

func withCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// window returns some lines of a text with their numbers.
func window(src []byte, from, to int) string {
	const most, bytes = 40, maxResult / 2
	lines := linesOf(src)
	from, to = max(from, 1), min(to, len(lines))
	var b strings.Builder
	for n := from; n <= to; n++ {
		if n-from == most {
			fmt.Fprintf(&b, "… %d more lines\n", to-n+1)
			break
		}
		line := strings.TrimSuffix(lines[n-1], "\r")
		if b.Len()+len(line) > bytes {
			line = cutLine(line)
		}
		fmt.Fprintf(&b, "%6d\t%s\n", n, line)
	}
	return b.String()
}

// linesAt lists the lines at which a text begins, the first ten.
func linesAt(src []byte, text string) string {
	var b strings.Builder
	line, from := 1, 0
	for n := 0; ; n++ {
		i := bytes.Index(src[from:], []byte(text))
		if i < 0 {
			return b.String()
		}
		if n == 10 {
			return b.String() + " and more"
		}
		line += bytes.Count(src[from:from+i], []byte("\n"))
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "line %d", line)
		line += strings.Count(text, "\n")
		from += i + len(text)
	}
}

// nearMisses shows where a text would be found if white space or case were ignored.
func nearMisses(src []byte, text string) string {
	type reading struct {
		how  string
		keep func(r rune) rune
	}
	for _, r := range []reading{
		{"but for white space it is", func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}},
		{"but for white space and the case of letters it is", func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return unicode.ToLower(r)
		}},
	} {
		want := strings.Map(r.keep, text)
		if want == "" {
			return "; it is white space alone"
		}
		var kept []byte
		var lines []int32 // of each byte kept
		line := int32(1)
		for _, c := range string(src) {
			if c == '\n' {
				line++
			}
			if c = r.keep(c); c >= 0 {
				n := len(kept)
				kept = append(kept, string(c)...)
				for ; n < len(kept); n++ {
					lines = append(lines, line)
				}
			}
		}
		i := bytes.Index(kept, []byte(want))
		if i < 0 {
			continue
		}
		more := ""
		if n := bytes.Count(kept, []byte(want)); n > 1 {
			more = fmt.Sprintf(" and at %d more places", n-1)
		}
		from, to := int(lines[i]), int(lines[i+len(want)-1])
		return fmt.Sprintf("; %s at line %d%s, as:\n%s", r.how, from, more, window(src, from, to))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if first = strings.TrimSpace(first); len(first) > 3 && len(first) < len(strings.TrimSpace(text)) && bytes.Contains(src, []byte(first)) {
		return fmt.Sprintf("; its first line is there, at %s, and what follows differs: read the file again", linesAt(src, first))
	}
	return "; read the file again"
}

var writeTool = definition{
	name: "write",
	about: "Writes a whole file: a new one, or one whose text is replaced, which must have been read whole. To change a part of a file use edit. " +
		"A file that is longer than one answer is written in parts: the first with write, each further one with append. " +
		"A new page also needs an entry in the navigation.",
	params: []param{
		{name: "path", required: true, about: "The file; folders are made as needed."},
		{name: "content", required: true, about: "All of its text; with append the text that follows."},
		{name: "append", kind: yesNo, about: "Whether content goes to the end of the file, on a new line. Default false."},
	},
	call: (*Set).writeFile,
}

func (s *Set) writeFile(ctx context.Context, a args) (Result, error) {
	p, err := a.path("path")
	if err != nil {
		return Result{}, err
	}
	if p == "" {
		return Result{}, refuse("path: is the site's folder, not a file")
	}
	content, more := []byte(a.text("content")), a.yes("append")
	verb := "written"
	old, err := s.tree.read(p)
	if err := uncut("content", string(content), old); err != nil {
		return Result{File: p}, err
	}
	switch {
	case err != nil && more:
		if _, err := s.load(p); err != nil {
			return Result{File: p}, err
		}
	case err == nil:
		verb = "replaced"
		if _, _, crlf := endings(old); crlf {
			content = []byte(withCRLF(string(content)))
		}
		if more {
			verb = "appended"
			content = appended(old, content)
		}
		if bytes.Equal(old, content) {
			return Result{File: p}, refuse("%s already has this text", p)
		}
		if n := s.unread(p, old); n > 0 && !more {
			return Result{File: p}, refuse("%s: you have not seen line %d as it is now, and write would replace it: read the whole file first, with from=%d, or use edit", p, n, n)
		}
	}
	if err := s.edit(ctx, map[string][]byte{p: content}); err != nil {
		return Result{File: p}, err
	}
	return Result{Text: fmt.Sprintf("%s: %s, %s", p, verb, Plural(len(linesOf(content)), "line")), File: p, Outcome: verb}, nil
}

// appended returns a text with another one on a new line at its end.
func appended(old, content []byte) []byte {
	all := bytes.Clone(old)
	if len(old) > 0 && old[len(old)-1] != '\n' {
		end := "\n"
		if _, _, crlf := endings(old); crlf {
			end = "\r\n"
		}
		all = append(all, end...)
	}
	return append(all, content...)
}

var replaceTool = definition{
	name: "replace",
	about: "Replaces a text or a regular expression in many files. Without apply it only shows what would change: look at that first, " +
		"then call it again with apply=true. To rename something in prose alone, leave code and addresses alone.",
	params: []param{
		{name: "find", required: true, about: "The text to find, or with regex a regular expression in RE2's syntax."},
		{name: "replace", required: true, about: "What to put in its place; with regex $1 or ${name} is what a group matched, $$ a dollar sign."},
		{name: "regex", kind: yesNo, about: "Whether find is a regular expression. Default false."},
		{name: "ignore_case", kind: yesNo, about: "Default false."},
		{name: "words", kind: yesNo, about: "Whether only whole words are found. Default false."},
		{name: "path", about: globHelp + " Default: everything."},
		{name: "leave", kind: texts, values: []string{"code", "addresses"}, about: "What of pages is left alone: code (blocks, spans, " +
			"expressions, imports and exports), addresses (of links, pictures and files). Default: nothing."},
		{name: "apply", kind: yesNo, about: "Whether to change the files. Default false: a preview."},
	},
	call: (*Set).replace,
}

func (s *Set) replace(ctx context.Context, a args) (Result, error) {
	pattern, literal := a.text("find"), !a.yes("regex")
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if a.yes("words") && pattern != "" {
		pattern = wordEdge(a.text("find"), literal, true) + "(?:" + pattern + ")" + wordEdge(a.text("find"), literal, false)
	}
	re, steps, err := compilePattern(pattern, false, a.yes("ignore_case"))
	if err != nil {
		return Result{}, err
	}
	with := a.text("replace")
	if literal {
		with = strings.ReplaceAll(with, "$", "$$")
	}
	leave := a.texts("leave")
	var b pages
	places, left, big := 0, 0, ""
	var apart []string // files that an agent may not write
	var why error      // of the first
	contents := map[string][]byte{}
	all, err := s.texts(ctx, a.text("path"), steps, func(p string, src []byte) error {
		if !re.Match(src) {
			return nil
		}
		out, n, kept := s.replaced(re, p, src, with, leave)
		if len(out) > s.limits.FileBytes {
			big = p
			return refuse("%s: would have more than %d bytes, the limit of a file", p, s.limits.FileBytes)
		}
		left += kept
		if n > 0 && !bytes.Equal(out, src) {
			if err := uncut("replace", with, src); err != nil {
				return err
			}
			if err := cmp.Or(Allowed(s.tree.full(p), s.tree.root), s.mayWrite(p, out)); err != nil {
				apart, why = append(apart, p), cmp.Or(why, err)
				return nil
			}
			places += n
			contents[p] = out
			b.add("%s: %s", p, Plural(n, "place"))
			s.preview(&b, src, out)
		}
		return nil
	})
	if err == nil && !all {
		err = refuse("there is too much text for one replace; name a folder")
	}
	if err != nil {
		return Result{File: big}, err
	}
	if places == 0 && why != nil {
		return Result{File: a.text("path")}, why
	}
	said := fmt.Sprintf("%s in %s", Plural(places, "place"), Plural(len(contents), "file"))
	if left > 0 {
		said += fmt.Sprintf(", and %d left alone", left)
	}
	if n := len(apart); n > 0 {
		said += fmt.Sprintf(", and %s left alone, which agents may not write (%s)", Plural(n, "file"), strings.Join(apart[:min(n, 5)], ", "))
	}
	if places == 0 {
		return Result{Text: "Nothing to replace: " + said + ".", File: a.text("path"), Outcome: said}, nil
	}
	if !a.yes("apply") {
		return Result{Text: "Would replace " + said + ". Nothing is changed yet.\n" + b.end("lines", "narrow the path to see them"), File: a.text("path"), Outcome: "preview: " + said}, nil
	}
	rest := s.fitting(contents)
	if err := s.edit(ctx, contents); err != nil {
		return Result{File: a.text("path")}, err
	}
	if rest > 0 {
		said = fmt.Sprintf("%s; done in %d of them, and %d are left as they were, because a job may change %d files and %d bytes",
			said, len(contents), rest, s.limits.Files, s.limits.Bytes)
	}
	return Result{Text: "Replaced " + said + ".\n" + b.end("lines", "diff shows all"), File: a.text("path"), Outcome: "replaced " + said}, nil
}

// fitting takes out of new texts those with which a job would change more than it
// may, the last ones by path, and returns their number. It leaves at least one, so that
// the refusal of that one names the limit.
func (s *Set) fitting(contents map[string][]byte) (rest int) {
	files, size, taken := len(s.tree.changed), s.tree.bytes(), 0
	for _, p := range sortedKeys(contents) {
		was, changed := s.tree.changed[p]
		more := int64(len(contents[p]) - len(was))
		next := files
		if !changed {
			next++
		}
		if taken > 0 && (next > s.limits.Files || size+more > s.limits.Bytes) {
			delete(contents, p)
			rest++
			continue
		}
		files, size, taken = next, size+more, taken+1
	}
	return rest
}

// wordEdge returns what must match before or after a text for it to be a whole word:
// nothing next to a character that is not part of a word.
func wordEdge(find string, literal, before bool) string {
	if !literal {
		return `\b`
	}
	edge := find[len(find)-1]
	if before {
		edge = find[0]
	}
	if edge == '_' || edge < 0x80 && (unicode.IsLetter(rune(edge)) || unicode.IsDigit(rune(edge))) {
		return `\b`
	}
	return ""
}

// replaced returns a file with all matches replaced, their number, and the number of
// matches that were left alone.
func (s *Set) replaced(re *regexp.Regexp, p string, src []byte, with string, leave []string) (out []byte, n, kept int) {
	var untouched []edit.Span
	if len(leave) > 0 && isPage(p) {
		untouched = s.tree.parts(p, src, slices.Contains(leave, "code"), slices.Contains(leave, "addresses"))
	}
	at := 0
	for _, m := range re.FindAllSubmatchIndex(src, -1) {
		if m[0] == m[1] { // an empty match replaces nothing
			continue
		}
		if overlaps(untouched, m[0], m[1]) {
			kept++
			continue
		}
		if len(out) > s.limits.FileBytes { // refused by the caller
			break
		}
		out = append(out, src[at:m[0]]...)
		out = re.Expand(out, []byte(with), src, m)
		at = m[1]
		n++
	}
	return append(out, src[at:]...), n, kept
}

// overlaps reports whether one of spans, which are sorted and apart, has a byte
// in common with from to to.
func overlaps(spans []edit.Span, from, to int) bool {
	i, _ := slices.BinarySearchFunc(spans, from, func(s edit.Span, at int) int {
		if s.To <= at {
			return -1
		}
		return 1
	})
	return i < len(spans) && spans[i].From < to
}

// parts returns where a page has code, and addresses.
func (t *Tree) parts(p string, src []byte, code, addresses bool) []edit.Span {
	f, _ := mdx.Parse(src, t.settings().Syntax(p))
	var all []edit.Span
	add := func(from, to int) { all = append(all, edit.Span{From: from, To: to}) }
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.CodeBlock, mdx.InlineCode, mdx.MathBlock, mdx.InlineMath, mdx.ESM, mdx.Expression:
			if code {
				add(n.Pos.Offset, n.End.Offset)
			}
		case mdx.Link:
			_, _, placed := n.URLPlace(src)
			if text := mdx.PlainText(n); addresses && !placed && text != "" && strings.HasSuffix(n.URL, text) { // an address that is its own text
				add(n.Pos.Offset, n.End.Offset)
			}
		case mdx.Element:
			for _, a := range n.Attrs {
				if code && (a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread) && !isLiteral(a) {
					add(a.Pos.Offset, a.Pos.Offset+max(bytes.Index(src[a.Pos.Offset:], []byte(a.Value)), 0)+len(a.Value))
				}
			}
		}
		return true
	})
	if addresses {
		for _, r := range edit.Refs(src, t.settings().Syntax(p)) {
			add(r.From, r.To)
		}
	}
	slices.SortFunc(all, func(a, b edit.Span) int { return a.From - b.From })
	// Merge those that overlap.
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

func isLiteral(a mdx.Attr) bool {
	_, ok := mdx.EvalLiteral(a.Value)
	return ok
}

// preview appends the lines that differ, the first few.
func (s *Set) preview(b *pages, was, is []byte) {
	old, now := linesOf(was), linesOf(is)
	shown := 0
	if len(old) != len(now) { // lines have come or gone: those of one number are not the same line
		if b.more > 0 { // nobody sees it
			return
		}
		text, _, _ := Diff("", was, is)
		_, hunks, _ := strings.Cut(text, "\n@@")
		for line := range strings.Lines("@@" + hunks) {
			if line[0] == ' ' {
				continue
			}
			if shown++; shown > 9 {
				b.add("    …")
				return
			}
			b.add("  %s", cutLine(strings.TrimSuffix(line, "\n")))
		}
		return
	}
	for i := range old {
		if old[i] == now[i] {
			continue
		}
		if shown++; shown > 3 {
			b.add("    …")
			return
		}
		b.add("  %d - %s", i+1, cutLine(old[i]))
		b.add("  %d + %s", i+1, cutLine(now[i]))
	}
}
