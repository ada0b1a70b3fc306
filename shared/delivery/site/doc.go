// Package site answers readers of a site: the rules of addresses, redirects,
// headers, encodings, ranges and conditional requests. Where the site comes from is
// a Version's business, which has the same answers from an unpacked folder as from an
// archive that is read in parts.
//
//	doc.go       this map
//	version.go   Version, File, Form: what a storage has to be
//	handler.go   requests of readers
//	range.go     parts of files
//	tag.go       ETags
//	cache.go     small forms of files in memory
//	encoding.go  which compressed form a reader takes
//	media.go     types of files by their ending
//	policy.go    the Content-Security-Policy of a bundle
//	sitetest/    the rules as tests, for every storage
//
// # Failures
//
// A storage may fail at any time. What it can't read just now is answered with status
// 503 and Retry-After, what is damaged with 500. Neither is ever a 404, and no byte is
// sent that was not compared.
package site
