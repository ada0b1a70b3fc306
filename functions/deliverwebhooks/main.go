// Command deliverwebhooks is woken by the table's stream where an event waits for
// an endpoint, and by a schedule. It delivers all that is due, whatever woke it.
package main

import (
	"context"
	"encoding/json"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/webhook"
)

func main() { cloud.Main("deliverwebhooks", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, nil)
	if err != nil {
		return nil, err
	}
	sender := webhook.NewSender(webhook.SenderOptions{Callbacks: remote.Callbacks{Private: w.Env.WebhookHosts}})
	dispatcher := webhook.New(webhook.Options{Admin: w.Admin, Sender: sender, Log: f.Log})
	return w.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		_, err := dispatcher.Pass(ctx)
		return nil, err
	}), nil
}
