package functions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/buildid"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestPrograms runs the programs as they are deployed, each in a process of its
// own behind the runtime API. Those for this machine play the story on a local
// cloud; those that AWS gets, for arm64, start under emulation and answer an event
// each: every fourth of them, and all with make test-all.
func TestPrograms(t *testing.T) {
	outside.Long(t, "builds and starts every function")
	t.Run("native", func(t *testing.T) {
		local := cloudtest.MiniStack(t)
		program := build(t, runtime.GOARCH)
		checkRenderer(t, program)
		table := local.Table(t)
		sources, exports := local.Buckets(t)
		// The story calls the steps itself: its executions end at once.
		machine := local.StateMachine(t, "export", endAtOnce())
		signer := local.Role(t, "signer", map[string]string{"AWS": "arn:aws:iam::" + cloudtest.Account + ":root"},
			[]string{"s3:GetObject"}, "arn:aws:s3:::"+exports+"/*", "arn:aws:s3:::"+sources+"/*")
		env := append(withoutStorage(),
			"AWS_REGION="+cloudtest.Region, "AWS_ENDPOINT_URL="+local.Endpoint, config.Table+"="+table, config.SourcesBucket+"="+sources,
			config.ExportsBucket+"="+exports, config.StateMachine+"="+machine, config.SignerRole+"="+signer)
		processes := map[string]*process{}
		db := dynamo.New(local.Config, dynamo.Options{Table: table})
		runner := sfnrun.New(local.Config, sfnrun.Options{StateMachine: machine})
		tell(t, db, runner, func(name string, event []byte) ([]byte, *fault) {
			p := processes[name]
			if p == nil {
				p = run(t, env, program(name))
				processes[name] = p
			}
			return p.invoke(t, event)
		})
		for _, name := range names {
			checkLog(t, name, processes[name].end())
		}
	})
	t.Run("arm64", func(t *testing.T) {
		var emulator []string
		if runtime.GOARCH != "arm64" {
			emulator = append(emulator, outside.Program(t, "qemu-aarch64-static"))
		}
		program := build(t, "arm64")
		checkRenderer(t, program)
		events := eventsWithoutStorage(t)
		for i, name := range names {
			if !outside.Full() && i%4 > 0 {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := run(t, withoutStorage(), append(slices.Clone(emulator), program(name))...)
				body, fault := p.invoke(t, events[name])
				checkAnswer(t, name, body, fault)
			})
		}
	})
}

// checkAnswer holds what a function without storage answers to its event.
func checkAnswer(t *testing.T, name string, body []byte, fault *fault) {
	t.Helper()
	_, isAPI := operations[name]
	if !isAPI && name != "openapi" && name != "dashboard" {
		ends := name == "failexport" || name == "agentfail" // for these a job without a name is one that is gone
		if ends != (fault == nil) || fault != nil && fault.Type == "" {
			t.Errorf("a step without a job answers %s %v", body, fault)
		}
		return
	}
	var answer struct {
		StatusCode int
		Body       string
	}
	if fault != nil || json.Unmarshal(body, &answer) != nil {
		t.Fatalf("answers %s %v", body, fault)
	}
	want, part := http.StatusUnauthorized, `{"error":`
	switch name {
	case "openapi":
		want, part = http.StatusOK, `"openapi"`
	case "dashboard":
		want, part = http.StatusOK, "<title>Sign in"
	}
	if answer.StatusCode != want || !strings.Contains(answer.Body, part) {
		t.Errorf("answers %+v, want %d with %s", answer, want, part)
	}
}

// checkRenderer holds that the programs that render were built with the digest
// of these sources, and that no other program changes with it.
func checkRenderer(t *testing.T, program func(name string) string) {
	t.Helper()
	digest, err := buildid.Digest("..", "shared/service/export")
	if err != nil {
		t.Fatal(err)
	}
	var with []string
	for _, name := range names {
		data, err := os.ReadFile(program(name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(digest)) {
			with = append(with, name)
		}
	}
	slices.Sort(with)
	if want := []string{"agentreview", "assemblebundle", "planexport", "rendershard"}; !slices.Equal(with, want) {
		t.Errorf("programs with the renderer's digest: %v, want %v", with, want)
	}
}

// checkLog holds that a function's log is lines of JSON, each of them of this
// function, and that invocations have a line of their own.
func checkLog(t *testing.T, name, log string) {
	t.Helper()
	told, named := 0, false
	for line := range strings.Lines(log) {
		var l struct {
			Message  string   `json:"msg"`
			Function string   `json:"function"` // "Function" in the invocation's own line
			Trace    string   `json:"trace"`
			Request  string   `json:"request"`
			Job      string   `json:"job"`
			Tenant   string   `json:"organisation"`
			Duration *float64 `json:"durationMs"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%s: a line of the log is no JSON: %s", name, line)
			continue
		}
		if l.Function != name {
			t.Errorf("%s: a line of the log is of %q: %s", name, l.Function, line)
		}
		if l.Message == api.RequestMessage && l.Request != "" && l.Tenant != "" && l.Job != "" {
			named = true
		}
		if l.Message == "invocation" && l.Duration != nil {
			told++
			if l.Trace != "1-5bef4de7-ad49b0e87f6ef6c87fc2e700" {
				t.Errorf("%s: an invocation without its trace: %s", name, line)
			}
		}
	}
	if aboutJobs := name == "startexport" || name == "getexport" || name == "generatebundle" || name == "getagentjob"; aboutJobs && !named {
		t.Errorf("%s: no line of a request names request, organisation and job:\n%s", name, log)
	}
	if told == 0 {
		t.Errorf("%s: no invocation has its line:\n%s", name, log)
	}
}

func endAtOnce() map[string]func(context.Context, json.RawMessage) (json.RawMessage, error) {
	end := func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"shards":[],"more":false}`), nil
	}
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
		job.TaskPlan: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"jobId":"x","renderer":"x","shards":[]}`), nil
		},
		job.TaskRender: end, job.TaskAssemble: end, job.TaskFail: end,
	}
}
