package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// TestAnExportSaysWhetherItIsLive: a job that was to go live is followed by a sentence, in
// each way that an export can end.
func TestAnExportSaysWhetherItIsLive(t *testing.T) {
	begin := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	move := func(job, from string) *api.LiveMove { return &api.LiveMove{JobID: job, FromJobID: &from} }
	held := begin.Add(time.Hour)
	const promote = "\n  to make it live: bindery site promote exp_1 --domain docs.example.com\n"
	const page = "https://docs-example-com-8w2k5t.example.com/"
	for _, c := range []struct {
		name string
		live api.Live // exp_0 was started before exp_1, and exp_2 after it
		text string
		want *liveReport
		// later is the live version at the second read; nil for no change.
		later *api.LiveMove
	}{
		{"live", api.Live{Live: move("exp_1", "exp_0")}, "✓ it is live\n", &liveReport{Live: true}, nil},
		{"live, and served", api.Live{URL: page, Live: move("exp_1", "exp_0")}, "✓ it is live at " + page + "\n", &liveReport{Live: true, URL: page}, nil},
		{"replaced", api.Live{Live: move("exp_0", "exp_1"), Held: true, HeldAt: &held, HeldBy: &api.Actor{Kind: "key", ID: "key_1"}},
			"! it is not live: exp_0 has taken its place" + promote, &liveReport{Reason: "exp_0 has taken its place"}, nil},
		{"held", api.Live{URL: page, Live: move("exp_0", ""), Held: true, HeldAt: &held, HeldBy: &api.Actor{Kind: "key", ID: "key_1"}},
			"! it is not live: key key_1 holds the site since 2026-03-14 10:00" + promote, &liveReport{URL: page, Reason: "key key_1 holds the site since 2026-03-14 10:00"}, nil},
		{"manual", api.Live{Deploy: admin.DeployManual}, "! it is not live: the project deploys manually" + promote, &liveReport{Reason: "the project deploys manually"}, nil},
		{"a newer one", api.Live{Live: move("exp_2", "exp_0")}, "! it is not live: exp_2, which was started later, is live" + promote,
			&liveReport{Reason: "exp_2, which was started later, is live"}, nil},
		{"an older one", api.Live{Live: move("exp_0", "")}, "! it is not live: the bundle was cut, a later version", nil, nil},
		{"moved after the completion", api.Live{Live: move("exp_0", "")}, "✓ it is live\n", &liveReport{Live: true}, move("exp_1", "exp_0")},
		{"none", api.Live{}, "! it is not live: the bundle was cut", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			unchanged, marked, reads := false, true, 0
			mux := http.NewServeMux()
			job := func(id string, after time.Duration) {
				mux.HandleFunc("/v1/static-export/jobs/"+id, func(w http.ResponseWriter, _ *http.Request) {
					_ = json.NewEncoder(w).Encode(api.ExportJob{
						JobID: id, Status: admin.ExportCompleted, Progress: 100, Domain: "docs.example.com", Version: "v", GoLive: marked, Unchanged: unchanged, CreatedAt: begin.Add(after),
					})
				})
			}
			job("exp_0", -time.Minute)
			job("exp_1", 0)
			job("exp_2", time.Minute)
			mux.HandleFunc("POST /v1/static-export/jobs", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				_ = json.NewEncoder(w).Encode(api.ExportJob{JobID: "exp_1"})
			})
			mux.HandleFunc("/v1/static-export/jobs/exp_1/bundle", func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(api.BundleLink{JobID: "exp_1", Version: "v", BundleURL: "https://example.com/bundle"})
			})
			mux.HandleFunc("/v1/sites/docs.example.com/live", func(w http.ResponseWriter, _ *http.Request) {
				live := c.live
				if reads++; c.later != nil && reads%2 == 0 {
					live.Live = c.later
				}
				_ = json.NewEncoder(w).Encode(live)
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			getenv := func(name string) string {
				return map[string]string{"BINDERY_URL": server.URL, "BINDERY_ADMIN_KEY": "bnd_secret"}[name]
			}
			calls := func(args string, want int) (string, string) {
				t.Helper()
				var stdout, stderr bytes.Buffer
				if code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr, getenv); code != want {
					t.Fatalf("%s: exit code %d: %s", args, code, stderr.String())
				}
				return stdout.String(), strings.ReplaceAll(stderr.String(), called()+" site", "bindery site")
			}
			const followed = "export --job exp_1 --no-download"
			if _, said := calls(followed, exitDone); !strings.Contains(said, c.text) {
				t.Errorf("it says %q, want %q", said, c.text)
			}
			var report linkReport
			out, _ := calls(followed+" --json", exitDone)
			if err := json.Unmarshal([]byte(out), &report); err != nil || report.GoLive == nil || c.want != nil && *report.GoLive != *c.want {
				t.Errorf("the report is %s, %v", out, err)
			}
			unchanged = true
			out, _ = calls("export --domain docs.example.com --go-live --no-download --if-changed --json --have "+strings.Repeat("0", 64), exitUnchanged)
			var same unchangedReport
			if err := json.Unmarshal([]byte(out), &same); err != nil || same.GoLive == nil || *same.GoLive != *report.GoLive {
				t.Errorf("where nothing changed, the report is %s, %v", out, err)
			}
			marked = false
			if out, said := calls(followed+" --json", exitDone); strings.Contains(out+said, "ive") {
				t.Errorf("a job that was not to go live says %s%s", out, said)
			}
		})
	}
}
