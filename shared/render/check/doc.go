// Package check finds what the authors of a site should know, without making a
// bundle of it. An export finds the same: what is said of all pages together is
// said here for both.
//
//	check.go    Site: a whole site, from its files to a report
//	finding.go  Finding, Counts, and what is new between two checks
//	list.go     the findings of all pages joined: repeated ones, links to places
//	codes.go    all kinds of findings
//	rules.go    which of them a site's authors want to see, and how
//	navigation.go  pages that the navigation leaves out, or names alike
//	format.go   findings as GitHub, GitLab and SARIF have them; baselines
//	look.go     class names that no style sheet knows
//
// Pages are resolved and their HTML is written, since what a component shows is
// decided there. Nothing else is made: no colours of code, Markdown copies, texts,
// documents, search index or archive.
package check
