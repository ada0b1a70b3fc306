// Package archive shows a site straight from its archive, by reading ranges of it:
// nothing is unpacked, and an answer that is not cached takes two reads, a block of
// the index and the file.
//
//	archive.go  Open, Version: an archive as a version of a site
//	file.go     its files and their forms
//	source.go   Source, and archives in files
package archive
