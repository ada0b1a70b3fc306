package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// Indent returns the changes that indent each line of a JSON file as it nests, in the
// file's own steps, and that take white space off the ends of lines. Lines stay as
// they are broken.
func Indent(src []byte) ([]Change, error) {
	root, err := json.Parse(src, json.Options{Depth: 1000, Lenient: true})
	if err != nil {
		return nil, err
	}
	var texts []Span // strings, in which brackets mean nothing
	step := stepOf(src, root, &texts)
	slices.SortFunc(texts, func(a, b Span) int { return a.From - b.From })
	var changes []Change
	put := func(from, to int, text string) {
		if string(src[from:to]) != text {
			changes = append(changes, Change{Span{from, to}, text})
		}
	}
	var open []int // how deep the line is on which each open bracket stands
	at := 0
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	for at < len(src) {
		end := at + bytes.IndexByte(src[at:], '\n')
		next := end + 1
		if end < at {
			end, next = len(src), len(src)
		}
		line := bytes.TrimRight(src[at:end], " \t\r")
		start := at + len(line) - len(bytes.TrimLeft(line, " \t"))
		last, eol := at+len(line), ""
		if strings.HasSuffix(string(src[at:end]), "\r") {
			eol = "\r"
		}
		depth := 0
		if n := len(open); n > 0 && start < last {
			if depth = open[n-1] + 1; src[start] == '}' || src[start] == ']' {
				depth--
			}
		}
		put(at, start, strings.Repeat(step, depth))
		put(last, end, eol)
		for i := start; i < last; i++ {
			if len(texts) > 0 && i >= texts[0].From {
				i = texts[0].To - 1
				texts = texts[1:]
				continue
			}
			switch src[i] {
			case '{', '[':
				open = append(open, depth)
			case '}', ']':
				if len(open) > 0 {
					open = open[:len(open)-1]
				}
			}
		}
		at = next
	}
	return changes, nil
}

// stepOf returns one step of indentation: what most members of the outermost object
// begin with, two spaces if none begins a line. It collects the places of all strings.
func stepOf(src []byte, root *json.Value, texts *[]Span) string {
	counts, step := map[string]int{}, "  "
	most := 0
	for _, m := range root.Members {
		indent := src[bytes.LastIndexByte(src[:m.Offset], '\n')+1 : m.Offset]
		if len(indent) == 0 || len(bytes.TrimLeft(indent, " \t")) > 0 {
			continue
		}
		if counts[string(indent)]++; counts[string(indent)] > most {
			most, step = counts[string(indent)], string(indent)
		}
	}
	var walk func(v *json.Value)
	walk = func(v *json.Value) {
		if v.Kind == json.String {
			*texts = append(*texts, Span{v.Offset, v.End})
		}
		for _, i := range v.Items {
			walk(i)
		}
		for _, m := range v.Members {
			end := m.Offset + 1 // of the name
			for end < m.Value.Offset && src[end] != '"' {
				if src[end] == '\\' {
					end++
				}
				end++
			}
			*texts = append(*texts, Span{m.Offset, end + 1})
			walk(m.Value)
		}
	}
	walk(root)
	return step
}
