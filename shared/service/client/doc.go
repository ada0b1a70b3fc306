// Package client calls the API as pipelines do: it publishes folders, starts
// and follows exports and agent jobs, and downloads bundles. It knows the API's wire types
// and the formats of snapshots, and nothing else of the service.
//
//	client.go    Client: one request with its retries; Error
//	plain.go     which addresses would carry the key in the clear
//	calls.go     calls for exports and snapshots
//	agent.go     agent jobs: calls, and following one
//	webhook.go   webhooks and their deliveries
//	wait.go      following an export to its end
//	folder.go    what of a folder is published, and what can't be
//	ignore.go    .mintignore: patterns as in .gitignore
//	tree.go      the files of a folder, or of a commit, without publishing them
//	gittime.go   when files were last committed
//	publish.go   Publish: packs, uploads, resuming
//	sources.go   what a publish leaves on this machine for the next; stamp_*.go: whether a file rests
//	download.go  Download: resuming, checking; part_*.go: one download a file
//
// The admin key goes to the API alone, in the header Authorization: never into
// an error, the log, or a request to object storage, and over no network in the
// clear unless that is allowed.
package client
