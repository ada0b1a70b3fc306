// Package pull holds the steps of an agent job that talk to a forge: Prepare,
// which reads the repository, and Publish, which makes the pull request. They
// have the forge's credential and no model; see package agent.
//
//	pull.go      Steps and their options
//	prepare.go   Prepare
//	tree.go      a commit's files, as Prepare keeps them
//	publish.go   Publish
//	reviewed.go  the record of Review that Publish demands
//	whole.go     a pull request as a whole, from its merge base to its head
//	moves.go     which of its files were moved, and a summary of many
//	pulltext.go  the text of the pull request
//	asked.go     the state of a final job's pull request
package pull
