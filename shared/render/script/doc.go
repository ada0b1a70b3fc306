// Package script runs the JavaScript libraries that an export needs, in an engine
// of its own: the class names of a site become a style sheet, and TeX becomes
// MathML.
//
//	engine.go     Engine: machines, limits; what starts them and how often
//	programs.go   the packed libraries and the scripts for pages
//	utilities.go  the style sheet of utility classes
//	formulas.go   formulas, with counted steps
//	assets.go     Mermaid's own runtime and the script that starts it; Preact
//	internal/bundlegen  packs the libraries from npm; data, licences: what it makes
//
// Nothing here reads a clock, a network or randomness, so equal input makes
// equal bytes: in every process, in any order. Work is bounded by the input's
// size and counts; a clock stops only what no bound foresaw.
package script
