package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestMain ends the process of Node in which CDK runs.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// synthesized is a stage's template, made once for all tests.
type synthesized struct {
	// raw is the template's JSON, with the digests of code left out.
	raw []byte
	template
	// report is what cdk-nag says: a line for each rule and resource.
	report []nagLine
	// protected: the stack can't be deleted before an operator allows it. That
	// is not in the template.
	protected bool
}

type template struct {
	Parameters map[string]object
	Conditions map[string]any
	Resources  map[string]resourceOf
	Outputs    map[string]object
}

type object = map[string]any

type resourceOf struct {
	Type                string
	Properties          object
	DependsOn           any
	DeletionPolicy      string
	UpdateReplacePolicy string
	Condition           string
	Metadata            object
}

type nagLine struct {
	RuleID, ResourceID, Compliance, ExceptionReason, RuleLevel, RuleInfo string
}

var made struct {
	sync.Mutex
	stages map[string]*synthesized
}

// synth gives the template of a stage; bend changes its settings, and has a
// name of its own.
func synth(t *testing.T, name stage, bends ...func(*settings)) *synthesized {
	t.Helper()
	outside.Program(t, "node")
	made.Lock()
	defer made.Unlock()
	key := string(name)
	if len(bends) > 0 {
		key += " of " + t.Name()
	}
	if s := made.stages[key]; s != nil {
		return s
	}
	set, err := newSettings(name)
	if err != nil {
		t.Fatal(err)
	}
	set.functions = placeholders(t)
	for _, bend := range bends {
		bend(&set)
	}
	var file struct{ Context map[string]any }
	read(t, filepath.Join("..", "cdk.json"), &file)
	file.Context["aws:cdk:disable-stack-trace"] = true
	out := t.TempDir()
	app := awscdk.NewApp(&awscdk.AppProps{Context: &file.Context, Outdir: &out, AnalyticsReporting: jsii.Bool(false)})
	newStack(app, set)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Verbose: jsii.Bool(true), ReportFormats: &[]cdknag.NagReportFormat{cdknag.NagReportFormat_JSON},
	}), nil)
	app.Synth(nil)

	s := &synthesized{}
	raw, err := os.ReadFile(filepath.Join(out, "Bindery.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole any
	if err := json.Unmarshal(raw, &whole); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(forget(whole)); err != nil {
		t.Fatal(err)
	}
	s.raw = b.Bytes()
	if err := json.Unmarshal(s.raw, &s.template); err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Artifacts map[string]struct {
			Properties struct{ TerminationProtection bool }
		}
	}
	read(t, filepath.Join(out, "manifest.json"), &manifest)
	s.protected = manifest.Artifacts["Bindery"].Properties.TerminationProtection
	reports, _ := filepath.Glob(filepath.Join(out, "AwsSolutions-*-NagReport.json"))
	if len(reports) != 1 {
		t.Fatalf("cdk-nag wrote %d reports, want one", len(reports))
	}
	var report struct{ Lines []nagLine }
	read(t, reports[0], &report)
	s.report = report.Lines
	if made.stages == nil {
		made.stages = make(map[string]*synthesized)
	}
	made.stages[key] = s
	return s
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}(\.[a-z]+)?$`)

// forget puts a word in for digests of code, which depend on CDK's version
// where the code is CDK's own, and leaves out what suppressions wrote.
func forget(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "Metadata")
		for k, x := range v {
			v[k] = forget(x)
		}
	case []any:
		for i, x := range v {
			v[i] = forget(x)
		}
	case string:
		if digest.MatchString(v) {
			return "DIGEST"
		}
	}
	return v
}

// placeholders is a folder that looks like bin/functions.
func placeholders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range functions() {
		if err := os.Mkdir(filepath.Join(dir, f.name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name, "bootstrap"), []byte("code of "+f.name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// of gives the resources of a type by their logical ids.
func (s *synthesized) of(kind string) map[string]resourceOf {
	all := make(map[string]resourceOf)
	for id, r := range s.Resources {
		if r.Type == kind {
			all[id] = r
		}
	}
	return all
}

// named gives the one resource of a type whose id begins with name.
func (s *synthesized) named(t *testing.T, kind, name string) (string, resourceOf) {
	t.Helper()
	var id string
	for i := range s.of(kind) {
		if strings.HasPrefix(i, name) && (id == "" || len(i) < len(id)) {
			id = i
		}
	}
	if id == "" {
		t.Fatalf("no %s called %s…", kind, name)
	}
	return id, s.Resources[id]
}

// at follows a path of names and numbers into a JSON value; nil where it ends.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}
