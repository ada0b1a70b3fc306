package mdx

import (
	"strings"
	"unicode/utf8"
)

// Addresses become links in two places, as in the reference: while text is
// scanned (autolink literals of GitHub's grammar), and once more in the text
// that came out of it, by looser rules that also find what stood in brackets
// which became no link.

// isAtom reports what the local part of a mail address consists of.
func isAtom(c byte) bool { return isAlnum(c) || c == '+' || c == '-' || c == '.' || c == '_' }

// isWord reports \w of JavaScript's regular expressions.
func isWord(c byte) bool { return isAlnum(c) || c == '_' }

// autolink appends a link whose text is the address itself.
func (p *parser) autolink(in *inliner, prefix string, a, b int) {
	link := p.node(Link, 0)
	link.URL = prefix + in.s[a:b]
	text := p.node(Text, in.v.src(a))
	text.Value = in.s[a:b]
	text.End = p.pos(in.v.src(b-1) + 1)
	link.Children = []*Node{text}
	p.pushNode(in, link, a, b)
}

// angleLink reads <https://example.com> or <a@example.com> at i, which is not
// MDX but what Markdown had: it is still a link. It returns the offset after it,
// i if there is none.
func (p *parser) angleLink(in *inliner, from, i int) int {
	s := in.s
	k, scheme, at := i+1, -1, -1
	for ; k < len(s) && s[k] > ' ' && s[k] != '<' && s[k] != '>'; k++ {
		p.steps++
		switch {
		case s[k] == ':' && scheme < 0:
			scheme = k
		case s[k] == '@' && at < 0:
			at = k
		}
	}
	if k >= len(s) || s[k] != '>' {
		return i
	}
	prefix := ""
	switch end, ok := p.mailDomain(s[:k], at+1); {
	case p.Plain && !p.commonMark && scheme > 0 && !plainScheme(s[i+1:scheme]):
		return i
	case p.commonMark && scheme > 0 && (s[scheme+1] == ':' || scheme-i > 33):
		return i // <std::string>
	case scheme > i+2 && isAlpha(s[i+1]):
		for _, c := range []byte(s[i+1 : scheme]) {
			if !isAlnum(c) && c != '+' && c != '.' && c != '-' {
				return i
			}
		}
	case at > i+1 && ok && end == k && !strings.ContainsAny(s[i+1:at], "\\()[]:;,\""):
		prefix = "mailto:"
	default:
		return i
	}
	in.text(from, i)
	link := p.node(Link, 0)
	link.URL = prefix + s[i+1:k]
	text := p.node(Text, in.v.src(i+1))
	text.Value, text.End = s[i+1:k], p.pos(in.v.src(k-1)+1)
	link.Children = []*Node{text}
	p.pushNode(in, link, i, k+1)
	return k + 1
}

// plainScheme reports whether <scheme:...> is a link in a plain source. What
// else stands in angle brackets there is often no address: <std::string>.
func plainScheme(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "mailto")
}

// nextMail finds the next mail address that begins at i or after it.
func (p *parser) nextMail(in *inliner, i int) {
	s := in.s
	in.mail, in.mailEnd = len(s), len(s)
	for from := max(i, in.mailFrom); ; {
		k := strings.IndexByte(s[from:], '@')
		if k < 0 {
			return
		}
		at := from + k
		from = at + 1
		start := at
		for start > i && isAtom(s[start-1]) {
			start--
		}
		p.steps += k + at - start
		if start == at || start > 0 && (s[start-1] == '/' || isAtom(s[start-1])) {
			continue
		}
		if end, ok := p.mailDomain(s, at+1); ok {
			in.mail, in.mailEnd = start, end
			return
		}
	}
}

