package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// compaction replaces the first turns of a round, calls and results, by a text. The
// checkpoint of the first turn that sends it records it, so that a round that is loaded
// again sends the same bytes. The next compaction replaces it. It is made from the
// checkpoints, too.
type compaction struct {
	Turns int    `json:"turns"` // how many are replaced
	Text  string `json:"text"`
}

// Bounds of the text of a compaction, in bytes. In between, it has a tenth of the
// tokens of a request.
const (
	leastSummary = 4 << 10
	mostSummary  = 24 << 10
)

// compaction replaces the first n turns.
func (r *Round) compaction(m model.Choice, n int) *compaction {
	most := mostSummary
	if limit := r.limit(m); limit > 0 {
		most = min(max(limit*3/10, leastSummary), mostSummary) // three bytes a token
	}
	return &compaction{n, r.summary(n, most)}
}

// compact returns the compaction of the fewest turns after which the next request has at
// most that many tokens. If there is none, it replaces all turns but the last, because
// the model has not read its results. It returns old if nothing is left to replace.
func (r *Round) compact(m model.Choice, said []string, old *compaction, tokens int) *compaction {
	least, most := old.turns()+1, r.Turns-1
	if most < least {
		return old
	}
	n := least + sort.Search(most-least, func(i int) bool {
		return r.tokens(m, r.request(m, said, r.compaction(m, least+i))) <= tokens
	})
	return r.compaction(m, n)
}

func (c *compaction) turns() int {
	if c == nil {
		return 0
	}
	return c.Turns
}

// replaced begins the text of a compaction. Package tool refuses to write it into a
// file.
const replaced = "(replaced to make room: your turns 1 to %d, with their calls and results)"

// begin returns the first message after a compaction: the first turn's request, the text
// of the compaction, and the messages that came later, up to the first turn that is not
// replaced. said has the texts before the next answer.
func (r *Round) begin(c *compaction, said []string) []model.Block {
	var content []model.Block
	for _, text := range r.history[0].Said {
		content = append(content, model.Text(text))
	}
	content = append(content, model.Text(c.Text))
	var later []string
	for _, t := range r.history[1:min(c.Turns+1, len(r.history))] {
		later = append(later, t.Said...)
	}
	if c.Turns == len(r.history) {
		later = append(later, said...)
	}
	later = slices.DeleteFunc(later, func(text string) bool { return text == sayCut || text == sayTool })
	size := 0
	for _, text := range later {
		size += len(text)
	}
	for _, text := range later {
		if size > maxLater && len(text) > maxRemembered {
			text = Cut(text, maxRemembered) + "\n(The rest of this message was left out to make room.)"
		}
		content = append(content, model.Text(text))
	}
	return content
}

// maxLater is how many bytes the messages of replaced turns may have together before the
// long ones are shortened to maxRemembered. The request itself never is.
const maxLater = 32 << 10

