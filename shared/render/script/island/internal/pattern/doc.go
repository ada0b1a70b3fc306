// Package pattern runs regular expressions of ECMA-262 and counts the steps that
// they take.
//
// The JavaScript engine has two of its own: RE2's, for expressions that need no
// backtracking, and one that backtracks without counting. Only a clock can stop
// the second, and what a clock stops depends on how busy the machine is. This
// package follows the standard: the same matches and groups, and a number of
// steps after which a search ends, the same wherever and whenever it runs.
//
// An expression without back-references remembers the places at which it has
// failed, so that most take time in proportion to the text.
//
// A map of the files:
//
//   - parse.go: the expression's syntax, with Annex B
//   - set.go: sets of characters, and which characters are one in any case
//   - compile.go: the tree as instructions
//   - match.go: the loop over them
//
// # Not supported
//
// The flag v, modifiers such as (?i:…), and properties of Unicode that Go has no
// tables for; Compile returns ErrUnsupported for the last.
package pattern
