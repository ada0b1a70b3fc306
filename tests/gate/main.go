package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `gate runs the checks that must hold before a change lands.

  go run ./tests/gate run                 all steps, in a clone in a fixed folder
  go run ./tests/gate ci                  all steps, in this checkout
  go run ./tests/gate test [flags] [-- go test's arguments]
  go run ./tests/gate affected REV        tests of what differs from REV
  go run ./tests/gate programs            link the programs that tests start
  go run ./tests/gate table               times of the last gate, into testing.mdx

Exit codes: 0 everything passed, 1 something failed, 2 wrong usage.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	var u usageError
	switch {
	case err == nil:
	case errors.As(err, &u):
		fmt.Fprintf(os.Stderr, "gate: %v\n\n%s", err, usage)
		os.Exit(2)
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	default:
		fmt.Fprintf(os.Stderr, "gate: %v\n", err)
		os.Exit(1)
	}
}

// usageError is a call of the program that makes no sense.
type usageError string

func (e usageError) Error() string { return string(e) }

// run does what the arguments say. Reports go to out.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return usageError("no command")
	}
	command, rest := args[0], args[1:]
	switch command {
	case "run":
		return runInClone(ctx, ".", out)
	case "ci":
		return runSteps(ctx, steps(), out)
	case "test":
		o, err := testOptions(rest)
		if err != nil {
			return err
		}
		return runTests(ctx, o, out)
	case "affected":
		return runAffected(ctx, rest, out)
	case "programs":
		return runPrograms(ctx, rest, out)
	case "table":
		return writeTable(".")
	case "help", "-h", "--help":
		return flag.ErrHelp
	default:
		return usageError("unknown command " + command)
	}
}