// summary tells the model what it did in its first n turns, in at most that many bytes.
// It depends on their checkpoints alone.
func (r *Round) summary(n, most int) string {
	var plan []string
	files := map[string]string{} // state of changed files, by path
	var reads, looks, failures, texts, found []string
	for i, t := range r.history[:n] {
		if t.Plan != nil {
			plan = nil
			for _, item := range t.Plan {
				plan = append(plan, item.State+": "+Cut(item.Text, 200))
			}
		}
		for _, c := range t.Changed {
			files[c.Path] = "changed"
			if c.Delete {
				files[c.Path] = "deleted"
			} else if !r.known[c.Path] {
				files[c.Path] = "new"
			}
		}
		for _, p := range t.Restored {
			delete(files, p)
		}
		var said []string
		calls := t.Calls
		for _, b := range t.Answer {
			switch {
			case b.Type == model.TypeText && strings.TrimSpace(b.Text) != "":
				said = append(said, strings.TrimSpace(b.Text))
			case b.Type == model.TypeToolUse && len(calls) > 0:
				c := calls[0]
				calls = calls[1:]
				result, _ := t.result(b.ID)
				switch {
				case result.IsError:
					failures = newest(failures, c.line(b.Input)+": "+firstLine(result.Content))
				case c.Name == "read":
					reads = newest(reads, c.line(b.Input))
				case c.Name == "check":
					found = strings.Split(strings.TrimSpace(result.Content), "\n")
				case c.Name != "write" && c.Name != "edit" && c.Name != "plan": // which have their own parts
					looks = newest(looks, c.line(b.Input))
				}
			}
		}
		if len(said) > 0 {
			texts = append(texts, fmt.Sprintf("turn %d: %s", i+1, oneLine(tool.Redact(strings.Join(said, " ")), 300)))
		}
	}
	parts := []struct {
		title, text string
	}{
		{"Your plan", fitting(plan, most*15/100, true)},
		{"Files that you changed", ""}, // which have what the others leave
		{"Files that you read", fitting(reads, most*15/100, false)},
		{"Searches and other calls", fitting(looks, most*10/100, false)},
		{"Calls that failed", fitting(failures, most*10/100, false)},
		{"Your last check", fitting(found, most*10/100, true)},
		{"What you wrote", fitting(texts, most*15/100, false)},
	}
	left := most
	for _, p := range parts {
		left -= len(p.text)
	}
	parts[1].text = fitting(r.folders(files), left, true)
	var b strings.Builder
	for _, p := range parts {
		if p.text != "" {
			b.WriteString(p.title + ":\n" + p.text)
		}
	}
	return fmt.Sprintf(replaced, n) + " This text tells what you did in them and asks for nothing. Your changes are in the files; diff shows them. " +
		"You no longer see what you read: read a file again before you rely on its text or replace it. If messages came in these turns, they follow.\n\n" +
		quoted("turns", strings.TrimSpace(b.String()))
}

// line describes a call in a line.
func (c call) line(input json.RawMessage) string {
	var in struct{ Path, Pattern, Find string }
	_ = json.Unmarshal(input, &in) // a field of another type stays empty
	parts := []string{c.Name}
	if text := cmp.Or(in.Pattern, in.Find); text != "" {
		parts = append(parts, fmt.Sprintf("%.100q", text))
	}
	if file := cmp.Or(c.File, in.Path); file != "" {
		parts = append(parts, file)
	}
	line := strings.Join(parts, " ")
	if c.Outcome != "" {
		line += ": " + c.Outcome
	}
	return oneLine(line, 300)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return oneLine(line, 200)
}

// oneLine returns a text without line ends, of at most n bytes.
func oneLine(text string, n int) string {
	return Cut(strings.Join(strings.Fields(text), " "), n)
}

// newest appends a line to a list, where an equal one goes.
func newest(lines []string, line string) []string {
	return append(slices.DeleteFunc(lines, func(l string) bool { return l == line }), line)
}

// folders lists files with their states, a line for each folder.
func (r *Round) folders(files map[string]string) []string {
	var lines []string
	folder := ""
	for _, p := range slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(path.Dir(a), path.Dir(b)), cmp.Compare(a, b))
	}) {
		rel, _ := Inside(p, r.Manifest.Root)
		name := path.Base(rel)
		if state := files[p]; state != "changed" {
			name += " (" + state + ")"
		}
		if dir := path.Dir(rel); len(lines) > 0 && dir == folder && len(lines[len(lines)-1]) < 1000 {
			lines[len(lines)-1] += ", " + name
		} else {
			folder = dir
			lines = append(lines, dir+"/: "+name)
		}
	}
	return lines
}

// fitting joins the first or the last lines that fit into most bytes, and counts the
// others.
func fitting(lines []string, most int, first bool) string {
	lines = slices.Clone(lines)
	if !first {
		slices.Reverse(lines)
	}
	size, n := 0, 0
	for n < len(lines) && size+len(lines[n])+3 <= most {
		size, n = size+len(lines[n])+3, n+1
	}
	more := len(lines) - n
	if lines = lines[:n]; !first {
		slices.Reverse(lines)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("- " + l + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "- and %d more lines, which are left out\n", more)
	}
	return b.String()
}
