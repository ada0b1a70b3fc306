// Package edit changes the sources of a site in place, so that every byte that is not
// meant stays as its author wrote it.
//
//	refs.go     Refs: the addresses in a source, with their places
//	address.go  addresses of a file, in the way that another one was written
//	splice.go   Splice: spans of a source replaced
//	indent.go   Indent: the lines of a JSON file indented as they nest
//	diff.go     Diff: what differs between two texts, by lines
package edit
