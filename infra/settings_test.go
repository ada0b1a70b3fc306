package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLocalDiffersInJustThat compares the local stage with a dev stage that has
// everything: what local clouds can't deploy is left out, and nothing else.
func TestLocalDiffersInJustThat(t *testing.T) {
	outside.Long(t, "synthesizes one more stack")
	all := plain(t, synth(t, stageDev, func(s *settings) { s.waf = true }))
	local := plain(t, synth(t, stageLocal))
	for id, r := range local {
		if _, ok := all[id]; !ok {
			t.Errorf("only local has %s, a %s", id, r.Type)
		}
	}
	left := 0
	for id, want := range all {
		have, ok := local[id]
		if !ok {
			left++
			if !mayBeLeftOut.MatchString(want.Type + " " + id) {
				t.Errorf("local lacks %s, a %s", id, want.Type)
			}
			continue
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s differs:\n%s", id, diff)
		}
	}
	if left < 8 {
		t.Errorf("only %d resources are left out: is the comparison right?", left)
	}
}

var (
	mayBeLeftOut = regexp.MustCompile(`^(AWS::WAFv2::\S+ .*|AWS::CloudWatch::CompositeAlarm .*|AWS::CloudWatch::Alarm Alarm(ApiFaultRate|StepsThrottled).*` +
		`|\S+ Custom.*AutoDelete.*|Custom::S3AutoDeleteObjects .*)$`)
	stageName = regexp.MustCompile(`\b(dev|local)\b|(ApiDeploymentStage)(?:dev|local)[0-9A-F]{8}`)
	// Deployments and versions are named by a digest of what they hold.
	contentName = regexp.MustCompile(`(CurrentVersion[0-9A-F]{8}|ApiDeployment[0-9A-F]{8})[0-9a-f]{32}`)
)

// plain gives a template's resources without the stage's name, digests of
// content, and what stands in others for resources that may be left out.
func plain(t *testing.T, s *synthesized) map[string]resourceOf {
	t.Helper()
	text := stageName.ReplaceAllString(string(s.raw), "${2}STAGE")
	text = contentName.ReplaceAllString(text, "$1")
	var parsed template
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	for id, r := range parsed.Resources {
		if strings.HasPrefix(id, "ApiAccount") || strings.HasPrefix(id, "ApiCloudWatchRole") { // others may use them, on AWS
			r.DeletionPolicy, r.UpdateReplacePolicy = "", ""
			parsed.Resources[id] = r
		}
		if tags, ok := r.Properties["Tags"].([]any); ok {
			r.Properties["Tags"] = slices.DeleteFunc(tags, func(tag any) bool { return at(tag, "Key") == "aws-cdk:auto-delete-objects" })
		}
		switch r.Type {
		case "AWS::S3::BucketPolicy":
			document := r.Properties["PolicyDocument"].(object)
			document["Statement"] = slices.DeleteFunc(document["Statement"].([]any), func(s any) bool {
				role, _ := at(s, "Principal", "AWS", "Fn::GetAtt", 0).(string)
				return strings.HasPrefix(role, "CustomS3AutoDelete")
			})
		case "AWS::CloudWatch::Dashboard": // it shows the alarms
			delete(r.Properties, "DashboardBody")
		case "AWS::Lambda::Function":
			r.Properties["Architectures"] = "the processor"
		}
	}
	return parsed.Resources
}

func TestSettings(t *testing.T) {
	dir := placeholders(t)
	from := func(context map[string]any) (settings, error) {
		if context["functions"] == nil {
			context["functions"] = dir
		}
		return settingsFrom(func(name string) any { return context[name] })
	}
	for _, c := range []struct {
		name    string
		context map[string]any
		check   func(s settings) bool
	}{
		{"dev by default", map[string]any{}, func(s settings) bool { return s.stage == stageDev && !s.waf && !s.keep && s.emptyBuckets }},
		{"prod keeps and guards", map[string]any{"stage": "prod"}, func(s settings) bool { return s.keep && s.waf && !s.emptyBuckets && s.stack == "Bindery-prod" }},
		{"prod without web ACL", map[string]any{"stage": "prod", "waf": "false"}, func(s settings) bool { return !s.waf }},
		{"values of JSON", map[string]any{"waf": true}, func(s settings) bool { return s.waf }},
		{"another name", map[string]any{"stack": "Docs"}, func(s settings) bool { return s.stack == "Docs" }},
		{"another runbook", map[string]any{"runbook": "https://wiki.example/r"}, func(s settings) bool { return s.runbook == "https://wiki.example/r" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := from(c.context); err != nil || !c.check(s) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for name, context := range map[string]map[string]any{
		"unknown stage":       {"stage": "test"},
		"unknown answer":      {"waf": "yes"},
		"web ACL in local":    {"stage": "local", "waf": "true"},
		"unknown processor":   {"arch": "mips"},
		"runbook without TLS": {"runbook": "http://wiki.example"},
		"no code":             {"functions": filepath.Join(dir, "nothing")},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := from(context); err == nil {
				t.Errorf("taken: %+v", s)
			}
		})
	}
}
