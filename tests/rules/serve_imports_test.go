package rules

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestServeLinksLittle: bindery-serve runs in other people's clusters, and
// links of the AWS SDK only what reads an object and finds an identity, no
// database and nothing that renders.
func TestServeLinksLittle(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./infra/cmd/bindery-serve")
	list.Dir = outside.Checkout(t)
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const services = "github.com/aws/aws-sdk-go-v2/service/"
	allowed := []string{"s3", "sts", "sso", "ssooidc", "signin", "internal"}
	seen := 0
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, never := range []string{
			"modernc.org", "github.com/dop251", "github.com/evanw", "github.com/alecthomas", "github.com/spf13", "github.com/yuin",
			"github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", "github.com/aws/aws-lambda-go", "net/http/pprof", "testing",
		} {
			if dep == never || strings.HasPrefix(dep, never+"/") {
				t.Errorf("it links %s", dep)
			}
		}
		if service, ok := strings.CutPrefix(dep, services); ok {
			service, _, _ = strings.Cut(service, "/")
			if !contains(allowed, service) {
				t.Errorf("it links %s", dep)
			}
			seen++
		}
		if room, ok := strings.CutPrefix(dep, module); ok && !contains([]string{"infra/cmd/bindery-serve", "shared/delivery/serve", "shared/delivery/site", "shared/delivery/address", "shared/delivery/archive", "shared/delivery/bundle", "shared/base/config", "shared/base/filelock", "shared/base/httpend", "shared/base/json", "shared/base/lazy", "shared/base/redirect", "shared/base/remote"}, room) {
			t.Errorf("it links %s", dep)
		}
	}
	if seen == 0 {
		t.Error("no part of the SDK was found: is the list right?")
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
