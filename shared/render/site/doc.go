// Package site knows a documentation site as a whole: its configuration, its
// pages and static files, the navigation tree, redirects, and what every link
// points at.
//
//	site.go        Site and Page: what is known of them
//	load.go        Load: from a file system to a Site
//	begin.go       Begin: a first docs.json for pages that have none
//	value.go       the configuration as values with places; files that it refers to
//	config.go      the configuration's fields; configread.go reads them, tolerantly
//	pagemenu.go    the page's menu, the repository and integrations
//	unknown.go     fields that nobody reads, with what was meant; told.go those
//	               that have no effect
//	variables.go   {{name}} in texts, and how sources are read
//	nav.go         the navigation of docs.json; legacy.go reads mint.json
//	reference.go   pages about APIs, from docs.json and front matter
//	frontmatter.go a page's YAML head
//	pages.go       which files are pages, their addresses and names in a bundle
//	served.go      which other files the format serves, and which one is meant
//	restrict.go    pages and parts of the navigation that are for other readers
//	restrictfiles.go  files that are, or that only such pages name
//	readable.go    a site's files without those; outside.go those of other hosts
//	redirect.go    where redirects lead, exact ones and patterns (package redirect)
//	oldaddress.go  the old addresses of pages, which patterns describe
//	resolve.go     Resolve: what a link on a page points at
//	tree.go        Trail, Section, Next and Prev: where a page stands
//	twin.go        Counterpart: the same page in another version or language
//
// A Site can be encoded as JSON and read back; the tables that look-ups need
// are built when first used. After that a Site is read-only and may be used by
// many goroutines.
package site
