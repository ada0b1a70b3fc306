package snapshot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of a path. A path is also an entry of an archive and, escaped, a part
// of a URL and of a file name on the reader's disk.
const (
	// MaxPathBytes bounds a whole path: S3's limit for a key, so that an
	// unpacked bundle can be copied into a bucket.
	MaxPathBytes = 1024
	// MaxElementBytes bounds the name of one file or folder: what ext4, XFS
	// and APFS take.
	MaxElementBytes = 255
)

// reservedPrefix begins the names at the root of a bundle that Bindery keeps
// for itself (bindery.json, bindery/…). Files of a site can't begin with it.
const reservedPrefix = "bindery"

// rulesFile is the one such name that a site may have: it says how the site is
// checked (site.RulesFile), and bundles don't have it.
const rulesFile = "bindery.yaml"

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

// pathFault is the rule book: the reason for each rule follows it.
func pathFault(path string) string {
	switch {
	case path == "":
		return "the name is empty"
	case len(path) > MaxPathBytes:
		return fmt.Sprintf("the path is longer than %d bytes", MaxPathBytes)
	case path[0] == '/':
		return "the path is absolute"
	}
	if !plain(path) {
		if reason := runeFault(path); reason != "" {
			return reason
		}
	}
	first := true
	for element := range strings.SplitSeq(path, "/") {
		if reason := elementFault(element); reason != "" {
			return reason
		}
		if first && strings.HasPrefix(foldCase(element), reservedPrefix) && path != rulesFile {
			return fmt.Sprintf("names at the root that begin with %q are kept for the bundle's own files", reservedPrefix)
		}
		first = false
	}
	return ""
}

// plain reports whether a path has nothing but those characters, of ASCII, that no
// rule is about. Nearly all have: the others take many times longer to look at.
func plain(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '/':
		default:
			return false
		}
	}
	return true
}

// runeFault is pathFault of the characters of a path.
func runeFault(path string) string {
	if !utf8.ValidString(path) {
		// Neither URLs nor archives in PAX form can carry other bytes.
		return "the name is not UTF-8"
	}
	for _, r := range path {
		switch {
		case r == utf8.RuneError:
			// What decoders put in place of bytes that they could not read.
			return "the name contains U+FFFD, the mark of a name that was read wrongly"
		case unicode.IsControl(r):
			return fmt.Sprintf("the name contains the control character %U", r)
		case r == '\\':
			// Windows and several unpackers take it for a separator.
			return "the name contains a backslash"
		case strings.ContainsRune(`<>:"|?*`, r):
			// Windows refuses these, so the archive would not unpack there.
			return fmt.Sprintf("the name contains %q, which can't be in file names on Windows", r)
		}
	}
	if !norm.NFC.IsNormalString(path) {
		// Two spellings of one name would be two files here and one on macOS,
		// and a link typed in one spelling would miss a file named in the other.
		return "the name is not in Unicode normal form C"
	}
	return ""
}

func elementFault(element string) string {
	switch {
	case element == "":
		return "the path has an empty element"
	case element == "." || element == "..":
		return fmt.Sprintf("the path has the element %q", element)
	case len(element) > MaxElementBytes:
		return fmt.Sprintf("the name is longer than %d bytes", MaxElementBytes)
	case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " "):
		// Windows drops them without a word: another name would appear.
		return fmt.Sprintf("the name %q ends with a dot or a space", element)
	}
	base, _, _ := strings.Cut(element, ".")
	if device := strings.TrimRight(base, " "); len(device) <= len("CONOUT$") && windowsDevice(strings.ToUpper(device)) {
		return fmt.Sprintf("%q is the name of a device on Windows", base)
	}
	return ""
}

// windowsDevice knows the names that Windows keeps for devices, whatever
// extension follows.
func windowsDevice(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	digit, ok := strings.CutPrefix(name, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(name, "LPT")
	}
	if !ok {
		return false
	}
	switch digit {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// foldCase maps names that differ only by case to one: the form in which
// case-insensitive file systems compare names.
func foldCase(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(s))
}

// CheckNames checks each path, and all together: no path twice, none that
// differs from another only by case, no file where another path has a folder.
// It returns PathErrors in order of path, or nil.
func CheckNames(paths []string) error {
	var faults PathErrors
	folded := make(map[string]string, len(paths))
	for _, path := range paths {
		if reason := pathFault(path); reason != "" {
			faults = append(faults, &PathError{path, reason})
			continue
		}
		key := foldCase(path)
		other, taken := folded[key]
		switch {
		case !taken:
			folded[key] = path
		case other == path:
			faults = append(faults, &PathError{path, "the path appears twice"})
		default:
			faults = append(faults, &PathError{path, fmt.Sprintf("the name differs from %s only by case", printable(other))})
		}
	}
	var good string // a folder in whose place no path has a file, with the slash
	for _, path := range paths {
		key := foldCase(path)
		dir := key[:strings.LastIndexByte(key, '/')+1]
		if dir == good {
			continue
		}
		before := len(faults)
		for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
			if file, ok := folded[key[:i]]; ok {
				faults = append(faults, &PathError{path, fmt.Sprintf("%s is a file, and this path needs a folder of that name", printable(file))})
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
