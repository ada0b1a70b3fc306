package diagram

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits and sizes of a Gantt chart.
const (
	maxTasks = 200
	// maxDays bounds the days that are looked at for those that tasks leave out.
	maxDays = 100_000
	// ganttRounds is how often tasks that name later ones are looked at again.
	ganttRounds = 10

	ganttRow    = 26.0
	ganttBar    = 19.0
	ganttPlot   = 540.0
	ganttAxis   = 24.0
	sectionWide = 150.0 // at which a section's name is broken
)

type ganttTask struct {
	name    string
	section int
	id      string
	// from and to are what the author wrote; from is "" after the task before.
	from, to                          string
	start, end                        time.Time
	begun, ended                      bool
	active, done, crit, mile, upright bool
}

type gantt struct {
	*source
	face
	format, axis, interval string
	inclusive              bool
	top                    bool // the axis stands above too
	excludes, includes     []string
	weekday                time.Weekday
	weekend                [2]time.Weekday
	sections               []string
	tasks                  []ganttTask
	ids                    map[string]int
	days                   int
}

var (
	ganttWord     = lazy.Regexp(`^(?i:(title|dateFormat|axisFormat|tickInterval|excludes|includes|todayMarker|section|weekday|weekend|click|inclusiveEndDates|topAxis|displayMode))\b[ \t]*:?[ \t]*(.*)$`)
	ganttDuration = lazy.Regexp(`^(\d{1,7}(?:\.\d{1,6})?)(ms|[Mdhmswy])$`)
	ganttRest     = lazy.Regexp(`\s*(?:%%|#|;)`) // begins what is not of a task
	ganttTick     = lazy.Regexp(`^(\d{1,4})(millisecond|second|minute|hour|day|week|month)$`)
	weekdays      = map[string]time.Weekday{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6}
)

func ganttDiagram(src *source) (*Diagram, error) {
	g, err := parseGantt(src)
	if err != nil {
		return nil, err
	}
	d := &Diagram{Lines: g.lines()}
	d.fill(g.draw())
	return d, nil
}

// parseGantt reads a chart. Charts that begin today are Mermaid's: a bundle is the same
// on every day.
func parseGantt(src *source) (*gantt, error) {
	g := &gantt{source: src, face: src.face, format: "YYYY-MM-DD", axis: "%Y-%m-%d", ids: map[string]int{}, weekend: [2]time.Weekday{6, 0}}
	if f := src.own("axisFormat"); f != "" {
		g.axis = f
	}
	g.interval, g.top = src.own("tickInterval"), src.flag("topAxis", false)
	for _, line := range src.lines {
		line = unended(line)
		if m := ganttWord().FindStringSubmatch(line); m != nil {
			if !g.word(strings.ToLower(m[1]), strings.TrimSpace(m[2])) {
				return nil, errUnread{line}
			}
			continue
		}
		name, data, ok := strings.Cut(line, ":")
		if at := ganttRest().FindStringIndex(data); at != nil {
			data = data[:at[0]]
		}
		if !ok {
			return nil, errUnread{line}
		}
		if len(g.tasks) == maxTasks {
			return nil, errLarge{"more than " + strconv.Itoa(maxTasks) + " tasks"}
		}
		if !g.task(spoken(name), data) {
			return nil, errUnread{line}
		}
	}
	if len(g.tasks) == 0 {
		return nil, errors.New("there is nothing in it")
	}
	return g, g.settle()
}

// word reads a line that begins with a keyword.
func (g *gantt) word(word, rest string) bool {
	switch word {
	case "title":
		g.title = spoken(rest)
	case "dateformat":
		g.format = rest
	case "axisformat":
		g.axis = rest
	case "tickinterval":
		g.interval = rest
	case "excludes", "includes":
		for part := range strings.FieldsFuncSeq(strings.ToLower(rest), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			if word == "excludes" {
				g.excludes = append(g.excludes, part)
			} else {
				g.includes = append(g.includes, part)
			}
		}
	case "section":
		g.sections = append(g.sections, spoken(rest))
	case "weekday":
		day, ok := weekdays[strings.ToLower(rest)]
		g.weekday = day
		return ok
	case "weekend":
		switch strings.ToLower(rest) {
		case "friday":
			g.weekend = [2]time.Weekday{5, 6}
		case "saturday":
		default:
			return false
		}
	case "inclusiveenddates":
		g.inclusive = true
	case "topaxis":
		g.top = true
	case "displaymode":
		g.ignored = append(g.ignored, "displayMode")
	}
	return true
}

