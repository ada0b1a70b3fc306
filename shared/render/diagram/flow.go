package diagram

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// maxPairs bounds the links that "A & B --> C & D" makes.
const maxPairs = 600

// flowReader reads a flowchart, a statement at a time.
type flowReader struct {
	*graph
	s     string
	at    int
	open  []openGroup
	pairs int
	// styles are what "style" and "class" say of ids, which may come later.
	styles map[string]look
	named  map[string][]string
	clicks map[string][2]string
	// edgeIDs are names of links.
	edgeIDs map[string][]int
}

// openGroup is a subgraph whose end is not read, with what it mentions.
type openGroup struct {
	group    int
	mentions []int
}

var directions = map[string]layout.Direction{
	"TB": layout.Down, "TD": layout.Down, "BT": layout.Up, "LR": layout.Right, "RL": layout.Left,
	"V": layout.Down, "^": layout.Up, ">": layout.Right, "<": layout.Left,
}

func readFlow(src *source) (*graph, error) {
	r := &flowReader{graph: newGraph(src), s: src.body, styles: map[string]look{}, named: map[string][]string{}, clicks: map[string][2]string{}, edgeIDs: map[string][]int{}}
	if _, word, ok := strings.Cut(src.header, " "); ok {
		r.direction = directions[strings.ToUpper(word)]
	}
	for {
		r.skip(" \t\n;")
		if r.at == len(r.s) {
			break
		}
		if strings.HasPrefix(r.rest(), "%%") { // a comment after a semicolon
			line, _, _ := strings.Cut(r.rest(), "\n")
			r.at += len(line)
			continue
		}
		start := r.at
		if err := r.statement(); err != nil {
			return nil, err
		}
		if r.at == start {
			return nil, r.unread(start)
		}
		if len(r.nodes)+len(r.edges) > 4*maxGraph || len(r.groups) > maxGroups {
			break // check says it
		}
	}
	if r.at == len(r.s) && len(r.open) > 0 {
		return nil, errUnread{"subgraph " + r.groups[r.open[0].group].label.String()}
	}
	r.finish()
	return r.graph, nil
}

// unread is the error for the line that holds a place.
func (r *flowReader) unread(at int) error {
	at = min(at, len(r.s))
	from := strings.LastIndexByte(r.s[:at], '\n') + 1
	line, _, _ := strings.Cut(r.s[from:], "\n")
	return errUnread{strings.TrimSpace(line)}
}

func (r *flowReader) skip(set string) {
	for r.at < len(r.s) && strings.IndexByte(set, r.s[r.at]) >= 0 {
		r.at++
	}
}

func (r *flowReader) rest() string { return r.s[r.at:] }

// ended reports whether the statement ends here.
func (r *flowReader) ended() bool {
	return r.at == len(r.s) || r.s[r.at] == '\n' || r.s[r.at] == ';'
}

// line takes what is left of the line, up to a semicolon outside of quotes and
// brackets.
func (r *flowReader) line() string {
	line, rest, _ := strings.Cut(r.rest(), "\n")
	if strings.Count(line, `"`)%2 == 1 { // a text in quotes may have several lines
		if at := strings.IndexByte(rest, '"'); at >= 0 && at < maxFrontMatter {
			more, _, _ := strings.Cut(rest[at:], "\n")
			line += "\n" + rest[:at] + more
		}
	}
	if parts := splitLine(line); len(parts) > 1 {
		line = line[:strings.Index(line, parts[0])+len(parts[0])]
	}
	r.at += len(line)
	return strings.TrimSuffix(strings.TrimSpace(line), ";")
}

var flowWord = lazy.Regexp(`^(subgraph|end|direction|classDef|class|style|linkStyle|click|href)(?:[ \t]+|[ \t]*(?:[;\n]|$))`)

