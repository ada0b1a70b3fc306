package highlight

import (
	"strings"
	"sync"
)

// wordLanguage is a language that chroma lacks. Its comments, strings, numbers and words
// are coloured.
type wordLanguage struct {
	comments []string // what begins a comment up to the end of the line
	lineOnly bool     // and only at the beginning of a line
	blocks   bool     // comments stand between /* and */ too
	quotes   string
	// keywords and constants, apart by spaces, in lower case: words are theirs
	// in any case.
	keywords, constants string
	// pipes: a word behind "|" is a keyword.
	pipes bool

	once sync.Once
	sets [2]map[string]bool
}

var (
	cypher = &wordLanguage{comments: []string{"//"}, blocks: true, quotes: "\"'`",
		keywords: "all and as asc ascending by call case constraint contains create delete desc descending detach distinct drop else end ends exists " +
			"foreach from in index is limit load csv match merge not on optional or order remove return set skip starts then union unique unwind use using when where with xor yield",
		constants: "true false null"}
	kusto = &wordLanguage{comments: []string{"//"}, quotes: "\"'", pipes: true,
		keywords: "and as asc between by contains count datatable desc distinct evaluate extend externaldata false find fork from has has_all has_any in invoke join kind let " +
			"limit lookup make-series materialize mv-apply mv-expand not on or order parse partition print project project-away range render sample scan search serialize " +
			"set sort startswith step summarize take to toscalar top union where with matches regex endswith",
		constants: "true false null"}
	splunk = &wordLanguage{quotes: "\"`", pipes: true,
		keywords: "and as by in not or over output outputnew where from groupby", constants: "true false null"}
	gitRebase = &wordLanguage{comments: []string{"#"}, lineOnly: true,
		keywords: "pick p reword r edit e squash s fixup f exec x break b drop d label l reset t merge m update-ref u"}
	ignoreList = &wordLanguage{comments: []string{"#"}, lineOnly: true}
	logFile    = &wordLanguage{quotes: "\"",
		keywords: "error err fatal critical crit panic alert emerg emergency fail failed failure exception", constants: "true false null info notice debug trace verbose warn warning ok"}
)

// lex is the language's lexFunction.
func (w *wordLanguage) lex(code string) ([]Run, int) {
	w.once.Do(func() { w.sets = [2]map[string]bool{wordSet(w.keywords), wordSet(w.constants)} })
	l := newLexer(code)
	piped := false
	for l.pos < len(code) {
		c := code[l.pos]
		switch {
		case w.comment(&l):
			l.put(Comment, l.lineEnd(l.pos))
		case w.blocks && c == '/' && l.at(l.pos+1) == '*':
			l.put(Comment, l.commentEnd())
		case strings.IndexByte(w.quotes, c) >= 0:
			l.put(String, l.quoted(l.pos))
		case isDigit(c):
			end := l.pos + 1
			for isWord(l.at(end)) || l.at(end) == '.' && isDigit(l.at(end+1)) {
				end++
			}
			l.put(Number, end)
		case isWordStart(c):
			w.word(&l, piped)
		default:
			l.put(Plain, l.pos+1)
		}
		piped = w.pipes && (c == '|' || piped && isSpace(c))
	}
	return l.done()
}

// comment reports whether a comment begins here.
func (w *wordLanguage) comment(l *lexer) bool {
	for _, sign := range w.comments {
		if l.has(l.pos, sign) && (!w.lineOnly || l.pos == 0 || l.code[l.pos-1] == '\n') {
			return true
		}
	}
	return false
}

// word puts a word, with the hyphens in it: a keyword, a constant, or one that is
// called.
func (w *wordLanguage) word(l *lexer, piped bool) {
	end := l.wordEnd(l.pos)
	for l.at(end) == '-' && w.pipes && isWordStart(l.at(end+1)) {
		end = l.wordEnd(end + 1)
	}
	const longest = 20
	class := Plain
	switch word := l.code[l.pos:end]; {
	case piped:
		class = Keyword
	case len(word) > longest:
	case w.sets[0][strings.ToLower(word)]:
		class = Keyword
	case w.sets[1][strings.ToLower(word)]:
		class = Constant
	case l.at(end) == '(':
		class = Function
	}
	l.put(class, end)
}

// lexRegexp reads a regular expression: groups and classes, repetitions, escapes.
func lexRegexp(code string) ([]Run, int) {
	l := newLexer(code)
	inside := false // of a class of characters
	for l.pos < len(code) {
		switch c := code[l.pos]; {
		case c == '\\':
			l.put(Constant, l.pos+2)
		case inside:
			inside = c != ']'
			l.put(String, l.pos+1)
		case c == '[':
			inside = true
			l.put(String, l.pos+1)
		case strings.IndexByte("(|)", c) >= 0:
			end := l.pos + 1
			if l.has(l.pos, "(?") {
				for end++; end < len(code) && strings.IndexByte("<=!:P", code[end]) >= 0; end++ {
				}
			}
			l.put(Keyword, end)
		case strings.IndexByte("*+?{}^$.", c) >= 0:
			l.put(Operator, l.pos+1)
		default:
			l.put(Plain, l.pos+1)
		}
	}
	return l.done()
}
