package diagram

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// classReader reads a class diagram, a line at a time.
type classReader struct {
	*graph
	body   int // the class whose members are read, -1 outside
	spaces []int
	styles map[string]look
	named  map[string][]string
	clicks map[string][2]string
}

const className = "(`[^`]+`|[\\w\\x{aa}-\\x{ffff}~.,-]+?)"

var (
	classLink = lazy.Regexp(`^` + className + `\s*(?:"([^"]*)")?\s*(<\||<|\*|\(\)|\bo)?(--|\.\.)(\|>|>|\*|\(\)|o\b)?\s*(?:"([^"]*)")?\s*` + className + `\s*(?::\s*(.*))?$`)
	classOpen = lazy.Regexp(`^class\s+` + className + `\s*(?:\["([^"]*)"\])?\s*(?::::([\w-]+))?\s*(?:<<([^<>]+)>>\s*)?(\{.*)?$`)
	classKind = lazy.Regexp(`^<<([^<>]+)>>\s*` + className + `?$`)
	classPart = lazy.Regexp(`^` + className + `\s*:\s*(.+)$`)
	classNote = lazy.Regexp(`(?s)^note\s+(?:for\s+` + className + `\s+)?"(.*)"$`)
	classRoom = lazy.Regexp("^namespace\\s+(`[^`]+`|[^\\s{\\[]+)\\s*(?:\\[\"([^\"]*)\"\\])?\\s*\\{\\s*(.*)$")
	classMore = lazy.Regexp(`^` + className + `(?::::([\w-]+))?$`)
	classWord = lazy.Regexp(`^(direction|classDef|cssClass|style|click|link|callback)\s+(.+)$`)
	generic   = lazy.Regexp(`~([^~]*)~`)
	method    = lazy.Regexp(`^(.*?\([^)]*\))([$*]?)\s*(.*?)([$*]?)$`)
)

func readClasses(src *source) (*graph, error) {
	r := &classReader{graph: newGraph(src), body: -1, styles: map[string]look{}, named: map[string][]string{}, clicks: map[string][2]string{}}
	r.wide = true
	for _, line := range src.lines {
		line = unended(line)
		if line != "" && !r.line(line) {
			return nil, errUnread{line}
		}
		if len(r.nodes)+len(r.edges) > 4*maxGraph || len(r.groups) > maxGroups {
			return r.graph, nil // check says it
		}
	}
	if r.body >= 0 || len(r.spaces) > 0 {
		return nil, errUnread{"class"}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		if len(n.parts) == 3 && len(n.parts[1])+len(n.parts[2]) == 0 && r.flag("hideEmptyMembersBox", false) {
			n.parts = n.parts[:1]
		}
		n.look = r.looked(append(n.looks, r.named[n.id]...), r.styles[n.id])
		if c, ok := r.clicks[n.id]; ok {
			n.href, n.tip = c[0], c[1]
		}
	}
	return r.graph, nil
}

func (r *classReader) line(line string) bool {
	if r.body >= 0 {
		switch {
		case line == "}":
			r.body = -1
		case classKind().MatchString(line):
			r.kind(r.body, classKind().FindStringSubmatch(line)[1])
		default:
			r.member(r.body, strings.TrimSuffix(line, "}"))
			if strings.HasSuffix(line, "}") {
				r.body = -1
			}
		}
		return true
	}
	if line == "}" {
		if len(r.spaces) == 0 {
			return false
		}
		r.spaces = r.spaces[:len(r.spaces)-1]
		return true
	}
	if m := classWord().FindStringSubmatch(line); m != nil {
		return r.word(m[1], m[2])
	}
	if m := classOpen().FindStringSubmatch(line); m != nil {
		i := r.class(m[1])
		if m[2] != "" {
			r.nodes[i].parts[0] = []label{r.readLabel(m[2], textSize, nodeLimit, true)}
		}
		if m[3] != "" {
			r.nodes[i].looks = append(r.nodes[i].looks, m[3])
		}
		if m[4] != "" {
			r.kind(i, m[4])
		}
		if m[5] != "" {
			rest, closed := strings.CutSuffix(strings.TrimSpace(m[5][1:]), "}")
			r.member(i, rest)
			if !closed {
				r.body = i
			}
		}
		return true
	}
	if m := classNote().FindStringSubmatch(line); m != nil {
		r.note(m[1], m[2])
		return true
	}
	if m := classRoom().FindStringSubmatch(line); m != nil {
		r.spaces = append(r.spaces, len(r.groups))
		parent := -1
		if n := len(r.spaces); n > 1 {
			parent = r.spaces[n-2]
		}
		name := strings.Trim(m[1], "`")
		r.groupIDs["namespace "+name] = len(r.groups)
		r.groups = append(r.groups, group{id: "namespace " + name, label: r.readLabel(cmp.Or(m[2], name), textSize, titleLimit, true), parent: parent})
		return m[3] == "" || r.inside(m[3])
	}
	if m := classKind().FindStringSubmatch(line); m != nil && m[2] != "" {
		r.kind(r.class(m[2]), m[1])
		return true
	}
	if m := classLink().FindStringSubmatch(line); m != nil {
		r.relate(m)
		return true
	}
	if m := classPart().FindStringSubmatch(line); m != nil {
		r.member(r.class(m[1]), m[2])
		return true
	}
	if m := classMore().FindStringSubmatch(line); m != nil {
		if i := r.class(m[1]); m[2] != "" {
			r.nodes[i].looks = append(r.nodes[i].looks, m[2])
		}
		return true
	}
	return false
}

