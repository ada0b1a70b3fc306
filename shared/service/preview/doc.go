// Package preview shows a site that lies in a folder at a local address, as its
// bundle will be, while its authors work on it.
//
//	preview.go  Server and its options: the site as it is now
//	watch.go    which files changed
//	serve.go    answers: pages, files, and the parts of the preview itself
//	events.go   what pages in browsers are told of changes
//	finding.go  findings as pages show them, with the lines that they are about
//	guard.go    who may ask: names of hosts, origins
//	editor.go   the editor of the person at this machine
//	assets      the script in pages
//
// Pages are made by package export, one by one. A page that was made is kept as long
// as all that it was made from is the same, by the list of inputs that exports
// keep pages by.
//
// A change goes two ways. Where only the text of pages, snippets or other files of
// the site changed, those are read again at once, and the pages in browsers hear of
// it. Soon after, as after every other change, the whole site is read again, and all
// its pages are looked through for findings and search.
package preview
