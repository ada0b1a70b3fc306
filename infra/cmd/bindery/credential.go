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
	"github.com/bindery-docs/bindery/shared/service/forge"
)

func (a *app) credentialCommand() *cobra.Command {
	return a.group("credential", "The agent's credential for a project's forge (for operators)",
		a.credentialSet(), a.credentialShow(), a.credentialRemove())
}

func (a *app) credentialSet() *cobra.Command {
	var c admin.ForgeCredential
	cmd := &cobra.Command{
		Use:   "set PROJECT",
		Short: "Keep a token or a GitHub App's key from standard input for the project's forge",
		Long: `Set reads one line from standard input: a token that may push branches to the project's
repository and open pull requests there. On a terminal it asks for it and shows nothing of
what is typed. It is never an argument, which other users of the machine could see.

With --github-app, standard input is the file with the App's private key. The App gets a token
for the one repository whenever it needs one; each lasts an hour at most.

What was read is kept apart from all records: in a data folder as a file that only its owner
can read, on AWS encrypted with a key of its own. No command shows it again.`,
		Example: `  bindery project credential set prj_… --data ./.data < token.txt
  pass show forge/docs | bindery project credential set prj_… --stack bindery --username docs-bot
  bindery project credential set prj_… --data ./.data --github-app 123456 < docs-bot.private-key.pem`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&c.Username, "username", "", "user name that goes with the token to Git (default: what the kind of forge expects)")
	cmd.Flags().StringVar(&c.App, "github-app", "", "id or client id of a GitHub App, whose private key is on standard input")
	cmd.Flags().StringVar(&c.Installation, "github-installation", "", "id of the App's installation (default: that of the repository)")
	return operating(a, operator{}, cmd, func(ctx context.Context, s *admin.Service, args []string) (admin.CredentialInfo, error) {
		if c.Installation != "" && c.App == "" {
			return admin.CredentialInfo{}, usagef("--github-installation needs --github-app")
		}
		what := "Token"
		if c.App != "" {
			what = ""
		}
		secret, err := a.readSecret(what)
		if err != nil {
			return admin.CredentialInfo{}, err
		}
		if c.App == "" {
			c.Token = secret
		} else {
			c.Key = secret
			if _, err := forge.NewApp(forge.Options{}, forge.AppKey{ID: c.App, Installation: c.Installation, PEM: []byte(c.Key)}); err != nil {
				return admin.CredentialInfo{}, err
			}
		}
		return s.SetForgeCredential(ctx, args[0], c)
	}, func(w io.Writer, info admin.CredentialInfo) { fmt.Fprintf(w, "%s has a credential\n", info.Project) })
}

// maxSecret is more than any token or key that is taken has, in bytes.
const maxSecret = 1 << 16

// readSecret reads a token or a key from standard input: from a terminal, where
// what has a name may be typed, without showing it.
func (a *app) readSecret(what string) (string, error) {
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if what == "" {
			return "", usagef("the private key is missing: redirect its file to standard input")
		}
		fmt.Fprintf(a.stderr, "%s (it is not shown): ", what)
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.stderr)
		if err != nil {
			return "", errors.New("the terminal would show it; pass it on standard input, from a pipe or a file")
		}
		return strings.TrimSpace(string(raw)), nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.stdin, maxSecret))
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", errors.New("standard input is empty")
	}
	return secret, nil
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
