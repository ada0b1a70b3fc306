// Package pulls is the agent's steps that read and write repositories. They can
// open the credentials of projects and read the key of the operator's GitHub App,
// and have no model's key.
package pulls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretvalue"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Steps returns the steps with what they are wired to. It fails as wire.New does,
// and where a list of hosts or the id of the App can't be read.
func Steps(f *cloud.Function) (*wire.Wiring, *pull.Steps, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.CredentialKey, config.GitHubAppSecret}, objects.Open, open)
	if err != nil {
		return nil, nil, err
	}
	dir, err := fetched(os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	options := forge.Options{AllowHosts: w.Env.ForgeHosts, AllowPrivate: w.Env.ForgePrivateHosts, TempDir: dir, Logger: f.Log}
	if w.Env.GitHubApp != "" {
		app, err := forge.NewApp(options, forge.AppKey{
			ID: w.Env.GitHubApp, Host: w.Env.GitHubAppHost, Read: func(ctx context.Context) ([]byte, error) { return appKey(ctx, w) },
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", config.GitHubApp, err)
		}
		options.Credentials = app
	}
	known, err := forges.New(w.Admin, options)
	if err != nil {
		return nil, nil, err
	}
	steps, err := pull.New(pull.Options{Admin: w.Admin, Objects: w.Objects, Forge: known.Forge, Further: known.Further, Dashboard: w.Env.DashboardURL, Log: f.Log})
	return w, steps, err
}

// appKey reads the private key of the operator's GitHub App, as forge.AppKey.Read
// does. A project with a credential of its own needs none, so no process reads it at
// its start.
func appKey(ctx context.Context, w *wire.Wiring) ([]byte, error) {
	text, err := secretvalue.Fetch(ctx, w.AWS, w.Env.GitHubAppSecret)
	switch {
	case admin.CodeOf(err) == admin.CodeTemporary:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", forge.ErrNoKey, err)
	case strings.TrimSpace(text) == config.EmptySecret:
		return nil, fmt.Errorf("%w: the secret %s is as the stack has made it", forge.ErrNoKey, w.Env.GitHubAppSecret)
	}
	return []byte(text), nil
}

// fetched makes the folder, below another, of what this process fetches. Lambda
// keeps the disk where it starts a process anew after one that died: what that
// one left is removed, and nothing of a process that lives.
func fetched(below string) (string, error) {
	name := filepath.Join(below, "fetched-")
	left, err := filepath.Glob(name + "*")
	if err != nil {
		return "", err
	}
	own := strconv.Itoa(os.Getpid())
	for _, dir := range left {
		pid := strings.TrimPrefix(dir, name)
		if _, err := os.Stat("/proc/" + pid); pid == own || errors.Is(err, fs.ErrNotExist) {
			if err := os.RemoveAll(dir); err != nil {
				return "", err
			}
		}
	}
	return name + own, os.Mkdir(name+own, 0o700)
}

// open is the wire.Port of credentials.
func open(w *wire.Wiring) error {
	w.Secrets = kmsstore.New(w.AWS, kmsstore.Options{Key: w.Env.CredentialKey, Records: w.Records})
	return nil
}
