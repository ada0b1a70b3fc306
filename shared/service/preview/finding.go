package preview

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/check"
)

// maxExcerpt is how many bytes of a line are shown.
const maxExcerpt = 240

// Finding is a finding with the line that it is about.
type Finding struct {
	check.Finding
	// Excerpt is the line, "" if it is not known.
	Excerpt string `json:"excerpt,omitempty"`
}

// findingOf adds its line to a finding.
func findingOf(f check.Finding, line func(file string, line int) string) Finding {
	out := Finding{Finding: f}
	if f.Line > 0 {
		out.Excerpt = line(f.File, f.Line)
		out.Column = check.InRunes(out.Excerpt, f.Column)
		if len(out.Excerpt) > maxExcerpt {
			out.Excerpt = strings.ToValidUTF8(out.Excerpt[:maxExcerpt], "") + "…"
		}
	}
	return out
}

// lines returns what reads lines of files. It keeps the last file, as findings come
// file by file.
func lines(files fs.FS) func(file string, line int) string {
	var name string
	var have []string
	return func(file string, line int) string {
		if file != name {
			name, have = file, nil
			if info, err := fs.Stat(files, file); err == nil && info.Size() <= check.MaxPageBytes {
				data, _ := fs.ReadFile(files, file)
				have = strings.Split(string(data), "\n")
			}
		}
		if line < 1 || line > len(have) {
			return ""
		}
		return strings.TrimSuffix(have[line-1], "\r")
	}
}

// onPage returns those of the findings of all pages that are about one of these files.
func onPage(all []check.Finding, sources []string) []check.Finding {
	var out []check.Finding
	for _, f := range all {
		if slices.Contains(sources, f.File) {
			out = append(out, f)
		}
	}
	return out
}
