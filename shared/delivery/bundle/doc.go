// Package bundle is the archive that an export ends in: a .tar.gz that every
// common tool unpacks, made so that parts of it can be written separately and
// so that a bundle which was cut short or changed can always be detected.
//
//	unit.go   writing: a Unit writes files as gzip members with tar entries
//	row.go    where a file is in the archive, and its bytes from there
//	index.go  the index of an archive, by which a server reads single files
//	info.go   the lists and the description at the end of a bundle
//	read.go   Check and Unpack: reading with every list verified
//	error.go  what can be wrong with a bundle
//
// # Form
//
// Gzip members stand one after another (RFC 1952 allows that). They have tar
// entries in the PAX form: regular files only, mode 0644, owner 0. A file of 16 KiB or
// more begins a member with its data, which is flushed before anything follows: with
// ten bytes after it (Row.Tail), that part of the archive is the file's gzip form. The
// two blocks of zeros that end a tar archive are only in the last member, because
// readers stop at the first they meet; its header says where the index is (Footer). The
// member before it holds, in this order,
//
//	bindery/files.jsonl        every other file, in the archive's order: path, size, digest
//	bindery/diagnostics.jsonl  what authors should know
//	bindery.json               the description, with sizes and digests of both lists
//
// so that a bundle without bindery.json is not whole. The file bindery/index comes
// before them. Archives of older releases have neither index nor footer.
package bundle
