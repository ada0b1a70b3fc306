package client

import (
	"path"
	"strings"
)

// ignoreFile is the name of the file, at the root of a site, that lists what
// is not published, in the form of a .gitignore.
const ignoreFile = ".mintignore"

// defaultIgnores are left out of every site unless its own file takes them
// back in with "!": hidden files but snippets, and what repositories hold beside a site.
const defaultIgnores = `
.*
!snippets/**/.*.mdx
!_snippets/**/.*.mdx
node_modules/
README.md
LICENSE.md
CHANGELOG.md
CONTRIBUTING.md
`

// ignoreRules decide which paths are ignored; the last rule that matches wins.
type ignoreRules []ignoreRule

type ignoreRule struct {
	elements []string // patterns of path elements; "**" represents any number
	negated  bool     // "!": what matches is not ignored after all
	dirOnly  bool     // "x/": only folders match
}

// parseIgnores reads patterns as gitignore(5) defines them. What is not a pattern
// matches nothing: that is how Git takes it too.
func parseIgnores(text string) ignoreRules {
	var rules ignoreRules
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		line = trimSpaces(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var rule ignoreRule
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

// match reports whether a path is ignored. Whoever walks a tree must not enter
// an ignored folder: nothing in it can be taken back in.
func (rules ignoreRules) match(name string, dir bool) bool {
	elements := strings.Split(name, "/")
	for i := len(rules) - 1; i >= 0; i-- {
		rule := &rules[i]
		if (dir || !rule.dirOnly) && matchElements(rule.elements, elements) {
			return !rule.negated
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
