package mdx

import "strings"

// FrontMatter is the YAML block between the two --- lines that may open a
// file.
type FrontMatter struct {
	// Raw is the YAML source without the --- lines; empty when there is none.
	Raw string
	// Pos is where Raw begins; the zero Pos without a block.
	Pos Pos
}

// SplitFrontMatter finds the YAML block at the head of a source without
// parsing what follows. yaml is nil when there is none; body is where the
// Markdown begins.
func SplitFrontMatter(src []byte) (yaml []byte, body Pos) {
	// The block is short and the body long: look at no more than needed.
	fm, body := splitFrontMatter(src)
	if fm.Pos.Line == 0 {
		return nil, body
	}
	return src[fm.Pos.Offset : fm.Pos.Offset+len(fm.Raw)], body
}

func splitFrontMatter[T string | []byte](s T) (FrontMatter, Pos) {
	base := 0
	if len(s) >= 3 && string(s[:3]) == "\ufeff" {
		base = 3
	}
	none := Pos{Offset: base, Line: 1, Column: 1}
	// lineAt returns where the line that begins at i ends and the next begins.
	lineAt := func(i int) (end, next int) {
		for end = i; end < len(s) && s[end] != '\n' && s[end] != '\r'; end++ {
		}
		switch {
		case end+1 < len(s) && s[end] == '\r' && s[end+1] == '\n':
			return end, end + 2
		case end < len(s):
			return end, end + 1
		}
		return end, end
	}
	isFence := func(from, to int) bool {
		return to-from >= 3 && s[from] == '-' && strings.TrimRight(string(s[from:to]), " \t") == "---"
	}
	end, start := lineAt(base)
	if !isFence(base, end) || start == end {
		return FrontMatter{}, none
	}
	for i, line := start, 2; i < len(s); line++ {
		end, next := lineAt(i)
		if isFence(i, end) {
			body := Pos{Offset: next, Line: line + 1, Column: 1}
			if next == end {
				body.Line, body.Column = line, end-i+1
			}
			return FrontMatter{Raw: string(s[start:i]), Pos: Pos{Offset: start, Line: 2, Column: 1}}, body
		}
		i = next
	}
	return FrontMatter{}, none
}
