package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Exit codes, which scripts rely on.
const (
	exitDone      = 0
	exitError     = 1
	exitUsage     = 2
	exitJobFailed = 3
	exitTimedOut  = 4
	exitFindings  = 5
	exitUnchanged = 6 // unless the call names another
)

// app is one call of the program.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            config.Config
	completion     time.Duration // limits requests of shell completion

	verbose bool
	json    bool
	// started says that a command's own work has begun: an error before that
	// is one of usage.
	started bool
}

// usageError is an error in how the program was called.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// run is the program: arguments and streams in, exit code out.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, completion: completionTime}
	return a.run(ctx, args, getenv)
}

func (a *app) run(ctx context.Context, args []string, getenv func(string) string) int {
	env, err := config.FromEnv(getenv)
	if err != nil {
		fmt.Fprintln(a.stderr, "bindery:", err)
		return exitUsage
	}
	a.env = env
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if _, same := errors.AsType[*unchangedError](err); !same { // which has been said
		a.complain(err)
	}
	var (
		usage   *usageError
		failed  *client.JobFailedError
		agent   *client.AgentFailedError
		timeout *client.TimeoutError
		found   *findingsError
		loss    *lossError
		same    *unchangedError
	)
	switch {
	case errors.As(err, &usage) || !a.started:
		fmt.Fprintf(a.stderr, "\nUsage:  %s\nRun %s --help for more.\n", usageLine(cmd), cmd.CommandPath())
		return exitUsage
	case errors.As(err, &failed), errors.As(err, &agent):
		return exitJobFailed
	case errors.As(err, &timeout):
		return exitTimedOut
	case errors.As(err, &found), errors.As(err, &loss):
		return exitFindings
	case errors.As(err, &same):
		return same.code
	}
	return exitError
}

// usageLine is how a command is called, on one line.
func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// complain shows an error. Errors of the rules have a message for callers and
// a cause for the log; whoever runs the program sees both.
func (a *app) complain(err error) {
	text := err.Error()
	if coded, ok := errors.AsType[store.Coded](err); ok {
		text = coded.SafeMessage()
		if cause := errors.Unwrap(coded); cause != nil {
			text += ": " + cause.Error()
		}
	}
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	fmt.Fprintf(a.stderr, "%s %s\n", a.paint(a.stderr, red, "bindery:"), visible(text))
	if refused, ok := errors.AsType[*client.Error](err); ok {
		if help := advice(refused.Code); help != "" {
			fmt.Fprintln(a.stderr, help)
		}
	}
}

// advice returns what helps after an answer of the API with a code, for people
// who call for the first time. It is empty where the message says enough.
func advice(code string) string {
	switch code {
	case admin.CodeDomainNotFound:
		return "The key's organisation has no project with this domain. An operator makes one: bindery project create"
	case admin.CodeNoSnapshot:
		return "Nothing was published for this domain yet: bindery publish DIR --domain DOMAIN"
	case admin.CodePlan:
		return "An operator changes the plan: bindery org set-plan"
	case admin.CodeScope:
		return "A key gets its scopes when it is made: bindery key create --scope, or the API keys page of the dashboard"
	case admin.CodeModelMissing:
		return "Models are those that an operator has set up: bindery up --models FILE, or the parameter Models on AWS"
	case admin.CodeForgeMissing:
		return "An operator lets agents reach the repository: bindery up --forge-host, and bindery project credential set"
	}
	return ""
}

