// Package island runs components that authors write in JavaScript: those with
// state and effects, and expressions that package page doesn't read itself.
// At export it says what they show at first; for readers it makes a script that
// brings them to life.
//
//	engine.go     Engine: Render and Script, and the process that renders
//	compile.go    what a page writes and imports, as one script (esbuild)
//	count.go      counting calls and turns of loops, so that all work is bounded
//	words.go      words of a script that may be names of classes
//	tree.go       what is shown, and where errors came from
//	worker.go     the other side: the process that reads and runs the scripts
//	time_*.go     the processor's time that it used
//	runtime.js    elements, hooks and contexts at export
//
// A script is a stranger's: it is read and run in a process of its own with
// bounds on its work, its depth, its memory and, as the last of them, its time;
// parsers that meet the deepest nesting end their process. It has no network,
// no files but the site's, which the process asks for, no clock and no randomness, so the same sources show the same. What
// browsers load besides the script of a page, Preact and what links it to this,
// is script.Islands.
package island
