// Package island runs components that authors write in JavaScript: those with
// state and effects, and expressions that package page doesn't read itself.
// At export it says what they show at first; for readers it makes a script that
// brings them to life.
//
//	engine.go     Engine: Render and Script, and the process that renders
//	compile.go    what a page writes and imports, as one script (esbuild)
//	library.go    what many sources of a page import, read once
//	count.go      scripts rewritten so that all that they do and make is counted
//	meter.go      what counts it, and the limits
//	bounds.go     the language's own functions within these limits
//	bounds.js     what a replacement with marks says
//	regexp.go     regular expressions, with counted steps
//	words.go      words of a script that may be names of classes
//	tree.go       what is shown, and where errors came from
//	worker.go     the other side: the process that reads and runs the scripts
//	limits_*.go   what the system knows and bounds of that process
//	runtime.js    elements, hooks and contexts at export
//
// A script is a stranger's: it is read and run in a process of its own with
// bounds. Its steps and the bytes of all that it makes are counted, and these
// counts alone decide what is shown: no collection of garbage, no load and no
// clock does. Guards on the process, on its memory and its processor's time, end
// what no count foresaw; a page that ends two processes fails the export with its
// place, so that no two bundles of a site differ. Parsers that meet the deepest
// nesting end their process, too, but the same way each time. A script has no
// network, no files but the site's, which the process asks for, no clock and no
// randomness, so the same sources show the same. What browsers load besides the
// script of a page, Preact and what links it to this, is script.Islands.
package island
