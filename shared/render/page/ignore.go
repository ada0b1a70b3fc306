package page

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Ignore is a comment by which an author silences findings about one line:
// {/* bindery-ignore link-missing: the page comes with the next release */}
type Ignore struct {
	// File, Line and Column are where the comment begins.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// For is the line that it is about: its own, or the next one with a text if
	// nothing else is on its own.
	For int `json:"for"`
	// Text is what follows the word bindery-ignore.
	Text string `json:"text,omitempty"`
}

const ignoreWord = "bindery-ignore"

var (
	ignoreBraces = lazy.Regexp(`(?s)\{\s*/\*\s*` + ignoreWord + `(?:\s(.*?))?\*/\s*\}`)
	ignoreHTML   = lazy.Regexp(`(?s)<!--\s*` + ignoreWord + `(?:\s(.*?))?-->`)
)

// ignoresIn returns the comments of a source that silence findings. What code
// shows is not a comment.
func ignoresIn(name string, src []byte, root *mdx.Node) []Ignore {
	if !bytes.Contains(src, []byte(ignoreWord)) {
		return nil
	}
	var code []*mdx.Node
	mdx.Walk(root, func(n *mdx.Node) bool {
		if n.Kind == mdx.CodeBlock || n.Kind == mdx.InlineCode {
			code = append(code, n)
		}
		return true
	})
	found := ignoreBraces().FindAllSubmatchIndex(src, -1)
	if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".markdown" {
		found = append(found, ignoreHTML().FindAllSubmatchIndex(src, -1)...)
	}
	var list []Ignore
	for _, m := range found {
		from, to := m[0], m[1]
		if slices.ContainsFunc(code, func(n *mdx.Node) bool { return n.Pos.Offset <= from && from < n.End.Offset }) {
			continue
		}
		start := bytes.LastIndexByte(src[:from], '\n') + 1
		i := Ignore{File: name, Line: 1 + bytes.Count(src[:from], []byte("\n")), Column: from - start + 1}
		i.For = i.Line
		if m[2] >= 0 {
			i.Text = cutText(strings.TrimSpace(string(src[m[2]:m[3]])), maxMessage)
		}
		rest, _, _ := bytes.Cut(src[to:], []byte("\n"))
		if len(bytes.TrimSpace(src[start:from])) == 0 && len(bytes.TrimSpace(rest)) == 0 {
			i.For = lineOfText(src, to)
		}
		if list = append(list, i); len(list) == maxDiagnostics {
			break
		}
	}
	return list
}

// lineOfText returns the number of the first line after an offset that has a text.
func lineOfText(src []byte, after int) int {
	white := len(src[after:]) - len(bytes.TrimLeft(src[after:], " \t\r\n"))
	return 1 + bytes.Count(src[:after+white], []byte("\n"))
}
