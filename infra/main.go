// Command infra is Bindery's CDK app: the stack that runs it on AWS, and, with
// few and tested differences, on a local cloud. Synthesize and deploy with the
// cdk CLI, from the repository's root:
//
//	make functions
//	cdk deploy -c stage=prod
//
// # Map
//
//	settings.go   what a stage is, and the context that picks and bends one
//	stack.go      the stack: parameters, parts in their order, outputs, tags
//	storage.go    table, buckets, and what secrets of agents are kept with
//	functions.go  one function for each folder of functions/, with a role of its own
//	grants.go     the table of what each function may do, and nothing more
//	gateway.go    the REST API: stage, domain, web ACL, refusals
//	definition.go its methods and all other answers, as one OpenAPI document
//	webhooks.go   what wakes the function that delivers events
//	workflow.go   state machines, event rules, reconciler's schedule, dead letters
//	watch.go      alarms and dashboard
//	nag.go        why rules of cdk-nag do not hold where they do not
//
// # Context
//
//	stage      dev (default), prod or local
//	functions  folder with one folder for each function; default bin/functions
//	waf        true or false: a web ACL before the API; default true in prod
//	stack      the stack's name; default Bindery-<stage>
//	runbook    address of the page that alarms point at
//	arch       arm64 or x86_64; default arm64, and x86_64 in local
//	protect    true or false: the table can't be deleted; default true in prod
//	table      a restored table that takes the place of the stack's own
//	domain     the API's name for callers, with certificate, the ARN of its certificate
//	key        ARN of the KMS key that table, buckets and credentials are encrypted with
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	os.Exit(run())
}

func run() int {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	settings, err := settingsFrom(func(name string) any { return app.Node().TryGetContext(&name) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		return 2
	}
	newStack(app, settings)
	app.Synth(nil)
	return 0
}
