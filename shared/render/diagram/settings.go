package diagram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// settings are what an author configures: "config" in front matter and directives
// ("%%{init: …}%%"), of which the later ones win.
type settings struct {
	values  map[string]any
	section string   // the kind's own part
	ignored []string // what has no effect, though readers would see one
}

// sections are the names of the kinds' own parts.
var sections = map[Kind]string{
	Flowchart: "flowchart", State: "state", Class: "class", Entity: "er", Sequence: "sequence", Pie: "pie", Git: "gitGraph",
	Gantt: "gantt", Mindmap: "mindmap", Timeline: "timeline", Quadrant: "quadrantChart", XY: "xyChart",
}

// directives reads the directives of a text.
func (s *settings) directives(text string) {
	for _, m := range directive().FindAllString(text, -1) {
		inner := strings.TrimSpace(m[3 : len(m)-3])
		word, rest, _ := strings.Cut(inner, ":")
		switch word = strings.TrimSpace(word); word {
		case "wrap":
			s.merge(map[string]any{"wrap": true})
		case "init", "initialize", "config":
			values := map[string]any{}
			if len(rest) > maxFrontMatter || yaml.Unmarshal([]byte(strings.TrimSpace(rest)), &values) != nil {
				s.ignored = append(s.ignored, "%%{"+word+": …}%%")
				continue
			}
			if inner, ok := values["config"].(map[string]any); ok && len(values) == 1 {
				values = inner
			}
			s.merge(values)
		}
	}
}

// merge adds values over those that are there.
func (s *settings) merge(values map[string]any) {
	if s.values == nil {
		s.values = map[string]any{}
	}
	for key, value := range values {
		in, ok := value.(map[string]any)
		have, both := s.values[key].(map[string]any)
		if !ok || !both {
			s.values[key] = value
			continue
		}
		for name, v := range in { // no setting lies deeper
			have[name] = v
		}
	}
}

// settle finds the kind's part and what has no effect.
func (s *settings) settle(kind Kind) {
	s.section = sections[kind]
	if l := s.top("look"); l != "" && l != "classic" {
		s.ignored = append(s.ignored, "look: "+clip(l, 40))
	}
	if s.top("themeCSS") != "" {
		s.ignored = append(s.ignored, "themeCSS")
	}
	slices.Sort(s.ignored)
	s.ignored = slices.Compact(s.ignored)
}

func said(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(v))
}

// top returns a setting of all kinds, "" where there is none.
func (s *settings) top(name string) string { return said(s.values[name]) }

// own returns a setting of the kind, "" where there is none.
func (s *settings) own(name string) string {
	in, _ := s.values[s.section].(map[string]any)
	return said(in[name])
}

// flag returns a setting of the kind that is true or false.
func (s *settings) flag(name string, otherwise bool) bool {
	if v, err := strconv.ParseBool(s.own(name)); err == nil {
		return v
	}
	return otherwise
}

// number returns a setting of the kind that is a number within bounds; one outside
// is the nearest bound.
func (s *settings) number(name string, low, high, otherwise float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s.own(name), "px"), 64)
	if err != nil || v != v {
		return otherwise
	}
	return max(low, min(v, high))
}

// color returns the first of some variables of the author's theme that is a colour.
func (s *settings) color(names ...string) string {
	in, _ := s.values["themeVariables"].(map[string]any)
	for _, name := range names {
		if c := said(in[name]); c != "" && ownColor().MatchString(c) {
			return c
		}
	}
	return ""
}

// themed is the look of nodes by the author's variables; s is what has none of its
// own. A border without a ground of the author's, and the colour of lines, must be
// seen in light and dark.
func (s *settings) themed() (nodes, groups, notes, lines look) {
	nodes = look{fill: s.color("mainBkg", "primaryColor"), stroke: s.color("nodeBorder", "primaryBorderColor"), color: s.color("nodeTextColor", "primaryTextColor")}
	groups = look{fill: s.color("clusterBkg"), stroke: s.color("clusterBorder"), color: s.color("titleColor")}
	notes = look{fill: s.color("noteBkgColor"), stroke: s.color("noteBorderColor"), color: s.color("noteTextColor")}
	lines = look{stroke: s.color("lineColor")}
	return nodes, groups, notes, lines
}

// theme applies the colours of the author's theme to what the graph draws.
func (g *graph) theme() {
	nodes, groups, notes, lines := g.themed()
	for i := range g.nodes {
		n := &g.nodes[i]
		switch n.shape {
		case shapeNote:
			n.look = notes.over(n.look)
		case shapeStart, shapeEnd, shapeFork, shapeSmall, shapeJunction, shapeText, shapeBrace, shapeBraceRight, shapeBraces:
		default:
			n.look = nodes.over(n.look)
		}
		n.look = n.look.seen()
	}
	for i := range g.groups {
		if c := &g.groups[i]; !c.region {
			c.look = groups.over(c.look).seen()
		}
	}
	for i := range g.edges {
		e := &g.edges[i]
		e.look = lines.over(e.look)
		e.look.fill = ""
		e.look = e.look.seen()
	}
}

// seen returns a look without a line that would be lost on the page in light or in
// dark; one around a ground of the author's is not.
func (l look) seen() look {
	if l.stroke != "" && (l.fill == "" || l.fill == "none" || l.fill == "transparent") {
		if c, ok := colorOf(l.stroke); ok && (contrast(c, whitePage) < lineContrast || contrast(c, darkPage) < lineContrast) {
			l.stroke = ""
		}
	}
	return l
}
