package mdx

import "strings"

// The inline phase reads the text of one paragraph, heading or cell from left
// to right into a list of items: text, finished nodes, and runs of markers
// that may turn out to be emphasis. Links take their items out of the list
// when their closing bracket is met; emphasis is resolved when a list is
// complete; tags are matched when it becomes the children of a node.

type itemKind uint8

const (
	itemText  itemKind = iota // text that stands in the source just so
	itemValue                 // text of another form: a reference or an escape
	itemNode                  // a finished node
	itemMark                  // a run of * or _
	itemTilde                 // a run of one or two ~
	itemGone                  // taken out of the list
)

// item is one element of the list; prev and next are indices, 0 is the list's
// head and end.
type item struct {
	prev, next  int32
	kind        itemKind
	mark        byte
	open, close bool
	depth       int32 // how deep spans nest below
	start, end  int32 // in the text
	value       string
	node        *Node
}

// bracket is an opening bracket that may begin a link or an image.
type bracket struct {
	item  int32
	after int // offset after the bracket
	image bool
	// inactive brackets would begin a link around a link.
	inactive bool
	// filled brackets hold a further bracket: their content is not a label.
	filled bool
}

type inliner struct {
	v        view
	s        string
	table    bool
	items    []item
	brackets []bracket
	openers  []int32
	// first is which kind of markers was met first: it is resolved first.
	first itemKind
	tilde bool
	// flat is set when spans nest too deep: further markers stay text.
	flat bool
	// ticks and dollars hold, for a length of run, where the last such run
	// begins, so that a search that must fail is not begun.
	ticks, dollars runIndex
	// noTitle is set for a quote that is not closed in the rest of the text.
	noTitle  [3]bool
	mail     int // where the next mail address begins, len(s) if none
	mailEnd  int
	mailFrom int
	// commentEnd is where the next --> ends, -1 for nowhere.
	commentEnd int
	trailNo    int // up to here trailing punctuation is followed by more
	domainNo   int // up to here no domain begins
	read       reader
}

// special holds the bytes at which the scan of text stops. Letters that begin
// addresses are added where the text holds any.
var special = func() (t [256]bool) {
	for _, c := range []byte("\n\\&*_~`$[]!<{") {
		t[c] = true
	}
	return t
}()

var specialOrLink = func() (t [256]bool) {
	t = special
	for _, c := range []byte("hHwW") {
		t[c] = true
	}
	return t
}()

// mayLink reports whether the text could hold an address.
func mayLink(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	for i := 0; ; {
		k := strings.IndexByte(s[i:], '.')
		if k < 0 {
			return false
		}
		i += k
		if i >= 3 && s[i-1]|0x20 == 'w' && s[i-2]|0x20 == 'w' && s[i-3]|0x20 == 'w' {
			return true
		}
		i++
	}
}

// inlines gives n the children that the job's text holds.
func (p *parser) inlines(n *Node, job inlineJob) {
	in := &p.inline
	in.reset(p.join(p.segs[job.from:job.to]))
	in.table = job.table
	i := 0
	if job.item != nil {
		i = p.task(in.s, job.item)
	}
	p.scanInline(in, i)
	if in.tilde && in.first == itemTilde {
		p.resolveTildes(in, 0, 0, false)
		p.resolveMarks(in, 0, 0, false)
	} else {
		p.resolveMarks(in, 0, 0, false)
		if in.tilde {
			p.resolveTildes(in, 0, 0, false)
		}
	}
	p.looseTags = p.commonMark && n.Kind == Paragraph
	n.Children = p.collect(in, 0, 0, false)
	p.looseTags = false
	if job.item != nil && i > 0 {
		// The white space after a task's box is not content.
		if len(n.Children) > 0 && n.Children[0].Kind == Text {
			head := n.Children[0]
			if head.Value = head.Value[1:]; head.Value == "" {
				n.Children = n.Children[1:]
			} else {
				head.Pos = p.pos(head.Pos.Offset + 1)
				n.Pos = head.Pos
			}
		}
	}
}

func (in *inliner) reset(v view) {
	in.v, in.s = v, v.s
	in.items = append(in.items[:0], item{})
	in.brackets = in.brackets[:0]
	in.first, in.tilde, in.flat = itemText, false, false
	in.ticks.ready, in.dollars.ready = false, false
	in.noTitle = [3]bool{}
	in.mail, in.mailEnd, in.mailFrom = -1, 0, 0
	in.trailNo, in.domainNo, in.commentEnd = -1, -1, 0
	in.read = reader{view: v}
	in.read.end = len(v.s)
}

// task reads the box [ ] or [x] that a list item's text may begin with and
// returns the offset after it.
func (p *parser) task(s string, item *Node) int {
	if len(s) < 4 || s[0] != '[' || s[2] != ']' || !isSpaceOrEOL(s[3]) {
		return 0
	}
	if strings.TrimLeft(s[3:], " \t") == "" {
		return 0
	}
	switch {
	case isSpaceOrEOL(s[1]):
		item.Checked = 1
	case s[1]|0x20 == 'x':
		item.Checked = 2
	default:
		return 0
	}
	return 3
}

