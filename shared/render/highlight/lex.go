package highlight

import "strings"

// lexer walks over code once and puts each byte into a class. The lexers of the
// commonest languages build on it; they read code as bytes, guess where only a
// parser could know, and never fail: what they don't understand is plain.
//
// A lexer moves forward only. What it reads ahead for its guesses is counted,
// and bounded for each guess and for the whole code (see reach), so the work is
// linear in the length of the code, whatever it is.
type lexer struct {
	code   string
	pos    int // all bytes in front have their class
	runs   []Run
	looked int // bytes that were read ahead
	most   int // how many of those there may be
}

// lexFunction returns the runs of code, and how many bytes were read for that.
type lexFunction func(code string) (runs []Run, steps int)

// maxAhead is how many bytes a lexer reads ahead for one guess, and aheadFactor
// how many times the length of the code for all of them, which is ten times
// what the code of real sites needs.
const (
	maxAhead    = 400
	aheadFactor = 30
)

// maxDepth is the maximum nesting of brackets, templates, substitutions and
// elements that a lexer distinguishes; deeper nesting is read as the enclosing
// construct.
const maxDepth = 200

func newLexer(code string) lexer {
	const bytesARun = 6 // in code of real sites
	return lexer{code: code, runs: make([]Run, 0, len(code)/bytesARun+4), most: aheadFactor*len(code) + maxAhead}
}

// reach returns how far code may be read ahead from i for one guess: at most some
// bytes, and none once all guesses together took too many.
func (l *lexer) reach(i, bytes int) int {
	return min(len(l.code), i+min(bytes, max(0, l.most-l.looked)))
}

// commentEnd returns the end of the comment that begins with two bytes at the
// position and ends with "*/".
func (l *lexer) commentEnd() int {
	if n := strings.Index(l.code[l.pos+2:], "*/"); n >= 0 {
		return l.pos + 2 + n + 2
	}
	return len(l.code)
}

// put puts the bytes up to end into a class.
func (l *lexer) put(class Class, end int) {
	end = min(end, len(l.code))
	if end <= l.pos {
		return
	}
	if n := len(l.runs); n > 0 && l.runs[n-1].Class == class {
		l.runs[n-1].End = end
	} else {
		l.runs = append(l.runs, Run{class, l.pos, end})
	}
	l.pos = end
}

// at returns the byte at i, 0 outside of the code.
func (l *lexer) at(i int) byte {
	if i >= 0 && i < len(l.code) {
		return l.code[i]
	}
	return 0
}

// has reports whether code continues with text at i.
func (l *lexer) has(i int, text string) bool {
	return i <= len(l.code) && strings.HasPrefix(l.code[i:], text)
}

// wordEnd returns the end of the word that begins at i, to be put.
func (l *lexer) wordEnd(i int) int {
	for i < len(l.code) && isWord(l.code[i]) {
		i++
	}
	return i
}

// skipWord returns the end of the word that begins at i, for a guess.
func (l *lexer) skipWord(i int) int {
	from := i
	for end := l.reach(i, maxAhead); i < end && isWord(l.code[i]); i++ {
	}
	l.looked += i - from
	return i
}

// lineEnd returns the place of the next line feed, or the end.
func (l *lexer) lineEnd(i int) int {
	if n := strings.IndexByte(l.code[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(l.code)
}

// skipSpace returns the place of the next byte that is not white space, at most
// maxAhead bytes away.
func (l *lexer) skipSpace(i int) int {
	from := i
	for end := l.reach(i, maxAhead); i < end && isSpace(l.code[i]); i++ {
	}
	l.looked += i - from
	return i
}

// skipBlank is skipSpace on one line.
func (l *lexer) skipBlank(i int) int {
	from := i
	for end := l.reach(i, maxAhead); i < end && (l.code[i] == ' ' || l.code[i] == '\t'); i++ {
	}
	l.looked += i - from
	return i
}

// quoted returns the end of a string that begins at i with a quote and ends with
// the same one, or in front of the line's end. A backslash takes the byte
// after it along, even a line feed.
func (l *lexer) quoted(i int) int {
	quote := l.code[i]
	for i++; i < len(l.code); i++ {
		switch l.code[i] {
		case quote:
			return i + 1
		case '\\':
			i++
		case '\n':
			return i
		}
	}
	return len(l.code)
}

func (l *lexer) done() ([]Run, int) {
	l.put(Plain, len(l.code))
	return l.runs, len(l.code) + l.looked
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordStart reports whether a name may begin with c. Characters beyond ASCII
// count as letters.
func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func isWord(c byte) bool { return isWordStart(c) || isDigit(c) }

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
