package cloud

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// update deploys another renderer and another setting over the stack while an
// export runs: that export ends with the functions that it began with, the next
// one has the new ones, and nothing is lost.
func (d *deployment) update(t *testing.T) {
	const domain = "update.example.com"
	d.publish(t, harness.MadeSite(t, 130), domain)
	peace := d.bundleOf(t, d.startJob(t, domain))
	former := d.stepVersions(t)

	gate := d.hold("/shards/")
	defer gate.open()
	running := d.startJob(t, domain)
	gate.met(t)
	began := time.Now()
	if err := d.script(t, "deploy.sh", append(d.otherFunctions(t), "LOCAL_PARAMETERS=RenderConcurrency=3")...); err != nil {
		t.Fatal(err)
	}
	t.Logf("deployed again in %v", time.Since(began).Round(time.Second))
	if status, job, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+running, ""); status != http.StatusOK || job["status"] != "running" {
		t.Fatalf("after the deployment the export is %d %v, want it running", status, job)
	}
	gate.open()

	if got := d.bundleOf(t, running); got != peace {
		t.Errorf("the export over the deployment has the digest %s, that before it %s", got, peace)
	}
	for folder, arns := range d.whoWorkedOn(t, running) {
		for arn := range arns {
			if !former[arn] {
				t.Errorf("%s worked on an export that began before it: %s", folder, arn)
			}
		}
	}
	next := d.startJob(t, domain)
	if got := d.bundleOf(t, next); got == peace {
		t.Error("the next export has the bytes of the former renderer")
	}
	for folder, arns := range d.whoWorkedOn(t, next) {
		for arn := range arns {
			if former[arn] {
				t.Errorf("%s of before worked on an export of after: %s", folder, arn)
			}
		}
	}
	var machine struct{ Definition string }
	raw := d.request(t, "states", "POST", "/", fmt.Sprintf(`{"stateMachineArn":%q}`, d.stack.StateMachine),
		map[string]string{"X-Amz-Target": "AWSStepFunctions.DescribeStateMachine", "Content-Type": "application/x-amz-json-1.0"})
	if err := json.Unmarshal(raw, &machine); err != nil || !regexp.MustCompile(`"MaxConcurrency":\s*3\b`).MatchString(machine.Definition) {
		t.Errorf("the parameter is not in the workflow (%v)", err)
	}
	// What was made before is there.
	if got := d.bundleOf(t, running); got != peace {
		t.Error("the bundle of before is another one")
	}
	if got := d.projectOf(t, cloudDomain); got.Organisation != d.org.ID {
		t.Errorf("the project is %v", got)
	}
}

// bundleOf waits for a job and gives the digest of its bundle.
func (d *deployment) bundleOf(t *testing.T, id string) string {
	t.Helper()
	if job := d.wait(t, id, 3*time.Minute); job["status"] != "completed" {
		t.Fatalf("the job is %v", job)
	}
	status, link, _ := d.Call(t, "POST", "/v1/static-export/jobs/"+id+"/bundle", "")
	if status != http.StatusOK {
		t.Fatalf("the bundle: %d %v", status, link)
	}
	return link["sha256"].(string)
}

