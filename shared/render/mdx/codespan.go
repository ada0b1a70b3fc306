package mdx

import "strings"

// runIndex holds where the last run of every length begins.
type runIndex struct {
	ready bool
	last  map[int]int
	short [8]int
}

func (x *runIndex) build(p *parser, s string, sign byte) {
	x.ready = true
	x.short = [8]int{}
	clear(x.last)
	for i := 0; i < len(s); {
		k := strings.IndexByte(s[i:], sign)
		if k < 0 {
			break
		}
		i += k
		start := i
		for i < len(s) && s[i] == sign {
			i++
		}
		if n := i - start; n < len(x.short) {
			x.short[n] = start + 1
		} else {
			if x.last == nil {
				x.last = make(map[int]int)
			}
			x.last[n] = start + 1
		}
	}
	p.steps += len(s)
}

func (x *runIndex) after(n, i int) bool {
	if n < len(x.short) {
		return x.short[n] > i
	}
	return x.last[n] > i
}

// code reads `code` or $$math$$ at i. Where there is none, the run of signs is
// text, and the offset after it is returned.
func (p *parser) code(in *inliner, from, i int) (int, bool) {
	s, sign := in.s, in.s[i]
	open := i
	for i < len(s) && s[i] == sign {
		i++
	}
	size := i - open
	index := &in.ticks
	kind := InlineCode
	if sign == '$' {
		index, kind = &in.dollars, InlineMath
		if p.Dollars == NoDollars {
			return i, false
		}
		if size < 2 {
			return p.singleDollars(in, from, open)
		}
	}
	p.steps += size
	if !index.ready {
		index.build(p, s, sign)
	}
	if !index.after(size, i) {
		return i, false
	}
	for k := i; ; {
		n := strings.IndexByte(s[k:], sign)
		if n < 0 {
			return i, false
		}
		k += n
		start := k
		for k < len(s) && s[k] == sign {
			k++
		}
		p.steps += k - start + n
		if k-start != size {
			continue
		}
		in.text(from, open)
		node := p.node(kind, 0)
		node.Value = p.codeValue(s[i:start], in.table && kind == InlineCode)
		p.pushNode(in, node, open, k)
		return k, true
	}
}

// maxSingle bounds, in bytes, how far the sign that closes a single dollar is
// looked for.
const maxSingle = 500

// singleDollars reads $math$ at open, where the site has that.
func (p *parser) singleDollars(in *inliner, from, open int) (int, bool) {
	s, start := in.s, open+1
	if p.Dollars == DoubleDollars || start >= len(s) || isSpaceOrEOL(s[start]) || s[start] == '{' {
		return start, false
	}
	end := -1
	limit := min(len(s), start+maxSingle)
	for k := start; k < limit && end < 0; k++ {
		p.steps++
		switch s[k] {
		case '\\':
			k++
		case '$':
			end = k
		}
	}
	if end <= start || isSpaceOrEOL(s[end-1]) || end+1 < len(s) && s[end+1] == '$' || holdsMarkup(s[start:end]) {
		return start, false
	}
	sure := hasTeX(s[start:end])
	switch after := s[end+1:]; {
	case after != "" && isDigit(after[0]) && !sure:
		return start, false
	case p.Dollars == SingleDollars:
	case open > 0 && isAlnum(s[open-1]) || !sure && !isMath(s[start:end]):
		return start, false
	case after != "" && isAlnum(after[0]) && !sure && !hasEnding(after):
		return start, false
	}
	in.text(from, open)
	node := p.node(InlineMath, 0)
	node.Value = p.codeValue(s[start:end], false)
	p.pushNode(in, node, open, end+1)
	return end + 1, true
}

// holdsMarkup reports whether the text between two dollars has code, a tag, or a name of a
// template such as \{id}. Then the dollars don't enclose a formula.
func holdsMarkup(s string) bool {
	// The braces of a set are both escaped.
	k := strings.IndexByte(s, '}')
	if strings.HasPrefix(s, `\{`) && k > 0 && s[k-1] != '\\' || strings.IndexByte(s, '`') >= 0 {
		return true
	}
	for {
		_, rest, ok := strings.Cut(s, "<")
		if !ok {
			return false
		}
		if isTagEnd(rest) {
			return true
		}
		s = rest
	}
}

// isTagEnd reports whether what follows a less-than sign makes it a tag, which has a
// name, and then its end or an attribute with a value: <b>, </code>, <a href="x">, but not
// x<y or i<n, m>k.
func isTagEnd(s string) bool {
	s = strings.TrimPrefix(s, "/")
	if s == "" || !isAlpha(s[0]) {
		return strings.HasPrefix(s, ">")
	}
	name := func() {
		s = strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-")
	}
	name()
	s = strings.TrimLeft(s, " \t\n")
	if strings.HasPrefix(s, ">") || strings.HasPrefix(s, "/>") {
		return true
	}
	before := len(s)
	name()
	return len(s) < before && strings.HasPrefix(s, "=") && len(s) > 1 && strings.IndexByte(`"'{`, s[1]) >= 0
}

// hasTeX reports whether a text has signs of TeX that prices, names of variables and
// templates have not: a command, or an index or exponent in braces.
func hasTeX(s string) bool {
	for i := 0; i < len(s)-1; i++ {
		switch s[i] {
		case '\\':
			if isAlpha(s[i+1]) {
				return true
			}
		case '^', '_':
			if s[i+1] == '{' {
				return true
			}
		}
	}
	return false
}

// isMath distinguishes other formulas from what may stand between two prices or two
// names: they have a sign of TeX, an exponent, an index or a relation, or no word but those of functions.
func isMath(s string) bool {
	digit := isDigit(s[0])
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '^':
			return true
		case '=', '<', '>':
			if !digit {
				return true
			}
		case '_': // x_1, but not HOME_DIR
			if i > 0 && (s[i-1] == '\'' || s[i-1] == ')' || isAlpha(s[i-1]) && (i == 1 || !isAlnum(s[i-2]) && s[i-2] != '_')) {
				return true
			}
		}
	}
	for i := 0; i < len(s); i++ {
		if !isAlpha(s[i]) {
			if !isDigit(s[i]) && strings.IndexByte(" \n+-*/!|,.:;()[]'=<>", s[i]) < 0 {
				return false
			}
			continue
		}
		begin := i
		for i+1 < len(s) && isAlpha(s[i+1]) {
			i++
		}
		switch s[begin : i+1] {
		case "log", "ln", "exp", "sin", "cos", "tan", "max", "min", "mod", "gcd", "lim":
		default:
			if i > begin {
				return false
			}
		}
	}
	return true
}

// hasEnding reports whether a text begins with what is written after a formula to make it
// an ordinal or a plural.
func hasEnding(s string) bool {
	for _, ending := range [...]string{"th", "st", "nd", "rd", "s"} {
		if rest, ok := strings.CutPrefix(s, ending); ok && (rest == "" || !isAlnum(rest[0])) {
			return true
		}
	}
	return false
}

// codeValue is the content of a code span: on one line, and without the one
// space that may pad it on both sides.
func (p *parser) codeValue(s string, table bool) string {
	if strings.IndexByte(s, '\n') >= 0 {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		s = s[1 : len(s)-1]
	}
	if table && strings.Contains(s, `\|`) {
		s = unescapePipes(s)
	}
	return s
}

// unescapePipes resolves \| but leaves \\ as it is, which may stand before a
// pipe that is not an escape.
func unescapePipes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '|':
				b.WriteByte('|')
				i++
				continue
			case '\\':
				b.WriteString(`\\`)
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