// mailDomain reads what follows the @ of an address.
func (p *parser) mailDomain(s string, i int) (int, bool) {
	start, dot := i, false
	for i < len(s) {
		p.steps++
		switch c := s[i]; {
		case c == '.' && i+1 < len(s) && isAlnum(s[i+1]):
			dot = true
		case c == '-' || c == '_' || isAlnum(c):
		default:
			return i, dot && i > start && isAlpha(s[i-1])
		}
		i++
	}
	return i, dot && isAlpha(s[i-1])
}

// address reads an address with www. or http:// at i and returns its end, i if
// there is none, and what its link has in front.
func (p *parser) address(in *inliner, i int) (int, string) {
	s := in.s
	if s[i]|0x20 == 'w' {
		if i > 0 && strings.IndexByte("(*_[]~ \t\n", s[i-1]) < 0 {
			return i, ""
		}
		if len(s) < i+5 || !strings.EqualFold(s[i:i+4], "www.") {
			return i, ""
		}
		if k, ok := p.domain(in, i); ok {
			return p.path(in, k), "http://"
		}
		return i, ""
	}
	if i > 0 && isAlpha(s[i-1]) {
		return i, ""
	}
	k := i
	switch {
	case len(s) > i+7 && strings.EqualFold(s[i:i+7], "http://"):
		k += 7
	case len(s) > i+8 && strings.EqualFold(s[i:i+8], "https://"):
		k += 8
	default:
		return i, ""
	}
	if isControl(s[k]) || classAfter(s, k) != classOther {
		return i, ""
	}
	if k, ok := p.domain(in, k); ok {
		return p.path(in, k), ""
	}
	return i, ""
}

// domain reads a domain at i. Its last two parts must hold no underscore.
func (p *parser) domain(in *inliner, i int) (int, bool) {
	if i <= in.domainNo {
		return i, false
	}
	s := in.s
	last, before := i, i // where the last parts begin
	seen, underLast, underBefore := false, false, false
	for i < len(s) {
		p.steps++
		c := s[i]
		if c == '.' || c == '_' {
			if p.trail(in, i) {
				break
			}
			if c == '_' {
				underLast = true
			} else {
				underBefore, underLast = underLast, false
				before, last = last, i+1
			}
			i++
			continue
		}
		if c != '-' && classAfter(s, i) != classOther {
			break
		}
		seen = true
		i += runeLen(s, i)
	}
	if underLast || underBefore {
		in.domainNo = before
		return i, false
	}
	return i, seen
}

func runeLen(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return n
}

// path reads what follows a domain.
func (p *parser) path(in *inliner, i int) int {
	s := in.s
	open, closed := 0, 0
	for i < len(s) {
		p.steps++
		c := s[i]
		switch {
		case c == '(':
			open++
		case c == ')' && closed < open:
			closed++
		case strings.IndexByte(`!"&'),*.:;<?]_~`, c) >= 0:
			if p.trail(in, i) {
				return i
			}
			if c == ')' {
				closed++
			}
		case classAfter(s, i) == classSpace:
			return i
		}
		i += runeLen(s, i)
	}
	return i
}

// trail reports whether nothing but punctuation follows from i to the end of
// the address, which then does not belong to it.
func (p *parser) trail(in *inliner, i int) bool {
	if i < in.trailNo {
		return false
	}
	s := in.s
	for i < len(s) {
		p.steps++
		c := s[i]
		switch {
		case strings.IndexByte(`!"'),*.:;?_~`, c) >= 0:
			i++
		case c == '&':
			k := i + 1
			for k < len(s) && isAlpha(s[k]) {
				p.steps++
				k++
			}
			if k == i+1 || k >= len(s) || s[k] != ';' {
				in.trailNo = i + 1
				return false
			}
			i = k + 1
		case c == ']':
			i++
			if i >= len(s) || s[i] == '(' || s[i] == '[' || classAfter(s, i) == classSpace {
				return true
			}
		case c == '<' || classAfter(s, i) == classSpace:
			return true
		default:
			in.trailNo = i
			return false
		}
	}
	return true
}

