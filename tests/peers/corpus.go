package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// set is a set of pages that all tools read.
type set struct {
	name     string // of its folder, under corpus
	about    string // what it is, for readers
	diagrams bool   // Mermaid's blocks are diagrams
	dir      string // has docs and sidebar.json
	pages    int
}

// sets makes the sets: the corpus, four copies of it and as many pages that
// differ, each with its diagrams and with their sources as text.
func (b *bench) sets(ctx context.Context) ([]set, error) {
	made := filepath.Join(b.work, "corpus")
	cmd := exec.CommandContext(ctx, "python3", filepath.Join(b.shared, "peers", "make_corpus.py"), filepath.Join(b.shared, "corpora"), made)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	words, err := vocabulary(filepath.Join(made, "1x", "docs"))
	if err != nil {
		return nil, err
	}
	var sets []set
	for _, s := range []struct {
		name, about string
		change      func(version int, text []byte) []byte
	}{
		{"1x", "pages of three real sites", nil},
		{"4x", "the same, four times", nil},
		{"4x-different", "the same, each copy with other words", words.change},
	} {
		from := filepath.Join(made, strings.TrimSuffix(s.name, "-different"))
		for _, diagrams := range []bool{true, false} {
			one := set{name: s.name, about: s.about, diagrams: diagrams}
			if !diagrams {
				one.name += "-text"
			}
			one.dir = filepath.Join(made, one.name)
			if one.pages, err = derive(from, one, s.change); err != nil {
				return nil, err
			}
			sets = append(sets, one)
		}
	}
	return sets, nil
}

// derive makes a set of another one, which may be itself, and returns the
// number of its pages.
func derive(from string, s set, change func(int, []byte) []byte) (pages int, _ error) {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(rel, ".md") {
			pages++
			if change != nil {
				version := strings.Split(filepath.ToSlash(rel), "/")[1] // docs/v2/…
				text = change(int(version[len(version)-1]-'0'), text)
			}
			if !s.diagrams {
				text = bytes.ReplaceAll(text, []byte("```mermaid"), []byte("```text"))
			}
		}
		to := filepath.Join(s.dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	return pages, err
}

// cipher replaces words by others of the same length, so that pages differ as
// those of one author do: in their words, in their code and in their drawings,
// with the same number of each.
type cipher struct {
	byLength map[int][]string
	place    map[string]int // of a word among those of its length
}

// parts matches what is left as it is, or one word: addresses of links, then
// words that are long enough not to be one of a language's own, mostly.
var parts = regexp.MustCompile(`\]\([^)]*\)|https?://\S+|[A-Za-z_]+`)

// kept are long words that mean something to Mermaid or to the languages of
// the corpus's code.
var kept = strings.Fields(`
	flowchart sequencediagram subgraph participant statediagram direction classdef activate deactivate autonumber
	function continue interface readonly undefined constructor implements protected namespace instanceof
	abstract boolean default extends finally private promise require package typeof
	mermaid typescript javascript python markdown description csharp kotlin dockerfile graphql`)

// plain reports whether a word may become another.
func plain(word string) bool {
	if len(word) < 7 || slices.Contains(kept, word) {
		return false
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

func vocabulary(dir string) (*cipher, error) {
	c := &cipher{byLength: map[int][]string{}, place: map[string]int{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, w := range parts.FindAllString(string(text), -1) {
			if _, known := c.place[w]; !known && plain(w) {
				c.place[w] = 0
				c.byLength[len(w)] = append(c.byLength[len(w)], w)
			}
		}
		return err
	})
	for _, words := range c.byLength {
		slices.SortFunc(words, cmp.Compare[string])
		for i, w := range words {
			c.place[w] = i
		}
	}
	return c, err
}

// change returns a page in the words of a version. Its front matter stays.
func (c *cipher) change(version int, text []byte) []byte {
	head := 0
	if bytes.HasPrefix(text, []byte("---\n")) {
		if end := bytes.Index(text[4:], []byte("\n---\n")); end >= 0 {
			head = 4 + end + 5
		}
	}
	return append(slices.Clone(text[:head]), parts.ReplaceAllFunc(text[head:], func(w []byte) []byte {
		i, known := c.place[string(w)]
		if !known {
			return w
		}
		words := c.byLength[len(w)]
		return []byte(words[(i+(version-1)*len(words)/4)%len(words)])
	})...)
}

// docsJSON is the navigation of a set, as Bindery reads it.
func docsJSON(sidebar []byte) ([]byte, error) {
	type node struct {
		Text, Link string
		Items      []json.RawMessage
	}
	var turn func(raw json.RawMessage) (any, error)
	turn = func(raw json.RawMessage) (any, error) {
		var n node
		if err := json.Unmarshal(raw, &n); err != nil {
			return nil, err
		}
		link := strings.Trim(n.Link, "/")
		if n.Items == nil {
			return link, nil
		}
		pages := []any{}
		if link != "" {
			pages = append(pages, link)
		}
		for _, item := range n.Items {
			p, err := turn(item)
			if err != nil {
				return nil, err
			}
			pages = append(pages, p)
		}
		return map[string]any{"group": n.Text, "pages": pages}, nil
	}
	var roots []json.RawMessage
	if err := json.Unmarshal(sidebar, &roots); err != nil {
		return nil, err
	}
	pages := make([]any, len(roots))
	for i, raw := range roots {
		p, err := turn(raw)
		if err != nil {
			return nil, err
		}
		pages[i] = p
	}
	return json.Marshal(map[string]any{
		"name": "Corpus", "theme": "mint", "colors": map[string]string{"primary": "#0055aa"}, "navigation": map[string]any{"pages": pages},
	})
}
