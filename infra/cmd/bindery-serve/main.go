// Command bindery-serve serves a bundle to readers, in a cluster or anywhere
// else: it fetches the bundle, checks it, unpacks it and answers requests.
//
//	main.go   the process: signals, exit code
//	run.go    flags and the environment, logs
//
// Exit codes: 0 asked to end; 1 the volume or a port; 2 usage; 3 there is no
// bundle to be had: the link has expired, nothing is there, or the identity may
// not read it; 4 the source can't be reached; 5 the bundle is refused.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks to end well; the second ends the process.
	context.AfterFunc(ctx, stop)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv, hangup))
}
