package cloud

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// grantedIsCalled holds the calls that functions have made in all tests before
// against the rights that the template gives them, action by action and
// resource by resource, in both directions: what is called is granted, which
// the cloud has enforced too, and of what is granted there is nothing that is
// never called. Logs, traces and dead letters are aside, which no program calls
// by itself.
func (d *deployment) grantedIsCalled(t *testing.T) {
	granted := d.grantedRights(t)
	called := d.calledRights(t)
	if len(granted) < 10 {
		t.Errorf("the template grants rights to %d only: is it read right?", len(granted))
	}
	for _, who := range slices.Sorted(maps.Keys(called)) {
		for c := range called[who] {
			if !slices.ContainsFunc(granted[who], func(g right) bool { return g.covers(c) }) {
				t.Errorf("%s calls %s on %s, which it is not granted", who, c.action, c.resource)
			}
		}
	}
	rights, calls := 0, 0
	for _, who := range slices.Sorted(maps.Keys(granted)) {
		calls += len(called[who])
		for _, g := range granted[who] {
			rights++
			if g.action == "s3:PutObject" && who == "assemblebundle" && strings.HasSuffix(g.resource, "/search/*") {
				// Terms are merged on the way where there are more than 32 shards:
				// the tests of package export do that, on smaller ones than a
				// site of 320 MiB has.
				continue
			}
			if g.action == "s3:DeleteObject" && who == "planexport" && strings.HasSuffix(g.resource, "/kept/*") {
				continue // of what is damaged: the tests of package kept do that
			}
			if g.action == "s3:AbortMultipartUpload" && (who == "agentprepare" || who == "agentwork") {
				// Only a repository with megabytes of text goes up in parts; that parts
				// are taken back, the exports' steps show.
				continue
			}
			if g.action == "s3:AbortMultipartUpload" && (who == "failexport" || who == "reconcile") {
				// Only a bundle of more than 32 MiB that was never completed is taken
				// back by who ends its job: the tests of package export do that.
				continue
			}
			if g.action == "s3:ListBucket" && (who == "agentprepare" || who == "agentwork" || who == "agentreview" || who == "agentpublish") {
				// With it, S3 says of an object that is gone that it is not found, and
				// not that access is denied: nothing is gone here.
				continue
			}
			if (g.action == "s3:PutObject" || g.action == "s3:AbortMultipartUpload") && who == "agentpublish" {
				// It writes only after a conflict with changes that people push: the tests
				// of package agent do that.
				continue
			}
			if g.action == "s3:DeleteObject" && who == "reconcile" && (strings.HasSuffix(g.resource, "/agents/*") || strings.HasSuffix(g.resource, "/agentreviews/*")) {
				// Objects of rounds go when their job is archived, or after 14 days: the
				// tests of package job do that.
				continue
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(called[who])), g.covers) {
				t.Errorf("%s is granted %s on %s and never calls it", who, g.action, g.resource)
			}
		}
	}
	if rights < 60 {
		t.Errorf("the template grants only %d rights: is it read right?", rights)
	}
	t.Logf("%d rights granted, each of them called; %d different calls recorded", rights, calls)
}

