package serve

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// want is what a bundle must be.
type want struct {
	version string // "" for any
	// number: version was written as a number. YAML does not keep how it was written:
	// 1.10 is 1.1. So every version that YAML reads as that number will do.
	number bool
	digest string // "" for any
}

func (w want) pinned() bool { return w.version != "" || w.digest != "" }

func (w want) takes(r record) bool {
	return w.takesVersion(r.Version) && (w.digest == "" || w.digest == r.Digest)
}

// takesVersion reports whether a bundle of that version is wanted.
func (w want) takesVersion(is string) bool {
	if w.version == "" || w.version == is {
		return true
	}
	if !w.number {
		return false
	}
	a, ok := yamlNumber(w.version)
	b, also := yamlNumber(is)
	return ok && also && a == b
}

// wrongVersion says that a bundle is not the pinned one.
func (w want) wrongVersion(is string) error {
	if w.number {
		return &Error{Code: CodeVersion, Message: fmt.Sprintf("the bundle has version %q, but the number %s was requested", is, w.version),
			Advice: "Set the version to that of the bundle, in quotes, or the link to a bundle of that version"}
	}
	return &Error{Code: CodeVersion, Message: fmt.Sprintf("the bundle has version %q, but %q was requested", is, w.version),
		Advice: "Set the version to that of the bundle, or the link to a bundle of that version"}
}

var yamlFloat = regexp.MustCompile(`^(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// yamlNumber returns the number that Helm's reader of YAML takes a plain text for: 012 is
// ten, 0x10 sixteen, 1_000 a thousand. A text of which it may not keep every digit (more
// than 15 of them) is no number here: two such texts may be one number.
func yamlNumber(text string) (float64, bool) {
	plain := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return float64(n), n < 1<<53
	}
	if !yamlFloat.MatchString(plain) {
		return 0, false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(plain), "e")
	digits := strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0")
	n, err := strconv.ParseFloat(plain, 64)
	return n, err == nil && len(digits) <= 15
}
