package mdx

import (
	"bytes"
	"strings"
)

// URLPlace returns where the URL of a link, a picture or a definition stands in
// the source that n was read from, without the signs around it. It is not ok
// for a link by reference, whose address stands in its definition, for one that
// is its own text, and where marks of a container stand in between.
func (n *Node) URLPlace(src []byte) (from, to int, ok bool) {
	if n.Pos.Offset < 0 || n.End.Offset > len(src) || n.End.Offset < n.Pos.Offset || n.URL == "" {
		return 0, 0, false
	}
	p := &parser{}
	in := &inliner{s: string(src[n.Pos.Offset:n.End.Offset])}
	s := in.s
	switch n.Kind {
	case Definition:
		_, i, ok := p.label(s, 0)
		if !ok || i >= len(s) || s[i] != ':' {
			return 0, 0, false
		}
		i = p.skipWhite(s, i+1)
		url, end, ok := p.destination(s, i, 1<<30)
		return n.within(s, i, end, ok && url == n.URL)
	case Link, Image:
		// The last brackets whose address and title reach to the node's end: in a
		// picture's description there may be others.
		for i := 0; ; i++ {
			k := strings.Index(s[i:], "](")
			if k < 0 || p.steps > 64*len(s)+4096 { // or each would be read to the end
				return 0, 0, false
			}
			i += k
			url, _, end, ok := p.resource(in, i+1)
			if ok && end == len(s) && url == n.URL {
				i = p.skipWhite(s, i+2)
				_, end, ok = p.destination(s, i, 32)
				return n.within(s, i, end, ok)
			}
		}
	}
	return 0, 0, false
}

// within returns a place in the node's text s as one in the source, without the
// angle brackets around it.
func (n *Node) within(s string, from, to int, ok bool) (int, int, bool) {
	if ok && s[from] == '<' {
		from, to = from+1, to-1
	}
	return n.Pos.Offset + from, n.Pos.Offset + to, ok
}

// ValuePlace returns where the text of an attribute stands in the source that it
// was read from, without the quotes around it. It is not ok for a value that is
// neither a text in quotes nor, in braces, one without escapes.
func (a Attr) ValuePlace(src []byte) (from, to int, ok bool) {
	i := a.Pos.Offset
	white := func() {
		for i < len(src) && isSpaceOrEOL(src[i]) {
			i++
		}
	}
	var want string
	switch a.Kind {
	case AttrString:
		want = a.Value
	case AttrExpr:
		v, literal := EvalLiteral(a.Value)
		if want, ok = v.(string); !literal || !ok {
			return 0, 0, false
		}
	default:
		return 0, 0, false
	}
	if i < 0 || i > len(src) || !strings.EqualFold(string(src[i:min(len(src), i+len(a.Name))]), a.Name) {
		return 0, 0, false
	}
	i += len(a.Name)
	if white(); i >= len(src) || src[i] != '=' {
		return 0, 0, false
	}
	i++
	white()
	if a.Kind == AttrExpr && i < len(src) && src[i] == '{' {
		i++
		white()
	}
	if i >= len(src) || src[i] != '"' && src[i] != '\'' && src[i] != '`' {
		return 0, 0, false
	}
	n := bytes.IndexByte(src[i+1:], src[i])
	if n < 0 {
		return 0, 0, false
	}
	text := string(src[i+1 : i+1+n])
	if a.Kind == AttrString {
		text = decodeReferences(text)
	}
	return i + 1, i + 1 + n, text == want
}
