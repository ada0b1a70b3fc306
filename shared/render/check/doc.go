// Package check finds what the authors of a site should know, without making a
// bundle of it. An export finds the same: it uses this package to join the findings
// of pages, and for those about the whole site.
//
//	check.go    Site: a whole site, from its files to a report
//	finding.go  Finding, Counts, and what is new between two checks
//	list.go     the findings of all pages joined: repeated ones, links to places
//	codes.go    all kinds of findings
//	rules.go    the levels that a site's authors set for them
//	run.go      what the same file sets for exports by the program itself
//	ignore.go   comments on pages that silence findings of one line
//	fix.go      what has one right answer, mended
//	external.go links to other sites, if they are to be asked
//	navigation.go  pages that the navigation leaves out, or labels alike
//	format.go   findings as GitHub, GitLab, SARIF and JUnit have them; baselines
//	outside.go  what the site's own scripts and style sheets load from other hosts
//	look.go     class names that no style sheet has a rule for; colours that can't be read
//
// Pages are resolved and their HTML is written, since what a component shows is
// decided there. Nothing else is made: no colours of code, Markdown copies, texts,
// documents, search index or archive.
package check
