// Command bindery is Bindery's program for callers, operators and laptops:
// wiring and terminal, no logic.
//
//	main.go       the process: signals, exit code
//	app.go        what commands share: streams, exit codes
//	caller.go     the flags of callers, and the client that they ask for
//	profile.go    bindery login, logout, profiles, and the file that they keep
//	complete.go   values that shells complete; ids in help
//	version.go    bindery version, and what a build knows of itself
//	terminal.go   what is shown: colour, meters, tables, JSON
//	init.go       bindery init, which writes the site in site/
//	check.go      bindery check
//	findings.go   findings as people read them, and when to fail on them
//	up.go         bindery up
//	signin.go     bindery sign-in; how people reach the dashboard
//	publish.go    bindery publish
//	export.go     bindery export
//	jobs.go       bindery jobs: exports listed, read, opened, cancelled, their findings
//	snapshots.go  bindery snapshots: listed, restored
//	site.go       bindery site: what is live
//	wentlive.go   whether an export made its version live, and if not, why
//	handover.go   who gets the link to a bundle that is not downloaded
//	run.go        bindery run: everything from a folder to a checked bundle
//	bundle.go     what a finished bundle holds
//	dev.go        bindery dev
//	serve.go      bindery serve
//	diff.go       bindery diff
//	doctor.go     bindery doctor
//	operator.go   what operator commands share
//	org.go, project.go, key.go, person.go (and the audit log), usage.go, cost.go, memory.go, backup.go, restoredrill.go, backfill.go
//	agent.go      bindery agent: jobs of callers
//	credential.go a project's credential for its forge
//	agentsetup.go the models and forges of agents
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/server"
)

func main() { process(completionTime) }

// process runs the program. completion limits requests of shell completion.
func process(completion time.Duration) {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	if server.IsChild(os.Getenv) {
		os.Exit(server.Child(os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks to end well. After it, signals do what they do
	// without us: the second ends the process.
	context.AfterFunc(ctx, stop)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, completion: completion}
	os.Exit(a.run(ctx, os.Args[1:], os.Getenv))
}
