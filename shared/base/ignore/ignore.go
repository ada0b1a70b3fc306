// Package ignore matches paths with patterns in the form of a .gitignore.
//
//	ignore.go  Rules: Parse, Match, Selects
package ignore

import (
	"path"
	"strings"
)

// Rules decide which paths are selected; the last rule that matches wins.
type Rules []rule

type rule struct {
	elements []string // patterns of path elements; "**" represents any number
	negated  bool     // "!": matching paths are not selected
	dirOnly  bool     // "x/": only folders match
}

// Parse reads patterns as gitignore(5) defines them. What is not a pattern
// matches nothing: that is how Git takes it too.
func Parse(text string) Rules {
	var rules Rules
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		line = trimSpaces(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var rule rule
		if line[0] == '!' {
			rule.negated = true
			line = line[1:]
		}
		if strings.HasSuffix(line, "/") {
			rule.dirOnly = true
			line = strings.TrimSuffix(line, "/")
		}
		// A slash at the beginning or in the middle ties a pattern to the root.
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = strings.TrimPrefix(line, "/")
		if line == "" {
			continue
		}
		for element := range strings.SplitSeq(line, "/") {
			if element == "**" && len(rule.elements) > 0 && rule.elements[len(rule.elements)-1] == "**" {
				continue
			}
			// path.Match negates a class with ^; Git takes ! as well.
			rule.elements = append(rule.elements, strings.ReplaceAll(element, "[!", "[^"))
		}
		rules = append(rules, rule)
	}
	return rules
}

// trimSpaces drops spaces at the end, save those that a backslash keeps.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// Match reports whether the rules select a path itself; it does not look at the folders
// above it. A walk must skip a selected folder with all files in it: as in Git, no rule
// can bring one of these back.
func (rules Rules) Match(name string, dir bool) bool {
	elements := strings.Split(name, "/")
	for i := len(rules) - 1; i >= 0; i-- {
		rule := &rules[i]
		if (dir || !rule.dirOnly) && matchElements(rule.elements, elements) {
			return !rule.negated
		}
	}
	return false
}

// Selects reports whether the rules select a file, or one of the folders above it.
func (rules Rules) Selects(name string) bool {
	for i, c := range name {
		if c == '/' && rules.Match(name[:i], true) {
			return true
		}
	}
	return rules.Match(name, false)
}

// Below reports whether a rule may select the folder or a file in it.
func (rules Rules) Below(dir string) bool {
	elements := strings.Split(dir, "/")
	for i := range rules {
		rule := &rules[i]
		if rule.negated {
			continue
		}
		for n := 1; n <= len(rule.elements); n++ {
			if n == 1 && rule.elements[0] == "**" {
				continue // "*.txt" is no reason to look into every folder that is left out
			}
			if matchElements(rule.elements[:n], elements) {
				return true
			}
		}
	}
	return false
}

// matchElements compares a pattern with a path, element by element. Going
// back to the last "**" only is enough, so the work is bounded by the product
// of the lengths.
func matchElements(pattern, elements []string) bool {
	back, from := -1, 0 // the last "**" of the pattern, and where it ends in elements
	p, e := 0, 0
	for e < len(elements) {
		if p < len(pattern) {
			if pattern[p] == "**" {
				if p == len(pattern)-1 {
					return true // "x/**": everything inside
				}
				back, from = p, e
				p++
				continue
			}
			if ok, err := path.Match(pattern[p], elements[e]); ok && err == nil {
				p++
				e++
				continue
			}
		}
		if back < 0 {
			return false
		}
		from++
		p, e = back+1, from
	}
	return p == len(pattern)
}
