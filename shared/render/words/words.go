package words

import (
	_ "embed" // for the table
	"encoding/json"
	"strings"
	"sync"
)

//go:embed words.tsv
var tsv string

// table is words.tsv. Nothing changes it once it is read.
type table struct {
	columns map[string]int // by tag, in lower case
	rows    map[Phrase][]string
}

// read returns the table; it reads it once, for the first who asks.
var read = sync.OnceValue(func() *table {
	lines := strings.Split(strings.TrimSuffix(tsv, "\n"), "\n")
	t := &table{columns: make(map[string]int), rows: make(map[Phrase][]string, len(lines))}
	for i, tag := range strings.Split(lines[0], "\t")[1:] {
		tag = strings.ToLower(tag)
		t.columns[tag] = i
		// A language without a region or a script is the first of its columns:
		// "pt" is pt-BR, "zh" is zh-Hans.
		base, _, _ := strings.Cut(tag, "-")
		if _, ok := t.columns[base]; !ok {
			t.columns[base] = i
		}
	}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		t.rows[Phrase(cells[0])] = cells[1:]
	}
	return t
})

// alias returns the tag of a language that is known by another name: labels of
// docs.json that are codes of countries, codes that were replaced, the two ways
// to write Norwegian, and regions whose script is not the language's usual one.
func alias(tag string) string {
	switch tag {
	case "cn":
		return "zh-hans"
	case "zh-tw", "zh-hk", "zh-mo":
		return "zh-hant"
	case "jp":
		return "ja"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "nb", "nn":
		return "no"
	}
	return tag
}

// Language says phrases in one language; the zero Language is English.
type Language struct{ column int }

// In returns the language of a tag (BCP 47, or a label of docs.json), whatever
// its case: the nearest known one, so that "fr-CA" is French, and English
// for an unknown language.
func In(tag string) Language {
	t := read()
	for tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-")); tag != ""; {
		if column, ok := t.columns[alias(tag)]; ok {
			return Language{column}
		}
		tag = tag[:max(strings.LastIndexByte(tag, '-'), 0)]
	}
	return Language{}
}

// Say returns a phrase.
func (l Language) Say(p Phrase) string { return read().rows[p][l.column] }

// Script returns phrases as an object of JavaScript, for scripts that look them
// up by the language of a document: lists in the order of phrases, by tags as
// they are given, and by "en" for documents in none of them. So a script carries
// the words of its site's languages and of no other.
func Script(tags []string, phrases ...Phrase) string {
	lists := make(map[string][]string, len(tags)+1)
	for _, tag := range append([]string{"en"}, tags...) {
		list := make([]string, len(phrases))
		for i, p := range phrases {
			list[i] = In(tag).Say(p)
		}
		lists[tag] = list
	}
	object, _ := json.Marshal(lists) // strings alone: it can't fail
	return string(object)
}
