// Package script runs the JavaScript libraries that an export needs, in an
// engine of its own, and draws diagrams: Mermaid's text becomes SVG, the class
// names of a site become a style sheet.
//
//	engine.go     Engine: programs, machines, limits; what starts them and how often
//	programs.go   the packed libraries and Mermaid's own runtime for pages
//	diagram.go    Draw: one diagram, from its source to a Diagram
//	source.go     what stands around a diagram's text: front matter, comments, kinds
//	graph.go      flowcharts, states, classes and entities, laid out by ELK
//	sequence.go   sequence diagrams: reading; seqlayout.go: places; seqdraw.go: SVG
//	pie.go        pie charts
//	svg.go        which SVG may stand in a page; ids that are unique on it
//	text.go       widths of texts, line breaks, characters
//	labels.go     whether a drawing says all that its source says
//	alternative.go the same in words, for readers who can't see it
//	utilities.go  the style sheet of utility classes
//	assets.go     the styles of diagrams and the script that starts Mermaid
//	internal/bundlegen  packs the libraries from npm; data, licences: what it makes
//
// Nothing here reads a clock, a network or randomness, so equal input makes
// equal bytes: in every process, in any order. Work is bounded by the input's
// size and counts; a clock stops only what no bound foresaw.
package script
