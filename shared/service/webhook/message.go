package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// Headers of a message, as Standard Webhooks names them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// userAgent tells endpoints who calls.
const userAgent = "Bindery-Webhooks/1"

// body is what an endpoint gets.
type body struct {
	Type string `json:"type"`
	// Timestamp is when it happened, not when it is sent.
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// message makes body and headers of an attempt at a delivery: the same body each
// time, signed anew by each of the secrets.
func message(d admin.Delivery, secrets []string, now time.Time) ([]byte, http.Header, error) {
	data, err := api.EventData(d)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(body{d.Event, d.CreatedAt.UTC(), data})
	if err != nil {
		return nil, nil, fmt.Errorf("event %s: %w", d.ID, err)
	}
	var signatures []string
	for _, secret := range secrets {
		signature, err := Sign(secret, d.ID, now, raw)
		if err != nil {
			return nil, nil, err
		}
		signatures = append(signatures, signature)
	}
	return raw, http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {userAgent},
		HeaderID: {d.ID}, HeaderTimestamp: {strconv.FormatInt(now.Unix(), 10)}, HeaderSignature: {strings.Join(signatures, " ")},
	}, nil
}

// Sign returns the signature of a message in the form of Standard Webhooks: HMAC
// with SHA-256 over its id, the time of the attempt in whole seconds and its body,
// with a version in front. It returns an error for a secret that is none.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return "", fmt.Errorf("the secret of a webhook is damaged") // its text is in no error
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s.%d.%s", id, at.Unix(), body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
