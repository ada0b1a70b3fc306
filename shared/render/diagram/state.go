package diagram

import (
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// stateReader reads a state diagram, a line at a time.
type stateReader struct {
	*graph
	scopes []scope
	styles map[string]look
	named  map[string][]string
	clicks map[string][2]string
	notes  []stateNote
}

// scope is a place with a start and an end of its own: the whole, a composite
// state, a region.
type scope struct {
	group  int    // -1 for the whole
	name   string // of the scope's own points
	region bool
}

// stateNote stands beside a state when all are known.
type stateNote struct {
	about string
	left  bool
	text  string
}

const stateID = `(\[\*\]|\[H\*?\]|[^\s:{}"]+?)(?::::([\w,-]+))?`

var (
	stateArrow = lazy.Regexp(`^` + stateID + `\s*-->\s*` + stateID + `\s*(?::\s*(.*))?$`)
	stateQuote = lazy.Regexp(`(?s)^state\s+"([^"]*)"\s+as\s+` + stateID + `\s*(?:(\{)|:\s*(.*))?$`)
	stateKind  = lazy.Regexp(`^state\s+` + stateID + `\s*(?:<<|\[\[)(fork|join|choice|history|start|end)(?:>>|\]\])$`)
	stateOpen  = lazy.Regexp(`^state\s+` + stateID + `\s*\{$`)
	stateText  = lazy.Regexp(`^(?:state\s+)?` + stateID + `\s*:\s*(.*)$`)
	stateBare  = lazy.Regexp(`^(?:state\s+)?` + stateID + `$`)
	stateNotes = lazy.Regexp(`^(?i:note)\s+(?i:(left|right)\s+of)\s+([^\s:]+)\s*(?::\s*(.+))?$`)
	stateSkip  = lazy.Regexp(`^(?:hide empty description$|scale\s|note\s+"[^"]*"\s+as\s)`)
	stateWord  = lazy.Regexp(`^(direction|classDef|class|style|click)\s+(.+)$`)
)

func readStates(src *source) (*graph, error) {
	r := &stateReader{
		graph: newGraph(src), scopes: []scope{{group: -1, name: "*"}}, styles: map[string]look{}, named: map[string][]string{},
		clicks: map[string][2]string{},
	}
	for i := 0; i < len(src.lines); i++ {
		line := unended(src.lines[i])
		if m := stateNotes().FindStringSubmatch(line); m != nil {
			text := m[3]
			if text == "" {
				var body []string
				for i++; i < len(src.lines) && !noteEnd().MatchString(src.lines[i]); i++ {
					body = append(body, src.lines[i])
				}
				if i == len(src.lines) {
					return nil, errUnread{line}
				}
				text = strings.Join(body, "\n")
			}
			r.state(m[2], "")
			r.notes = append(r.notes, stateNote{m[2], strings.EqualFold(m[1], "left"), text})
			continue
		}
		if !r.line(line) {
			return nil, errUnread{line}
		}
		if len(r.nodes)+len(r.edges) > 4*maxGraph || len(r.groups) > maxGroups {
			return r.graph, nil // check says it
		}
	}
	if len(r.scopes) > 1 {
		return nil, errUnread{"state " + r.groups[r.scopes[1].group].id}
	}
	r.finish()
	return r.graph, nil
}

// line reads one line; it reports false for one that is not known.
func (r *stateReader) line(line string) bool {
	switch line {
	case "":
		return true
	case "}":
		if r.scopes[len(r.scopes)-1].region {
			r.scopes = r.scopes[:len(r.scopes)-1]
		}
		if len(r.scopes) == 1 {
			return false
		}
		r.scopes = r.scopes[:len(r.scopes)-1]
		return true
	case "--":
		return r.region()
	}
	if m := stateWord().FindStringSubmatch(line); m != nil {
		return r.word(m[1], m[2])
	}
	if m := stateArrow().FindStringSubmatch(line); m != nil {
		from, to := r.end(m[1], m[2], false), r.end(m[3], m[4], true)
		r.edges = append(r.edges, edge{from: from, to: to, end: headArrow, length: 1, label: r.readLabel(m[5], linkSize, linkLimit, false)})
		return true
	}
	if m := stateQuote().FindStringSubmatch(line); m != nil {
		if m[4] != "" {
			r.composite(m[2], m[1], m[3])
			return true
		}
		r.describe(r.state(m[2], m[3]), m[1])
		if m[5] != "" {
			r.describe(r.state(m[2], ""), m[5])
		}
		return true
	}
	if m := stateKind().FindStringSubmatch(line); m != nil {
		n := &r.nodes[r.state(m[1], m[2])]
		n.labelled = true
		switch m[3] {
		case "fork", "join":
			n.shape = shapeFork
		case "choice":
			n.shape = shapeChoice
		case "start":
			n.shape = shapeStart
		case "end":
			n.shape = shapeEnd
		default:
			n.shape, n.label = shapeCircle, r.readLabel("H", textSize, r.wrapping, false)
		}
		n.name = n.id
		return true
	}
	if m := stateOpen().FindStringSubmatch(line); m != nil {
		r.composite(m[1], m[1], m[2])
		return true
	}
	if stateSkip().MatchString(line) {
		return true
	}
	if m := stateText().FindStringSubmatch(line); m != nil {
		r.describe(r.state(m[1], m[2]), m[3])
		return true
	}
	if m := stateBare().FindStringSubmatch(line); m != nil {
		r.state(m[1], m[2])
		return true
	}
	return false
}

// word reads lines that begin with a keyword.
func (r *stateReader) word(word, rest string) bool {
	if word == "direction" {
		d, ok := directions[strings.ToUpper(rest)]
		if in := r.scopes[len(r.scopes)-1].group; ok && in >= 0 {
			r.groups[in].direction, r.groups[in].hasDirection = d, true
		} else if ok {
			r.direction = d
		}
		return ok
	}
	if word == "classDef" {
		return r.define(rest)
	}
	if m := clickLink().FindStringSubmatch(rest); word == "click" {
		if m != nil {
			r.clicks[m[1]] = [2]string{m[2], m[3]}
		}
		return true
	}
	// Names may stand apart: "class a, b hot".
	at := strings.LastIndexByte(rest, ' ')
	if word == "style" {
		at = strings.IndexByte(rest, ' ')
	}
	if at < 0 {
		return false
	}
	for id := range strings.SplitSeq(rest[:at], ",") {
		if id = strings.TrimSpace(id); word == "class" {
			r.named[id] = append(r.named[id], rest[at+1:])
		} else {
			r.styles[id] = readLook(r.styles[id], rest[at+1:])
		}
	}
	return true
}

// state finds a state by its name. One that an outer scope named first belongs
// to the innermost that names it.
func (r *stateReader) state(id, classes string) int {
	in := r.scopes[len(r.scopes)-1].group
	i := r.node(id, in)
	n := &r.nodes[i]
	if n.group != in && r.holds(n.group, in) {
		if _, composite := r.groupIDs[id]; !composite {
			n.group = in
		}
	}
	if n.shape == shapeRect {
		n.shape = shapeState
	}
	if classes != "" {
		n.looks = append(n.looks, strings.Split(classes, ",")...)
	}
	return i
}

// holds reports whether a group is around another.
func (r *stateReader) holds(outer, inner int) bool {
	for outer >= 0 && inner >= 0 && inner != outer {
		inner = r.groups[inner].parent
	}
	return outer < 0 || inner == outer
}

// end finds what a transition ends at: [*] is the scope's start or its end.
func (r *stateReader) end(id, classes string, target bool) int {
	in := r.scopes[len(r.scopes)-1]
	switch {
	case strings.HasPrefix(id, "[H"):
		i := r.state(in.name+id, classes)
		r.nodes[i].shape, r.nodes[i].label, r.nodes[i].labelled = shapeCircle, r.readLabel(strings.Trim(id, "[]"), textSize, r.wrapping, false), true
		return i
	case id != "[*]":
		return r.state(id, classes)
	case target:
		i := r.state(in.name+" end", classes)
		r.nodes[i].shape, r.nodes[i].name, r.nodes[i].labelled = shapeEnd, "end", true
		return i
	}
	i := r.state(in.name+" start", classes)
	r.nodes[i].shape, r.nodes[i].name, r.nodes[i].labelled = shapeStart, "start", true
	return i
}

// describe adds a text to a state; further ones stand below the first.
func (r *stateReader) describe(i int, text string) {
	n := &r.nodes[i]
	l := r.readLabel(text, textSize, r.wrapping, false)
	switch {
	case !n.labelled:
		n.label, n.labelled = l, true
	case len(n.parts) == 0:
		n.parts = [][]label{{n.label}, {l}}
		n.label = label{}
		n.shape = shapeParts
	default:
		n.parts[1] = append(n.parts[1], l)
	}
}

func (r *stateReader) composite(id, title, classes string) {
	in := r.scopes[len(r.scopes)-1].group
	at, ok := r.groupIDs[id]
	if !ok {
		at = len(r.groups)
		r.groupIDs[id] = at
		if i, named := r.nodeIDs[id]; named && r.nodes[i].labelled {
			title = r.nodes[i].label.String()
		}
		r.groups = append(r.groups, group{id: id, label: r.readLabel(title, textSize, titleLimit, true), parent: in})
	}
	if classes != "" {
		r.named[id] = append(r.named[id], strings.Split(classes, ",")...)
	}
	r.scopes = append(r.scopes, scope{group: at, name: id})
}

// region begins another part of a state that is active at the same time.
func (r *stateReader) region() bool {
	n := len(r.scopes) - 1
	if n == 0 {
		return false
	}
	if !r.scopes[n].region {
		outer, first := r.scopes[n].group, len(r.groups)
		r.groups = append(r.groups, group{id: r.scopes[n].name + " 1", parent: outer, region: true})
		for i := range r.nodes {
			if r.nodes[i].group == outer {
				r.nodes[i].group = first
			}
		}
		for i := range r.groups[:first] {
			if r.groups[i].parent == outer {
				r.groups[i].parent = first
			}
		}
	} else {
		r.scopes = r.scopes[:n]
		n--
	}
	name := r.scopes[n].name + " " + strconv.Itoa(len(r.groups))
	r.groups = append(r.groups, group{id: name, parent: r.scopes[n].group, region: true})
	r.scopes = append(r.scopes, scope{group: len(r.groups) - 1, name: name, region: true})
	return true
}

func (r *stateReader) finish() {
	for i := range r.nodes {
		n := &r.nodes[i]
		if !n.labelled {
			n.label = r.readLabel(n.id, textSize, r.wrapping, false)
		}
		n.look = r.looked(append(n.looks, r.named[n.id]...), r.styles[n.id])
		if c, ok := r.clicks[n.id]; ok {
			n.href, n.tip = c[0], c[1]
		}
	}
	for i := range r.groups {
		c := &r.groups[i]
		if at, ok := r.nodeIDs[c.id]; ok {
			c.looks = r.nodes[at].looks
			if r.nodes[at].labelled {
				c.label = r.readLabel(r.nodes[at].label.String(), textSize, titleLimit, true)
			}
		}
		for _, name := range append(c.looks, r.named[c.id]...) {
			c.look = c.look.over(r.classes[name])
		}
		c.look = c.look.over(r.styles[c.id])
	}
	for _, n := range r.notes {
		r.note(n)
	}
}

// note puts a note beside a state. One about a group is a node of its own.
func (r *stateReader) note(n stateNote) {
	l := r.readLabel(n.text, textSize, r.wrapping, false)
	at, isGroup := r.groupIDs[n.about]
	if !isGroup {
		about := &r.nodes[r.nodeIDs[n.about]]
		about.notes = append(about.notes, noteBeside{label: l, left: n.left})
		return
	}
	i := len(r.nodes)
	r.nodes = append(r.nodes, node{id: "note " + strconv.Itoa(i), label: l, labelled: true, shape: shapeNote, group: r.groups[at].parent})
	e := edge{from: at, fromGroup: true, to: i, line: dotted, length: 1, silent: true}
	if n.left {
		e = edge{from: i, to: at, toGroup: true, line: dotted, length: 1, silent: true}
	}
	r.edges = append(r.edges, e)
}
