package mdx

import "strings"

// SplitFrontMatter finds the YAML block between the two --- lines that may open
// a source, without parsing what follows. yaml is empty without a block; body is
// where the Markdown begins.
func SplitFrontMatter[T string | []byte](s T) (yaml T, body Pos) {
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
		return yaml, none
	}
	for i, line := start, 2; i < len(s); line++ {
		end, next := lineAt(i)
		if isFence(i, end) {
			body := Pos{Offset: next, Line: line + 1, Column: 1}
			if next == end {
				body.Line, body.Column = line, end-i+1
			}
			return s[start:i], body
		}
		i = next
	}
	return yaml, none
}
