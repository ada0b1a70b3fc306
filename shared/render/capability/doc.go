// Package capability is the table of what the source language documents: the
// fields of docs.json and of a page's front matter, the attributes of
// components, the options of blocks of code and the extensions of
// specifications, each with what a bundle does about it. Nothing that an author
// writes is without effect and without a word.
//
//	capability.go  Row, Find: what a row says, and how it is looked up
//	rows.go        the table
//
// Package site reports the settings and the front matter that the table says
// have no effect; other rooms report what they alone can see. A test in package
// check writes a site for each such row and expects its finding.
package capability
