// Command sitefunction is a Lambda function with a URL that serves sites, for tests: the
// stack has none yet. The first label of X-Forwarded-Host names the site. It needs leave to
// read records of projects and exports, and archives.
package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambdaurl"

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
	cfg, err := awsconfig.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	objects := s3store.New(cfg, s3store.Options{Exports: env.ExportsBucket})
	rules := admin.New(admin.Options{
		Store: dynamo.New(cfg, dynamo.Options{Table: env.Table}), Objects: objects,
		Sites: admin.Sites{URL: "https://sites.example.com", Key: []byte(os.Getenv("SITES_KEY"))},
	})
	h := sites.New(sites.Options{Admin: rules, Objects: objects, Secure: true, Log: slog.New(slog.NewJSONHandler(os.Stderr, nil))})
	lambdaurl.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		label, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ".")
		h.Serve(w, r, label)
	}))
	return nil
}
