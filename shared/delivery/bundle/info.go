package bundle

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

// Names that a bundle keeps for itself.
const (
	InfoPath        = "bindery.json"
	FilesPath       = "bindery/files.jsonl"
	DiagnosticsPath = "bindery/diagnostics.jsonl"
)

// Format is the newest version of the bundle's form. A bundle has the oldest one
// that can describe it, so that servers of before can read it: FormatOf.
const Format = 2

// FormatOf returns the version of the form that a description needs: 2 where it
// has groups, else 1.
func FormatOf(info *Info) int {
	if len(info.Groups) > 0 {
		return 2
	}
	return 1
}

// File is one line of the list of files.
type File struct {
	Path string `json:"path"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// SHA256 is the digest in lower-case hex.
	SHA256 string `json:"sha256"`
}

// AppendLine adds the file's line, with a line feed, to dst.
func (f File) AppendLine(dst []byte) []byte {
	dst = append(dst, `{"path":`...)
	dst = appendJSONString(dst, f.Path)
	dst = append(dst, `,"size":`...)
	n := f.Size
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			break
		}
	}
	dst = append(dst, digits[i:]...)
	dst = append(dst, `,"sha256":"`...)
	dst = append(dst, f.SHA256...)
	return append(dst, "\"}\n"...)
}

// appendJSONString adds s in quotes.
func appendJSONString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			b, err := json.Marshal(s)
			if err != nil {
				return append(dst, `""`...)
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// Info is the description of a bundle, bindery.json.
type Info struct {
	// Format is the version of the format: FormatOf the description.
	Format int `json:"format"`
	// Domain is what the site was published under, Name what it calls itself.
	Domain string `json:"domain"`
	Name   string `json:"name"`
	// Version is the export's version: its label, or its snapshot's id.
	Version  string `json:"version"`
	Snapshot string `json:"snapshot"`
	// Renderer is the digest of the program that rendered.
	Renderer string `json:"renderer"`
	// Deployment is the kind of deployment that the bundle was made for, and
	// Features reports for each feature whether that kind and the project's
	// Settings allow it. Settings has those that are not the defaults.
	Deployment string          `json:"deployment,omitempty"`
	Features   map[string]bool `json:"features,omitempty"`
	Settings   json.RawMessage `json:"settings,omitempty"`
	// Paths are the address prefixes that the export was limited to.
	Paths []string `json:"paths,omitempty"`
	// Groups are the groups of readers whose pages the export let in, sorted.
	// Format 1 has none.
	Groups []string `json:"groups,omitempty"`
	// Pages is the number of pages. Files is the number of files in the list
	// of files, and Bytes their size together, uncompressed.
	Pages int   `json:"pages"`
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Diagnostics counts the lines of that list by severity.
	Diagnostics Counts `json:"diagnostics"`
	// Cut reports that the clock or a fault of ours cost the bundle something that
	// another export of the same may have; a finding says what. It is never reused.
	Cut bool `json:"cut,omitempty"`
	// CleanAddresses reports that canonical addresses have no ".html".
	CleanAddresses bool `json:"cleanAddresses"`
	// Sources are what a content security policy must allow besides 'self',
	// by directive.
	Sources map[string][]string `json:"contentSecurityPolicy,omitempty"`
	// Remote describes which files of other hosts the bundle was made with; nil
	// where none could be fetched.
	Remote *RemoteInfo `json:"remote,omitempty"`
	// Redirects are those that a server can answer; exact ones are also
	// pages of the bundle.
	Redirects []Redirect `json:"redirects,omitempty"`
	// FileList and DiagnosticList say what the two lists must be.
	FileList       ListInfo `json:"fileList"`
	DiagnosticList ListInfo `json:"diagnosticList"`
}

// ParseInfo reads a description strictly: each field under its own name, once,
// and none that this program does not know. The error is an *Error: Unknown
// where the format is a newer one, else Corrupt.
func ParseInfo(text []byte) (*Info, error) {
	var info Info
	err := basejson.Unmarshal(text, &info)
	if err == nil {
		return &info, nil
	}
	var head struct {
		Format int `json:"format"`
	}
	if basejson.UnmarshalKnown(text, &head) == nil && head.Format > Format {
		return nil, unknownFormat(head.Format)
	}
	return nil, &Error{Fault: Corrupt, Path: InfoPath, Message: "the description can't be read", Err: err}
}

func unknownFormat(format int) *Error {
	return &Error{Fault: Unknown, Path: InfoPath, Message: fmt.Sprintf("the bundle has format %d, this program knows %d", format, Format)}
}

// Counts is the number of diagnostics of each severity.
type Counts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notices  int `json:"notices"`
	Infos    int `json:"infos"` // 0 in bundles of older releases, which counted them as notices
}

// Redirect leads from a path (patterns have ":name", ":name*" and "*") to a
// path or an absolute address.
type Redirect struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Permanent bool   `json:"permanent,omitempty"`
}

// RemoteInfo lists the hosts from which an export was allowed to fetch files.
type RemoteInfo struct {
	// Hosts are their names, as the project allows them.
	Hosts []string `json:"hosts"`
	// SHA256 is the digest of all that was fetched and of what could not be;
	// empty where nothing was asked for.
	SHA256 string `json:"sha256,omitempty"`
}

// ListInfo is the size and the digest of a list.
type ListInfo struct {
	Size   int64  `json:"size"`   // in bytes
	SHA256 string `json:"sha256"` // lower-case hex
}

// unsafeName returns why a name must not be in a bundle, or "".
func unsafeName(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case len(name) > maxName:
		return "the name is too long"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case strings.HasPrefix(name, "/"):
		return "the name is absolute"
	case strings.Contains(name, `\`) || hasDrive(name):
		return "the name has a backslash or a drive"
	}
	for _, r := range name {
		if r < 0x20 || r == 0x7f {
			return "the name has control characters"
		}
	}
	for e := range strings.SplitSeq(name, "/") {
		if e == "" || e == "." || e == ".." {
			return "the name has an empty element or dots"
		}
	}
	return ""
}

// hasDrive reports names such as "C:x", which Windows takes for another disk.
func hasDrive(name string) bool {
	return len(name) > 1 && name[1] == ':'
}
