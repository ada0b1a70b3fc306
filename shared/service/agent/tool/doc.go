// Package tool implements what an agent may do to a site: the tree that it edits and
// the tools that a model calls. It has no network, no shell, no clock and no store,
// runs nothing of the repository, and answers the same call on the same tree with
// the same bytes.
//
//	allowed.go     Allowed: which paths an agent may write
//	kinds.go       Others: which files are parts of the site, beside those that agents may write
//	tree.go        Tree: a repository's files with changes; fs.go shows it as a file system
//	guard.go       sets of edits, refused if they would break a file
//	hosts.go       which hosts a file names, as browsers read addresses
//	secrets.go     what looks like a secret, by our rules and those of gitleaks
//	review.go      Look: what Publish looks for in changes, whoever made them
//	rendered.go    Seen: hosts and code in what browsers get
//	compare.go     Compare: redirects, navigation and addresses of two states of a site
//	overview.go    Overview: the navigation with titles, which a model reads first
//	set.go         Set: the tools, Call and Result
//	input.go       what a tool takes: tables that are both schema and reader
//	glob.go        patterns of paths
//	look.go        list, search, read
//	attached.go    files that the author of the request attached
//	picture.go     pictures, which read shows
//	outside.go     files outside the site's folder, which list, search and read may show
//	fetched.go     fetch, history, and diff of fetched commits
//	write.go       edit, write, replace
//	seen.go        which lines the model has seen: only files that it knows are replaced
//	move.go        move; redirects.go keeps old addresses alive
//	delete.go      delete
//	revert.go      revert
//	navigation.go  navigation
//	report.go      check, diff, plan, finish
//	view.go        view: the outline of a page
//	reference.go   reference: which components, settings and front matter exist
//	refs.go        where the addresses in sources lead
//	document.go    JSON that is edited in place and keeps its formatting
//
// A call that fails has changed nothing. The text of a repository is data: what
// it says never changes what a tool may do.
package tool
