// Package backtrack runs regular expressions of regexp2's dialect at one
// position of a text and counts the steps that it takes.
//
// Highlighting grammars use what Go's own regexp package leaves out: look
// ahead and behind, atomic groups, back references. The module
// regexp2 parses and compiles those; but its own engine backtracks without
// counting, so that only a clock can stop it, and what a clock stops depends on
// how busy the machine is. This package takes regexp2's compiled code and runs
// it itself: the same matches and groups, and a number of steps after which an
// attempt ends, the same number wherever and whenever it runs.
//
// A [Program] is a compiled expression. A [Matcher] holds the stacks of one
// run after another, so that an attempt allocates nothing.
//
// A map of the files:
//
//   - program.go: regexp2's code, decoded into instructions
//   - matcher.go: the loop over them
//   - class.go: characters and the tests of them
//
// # Differences from regexp2
//
// An expression matches at the position that it is tried at or not at all;
// nothing searches. What no grammar uses is refused by [Compile]: balancing
// groups, conditions on a group, lazy repetition of a group with bounds, \X, \z,
// expressions that run from right to left as a whole, and the modes for
// ECMAScript and RE2.
package backtrack