// otherFunctions returns what makes deploy.sh deploy functions of another renderer.
// If programs were linked for all tests, it links only those that differ.
func (d *deployment) otherFunctions(t *testing.T) (env []string) {
	t.Helper()
	flags := "GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + otherRenderer(t)
	linked := outside.Programs(t, "functions-"+runtime.GOARCH)
	if linked == "" {
		return []string{flags}
	}
	d.programs = filepath.Join(d.dir, "functions")
	programs, err := filepath.Glob(filepath.Join(linked, "*", "bootstrap"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("programs: %v, %v", programs, err)
	}
	names := append(slices.Clone(workflowSteps), "failexport", "reconcile")
	for _, program := range programs {
		name := filepath.Base(filepath.Dir(program))
		if err := os.MkdirAll(filepath.Join(d.programs, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(names, name) {
			continue
		}
		file := filepath.Join(d.programs, name, "bootstrap")
		if err := os.Link(program, file); err == nil {
			continue
		}
		data, err := os.ReadFile(program) // of another file system
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("make", "--no-print-directory", "-C", outside.Checkout(t), "functions", "ARCH="+runtime.GOARCH,
		"FUNCTIONS="+d.programs, "ONLY="+strings.Join(names, " "))
	build.Env = append(os.Environ(), flags)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make functions: %v\n%s", err, out)
	}
	return []string{"LOCAL_FUNCTIONS=" + d.programs}
}

// otherRenderer writes a file for -overlay that puts another version of the
// renderer, and of what looks after exports, into what is built: all functions
// of the workflow and around it begin anew.
func otherRenderer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for i, change := range []struct{ file, old, new string }{
		{"shared/service/export/renderer.go", `const rendererVersion = \d+`, "const rendererVersion = 1_000_000"},
		{"shared/service/job/keeper.go", `opt\.MaxAge, 7\*time\.Hour`, "opt.MaxAge, 8*time.Hour"},
	} {
		file := filepath.Join(outside.Checkout(t), filepath.FromSlash(change.file))
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := regexp.MustCompile(change.old).ReplaceAll(source, []byte(change.new))
		if bytes.Equal(source, changed) {
			t.Fatalf("%s has no %s", change.file, change.old)
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[file], changed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// workflowSteps are the functions that an execution calls while all goes well.
var workflowSteps = []string{"planexport", "rendershard", "assemblebundle"}

// stepVersions gives the published versions of the steps' functions.
func (d *deployment) stepVersions(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for folder, versions := range d.functions(t) {
		if !slices.Contains(workflowSteps, folder) {
			continue
		}
		for _, f := range versions {
			if version := f.FunctionArn[strings.LastIndex(f.FunctionArn, ":")+1:]; strings.Trim(version, "0123456789") == "" {
				all[f.FunctionArn] = true
			}
		}
	}
	if len(all) < len(workflowSteps) {
		t.Fatalf("the versions of the steps are %v", all)
	}
	return all
}

// whoWorkedOn gives the versions of the steps' functions that touched objects
// of an export, by folder; each step has to be there.
func (d *deployment) whoWorkedOn(t *testing.T, id string) map[string]map[string]bool {
	t.Helper()
	signers := d.signers(t)
	calls, _ := d.proxy.all()
	all := map[string]map[string]bool{}
	for _, c := range calls {
		s := signers[c.signer]
		if !strings.HasPrefix(c.object, "exports/"+id+"/") || !slices.Contains(workflowSteps, s.folder) {
			continue
		}
		if all[s.folder] == nil {
			all[s.folder] = map[string]bool{}
		}
		all[s.folder][s.arn] = true
	}
	if len(all) != len(workflowSteps) {
		t.Errorf("on %s worked only %v", id, slices.Collect(maps.Keys(all)))
	}
	return all
}

// cdk runs the CDK's CLI on the local cloud.
func (d *deployment) cdk(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.Command(outside.Tool(t, "the CDK's program", "npm", "node_modules", ".bin", "cdk"), args...)
	cmd.Dir = outside.Checkout(t)
	cmd.Env = append(os.Environ(), "AWS_DEFAULT_REGION="+localRegion, "AWS_EC2_METADATA_DISABLED=true", "CDK_DISABLE_CLI_TELEMETRY=1")
	out, err := cmd.CombinedOutput()
	t.Logf("cdk %s: %v", args[0], err)
	return out, err
}

// destroy removes the stack with all that it has. Its buckets have to be empty
// for that: in dev a function of CDK's empties them, which a local cloud can't
// run, so the test does.
func (d *deployment) destroy(t *testing.T) {
	objects := d.objects()
	for _, prefix := range []string{"orgs/", "exports/", "agents/", "agentreviews/"} {
		for {
			list, err := objects.List(t.Context(), prefix, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			var keys []string
			for _, o := range list {
				keys = append(keys, o.Key)
			}
			if err := objects.Delete(t.Context(), keys...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, err := d.cdk(t, "destroy", "--app", filepath.Join(d.dir, "cdk"), "--force"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := stack.Read(t.Context(), d.aws, d.stack.Name); !errors.Is(err, stack.ErrNotFound) {
		t.Errorf("the stack is there: %v", err)
	}
	for _, kept := range d.kept(t, d.stack) {
		t.Errorf("%s is still there", kept)
	}
	for folder := range d.functions(t) {
		t.Errorf("the function %s is still there", folder)
	}
}

// kept tells which of a stack's table and buckets are there.
func (d *deployment) kept(t *testing.T, s stack.Stack) []string {
	t.Helper()
	tables := d.request(t, "dynamodb", "POST", "/", "{}", map[string]string{"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"})
	buckets := d.request(t, "s3", "GET", "/", "", nil)
	var there []string
	for name, list := range map[string][]byte{s.Table: tables, s.SourcesBucket: buckets, s.ExportsBucket: buckets} {
		if bytes.Contains(list, []byte(`"`+name+`"`)) || bytes.Contains(list, []byte("<Name>"+name+"</Name>")) {
			there = append(there, name)
		}
	}
	slices.Sort(there)
	return there
}

// destroyProduction deploys the stage prod, without the web ACL, the alarms and
// the looks of the sign-in pages, which can't be deployed here, and destroys it: it is protected, and once it is
// not, table and buckets stay with what is in them.
func (d *deployment) destroyProduction(t *testing.T) {
	app := filepath.Join(d.dir, "prod")
	arch := map[string]string{"arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		arch = "x86_64"
	}
	if out, err := d.cdk(t, "synth", "-q", "-c", "stage=prod", "-c", "waf=false", "-c", "arch="+arch, "-c", "functions="+d.programs, "-o", app); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	leaveOut(t, app, "AWS::Cognito::ManagedLoginBranding", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::Dashboard")
	if out, err := d.cdk(t, "deploy", "--app", app, "--require-approval", "never"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prod, err := stack.Read(t.Context(), d.aws, "Bindery-prod")
	if err != nil {
		t.Fatal(err)
	}
	service := admin.New(admin.Options{Store: dynamo.New(d.aws, dynamo.Options{Table: prod.Table})})
	org, err := service.CreateOrganisation(t.Context(), admin.Organisation{Name: "Customer", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := d.cdk(t, "destroy", "--app", app, "--force"); err == nil {
		t.Errorf("production was destroyed at once:\n%s", out)
	}
	formation := cloudformation.NewFromConfig(d.aws)
	if _, err := formation.UpdateTerminationProtection(t.Context(), &cloudformation.UpdateTerminationProtectionInput{
		StackName: &prod.Name, EnableTerminationProtection: aws.Bool(false),
	}); err != nil {
		t.Fatal(err)
	}
	if out, err := d.cdk(t, "destroy", "--app", app, "--force"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := stack.Read(t.Context(), d.aws, prod.Name); !errors.Is(err, stack.ErrNotFound) {
		t.Errorf("the stack is there: %v", err)
	}
	if there := d.kept(t, prod); len(there) != 3 {
		t.Errorf("of table and buckets there are only %v", there)
	}
	if _, err := service.GetOrganisation(t.Context(), org.ID); err != nil {
		t.Errorf("a record of before: %v", err)
	}
}

// updateFromBefore deploys the template of the release before and updates it to
// this one: callers find the API where it was, and operators what they had.
func (d *deployment) updateFromBefore(t *testing.T) {
	const name = "Bindery-before"
	formation := cloudformation.NewFromConfig(d.aws)
	now := readTemplate(t, filepath.Join(d.dir, "cdk", "Bindery.template.json"))
	packed, err := os.Open(filepath.Join(outside.Checkout(t), "infra", "testdata", "before", "local.template.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var old map[string]any
	if err := json.NewDecoder(unpacked).Decode(&old); err != nil {
		t.Fatal(err)
	}
	// The programs are this release's, in both: the template is what changes.
	// Lambda refuses a new version of a function that is the same.
	for id, r := range old["Resources"].(map[string]any) {
		if r := r.(map[string]any); r["Type"] == "AWS::Lambda::Function" {
			code := now["Resources"].(map[string]any)[id].(map[string]any)["Properties"].(map[string]any)["Code"]
			r["Properties"].(map[string]any)["Code"] = code
			r["Properties"].(map[string]any)["Description"] = "of before"
		}
	}
	// CloudFormation takes so long a template from a bucket alone.
	stored := func(name string, template map[string]any) *string {
		b, err := json.Marshal(template)
		if err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprintf("/cdk-hnb659fds-assets-%s-%s/%s.json", localAccount, localRegion, name)
		d.request(t, "s3", "PUT", at, string(b), nil)
		return aws.String(d.endpoint + at)
	}
	able := []types.Capability{types.CapabilityCapabilityIam}
	if _, err := formation.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: aws.String(name), TemplateURL: stored("before", old), Capabilities: able}); err != nil {
		t.Fatal(err)
	}
	first := d.settled(t, name, "CREATE_COMPLETE")
	service := admin.New(admin.Options{Store: dynamo.New(d.aws, dynamo.Options{Table: first.Table})})
	org, err := service.CreateOrganisation(t.Context(), admin.Organisation{Name: "Customer", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := service.CreateKey(t.Context(), admin.KeyRequest{Organisation: org.ID, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	caller := deployment{Up: harness.Up{URL: d.endpoint + "/restapis/" + first.Outputs["ApiId"] + "/local/_user_request_"}, client: d.client}
	answers := func() (all []string) {
		for _, c := range []struct{ method, path, key string }{
			{"GET", "/v2", ""}, {"GET", "/v1", key}, {"PATCH", "/v1/static-export/jobs", key}, {"POST", "/v1/static-export/jobs", ""},
			{"GET", "/v1/sites/docs.example.com/snapshots/latest", key}, {"GET", "/v1/static-export/jobs/exp_0", "nonsense"}, {"GET", "/openapi.json", ""},
		} {
			header := map[string]string{"Content-Type": "application/json"}
			if c.key != "" {
				header["Authorization"] = "Bearer " + c.key
			}
			status, code := caller.ask(t, c.method, c.path, "", header)
			all = append(all, fmt.Sprint(c.method, " ", c.path, " ", status, " ", code))
		}
		return all
	}
	want := answers()
	if len(want) != 7 || want[4] != "GET /v1/sites/docs.example.com/snapshots/latest 404 domain_not_found" {
		t.Fatalf("before the update: %v", want)
	}

	if _, err := formation.UpdateStack(t.Context(), &cloudformation.UpdateStackInput{StackName: aws.String(name), TemplateURL: stored("now", now), Capabilities: able}); err != nil {
		t.Fatal(err)
	}
	second := d.settled(t, name, "UPDATE_COMPLETE")
	for _, output := range []string{"ApiId", "ApiUrl", "TableName", "SourcesBucket", "ExportsBucket", "StateMachineArn", "SignerRole", "DeadLetterQueue"} {
		if first.Outputs[output] != second.Outputs[output] {
			t.Errorf("%s was %s and is %s", output, first.Outputs[output], second.Outputs[output])
		}
	}
	groups := strings.Fields(second.Outputs["RequestLogGroups"])
	for _, group := range strings.Fields(first.Outputs["RequestLogGroups"]) {
		if !slices.Contains(groups, group) { // those of new functions are there too
			t.Errorf("the log group %s is not among %v", group, groups)
		}
	}
	want[2] = "PATCH /v1/static-export/jobs 405 method_not_allowed" // the release before has no function for it: 404
	if got := answers(); !slices.Equal(want, got) {
		t.Errorf("the API answered\n%v\nand after the update\n%v", want, got)
	}
	if _, err := service.GetOrganisation(t.Context(), org.ID); err != nil {
		t.Errorf("a record of before: %v", err)
	}
	if _, err := formation.DeleteStack(t.Context(), &cloudformation.DeleteStackInput{StackName: aws.String(name)}); err != nil {
		t.Fatal(err)
	}
}

// settled waits until a stack has a state, and reads it.
func (d *deployment) settled(t *testing.T, name, status string) stack.Stack {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		s, err := stack.Read(t.Context(), d.aws, name)
		if err == nil && s.Status == status {
			return s
		}
		if time.Now().After(deadline) || strings.Contains(s.Status, "ROLLBACK") || strings.Contains(s.Status, "FAILED") {
			t.Fatalf("the stack is %s, %v, want %s%s", s.Status, err, status, d.failedResources(name))
		}
	}
}

// failedResources says why the resources of a stack failed.
func (d *deployment) failedResources(name string) string {
	why := ""
	pages := cloudformation.NewDescribeStackEventsPaginator(cloudformation.NewFromConfig(d.aws), &cloudformation.DescribeStackEventsInput{StackName: &name})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			return why + "; " + err.Error()
		}
		for _, e := range out.StackEvents {
			if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") {
				why += fmt.Sprintf("; %s: %s", aws.ToString(e.LogicalResourceId), aws.ToString(e.ResourceStatusReason))
			}
		}
	}
	return why
}

func readTemplate(t *testing.T, file string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var template map[string]any
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	return template
}

// leaveOut takes resources of some types out of a synthesized template.
func leaveOut(t *testing.T, app string, kinds ...string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(app, "*.template.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("templates: %v %v", found, err)
	}
	template := readTemplate(t, found[0])
	maps.DeleteFunc(template["Resources"].(map[string]any), func(_ string, r any) bool {
		return slices.Contains(kinds, r.(map[string]any)["Type"].(string))
	})
	raw, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], raw, fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
}
