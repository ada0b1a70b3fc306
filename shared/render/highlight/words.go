package highlight

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/highlight/internal/backtrack"
)

// wordList is an expression that lists whole words, (for|if|in)\b, as most
// grammars have for their keywords. Since every word ends at a boundary, one
// matches where the characters of a word up to the next boundary are it: the
// order of the list, and what an engine would try, don't matter.
type wordList struct {
	words   map[string]bool
	longest int
	begins  bool // \b in front of it, too
	group   bool // the words are a group
}

// wordListPattern is what such an expression looks like: words of ASCII
// letters, digits and underscores.
var wordListPattern = lazy.Regexp(`^(\\b)?\((\?:)?([A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)*)\)\\b$`)

// longestWord is what a match has room for.
const longestWord = 64

// readWords reads a pattern, without flags; nil if it is not a list of words.
func readWords(pattern, flags string) *wordList {
	if strings.Contains(flags, "i") {
		return nil
	}
	match := wordListPattern().FindStringSubmatch(pattern)
	if match == nil {
		return nil
	}
	l := &wordList{words: map[string]bool{}, begins: match[1] != "", group: match[2] == ""}
	for word := range strings.SplitSeq(match[3], "|") {
		if len(word) > longestWord {
			return nil
		}
		l.words[word] = true
		l.longest = max(l.longest, len(word))
	}
	return l
}

// match returns where the word ends that begins at pos, or -1.
func (l *wordList) match(text []rune, pos int) int {
	if l.begins && pos > 0 && backtrack.IsWord(text[pos-1]) {
		return -1
	}
	var buffer [longestWord]byte
	word := buffer[:0]
	for ; pos < len(text) && backtrack.IsWord(text[pos]); pos++ {
		if len(word) == l.longest || text[pos] >= nonASCII {
			return -1
		}
		word = append(word, byte(text[pos]))
	}
	if l.words[string(word)] {
		return pos
	}
	return -1
}
