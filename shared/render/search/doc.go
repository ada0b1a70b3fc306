// Package search is search without a server: an inverted index of a site in
// classic scripts, which pages load as they are needed, and the scripts and
// styles of the search box that asks it.
//
//	words.go    text → terms, the same in Go and in assets/core.js
//	lexicon.go  numbers for terms, so that a page is weighed without comparing texts
//	record.go   a page → how much each of its sections is about each term
//	part.go     what one shard knows: its pages, and its terms in order
//	weighed.go  terms of a page and of a part, kept for the next index that has them
//	merge.go    many shards' terms as one ordered stream, in bounded memory
//	builder.go  terms and roots → the index's scripts
//	text.go     pages → the scripts with texts, which divisions share
//	code.go     numbers as text
//	script.go   the field and the dialog: scripts and styles
//	synonyms.go words for the same, which roots have for core.js
//	assets/     core.js asks an index; opener.js waits for the reader; box.js and
//	            box.css are the dialog; synonyms.txt
//	searchtest  asks an index without a browser
//
// # An index
//
// A site has an index for each choice of version and language that a reader can
// stand at: a division. Its root, RootPath, has a fixed name, because pages are
// written before the index is known; the names of all other files carry a
// digest: of the division's pages, or of a run of texts itself.
//
//	bindery/search/<division>.js       sizes, where each part begins, common words,
//	                                   words for the same, and the pages while there
//	                                   are few
//	bindery/search/t<n>.<digest>.js    a run of the terms in order, with postings
//	bindery/search/w<n>.<digest>.js    a run of the words alone, in the order of
//	                                   their ends, for what was mistyped
//	bindery/search/x.<digest>.js       a run of the sections: headings and texts
//
// Most pages of a site can be in many divisions: those that belong to no version
// are in all of them. Pages that are in the same divisions are a group, and the
// runs of texts are those of groups, so that each text is in a bundle once.
// Divisions of the same pages and language share all files but the root.
//
// Every file is one call of the function binderySearch with the file's name
// and its data, so that it works from a folder, where pages may not read files
// in another way. A reader loads the root, the run of terms around each word,
// and the sections of the best pages.
//
// A section's number counts through the division: its groups by their first
// pages, their pages in order, and these by headings. So what the divisions say
// of the pages that they share is alike, and compresses in the archive. Each
// page begins with a section of its own for its title, description, keywords and
// what stands before the first heading. How much a section is about a term is a
// number from 1 to 63 that follows from the section alone (record.go), so that
// shards need nothing of each other and the index has the same bytes however a
// site was cut. How rare a term is, core.js learns from the index.
package search
