package api_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// What the handlers log of a request is what its call is read from.
func TestParseCall(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.log.Reset()
	w.do(x.get("/v1/static-export/jobs/" + x.done))
	w.do(request("GET", "/v1/static-export/jobs/x", "nobody's", ""))
	lines := bytes.Split(bytes.TrimSpace(w.log.Bytes()), []byte("\n"))
	if len(lines) != 2 {
		t.Fatalf("%d lines for two requests: %s", len(lines), w.log)
	}
	mine, ok := api.ParseCall(lines[0])
	if !ok || mine.Organisation != x.ID || mine.Operation != "getExport" || mine.Status != 200 || !mine.Counts() || mine.Time.IsZero() {
		t.Errorf("the call is read as %+v, %v", mine, ok)
	}
	if nobody, ok := api.ParseCall(lines[1]); !ok || nobody.Counts() {
		t.Errorf("a call without a valid key is read as %+v, %v", nobody, ok)
	}
}

func TestParseCallOfOtherLines(t *testing.T) {
	for name, line := range map[string]string{
		"another message": `{"time":"2026-01-31T00:00:00Z","msg":"shard rendered","organisation":"org_1","status":200}`,
		"half a line":     `{"time":"2026-01-31T00:00:00Z","msg":"requ`,
		"no JSON":         `START RequestId: 1`,
		"nothing":         ``,
		"wrong type":      `{"msg":"request","status":"many"}`,
	} {
		if c, ok := api.ParseCall([]byte(line)); ok {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
}

func TestCountedCalls(t *testing.T) {
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		call api.Call
		want bool
	}{
		{api.Call{Time: at, Organisation: "org_1", Status: 202}, true},
		{api.Call{Time: at, Organisation: "org_1", Status: 404}, true},
		{api.Call{Time: at, Organisation: "org_1", Status: 500}, false},
		{api.Call{Time: at, Organisation: "", Status: 401}, false},
		{api.Call{Time: at, Organisation: "org_1"}, false},
	} {
		if got := c.call.Counts(); got != c.want {
			t.Errorf("%+v counts: %v", c.call, got)
		}
	}
}
