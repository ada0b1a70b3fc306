package tool

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// seen holds which lines a model has seen whole: those that a result of read or edit
// showed, and those of its own writes. A file is only replaced if all its lines are
// among them, so that no text is lost that nobody looked at.
//
// It follows from calls and their results alone, so that a round that is loaded
// again has the same.
type seen struct {
	seed maphash.Seed
	// lines are digests of lines, with the paths of their files and without.
	lines map[uint64]bool
	// The beginning of one line that is read in pieces: its file and number, and
	// the text so far.
	path, part string
	line       int
}

func newSeen() seen { return seen{seed: maphash.MakeSeed(), lines: map[uint64]bool{}} }

func (s *seen) digest(p, line string) uint64 { return maphash.String(s.seed, p+"\x00"+line) }

func (s *seen) add(p, line string) {
	s.lines[s.digest(p, line)] = true
	s.lines[s.digest("", line)] = true
}

// Forget forgets which lines and pictures the model has seen: the results that showed them are no
// longer in its context window.
func (s *Set) Forget() { s.seen, s.pictures = newSeen(), gallery{seen: s.pictures.seen} }

// Recall records the lines that a model saw by an earlier call of a tool, without making
// the call again. The calls of a loaded round come in their order. It ignores calls that
// failed, and tools that show no lines of a file.
func (s *Set) Recall(name string, input json.RawMessage, r Result) {
	if r.IsError {
		return
	}
	s.pictures.add(r.Pictures)
	for _, d := range tools() {
		if d.name != name {
			continue
		}
		a, err := decode(d.params, input)
		if err != nil {
			return
		}
		p, in, err := s.place("path", a.text("path"))
		if err != nil || in != nil {
			return
		}
		if p, err = cleanPath("path", p); err == nil {
			s.seen.note(name, p, a, r.Text)
		}
	}
}

// goesOn matches the end of a result of read that stops inside a line.
var goesOn = lazy.Regexp(`\n… line ([0-9]+) has [0-9]+ more bytes; .*column=[0-9]+\n`)

// note adds the lines of one call for the file p.
func (s *seen) note(name, p string, a args, text string) {
	switch name {
	case writeTool.name:
		for _, line := range linesOf([]byte(a.text("content"))) {
			s.add(p, strings.TrimSuffix(line, "\r"))
		}
		return
	case readTool.name, editTool.name:
	default:
		return
	}
	column, open := a.number("column", 1), ""
	if m := goesOn().FindStringSubmatch(text); m != nil {
		open = m[1]
	}
	_, body, _ := strings.Cut(text, "\n") // the first line says what it is
	for row := range strings.Lines(body) {
		number, line, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		n, err := strconv.Atoi(strings.TrimLeft(number, " "))
		if !ok || err != nil {
			continue
		}
		if column > 1 {
			if s.path != p || s.line != n || len(s.part) != column-1 {
				s.path, s.part = "", "" // not where the piece before it ended
				if strconv.Itoa(n) == open {
					return
				}
				column = 1
				continue
			}
			line, column = s.part+line, 1
		}
		if strconv.Itoa(n) == open {
			s.path, s.line, s.part = p, n, line
			return
		}
		s.add(p, line)
	}
}

// unread returns the first line of a file that the model has not seen, 0 if it has
// seen all. A file that the job has made or moved may have been read under another
// path. Lines of white space don't count.
func (s *Set) unread(p string, src []byte) int {
	under := p
	if _, old := s.tree.entries[p]; !old {
		under = ""
	}
	lines := linesOf(src)
	for i := range lines {
		line := withoutCR(src, lines, i+1)
		if strings.TrimSpace(line) != "" && !s.seen.lines[s.seen.digest(under, line)] {
			return i + 1
		}
	}
	return 0
}

// cutMark matches the marks with which results leave something out.
var cutMark = lazy.Regexp(`… \(?[0-9]+ more (?:bytes|lines|files|findings|entries|places)\b|… line [0-9]+ has [0-9]+ more bytes|\((?:left out|replaced) to make room|\(not (?:run|shown): this turn's results would be too long`)

// maskMark matches the mark of a masked secret.
var maskMark = lazy.Regexp(`\(masked: an? [^)\n]*\)`)

// uncut returns an error if a new text of a file has a mark of a cut or of a masked
// secret that its old text doesn't have: then the model did not read what it writes.
func uncut(field, text string, old []byte) error {
	for _, m := range cutMark().FindAllString(text, -1) {
		if !bytes.Contains(old, []byte(m)) {
			return refuse("%s: has %q, with which a result says that it leaves something out: read the rest and write the text itself", field, m)
		}
	}
	for _, m := range maskMark().FindAllString(text, -1) {
		if !bytes.Contains(old, []byte(m)) {
			return refuse("%s: has %q, which replaces a secret in a result: write a placeholder, such as YOUR_TOKEN", field, m)
		}
	}
	return nil
}
