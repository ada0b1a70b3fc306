package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

func (a *app) webhookCommand() *cobra.Command {
	var add api.CreateWebhookRequest
	addCommand := calling(a, &cobra.Command{
		Use:   "add URL --event EVENT",
		Short: "Add a webhook and print its secret, once",
		Long: `Add makes Bindery call an address of yours when something happens: an export or an agent job
ends, a snapshot is published, a key is made or revoked. Messages are signed with the secret, in
the form of Standard Webhooks. The key needs the scope manage.`,
		Example: `  bindery webhook add https://hooks.example.com/bindery --event export.completed --event export.failed`,
		Args:    cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error { return required("event", strings.Join(add.Events, ",")) },
	}, func(ctx context.Context, c *client.Client, args []string) (api.NewWebhook, error) {
		add.URL = args[0]
		return c.CreateWebhook(ctx, add)
	}, a.showSecret)
	addCommand.Flags().StringSliceVar(&add.Events, "event", nil, "event that it hears of, such as export.completed; may be repeated")

	var most int
	deliveries := calling(a, &cobra.Command{
		Use:     "deliveries WEBHOOK",
		Short:   "List what a webhook was sent, or waits for, newest first",
		Example: `  bindery webhook deliveries whk_… --limit 20`,
		Args:    cobra.ExactArgs(1),
		PreRunE: func(*cobra.Command, []string) error { return checkMost(most) },
	}, func(ctx context.Context, c *client.Client, args []string) ([]api.Delivery, error) {
		return paged(most, func(cursor string, limit int) ([]api.Delivery, *string, error) {
			page, err := c.Deliveries(ctx, args[0], cursor, limit)
			return page.Deliveries, page.NextCursor, err
		})
	}, showDeliveries)
	mostFlag(deliveries, &most, "deliveries")

	return a.group("webhook", "Webhooks: addresses of yours that hear of what happens",
		addCommand,
		calling(a, &cobra.Command{
			Use: "list", Short: "List your organisation's webhooks", Example: `  bindery webhook list`, Args: cobra.NoArgs,
		}, func(ctx context.Context, c *client.Client, _ []string) ([]api.Webhook, error) { return c.Webhooks(ctx) }, showWebhooks),
		calling(a, &cobra.Command{
			Use: "remove WEBHOOK", Short: "Remove a webhook", Example: `  bindery webhook remove whk_…`, Args: cobra.ExactArgs(1),
		}, func(ctx context.Context, c *client.Client, args []string) (map[string]string, error) {
			return map[string]string{"removed": args[0]}, c.DeleteWebhook(ctx, args[0])
		}, func(w io.Writer, removed map[string]string) { fmt.Fprintln(w, "removed", removed["removed"]) }),
		calling(a, &cobra.Command{
			Use: "rotate WEBHOOK", Short: "Change a webhook's secret and print the new one, once", Example: `  bindery webhook rotate whk_…`, Args: cobra.ExactArgs(1),
			Long: `Rotate makes a new secret. Messages are signed with the one before, too, for 24 hours.`,
		}, func(ctx context.Context, c *client.Client, args []string) (api.NewWebhook, error) {
			return c.RotateWebhookSecret(ctx, args[0])
		}, a.showSecret),
		deliveries,
		calling(a, &cobra.Command{
			Use: "redeliver WEBHOOK DELIVERY", Short: "Send an event to a webhook once more", Example: `  bindery webhook redeliver whk_… evt_…`, Args: cobra.ExactArgs(2),
		}, func(ctx context.Context, c *client.Client, args []string) (api.Delivery, error) {
			return c.Redeliver(ctx, args[0], args[1])
		}, func(w io.Writer, d api.Delivery) { showDeliveries(w, []api.Delivery{d}) }))
}

// showSecret prints a secret alone, so that a script can read it.
func (a *app) showSecret(w io.Writer, n api.NewWebhook) {
	fmt.Fprintln(w, n.Secret)
	fmt.Fprintf(a.stderr, "This is the secret of %s. It is not shown again.\n", n.ID)
}

func showWebhooks(w io.Writer, all []api.Webhook) {
	var rows [][]string
	for _, h := range all {
		state := "active"
		if !h.Active {
			state = "off"
		}
		rows = append(rows, []string{h.ID, state, day(h.CreatedAt), strings.Join(h.Events, ","), h.URL})
	}
	table(w, "id state created events url", rows)
}

func showDeliveries(w io.Writer, all []api.Delivery) {
	var rows [][]string
	for _, d := range all {
		row := []string{d.ID, d.Event, d.Resource, string(d.Status), strconv.Itoa(d.AttemptCount), day(d.CreatedAt), "", ""}
		if d.NextAttemptAt != nil {
			row[6] = day(*d.NextAttemptAt)
		}
		if d.LastAttempt != nil {
			row[7] = orEmpty(d.LastAttempt.Error)
		}
		rows = append(rows, row)
	}
	table(w, "id event resource status attempts created next problem", rows)
}
