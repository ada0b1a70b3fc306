// Package secretvalue reads secrets of AWS Secrets Manager. It is one signed
// request: the SDK's client would be a part of each cold start of a function that
// makes it once.
package secretvalue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
)

const (
	tries     = 4
	pause     = 200 * time.Millisecond // before the second try; each further one is twice as long
	patience  = 10 * time.Second       // of one try
	maxAnswer = 256 << 10              // bytes; a secret has at most 64 KiB
)

// Fetch reads the text of a secret by its ARN, with cfg's credentials, and tries
// again what may pass. Its errors hold nothing of the secret; those that a later
// try may not meet are temporary.
func Fetch(ctx context.Context, cfg aws.Config, arn string) (string, error) {
	wait := pause
	for n := 1; ; n++ {
		value, again, err := fetch(ctx, cfg, arn)
		if err == nil {
			return value, nil
		}
		err = fmt.Errorf("read the secret %s: %w", arn, err)
		if !again || ctx.Err() != nil {
			return "", err
		}
		if n == tries {
			return "", call.Temporary(err)
		}
		if err := call.Sleep(ctx, wait); err != nil {
			return "", err
		}
		wait *= 2
	}
}

// fetch is one try. It reports whether another one may go better.
func fetch(ctx context.Context, cfg aws.Config, arn string) (value string, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := json.Marshal(map[string]string{"SecretId": arn})
	if err != nil {
		return "", false, err
	}
	res, err := awsconfig.Post(ctx, cfg, "secretsmanager", "/", http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"secretsmanager.GetSecretValue"},
	}, body)
	if err != nil {
		return "", true, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return "", true, err
	}
	var answer struct {
		SecretString *string
		Type         string `json:"__type"`
	}
	// An error of the decoder may quote what it reads.
	if json.Unmarshal(raw, &answer) != nil && res.StatusCode < 300 {
		return "", true, errors.New("the answer is not JSON")
	}
	switch {
	case res.StatusCode >= 300:
		kind := answer.Type[strings.LastIndexByte(answer.Type, '#')+1:] // some have a prefix
		again = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || strings.HasPrefix(kind, "Throttling")
		return "", again, fmt.Errorf("%s %s", res.Status, kind)
	case answer.SecretString == nil:
		return "", false, errors.New("it has no text")
	}
	return *answer.SecretString, false, nil
}
