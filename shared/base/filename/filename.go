// Package filename finds file names that some disks or archives refuse, and replaces
// them. One rule covers the files of a site and the files that Bindery makes.
//
//	filename.go  Fault, Portable, Numbered, Fold
package filename

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of a path in a bundle.
const (
	// MaxPathBytes bounds a whole path: S3's limit for a key, so that an unpacked
	// bundle can be copied into a bucket.
	MaxPathBytes = 1024
	// MaxElementBytes bounds the name of one file or folder: the limit of ext4, XFS
	// and APFS.
	MaxElementBytes = 255
)

// Suffixes for Fault and Portable. The length of a name counts with the longest suffix
// that is written after it.
const (
	// Compressed is the longest ending that servers give the compressed form of a file.
	Compressed = ".zst"
	// Page is the longest ending of the files of a page.
	Page = ".html" + Compressed
)

// unfit are the characters that Windows refuses in names, and the backslash, which
// Windows and several unpackers take for a separator.
const unfit = `<>:"|?*\`

// Fault returns why some disks or archives refuse a path, as a phrase without the path.
// It returns "" for a path that all take. suffix is the longest ending that is written
// after the path.
func Fault(p, suffix string) string {
	switch {
	case p == "":
		return "the name is empty"
	case len(p)+len(suffix) > MaxPathBytes:
		return fmt.Sprintf("the path is longer than %d bytes", MaxPathBytes)
	case p[0] == '/':
		return "the path is absolute"
	}
	if !plain(p) {
		if reason := runeFault(p); reason != "" {
			return reason
		}
	}
	for rest, more := p, true; more; {
		var element string
		element, rest, more = strings.Cut(rest, "/")
		most := MaxElementBytes
		if !more {
			most -= len(suffix)
		}
		if reason := elementFault(element, most); reason != "" {
			return reason
		}
	}
	return ""
}

// plain reports whether a path has only ASCII characters that no rule is about. Most
// paths are plain, and checking the others takes many times longer.
func plain(p string) bool {
	for i := range len(p) {
		switch c := p[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '/':
		default:
			return false
		}
	}
	return true
}

// runeFault does what Fault does, for the characters of a path.
func runeFault(p string) string {
	if !utf8.ValidString(p) {
		// Neither URLs nor archives in PAX form can carry other bytes.
		return "the name is not UTF-8"
	}
	for _, r := range p {
		switch {
		case r == utf8.RuneError:
			// What decoders put in place of bytes that they could not read.
			return "the name contains U+FFFD, the mark of a name that was read wrongly"
		case unicode.IsControl(r):
			return fmt.Sprintf("the name contains the control character %U", r)
		case r == '\\':
			return "the name contains a backslash"
		case strings.ContainsRune(unfit, r):
			return fmt.Sprintf("the name contains %q, which can't be in file names on Windows", r)
		}
	}
	if !norm.NFC.IsNormalString(p) {
		// Two spellings of one name would be two files here and one on macOS,
		// and a link typed in one spelling would miss a file named in the other.
		return "the name is not in Unicode normal form C"
	}
	return ""
}

func elementFault(element string, most int) string {
	switch {
	case element == "":
		return "the path has an empty element"
	case element == "." || element == "..":
		return fmt.Sprintf("the path has the element %q", element)
	case len(element) > most && most < MaxElementBytes:
		return fmt.Sprintf("the name is longer than %d bytes with the longest ending that is written", MaxElementBytes)
	case len(element) > most:
		return fmt.Sprintf("the name is longer than %d bytes", MaxElementBytes)
	case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " "):
		// Windows drops them silently, so the file would get another name.
		return fmt.Sprintf("the name %q ends with a dot or a space", element)
	}
	if base, ok := device(element); ok {
		return fmt.Sprintf("%q is the name of a device on Windows", base)
	}
	return ""
}

// device returns the part of a name before its first dot, and whether Windows reserves
// it for a device, with any extension.
func device(element string) (base string, ok bool) {
	base, _, _ = strings.Cut(element, ".")
	name := strings.TrimRight(base, " ")
	if len(name) > len("CONOUT$") {
		return base, false
	}
	switch name = strings.ToUpper(name); name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return base, true
	}
	digit, ok := strings.CutPrefix(name, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(name, "LPT")
	}
	if !ok {
		return base, false
	}
	switch digit {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return base, true
	}
	return base, false
}

// Portable replaces the names in a path that Fault refuses. It returns any other path
// unchanged. The rule:
//
//   - each character that a name can't have, and each dot and space at its end,
//     becomes a hyphen;
//   - the name of a device gets a hyphen: "con.txt" becomes "con-.txt";
//   - a name that is too long is cut, and ends with a hyphen and eight digits of the
//     SHA-256 of the whole name, before its extension; folders of a path that is too
//     long become one of that kind.
//
// Two paths may become one. Numbered gives the second another name.
func Portable(p, suffix string) string {
	if Fault(p, suffix) == "" {
		return p
	}
	p = norm.NFC.String(p)
	elements := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	if len(elements) == 0 {
		return "-"
	}
	last := len(elements) - 1
	for i, e := range elements {
		most := MaxElementBytes
		if i == last {
			most -= len(suffix)
		}
		elements[i] = mended(e, most)
	}
	out := strings.Join(elements, "/")
	if len(out)+len(suffix)+numberBytes > MaxPathBytes {
		dir := strings.Join(elements[:last], "/")
		out = cut(elements[0], digest(dir), 100) + "/" + elements[last]
	}
	return out
}

// numberBytes is the number of bytes that Portable leaves for Numbered.
const numberBytes = len("-99999")

// mended returns the replacement for the name of a file or folder.
func mended(element string, most int) string {
	b := make([]byte, 0, len(element)+1)
	for _, r := range element { // a byte that is not UTF-8 is a rune of its own
		if r == utf8.RuneError || unicode.IsControl(r) || strings.ContainsRune(unfit, r) {
			b = append(b, '-')
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	for i := len(b) - 1; i >= 0 && (b[i] == '.' || b[i] == ' '); i-- {
		b[i] = '-'
	}
	out := string(b)
	if base, ok := device(out); ok {
		out = base + "-" + out[len(base):]
	}
	if len(out) > most {
		out = cut(out, digest(element), most-numberBytes)
	}
	return out
}

// digest returns eight hexadecimal digits of the SHA-256 of a name that is cut.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// cut returns the beginning of a name, a mark and the name's extension.
func cut(name, mark string, most int) string {
	ext := extension(name)
	name = strings.TrimSuffix(name, ext)
	end := max(0, min(len(name), most-len(ext)-len(mark)-1))
	for end > 0 && end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "-" + mark + ext
}

// extension does what path.Ext does, but takes a long ending as a part of the name.
func extension(name string) string {
	if ext := path.Ext(name); len(ext) > 1 && len(ext) <= 16 && len(ext) < len(name) {
		return ext
	}
	return ""
}

// Numbered returns p if it is free. Otherwise it adds the first free number before the
// extension: a-2.png, a-3.png and so on. If page is set, p is the address of a page and
// has no extension.
func Numbered(p string, page bool, taken func(string) bool) string {
	if !taken(p) {
		return p
	}
	ext := ""
	if !page {
		ext = extension(path.Base(p))
	}
	stem := strings.TrimSuffix(p, ext)
	for n := 2; ; n++ {
		if next := stem + "-" + strconv.Itoa(n) + ext; !taken(next) {
			return next
		}
	}
}

// Fold returns the form of a name that case-insensitive file systems compare. Names that
// differ only by case have the same form.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(s))
		}
	}
	return strings.ToLower(s)
}
