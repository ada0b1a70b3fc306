package diagram

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits of a sequence diagram: more is not read by anyone.
const (
	maxActors = 40
	maxItems  = 1000
	maxFrames = 12 // within each other
)

type sequence struct {
	face
	// plain: the participants are not named below the drawing.
	plain  bool
	actors []actor
	index  map[string]int
	groups []seqBox
	items  []item
	// numbered: messages carry numbers.
	numbered bool
}

// actor is a participant, in the order of its first mention.
type actor struct {
	label string
	sign  actorSign
	late  bool // a message creates it
	group int  // index into groups, -1 for none
}

// actorSign is the shape of a participant.
type actorSign uint8

const (
	signBox      actorSign = iota
	signStack              // boxes behind each other
	signQueue              // a cylinder that lies
	signPerson             // from here on a figure above the name
	signBoundary           // a circle at a wall
	signControl            // a circle with an arrow
	signEntity             // a circle on a line
	signDatabase           // a cylinder
)

// actorSigns are the signs by Mermaid's names of types.
var actorSigns = map[string]actorSign{
	"participant": signBox, "actor": signPerson, "boundary": signBoundary, "control": signControl, "entity": signEntity,
	"database": signDatabase, "collections": signStack, "queue": signQueue,
}

// seqBox is a box around participants.
type seqBox struct{ label string }

// item is one thing that happens.
type item struct {
	kind itemKind
	// from and to are indices of actors: of a message, or what a note spans.
	from, to int
	text     string
	place    notePlace
	// Of a message.
	dashed, both bool
	reversed     bool    // the head is at its beginning
	central      [2]bool // a circle on the line of from, of to
	head         headKind
	activate     bool // to begins to be active
	deactivate   bool // from ends to be active
	creates      bool // to begins with it
	destroys     int  // the actor that ends with it, -1 for none
	number       string
	// Of a frame: its word and its parts, and of a coloured area its colour,
	// "" for none that is known.
	word, color string
	parts       []part
}

// part is what a frame holds under one label.
type part struct {
	word, label string
	items       []item
}

type itemKind uint8

const (
	message itemKind = iota
	note
	frame
	begin // from begins to be active
	end
)

type headKind uint8

const (
	noHead headKind = iota
	filledHead
	openHead
	crossHead
	upperHead // halves of a head, and of strokes
	lowerHead
	upperStroke
	lowerStroke
)

type notePlace uint8

const (
	over notePlace = iota
	leftOf
	rightOf
)

var (
	participantLine = lazy.Regexp(`^(?i:(?:create\s+)?(participant|actor))\s+(.+)$`)
	aliasPart       = lazy.Regexp(`\s+(?i:as)\s+`)
	noteLine        = lazy.Regexp(`^(?i:note)\s+((?i:left of|right of|over))\s*([^:]+?)\s*:\s*(.*)$`)
	frameLine       = lazy.Regexp(`^(?i:(loop|alt|opt|par|par_over|critical|break|rect))\b\s*(.*)$`)
	partLine        = lazy.Regexp(`^(?i:(else|and|option))\b\s*(.*)$`)
	activeLine      = lazy.Regexp(`^(?i:(activate|deactivate))\s+(.+)$`)
	boxLine         = lazy.Regexp(`^(?i:box)\b\s*(.*)$`)
	destroyLine     = lazy.Regexp(`^(?i:destroy)\s+(.+)$`)
	numberLine      = lazy.Regexp(`^(?i:autonumber)(?:\s+(off|\d{0,6}\.?\d{1,6})(?:\s+(\d{0,6}\.?\d{1,6}))?)?$`)
	ignoredLine     = lazy.Regexp(`^(?i:link|links|properties|details)\s`)
	titleLine       = lazy.Regexp(`^(?i:title)(?:\s*:\s*|\s+)(.+)$`)
	colorWord       = lazy.Regexp(`^(?i:transparent|aqua|black|blue|fuchsia|gr[ae]y|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow|pink|gold|(?:light|dark|pale|medium)[a-z]+|(?:rgb|hsl)a?\([^)]*\)|#[0-9a-f]{3,8})(?:\s+|$)`)
)

