// Package sites answers readers of sites: of live versions, each project's on a host of
// its own, and of single exports, each on a host of its own and for people with a link
// alone. It reads the archives of exports by ranges; nothing is unpacked.
//
//	sites.go    Handler: from a host's label to the version that answers
//	preview.go  exports for people with a link
//	version.go  open archives
//	page.go     answers that no version gives
package sites
