// Package forge works on repositories of Git forges: it fetches a commit's
// files, makes and pushes commits, and opens pull requests.
//
//	repository.go  Repository: which one, of which kind of forge
//	credential.go  Credential: what a forge knows us by, never printed
//	forge.go       Forge: options, and calls that are tried again
//	client.go      the HTTP client: hosts, addresses, redirects, limits
//	errors.go      Error: codes, messages, and the removal of credentials
//	tree.go        Fetch: a commit's files
//	commit.go      commits, Push, Branch, Contains
//	objects.go     Git's objects and packs as bytes
//	pack.go        what was fetched: packs on disk, an index of them in memory
//	git.go         the Git protocol over HTTP
//	mergebase.go   where a branch left another one
//	pull.go        pull requests, whatever the forge
//	github.go, gitlab.go, gitea.go  in the dialect of each
//	app.go         GitHub Apps: a token for one repository, until its end
//	rest.go        requests to REST interfaces and their errors
//
// Files go by the Git protocol, which all forges speak alike; the REST
// interfaces, which differ, are asked for pull requests alone. What is fetched is
// one commit without its history, without files from a megabyte on, and lies on
// disk, so that the memory needed does not grow with the repository.
//
// The Git protocol is spoken without a library: of a fetch without history and a
// push of one commit little is left of it. go-git v6 (alpha) keeps all objects
// that are stored as differences in memory, 348 MiB where this takes 12 to 25, and
// makes a function a megabyte larger, with a dozen modules, OpenPGP among them.
//
// Credentials never stand in an address; every error is cleaned of them before
// it leaves the package. Hosts are asked by an allow-list, and private addresses
// where the operator names them.
package forge
