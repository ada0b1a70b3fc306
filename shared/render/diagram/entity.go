package diagram

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// entityReader reads an entity relationship diagram, a line at a time.
type entityReader struct {
	*graph
	body   int // the entity whose attributes are read, -1 outside
	styles map[string]look
	named  map[string][]string
}

const entityName = `("[^"]+"|[^\s"{}:\[\]|]+?)(?:\[("?)([^\]"]*)"?\])?(?:\s*:::\s*([\w,-]+))?`

var (
	entityLink = lazy.Regexp(`^` + entityName + entitySigns + entityName + `\s*(?::\s*(.*))?$`)
	entityOpen = lazy.Regexp(`^` + entityName + `\s*(?:(\{)\s*(.*))?$`)
	entityRow  = lazy.Regexp(`^([^\s"{}]+)\s+([^\s"{},]+)((?:\s+(?:PK|FK|UK)\b\s*,?|\s*,\s*(?:PK|FK|UK)\b)*)\s*(?:"([^"]*)")?(?:\s+|$|(\}))`)
	entityWord = lazy.Regexp(`^(direction|classDef|class|style)\s+(.+)$`)
)

// entitySigns is a line between entities: how many, the line, how many, each in
// signs or in words. A 1 is one only beside a line, and a u is one's parent there.
const entitySigns = `(?:\s*` + entityMarks + `|\s+` + entityWords + `)\s*(--|\.\.|\.-|-\.|\bto\b|\boptionally to\b)\s*(?:` + entityMarks + `\s*|` + entityWords + `\s+)`

const (
	entityMarks = `(\|o|\|\||\}o|\}\||o\||o\{|\|\{)`
	entityWords = `(one or zero|zero or one|one or more|one or many|many\(1\)|1\+|zero or more|zero or many|many\(0\)|0\+|only one|one|many|1|u)`
)

var entityHeads = map[string]headSign{
	"|o": headZeroOne, "o|": headZeroOne, "||": headOne, "}o": headZeroMany, "o{": headZeroMany, "}|": headMany, "|{": headMany,
	"one or zero": headZeroOne, "zero or one": headZeroOne, "one or more": headMany, "one or many": headMany, "many(1)": headMany, "1+": headMany,
	"zero or more": headZeroMany, "zero or many": headZeroMany, "many(0)": headZeroMany, "many": headZeroMany, "0+": headZeroMany,
	"only one": headOne, "one": headOne, "1": headOne, "u": headOne,
}

func readEntities(src *source) (*graph, error) {
	r := &entityReader{graph: newGraph(src), body: -1, styles: map[string]look{}, named: map[string][]string{}}
	r.wide = true
	r.direction = directions[strings.ToUpper(src.own("layoutDirection"))]
	for _, line := range src.lines {
		line = unended(line)
		if line != "" && !r.line(line) {
			return nil, errUnread{line}
		}
		if len(r.nodes)+len(r.edges) > 4*maxGraph {
			return r.graph, nil // check says it
		}
	}
	if r.body >= 0 {
		return nil, errUnread{r.nodes[r.body].id + " {"}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		n.look = r.looked(append(n.looks, r.named[n.id]...), r.styles[n.id])
	}
	return r.graph, nil
}

func (r *entityReader) line(line string) bool {
	if r.body >= 0 {
		return r.rows(line)
	}
	if m := entityWord().FindStringSubmatch(line); m != nil {
		return r.word(m[1], m[2])
	}
	if m := entityLink().FindStringSubmatch(line); m != nil {
		from, to := r.entity(m[1:5]), r.entity(m[10:14])
		e := edge{from: from, to: to, length: 1, start: entityHeads[m[5]+m[6]], end: entityHeads[m[8]+m[9]], label: r.readLabel(m[14], linkSize, linkLimit, false)}
		if m[7] != "--" && m[7] != "to" {
			e.line = dotted
		}
		r.edges = append(r.edges, e)
		return true
	}
	if m := entityOpen().FindStringSubmatch(line); m != nil {
		i := r.entity(m[1:5])
		if m[5] != "" {
			r.body = i
			return m[6] == "" || r.rows(m[6])
		}
		return true
	}
	return false
}

// rows reads attributes of the open entity, and the brace that closes it.
func (r *entityReader) rows(line string) bool {
	for line != "" {
		if line[0] == '}' {
			r.body = -1
			return strings.TrimSpace(line[1:]) == ""
		}
		m := entityRow().FindStringSubmatch(line)
		if m == nil {
			return false
		}
		line = strings.TrimSpace(line[len(m[0])-len(m[5]):])
		keys := strings.Join(strings.FieldsFunc(m[3], func(c rune) bool { return c == ' ' || c == ',' || c == '\t' }), ", ")
		var row []label
		for _, cell := range []string{generics(m[1]), m[2], keys, m[4]} {
			row = append(row, r.readLabel(escaped(cell), linkSize, nodeLimit, false))
		}
		n := &r.nodes[r.body]
		n.parts = append(n.parts, row)
		n.columns = make([]float64, len(row))
	}
	return true
}

// word reads lines that begin with a keyword.
func (r *entityReader) word(word, rest string) bool {
	switch word {
	case "direction":
		d, ok := directions[strings.ToUpper(rest)]
		r.direction = d
		return ok
	case "classDef":
		return r.define(rest)
	}
	ids, list, ok := strings.Cut(rest, " ")
	for id := range strings.SplitSeq(ids, ",") {
		if word == "style" {
			r.styles[id] = readLook(r.styles[id], list)
		} else {
			r.named[id] = append(r.named[id], strings.Split(strings.TrimSpace(list), ",")...)
		}
	}
	return ok
}

// entity finds an entity by name, other name and classes.
func (r *entityReader) entity(m []string) int {
	id := unquoted(m[0])
	i := r.node(id, -1)
	n := &r.nodes[i]
	title := m[2]
	if len(n.parts) == 0 || title != "" {
		if title == "" {
			title = id
		} else {
			r.src.replaced = append(r.src.replaced, id)
		}
		l := []label{r.readLabel(title, textSize, nodeLimit, true)}
		if len(n.parts) == 0 {
			n.parts = [][]label{l}
		}
		n.parts[0], n.name = l, l[0].String()
	}
	if m[3] != "" {
		n.looks = append(n.looks, strings.Split(m[3], ",")...)
	}
	return i
}