// textLinker turns the addresses of a finished text into links.
type textLinker struct {
	p    *parser
	out  []*Node
	n    *Node
	s    string
	mark int // what comes before is done
	// exact is set when the text stands in the source as it is.
	exact bool
}

// linkText appends a text to a list of nodes, with the addresses in it as
// links.
func (p *parser) linkText(out []*Node, n *Node, raw string) []*Node {
	urls := mayLink(n.Value)
	mails := strings.IndexByte(n.Value, '@') >= 0
	p.steps += len(n.Value)
	if !urls && !mails {
		return append(out, n)
	}
	t := textLinker{p: p, out: out, n: n, s: n.Value,
		exact: n.Value == raw && n.End.Offset-n.Pos.Offset == len(raw)}
	if urls {
		t.urls()
	}
	t.rest(len(t.s))
	return t.out
}

func (t *textLinker) piece(a, b int) *Node {
	if a == 0 && b == len(t.s) {
		return t.n
	}
	text := t.p.node(Text, t.n.Pos.Offset)
	text.Value = t.s[a:b]
	text.End = t.n.End
	if t.exact {
		text.Pos, text.End = t.p.pos(t.n.Pos.Offset+a), t.p.pos(t.n.Pos.Offset+b)
	}
	return text
}

// rest appends the text up to b, in which mail addresses are looked for.
func (t *textLinker) rest(b int) {
	if t.mark < b {
		t.mails(t.mark, b)
	}
	t.mark = b
}

func (t *textLinker) link(url string, a, b int) {
	text := t.piece(a, b)
	link := t.p.node(Link, text.Pos.Offset)
	link.URL, link.End = url, text.End
	if text == t.n {
		// The whole text: the node goes on as the link's content.
		link.Pos = t.n.Pos
	}
	link.Children = []*Node{text}
	t.out = append(t.out, link)
	t.mark = b
}

// urls finds addresses with http://, https:// or www.
func (t *textLinker) urls() {
	s := t.s
	var run domainRun
	run.end = -1
	for i := 0; i+4 <= len(s); i++ {
		t.p.steps++
		c := s[i] | 0x20
		if c != 'h' && c != 'w' || i > 0 && isAlnum(s[i-1]) {
			continue
		}
		prefix, domain, ok := webAddress(s, i)
		if !ok || i > 0 && classBefore(s, i) == classOther {
			continue
		}
		if run.end <= domain {
			run = t.domainRun(domain)
		}
		if run.dot < domain || isPunct(s[domain]) || !goodPart(s[run.dot+1:run.end]) || !goodPart(s[max(run.dot2+1, domain):run.dot]) {
			continue
		}
		end := run.end
		for end < len(s) && !isSpaceOrEOL(s[end]) && s[end] != '\r' {
			t.p.steps++
			end++
		}
		end = i + splitURL(s[i:end])
		if end <= domain {
			continue
		}
		t.rest(i)
		t.link(prefix+s[i:end], i, end)
		i = end - 1
	}
}

// webAddress returns where the domain of an address that begins at i begins, and
// what the address lacks at its front.
func webAddress(s string, i int) (prefix string, domain int, ok bool) {
	switch rest := s[i:]; {
	case strings.EqualFold(rest[:4], "www."):
		return "http://", i, true
	case len(rest) >= 7 && strings.EqualFold(rest[:7], "http://"):
		return "", i + 7, true
	case len(rest) >= 8 && strings.EqualFold(rest[:8], "https://"):
		return "", i + 8, true
	}
	return "", i, false
}

// domainRun is a run of signs that a domain may consist of: its end, and the
// last two dots before it, -1 for none.
type domainRun struct{ end, dot, dot2 int }

func (t *textLinker) domainRun(domain int) domainRun {
	s, r := t.s, domainRun{end: domain, dot2: -1}
	for r.end < len(s) && (isWord(s[r.end]) || s[r.end] == '-' || s[r.end] == '.') {
		t.p.steps++
		r.end++
	}
	if r.dot = strings.LastIndexByte(s[:r.end], '.'); r.dot >= 0 {
		r.dot2 = strings.LastIndexByte(s[:r.dot], '.')
	}
	t.p.steps += r.end - max(r.dot2, domain)
	return r
}

