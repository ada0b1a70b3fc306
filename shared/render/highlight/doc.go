// Package highlight turns code into runs of classes and those into HTML.
//
// A [Highlighter] takes a language label and code and returns [Run]s that cover
// the code exactly; [AppendHTML] and [Highlighter.AppendLines] write them as
// escaped HTML with one short class name a span, and [CSS] holds the rules for
// those names. Nothing here knows of pages or themes.
//
// # How it works
//
// The commonest languages have lexers of their own: JSON, shells, JavaScript and
// TypeScript with and without JSX, Python, Markdown and MDX. Each walks once over the bytes of the
// code and makes runs of classes at once. They guess where only a parser could
// know, with bounds on what they read ahead, and a wrong guess ends at the next
// closing brace or empty line. A test holds them against what Shiki's grammars
// show of the same code.
//
// All other languages have chroma's grammars, used as data: a grammar is a set of states, a
// state is an ordered list of rules, a rule is a regular expression with what
// to emit and how to change the stack of states. Chroma's own driver tries
// every rule of the state at every position, about twelve attempts a token.
// The driver here computes, once a state, which rules can match at all in
// front of each ASCII character and tries only those. The tokens are the same
// ones; a test compares them on every sample and on every block of the corpora.
//
// A map of the files:
//
//   - highlight.go: the Highlighter, its cache, the way from tokens to runs
//   - lex.go: what the own lexers share: one walk, bounded guesses
//   - lex_json.go, lex_shell.go, lex_shell_words.go, lex_python.go: the lexers
//     of these languages
//   - lex_script.go: the lexer of JavaScript, TypeScript and JSX, with its
//     words (lex_script_words.go), punctuation (lex_script_punctuation.go),
//     types (lex_script_types.go), elements (lex_jsx.go) and what it reads ahead
//     (lex_script_ahead.go)
//   - lex_markup.go: the lexer of Markdown and MDX
//   - lex_console.go: terminals: prompts, commands and their output
//   - lex_words.go: languages that chroma lacks, by their comments and words
//   - language.go: labels, aliases and which of them mean plain text
//   - class.go: the classes and their colours
//   - traits.go: which token type of which language has which class
//   - grammar.go: chroma's rules read into states, rules, emitters, mutations
//   - first.go: which characters a regular expression can begin with
//   - simple.go, words.go: expressions that need no engine
//   - machine.go: the driver
//   - internal/backtrack: the engine for all other expressions, which counts
//     its steps
//   - wrapped.go: the languages that chroma wraps in code of its own
//   - functions.go: chroma's emitters that are functions, as data
//   - limits.go: how many steps code has
//   - html.go, css.go: what is written
//
// # Bounds
//
// A block above [MaxBytes] stays plain. The work of the own lexers is linear in
// the length of the code. No input makes the package panic: what
// a grammar can't take stays plain from there on. Grammars backtrack, some of
// them exponentially: each attempt and each block has a number of steps, and a
// block that uses them up is plain from there on. Nothing looks at a clock, so
// equal input has equal output, whatever else runs at the same time.
package highlight
