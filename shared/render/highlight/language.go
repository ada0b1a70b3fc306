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
	"1c":                 "1s",
	"1c-query":           "1s",
	"actionscript-3":     "actionscript3",
	"adoc":               "markdown",
	"ahk1":               "autohotkey",
	"ahk2":               "autohotkey",
	"angular":            "html",
	"angular-html":       "html",
	"angular-ts":         "typescript",
	"apex":               "java",
	"ara":                "rust",
	"asciidoc":           "markdown",
	"astro":              "html",
	"be":                 "ruby",
	"beancount":          "clojure",
	"berry":              "ruby",
	"bird":               "nginx",
	"bird2":              "nginx",
	"blade":              "html",
	"bsl":                "1s",
	"cadence":            "swift",
	"cairo":              "rust",
	"cdc":                "swift",
	"cjs":                "javascript",
	"clarity":            "clojure",
	"closure-templates":  "html",
	"codeowners":         "gitignore",
	"codeql":             "java",
	"con":                "console",
	"crontab":            "bash",
	"csproj":             "xml",
	"cts":                "typescript",
	"curl":               "bash",
	"dockerignore":       "gitignore",
	"dotenv":             "bash",
	"dream-maker":        "c",
	"edge":               "html",
	"editorconfig":       "ini",
	"ejs":                "html",
	"f#":                 "fsharp",
	"f08":                "fortran",
	"f18":                "fortran",
	"f77":                "fortranfixed",
	"fishshell":          "fish",
	"fluent":             "ini",
	"for":                "fortranfixed",
	"fortran-fixed-form": "fortranfixed",
	"fortran-free-form":  "fortran",
	"fsl":                "javascript",
	"ftl":                "ini",
	"gdresource":         "ini",
	"gdshader":           "glsl",
	"genie":              "vala",
	"gitattributes":      "gitignore",
	"gitconfig":          "ini",
	"gjs":                "jsx",
	"glimmer-js":         "jsx",
	"glimmer-ts":         "tsx",
	"gn":                 "python",
	"gql":                "graphql",
	"gts":                "tsx",
	"hack":               "php",
	"haml":               "ruby",
	"hjson":              "yaml",
	"htaccess":           "apacheconf",
	"html-derivative":    "html",
	"hurl":               "http",
	"hxml":               "bash",
	"imba":               "coffeescript",
	"jade":               "coffeescript",
	"javascriptreact":    "jsx",
	"jinja-html":         "django",
	"jinja2":             "django",
	"jison":              "antlr",
	"jsonp":              "javascript",
	"jssm":               "javascript",
	"just":               "makefile",
	"justfile":           "makefile",
	"ksh":                "bash",
	"less":               "scss",
	"liquid":             "django",
	"lit":                "typescript",
	"logo":               "common-lisp",
	"marko":              "html",
	"mbti":               "moonbit",
	"mdc":                "markdown",
	"mips":               "gas",
	"mipsasm":            "gas",
	"mjs":                "javascript",
	"move":               "rust",
	"mts":                "typescript",
	"nar":                "python",
	"narrat":             "python",
	"ndjson":             "json",
	"nextflow":           "groovy",
	"nextflow-groovy":    "groovy",
	"nf":                 "groovy",
	"njk":                "django",
	"node":               "javascript",
	"nodejs":             "javascript",
	"npmignore":          "gitignore",
	"npmrc":              "ini",
	"nunjucks":           "django",
	"nushell":            "nu",
	"objective-cpp":      "objective-c",
	"objectivec":         "objective-c",
	"package-install":    "bash",
	"pascal":             "objectpascal",
	"pkl":                "kotlin",
	"plist":              "xml",
	"plsql":              "sql",
	"polar":              "prolog",
	"postcss":            "scss",
	"postgres":           "postgresql",
	"potx":               "po",
	"prisma":             "kotlin",
	"pug":                "coffeescript",
	"purescript":         "haskell",
	"pwsh":               "powershell",
	"pycon":              "python",
	"python-console":     "python",
	"ql":                 "java",
	"qmldir":             "bash",
	"qss":                "css",
	"razor":              "html",
	"rbs":                "ruby",
	"rel":                "prolog",
	"riscv":              "gas",
	"ron":                "rust",
	"rosmsg":             "python",
	"ruby-signature":     "ruby",
	"sdbl":               "1s",
	"shader":             "hlsl",
	"shaderlab":          "hlsl",
	"shell-session":      "console",
	"shellscript":        "bash",
	"shellsession":       "console",
	"smithy":             "thrift",
	"soy":                "html",
	"ssh-config":         "apacheconf",
	"sshconfig":          "apacheconf",
	"stata":              "c",
	"surql":              "sql",
	"surrealql":          "sql",
	"system-verilog":     "systemverilog",
	"talon":              "yaml",
	"talonscript":        "yaml",
	"tasl":               "yaml",
	"terminal":           "bash",
	"tfvars":             "terraform",
	"tres":               "ini",
	"ts-tags":            "typescript",
	"tscn":               "ini",
	"tsp":                "typescript",
	"tsv":                "csv",
	"twig-html":          "twig",
	"typescriptreact":    "tsx",
	"typespec":           "typescript",
	"vimscript":          "vim",
	"vue-html":           "vue",
	"vue-vine":           "typescript",
	"vy":                 "python",
	"vyper":              "python",
	"wasm":               "wast",
	"wiki":               "html",
	"wikitext":           "html",
	"mediawiki":          "html",
	"wit":                "rust",
	"wolfram":            "mathematica",
	"xhtml":              "html",
	"yml":                "yaml",
	"zenscript":          "typescript",
}

// plainLabels are labels that a writer means, but whose text has no classes.
// Mermaid is a diagram's source: it is drawn, not highlighted.
var plainLabels = map[string]string{
	"ansi":        "plaintext",
	"ascii":       "plaintext",
	"mmd":         "Mermaid",
	"wenyan":      "plaintext",
	"文言":          "plaintext",
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

	"Cypher":             {base: "plaintext", labels: []string{"cypher"}, lex: cypher.lex},
	"Git rebase":         {base: "plaintext", labels: []string{"git-rebase"}, lex: gitRebase.lex},
	"Ignore list":        {base: "plaintext", labels: []string{"gitignore", "git-commit"}, lex: ignoreList.lex},
	"Kusto":              {base: "plaintext", labels: []string{"kusto", "kql"}, lex: kusto.lex},
	"Log":                {base: "plaintext", labels: []string{"log"}, lex: logFile.lex},
	"Regular expression": {base: "plaintext", labels: []string{"regex", "regexp"}, lex: lexRegexp},
	"Splunk":             {base: "plaintext", labels: []string{"splunk", "spl"}, lex: splunk.lex},
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
