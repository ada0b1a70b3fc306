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
	// Of the agent's secrets, a function links what opens its own alone; and what
	// starts a round does not carry the renderer that checks.
	apart := map[string][]string{
		"agentprepare":    {"service/agent/setup/models"},
		"agentpublish":    {"service/agent/setup/models"},
		"agentwork":       {"service/forge", "service/agent/pull", "service/cloud/kmsstore", "service/cloud/secretrow"},
		"agentfail":       {"service/forge", "service/agent", "service/cloud/kmsstore", "service/cloud/secretvalue"},
		"startagentjob":   {"service/agent", "render/check", "service/cloud/kmsstore", "service/cloud/secretvalue"},
		"messageagentjob": {"service/agent", "render/check", "service/cloud/kmsstore", "service/cloud/secretvalue"},
	}
	want := map[string][]string{
		"listexports": records, "cancelexport": started, "listfindings": objects, "listsnapshots": records, "restoresnapshot": objects,
		"getorganisation": records, "listprojects": records, "getusage": records,
		"openapi": nil, "getagentjob": records, "listagentjobs": records, "listagentevents": records, "cancelagentjob": records, "archiveagentjob": records,
		"getwebhooks": records, "createwebhook": records, "deletewebhook": records, "rotatewebhooksecret": records, "listdeliveries": records,
		"redeliver": records, "deliverwebhooks": records,
		"startagentjob": started, "messageagentjob": started, "getexport": records, "startexport": started,
		"createsnapshot": objects, "publishsnapshot": objects, "latestsnapshot": objects, "generatebundle": objects,
		"agentprepare": {"dynamodb", "kms", "s3", "sts"}, "agentwork": objects, "agentpublish": {"dynamodb", "kms", "s3", "sts"}, "agentfail": records,
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
			for _, room := range apart[name] {
				if strings.Contains(string(out), "bindery/shared/"+room+"\n") {
					t.Errorf("it links %s", room)
				}
			}
			if any && want[name] == nil {
				t.Error("it links the SDK, and calls nothing")
			}
		})
	}
}
