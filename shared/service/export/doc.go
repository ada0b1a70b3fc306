// Package export is the steps of an export: from a published snapshot to a
// bundle.
//
//	steps.go      Steps and its options
//	limits.go     every limit, with its reason
//	plan.go       Plan: reads the site, cuts it into units and shards
//	reuse.go      a bundle that is stored already, in place of a plan
//	units.go      how pages and files are cut, by their content alone
//	render.go     Render: one shard's units, list of files and facts
//	unit.go       one unit: its part of the archive, and what is noted of it
//	assemble.go   Assemble: the bundle from all of it
//	own.go        the files of a bundle that no shard has, and how they are cut
//	changes.go    what the bundle changed against the export before
//	archive.go    the bundle on its way to Objects, in one call of Assemble or more
//	report.go     what facts say together; package check joins findings
//	kept.go       what is kept of pages and units from export to export;
//	              refs.go units by the names that they are kept under
//	look.go       what pages' look needs: styles of classes, Mermaid's runtime
//	heads.go      heads of pages, kept for Plan
//	search.go     search in the bundle: a shard's part of its index, and all of it
//	features.go   what the deployment and the project allow, as package frame
//	              takes it and as a bundle describes itself
//	live.go       files of a bundle one by one, of a site that lies in a folder;
//	              survey.go what only all of its pages say together
//	reference.go  slices of specifications, cut by Plan and read by units
//	remote.go     files of other hosts: fetched once by Plan, read by all steps
//	remoteassets.go  pictures, fonts, styles and scripts among them; addresses
//	              in style sheets
//	source.go     the snapshot and the plan of a job, as the steps read them
//	failure.go    what errors mean to the workflow
//	renderer.go   the digest that tells one renderer from another
//
// Every step may run twice, at the same time too, or stop half-way: the same
// input gives the same bytes under the same keys, and what is done already is
// seen and left. Memory does not grow with a site's size beyond its index.
//
// What is found in a site, package check finds without an export too. What stands
// around a page, and the files that each bundle has of its own, are
// package frame's. Package job has the steps' inputs and outputs and the keys of a job's objects;
// Fail, and what looks after jobs beside the steps, is there.
package export