func (r *flowReader) statement() error {
	m := flowWord().FindStringSubmatch(r.rest())
	if m == nil {
		return r.vertices()
	}
	start := r.at
	r.at += len(m[1])
	rest := r.line()
	if at := strings.IndexAny(r.rest(), `[](){}|"`); m[1] == "subgraph" && at > 0 && r.rest()[at] == ']' && strings.Count(rest, "[") > strings.Count(rest, "]") {
		rest += r.rest()[:at+1] // a title of several lines
		r.at += at + 1
	}
	ok := true
	switch m[1] {
	case "subgraph":
		r.subgraph(rest)
	case "end":
		if ok = len(r.open) > 0 && rest == ""; ok {
			r.close()
		}
	case "direction":
		var d layout.Direction
		if d, ok = directions[strings.ToUpper(rest)]; !ok {
			break
		}
		if n := len(r.open); n > 0 {
			c := &r.groups[r.open[n-1].group]
			c.direction, c.hasDirection = d, true
		} else {
			r.direction = d
		}
	case "classDef":
		ok = r.define(rest)
	case "class":
		ids, name, both := strings.Cut(rest, " ")
		if ok = both; both {
			for id := range strings.SplitSeq(ids, ",") {
				r.named[id] = append(r.named[id], strings.TrimSpace(name))
			}
		}
	case "style":
		ids, list, both := strings.Cut(rest, " ")
		if ok = both; both {
			for id := range strings.SplitSeq(ids, ",") {
				r.styles[id] = readLook(r.styles[id], list)
			}
		}
	case "linkStyle":
		ok = r.linkStyle(rest)
	case "click", "href":
		r.click(rest)
	}
	if !ok {
		return r.unread(start)
	}
	return nil
}

var (
	groupTitle = lazy.Regexp(`(?s)^([^\s\["]+)\s*\[(.*)\]$`)
	spaced     = lazy.Regexp(`\s`)
)

func (r *flowReader) subgraph(rest string) {
	id, title := rest, rest
	if m := groupTitle().FindStringSubmatch(rest); m != nil {
		id, title = m[1], m[2]
	} else if rest == "" || spaced().MatchString(rest) || rest[0] == '"' {
		if id = unquoted(rest); rest == "" || spaced().MatchString(id) {
			id = "subgraph " + strconv.Itoa(len(r.groups))
		}
	}
	parent := -1
	if n := len(r.open); n > 0 {
		parent = r.open[n-1].group
	}
	r.groupIDs[id] = len(r.groups)
	r.open = append(r.open, openGroup{group: len(r.groups)})
	r.groups = append(r.groups, group{id: id, label: r.readLabel(title, textSize, titleLimit, true), parent: parent})
}

// close ends a subgraph: it holds what it mentions and no other has.
func (r *flowReader) close() {
	n := len(r.open) - 1
	for _, i := range r.open[n].mentions {
		if r.nodes[i].group < 0 {
			r.nodes[i].group = r.open[n].group
		}
	}
	r.open = r.open[:n]
}

func (r *flowReader) linkStyle(rest string) bool {
	which, list, ok := strings.Cut(rest, " ")
	if !ok {
		return false
	}
	curve := ""
	if after, ok := strings.CutPrefix(list, "interpolate "); ok {
		curve, list, _ = strings.Cut(after, " ")
	}
	if which == "default" {
		r.sharp = r.sharp || sharpCurves[curve]
		r.edgeLook = readLook(r.edgeLook, list)
		return true
	}
	for part := range strings.SplitSeq(which, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || i < 0 || i >= len(r.edges) {
			return false
		}
		r.edges[i].look = readLook(r.edges[i].look, list)
		r.edges[i].sharp = r.edges[i].sharp || sharpCurves[curve]
	}
	return true
}

var clickLink = lazy.Regexp(`^(\S+)\s+(?:href\s+)?"([^"]*)"(?:\s+"([^"]*)")?`)

// click keeps an address; what calls a function does nothing on a page.
func (r *flowReader) click(rest string) {
	if m := clickLink().FindStringSubmatch(rest); m != nil {
		r.clicks[m[1]] = [2]string{m[2], m[3]}
	}
}

// vertices reads "A & B --> C --> D".
func (r *flowReader) vertices() error {
	start := r.at
	from, err := r.sides()
	if err != nil {
		return err
	}
	for {
		r.skip(" \t")
		if r.ended() && !r.goesOn() {
			return nil
		}
		e, id, ok := r.link()
		if !ok {
			return r.unread(start)
		}
		r.skip(" \t")
		to, err := r.sides()
		if err != nil {
			return err
		}
		if n := len(from) * len(to); n > 1 {
			if r.pairs += n; r.pairs > maxPairs {
				return errLarge{fmt.Sprintf("more than %d links", maxPairs)}
			}
		}
		for _, a := range from {
			for _, b := range to {
				e.from, e.to = a, b
				if id != "" {
					r.edgeIDs[id] = append(r.edgeIDs[id], len(r.edges))
				}
				r.edges = append(r.edges, e)
			}
		}
		from = to
	}
}

