// Package frame makes what stands around a page, from the site and from what its
// publisher wants, and the files that each bundle has besides the site's own. It
// knows nothing of jobs and of where a site is kept.
//
// New prepares a site's Views. Views.Document puts a page's body into its
// document, Views.Feed makes the page's feed, Views.Directory the nodes of its
// directory, and Views.Files the files beside the pages. Finder and Full say what search and llms-full.txt have of a page.
//
//	view.go       Features, Views and Document
//	frame.go      what the pages of a section share: header, footer, banner,
//	              styles and scripts
//	language.go   tags and names of languages
//	sidebar.go    the part of the navigation that a page shows beside it
//	contents.go   pages that list a section too large for a sidebar
//	directory.go  a group's pages, listed on its root page
//	actions.go    the menu of what can be done with a page's text
//	forge.go      links to a page's source and to new issues
//	services.go   analytics, assistant and ratings, as far as features allow
//	feed.go       feeds of pages that have updates
//	finder.go     what can be found from where, and on which page
//	own.go        Files: redirects, sitemap.xml, robots.txt
//	llms.go       llms.txt, and its sections
//	llmsfull.go   llms-full.txt
//	cards.go      the pictures for links to pages
//	recent.go     values that are kept up to a limit
//	inputs.go     a digest of all that stands around pages
//
// What a page costs does not grow with its section: frames and sidebars are made
// once for the pages that share them.
package frame
