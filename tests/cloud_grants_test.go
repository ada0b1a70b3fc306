package tests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// counter counts from many goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// notCalled are rights that the flow can't be made to use here, with the
// reason why they are granted all the same.
var notCalled = map[string]string{
	"rendershard s3:AbortMultipartUpload":    "after an upload in parts that fails half-way",
	"planexport s3:AbortMultipartUpload":     "after an upload in parts that fails half-way",
	"assemblebundle s3:AbortMultipartUpload": "after an upload in parts that fails half-way",
	"createsnapshot s3:ListBucket":           "makes the answer for an upload that is not there 404; no call of its own",
	"publishsnapshot s3:ListBucket":          "makes the answer for an upload that is not there 404; no call of its own",
	"generatebundle s3:ListBucket":           "makes the answer for a bundle that is gone 404; no call of its own",
	"rendershard s3:ListBucket":              "makes the answer for a part that is not there 404; no call of its own",
	"startexport dynamodb:DeleteItem":        "takes the row of an Idempotency-Key back after a failure",
	"generatebundle dynamodb:DeleteItem":     "takes the row of an Idempotency-Key back after a failure",
	"createsnapshot dynamodb:DeleteItem":     "takes the row of an Idempotency-Key back after a failure",
	"publishsnapshot dynamodb:DeleteItem":    "takes the row of an Idempotency-Key back after a failure",
	"reconcile states:StopExecution":         "ends executions that take over seven hours",
	"reconcile dynamodb:DeleteItem":          "removes snapshots past their project's retention",
	"reconcile s3:GetObject":                 "reads manifests of organisations whose packs it sweeps, every six hours",
	"reconcile s3:DeleteObject":              "removes packs that nothing needs, 48 hours after their upload at the earliest",
}

// grantedIsCalled holds the calls that functions have made in all tests before
// against the rights that the template gives them. That nothing was called
// which is not granted the cloud has seen to; that it was seen here shows that
// the recording works.
func (d *deployment) grantedIsCalled(t *testing.T) {
	granted := grantedRights(t)
	called := d.calledRights(t)
	for _, who := range slices.Sorted(maps.Keys(called)) {
		for _, right := range slices.Sorted(maps.Keys(called[who])) {
			if !granted[who][right] {
				t.Errorf("%s calls %s, which it is not granted", who, right)
			}
		}
	}
	rights := 0
	for _, who := range slices.Sorted(maps.Keys(granted)) {
		for _, right := range slices.Sorted(maps.Keys(granted[who])) {
			rights++
			reason, excused := notCalled[who+" "+right]
			switch {
			case called[who][right] && excused && !strings.Contains(reason, "no call of its own"):
				t.Logf("%s calls %s now: its excuse (%s) is not needed in this run", who, right, reason)
			case !called[who][right] && !excused:
				t.Errorf("%s is granted %s and never calls it", who, right)
			}
		}
	}
	if rights < 40 {
		t.Errorf("the template grants only %d rights: is it read right?", rights)
	}
	t.Logf("%d rights granted, %d of them not called here with a reason", rights, len(notCalled))
}

// grantedRights reads the policies that infra makes from its table of grants.
func grantedRights(t *testing.T) map[string]map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository(t), "infra", "testdata", "local.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				PolicyDocument struct {
					Statement []struct{ Action any }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bool{}
	for id, r := range template.Resources {
		who, ok := strings.CutSuffix(strings.TrimRight(id, "0123456789ABCDEF"), "grants")
		if !ok || r.Type != "AWS::IAM::Policy" {
			continue
		}
		all[who] = map[string]bool{}
		for _, s := range r.Properties.PolicyDocument.Statement {
			actions, ok := s.Action.([]any)
			if !ok {
				actions = []any{s.Action}
			}
			for _, a := range actions {
				all[who][fmt.Sprint(a)] = true
			}
		}
	}
	return all
}

// calledRights sorts the recorded calls by who made them.
func (d *deployment) calledRights(t *testing.T) map[string]map[string]bool {
	t.Helper()
	who := map[string]string{}
	for name, versions := range d.functions(t) {
		for _, f := range versions {
			// MiniStack makes a function's access key of these two.
			for _, arn := range []string{f.FunctionArn, strings.TrimSuffix(f.FunctionArn, ":$LATEST"), f.FunctionArn + ":$LATEST"} {
				sum := sha256.Sum256([]byte(arn + ":" + f.Role))
				who[fmt.Sprintf("ASIA%s", strings.ToUpper(fmt.Sprintf("%x", sum)[:16]))] = name
			}
		}
	}
	calls, signers := d.proxy.all()
	for key, role := range signers {
		for _, name := range []string{"signer", "uploader"} {
			if strings.Contains(role, "-"+name) {
				who[key] = name
			}
		}
	}
	called, strangers := map[string]map[string]bool{}, map[string]int{}
	for _, c := range calls {
		name := who[c.key]
		if name == "" {
			strangers[c.key+" "+c.service]++
			continue
		}
		if called[name] == nil {
			called[name] = map[string]bool{}
		}
		for _, action := range c.actions {
			called[name][c.service+":"+action] = true
		}
	}
	if len(strangers) > 0 {
		t.Errorf("calls of nobody known: %v", strangers)
	}
	return called
}
