// Command sitefunction is a Lambda function with a URL that serves sites, for tests: the
// stack has none yet. The first label of X-Forwarded-Host names the site. It needs leave to
// read records of projects and exports, and archives.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/sites"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	env, err := config.FunctionFromEnv(os.Getenv, config.Table, config.ExportsBucket)
	if err != nil {
		return err
	}
	cfg, err := awsconfig.FromEnv(func(name string) string {
		if name == "AWS_ENDPOINT_URL" {
			name = "SITES_ENDPOINT"
		}
		return os.Getenv(name)
	})
	if err != nil {
		return err
	}
	objects := s3store.New(cfg, s3store.Options{Exports: env.ExportsBucket})
	rules := admin.New(admin.Options{
		Store: dynamo.New(cfg, dynamo.Options{Table: env.Table}), Objects: objects,
		Sites: admin.Sites{URL: "https://sites.example.com", Key: []byte(os.Getenv("SITES_KEY"))},
	})
	h := sites.New(sites.Options{Admin: rules, Objects: objects, Secure: true, Log: slog.New(slog.NewJSONHandler(os.Stderr, nil))})
	lambda.Start(func(ctx context.Context, event events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
		return answer(ctx, h, event)
	})
	return nil
}

// answer answers an event in one piece. Streams of the local cloud carry no bytes that
// are not UTF-8, and no cookies.
func answer(ctx context.Context, h *sites.Handler, event events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
	r, err := http.NewRequestWithContext(ctx, event.RequestContext.HTTP.Method, event.RawPath+"?"+event.RawQueryString, nil)
	if err != nil {
		return events.LambdaFunctionURLResponse{}, err
	}
	for name, value := range event.Headers {
		r.Header.Set(name, value)
	}
	if len(event.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
	}
	label, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ".")
	w := httptest.NewRecorder()
	h.Serve(w, r, label)
	out := events.LambdaFunctionURLResponse{
		StatusCode: w.Code, Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString(w.Body.Bytes()), IsBase64Encoded: true, Cookies: w.Header().Values("Set-Cookie"),
	}
	for name, values := range w.Header() {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(values, ",")
		}
	}
	return out, nil
}
