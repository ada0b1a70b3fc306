package functions_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestFunctionsLinkOnlyWhatTheyCall holds which clients of AWS each function
// carries: each costs its part of every cold start.
func TestFunctionsLinkOnlyWhatTheyCall(t *testing.T) {
	const sdk = "github.com/aws/aws-sdk-go-v2"
	var (
		records   = []string{"dynamodb"}
		started   = []string{"dynamodb", "sfn"}
		objects   = []string{"dynamodb", "s3", "sts"}
		allOfThem = []string{"dynamodb", "s3", "sfn", "sts"}
	)
	want := map[string][]string{
		"listexports": records, "cancelexport": started, "listfindings": objects, "listsnapshots": records, "restoresnapshot": objects,
		"getorganisation": records, "listprojects": records, "getusage": records,
		"openapi": nil, "getagentjob": records, "listagentjobs": records, "listagentevents": records, "cancelagentjob": records, "archiveagentjob": records,
		"startagentjob": started, "messageagentjob": started, "getexport": records, "startexport": started,
		"createsnapshot": objects, "publishsnapshot": objects, "latestsnapshot": objects, "generatebundle": objects,
		"planexport": objects, "rendershard": objects, "assemblebundle": objects, "failexport": objects, "reconcile": allOfThem,
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+name).Output()
			check(t, err)
			var clients []string
			any := false
			for pkg := range strings.Lines(string(out)) {
				pkg = strings.TrimSpace(pkg)
				any = any || strings.HasPrefix(pkg, sdk)
				if client, ok := strings.CutPrefix(pkg, sdk+"/service/"); ok && !strings.Contains(client, "/") {
					clients = append(clients, client)
				}
			}
			slices.Sort(clients)
			if !slices.Equal(clients, want[name]) {
				t.Errorf("it links the clients of %v, want %v", clients, want[name])
			}
			if any && want[name] == nil {
				t.Error("it links the SDK, and calls nothing")
			}
		})
	}
}
