// Package agent holds the steps of an agent job: a prompt goes in, a pull
// request comes out.
//
//	{projectId, jobId, round}
//	  → Prepare   reads the repository at the branch and keeps its text
//	  → Work      asks the model, turn by turn, and changes files in memory;
//	              again until it says that it is done
//	  → Review    renders the changed pages and records which hosts and code are new
//	  → Publish   looks at the changes itself, commits, pushes, opens the pull request;
//	              refused changes go back to Work, with the reason, and changes that
//	              were merged with those of others to Review
//	  any error → Fail
//
// Safety rests on who may do what, not on the model's obedience. Prepare
// and Publish have the forge's credential and no model; Work has the model and
// no forge, and its tools reach nothing but a tree in memory; Review has neither. Publish
// trusts nothing from Work: it checks each path and each changed file again, and pushes
// only what Review has a record of.
// Text of the repository, and everything that the model writes, is data.
//
// Each turn of Work ends with a checkpoint: what was asked, answered and
// changed is an object under its digest, and one row that is put if absent is
// the commit point. A Work that is killed continues after its last row, and of two
// that run at once the newest wins. So an answer is paid for at most twice, and no
// tool is applied twice.
//
// However a round ends, its objects stay until the job is archived. The next round reads
// a digest of it, and begins with its changes if no pull request has them.
//
// This package has Work, and how a round is kept; package pull has the steps that
// need a forge, so that a program with Work does not even link them, and package review
// the one that renders.
//
//	agent.go         the step and what it stands on
//	rounds.go        Rounds: what all steps have in common; the codes of errors
//	manifest.go      what Prepare keeps of a repository, and reading it again
//	work.go          Work: a segment of turns
//	watch.go         ends a request whose answer is no longer wanted
//	conversation.go  what the model reads: instructions, messages, results
//	window.go        how much of it fits into the model's context, in tokens
//	compact.go       the text that replaces old turns
//	checkpoint.go    a turn as it is stored, and a round as its turns
//	memory.go        the digest of earlier rounds, and their unpublished changes
//	rebase.go        merges changes with those of others, by package merge
//	reviewed.go      what Review looks at, and its record
//	budget.go        what a round may use, and calls that go in circles
//	check.go         findings, and which are new
package agent
