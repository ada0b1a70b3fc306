// Package export is the steps of an export: from a published snapshot to a
// bundle.
//
//	steps.go      Steps and its options
//	limits.go     every limit, with its reason
//	plan.go       Plan: reads the site, cuts it into units and shards
//	units.go      how pages and files are cut, by their content alone
//	render.go     Render: one shard's units, list of files and facts
//	unit.go       one unit: its part of the archive, and what is noted of it
//	assemble.go   Assemble: the bundle from all of it
//	report.go     what facts say together: broken fragments, counts
//	look.go       what pages' look needs: styles of classes, Mermaid's runtime
//	search.go     search in the bundle: what can be found from where, its index
//	own.go        files that every bundle has: 404.html, sitemap.xml, llms.txt…
//	llms.go       llms.txt, and its sections; llmsfull.go: llms-full.txt
//	cards.go      the pictures for links to pages
//	feed.go       feeds of pages that have updates
//	services.go   analytics, assistant and ratings, as far as they may be
//	view.go       from a site to what the theme shows around a page
//	frame.go      what the pages of a section share: header, footer, banner
//	language.go   tags and names of languages
//	sidebar.go    the part of the navigation that a page shows beside it
//	contents.go   pages that list a section too large for a sidebar
//	directory.go  a group's pages, listed on its root page
//	actions.go    the menu of what can be done with a page's text
//	forge.go      links to a page's source and to new issues
//	reference.go  slices of specifications, cut by Plan and read by units
//	remote.go     files of other hosts: fetched once by Plan, read by all steps
//	remoteassets.go  pictures, fonts, styles and scripts among them; addresses
//	              in style sheets
//	recent.go     values that are kept up to a limit
//	source.go     the snapshot and the plan of a job, as the steps read them
//	failure.go    what errors mean to the workflow
//	renderer.go   the digest that tells one renderer from another
//
// Every step may run twice, at the same time too, or stop half-way: the same
// input gives the same bytes under the same keys, and what is done already is
// seen and left. Memory does not grow with a site's size beyond its index.
//
// Package job has the steps' inputs and outputs and the keys of a job's objects;
// Fail, and what looks after jobs beside the steps, is there.
package export
