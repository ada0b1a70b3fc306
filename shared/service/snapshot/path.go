package snapshot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxPathBytes bounds the path of a file. It is longer than one in a bundle may be
// (filename.MaxPathBytes): a snapshot has the names that a folder has, and who makes a
// bundle of it mends them.
const MaxPathBytes = 4096

// PathError says why a file can't be in a snapshot. Its text is safe to show.
type PathError struct {
	// Path is the file's path, as it was given.
	Path string
	// Reason is a phrase without the path: "is empty".
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("%s: %s", printable(e.Path), e.Reason) }

// printable keeps messages on one line and free of control characters,
// whatever a name holds.
func printable(path string) string {
	if path == "" {
		return `""`
	}
	for _, r := range path {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return fmt.Sprintf("%+q", path)
		}
	}
	return path
}

// PathErrors are all faults of a set of paths, in order of path. errors.As
// finds the first *PathError in it.
type PathErrors []*PathError

func (e PathErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single faults.
func (e PathErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// pathFault returns why a path can't be in a snapshot, "" if it can. A snapshot takes
// all names that JSON carries and that stay in their folder. Those that not every disk
// and archive can carry get another name in the bundle: see package filename.
func pathFault(path string) string {
	switch {
	case path == "":
		return "the name is empty"
	case len(path) > MaxPathBytes:
		return fmt.Sprintf("the path is longer than %d bytes", MaxPathBytes)
	case path[0] == '/':
		return "the path is absolute"
	case !utf8.ValidString(path):
		return "the name is not UTF-8"
	case strings.IndexByte(path, 0) >= 0:
		return "the name contains a zero byte"
	case !norm.NFC.IsNormalString(path):
		// Two spellings of one name would be two files here and one on macOS,
		// and a link typed in one spelling would miss a file named in the other.
		return "the name is not in Unicode normal form C"
	}
	for element := range strings.SplitSeq(path, "/") {
		switch element {
		case "":
			return "the path has an empty element"
		case ".", "..":
			return fmt.Sprintf("the path has the element %q", element)
		}
	}
	return ""
}

// CheckNames checks each path, and all together: no path twice, and no file where
// another path has a folder. It returns PathErrors in order of path, or nil.
func CheckNames(paths []string) error {
	var faults PathErrors
	have := make(map[string]struct{}, len(paths))
	for _, path := range paths {
		if reason := pathFault(path); reason != "" {
			faults = append(faults, &PathError{path, reason})
			continue
		}
		if _, twice := have[path]; twice {
			faults = append(faults, &PathError{path, "the path appears twice"})
		}
		have[path] = struct{}{}
	}
	var good string // a folder in whose place no path has a file, with the slash
	for _, path := range paths {
		dir := path[:strings.LastIndexByte(path, '/')+1]
		if dir == good {
			continue
		}
		before := len(faults)
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if _, ok := have[path[:i]]; ok {
				faults = append(faults, &PathError{path, fmt.Sprintf("%s is a file, and this path needs a folder of that name", printable(path[:i]))})
				break
			}
		}
		if len(faults) == before {
			good = dir
		}
	}
	if len(faults) == 0 {
		return nil
	}
	sortFaults(faults)
	return faults
}
