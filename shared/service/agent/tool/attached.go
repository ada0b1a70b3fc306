package tool

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// AttachedPath returns the path of a file that was attached to the message with a
// number: "attachment:1/spec.yaml".
func AttachedPath(message int, name string) string {
	return fmt.Sprintf("%s%d/%s", attachedMark, message, name)
}

// Attach adds a file that the author of the request attached, under a path that
// AttachedPath returned.
func (s *Set) Attach(p string, data []byte) {
	if s.attached == nil {
		s.attached = map[string][]byte{}
	}
	s.attached[p] = data
}

// loadAttached returns a file that was attached.
func (s *Set) loadAttached(p string) ([]byte, error) {
	if src, ok := s.attached[p]; ok {
		return src, nil
	}
	if len(s.attached) == 0 {
		return nil, refuse("no files are attached")
	}
	return nil, refuse("no file %.200q is attached; there are: %s", p, strings.Join(sortedKeys(s.attached), ", "))
}

// searchAttached searches the texts among attached files: one of them, or all that a
// pattern matches.
func (s *Set) searchAttached(pattern string, re *regexp.Regexp, around int) (Result, error) {
	var b pages
	files, hits, texts := 0, 0, 0
	for _, p := range sortedKeys(s.attached) {
		fits, err := path.Match(pattern, p)
		if !fits && (err != nil || !strings.HasPrefix(p, strings.TrimSuffix(pattern, "/")+"/")) && pattern != attachedMark || !isText(s.attached[p]) {
			continue
		}
		texts++
		if found := matches(re, s.attached[p]); len(found) > 0 {
			files++
			hits += len(found)
			show(&b, p, s.attached[p], found, around)
		}
	}
	if texts == 0 {
		if _, err := s.loadAttached(pattern); err != nil {
			return Result{File: pattern}, err
		}
		return Result{File: pattern}, refuse("%s is no text", pattern)
	}
	out := fmt.Sprintf("%s in %s\n", Plural(hits, "matching line"), Plural(files, "file")) + b.end("lines", "narrow the pattern or the path to see them")
	return Result{Text: out, File: pattern, Outcome: fmt.Sprintf("%s in %s", Plural(hits, "match"), Plural(files, "file"))}, nil
}
