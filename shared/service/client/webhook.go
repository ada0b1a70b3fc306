package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bindery-docs/bindery/shared/service/api"
)

const webhooksPath = "/v1/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// Webhooks returns all webhooks of the key's organisation, oldest first.
func (c *Client) Webhooks(ctx context.Context) ([]api.Webhook, error) {
	var list api.Webhooks
	_, err := c.call(ctx, http.MethodGet, webhooksPath, "", nil, &list)
	return list.Webhooks, err
}

// CreateWebhook adds a webhook and returns it with its secret. It returns an *Error
// with the code too_many_webhooks where there are as many as there may be.
func (c *Client) CreateWebhook(ctx context.Context, request api.CreateWebhookRequest) (api.NewWebhook, error) {
	var made api.NewWebhook
	_, err := c.call(ctx, http.MethodPost, webhooksPath, "", request, &made)
	return made, err
}

// DeleteWebhook removes a webhook. It returns an *Error with the code not_found if
// there is none.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, webhookPath(id), "", nil, nil)
	return err
}

// RotateWebhookSecret changes a webhook's secret and returns the new one.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string) (api.NewWebhook, error) {
	var changed api.NewWebhook
	_, err := c.call(ctx, http.MethodPost, webhookPath(id)+"/secret", "", nil, &changed)
	return changed, err
}

// Deliveries returns a page of a webhook's deliveries, newest first. The cursor is
// that of the page before, or empty; limit 0 leaves the size to the service.
func (c *Client) Deliveries(ctx context.Context, id, cursor string, limit int) (api.Deliveries, error) {
	var list api.Deliveries
	_, err := c.call(ctx, http.MethodGet, webhookPath(id)+"/deliveries"+query("cursor", cursor, "limit", number(limit)), "", nil, &list)
	return list, err
}

// Redeliver asks for a delivery once more. It returns an *Error with the code
// delivery_pending where it has not ended yet.
func (c *Client) Redeliver(ctx context.Context, id, delivery string) (api.Delivery, error) {
	var d api.Delivery
	_, err := c.call(ctx, http.MethodPost, webhookPath(id)+"/deliveries/"+url.PathEscape(delivery)+"/redeliver", "", nil, &d)
	return d, err
}
