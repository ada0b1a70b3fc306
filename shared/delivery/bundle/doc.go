// Package bundle is the archive that an export ends in: a .tar.gz that every
// common tool unpacks, made so that parts of it can be written separately and
// so that a bundle which was cut short or changed can always be detected.
//
//	unit.go   writing: one Unit is one gzip member with tar entries
//	info.go   the lists and the description at the end of a bundle
//	read.go   Check and Unpack: reading with every list verified
//	error.go  what can be wrong with a bundle
//
// # Form
//
// Gzip members stand one after another (RFC 1952 allows that). They have tar
// entries in the PAX form: regular files only, mode 0644, owner 0. A large file may
// go on in the next member. The two
// blocks of zeros that end a tar archive stand only in the last member: readers
// stop at the first they meet. The last member holds, in this order,
//
//	bindery/files.jsonl        every other file, in the archive's order: path, size, digest
//	bindery/diagnostics.jsonl  what authors should know
//	bindery.json               the description, with sizes and digests of both lists
//
// so that a bundle without bindery.json is not whole.
package bundle
