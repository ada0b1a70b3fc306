// Package preview tests `bindery dev`: what an edit changes in an open page, how
// soon, and beside other tools.
package preview
