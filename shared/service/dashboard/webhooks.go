package dashboard

import (
	"net/http"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

type webhooksView struct {
	Webhooks []admin.Webhook
	Most     int
}

func webhooksPage(q *request) error {
	all, err := q.admin().Webhooks(q.ctx(), q.caller)
	if err != nil {
		return err
	}
	return q.page("webhooks", "Webhooks", webhooksView{all, admin.MaxWebhooks})
}

type newWebhookView struct {
	Once   string
	Events []choice
}

var eventMeaning = map[string]string{
	admin.EventExportCompleted: "an export ended well", admin.EventExportFailed: "an export failed or was cancelled",
	admin.EventSnapshotPublished: "a site was published, or an older snapshot restored",
	admin.EventSiteLive:          "another version of a site went live",
	admin.EventAgentCompleted:    "a round of an agent job ended well", admin.EventAgentFailed: "a round of an agent job failed",
	admin.EventKeyCreated: "an API key was made", admin.EventKeyRevoked: "an API key was revoked",
}

func (q *request) newWebhook(code int, p *problem) error {
	v := newWebhookView{Once: once()}
	sent := q.r.PostForm
	for _, e := range admin.WebhookEvents() {
		chosen := e == admin.EventExportCompleted || e == admin.EventExportFailed
		if sent != nil {
			chosen = contains(sent["events"], e)
		}
		v.Events = append(v.Events, choice{e, eventMeaning[e], chosen})
	}
	return q.show(code, "newwebhook", "New webhook", v, p)
}

func newWebhookPage(q *request) error { return q.newWebhook(http.StatusOK, nil) }

func createWebhook(q *request) error {
	n, err := q.admin().CreateWebhook(q.ctx(), q.caller, admin.CreateWebhook{URL: q.value("url"), Events: q.r.PostForm["events"], IdempotencyKey: q.onceOf()})
	if err != nil {
		return q.again(err, q.newWebhook)
	}
	return q.leaveWithSecret(q.path("webhooks", n.ID, "secret"), n.ID, n.Secret)
}

type webhookSecretView struct {
	admin.NewWebhook
	Rotated bool
}

// webhookSecretPage shows a secret that was made a moment ago, which nobody can do later.
func webhookSecretPage(q *request) error {
	w, err := q.webhook()
	if err != nil {
		return err
	}
	v := webhookSecretView{Rotated: q.value("rotated") != ""}
	v.Webhook, v.Secret = w, q.takeSecret(w.ID)
	return q.page("webhooksecret", "The secret of your webhook", v)
}

// webhook reads the endpoint of the address.
func (q *request) webhook() (admin.Webhook, error) {
	all, err := q.admin().Webhooks(q.ctx(), q.caller)
	for _, w := range all {
		if w.ID == q.r.PathValue("webhook") {
			return w, nil
		}
	}
	if err == nil {
		err = notFound()
	}
	return admin.Webhook{}, err
}

type webhookView struct {
	admin.Webhook
	Deliveries []deliveryView
	Next       string
}

type deliveryView struct {
	admin.Delivery
	To   string // page of what it is about; empty where there is none
	Once string
}

func (q *request) hook(code int, p *problem) error {
	w, err := q.webhook()
	if err != nil {
		return err
	}
	v := webhookView{Webhook: w}
	deliveries, next, err := q.admin().Deliveries(q.ctx(), q.caller, admin.DeliveryList{Webhook: w.ID, Cursor: q.r.URL.Query().Get("cursor"), Limit: pageLimit})
	if err != nil {
		return err
	}
	v.Next = next
	for _, d := range deliveries {
		row := deliveryView{Delivery: d, Once: once()}
		if strings.HasPrefix(d.Event, "export.") {
			row.To = q.path("exports", d.Resource)
		}
		v.Deliveries = append(v.Deliveries, row)
	}
	return q.show(code, "webhook", "Webhook", v, p)
}

func webhookPage(q *request) error { return q.hook(http.StatusOK, nil) }

func redeliver(q *request) error {
	w := q.r.PathValue("webhook")
	if _, err := q.admin().Redeliver(q.ctx(), q.caller, w, q.r.PathValue("delivery"), q.onceOf()); err != nil {
		return q.again(err, q.hook)
	}
	return q.leave(q.path("webhooks", w), "redelivered")
}

func rotatePage(q *request) error {
	w, err := q.webhook()
	if err != nil {
		return err
	}
	return q.page("ask", "Change the secret of this webhook?", question{
		Text: "You get a new secret for " + w.URL + ". Messages are signed with both for 24 hours, so that there is time to bring the new one to the receiver. " +
			"If the secret was changed in the last 24 hours, the one before that stops signing at once.",
		Action: q.path("webhooks", w.ID, "rotate"), Yes: "Change the secret", No: q.path("webhooks", w.ID), Fields: map[string]string{"once": once()},
	})
}

func rotateSecret(q *request) error {
	n, err := q.admin().RotateWebhookSecret(q.ctx(), q.caller, q.r.PathValue("webhook"), q.onceOf())
	if err != nil {
		return err
	}
	return q.leaveWithSecret(query(q.path("webhooks", n.ID, "secret"), "rotated", "1"), n.ID, n.Secret)
}

func removeWebhookPage(q *request) error {
	w, err := q.webhook()
	if err != nil {
		return err
	}
	return q.page("ask", "Remove this webhook?", question{
		Text:   "Events are no longer sent to " + w.URL + ", nor are those that wait. This can't be undone.",
		Action: q.path("webhooks", w.ID, "remove"), Yes: "Remove the webhook", No: q.path("webhooks", w.ID), Danger: true,
	})
}

func removeWebhook(q *request) error {
	if err := q.admin().DeleteWebhook(q.ctx(), q.caller, q.r.PathValue("webhook")); err != nil {
		return err
	}
	return q.leave(q.path("webhooks"), "unhooked")
}