func (a *app) root() *cobra.Command {
	root := a.group("bindery", "Turn documentation sites into archives of static files")
	root.Long = `Bindery turns a documentation site, a folder with a docs.json and MDX pages, into one
archive of pure HTML, CSS and JavaScript.

Authors need no server: init, dev, check, run, serve, diff and upload work on folders and bundles of this machine.

Callers of a Bindery use publish, export, jobs, snapshots, agent and webhook, with an address and an admin key
from BINDERY_URL and BINDERY_ADMIN_KEY, or from a profile that login has kept. Operators use org, project, key, person and
audit on the data folder of a Bindery. up runs a whole Bindery on this machine.

Exit codes: 0 done, 1 error, 2 usage, 3 the job failed, 4 timed out, 5 found what
--fail-on names, 6 nothing changed (export --if-changed).`
	root.Example = `  bindery init docs
  bindery check docs
  bindery run docs --out bundle.tar.gz
  bindery serve bundle.tar.gz`
	root.Version = version()
	root.SetVersionTemplate("bindery {{.Version}}\n")
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "print more about what is done")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			var names []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			err = fmt.Errorf("%w%s", err, meant("--", unknown.GetSpecifiedName(), names))
		}
		return &usageError{err}
	})
	root.AddCommand(
		a.initCommand(), a.devCommand(), a.checkCommand(), a.upCommand(), a.signInCommand(), a.runCommand(), a.publishCommand(), a.exportCommand(), a.jobsCommand(), a.snapshotsCommand(), a.siteCommand(), a.serveCommand(), a.uploadCommand(), a.diffCommand(),
		a.orgCommand(), a.projectCommand(), a.keyCommand(), a.personCommand(), a.auditCommand(), a.agentCommand(), a.webhookCommand(), a.usageCommand(), a.costCommand(), a.memoryCommand(), a.backupCommand(), a.restoreDrillCommand(), a.backfillCommand(), a.doctorCommand(), a.whenCommand(), a.renewCommand(), a.patchSecretCommand(),
		a.loginCommand(), a.logoutCommand(), a.profilesCommand(), a.versionCommand(),
	)
	a.completions(root)
	realIDs(root)
	namedArguments(root)
	return root
}

// group is a command that only has others below it.
func (a *app) group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			var names []string
			for _, c := range cmd.Commands() {
				if !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return usagef("%s has no command %q%s", cmd.CommandPath(), args[0], meant("", args[0], names))
		}
		if err := cmd.Help(); err != nil {
			return err
		}
		return usagef("missing COMMAND")
	}
	cmd.AddCommand(commands...)
	return cmd
}

// namedArguments has complaints about the number of a command's arguments name them
// as its usage does.
func namedArguments(root *cobra.Command) {
	for _, below := range root.Commands() {
		namedArguments(below)
	}
	counted := root.Args
	if counted == nil {
		return
	}
	var names []string
	words := strings.Fields(root.Use)[1:]
	for i, word := range words {
		ofFlag := i > 0 && strings.Contains(words[i-1], "--") && words[i-1] != "--"
		if !ofFlag && !strings.ContainsAny(word[:1], "[-|") {
			names = append(names, word)
		}
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if counted(cmd, args) == nil {
			return nil
		}
		switch {
		case len(args) < len(names):
			return fmt.Errorf("missing %s", strings.Join(names[len(args):], " and "))
		case len(names) == 0:
			return fmt.Errorf("%s takes no arguments", cmd.CommandPath())
		default: // what is too many may be a secret
			return fmt.Errorf("too many arguments: %s takes %s", cmd.CommandPath(), strings.Join(names, " and "))
		}
	}
}

// meant is the end of a complaint about a mistyped name: which one was meant, as
// far as one is alike.
func meant(prefix, typed string, names []string) string {
	of := cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		of.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	like := of.SuggestionsFor(typed)
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(like, " or "+prefix) + "?"
}

// does marks where a command's own work begins.
func (a *app) does(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return work(cmd, args)
	}
}

// jsonFlag adds the flag --json to a command that prints data.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print the result as JSON, for scripts")
}

// required complains about flags that a command can't do without. It takes
// pairs of name and value.
func required(pairs ...string) error {
	var missing []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			missing = append(missing, "--"+pairs[i])
		}
	}
	if len(missing) > 0 {
		return usagef("missing %s", strings.Join(missing, " and "))
	}
	return nil
}

// logger writes for people on a terminal and JSON lines elsewhere.
func (a *app) logger(level slog.Level) *slog.Logger {
	if a.verbose {
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level}
	if isTerminal(a.stderr) {
		return slog.New(slog.NewTextHandler(a.stderr, o))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, o))
}
