// Package ready provides functions that start rounds of agents with whether one
// can work for a project: which models there are, which forges may be asked, and
// whether the project has a credential or is one that the operator's GitHub App
// serves. They can open no credential and have no key of the App.
package ready

import (
	"context"
	"fmt"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/named"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretrow"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Open is the wire.Port of whether agents can work. It fails where the table of
// models or the list of hosts can't be read.
func Open(w *wire.Wiring) error {
	table, err := named.Table(w)
	if err != nil {
		return err
	}
	w.Secrets = secretrow.Rows{Records: w.Records}
	options := forge.Options{AllowHosts: w.Env.ForgeHosts, AllowPrivate: w.Env.ForgePrivateHosts}
	if w.Env.GitHubApp != "" {
		app, err := forge.NewApp(options, forge.AppKey{ID: w.Env.GitHubApp, Host: w.Env.GitHubAppHost, Read: closed})
		if err != nil {
			return fmt.Errorf("%s: %w", config.GitHubApp, err)
		}
		options.Credentials = app
	}
	if _, err := forges.New(nil, options); err != nil {
		return err
	}
	w.AgentReady = func(ctx context.Context, p admin.Project, name string) (string, error) {
		name, err := models.Name(table, name)
		if err != nil {
			return "", err
		}
		known, err := forges.New(w.Admin, options)
		if err != nil {
			return "", err
		}
		return name, known.Ready(ctx, p)
	}
	return nil
}

// closed is the forge.AppKey.Read of a program without the key: whether the App
// serves a project is known without it.
func closed(context.Context) ([]byte, error) { return nil, forge.ErrNoKey }
