package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// What a server says reaches no terminal raw: not in errors, not in progress,
// not in results, with --json or without.
func TestServersTextIsShownAsText(t *testing.T) {
	t.Chdir(t.TempDir()) // downloads are begun here
	const evil = "v\x1b[2J\x07\r\n\u202ecba\u009b1m\x7f"
	job := api.ExportJob{JobID: "exp_1", Status: admin.ExportFailed, Domain: evil, Version: evil, Failure: &api.Failure{Code: evil, Message: evil}}
	link := evil
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/static-export/jobs/exp_1", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(job)
	})
	mux.HandleFunc("/v1/static-export/jobs/exp_2", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Bindery-Error-Code"] = []string{"a\u009b\tb"}
		w.Header()["Request-Id"] = []string{"\u202e"}
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(api.ErrorBody{Error: evil})
	})
	mux.HandleFunc("/v1/static-export/jobs/exp_1/bundle", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(api.BundleLink{JobID: evil, Version: evil, SHA256: evil, BundleURL: evil})
	})
	mux.HandleFunc("/v2/agent/prj_1/job/job_1", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(api.AgentJob{ID: evil, Model: evil, PRLink: &link, Source: api.AgentSource{Repository: evil}})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	getenv := func(name string) string {
		return map[string]string{"BINDERY_URL": server.URL, "BINDERY_ADMIN_KEY": "bnd_secret"}[name]
	}
	for _, c := range []struct {
		args   string
		status admin.ExportStatus
		code   int
	}{
		{"export --job exp_1", admin.ExportFailed, exitJobFailed},
		{"export --job exp_1 --json", admin.ExportFailed, exitJobFailed},
		{"export --job exp_1 --domain d.example", admin.ExportFailed, exitError},
		{"export --job exp_1 --interval 1ms --max-polls 1", "\x1b[31mrunning\u202e", exitTimedOut},
		{"export --job exp_1", admin.ExportCompleted, exitError},
		{"export --job exp_1 --no-download", admin.ExportCompleted, exitDone},
		{"export --job exp_1 --no-download --json", admin.ExportCompleted, exitDone},
		{"export --job exp_2", admin.ExportFailed, exitError},
		{"agent show job_1 --project prj_1", "", exitDone},
		{"agent show job_1 --project prj_1 --json", "", exitDone},
	} {
		job.Status = c.status
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &stdout, &stderr, getenv)
		shown := stdout.String() + stderr.String()
		if code != c.code || !strings.Contains(shown, `\u202e`) && c.status != admin.ExportCompleted {
			t.Errorf("%s: exit code %d: %q", c.args, code, shown)
		}
		if i := strings.IndexFunc(shown, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
			t.Errorf("%s shows %q", c.args, shown[max(0, i-20):])
		}
		if strings.Contains(shown, "\n\u202e") || strings.Contains(shown, "\ncba") || strings.Contains(shown, `\u0007`+"\n") {
			t.Errorf("%s breaks lines: %q", c.args, shown)
		}
	}
}

// What a file of a bundle says is text as well, and JSON stays JSON.
func TestPrintedTextIsShownAsText(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &out, json: true}
	if err := a.print(map[string]int{"code\u202e\x7f\U000e0041": 1}, nil); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "{\n  \"code\\u202e\\u007f\\udb40\\udc41\": 1\n}\n" || !json.Valid(out.Bytes()) {
		t.Errorf("%q", got)
	}
}

// What is said of the next command can be typed as it stands.
func TestCalledFrom(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/local/bin/bindery":                     "bindery",
		"/tmp/go-build2948111/b001/exe/bindery":      "go run ./infra/cmd/bindery",
		"/home/me/.cache/go-build/a1/a1f2-d/bindery": "go run ./infra/cmd/bindery",
	} {
		if got := calledFrom(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
