package stack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

// Lines of requests are found in the logs of all functions, by month and
// organisation, and no others.
func TestRequests(t *testing.T) {
	c := cloudtest.MiniStack(t)
	logs := cloudwatchlogs.NewFromConfig(c.Config)
	now := time.Now().UTC().Truncate(time.Second)
	line := func(message, organisation string) string {
		return fmt.Sprintf(`{"msg":%q,"organisation":%q}`, message, organisation)
	}
	write := func(group string, days int32, at time.Time, lines ...string) {
		t.Helper()
		for _, do := range []func() error{
			func() error {
				_, err := logs.CreateLogGroup(t.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &group})
				return err
			},
			func() error {
				if days == 0 {
					return nil
				}
				_, err := logs.PutRetentionPolicy(t.Context(), &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: &group, RetentionInDays: &days})
				return err
			},
			func() error {
				_, err := logs.CreateLogStream(t.Context(), &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &group, LogStreamName: aws.String("s")})
				return err
			},
			func() error {
				var events []types.InputLogEvent
				for _, l := range lines {
					events = append(events, types.InputLogEvent{Message: &l, Timestamp: aws.Int64(at.UnixMilli())})
				}
				_, err := logs.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{LogGroupName: &group, LogStreamName: aws.String("s"), LogEvents: events})
				return err
			},
		} {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("start", 14, now, line("request", "org_1"), line("request", "org_2"), line("other", "org_1"), "no JSON")
	write("starter", 0, now, line("request", "org_1")) // a name that begins alike
	write("get", 90, now.Add(-time.Hour), line("request", "org_1"))

	r, err := stack.NewRequests(c.Config, stack.Stack{Name: "b", Outputs: map[string]string{"RequestLogGroups": "start get"}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := r.Kept(t.Context(), now)
	if err != nil || !kept.Equal(now.AddDate(0, 0, -14)) {
		t.Errorf("kept since %v, %v", kept, err)
	}
	for _, c := range []struct {
		name, organisation string
		from, to           time.Time
		want               []string
	}{
		{"all of an organisation", "org_1", now.Add(-2 * time.Hour), now.Add(time.Second), []string{line("request", "org_1"), line("request", "org_1")}},
		{"all", "", now.Add(-time.Minute), now.Add(time.Second), []string{line("request", "org_1"), line("request", "org_2")}},
		{"the end is not in", "org_1", now.Add(-2 * time.Hour), now, []string{line("request", "org_1")}},
		{"the beginning is in", "org_2", now, now.Add(time.Second), []string{line("request", "org_2")}},
		{"nobody's", "org_3", now.Add(-2 * time.Hour), now.Add(time.Second), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			err := r.Lines(t.Context(), "request", c.organisation, c.from, c.to, func(l []byte) error {
				// MiniStack takes every pattern over JSON for one that all lines meet.
				if s := string(l); s == line("request", c.organisation) || c.organisation == "" && strings.Contains(s, `"request"`) {
					got = append(got, s)
				}
				return nil
			})
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
	all := func(ctx context.Context, r *stack.Requests, organisation string, each func([]byte) error) error {
		return r.Lines(ctx, "request", organisation, now.Add(-2*time.Hour), now.Add(time.Second), each)
	}
	stop := errors.New("enough")
	if err := all(t.Context(), r, "", func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("each's error is lost: %v", err)
	}
	if err := all(t.Context(), r, `org" || $.x = "`, func([]byte) error { t.Error("a line"); return nil }); err == nil {
		t.Error("an id changes the question")
	}
	gone, err := stack.NewRequests(c.Config, stack.Stack{Outputs: map[string]string{"RequestLogGroups": "nothing"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := all(t.Context(), gone, "", nil); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a group that is not there: %v", err)
	}
	if _, err := gone.Kept(t.Context(), now); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("retention of a group that is not there: %v", err)
	}
	if _, err := stack.NewRequests(c.Config, stack.Stack{Name: "old"}); err == nil || !strings.Contains(err.Error(), "RequestLogGroups") {
		t.Errorf("a stack that names no groups: %v", err)
	}
}

// What is asked of CloudWatch Logs, whose patterns local clouds do not know.
func TestRequestsPattern(t *testing.T) {
	type question struct {
		LogGroupName, FilterPattern string
		StartTime, EndTime          int64
	}
	var asked []question
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		asked = append(asked, q)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if len(asked) == 1 { // a page without lines, and more to come
			_, _ = w.Write([]byte(`{"events":[],"nextToken":"more"}`))
			return
		}
		_, _ = w.Write([]byte(`{"events":[{"message":"found"}]}`))
	}))
	defer server.Close()
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}
	r, err := stack.NewRequests(cfg, stack.Stack{Outputs: map[string]string{"RequestLogGroups": "start"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	err = r.Lines(t.Context(), "request", "org_1", time.UnixMilli(1000), time.UnixMilli(2000), func(line []byte) error {
		lines++
		return nil
	})
	want := question{"start", `{ ($.msg = "request") && ($.organisation = "org_1") }`, 1000, 1999}
	if err != nil || lines != 1 || !slices.Equal(asked, []question{want, want}) {
		t.Errorf("%d lines, %v; asked %+v", lines, err, asked)
	}
	asked = asked[:0]
	err = r.Lines(t.Context(), "request", "", time.UnixMilli(1000), time.UnixMilli(2000), func([]byte) error { return nil })
	if err != nil || asked[0].FilterPattern != `{ $.msg = "request" }` {
		t.Errorf("%v; asked %+v", err, asked)
	}
}
