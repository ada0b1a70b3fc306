// Command generatebundle is the Lambda function behind
// POST /v1/static-export/jobs/{jobId}/bundle. The link is signed
// by a role that may read bundles and do nothing else.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
)

func main() { cloud.Main("generatebundle", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.ExportsBucket, config.SignerRole)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	objects := s3store.New(aws, s3store.Options{Exports: env.ExportsBucket, SignerRole: env.SignerRole})
	service := admin.New(admin.Options{
		Store:    dynamo.New(aws, dynamo.Options{Table: env.Table}),
		Objects:  objects,
		LinkLife: env.LinkLife,
		Log:      f.Log,
	})
	return f.HTTP(env.Stage, api.HeaderErrorCode, api.Alone(api.Options{Admin: service, Objects: objects, Log: f.Log, Annotate: cloud.Annotate}, "generateBundle")), nil
}