func (in *inliner) push(it item) int32 {
	k := int32(len(in.items))
	last := in.items[0].prev
	it.prev, it.next = last, 0
	in.items = append(in.items, it)
	in.items[last].next = k
	in.items[0].prev = k
	return k
}

func (in *inliner) text(a, b int) {
	if a >= b {
		return
	}
	if last := in.items[0].prev; last != 0 {
		if it := &in.items[last]; it.kind == itemText && it.mark == 0 && int(it.end) == a {
			it.end = int32(b)
			return
		}
	}
	in.push(item{kind: itemText, start: int32(a), end: int32(b)})
}

func (p *parser) pushNode(in *inliner, n *Node, a, b int) {
	n.Pos, n.End = p.pos(in.v.src(a)), p.pos(in.v.src(b-1)+1)
	in.push(item{kind: itemNode, node: n, start: int32(a), end: int32(b)})
}

// scanInline reads the text from i on into items.
func (p *parser) scanInline(in *inliner, i int) {
	s := in.s
	in.read.p = p
	stop := &special
	if mayLink(s) {
		stop = &specialOrLink
	}
	hasMail := strings.IndexByte(s, '@') >= 0
	if !hasMail {
		in.mail = len(s)
	}
	p.steps += len(s)
	from := i // start of the text that waits to be pushed
	for i < len(s) {
		p.steps++
		if in.mail < i {
			p.nextMail(in, i)
		}
		if i == in.mail {
			// A bracket that is open keeps addresses from being links here;
			// the search over finished text finds them later.
			if len(in.brackets) == 0 {
				in.text(from, i)
				p.autolink(in, "mailto:", i, in.mailEnd)
				i = in.mailEnd
				from = i
				continue
			}
			in.mail = -1
			in.mailFrom = in.mailEnd
			p.nextMail(in, i+1)
		}
		c := s[i]
		if !stop[c] {
			k := i + 1
			for k < len(s) && k != in.mail && !stop[s[k]] {
				k++
			}
			p.steps += k - i
			i = k
			continue
		}
		i, from = p.sign(in, from, i)
	}
	// White space at the end of the text is dropped.
	end := len(s)
	for end > from && isSpace(s[end-1]) && !p.short {
		end--
	}
	in.text(from, end)
}

// sign reads what the sign at i begins, if it begins anything. It returns the
// offset to go on from, and the start of the text that waits to be pushed: from
// where the sign is text too.
func (p *parser) sign(in *inliner, from, i int) (next, start int) {
	s := in.s
	end := i // offset after what is read here; i: nothing
	switch c := s[i]; c {
	case '\n':
		in.text(from, i)
		end = p.lineBreak(in, i)
	case '\\':
		end = p.backslash(in, from, i)
	case '&':
		if text, n := reference(s, i); n > 0 {
			in.text(from, i)
			in.push(item{kind: itemValue, value: text, start: int32(i), end: int32(i + n)})
			end = i + n
		}
	case '*', '_':
		end = p.run(s, i)
		in.text(from, i)
		in.mark(i, end)
	case '~':
		if end = p.run(s, i); end-i > 2 {
			return end, from
		}
		in.text(from, i)
		in.tildeRun(i, end)
	case '`', '$':
		var ok bool
		if end, ok = p.code(in, from, i); !ok {
			return end, from
		}
	case '[':
		in.text(from, i)
		if label, k, ok := p.footnoteLabel(s, i); ok && p.notes[label] {
			ref := p.node(FootnoteRef, 0)
			ref.Name = label
			p.pushNode(in, ref, i, k)
			end = k
			break
		}
		p.openBracket(in, i, i+1, false)
		end = i + 1
	case '!':
		if i+1 < len(s) && s[i+1] == '[' {
			in.text(from, i)
			p.openBracket(in, i, i+2, true)
			end = i + 2
		}
	case ']':
		in.text(from, i)
		from = i
		end = p.closeBracket(in, i)
	case '<', '{':
		end = p.tagOrLink(in, from, i)
	case 'h', 'H', 'w', 'W':
		if len(in.brackets) == 0 {
			if k, prefix := p.address(in, i); k > i {
				in.text(from, i)
				p.autolink(in, prefix, i, k)
				end = k
			}
		}
	}
	if end > i {
		return end, end
	}
	return i + 1, from
}

// run returns the end of the run of one sign that begins at i.
func (p *parser) run(s string, i int) int {
	k := i
	for k < len(s) && s[k] == s[i] {
		k++
	}
	p.steps += k - i
	return k
}

