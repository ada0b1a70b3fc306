package diagram

import (
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Kind is what a diagram is, by the first word of its text.
type Kind string

// Kinds that Draw draws.
const (
	Flowchart Kind = "flowchart"
	State     Kind = "state"
	Class     Kind = "class"
	Entity    Kind = "er"
	Sequence  Kind = "sequence"
	Pie       Kind = "pie"
	Git       Kind = "git"
	Gantt     Kind = "gantt"
	Mindmap   Kind = "mindmap"
	Timeline  Kind = "timeline"
	Quadrant  Kind = "quadrant"
	XY        Kind = "xy"
	// Other is any other kind: what only Mermaid itself draws.
	Other Kind = ""
)

// source is the text of a diagram without what stands around it.
type source struct {
	kind Kind
	// header is the first line in one piece; lines are those after it,
	// without comments and empty ones.
	header string
	lines  []string
	// raw are the lines with the spaces in front of them.
	raw []string
	// body is what lines are of, in one piece: with the semicolons that end
	// statements of flowcharts.
	body string
	// title and description are what the author says of the whole.
	title, description string
	settings
	face face
	// replaced are labels that the author replaces by later ones.
	replaced []string
}

var (
	directive = lazy.Regexp(`(?s)%%\{.*?\}%%`)
	// accessible finds accTitle and accDescr, the latter also in braces over
	// several lines.
	accessible = lazy.Regexp(`(?ms)^[ \t]*acc(Title|Descr)[ \t]*(?::[ \t]*([^\n]*)|\{(.*?)\})[ \t]*$`)
)

// parseSource reads what all kinds have in common.
func parseSource(text string) source {
	var s source
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\n")
	if front, body, ok := cutFrontMatter(text); ok {
		text = body
		meta := map[string]any{}
		if len(front) <= maxFrontMatter && yaml.Unmarshal([]byte(front), &meta) == nil {
			s.title = said(meta["title"])
			if config, ok := meta["config"].(map[string]any); ok {
				s.merge(config)
			}
		} else {
			s.ignored = append(s.ignored, "front matter")
		}
	}
	if strings.Contains(text, "%%{") {
		s.directives(text)
		text = directive().ReplaceAllString(text, "")
	}
	if strings.Contains(text, "acc") {
		for _, m := range accessible().FindAllStringSubmatch(text, -1) {
			said := strings.Join(strings.Fields(m[2]+m[3]), " ")
			if m[1] == "Title" {
				s.title = said
			} else {
				s.description = said
			}
		}
		text = accessible().ReplaceAllString(text, "")
	}
	var body []string
	for raw := range strings.SplitSeq(text, "\n") {
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "%%") {
			continue
		}
		if s.header == "" {
			// Semicolons end lines too: "graph TD; A --> B".
			head, rest, _ := strings.Cut(line, ";")
			s.header = strings.Join(strings.Fields(head), " ")
			s.kind = kindOf(s.header)
			if s.kind == Pie { // its title may have semicolons
				s.header = strings.Join(strings.Fields(line), " ")
				continue
			}
			if rest = strings.TrimSpace(rest); rest == "" {
				continue
			}
			line = rest
		}
		body = append(body, line)
		if s.kind == Mindmap {
			s.raw = append(s.raw, raw)
		}
		if s.kind == Flowchart {
			s.lines = append(s.lines, splitLine(line)...)
		} else {
			s.lines = append(s.lines, line)
		}
	}
	s.body = strings.Join(body, "\n")
	switch s.kind {
	case State, Class, Entity, Git:
		s.lines = joined(s.kind, s.lines)
	}
	s.settle(s.kind)
	return s
}

// maxJoined bounds the lines that a text in quotes has.
const maxJoined = 20

var (
	codedAngles = lazy.Regexp(`&lt;&lt;(\w+)&gt;&gt;;?`)
	comment     = lazy.Regexp(`(?:^|\s)%%(?:[^{].*)?$`)
)