// covers tells whether a policy that grants g allows the call c.
func (g right) covers(c right) bool {
	if g.action != c.action {
		return false
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(g.resource), `\*`, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(c.resource)
}

// grantedRights reads, in the template that was deployed, the policies that
// infra makes from its table of grants.
func (d *deployment) grantedRights(t *testing.T) map[string][]right {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(d.dir, "cdk", "*.template.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("templates: %v %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	type policy struct {
		PolicyDocument struct {
			Statement []struct{ Action, Resource any }
		}
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	physical := d.physical(t)
	all := map[string][]right{}
	grant := func(role string, p policy) {
		who, ok := strings.CutSuffix(strings.TrimRight(role, "0123456789ABCDEF"), "role")
		if !ok {
			return // the workflow's, and CDK's own
		}
		for _, s := range p.PolicyDocument.Statement {
			for _, action := range oneOrMore(s.Action) {
				if service, _, _ := strings.Cut(fmt.Sprint(action), ":"); service == "logs" || service == "xray" || service == "sqs" {
					continue
				}
				if strings.HasPrefix(fmt.Sprint(action), "dynamodb:") && !strings.Contains("GetItem PutItem Query DeleteItem", strings.TrimPrefix(fmt.Sprint(action), "dynamodb:")) {
					continue // Lambda itself reads the table's stream with these
				}
				for _, resource := range oneOrMore(s.Resource) {
					all[who] = append(all[who], right{fmt.Sprint(action), resolve(t, resource, physical)})
				}
			}
		}
	}
	for id, r := range template.Resources {
		if !strings.HasPrefix(r.Type, "AWS::IAM::") {
			continue // other things have policies of other kinds
		}
		var about struct {
			policy
			Policies []policy
			Roles    []struct{ Ref string }
		}
		if err := json.Unmarshal(r.Properties, &about); err != nil {
			t.Fatal(err)
		}
		for _, p := range about.Policies {
			grant(id, p)
		}
		for _, role := range about.Roles {
			grant(role.Ref, about.policy)
		}
	}
	return all
}

func oneOrMore(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// physical gives what the stack's resources are called, as CloudFormation's Ref
// does, and their ARNs, by "id" and "id.Arn" for each logical id.
func (d *deployment) physical(t *testing.T) map[string]string {
	t.Helper()
	out, err := cloudformation.NewFromConfig(d.aws).DescribeStackResources(t.Context(), &cloudformation.DescribeStackResourcesInput{StackName: &d.stack.Name})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"AWS::Partition": "aws", "AWS::Region": localRegion, "AWS::AccountId": localAccount}
	for _, r := range out.StackResources {
		id, name := *r.LogicalResourceId, aws.ToString(r.PhysicalResourceId)
		all[id] = name
		switch *r.ResourceType {
		case "AWS::DynamoDB::Table":
			all[id+".Arn"] = fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", localRegion, localAccount, name)
		case "AWS::S3::Bucket":
			all[id+".Arn"] = "arn:aws:s3:::" + name
		case "AWS::IAM::Role":
			all[id+".Arn"] = fmt.Sprintf("arn:aws:iam::%s:role/%s", localAccount, name)
		case "AWS::Lambda::Function":
			all[id+".Arn"] = fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", localRegion, localAccount, name)
		case "AWS::KMS::Key":
			all[id+".Arn"] = fmt.Sprintf("arn:aws:kms:%s:%s:key/%s", localRegion, localAccount, name)
		case "AWS::SecretsManager::Secret":
			all[id+".Id"] = d.stack.Outputs["ModelSecretArn"]
			if strings.HasPrefix(id, "GitHubAppKey") {
				all[id+".Id"] = d.stack.Outputs["GitHubAppSecretArn"]
			}
			if strings.HasPrefix(id, "OidcClientSecret") {
				all[id+".Id"] = d.stack.Outputs["OidcSecretArn"]
			}
		case "AWS::StepFunctions::StateMachine":
			all[id+".Name"] = name[strings.LastIndex(name, ":")+1:]
		}
	}
	return all
}

// resolve gives the text that a value of a template stands for.
func resolve(t *testing.T, v any, physical map[string]string) string {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprint(v)
	}
	name := ""
	for function, args := range m {
		list, _ := args.([]any)
		switch function {
		case "Ref":
			name = fmt.Sprint(args)
		case "Fn::GetAtt":
			name = fmt.Sprintf("%v.%v", list[0], list[1])
		case "Fn::Join":
			var texts []string
			for _, x := range list[1].([]any) {
				texts = append(texts, resolve(t, x, physical))
			}
			return strings.Join(texts, list[0].(string))
		}
	}
	if physical[name] == "" {
		t.Fatalf("what is %v?", v)
	}
	return physical[name]
}

// calledRights sorts the recorded calls by who made them.
func (d *deployment) calledRights(t *testing.T) map[string]map[right]bool {
	t.Helper()
	who := map[string]string{}
	for key, f := range d.signers(t) {
		who[key] = f.folder
	}
	calls, roles := d.proxy.all()
	for key, role := range roles {
		for _, name := range []string{"signer", "uploader"} {
			if strings.Contains(role, "-"+name) {
				who[key] = name
			}
		}
	}
	called, strangers := map[string]map[right]bool{}, map[string]int{}
	for _, c := range calls {
		name := who[c.signer]
		if name == "" {
			strangers[c.signer+" "+c.service]++
			continue
		}
		if called[name] == nil {
			called[name] = map[right]bool{}
		}
		for _, r := range c.rights {
			called[name][r] = true
		}
	}
	if len(strangers) > 0 {
		t.Errorf("calls of nobody known: %v", strangers)
	}
	return called
}

// signer is a version of a function, with the name of its folder.
type signer struct{ folder, arn string }

// signers gives the versions of functions by the access keys that MiniStack
// makes for them, of a version's address and its role.
func (d *deployment) signers(t *testing.T) map[string]signer {
	t.Helper()
	all := map[string]signer{}
	for name, versions := range d.functions(t) {
		for _, f := range versions {
			for _, arn := range []string{f.FunctionArn, strings.TrimSuffix(f.FunctionArn, ":$LATEST"), f.FunctionArn + ":$LATEST"} {
				sum := sha256.Sum256([]byte(arn + ":" + f.Role))
				all[fmt.Sprintf("ASIA%s", strings.ToUpper(fmt.Sprintf("%x", sum)[:16]))] = signer{name, arn}
			}
		}
	}
	return all
}
