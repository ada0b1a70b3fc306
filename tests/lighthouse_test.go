package tests

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// lighthousePages are of five kinds: landing page, guide, component, call of the
// API, a long page of settings.
var lighthousePages = []string{"index", "start/quickstart", "components/code", "api/start-export", "authoring/settings"}

// TestLighthouse asks Lighthouse about five pages of Bindery's own
// documentation, served over HTTP, as a phone of the middle range sees them.
// Accessibility, best practices and search engines must be without fault and
// nothing may jump; the speed is only told, because it depends on the machine
// and on what runs beside.
func TestLighthouse(t *testing.T) {
	chromium := browser(t)
	node := outside.Program(t, "node")
	cli := outside.Tool(t, "lighthouse", "lighthouse", "node_modules", "lighthouse", "cli", "index.js")
	address := preview(t, exportSite(t, filepath.Join(outside.Checkout(t), "infra", "docs")).Bundle)
	for _, page := range lighthousePages {
		t.Run(page, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "report.json")
			cmd := exec.CommandContext(t.Context(), node, cli, address+page, "--quiet", "--output=json", "--output-path="+out,
				"--only-categories=performance,accessibility,best-practices,seo",
				"--chrome-flags=--headless=new --no-sandbox --disable-gpu --user-data-dir="+t.TempDir())
			cmd.Env = append(os.Environ(), "CHROME_PATH="+chromium)
			cmd.WaitDelay = 10 * time.Second
			if b, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			var report struct {
				Categories map[string]struct {
					Score     float64
					AuditRefs []struct {
						ID     string
						Weight float64
					}
				}
				Audits map[string]struct {
					Score        *float64
					Title        string
					DisplayValue string
					NumericValue float64
				}
			}
			if err := json.Unmarshal(b, &report); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"accessibility", "best-practices", "seo"} {
				c, ok := report.Categories[name]
				if !ok || c.Score < 1 {
					t.Errorf("%s: %.0f of 100", name, c.Score*100)
				}
				for _, ref := range c.AuditRefs {
					if a := report.Audits[ref.ID]; ref.Weight > 0 && a.Score != nil && *a.Score < 1 {
						t.Errorf("%s: %s %s", ref.ID, a.Title, a.DisplayValue)
					}
				}
			}
			if shift := report.Audits["cumulative-layout-shift"].NumericValue; shift > maxShift {
				t.Errorf("the page jumps by %.3f", shift)
			}
			t.Logf("performance %.0f: first words after %s, all after %s", report.Categories["performance"].Score*100,
				report.Audits["first-contentful-paint"].DisplayValue, report.Audits["largest-contentful-paint"].DisplayValue)
		})
	}
}

// preview serves a bundle by `bindery serve` until the test ends, and returns
// its address with a slash at the end.
func preview(t *testing.T, archive string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bindery(t), "serve", archive, "--addr", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := regexp.MustCompile(`http://[^ ]+/`).FindString(lines.Text()); m != "" {
			go func() {
				for lines.Scan() { // so that the program never waits for a reader
				}
			}()
			return m
		}
	}
	t.Fatalf("bindery serve says no address (%v)", lines.Err())
	return ""
}