// task reads the rest of a line after a task's name.
func (g *gantt) task(name, data string) bool {
	t := ganttTask{name: name, section: len(g.sections) - 1}
	parts := strings.Split(data, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	flags := map[string]*bool{"active": &t.active, "done": &t.done, "crit": &t.crit, "milestone": &t.mile, "vert": &t.upright}
	for len(parts) > 0 {
		flag := flags[parts[0]]
		if flag == nil {
			break
		}
		*flag = true
		parts = parts[1:]
	}
	switch len(parts) {
	case 0:
		t.to = "0d"
	case 1:
		t.to = parts[0]
	case 2:
		t.from, t.to = parts[0], parts[1]
	case 3:
		t.id, t.from, t.to = parts[0], parts[1], parts[2]
	default:
		return false
	}
	if t.to == "0" || t.to == "" && len(parts) > 1 { // it is a moment
		t.to = "0d"
	}
	if t.to == "" || len(parts) > 1 && t.from == "" {
		return false
	}
	if t.id == "" {
		t.id = "task " + strconv.Itoa(len(g.tasks)+1)
	}
	g.ids[t.id] = len(g.tasks)
	g.tasks = append(g.tasks, t)
	return true
}

// settle finds when tasks begin and end.
func (g *gantt) settle() error {
	left := -1
	for range ganttRounds {
		left = -1
		for i := range g.tasks {
			t := &g.tasks[i]
			if !t.begun {
				t.start, t.begun = g.startOf(i)
			}
			if t.begun && !t.ended {
				t.end, t.ended = g.endOf(t)
			}
			if !t.ended && left < 0 {
				left = i
			}
		}
		if left < 0 {
			break
		}
	}
	if left >= 0 {
		t := &g.tasks[left]
		if left == 0 && t.from == "" {
			return errors.New("it begins on the day that somebody reads it")
		}
		return errUnread{strings.Trim(t.name+": "+t.from+", "+t.to, ", ")}
	}
	if g.days > maxDays {
		return errLarge{"tasks over too many days"}
	}
	return nil
}

func (g *gantt) startOf(i int) (time.Time, bool) {
	t := &g.tasks[i]
	if t.from == "" {
		if i == 0 {
			return time.Time{}, false
		}
		return g.tasks[i-1].end, g.tasks[i-1].ended
	}
	if ids, ok := strings.CutPrefix(t.from, "after "); ok {
		return g.edge(ids, func(other *ganttTask) (time.Time, bool) { return other.end, other.ended }, time.Time.After)
	}
	return dateOf(g.format, t.from)
}

// edge returns a time of the tasks with these ids: the one that comes first by before. It
// returns false where none of them exists, or one has no time yet.
func (g *gantt) edge(ids string, timeOf func(*ganttTask) (time.Time, bool), before func(a, b time.Time) bool) (first time.Time, found bool) {
	for id := range strings.FieldsSeq(ids) {
		at, ok := g.ids[id]
		if !ok {
			continue
		}
		t, known := timeOf(&g.tasks[at])
		if !known {
			return time.Time{}, false
		}
		if !found || before(t, first) {
			first, found = t, true
		}
	}
	return first, found
}

func (g *gantt) endOf(t *ganttTask) (time.Time, bool) {
	if ids, ok := strings.CutPrefix(t.to, "until "); ok {
		earliest, found := g.edge(ids, func(other *ganttTask) (time.Time, bool) { return other.start, other.begun }, time.Time.Before)
		return earliest, found && !earliest.Before(t.start)
	}
	if m := ganttDuration().FindStringSubmatch(t.to); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return time.Time{}, false
		}
		end := after(t.start, n, m[2])
		if end.Year() > maxYear {
			return time.Time{}, false
		}
		if len(g.excludes) > 0 {
			for day := t.start.AddDate(0, 0, 1); !day.After(end) && g.days <= maxDays; day = day.AddDate(0, 0, 1) {
				if g.days++; g.excluded(day) {
					end = end.AddDate(0, 0, 1)
				}
			}
		}
		return end, true
	}
	end, ok := dateOf(g.format, t.to)
	if ok && g.inclusive {
		end = end.AddDate(0, 0, 1)
	}
	return end, ok && !end.Before(t.start)
}

