// Command dashboard is the Lambda function of all pages that people see. It calls
// the rules itself, as the functions of the API do, and none of those.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/functions/internal/wire/ready"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretvalue"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

func main() { cloud.Main("dashboard", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, []string{config.StateMachine, config.DashboardURL, config.OIDCIssuer, config.OIDCClientID},
		objects.Open, ready.Open, runner.Open)
	if err != nil {
		return nil, err
	}
	provider := &dashboard.Provider{
		Issuer: w.Env.OIDCIssuer, ClientID: w.Env.OIDCClientID, ReadSecret: func(ctx context.Context) (string, error) { return secret(ctx, w) },
		GroupsClaim: w.Env.OIDCGroupsClaim,
	}
	if w.Env.OIDCGroups != "" {
		if provider.Groups, err = dashboard.ParseGroups([]byte(w.Env.OIDCGroups)); err != nil {
			return nil, fmt.Errorf("%s: %w", config.OIDCGroups, err)
		}
	}
	pages, err := dashboard.New(dashboard.Options{Admin: w.Admin, Objects: w.Objects, URL: w.Env.DashboardURL, Provider: provider, TextOnly: true, Log: f.Log})
	if err != nil {
		return nil, err
	}
	return f.HTTP(w.Env.Stage, "", pages), nil
}

// secret reads the client secret. Its errors hold nothing of it.
func secret(ctx context.Context, w *wire.Wiring) (string, error) {
	text, err := config.EmptySecret, error(nil)
	if w.Env.OIDCSecret != "" { // some local clouds don't resolve it
		text, err = secretvalue.Fetch(ctx, w.AWS, w.Env.OIDCSecret)
	}
	if text = strings.TrimSpace(text); err == nil && text == config.EmptySecret {
		return "", admin.Errorf(admin.CodeTemporary, "nobody has set up yet what the identity provider knows the dashboard by")
	}
	return text, err
}