// goodPart checks one of the last two parts of a domain.
func goodPart(s string) bool {
	if s == "" {
		return true
	}
	if strings.IndexByte(s, '_') >= 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if isAlnum(s[i]) {
			return true
		}
	}
	return false
}

// splitURL returns the length of an address without the punctuation that
// trails it; closing parentheses that the address opened belong to it.
func splitURL(s string) int {
	end := len(s)
	for end > 0 && strings.IndexByte(`!"&'),.:;<>?]}`, s[end-1]) >= 0 {
		end--
	}
	if end == len(s) {
		return end
	}
	open, closed := strings.Count(s[:end], "("), strings.Count(s[:end], ")")
	for open > closed {
		k := strings.IndexByte(s[end:], ')')
		if k < 0 {
			break
		}
		end += k + 1
		closed++
	}
	return end
}

// mails appends the text from a to b with mail addresses as links.
func (t *textLinker) mails(a, b int) {
	s := t.s[:b]
	mark := a
	for from := a; ; {
		k := strings.IndexByte(s[from:], '@')
		if k < 0 {
			break
		}
		at := from + k
		from = at + 1
		start := at
		for start > mark && isAtom(s[start-1]) {
			start--
		}
		t.p.steps += k + at - start
		if start == at || start == mark && mark > a && isAtom(s[start-1]) {
			continue
		}
		end, ok := t.domain(s, at+1)
		if !ok {
			continue
		}
		url := "mailto:" + s[start:end]
		switch scheme := schemeBefore(s[a:start]); {
		case scheme == "":
		case start-a > len(scheme) && (isAtom(s[start-len(scheme)-1]) || s[start-len(scheme)-1] == '@'):
			// No scheme of an address, but what could be one keeps the rest
			// from being one.
			if c := s[start-len(scheme)-1]; !isAlnum(c) && c != '@' {
				continue
			}
		case start-len(scheme) < mark:
			continue
		case scheme == "xmpp:":
			end, ok = xmppResource(s, end)
			start -= len(scheme)
			url = s[start:end]
		default:
			start -= len(scheme)
			url = s[start:end]
		}
		if !ok {
			continue
		}
		if mark < start {
			t.out = append(t.out, t.piece(mark, start))
		}
		t.link(url, start, end)
		mark, from = end, end
	}
	if mark < b {
		t.out = append(t.out, t.piece(mark, b))
	}
}

func schemeBefore(s string) string {
	switch {
	case strings.HasSuffix(s, "mailto:"):
		return "mailto:"
	case strings.HasSuffix(s, "xmpp:"):
		return "xmpp:"
	}
	return ""
}

// domain reads the domain of a mail address: parts with dots between them.
func (t *textLinker) domain(s string, i int) (int, bool) {
	parts := 0
	for {
		k := i
		for k < len(s) && (isWord(s[k]) || s[k] == '-') {
			t.p.steps++
			k++
		}
		if k == i {
			if parts > 0 {
				i-- // the dot
			}
			break
		}
		parts++
		if i = k; k >= len(s) || s[k] != '.' {
			break
		}
		i++
	}
	return i, parts >= 2 && isAlpha(s[i-1])
}

// xmppResource reads the resource after an xmpp address.
func xmppResource(s string, i int) (int, bool) {
	if i >= len(s) || s[i] != '/' {
		return i, true
	}
	i++
	for i < len(s) && (isWord(s[i]) || s[i] == '-' || s[i] == '/' || s[i] == '.' && i+1 < len(s) && isAlnum(s[i+1])) {
		i++
	}
	return i, isAlpha(s[i-1]) && (i >= len(s) || s[i] != '@')
}
