// Package css reads style sheets and style attributes token by token: it finds
// the addresses that a sheet loads and writes others in their place, splits a
// style attribute into its declarations, and checks the values that authors
// write. It never writes a sheet anew: what it does not change keeps its bytes.
//
// A map of the files:
//
//   - addresses.go: the addresses in a style sheet, and others in their place
//   - style.go: declarations of style attributes, values that are safe in a rule
//   - color.go: colours that are safe in a rule
//   - token.go: tokens, escapes, and the class names of a sheet
//
// Every function takes time in proportion to what it reads, and accepts any
// bytes: CSS has no syntax errors, only parts that mean nothing.
package css