// joined makes statements of lines: texts in quotes, and names of classes in
// backquotes, may have several; a brace that opens a body may stand below its name.
// Comments at the end of a line go.
func joined(kind Kind, lines []string) []string {
	out := lines[:0:0]
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for _, quote := range []string{`"`, "`"} {
			if quote == "`" && kind != Class || kind == State && !strings.HasPrefix(line, "state") || strings.Count(line, quote)%2 == 0 {
				continue
			}
			for j := i + 1; j < min(i+maxJoined, len(lines)); j++ {
				if strings.Count(lines[j], quote)%2 == 1 {
					line = strings.Join(append([]string{line}, lines[i+1:j+1]...), "\n")
					i = j
					break
				}
			}
		}
		if kind != Git {
			if at := comment().FindStringIndex(line); at != nil && !strings.ContainsAny(line[at[0]:], `":`) && strings.Count(line[:at[0]], `"`)%2 == 0 {
				line = strings.TrimSpace(line[:at[0]])
			}
			line = codedAngles().ReplaceAllString(line, "<<$1>>")
			if line == "{" && len(out) > 0 {
				out[len(out)-1] += " {"
				continue
			}
		}
		out = append(out, line)
	}
	return out
}

// maxFrontMatter is more than any settings of a diagram have.
const maxFrontMatter = 4 << 10

// cutFrontMatter splits settings between lines of three hyphens from the text.
func cutFrontMatter(text string) (front, body string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(first) != "---" {
		return "", text, false
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		end := at + len(line)
		if more {
			end++
		}
		if strings.TrimSpace(line) == "---" {
			return rest[:at], strings.TrimLeft(rest[end:], " \t\n"), true
		}
		at = end
	}
	return "", text, false
}

var headers = lazy.Regexp(`(?i)^(?:(graph|flowchart|flowchart-elk)(?: (?:TD|TB|LR|BT|RL|[v^<>]))?|(stateDiagram(?:-v2)?)|(classDiagram(?:-v2)?)|(erDiagram)|(sequenceDiagram)|(pie)(?: .*)?|(gitGraph ?(?:(?:LR|TB|BT))? ?:?)|(gantt)|(mindmap)|(timeline(?: (?:LR|TD))?)|(quadrantChart)|(xychart(?:-beta)?(?: (?:horizontal|vertical))?))$`)

// kindOf reads the first line.
func kindOf(header string) Kind {
	m := headers().FindStringSubmatch(header)
	switch {
	case m == nil:
		return Other
	case m[1] != "":
		return Flowchart
	case m[2] != "":
		return State
	case m[3] != "":
		return Class
	case m[4] != "":
		return Entity
	case m[5] != "":
		return Sequence
	case m[6] != "":
		return Pie
	case m[7] != "":
		return Git
	case m[8] != "":
		return Gantt
	case m[9] != "":
		return Mindmap
	case m[10] != "":
		return Timeline
	case m[11] != "":
		return Quadrant
	}
	return XY
}

// splitLine cuts a line at semicolons outside of quotes and brackets; those
// that end a character's code (#quot;) stay.
func splitLine(line string) []string {
	if !strings.Contains(line, ";") {
		return []string{line}
	}
	var out []string
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			depth = max(depth-1, 0)
		case c == ';' && depth == 0:
			if part := strings.TrimSpace(line[start:i]); part != "" {
				out = append(out, part)
			}
			start = i + 1
		}
	}
	if part := strings.TrimSpace(line[start:]); part != "" {
		out = append(out, part)
	}
	return out
}

// unended returns a line without the semicolon that ends it. That of a character's
// code (#9829;) is part of a text.
func unended(line string) string {
	if at := strings.LastIndexByte(line, '#'); at >= 0 && charCode().FindString(line[at:]) == line[at:] {
		return line
	}
	return strings.TrimSpace(strings.TrimSuffix(line, ";"))
}
