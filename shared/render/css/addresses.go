package css

import (
	"bytes"
	"iter"

	"github.com/tdewolff/parse/v2/css"
)

// maxGrowth is how many bytes longer a style sheet may get by the addresses in
// it.
const maxGrowth = 4 << 20

// Addresses yields the addresses that a style sheet loads, in their order: those
// in url(), and the strings that stand for one after @import. Escapes are
// resolved. Comments and other strings hold no addresses, and @namespace names
// one that nobody loads.
func Addresses(sheet []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for l := range Loads(sheet) {
			if !yield(l.Address) {
				return
			}
		}
	}
}

// Load is what a style sheet loads.
type Load struct {
	Address string
	Offset  int  // in bytes, where the address begins
	Sheet   bool // another style sheet, by @import
}

// Loads is Addresses with what each is.
func Loads(sheet []byte) iter.Seq[Load] {
	return func(yield func(Load) bool) {
		for at := range places(sheet) {
			if !yield(Load{unescape(sheet[at.from:at.to]), at.from, at.sheet}) {
				return
			}
		}
	}
}

// RewriteURLs returns a style sheet in which each of its Addresses is replaced
// by what replace returns for it, escaped as its place requires. Where replace
// reports false, or returns the address that it was called with, the sheet
// keeps its bytes; so it does where it would get 4 MiB longer than it was. The
// result is sheet itself where nothing changes.
func RewriteURLs(sheet []byte, replace func(address string) (string, bool)) []byte {
	var out []byte
	done := 0
	for at := range places(sheet) {
		address := unescape(sheet[at.from:at.to])
		with, ok := replace(address)
		if !ok || with == address || len(out)+(at.from-done)+3*len(with) > at.to+maxGrowth {
			continue
		}
		out = appendAddress(append(out, sheet[done:at.from]...), with, at.quote)
		done = at.to
	}
	if done == 0 {
		return sheet
	}
	return append(out, sheet[done:]...)
}

// place is where an address stands, without its quotes.
type place struct {
	from, to int
	quote    byte // 0 for none
	sheet    bool // of an @import
}

// places yields where the addresses of a style sheet stand.
func places(sheet []byte) iter.Seq[place] {
	return func(yield func(place) bool) {
		end := 0
		text := false      // a string that comes now is an address
		importing := false // what comes now is of an @import
		namespace := false // up to the end of an @namespace
		for kind, token := range tokens(sheet) {
			start := end
			end += len(token)
			isAddress := false
			switch kind {
			case css.WhitespaceToken, css.CommentToken:
				continue
			case css.AtKeywordToken:
				importing, namespace = named(token[1:], "import"), named(token[1:], "namespace")
				text = importing
				continue
			case css.FunctionToken: // url is a token of its own, unless its name is escaped
				text = named(token[:len(token)-1], "url")
				continue
			case css.SemicolonToken, css.LeftBraceToken:
				namespace = false
			case css.StringToken:
				isAddress = text
			case css.URLToken, css.BadURLToken:
				isAddress = true
			}
			text = false
			imported := importing
			importing = false
			if !isAddress || namespace {
				continue
			}
			p, ok := addressIn(kind, token)
			p.sheet = imported
			p.from += start
			p.to += start
			if ok && !yield(p) {
				return
			}
		}
	}
}

// addressIn finds the address in a token, a string or a url(). ok is false where
// it has none.
func addressIn(kind css.TokenType, token []byte) (p place, ok bool) {
	if kind != css.StringToken {
		p.from = bytes.IndexByte(token, '(') + 1
		for p.from < len(token) && isSpace(token[p.from]) {
			p.from++
		}
	}
	if p.from < len(token) && (token[p.from] == '"' || token[p.from] == '\'') {
		p.quote = token[p.from]
		p.from++
	}
	p.to = p.from
	for p.to < len(token) {
		c := token[p.to]
		if c == p.quote || p.quote == 0 && (c == ')' || isSpace(c)) {
			break
		}
		if c == '\\' {
			p.to += escapeLen(token[p.to:])
		} else {
			p.to++
		}
	}
	if kind == css.BadURLToken && (p.quote == 0 || p.to == len(token) || bytes.ContainsAny(token[p.from:p.to], "\n\r\f")) {
		return p, false // else a string, and after it what the lexer does not know there
	}
	return p, p.to > p.from
}

// appendAddress appends an address so that it can end neither the string nor
// the url() that it stands in. What could is written as addresses escape it.
func appendAddress(b []byte, address string, quote byte) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(address) {
		switch c := address[i]; {
		case c < ' ', c == 0x7f, c == '"', c == '\\', c == '(', c == ')', c == quote, quote == 0 && (c == ' ' || c == '\''):
			b = append(b, '%', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}