// errUnread reports a line of a diagram that is not known.
type errUnread struct{ line string }

func (e errUnread) Error() string { return fmt.Sprintf("the line %q can't be read", clip(e.line, 60)) }

// errLarge reports a diagram that has more than is drawn.
type errLarge struct{ what string }

func (e errLarge) Error() string { return "the diagram has " + e.what }

type sequenceReader struct {
	*sequence
	open   []*item // frames that are not at their end
	boxed  bool    // within a box
	count  int
	number float64 // of the next message
	step   float64
	// creating and destroying are the actors that the next message begins and
	// ends, -1 for none.
	creating, destroying int
	err                  error // an errUnread, an errLarge or ErrOther, the first one
}

func (r *sequenceReader) fail(err error) { r.err = cmp.Or(r.err, err) }

// parseSequence reads the lines after the header. A title among them is put
// into src.
func parseSequence(src *source) (*sequence, error) {
	r := &sequenceReader{sequence: &sequence{face: src.face, index: map[string]int{}, numbered: src.flag("showSequenceNumbers", false), plain: !src.flag("mirrorActors", true)}, number: 1, step: 1, creating: -1, destroying: -1}
	for _, line := range src.lines {
		line = unended(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if m := titleLine().FindStringSubmatch(line); m != nil {
			src.title = plain(m[1])
			continue
		}
		if r.line(line); r.err != nil {
			return nil, r.err
		}
	}
	if len(r.open) > 0 || r.boxed || r.creating >= 0 || r.destroying >= 0 {
		return nil, errUnread{"end"}
	}
	if len(r.actors) == 0 {
		return nil, errUnread{src.header}
	}
	join(&r.items)
	return r.sequence, nil
}

// line reads one line. A line of no known kind is an errUnread.
func (r *sequenceReader) line(line string) {
	if r.count++; r.count > maxItems {
		r.fail(errLarge{fmt.Sprintf("more than %d lines", maxItems)})
	} else if m := participantLine().FindStringSubmatch(line); m != nil {
		r.participant(line, m[1], m[2])
	} else if m := destroyLine().FindStringSubmatch(line); m != nil && !strings.Contains(line, "->") {
		r.destroying = r.actor(m[1])
	} else if strings.EqualFold(line, "end") {
		r.end(line)
	} else if m := noteLine().FindStringSubmatch(line); m != nil {
		r.note(m)
	} else if r.message(line) {
		// It comes before all else that begins with a word: "par-->>B: x".
	} else if m := frameLine().FindStringSubmatch(line); m != nil {
		r.frame(strings.ToLower(m[1]), spoken(m[2]))
	} else if m := partLine().FindStringSubmatch(line); m != nil && len(r.open) > 0 {
		f := r.open[len(r.open)-1]
		f.parts = append(f.parts, part{word: strings.ToLower(m[1]), label: spoken(m[2])})
	} else if m := activeLine().FindStringSubmatch(line); m != nil {
		r.activation(m[1], m[2])
	} else if m := numberLine().FindStringSubmatch(line); m != nil {
		r.numbered = !strings.EqualFold(m[1], "off")
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			r.number = n
		}
		if n, err := strconv.ParseFloat(m[2], 64); err == nil {
			r.step = n
		}
	} else if m := boxLine().FindStringSubmatch(line); m != nil && !r.boxed && len(r.open) == 0 {
		r.boxed = true
		r.groups = append(r.groups, seqBox{plain(colorWord().ReplaceAllString(m[1], ""))})
	} else if !ignoredLine().MatchString(line) {
		r.fail(errUnread{line})
	}
}

