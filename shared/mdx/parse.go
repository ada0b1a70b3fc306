package mdx

import "strings"

// File is one parsed MDX source.
type File struct {
	// Root is the Document node; blocks are its children.
	Root *Node
	// FrontMatter is the YAML block at the head of the file.
	FrontMatter FrontMatter
}

// FrontMatter is the YAML block between the two --- lines that may open a
// file.
type FrontMatter struct {
	// Raw is the YAML source without the --- lines; empty when there is none.
	Raw string
	// Pos is where Raw begins; the zero Pos when there is no block.
	Pos Pos
}

// SplitFrontMatter finds the YAML block at the head of a source without
// parsing what follows. yaml is nil when there is none; body is where the
// Markdown begins.
func SplitFrontMatter(src []byte) (yaml []byte, body Pos) {
	fm, body := splitFrontMatter(string(src))
	if fm.Pos.Line == 0 {
		return nil, body
	}
	return src[fm.Pos.Offset : fm.Pos.Offset+len(fm.Raw)], body
}

func splitFrontMatter(s string) (FrontMatter, Pos) {
	base := 0
	if strings.HasPrefix(s, "\ufeff") {
		base = 3
	}
	none := Pos{Offset: base, Line: 1, Column: 1}
	lineAt := func(i int) (text string, next int) {
		end := i
		for end < len(s) && s[end] != '\n' && s[end] != '\r' {
			end++
		}
		next = end
		switch {
		case strings.HasPrefix(s[end:], "\r\n"):
			next = end + 2
		case end < len(s):
			next = end + 1
		}
		return s[i:end], next
	}
	isFence := func(t string) bool { return strings.TrimRight(t, " \t") == "---" }
	first, start := lineAt(base)
	if !isFence(first) || start == base+len(first) {
		return FrontMatter{}, none
	}
	for i, line := start, 2; i < len(s); line++ {
		text, next := lineAt(i)
		if isFence(text) {
			raw := s[start:i]
			body := Pos{Offset: next, Line: line + 1, Column: 1}
			if next == i+len(text) {
				body.Line, body.Column = line, len(text)+1
			}
			return FrontMatter{Raw: raw, Pos: Pos{Offset: start, Line: 2, Column: 1}}, body
		}
		i = next
	}
	return FrontMatter{}, none
}
