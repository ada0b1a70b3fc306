// Package diff compares two bundles the way a reviewer asks about them: which
// pages came, went and changed, in the words that readers see; which addresses
// and anchors that others may link to lead nowhere now; which files and sizes
// changed.
//
//	source.go    a bundle in an archive or in a folder
//	stored.go    CompareStored: archives that a service keeps
//	page.go      a page's text, title and anchors, taken from its HTML
//	compare.go   Compare: both bundles into a Result
//	address.go   addresses and anchors that are lost, and what would save them
//	words.go     the words of a text, and the difference of two texts
//	result.go    Result, what it counts
//	markdown.go  a summary for a pull request
//
// A bundle is read twice: first every page becomes a few digests, then the pages
// that differ are read again for their words. So two bundles of a hundred
// thousand pages that differ in ten take the memory of ten.
package diff
