package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
)

// stage is a kind of deployment.
type stage string

const (
	// stageDev goes without a trace when it is destroyed.
	stageDev stage = "dev"
	// stageProd keeps table and buckets whatever happens to the stack.
	stageProd stage = "prod"
	// stageLocal is dev without what local clouds can't deploy, for this
	// machine's processor.
	stageLocal stage = "local"
)

// settings are what a stack is made from. Only newSettings and settingsFrom
// make them.
type settings struct {
	stage stage
	// stack is the stack's name.
	stack string
	// functions is the folder with the code: a folder with a bootstrap in it
	// for each function.
	functions string
	// runbook is the address of the page that alarms point at.
	runbook string
	arch    awslambda.Architecture
	// waf puts a web ACL before the API.
	waf bool
	// domain is the name that callers use for the API, and certificate the
	// address (ARN) of its certificate in the stack's region; empty for API
	// Gateway's own name.
	domain, certificate string
	// key is the address (ARN) of the customer's KMS key that table, buckets and
	// credentials are encrypted with; empty for AWS's own keys, and for one of the
	// stack for credentials.
	key string
	// keep makes table and buckets outlive the stack.
	keep bool
	// protect has DynamoDB refuse to delete the table.
	protect bool
	// table is the name of a table that is there and takes the place of the
	// stack's own, as after a restore; empty for that.
	table string
	// The rest is off where a local cloud can't do it.

	// emptyBuckets removes the objects of buckets that go with the stack.
	emptyBuckets bool
	// richAlarms makes alarms over sums of metrics, and one over all alarms.
	richAlarms bool
}

// defaultRunbook is the page in this repository.
const defaultRunbook = "https://github.com/bindery-docs/bindery/blob/main/infra/docs/operate/runbook.mdx"

// newSettings returns a stage's settings as they are without context.
func newSettings(name stage) (settings, error) {
	s := settings{
		stage: name, stack: "Bindery-" + string(name), functions: filepath.Join("bin", "functions"), runbook: defaultRunbook,
		arch: awslambda.Architecture_ARM_64(), richAlarms: true,
	}
	switch name {
	case stageDev:
		s.emptyBuckets = true
	case stageProd:
		s.keep, s.protect, s.waf = true, true, true
	case stageLocal:
		s.arch, s.richAlarms = awslambda.Architecture_X86_64(), false
	default:
		return settings{}, fmt.Errorf("context stage: %q is none of dev, prod, local", name)
	}
	return s, nil
}

// settingsFrom reads the context, which the cdk CLI gives as text (-c) or as
// the JSON value of cdk.json.
func settingsFrom(context func(name string) any) (settings, error) {
	text := func(name string) string {
		if v := context(name); v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	name := stageDev
	if v := text("stage"); v != "" {
		name = stage(v)
	}
	s, err := newSettings(name)
	if err != nil {
		return settings{}, err
	}
	for name, to := range map[string]*bool{"waf": &s.waf, "protect": &s.protect} {
		switch v := text(name); v {
		case "":
		case "true", "false":
			*to = v == "true"
		default:
			return settings{}, fmt.Errorf("context %s: %q is neither true nor false", name, v)
		}
	}
	if s.waf && name == stageLocal {
		return settings{}, errors.New("context waf: local clouds have no web ACL for an API")
	}
	switch v := text("arch"); v {
	case "":
	case "arm64":
		s.arch = awslambda.Architecture_ARM_64()
	case "x86_64":
		s.arch = awslambda.Architecture_X86_64()
	default:
		return settings{}, fmt.Errorf("context arch: %q is neither arm64 nor x86_64", v)
	}
	if v := text("stack"); v != "" {
		s.stack = v
	}
	if v := text("runbook"); v != "" {
		if u, err := url.Parse(v); err != nil || u.Scheme != "https" || u.Host == "" {
			return settings{}, fmt.Errorf("context runbook: %q is not an https address", v)
		}
		s.runbook = v
	}
	if s.table = text("table"); s.table != "" && !tableName.MatchString(s.table) {
		return settings{}, fmt.Errorf("context table: %q is not the name of a table", s.table)
	}
	s.domain, s.certificate, s.key = text("domain"), text("certificate"), text("key")
	if err := s.checkOwned(); err != nil {
		return settings{}, err
	}
	if v := text("functions"); v != "" {
		s.functions = v
	}
	for _, f := range functions() {
		file := filepath.Join(s.functions, f.name, "bootstrap")
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			return settings{}, fmt.Errorf("%s is not there: run make functions first", file)
		}
	}
	return s, nil
}

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// checkOwned checks what an account has of its own: domain, certificate, key.
func (s settings) checkOwned() error {
	switch {
	case (s.domain == "") != (s.certificate == ""):
		return errors.New("context domain and certificate: each needs the other")
	case s.certificate != "" && !isARN(s.certificate, "acm", "certificate/"):
		return fmt.Errorf("context certificate: %q is not the ARN of a certificate", s.certificate)
	case s.key != "" && !isARN(s.key, "kms", "key/"):
		return fmt.Errorf("context key: %q is not the ARN of a KMS key; an alias is not one", s.key)
	case s.stage == stageLocal && (s.domain != "" || s.key != ""):
		return errors.New("context domain and key: local clouds have neither")
	}
	return nil
}

// isARN reports whether s is an ARN of the service whose resource has the prefix:
// arn:partition:service:region:account:resource.
func isARN(s, service, prefix string) bool {
	parts := strings.SplitN(s, ":", 6)
	return len(parts) == 6 && parts[0] == "arn" && parts[2] == service && parts[3] != "" && parts[4] != "" &&
		strings.HasPrefix(parts[5], prefix) && len(parts[5]) > len(prefix)
}

// removal is what becomes of table, buckets and logs with the stack.
func (s settings) removal() awscdk.RemovalPolicy {
	if s.keep {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// accountRemoval is what becomes of API Gateway's logging role with the stack.
// An account has one in a region for all its APIs, the one that was set last:
// another stack's API may be writing its log with it.
func (s settings) accountRemoval() awscdk.RemovalPolicy {
	if s.stage == stageLocal {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}

// logLife is how long logs are kept.
func (s settings) logLife() awslogs.RetentionDays {
	if s.keep {
		return awslogs.RetentionDays_THREE_MONTHS
	}
	return awslogs.RetentionDays_TWO_WEEKS
}
