package cloud

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
)

// Function is what a Lambda function has before its first invocation.
type Function struct {
	// Name is the function's folder, not the name that a deployment gave it.
	Name string
	// Getenv reads its environment.
	Getenv func(string) string
	// Log is where it logs.
	Log *slog.Logger

	out io.Writer
}

// Main is the main function of a Lambda function: it builds the handler once,
// and answers invocations until the process is ended. What build returns as an
// error is logged, and ends the process, so that the deployment sees it.
func Main(name string, build func(*Function) (Handler, error)) {
	f := newFunction(name, os.Getenv, os.Stdout)
	slog.SetDefault(f.Log) // what the runtime itself says becomes JSON too
	h, err := build(f)
	if err != nil {
		f.Log.Error("the function can't start", "error", err)
		os.Exit(1)
	}
	lambda.Start(h)
}

// newFunction makes a Function as Main does, with another environment and
// another place for its log.
func newFunction(name string, getenv func(string) string, out io.Writer) *Function {
	return &Function{Name: name, Getenv: getenv, Log: NewLog(out, slog.LevelInfo).With("function", name), out: out}
}

// HTTP adapts a handler of requests: see HTTP.
func (f *Function) HTTP(stage, codeHeader string, h http.Handler) Handler {
	return HTTP(h, HTTPOptions{Log: f.Log, Metrics: NewMetrics(f.out, stage, f.Name, nil), CodeHeader: codeHeader})
}

// Step adapts a step of the workflow: see Step.
func (f *Function) Step(stage string, run func(context.Context, json.RawMessage) (json.RawMessage, error)) Handler {
	return Step(run, StepOptions{Log: f.Log, Metrics: NewMetrics(f.out, stage, f.Name, nil)})
}
