package diagram

import (
	"html"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// labelled finds texts in quotes, and texts in brackets or between bars without quotes.
var labelled = lazy.Regexp(`\|\s*"([^"]*)"\s*\||"([^"]*)"|\|([^|"]*)\||\[([^\]"]*)\]|\(([^)"]*)\)|\{([^}"]*)\}`)

// noteStart and noteEnd are around a note of several lines.
var (
	noteStart = lazy.Regexp(`^(?i:note\s+(?:left|right)\s+of)\s+[^\s:]+$`)
	noteEnd   = lazy.Regexp(`^(?i:end\s+note)$`)
)

// lost finds a word of the source's labels that a drawing does not have; ""
// if it has all. It knows nothing of how either was made.
func lost(src *source, svg []byte) string {
	shown := map[string]bool{}
	words(unstarred(textOf(svg)), func(w string) { shown[w] = true })
	for _, label := range src.replaced {
		words(label, func(w string) { shown[w] = true })
	}
	if src.kind == Git {
		return lostCommits(src, shown)
	}
	noted := false // within the lines of a state's note
	lines := src.lines
	if src.kind == Flowchart || src.kind == Mindmap { // their labels may have several lines
		lines = []string{flowLines().ReplaceAllString(src.body, "")}
		if src.kind == Mindmap {
			lines = []string{thoughtLines().ReplaceAllString(src.body, "")}
		}
	}
	for _, line := range lines {
		labels := []string{line}
		switch {
		case src.kind == State && noteStart().MatchString(line):
			noted = true
			continue
		case noted && noteEnd().MatchString(line):
			noted = false
			continue
		case !noted:
			labels = labelsOf(src.kind, line)
		}
		for _, label := range labels {
			missing := ""
			words(unstarred(plain(label)), func(w string) {
				if !shown[w] && missing == "" {
					missing = w
				}
			})
			if missing != "" {
				return missing
			}
		}
	}
	return ""
}

var (
	gitSaid    = lazy.Regexp(`\b(id|tag):\s*"([^"]*)"`)
	branchSaid = lazy.Regexp(`^branch\s+("[^"]*"|\S+)`)
)

// lostCommits is lost for graphs of commits, some of whose words an author may hide.
func lostCommits(src *source, shown map[string]bool) string {
	missing := ""
	look := func(text string) {
		words(spoken(text), func(w string) {
			if !shown[w] && missing == "" {
				missing = w
			}
		})
	}
	for _, line := range src.lines {
		if m := branchSaid().FindStringSubmatch(line); m != nil && src.flag("showBranches", true) {
			look(m[1])
		}
		for _, m := range gitSaid().FindAllStringSubmatch(line, -1) {
			if m[1] == "tag" || src.flag("showCommitLabel", true) && !strings.HasPrefix(line, "cherry-pick") {
				look(m[2])
			}
		}
	}
	return missing
}

// flowLines are lines of flowcharts that readers need not see.
var flowLines = lazy.Regexp(`(?m)^(?:classDef|class|style|linkStyle|click|direction)\s.*$`)

// thoughtLines are those of mind maps.
var thoughtLines = lazy.Regexp(`(?m)^:::?.*$`)

// labelsOf returns the parts of a line that readers must see.
func labelsOf(kind Kind, line string) []string {
	first, _, _ := strings.Cut(line, " ")
	switch strings.ToLower(first) {
	case "classdef", "class", "style", "linkstyle", "click", "direction", "autonumber", "rect", "box", "link", "links",
		"properties", "details", "callback", "namespace", "cssclass":
		return nil
	}
	switch kind {
	case Pie: // the title stands below the drawing
		if m := pieSlice().FindStringSubmatch(line); m != nil {
			return m[1:2]
		}
		return nil
	case Sequence:
		if m := participantLine().FindStringSubmatch(line); m != nil && !strings.Contains(line, "->") {
			_, details, label := participantParts(m[2])
			if m := aliasSaid().FindStringSubmatch(details); m != nil && label == "" {
				label = m[1]
			}
			return []string{label}
		}
		if m := frameLine().FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "->") {
			return []string{m[2]}
		}
		if m := partLine().FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "->") {
			return []string{m[2]}
		}
		_, text, _ := strings.Cut(line, ":")
		return []string{text}
	case Gantt:
		if m := ganttWord().FindStringSubmatch(line); m != nil {
			if strings.EqualFold(m[1], "section") {
				return m[2:3]
			}
			return nil
		}
		name, _, _ := strings.Cut(line, ":")
		return []string{name}
	case Timeline:
		if timelineWord().MatchString(line) {
			return nil
		}
		if m := sectionWord().FindStringSubmatch(line); m != nil {
			return m[1:2]
		}
		return []string{line}
	case Quadrant:
		if m := quadrantSpot().FindStringSubmatch(line); m != nil {
			return m[1:2]
		}
		if m := quadrantWord().FindStringSubmatch(line); m != nil && !strings.EqualFold(m[1], "title") {
			return m[2:3]
		}
		return nil
	case XY:
		return quotedIn(line)
	case Flowchart, Mindmap:
		out := saidLabels(line)
		line = shapeWords().ReplaceAllString(line, "")
		for _, m := range labelled().FindAllStringSubmatch(line, -1) {
			for _, part := range m[1:] {
				if part != "" {
					out = append(out, part)
				}
			}
		}
		return out
	case State:
		if _, text, ok := strings.Cut(line, ":"); ok && !strings.Contains(line, ":::") {
			return []string{text}
		}
		if _, rest, ok := strings.Cut(line, `"`); ok {
			label, _, _ := strings.Cut(rest, `"`)
			return []string{label}
		}
		return nil
	}
	// Classes and entities: every word but signs and keywords.
	if m := entityLink().FindStringSubmatchIndex(line); kind == Entity && m != nil { // how many, in words
		line = line[:max(m[2], m[3], m[7], m[9])] + " " + line[m[20]:]
	}
	if kind == Entity { // another name stands in place of the first
		line = aliased().ReplaceAllString(line, "[")
	}
	line = relation().ReplaceAllString(line, " ")
	return []string{line}
}

