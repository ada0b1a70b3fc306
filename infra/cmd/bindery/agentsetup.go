package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/config"
	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// setupFlags say which models and forges agents work with.
type setupFlags struct {
	models, keys   string
	hosts, private []string
	allowHTTP      bool

	app, appKey, appHost string // a GitHub App for projects without a credential
}

func (f *setupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.models, "models", "", "file with the table of models (default: $BINDERY_MODELS; without one, there are no agents)")
	cmd.Flags().StringVar(&f.keys, "model-keys", "", "folder with the key of each server of models, in a file of the server's name (default: $BINDERY_MODEL_KEYS)")
	cmd.Flags().StringSliceVar(&f.hosts, "forge-host", nil, `host of a forge that agents may work with, "*." for all below one; may be repeated (default: $BINDERY_FORGE_HOSTS, else github.com, gitlab.com, codeberg.org, gitea.com)`)
	cmd.Flags().StringSliceVar(&f.private, "forge-private-host", nil, "host of a forge in your own network, with its port unless it is the usual one; may be repeated (default: $BINDERY_FORGE_PRIVATE_HOSTS)")
	cmd.Flags().StringVar(&f.app, "github-app", "", "id or client id of a GitHub App for projects that have no credential of their own (default: $BINDERY_GITHUB_APP)")
	cmd.Flags().StringVar(&f.appKey, "github-app-key", "", "file with the App's private key, in PEM (default: $BINDERY_GITHUB_APP_KEY)")
	cmd.Flags().StringVar(&f.appHost, "github-app-host", "", "host that the App is registered at (default: $BINDERY_GITHUB_APP_HOST, else github.com)")
	cmd.Flags().BoolVar(&f.allowHTTP, "forge-allow-http", false, "allow http:// for forges in your own network (default: $BINDERY_FORGE_ALLOW_HTTP)")
}

// agentOptions puts what flags and environment say of agents into the options of
// a server.
func (a *app) agentOptions(ctx context.Context, f *setupFlags, opt *server.Options) error {
	opt.Forge = forge.Options{AllowHosts: f.hosts, AllowPrivate: f.private, AllowHTTP: f.allowHTTP || a.env.ForgeAllowHTTP}
	if f.hosts == nil {
		opt.Forge.AllowHosts = a.env.ForgeHosts
	}
	if f.private == nil {
		opt.Forge.AllowPrivate = a.env.ForgePrivateHosts
	}
	if err := a.githubApp(f, &opt.Forge); err != nil {
		return err
	}
	file, keys := cmp.Or(f.models, a.env.Models), cmp.Or(f.keys, a.env.ModelKeys)
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	table, err := model.ParseTable(raw)
	if err != nil {
		if at, ok := errors.AsType[*basejson.Error](err); ok {
			return fmt.Errorf("%s:%d:%d: %s: %s", file, at.Line, at.Column, at.Pointer, at.Message)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	fallback, _ := table.Entry("")
	opt.Models, err = models.New(table, models.Options{
		Log: opt.Log,
		Key: func(s model.Server) (string, error) {
			if s.Name == fallback.Server.Name && a.env.ModelKey != "" {
				return a.env.ModelKey, nil
			}
			if keys == "" {
				return "", fmt.Errorf("its key is missing: BINDERY_MODEL_KEY for the default model's server, else a file %s in the folder of --model-keys", s.Name)
			}
			key, err := os.ReadFile(filepath.Join(keys, s.Name))
			return string(key), err
		},
		Sign: func(s model.Server) (models.Sign, error) {
			aws, err := stack.Config(ctx)
			if err != nil {
				return nil, err
			}
			return awsconfig.Signer(aws, s.Region, s.Service), nil
		},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// githubApp makes the GitHub App of flags and environment the credential of
// projects that have none of their own.
func (a *app) githubApp(f *setupFlags, opt *forge.Options) error {
	id, file := cmp.Or(f.app, a.env.GitHubApp), cmp.Or(f.appKey, a.env.GitHubAppKey)
	switch {
	case id == "" && file == "":
		return nil
	case id == "":
		return usagef("the id of the GitHub App is missing: --github-app or BINDERY_GITHUB_APP")
	case file == "":
		return usagef("the private key of the GitHub App is missing: --github-app-key or BINDERY_GITHUB_APP_KEY")
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	host := cmp.Or(f.appHost, a.env.GitHubAppHost, config.DefaultGitHubHost)
	if opt.Credentials, err = forge.NewApp(*opt, forge.AppKey{ID: id, PEM: key, Host: host}); err != nil {
		return fmt.Errorf("--github-app %s, --github-app-key %s: %v", id, file, err)
	}
	return nil
}
