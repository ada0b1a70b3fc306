package tool

import (
	"fmt"
	"regexp"
	"strings"
)

// globHelp describes patterns to models.
const globHelp = "A file, a folder, or a pattern: * is any text within a name, ** also across folders, {a,b} is either."

// compileGlob compiles a pattern of paths. Without wildcards it is a file, or a folder
// with everything in it; "" matches all paths. It refuses paths outside the site's
// folder.
func compileGlob(pattern string) (match func(p string) bool, err error) {
	if isOutside(pattern) {
		return nil, errOutside(pattern)
	}
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	if !strings.ContainsAny(pattern, "*?{") {
		folder := strings.TrimSuffix(pattern, "/")
		return func(p string) bool {
			return folder == "" || folder == "." || p == folder || strings.HasPrefix(p, folder+"/")
		}, nil
	}
	if len(pattern) > 1000 {
		return nil, fmt.Errorf("the pattern has %d bytes; the limit is 1000", len(pattern))
	}
	var b strings.Builder
	b.WriteString(`^(?s:`)
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '{':
			b.WriteString(`(?:`)
			depth++
		case c == '}' && depth > 0:
			b.WriteString(`)`)
			depth--
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(strings.Repeat(")", depth) + `)$`)
	re, err := regexp.Compile(strings.ToValidUTF8(b.String(), "\ufffd"))
	if err != nil {
		return nil, fmt.Errorf("%.200q is not a pattern of paths", pattern)
	}
	// A pattern without a folder matches files in all folders.
	if !strings.Contains(pattern, "/") {
		return func(p string) bool { return re.MatchString(p) || re.MatchString(p[strings.LastIndexByte(p, '/')+1:]) }, nil
	}
	return re.MatchString, nil
}