// participant reads "participant A as Label", also after "create"; word is its kind.
func (r *sequenceReader) participant(line, word, rest string) {
	sign := actorSigns[strings.ToLower(word)]
	name, details, label := participantParts(rest)
	if details != "" {
		values := map[string]any{}
		if yaml.Unmarshal([]byte(details), &values) != nil {
			r.fail(errUnread{line})
			return
		}
		if kind := said(values["type"]); kind != "" {
			var ok bool
			if sign, ok = actorSigns[kind]; !ok {
				r.fail(ErrOther)
				return
			}
		}
		label = cmp.Or(label, said(values["alias"]))
	}
	i := r.actor(name)
	if r.err != nil {
		return
	}
	a := &r.actors[i]
	a.label, a.sign = plain(cmp.Or(label, name)), sign
	if strings.EqualFold(line[:1], "c") { // as in "create"
		a.late, r.creating = true, i
	}
	if r.boxed {
		a.group = len(r.groups) - 1
	}
}

// participantParts cuts the line of a participant, behind its first word: its name,
// what stands in braces, and its label, "" for none.
func participantParts(rest string) (name, details, label string) {
	name = rest
	if before, after, ok := strings.Cut(rest, "@{"); ok {
		if at := strings.LastIndexByte(after, '}'); at >= 0 {
			details = "{" + after[:at+1]
			name, rest = before, before+after[at+1:]
		}
	}
	if at := aliasPart().FindStringIndex(rest); at != nil {
		name, label = rest[:at[0]], rest[at[1]:]
	}
	return name, details, label
}

// end closes the innermost frame, or else the box.
func (r *sequenceReader) end(line string) {
	switch {
	case len(r.open) > 0:
		done := *r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		*r.list() = append(*r.list(), done)
	case r.boxed:
		r.boxed = false
	default:
		r.fail(errUnread{line})
	}
}

// frame opens a frame. The label of "rect" is a colour.
func (r *sequenceReader) frame(word, label string) {
	if len(r.open) >= maxFrames {
		r.fail(errLarge{"too many frames within each other"})
		return
	}
	color := ""
	if word == "rect" {
		if color, label = label, ""; !ownColor().MatchString(color) || strings.EqualFold(color, "transparent") {
			color = ""
		}
	}
	word = strings.TrimSuffix(word, "_over")
	r.open = append(r.open, &item{kind: frame, word: word, color: color, parts: []part{{word: word, label: label}}})
}

func (r *sequenceReader) activation(word, name string) {
	i := r.actor(name)
	kind := begin
	if strings.EqualFold(word, "deactivate") {
		kind = end
	}
	*r.list() = append(*r.list(), item{kind: kind, from: i, to: i})
}

// list is where the next item goes.
func (r *sequenceReader) list() *[]item {
	if len(r.open) == 0 {
		return &r.items
	}
	f := r.open[len(r.open)-1]
	return &f.parts[len(f.parts)-1].items
}

// actor finds a participant by name; the first mention makes it. After an error
// it is 0, which may be nobody.
func (r *sequenceReader) actor(name string) int {
	name = strings.TrimSpace(name)
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		name = name[1 : len(name)-1]
	}
	if i, ok := r.index[name]; ok {
		return i
	}
	if name == "" {
		r.fail(errUnread{"a participant without a name"})
		return 0
	}
	if len(r.actors) >= maxActors {
		r.fail(errLarge{fmt.Sprintf("more than %d participants", maxActors)})
		return 0
	}
	r.index[name] = len(r.actors)
	r.actors = append(r.actors, actor{label: plain(name), group: -1})
	return len(r.actors) - 1
}

func (r *sequenceReader) note(m []string) {
	it := item{kind: note, text: spoken(m[3])}
	switch strings.ToLower(m[1]) {
	case "left of":
		it.place = leftOf
	case "right of":
		it.place = rightOf
	}
	first, second, two := strings.Cut(m[2], ",")
	from := r.actor(first)
	to := from
	if two {
		to = r.actor(second)
	}
	it.from, it.to = min(from, to), max(from, to)
	*r.list() = append(*r.list(), it)
}

