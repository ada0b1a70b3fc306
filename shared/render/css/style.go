package css

import (
	"bytes"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// maxValue is the longest value of a declaration, in bytes, without its addresses;
// maxWhole the longest with them. An address may hold a drawing.
const (
	maxValue = 2000
	maxWhole = 32 << 10
)

// Declaration is one declaration of a style attribute.
type Declaration struct {
	// Text is all of it, with a space for each comment.
	Text string
	// Name is the property, in lower case unless it is a custom one. Where Text
	// has no colon it is all of Text.
	Name string
	// Value is what follows the colon, "" where there is none. It may be
	// anything: see SafeValue.
	Value string
}

// Declarations splits the value of a style attribute at the semicolons that
// stand in no string and no parentheses. Empty declarations are left out.
func Declarations(style string) []Declaration {
	var out []Declaration
	var text []byte
	end := func() {
		if t := strings.TrimSpace(string(text)); t != "" {
			name, value, _ := strings.Cut(t, ":")
			d := Declaration{Text: t, Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
			if !strings.HasPrefix(d.Name, "--") {
				d.Name = strings.ToLower(d.Name)
			}
			out = append(out, d)
		}
		text = text[:0]
	}
	depth := 0
	for kind, token := range tokens([]byte(style)) {
		switch {
		case kind == css.CommentToken:
			token = []byte{' '}
		case kind == css.FunctionToken, kind == css.LeftParenthesisToken:
			depth++
		case kind == css.RightParenthesisToken:
			depth--
		case kind == css.SemicolonToken && depth <= 0:
			end()
			continue
		}
		text = append(text, token...)
	}
	end()
	return out
}

// SafeValue returns a declaration's value as it can stand in a rule without
// reaching out of it, with one space for each run of white space and its addresses replaced by what resolve returns for
// them; "" from resolve means that the address is not allowed. ok is false for
// a value that can't stand there: one that is empty, over 2,000 bytes without its
// addresses or 32 KiB with them, that is not closed in itself, or that runs code in
// some browser. Signs that would end a rule are escaped in addresses.
func SafeValue(value string, resolve func(address string) string) (safe string, ok bool) {
	if value == "" || len(value) > maxWhole {
		return "", false
	}
	lower := strings.ToLower(value)
	for _, bad := range [...]string{"expression(", "javascript:", "vbscript:", "-moz-binding", "image-set(", "src("} {
		if strings.Contains(lower, bad) {
			return "", false
		}
	}
	if !isClosed([]byte(value)) {
		return "", false
	}
	rest := 0 // bytes beside addresses
	for kind, token := range tokens([]byte(value)) {
		if kind == css.URLToken {
			p, _ := addressIn(kind, token)
			if bytes.ContainsFunc(token[p.from:p.to], func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\\' }) {
				return "", false
			}
			token = token[:p.from]
		}
		if rest += len(token); rest > maxValue || bytes.ContainsFunc(token, isUnsafe) {
			return "", false
		}
	}
	var out []byte
	for kind, token := range tokens([]byte(value)) {
		switch kind {
		case css.URLToken:
			p, _ := addressIn(kind, token)
			address := resolve(unescape(token[p.from:p.to]))
			if address == "" {
				return "", false
			}
			out = append(appendAddress(append(out, `url("`...), ruleSigns.Replace(address), '"'), `")`...)
		case css.WhitespaceToken, css.CommentToken:
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		default:
			out = append(out, token...)
		}
	}
	out = bytes.TrimSuffix(out, []byte{' '})
	return string(out), len(out) > 0
}

// ruleSigns escapes, in an address, what ends a rule or a style sheet elsewhere.
var ruleSigns = strings.NewReplacer("{", "%7B", "}", "%7D", "<", "%3C", ">", "%3E")

// isClosed reports whether all strings, addresses and brackets of a value end in
// it, and no semicolon stands outside an address.
func isClosed(value []byte) bool {
	var open []css.TokenType // what is to close the brackets
	for kind, token := range tokens(value) {
		first, last := token[0], token[len(token)-1]
		switch kind {
		case css.BadStringToken, css.BadURLToken:
			return false
		case css.URLToken:
			if last != ')' {
				return false
			}
			continue
		case css.StringToken:
			if len(token) == 1 || last != first {
				return false
			}
		case css.FunctionToken, css.LeftParenthesisToken:
			open = append(open, css.RightParenthesisToken)
		case css.LeftBracketToken:
			open = append(open, css.RightBracketToken)
		case css.RightParenthesisToken, css.RightBracketToken:
			if len(open) == 0 || open[len(open)-1] != kind {
				return false
			}
			open = open[:len(open)-1]
		}
		if bytes.IndexByte(token, ';') >= 0 {
			return false
		}
	}
	return len(open) == 0
}

// isUnsafe reports whether a character may end a rule or a style sheet, or hide
// what does.
func isUnsafe(r rune) bool {
	return strings.ContainsRune(`\{}<@`, r) || r < ' ' && r != '\n' && r != '\t' || r == 0x7f
}
