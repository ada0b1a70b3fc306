package highlight

import (
	"cmp"
	"strings"
	"sync"

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
	"con":             "console",
	"cts":             "typescript",
	"curl":            "bash",
	"dotenv":          "bash",
	"ejs":             "html",
	"fishshell":       "fish",
	"gql":             "graphql",
	"javascriptreact": "jsx",
	"jsonp":           "javascript",
	"ksh":             "bash",
	"liquid":          "django",
	"mjs":             "javascript",
	"mts":             "typescript",
	"ndjson":          "json",
	"node":            "javascript",
	"nodejs":          "javascript",
	"objectivec":      "objective-c",
	"package-install": "bash",
	"postgres":        "postgresql",
	"prisma":          "kotlin",
	"pycon":           "python",
	"pwsh":            "powershell",
	"python-console":  "python",
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

// plainLanguages are chroma's names of the languages that stay plain. Chroma's
// Raku grammar is a program that rewrites its own rules while it runs, for all
// its users at once: its tokens depend on what else runs.
var plainLanguages = map[string]bool{"plaintext": true, "Raku": true}

// The languages whose code holds code of others.
const (
	markdownName = "markdown"
	mdxName      = "MDX"
)

// ownLexers read the commonest languages, by chroma's names of them. They are
// nearer to what writers' other tools show than chroma's grammars are, and many
// times as fast; oracle_test.go has the figures.
var ownLexers = map[string]lexFunction{
	"Bash Session": lexConsole,
	"Bash":         lexShell,
	"JSON":         lexJSON,
	"JavaScript":   lexScriptJSX,
	"Python":       lexPython,
	"Python 2":     lexPython,
	"TypeScript":   lexScript,
	markdownName:   lexMarkdown,
	"react":        lexScriptJSX,
}

// ownLanguages are languages that chroma does not distinguish from another one,
// their base. In TypeScript "<T>a" is a type in front of a value, in TSX an element.
var ownLanguages = map[string]struct {
	base   string
	labels []string
	lex    lexFunction
}{
	mdxName: {base: markdownName, labels: []string{"mdx"}, lex: lexMDX},
	"TSX":   {base: "TypeScript", labels: []string{"tsx"}, lex: lexScriptJSX},
}

// language is one language of the table. Its grammar is loaded when it is
// first used, since reading and compiling one takes milliseconds.
type language struct {
	name   string
	lexer  chroma.Lexer // nil for a plain language
	traits *traits
	lex    lexFunction // nil where chroma's grammar reads the language

	once    sync.Once
	wrap    wrapper
	grammar *grammar // nil where the machine can't run the language
	outer   *grammar // of wrapDelegate
}

// languages is the table of all languages by lower-case label. Chroma's own
// look-up compares a label that it doesn't know with the file patterns of all
// languages, which takes milliseconds; this table answers at once.
type languages struct {
	byLabel map[string]*language
	limits  limits
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
	for name, own := range ownLanguages {
		base := l.byLabel[strings.ToLower(own.base)]
		if base == nil {
			continue
		}
		lang := &language{name: name, lexer: base.lexer, traits: base.traits, lex: own.lex}
		for _, label := range own.labels {
			l.byLabel[label] = lang
		}
	}
	for label, alias := range extraAliases {
		if lang := l.byLabel[alias]; lang != nil && l.byLabel[label] == nil {
			l.byLabel[label] = lang
		}
	}
	for label, lexer := range extensions(registry.Lexers) {
		add(label, lexer)
	}
	return l
}

func newLanguage(lexer chroma.Lexer) *language {
	name := lexer.Config().Name
	lang := &language{name: name, traits: cmp.Or(languageTraits[name], common), lex: ownLexers[name]}
	if !plainLanguages[name] {
		lang.lexer = lexer
	}
	return lang
}

// extensions returns the file extensions of the languages ("tf", "yml"), which
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

func (l *languages) find(label string) *language {
	if lang, ok := l.byLabel[label]; ok {
		return lang
	}
	return l.byLabel[strings.ToLower(strings.TrimSpace(label))]
}

// load reads the grammar at the first use; nil for a language that stays plain.
func (l *language) load() *grammar {
	l.once.Do(func() {
		if l.lexer == nil {
			return
		}
		kind, inner, outer := unwrap(l.lexer)
		if inner == nil {
			return
		}
		g, err := newGrammar(inner)
		if err == nil && outer != nil {
			l.outer, err = newGrammar(outer)
		}
		if err == nil {
			l.grammar, l.wrap = g, kind
		}
	})
	return l.grammar
}
