package cloudtest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Table makes the table of records and returns its name.
func (c *Cloud) Table(t *testing.T) string {
	t.Helper()
	client := dynamodb.NewFromConfig(c.Config)
	name := aws.String("records")
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	keys := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(dynamo.AttrPK), attribute(dynamo.AttrSK), attribute(dynamo.AttrActivePK), attribute(dynamo.AttrActive),
		},
		KeySchema: keys(dynamo.AttrPK, dynamo.AttrSK),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(dynamo.IndexActive), KeySchema: keys(dynamo.AttrActivePK, dynamo.AttrActive),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return *name
}

// Key makes a key that credentials can be encrypted with and returns its ARN.
func (c *Cloud) Key(t *testing.T) string {
	t.Helper()
	out, err := kms.NewFromConfig(c.Config).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	return *out.KeyMetadata.Arn
}

// Buckets makes the buckets of sources and of exports and returns their names.
func (c *Cloud) Buckets(t *testing.T) (sources, exports string) {
	t.Helper()
	client := s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
	for _, name := range []string{"sources", "exports"} {
		if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
			t.Fatal(err)
		}
	}
	return "sources", "exports"
}

// Role makes a role that the given principal may assume, such as
// {"Service": "lambda.amazonaws.com"}, with the permissions to do the actions
// on the resources. It returns the role's ARN.
func (c *Cloud) Role(t *testing.T, name string, principal map[string]string, actions []string, resources ...string) string {
	t.Helper()
	document := func(statement map[string]any) string {
		statement["Effect"] = "Allow"
		b, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	c.query(t, url.Values{
		"Action": {"CreateRole"}, "RoleName": {name},
		"AssumeRolePolicyDocument": {document(map[string]any{"Principal": principal, "Action": "sts:AssumeRole"})},
	})
	c.query(t, url.Values{
		"Action": {"PutRolePolicy"}, "RoleName": {name}, "PolicyName": {"all"},
		"PolicyDocument": {document(map[string]any{"Action": actions, "Resource": resources})},
	})
	return "arn:aws:iam::" + Account + ":role/" + name
}

// query calls IAM.
func (c *Cloud) query(t *testing.T, values url.Values) {
	t.Helper()
	values.Set("Version", "2010-05-08")
	c.call(t, "iam", "/", "application/x-www-form-urlencoded", []byte(values.Encode()))
}

// call posts a signed request to a service that tests need too little of for
// a client of its own.
func (c *Cloud) call(t *testing.T, service, path, contentType string, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	keys, err := c.Config.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(t.Context(), keys, req, hex.EncodeToString(sum[:]), service, Region, time.Now()); err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		t.Fatalf("%s%s: %s: %s", service, path, res.Status, answer)
	}
}

// bridge is a function that passes its event on to a test, and answers what
// that says: the output, or an error under its name. It speaks the runtime API
// itself, because only so an error's name is the function's choice. (Whoever
// runs MiniStack has Python.)
const bridge = `#!/usr/bin/env python3
import json, os, urllib.request

runtime = "http://" + os.environ["AWS_LAMBDA_RUNTIME_API"] + "/2018-06-01/runtime/invocation/"

def post(url, data):
    with urllib.request.urlopen(urllib.request.Request(url, data=data)) as answer:
        return answer.read()

while True:
    with urllib.request.urlopen(runtime + "next") as event:
        request, data = event.headers["Lambda-Runtime-Aws-Request-Id"], event.read()
    answer = json.loads(post(os.environ["BRIDGE"], data))
    if answer.get("error"):
        answer = {"errorType": answer["error"], "errorMessage": answer["message"]}
        post(runtime + request + "/error", json.dumps(answer).encode())
    else:
        post(runtime + request + "/response", json.dumps(answer.get("output")).encode())
`

// StateMachine deploys the export workflow on steps of a test, which run in
// the test's process, and returns its ARN. Names must not be used twice on one
// Cloud.
func (c *Cloud) StateMachine(t *testing.T, name string, tasks map[string]func(context.Context, json.RawMessage) (json.RawMessage, error)) string {
	t.Helper()
	return c.machine(t, name, tasks, func(resource func(string) string) ([]byte, error) { return job.Definition(resource, 2) })
}

// AgentMachine is StateMachine for the agent's workflow.
func (c *Cloud) AgentMachine(t *testing.T, name string, tasks map[string]func(context.Context, json.RawMessage) (json.RawMessage, error)) string {
	t.Helper()
	return c.machine(t, name, tasks, job.AgentDefinition)
}

func (c *Cloud) machine(t *testing.T, name string, tasks map[string]func(context.Context, json.RawMessage) (json.RawMessage, error),
	define func(resource func(task string) string) ([]byte, error)) string {
	t.Helper()
	server := serveTasks(t, tasks)
	machine := "arn:aws:states:" + Region + ":" + Account + ":stateMachine:" + name
	role := c.Role(t, name+"-steps", map[string]string{"Service": "lambda.amazonaws.com"}, []string{"logs:*"}, "*")
	functions := map[string]string{}
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	header.SetMode(0o755)
	f, err := z.CreateHeader(header)
	if err == nil {
		_, err = io.WriteString(f, bridge)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for task := range tasks {
		function := name + "-" + task
		body, err := json.Marshal(map[string]any{
			"FunctionName": function, "Runtime": "provided.al2023", "Handler": "bootstrap", "Role": role, "Timeout": 60,
			"Code":        map[string]any{"ZipFile": zipped.Bytes()},
			"Environment": map[string]any{"Variables": map[string]string{"BRIDGE": server.URL + "/" + task}},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.call(t, "lambda", "/2015-03-31/functions", "application/json", body)
		functions[task] = "arn:aws:lambda:" + Region + ":" + Account + ":function:" + function
	}
	definition, err := define(func(task string) string { return functions[task] })
	if err != nil {
		t.Fatal(err)
	}
	resources := slices.AppendSeq([]string{machine, strings.Replace(machine, ":stateMachine:", ":execution:", 1) + "*"}, maps.Values(functions))
	runs := c.Role(t, name+"-runs", map[string]string{"Service": "states.amazonaws.com"},
		[]string{"lambda:InvokeFunction", "states:StartExecution", "states:DescribeExecution", "states:StopExecution"}, resources...)
	if _, err := sfn.NewFromConfig(c.Config).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: &name, Definition: aws.String(string(definition)), RoleArn: &runs,
	}); err != nil {
		t.Fatal(err)
	}
	return machine
}

// serveTasks answers bridges until the test ends.
func serveTasks(t *testing.T, tasks map[string]func(context.Context, json.RawMessage) (json.RawMessage, error)) *httptest.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		input, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("bridge: %v", err)
			return
		}
		answer := struct {
			Output  json.RawMessage `json:"output,omitempty"`
			Error   string          `json:"error,omitempty"`
			Message string          `json:"message,omitempty"`
		}{}
		answer.Output, err = tasks[strings.TrimPrefix(r.URL.Path, "/")](ctx, input)
		if coded, ok := errors.AsType[store.Coded](err); ok {
			answer.Error, answer.Message = coded.Code(), coded.SafeMessage()
		} else if err != nil {
			answer.Error, answer.Message = "internal", fmt.Sprint(err)
		}
		// Nobody may listen any more: an aborted execution does not wait.
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
	})
	return server
}