var nextLink = lazy.Regexp(`^[ \t\n]+(?:--|==|~~~|-\.|<--|<==|<-\.)`)

// goesOn moves to the next line if it begins with a link, which then leads from the
// nodes of this one.
func (r *flowReader) goesOn() bool {
	if !nextLink().MatchString(r.rest()) {
		return false
	}
	r.skip(" \t\n")
	return true
}

// sides reads the nodes of one end of a link.
func (r *flowReader) sides() ([]int, error) {
	var out []int
	for {
		i, err := r.vertex()
		if err != nil {
			return nil, err
		}
		if i >= 0 {
			out = append(out, i)
		}
		if len(out) > maxPairs {
			return nil, errLarge{fmt.Sprintf("more than %d links", maxPairs)}
		}
		at := r.at
		r.skip(" \t")
		if r.at == len(r.s) || r.s[r.at] != '&' {
			r.at = at
			return out, nil
		}
		r.at++
		r.skip(" \t\n")
	}
}

// id takes the name of a node, "" if there is none.
func (r *flowReader) id() string {
	start := r.at
	for r.at < len(r.s) {
		c := r.s[r.at]
		next := byte(0)
		if r.at+1 < len(r.s) {
			next = r.s[r.at+1]
		}
		switch {
		case c >= utf8.RuneSelf, c == '_', c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z',
			strings.IndexByte("!#$%'*+?/\\,", c) >= 0,
			c == '.' && (next != '-' && next != '.' || r.at == start),
			c == '-' && strings.IndexByte("->.", next) < 0 && next != 0 && r.at > start,
			c == '=' && next != '=' && r.at > start,
			c == ':' && next != ':' && r.at > start && r.s[r.at-1] != ':':
			r.at++
		default:
			return r.s[start:r.at]
		}
	}
	return r.s[start:r.at]
}

// vertex reads a node with its shape and classes; it is -1 where the statement
// says something of a link.
func (r *flowReader) vertex() (int, error) {
	start := r.at
	id := r.id()
	if id == "" {
		return -1, r.unread(start)
	}
	if links := r.edgeIDs[id]; len(links) > 0 && strings.HasPrefix(r.rest(), "@{") { // how it moves or bends
		r.at++
		values, err := r.braces()
		for _, i := range links {
			r.edges[i].sharp = sharpCurves[said(values["curve"])]
		}
		return -1, err
	}
	i := r.node(id, -1)
	if n := len(r.open); n > 0 && !slices.Contains(r.open[n-1].mentions, i) {
		r.open[n-1].mentions = append(r.open[n-1].mentions, i)
	}
	at := r.at
	r.skip(" \t")
	if shape, text, ok := r.shaped(); ok {
		r.nodes[i].shape = shape
		r.relabel(i, text)
	} else {
		r.at = at
	}
	for {
		switch {
		case strings.HasPrefix(r.rest(), ":::"):
			r.at += 3
			name := r.id()
			if name == "" {
				return -1, r.unread(start)
			}
			r.nodes[i].looks = append(r.nodes[i].looks, strings.Split(name, ",")...)
		case strings.HasPrefix(r.rest(), "@{"):
			r.at++
			if err := r.details(i, start); err != nil {
				return -1, err
			}
		default:
			return i, nil
		}
	}
}

// relabel gives a node its label, in place of an earlier one.
func (r *flowReader) relabel(i int, text string) {
	n := &r.nodes[i]
	if n.labelled {
		r.src.replaced = append(r.src.replaced, n.label.String())
	}
	n.label, n.labelled = r.readLabel(text, textSize, r.wrapping, false), true
}

