package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (a *app) credentialCommand() *cobra.Command {
	return a.group("credential", "What the agent is known by at a project's forge (for operators)",
		a.credentialSet(), a.credentialShow(), a.credentialRemove())
}

func (a *app) credentialSet() *cobra.Command {
	var username string
	cmd := &cobra.Command{
		Use:   "set PROJECT [--username NAME]",
		Short: "Read a token from standard input and keep it for the project's forge",
		Long: `Set reads one line from standard input: a token that may push branches to the project's
repository and open pull requests there. On a terminal it asks for it and shows nothing of
what is typed. It is never an argument, which other users of the machine could see.

The token is kept apart from all records: in a data folder as a file that only its owner can
read, on AWS encrypted with a key of its own. No command shows it again.`,
		Example: `  bindery project credential set prj_… --data ./.data < token.txt
  pass show forge/docs | bindery project credential set prj_… --stack bindery --username docs-bot`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&username, "username", "", "user name that goes with the token to Git (default: what the kind of forge expects)")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (admin.CredentialInfo, error) {
		token, err := a.readToken()
		if err != nil {
			return admin.CredentialInfo{}, err
		}
		return s.SetForgeCredential(ctx, args[0], admin.ForgeCredential{Username: username, Token: token})
	}, func(w io.Writer, info admin.CredentialInfo) { fmt.Fprintf(w, "%s has a credential\n", info.Project) })
}

// maxTokenLine is more than any token that is taken has, in bytes.
const maxTokenLine = 1 << 16

// readToken reads a token from standard input: from a terminal without showing it.
func (a *app) readToken() (string, error) {
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(a.stderr, "Token (it is not shown): ")
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.stderr)
		if err != nil {
			return "", errors.New("the terminal would show the token; give it to standard input by a pipe or from a file")
		}
		return strings.TrimSpace(string(raw)), nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.stdin, maxTokenLine))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if token == "" {
		return "", errors.New("there is no token on standard input")
	}
	return token, nil
}

func (a *app) credentialShow() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:     "show PROJECT",
		Short:   "Report whether a project has a credential, and since when",
		Example: `  bindery project credential show prj_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s *admin.Service, args []string) (admin.CredentialInfo, error) {
		return s.ForgeCredentialInfo(ctx, args[0])
	}, func(w io.Writer, info admin.CredentialInfo) {
		fmt.Fprintf(w, "%s has a credential since %s\n", info.Project, day(info.Since))
	})
}

func (a *app) credentialRemove() *cobra.Command {
	return operating(a, operator{}, &cobra.Command{
		Use:     "remove PROJECT",
		Short:   "Remove a project's credential",
		Example: `  bindery project credential remove prj_… --data ./.data`,
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s *admin.Service, args []string) (map[string]string, error) {
		return map[string]string{"projectId": args[0]}, s.RemoveForgeCredential(ctx, args[0])
	}, func(w io.Writer, of map[string]string) { fmt.Fprintf(w, "%s has no credential\n", of["projectId"]) })
}