// maxYear is the last year of a chart.
const maxYear = 9999

// after adds n units to a time.
func after(t time.Time, n float64, unit string) time.Time {
	whole := int(n)
	switch unit {
	case "M":
		return t.AddDate(0, whole, 0)
	case "y":
		return t.AddDate(min(whole, 2*maxYear), 0, 0)
	}
	ms := map[string]float64{"ms": 1, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3, "w": 7 * 86400e3}[unit] * n
	const dayMS = 86400e3
	days := math.Floor(ms / dayMS)
	return t.AddDate(0, 0, int(min(days, 400*maxYear))).Add(time.Duration(ms-float64(days*dayMS)) * time.Millisecond)
}

// excluded reports whether no work is done on a day.
func (g *gantt) excluded(day time.Time) bool {
	date := []string{strings.ToLower(formatDate(g.format, day)), day.Format("2006-01-02")}
	is := func(list []string) bool {
		for _, word := range list {
			if word == date[0] || word == date[1] || word == strings.ToLower(day.Weekday().String()) ||
				word == "weekends" && (day.Weekday() == g.weekend[0] || day.Weekday() == g.weekend[1]) {
				return true
			}
		}
		return false
	}
	return !is(g.includes) && is(g.excludes)
}

// said is a time as readers read it, with the time of day where tasks have one.
func (g *gantt) said(t time.Time, clock bool) string {
	switch {
	case !strings.Contains(g.format, "Y") && clock:
		return t.Format("15:04")
	case clock:
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02")
}

// lines says the chart in words: sections, and in them tasks with their times.
func (g *gantt) lines() []Line {
	clock := false
	for i := range g.tasks {
		for _, at := range []time.Time{g.tasks[i].start, g.tasks[i].end} {
			clock = clock || at.Hour()+at.Minute()+at.Second() > 0
		}
	}
	if !strings.Contains(g.format, "D") && strings.ContainsAny(g.format, "Hh") {
		clock = true
	}
	var out []Line
	section := -1
	for i := range g.tasks {
		t := &g.tasks[i]
		if t.section != section {
			section = t.section
			out = append(out, Line{Text: flat(g.sections[section])})
		}
		text := t.name + ": " + g.said(t.start, clock)
		if !t.mile && !t.upright && t.end.After(t.start) {
			text += " – " + g.said(t.end, clock)
		}
		for _, sign := range []struct {
			is   bool
			sign string
		}{{t.mile, "◆"}, {t.active, "▶"}, {t.done, "✓"}, {t.crit, "!"}} {
			if sign.is {
				text += " " + sign.sign
			}
		}
		depth := 0
		if t.section >= 0 {
			depth = 1
		}
		out = append(out, Line{depth, flat(text)})
	}
	return out
}

// flat is a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// draw returns the chart's SVG, and its size.
func (g *gantt) draw() (svg []byte, width, height float64) {
	first, last := g.tasks[0].start, g.tasks[0].end
	for i := range g.tasks {
		if g.tasks[i].start.Before(first) {
			first = g.tasks[i].start
		}
		if g.tasks[i].end.After(last) {
			last = g.tasks[i].end
		}
	}
	if !last.After(first) {
		last = first.AddDate(0, 0, 1)
	}
	left := seqMargin
	names := make([][]string, len(g.sections))
	for i, s := range g.sections {
		names[i] = g.wrap(s, sectionWide, strongWeight)
		left = max(left, g.widestOf(names[i], strongWeight)+seqMargin+16)
	}
	// Where words stand outside of the plot, it ends before the drawing does.
	edge := left + ganttPlot
	top := seqMargin
	if g.top {
		top += ganttAxis
	}
	span := float64(last.Unix()-first.Unix()) + float64(last.Nanosecond()-first.Nanosecond())/1e9
	at := func(t time.Time) float64 {
		part := (float64(t.Unix()-first.Unix()) + float64(t.Nanosecond()-first.Nanosecond())/1e9) / span
		return left + float64(part*ganttPlot)
	}
	right := edge
	y := top
	var bars drawing
	type band struct{ y, h float64 }
	var bands []band
	var uprights []int
	section := -2
	from := top
	closeSection := func() {
		if section < 0 {
			return
		}
		h := max(y-from, float64(len(names[section]))*lineHeight+8)
		y = from + h
		if section%2 == 0 {
			bands = append(bands, band{from, h})
		}
		bars.text("bdy-d-strong", seqMargin, from+h/2-float64(len(names[section])-1)*lineHeight/2, names[section])
	}
	for i := range g.tasks {
		t := &g.tasks[i]
		if t.section != section {
			closeSection()
			section, from = t.section, y
		}
		x1, x2 := at(t.start), at(t.end)
		if t.upright {
			uprights = append(uprights, i)
			continue
		}
		middle := y + ganttRow/2
		class := "bdy-d-task"
		switch {
		case t.crit:
			class = "bdy-d-task bdy-d-crit"
		case t.done:
			class = "bdy-d-task bdy-d-done"
		case t.active:
			class = "bdy-d-task bdy-d-now"
		}
		if t.crit && t.done {
			class += " bdy-d-past"
		}
		if t.mile {
			c, r := (x1+x2)/2, ganttBar/2
			bars.path(class, true, c, middle-r, c+r, middle, c, middle+r, c-r, middle)
			x1, x2 = c-r, c+r
		} else {
			x2 = max(x2, x1+2)
			bars.rect(class, x1, middle-ganttBar/2, x2-x1, ganttBar, 3)
		}
		label := []string{flat(t.name)}
		switch w := g.width(label[0], plainWeight); {
		case !t.mile && w+10 <= x2-x1:
			bars.text("bdy-d-mid", (x1+x2)/2, middle, label)
		case x2+6+w <= edge || x1-6-w < left:
			bars.text("bdy-d-name", x2+6, middle, label)
			right = max(right, x2+6+w)
		default:
			bars.text("bdy-d-name bdy-d-end", x1-6, middle, label)
		}
		y += ganttRow
	}
	closeSection()
	bottom := y
	height = bottom + ganttAxis + seqMargin
	// Upright lines have their names below the axis.
	var grid drawing
	for _, i := range uprights {
		t := &g.tasks[i]
		w, x := g.width(t.name, plainWeight), at(t.start)
		grid.line("bdy-d-line", x, top, x, bottom+ganttAxis)
		bars.text("bdy-d-name bdy-d-mid", max(x, w/2), bottom+ganttAxis+lineHeight/2, []string{flat(t.name)})
		right, height = max(right, x+w/2), bottom+ganttAxis+lineHeight+seqMargin
	}
	width = right + seqMargin
	for _, tick := range g.ticks(first, last) {
		x := at(tick)
		grid.line("bdy-d-s-soft", x, top, x, bottom)
		text := []string{strftime(g.axis, tick)}
		w := g.width(text[0], plainWeight)
		// The outermost words stay in the drawing.
		mid := min(max(x, w/2+2), width-w/2-2)
		grid.text("bdy-d-on bdy-d-mid", mid, bottom+ganttAxis/2+2, text)
		if g.top {
			grid.text("bdy-d-on bdy-d-mid", mid, top-ganttAxis/2, text)
		}
	}
	var d drawing
	for _, b := range bands {
		d.rect("bdy-d-band", 0, b.y, width, b.h, 0)
	}
	d.raw(string(grid.b))
	d.raw(string(bars.b))
	return d.b, width, height
}

// tickSteps are distances between the lines of an axis of time, from narrow to wide.
var tickSteps = []struct {
	n    int
	unit string
}{
	{1, "millisecond"}, {10, "millisecond"}, {100, "millisecond"},
	{1, "second"}, {5, "second"}, {15, "second"}, {30, "second"}, {1, "minute"}, {5, "minute"}, {15, "minute"}, {30, "minute"},
	{1, "hour"}, {3, "hour"}, {6, "hour"}, {12, "hour"}, {1, "day"}, {2, "day"}, {1, "week"}, {2, "week"}, {1, "month"}, {3, "month"}, {6, "month"},
	{1, "year"}, {2, "year"}, {5, "year"}, {10, "year"}, {25, "year"}, {100, "year"}, {500, "year"}, {1000, "year"}, {5000, "year"},
}

// ticks are the times that the axis names: as the author says, or so that their
// words have room.
func (g *gantt) ticks(first, last time.Time) []time.Time {
	room := g.width(strftime(g.axis, first), plainWeight) + 14
	most := max(2, int(ganttPlot/room))
	if m := ganttTick().FindStringSubmatch(g.interval); m != nil {
		n, err := strconv.Atoi(m[1])
		if ticks, ok := ticksOf(first, last, n, m[2], g.weekday, most); err == nil && n > 0 && ok {
			return ticks
		}
	}
	for _, step := range tickSteps {
		if ticks, ok := ticksOf(first, last, step.n, step.unit, g.weekday, most); ok && g.distinct(ticks) {
			return ticks
		}
	}
	return nil
}

// distinct reports whether no two times beside each other have the same words.
func (g *gantt) distinct(ticks []time.Time) bool {
	for i := 1; i < len(ticks); i++ {
		if strftime(g.axis, ticks[i]) == strftime(g.axis, ticks[i-1]) {
			return false
		}
	}
	return true
}

// ticksOf are the multiples of a distance between two times; ok is false for more
// than most.
func ticksOf(first, last time.Time, n int, unit string, weekday time.Weekday, most int) (out []time.Time, ok bool) {
	day := time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, time.UTC)
	var at time.Time
	var next func(t time.Time) time.Time
	switch unit {
	case "year":
		at = time.Date(first.Year()-first.Year()%n, 1, 1, 0, 0, 0, 0, time.UTC)
		next = func(t time.Time) time.Time { return t.AddDate(n, 0, 0) }
	case "month":
		at = time.Date(first.Year(), first.Month()-time.Month((int(first.Month())-1)%n), 1, 0, 0, 0, 0, time.UTC)
		next = func(t time.Time) time.Time { return t.AddDate(0, n, 0) }
	case "week":
		at = day.AddDate(0, 0, -(int(day.Weekday()-weekday)+7)%7)
		next = func(t time.Time) time.Time { return t.AddDate(0, 0, 7*n) }
	case "day":
		at = day.AddDate(0, 0, -(day.Day()-1)%n)
		next = func(t time.Time) time.Time {
			// Multiples count from the first of each month.
			after := t.AddDate(0, 0, n)
			if after.Month() != t.Month() && n > 1 {
				return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			}
			return after
		}
	default:
		step := time.Duration(n) * map[string]time.Duration{"millisecond": time.Millisecond, "second": time.Second, "minute": time.Minute, "hour": time.Hour}[unit]
		if last.Unix()-first.Unix() > int64(most+2)*max(1, int64(step/time.Second)) {
			return nil, false
		}
		at = day.Add(first.Sub(day) / step * step)
		next = func(t time.Time) time.Time { return t.Add(step) }
	}
	for ; !at.After(last); at = next(at) {
		if at.Before(first) {
			continue
		}
		if out = append(out, at); len(out) > most {
			return nil, false
		}
	}
	return out, true
}