// backslash reads an escaped sign or line ending, and returns i for neither.
func (p *parser) backslash(in *inliner, from, i int) int {
	s := in.s
	switch {
	case i+1 < len(s) && s[i+1] == '\n':
		in.text(from, i)
		if p.short {
			return p.lineBreak(in, i+1)
		}
		p.pushNode(in, p.node(Break, 0), i, i+2)
		i += 2
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		return i
	case i+1 < len(s) && isPunct(s[i+1]):
		in.text(from, i)
		in.push(item{kind: itemValue, value: s[i+1 : i+2], start: int32(i), end: int32(i + 2)})
		return i + 2
	}
	return i
}

// tagOrLink reads what begins with < or {, and returns i where that is text.
func (p *parser) tagOrLink(in *inliner, from, i int) int {
	angle := in.s[i] == '<'
	if angle && (!p.Plain || p.Tags != nil) && strings.HasPrefix(in.s[i:], "<!--") {
		if end := p.commentEnd(in.s, i, &in.commentEnd); end > 0 {
			p.comment(in.v.src(i))
			in.text(from, i)
			return end
		}
		p.open = append(p.open, in.v.src(i))
	}
	switch {
	case p.Plain && angle:
		return p.plainAngle(in, from, i)
	case p.Plain || !p.affordable():
		return i
	}
	if k, ok := p.inlineTag(in, from, i); ok {
		return k
	}
	if angle {
		return p.angleLink(in, from, i)
	}
	return i
}

// inlineTag reads a tag or expression at i.
func (p *parser) inlineTag(in *inliner, from, i int) (int, bool) {
	in.read.i = i
	var n *Node
	var got outcome
	if in.s[i] == '<' {
		n, got = p.scanTag(&in.read, true)
	} else {
		n, got = p.scanExpression(&in.read, true)
	}
	if got != matched {
		return 0, false
	}
	in.text(from, i)
	in.push(item{kind: itemNode, node: n, start: int32(i), end: int32(in.read.i)})
	return in.read.i, true
}

// lineBreak reads the line ending at i, together with white space around it.
func (p *parser) lineBreak(in *inliner, i int) int {
	s := in.s
	// What stands before the line ending is the last item, if it is text.
	hard := false
	if last := in.items[0].prev; last != 0 && in.items[last].kind == itemText {
		it := &in.items[last]
		end, tabs := int(it.end), false
		for end > int(it.start) && isSpace(s[end-1]) {
			p.steps++
			tabs = tabs || s[end-1] == '\t'
			end--
		}
		hard = int(it.end)-end >= 2 && !tabs
		it.end = int32(end)
		if it.start == it.end {
			in.remove(last)
		}
	}
	next := i + 1
	for next < len(s) && isSpace(s[next]) {
		p.steps++
		next++
	}
	if hard && !p.short {
		p.pushNode(in, p.node(Break, 0), i, i+1)
	} else {
		in.text(i, i+1)
	}
	return next
}

// remove takes an item out of the list.
func (in *inliner) remove(k int32) {
	it := &in.items[k]
	in.items[it.prev].next = it.next
	in.items[it.next].prev = it.prev
	it.kind = itemGone
}

// collect makes the items between two others (0 and 0: all of them) into
// nodes. Text beside text becomes one node, in which addresses become links
// unless it stands in a link.
func (p *parser) collect(in *inliner, before, after int32, inLink bool) []*Node {
	first := in.items[before].next
	if first == after {
		return nil
	}
	count, tags := 0, false
	for k := first; k != after; k = in.items[k].next {
		count++
	}
	if len(p.kids) < count {
		p.kids = make([]*Node, max(256, count))
	}
	out := p.kids[:0:count]
	p.kids = p.kids[count:]
	for k := first; k != after; {
		p.steps++
		it := &in.items[k]
		if it.kind == itemNode {
			tags = tags || it.node.Kind == Element && it.node.Level != tagNone
			out = append(out, it.node)
			k = it.next
			continue
		}
		// A run of text.
		end, plain := it.end, it.kind != itemValue
		last := k
		for n := it.next; n != after && in.items[n].kind != itemNode; n = in.items[n].next {
			p.steps++
			plain = plain && in.items[n].kind != itemValue && in.items[n].start == end
			end = in.items[n].end
			last = n
		}
		text := p.node(Text, in.v.src(int(it.start)))
		text.End = p.pos(in.v.src(int(end)-1) + 1)
		next := in.items[last].next
		if plain {
			text.Value = in.s[it.start:end]
		} else {
			text.Value = in.textOf(k, next)
		}
		k = next
		if !inLink {
			out = p.linkText(out, text, in.s[it.start:end])
		} else {
			out = append(out, text)
		}
	}
	if tags {
		return p.matchTags(out)
	}
	return out
}

// textOf joins the text of items.
func (in *inliner) textOf(k, after int32) string {
	var b strings.Builder
	for ; k != after; k = in.items[k].next {
		if it := &in.items[k]; it.kind == itemValue {
			b.WriteString(it.value)
		} else {
			b.WriteString(in.s[it.start:it.end])
		}
	}
	return b.String()
}
