package admin

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// What callers may write, as regular expressions that the API's document
// repeats word for word.
const (
	// DomainPattern: a host name in ASCII, lower case, without port and
	// trailing dot, whose last label begins with a letter (else it would read
	// as an IP address). Labels are those of RFC 1123.
	DomainPattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`
	// VersionPattern: what may be part of a file name, a tag of a container
	// image and a chart value.
	VersionPattern = `^[A-Za-z0-9][A-Za-z0-9._-]*$`
	// PathPattern: elements separated by single slashes, one before and after
	// if you like; what would end a path in a URL, or break a line of a log,
	// may not be in it.
	PathPattern = `^/?[^/?#\\\x00-\x1f\x7f]+(/[^/?#\\\x00-\x1f\x7f]+)*/?$`
	// GroupPattern: what a site's author may call a group of readers, without
	// control characters and without spaces at its ends.
	GroupPattern = `^[^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?$`
	// SnapshotPattern is the form of snapshot ids.
	SnapshotPattern = `^snp_[0-9a-z]+$`
	// DigestPattern is a SHA-256 in lower-case hex.
	DigestPattern = `^[0-9a-f]{64}$`
	// IdempotencyPattern: visible ASCII.
	IdempotencyPattern = `^[\x21-\x7e]+$`
)

// Limits on what callers may write, in characters and items.
const (
	MaxDomain         = 253 // RFC 1035
	MaxVersion        = 64
	MaxPath           = 256
	MaxPaths          = 64
	MaxGroup          = 128
	MaxGroups         = 32
	MaxID             = 64
	MaxIdempotencyKey = 255
)

var (
	domainForm      = lazy.Regexp(DomainPattern)
	versionForm     = lazy.Regexp(VersionPattern)
	pathForm        = lazy.Regexp(PathPattern)
	groupForm       = lazy.Regexp(GroupPattern)
	snapshotForm    = lazy.Regexp(SnapshotPattern)
	digestForm      = lazy.Regexp(DigestPattern)
	idempotencyForm = lazy.Regexp(IdempotencyPattern)
)

// CheckDomain returns CodeInvalid for a domain that is not as callers of the API
// must write it.
func CheckDomain(field, domain string) error {
	switch {
	case domain == "":
		return FieldErrorf(field, "is empty")
	case len(domain) <= MaxDomain && domainForm().MatchString(domain):
		return nil
	case strings.HasSuffix(domain, "."):
		return FieldErrorf(field, "must not end with a dot")
	case strings.Contains(domain, "/"):
		return FieldErrorf(field, "must be a host name alone, without scheme and path")
	case strings.Contains(domain, ":"):
		return FieldErrorf(field, "must have no port")
	case strings.ToLower(domain) != domain:
		return FieldErrorf(field, "must be lower case")
	}
	if !isASCII(domain) {
		if ascii, err := idna.Lookup.ToASCII(domain); err == nil && len(ascii) <= MaxDomain && domainForm().MatchString(ascii) {
			return FieldErrorf(field, "must be in its ASCII form: %s", ascii)
		}
	}
	return FieldErrorf(field, "must be a host name of at most %d characters", MaxDomain)
}

// NormalDomain returns the ASCII form of a domain that an operator wrote, or
// an error that names the field. It is stricter than CheckDomain: what a
// project owns must be valid IDNA too.
func NormalDomain(field, domain string) (string, error) {
	ascii := domain
	if !isASCII(domain) && strings.ToLower(domain) == domain {
		a, err := idna.Lookup.ToASCII(domain)
		if err != nil {
			return "", FieldErrorf(field, "is not a valid international domain name").Wrap(err)
		}
		ascii = a
	}
	if err := CheckDomain(field, ascii); err != nil {
		return "", err
	}
	if _, err := idna.Lookup.ToUnicode(ascii); err != nil {
		return "", FieldErrorf(field, "is not a valid international domain name").Wrap(err)
	}
	return ascii, nil
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkVersion checks a label for an export.
func checkVersion(field, version string) error {
	if len(version) > MaxVersion || !versionForm().MatchString(version) {
		return FieldErrorf(field, "must be 1 to %d letters, digits, dots, hyphens and underscores, the first a letter or a digit", MaxVersion)
	}
	return nil
}

// NormalPaths checks path prefixes and returns them in the one form that
// counts: sorted, each once, without slashes at the ends. It returns CodeInvalid
// for what is not a path, with the field's name and its place in the list.
func NormalPaths(field string, paths []string) ([]string, error) {
	if len(paths) > MaxPaths {
		return nil, FieldErrorf(field, "must be at most %d paths", MaxPaths)
	}
	var normal []string
	for i, p := range paths {
		name := indexed(field, i)
		switch {
		case !utf8.ValidString(p):
			return nil, FieldErrorf(name, "is not valid UTF-8")
		case utf8.RuneCountInString(p) > MaxPath:
			return nil, FieldErrorf(name, "must be at most %d characters", MaxPath)
		case slices.Contains(strings.Split(p, "/"), ".."):
			return nil, FieldErrorf(name, `must not have ".." as an element`)
		case !pathForm().MatchString(p):
			return nil, FieldErrorf(name, `must be a path such as "/guides", without query, fragment, backslash or control character`)
		}
		normal = append(normal, strings.Trim(p, "/"))
	}
	slices.Sort(normal)
	return slices.Compact(normal), nil
}

// normalGroups checks names of groups of readers and returns them in the one form
// that counts: sorted, each once. Cases are told apart.
func normalGroups(field string, groups []string) ([]string, error) {
	if len(groups) > MaxGroups {
		return nil, FieldErrorf(field, "must be at most %d groups", MaxGroups)
	}
	for i, g := range groups {
		name := indexed(field, i)
		switch {
		case !utf8.ValidString(g):
			return nil, FieldErrorf(name, "is not valid UTF-8")
		case utf8.RuneCountInString(g) > MaxGroup:
			return nil, FieldErrorf(name, "must be at most %d characters", MaxGroup)
		case !groupForm().MatchString(g):
			return nil, FieldErrorf(name, `must be a name such as "staff", without control characters, and without spaces at its ends`)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(groups))), nil
}

// validID reports whether an id from a request has a valid form; one that has not
// is simply not found.
func validID(id string) bool {
	return id != "" && len(id) <= MaxID && strings.Trim(id, base62+"_-") == ""
}