// inside reads the rest of a line after the brace that opens a namespace.
func (r *classReader) inside(rest string) bool {
	closed := max(strings.Count(rest, "}")-strings.Count(rest, "{"), 0)
	for range closed {
		rest = strings.TrimSpace(rest[:strings.LastIndexByte(rest, '}')])
	}
	ok := rest == "" || r.line(rest)
	for range closed {
		ok = ok && r.line("}")
	}
	return ok
}

// word reads lines that begin with a keyword.
func (r *classReader) word(word, rest string) bool {
	switch word {
	case "direction":
		d, ok := directions[strings.ToUpper(rest)]
		r.direction = d
		return ok
	case "classDef":
		return r.define(rest)
	case "cssClass", "style":
		m := regexp.MustCompile(`^(?:"([^"]*)"|(\S+))\s+(.+)$`).FindStringSubmatch(rest)
		if m == nil {
			return false
		}
		for id := range strings.SplitSeq(m[1]+m[2], ",") {
			if id = strings.TrimSpace(id); word == "style" {
				r.styles[id] = readLook(r.styles[id], m[3])
			} else {
				r.named[id] = append(r.named[id], m[3])
			}
		}
	case "click", "link":
		if m := clickLink().FindStringSubmatch(rest); m != nil {
			r.clicks[m[1]] = [2]string{m[2], m[3]}
		}
	}
	return true
}

// class finds a class by its name, which may have parameters: "List~T~".
func (r *classReader) class(name string) int {
	name = strings.Trim(name, "`")
	id, _, _ := strings.Cut(name, "~")
	in := -1
	if n := len(r.spaces); n > 0 {
		in = r.spaces[n-1]
	}
	i := r.node(id, in)
	n := &r.nodes[i]
	if n.group < 0 {
		n.group = in
	}
	if len(n.parts) == 0 || id != name && len(n.parts[0]) == 1 && !strings.Contains(n.name, "<") {
		if len(n.parts) == 0 {
			n.parts = make([][]label, 3)
		}
		n.name = strings.Join(strings.Fields(generics(name)), " ")
		n.parts[0] = []label{r.readLabel(escaped(generics(name)), textSize, nodeLimit, true)}
	}
	return i
}

// generics writes "List~int~" as "List<int>".
func generics(s string) string {
	for strings.Count(s, "~") > 1 {
		next := generic().ReplaceAllString(s, "<$1>")
		if next == s {
			break
		}
		s = next
	}
	return s
}

// escaped keeps signs of HTML as they are.
func escaped(s string) string { return string(html.AppendText(nil, s)) }

// kind says what a class is, above its name.
func (r *classReader) kind(i int, what string) {
	n := &r.nodes[i]
	l := r.readLabel("«"+strings.TrimSpace(what)+"»", linkSize, nodeLimit, false)
	n.parts[0] = append([]label{l}, n.parts[0]...)
}

// member adds an attribute or a method.
func (r *classReader) member(i int, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	at := 1
	var style textStyle
	if m := method().FindStringSubmatch(text); m != nil {
		at = 2
		text = m[1]
		if m[3] != "" {
			text += " : " + strings.TrimLeft(m[3], ": ")
		}
		text += max(m[2], m[4])
	}
	switch text[len(text)-1] {
	case '$':
		style, text = underlined, text[:len(text)-1]
	case '*':
		style, text = italic, text[:len(text)-1]
	}
	// What is of package visibility begins with a tilde too.
	first := ""
	if text != "" && text[0] == '~' {
		first, text = "~", text[1:]
	}
	l := r.readLabel(escaped(first+generics(text)), linkSize, 420, false)
	l.restyle(style)
	n := &r.nodes[i]
	n.parts[at] = append(n.parts[at], l)
}

// relate adds a line between two classes.
func (r *classReader) relate(m []string) {
	signs := map[string]headSign{
		"<|": headTriangle, "|>": headTriangle, "<": headOpen, ">": headOpen, "*": headDiamond, "o": headHollow, "()": headLollipop,
	}
	e := edge{
		from: r.class(m[1]), to: r.class(m[7]), start: signs[m[3]], end: signs[m[5]], length: 1,
		startText: r.readLabel(m[2], linkSize, linkLimit, false), endText: r.readLabel(m[6], linkSize, linkLimit, false),
		label: r.readLabel(m[8], linkSize, linkLimit, false),
	}
	if m[4] == ".." {
		e.line = dotted
	}
	r.edges = append(r.edges, e)
}

func (r *classReader) note(about, text string) {
	i := len(r.nodes)
	r.nodes = append(r.nodes, node{id: "note " + strconv.Itoa(i), label: r.readLabel(text, textSize, nodeLimit, false), labelled: true, shape: shapeNote, group: -1})
	if about != "" {
		at := r.class(about)
		r.nodes[i].group = r.nodes[at].group
		r.edges = append(r.edges, edge{from: i, to: at, line: dotted, length: 1, silent: true})
	}
}