// brackets are what shapes stand between, longer ones before those that they
// begin with.
var brackets = [...]struct {
	open, close string
	shape       shape
}{
	{"(((", ")))", shapeDouble}, {"((", "))", shapeCircle}, {"([", "])", shapeStadium}, {"[[", "]]", shapeSubroutine},
	{"[(", ")]", shapeCylinder}, {"(-", "-)", shapeEllipse}, {"{{", "}}", shapeHexagon}, {"{", "}", shapeDiamond},
	{"(", ")", shapeRounded}, {">", "]", shapeOdd}, {"[/", "/]", shapeLeanRight}, {"[/", `\]`, shapeTrapezoid},
	{`[\`, `\]`, shapeLeanLeft}, {`[\`, "/]", shapeTrapezoidTop}, {"[", "]", shapeRect},
}

// shaped reads a label between brackets.
func (r *flowReader) shaped() (shape, string, bool) {
	rest := r.rest()
	best := len(r.s) + 1
	var found shape
	var label string
	for _, b := range brackets {
		if !strings.HasPrefix(rest, b.open) || best <= len(r.s) && b.open == "[" {
			continue
		}
		inner := rest[len(b.open):]
		if b.open == "[" && strings.HasPrefix(inner, "|") { // properties of no use
			if _, after, ok := strings.Cut(inner[1:], "|"); ok {
				inner = after
			}
		}
		text, after, ok := labelUntil(inner, b.close)
		if !ok {
			continue
		}
		at := len(r.s) - len(after)
		if b.open[len(b.open)-1] != '/' && b.open[len(b.open)-1] != '\\' {
			if best > len(r.s) {
				found, label, best = b.shape, text, at
			}
			break
		}
		// Slanted sides end at the first of the two signs.
		if at < best {
			found, label, best = b.shape, text, at
		}
	}
	if best > len(r.s) {
		return 0, "", false
	}
	r.at = best
	return found, label, true
}

// labelUntil cuts a label, which may be in quotes, at the sign that closes it.
func labelUntil(s, sign string) (text, after string, ok bool) {
	trimmed := strings.TrimLeft(s, " \t\n")
	if strings.HasPrefix(trimmed, `"`) {
		if at := strings.IndexByte(trimmed[1:], '"'); at >= 0 {
			after := strings.TrimLeft(trimmed[at+2:], " \t\n")
			if after, ok := strings.CutPrefix(after, sign); ok {
				return trimmed[:at+2], after, true
			}
		}
		return "", s, false
	}
	line, _, _ := strings.Cut(s, "\n")
	depth := 0
	for i := 0; i < len(line); i++ {
		if depth == 0 && strings.HasPrefix(line[i:], sign) {
			return line[:i], s[i+len(sign):], true
		}
		switch line[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			if depth--; depth < 0 {
				depth = 0
			}
		}
	}
	if at := strings.Index(line, sign); at >= 0 {
		return line[:at], s[at+len(sign):], true
	}
	// One of several lines has no other signs in it.
	if at := strings.IndexAny(s, `[](){}|"`); at > 0 && strings.HasPrefix(s[at:], sign) {
		return s[:at], s[at+len(sign):], true
	} else if at > 0 && strings.IndexByte(`/\`, sign[0]) >= 0 && strings.HasPrefix(s[at-1:], sign) {
		return s[:at-1], s[at-1+len(sign):], true
	}
	return "", s, false
}

// braces takes a block "{ … }", whose strings may hold braces, and reads it.
func (r *flowReader) braces() (map[string]any, error) {
	start, quoted := r.at, false
	for ; r.at < len(r.s) && r.at-start < maxFrontMatter; r.at++ {
		switch c := r.s[r.at]; {
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			block := r.s[start : r.at+1]
			r.at++
			out := map[string]any{}
			err := yaml.Unmarshal([]byte(block), &out)
			if err != nil || len(out) == 0 && strings.Contains(block, "\n") {
				// Lines of a block need no commas between them.
				err = yaml.Unmarshal([]byte(dedented(block[1:len(block)-1])), &out)
			}
			if err != nil {
				return nil, r.unread(start)
			}
			return out, nil
		}
	}
	return nil, r.unread(start)
}

// dedented returns lines without the spaces before them.
func dedented(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// details reads what stands in braces after a node: its shape and label.
func (r *flowReader) details(i, start int) error {
	said, err := r.braces()
	if err != nil {
		return err
	}
	n := &r.nodes[i]
	for key, value := range said {
		text := fmt.Sprint(value)
		switch key {
		case "shape":
			shape, ok := shapeNames[text]
			if !ok {
				return ErrOther
			}
			n.shape = shape
		case "label":
			r.relabel(i, text)
		case "icon", "img":
			return ErrOther
		}
	}
	return nil
}

var (
	linkFull  = lazy.Regexp(`^(?:([xo<]?)(--+[-xo>]|==+[=xo>]|-?\.+-[xo>]?)|(~~~+))`)
	linkStart = lazy.Regexp(`^([xo<]?)(--|==|-\.)`)
	linkEnds  = map[string]func() *regexp.Regexp{"--": lazy.Regexp(`--+[-xo>]`), "==": lazy.Regexp(`==+[=xo>]`), "-.": lazy.Regexp(`-?\.+-[xo>]?`)}
	linkID    = lazy.Regexp(`^[^\s"@{}|;]+@[-=.~xo<]`)
)

// link reads a line between nodes, with its label.
func (r *flowReader) link() (e edge, id string, ok bool) {
	if m := linkID().FindString(r.rest()); m != "" {
		id = m[:len(m)-2]
		r.at += len(m) - 1
	}
	text := ""
	if m := linkFull().FindStringSubmatch(r.rest()); m != nil {
		r.at += len(m[0])
		e = arrow(m[1], m[2]+m[3])
	} else if m := linkStart().FindStringSubmatch(r.rest()); m != nil {
		inner := r.rest()[len(m[0]):]
		before := 0
		if trimmed := strings.TrimLeft(inner, " \t\n"); strings.HasPrefix(trimmed, `"`) {
			if at := strings.IndexByte(trimmed[1:], '"'); at >= 0 {
				before = len(inner) - len(trimmed) + at + 2
			}
		}
		end := linkEnds[m[2]]().FindStringIndex(inner[before:])
		if end == nil {
			return e, id, false
		}
		// A text of several lines has no signs of nodes in it.
		if said := inner[before : before+end[0]]; strings.Contains(strings.TrimSpace(said), "\n") && strings.ContainsAny(said, `[](){}|";&`) {
			return e, id, false
		}
		end[0] += before
		end[1] += before
		text = inner[:end[0]]
		e = arrow(m[1], inner[end[0]:end[1]])
		r.at += len(m[0]) + end[1]
	} else {
		return e, id, false
	}
	at := r.at
	r.skip(" \t")
	if r.at < len(r.s) && r.s[r.at] == '|' {
		said, after, ok := labelUntil(r.rest()[1:], "|")
		if !ok {
			return e, id, false
		}
		text, r.at = said, len(r.s)-len(after)
	} else {
		r.at = at
	}
	e.label = r.readLabel(text, linkSize, linkLimit, false)
	return e, id, true
}

// arrow is the link of a sign: what it begins with and the rest.
func arrow(start, sign string) edge {
	e := edge{length: 1}
	head := map[byte]headSign{'<': headArrow, '>': headArrow, 'x': headCross, 'o': headCircle}
	if start != "" {
		e.start = head[start[0]]
	}
	e.end = head[sign[len(sign)-1]]
	switch {
	case sign[0] == '~':
		e.line = unseen
		e.length = len(sign) - 2
	case strings.Contains(sign, "."):
		e.line = dotted
		e.length = strings.Count(sign, ".")
	default:
		if sign[0] == '=' {
			e.line = thick
		}
		e.length = len(sign) - 2
	}
	return e
}

// finish puts together what statements said apart of each other.
func (r *flowReader) finish() {
	for i := range r.nodes {
		n := &r.nodes[i]
		if !n.labelled && !wordless[n.shape] {
			n.label = r.readLabel(n.id, textSize, r.wrapping, false)
		}
		n.look = r.looked(append(n.looks, r.named[n.id]...), r.styles[n.id])
		if c, ok := r.clicks[n.id]; ok {
			n.href, n.tip = c[0], c[1]
		}
	}
	for i := range r.groups {
		c := &r.groups[i]
		var classes []string
		if at, ok := r.nodeIDs[c.id]; ok {
			classes = r.nodes[at].looks
		}
		own := r.styles[c.id]
		c.look = look{}
		for _, name := range append(classes, r.named[c.id]...) {
			c.look = c.look.over(r.classes[name])
		}
		c.look = c.look.over(own)
	}
	for i := range r.edges {
		r.edges[i].look = r.edgeLook.over(r.edges[i].look)
	}
}