// arrows are the signs between two names, longer ones before those that they
// begin with.
var arrows = [...]struct {
	sign     string
	dashed   bool
	both     bool
	reversed bool
	head     headKind
}{
	{"<<-->>", true, true, false, filledHead},
	{"<<->>", false, true, false, filledHead},
	{`--|\`, true, false, false, upperHead},
	{`--|/`, true, false, false, lowerHead},
	{`--\\`, true, false, false, upperStroke},
	{`--//`, true, false, false, lowerStroke},
	{`-|\`, false, false, false, upperHead},
	{`-|/`, false, false, false, lowerHead},
	{`-\\`, false, false, false, upperStroke},
	{`-//`, false, false, false, lowerStroke},
	{`/|--`, true, false, true, upperHead},
	{`\|--`, true, false, true, lowerHead},
	{`//--`, true, false, true, upperStroke},
	{`\\--`, true, false, true, lowerStroke},
	{`/|-`, false, false, true, upperHead},
	{`\|-`, false, false, true, lowerHead},
	{`//-`, false, false, true, upperStroke},
	{`\\-`, false, false, true, lowerStroke},
	{"-->>", true, false, false, filledHead},
	{"->>", false, false, false, filledHead},
	{"--x", true, false, false, crossHead},
	{"-x", false, false, false, crossHead},
	{"--)", true, false, false, openHead},
	{"-)", false, false, false, openHead},
	{"-->", true, false, false, noHead},
	{"->", false, false, false, noHead},
}

// message reads "A->>B: text"; it reports false if the line is not one.
func (r *sequenceReader) message(line string) bool {
	names, text, _ := strings.Cut(line, ":")
	for at := 1; at < len(names); at++ {
		if strings.IndexByte(`-<\/`, names[at]) < 0 {
			continue
		}
		for _, a := range arrows {
			if !strings.HasPrefix(names[at:], a.sign) {
				continue
			}
			from, to := strings.TrimSpace(names[:at]), strings.TrimSpace(names[at+len(a.sign):])
			if from == "" || to == "" || strings.Contains(to, "->") {
				continue // "API-x->>B" has its arrow further on
			}
			it := item{kind: message, text: spoken(text), dashed: a.dashed, both: a.both, reversed: a.reversed, head: a.head}
			if _, named := r.index[from]; !named && len(from) > 2 {
				from, it.central[0] = strings.CutSuffix(from, "()")
			}
			if len(to) > 2 {
				to, it.central[1] = strings.CutPrefix(to, "()")
			}
			switch to[0] {
			case '+':
				it.activate, to = true, to[1:]
			case '-':
				it.deactivate, to = true, to[1:]
			}
			if central := strings.TrimPrefix(to, "()"); central != "" && central != to {
				to, it.central[1] = central, true
			}
			it.from, it.to = r.actor(from), r.actor(to)
			if it.creates = r.creating >= 0; it.creates && (it.to != r.creating || it.from == it.to) {
				r.fail(errUnread{line})
			}
			if it.destroys = r.destroying; it.destroys >= 0 && it.from != it.destroys && it.to != it.destroys {
				r.fail(errUnread{line})
			}
			r.creating, r.destroying = -1, -1
			if r.numbered {
				it.number = strconv.FormatFloat(math.Round(r.number*100)/100, 'f', -1, 64)
				r.number += r.step
			}
			*r.list() = append(*r.list(), it)
			return true
		}
	}
	return false
}

// join makes "activate B" after a message to B, and "deactivate B" after one
// from B, part of the message.
func join(items *[]item) {
	out := (*items)[:0]
	for _, it := range *items {
		if n := len(out); n > 0 && out[n-1].kind == message {
			last := &out[n-1]
			switch {
			case it.kind == begin && last.to == it.from && !last.activate:
				last.activate = true
				continue
			case it.kind == end && last.from == it.from && !last.deactivate:
				last.deactivate = true
				continue
			}
		}
		for i := range it.parts {
			join(&it.parts[i].items)
		}
		out = append(out, it)
	}
	*items = out
}

// clip cuts a text for a message.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
