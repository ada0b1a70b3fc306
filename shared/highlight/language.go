package highlight

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// extraAliases are labels that writers use and chroma doesn't know, by the
// alias to take instead. Where chroma has no grammar of its own for a language,
// it is the nearest one.
var extraAliases = map[string]string{
	"angular":         "html",
	"astro":           "html",
	"cjs":             "javascript",
	"cts":             "typescript",
	"curl":            "bash",
	"dotenv":          "bash",
	"ejs":             "html",
	"fishshell":       "fish",
	"gql":             "graphql",
	"javascriptreact": "jsx",
	"jsonp":           "javascript",
	"ksh":             "bash",
	"mdx":             "markdown",
	"mjs":             "javascript",
	"mts":             "typescript",
	"ndjson":          "json",
	"node":            "javascript",
	"nodejs":          "javascript",
	"objectivec":      "objective-c",
	"postgres":        "postgresql",
	"pwsh":            "powershell",
	"shell-session":   "console",
	"shellscript":     "bash",
	"shellsession":    "console",
	"terminal":        "bash",
	"typescriptreact": "tsx",
	"yml":             "yaml",
}

// plainLabels are labels that a writer means, but whose text has no classes.
// Mermaid is a diagram's source: it is drawn, not highlighted.
var plainLabels = map[string]string{
	"ascii":       "plaintext",
	"mermaid":     "Mermaid",
	"nohighlight": "plaintext",
	"none":        "plaintext",
	"output":      "plaintext",
	"plaintext":   "plaintext",
	"txt":         "plaintext",
}

// unsafeLanguage is chroma's name of the one grammar that isn't safe for
// concurrent use; see unsafeNested.
const unsafeLanguage = "Raku"

// plainLanguages are chroma's names of the languages that stay plain.
var plainLanguages = map[string]bool{"plaintext": true, unsafeLanguage: true}

// language is one language of the table. Its grammar is loaded when it is
// first used, since reading and compiling one takes milliseconds.
type language struct {
	name   string
	lexer  chroma.Lexer // nil for a plain language
	wrap   wrapper
	traits traits

	once    sync.Once
	grammar *grammar // nil where only chroma's own driver runs the language
}

// languages is the table of all languages by lower-case label. Chroma's own
// look-up compares a label that it doesn't know with the file patterns of all
// languages, which takes milliseconds; this table answers at once.
type languages struct {
	byLabel map[string]*language
	limits  limits
	unsafe  []string // labels of the language that is not safe; see unsafeNested
}

func newLanguages() *languages {
	l := &languages{byLabel: map[string]*language{}, limits: defaultLimits()}
	registry := lexers.GlobalLexerRegistry
	byLexer := map[chroma.Lexer]*language{}
	add := func(label string, lexer chroma.Lexer) {
		if lexer == nil || label == "" {
			return
		}
		lang, ok := byLexer[lexer]
		if !ok {
			lang = newLanguage(lexer)
			byLexer[lexer] = lang
		}
		if key := strings.ToLower(label); l.byLabel[key] == nil {
			l.byLabel[key] = lang
		}
	}
	for _, lexer := range registry.Lexers {
		add(lexer.Config().Name, lexer)
	}
	for _, lexer := range registry.Lexers {
		for _, alias := range lexer.Config().Aliases {
			// Two languages may have one alias; which of them it means is the
			// registry's to say. A known alias is found without a search.
			add(alias, registry.Get(alias))
		}
	}
	for label, name := range plainLabels {
		l.byLabel[label] = &language{name: name}
	}
	for label, alias := range extraAliases {
		if lang := l.byLabel[alias]; lang != nil && l.byLabel[label] == nil {
			l.byLabel[label] = lang
		}
	}
	for label, lexer := range extensions(registry.Lexers) {
		add(label, lexer)
	}
	for label, lang := range l.byLabel {
		if lang.name == unsafeLanguage {
			l.unsafe = append(l.unsafe, label)
		}
	}
	slices.Sort(l.unsafe)
	return l
}

func newLanguage(lexer chroma.Lexer) *language {
	name := lexer.Config().Name
	lang := &language{name: name, traits: languageTraits[name]}
	if !plainLanguages[name] {
		lang.lexer = lexer
	}
	return lang
}

// extensions gives the file extensions of the languages ("tf", "yml"), which
// writers use as labels. Of several languages with one extension it takes that
// of the highest priority, and the first of those, as chroma does.
func extensions(all chroma.Lexers) map[string]chroma.Lexer {
	byExtension := map[string]chroma.Lexer{}
	for _, primary := range []bool{true, false} {
		round := map[string]chroma.Lexer{}
		for _, lexer := range all {
			patterns := lexer.Config().Filenames
			if !primary {
				patterns = lexer.Config().AliasFilenames
			}
			for _, pattern := range patterns {
				extension, ok := strings.CutPrefix(pattern, "*.")
				if !ok || strings.ContainsAny(extension, `*?[\.`) || extension != strings.ToLower(extension) {
					continue // a pattern, or C++'s .H beside C's .h
				}
				if known, ok := round[extension]; !ok || priority(lexer) > priority(known) {
					round[extension] = lexer
				}
			}
		}
		for extension, lexer := range round {
			if _, ok := byExtension[extension]; !ok {
				byExtension[extension] = lexer
			}
		}
	}
	return byExtension
}

// priority is chroma's, for which 0 means 1.
func priority(lexer chroma.Lexer) float32 {
	if p := lexer.Config().Priority; p != 0 {
		return p
	}
	return 1
}

// find gives the language of a label, or nil.
func (l *languages) find(label string) *language {
	if lang, ok := l.byLabel[label]; ok {
		return lang
	}
	return l.byLabel[strings.ToLower(strings.TrimSpace(label))]
}

// load reads the grammar at the first use.
func (l *language) load(attempt time.Duration) *grammar {
	l.once.Do(func() {
		if l.lexer == nil {
			return
		}
		inner, wrap := unwrap(l.lexer)
		if inner == nil {
			return
		}
		if g, err := newGrammar(inner, attempt); err == nil {
			l.grammar, l.wrap = g, wrap
		}
	})
	return l.grammar
}