var (
	shapeWords = lazy.Regexp(`(?s)@\{(?:"[^"]*"|[^"}])*\}`)
	labelWord  = lazy.Regexp(`(?s)label:\s*(?:"([^"]*)"|'([^']*)'|([^,"'}\n]*))`)
)

// quotedIn returns the texts in quotes of a line that is no title.
func quotedIn(line string) []string {
	if strings.HasPrefix(line, "title") {
		return nil
	}
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}

// aliasSaid is a participant's label in braces.
var aliasSaid = lazy.Regexp(`["']?alias["']?\s*:\s*["']?([^"',}]*)`)

// saidLabels returns the labels in the braces after nodes.
func saidLabels(s string) []string {
	var out []string
	for _, block := range shapeWords().FindAllString(s, -1) {
		for _, m := range labelWord().FindAllStringSubmatch(block, -1) {
			out = append(out, m[1]+m[2]+m[3])
		}
	}
	return out
}

// relation is what stands between classes or entities, and around their parts.
var relation = lazy.Regexp(`:::\s*[\w,-]+|\b(?:class|PK|FK|UK|note(?: for)?)\b|<<|>>|[|}{o]{1,2}(?:--|\.\.)[|}{o]{1,2}|~`)

// unstarred returns s without what marks words, and parts of them, as bold.
func unstarred(s string) string { return strings.ReplaceAll(s, "*", "") }

var aliased = lazy.Regexp(`[^\s"{}:\[\]|]+\[`)

// words calls fn with each run of at least three letters, in lower case.
func words(s string, fn func(string)) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len([]rune(w)) >= 3 {
			fn(strings.ToLower(w))
		}
	}
}

var unmarked = strings.NewReplacer(string(rune(markLink)), "", string(rune(markEnd)), "")

// textOf is the text of a drawing; lines of a label are apart. No value of an
// attribute holds an angle bracket.
func textOf(svg []byte) string {
	var b strings.Builder
	for rest := string(svg); rest != ""; {
		text, tag, _ := strings.Cut(rest, "<")
		b.WriteString(text)
		tag, rest, _ = strings.Cut(tag, ">")
		// Marks within a word do not end it.
		if !strings.HasPrefix(tag, "tspan") && !strings.HasPrefix(tag, "/tspan") {
			b.WriteByte(' ')
		}
	}
	return unmarked.Replace(html.UnescapeString(b.String()))
}
