package browser

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// lighthousePages are of five kinds: landing page, guide, component, call of the
// API, a long page of settings.
var lighthousePages = []string{"index", "start/quickstart", "components/code", "api/start-export", "authoring/settings"}

// TestLighthouse asks Lighthouse about pages of Bindery's own
// documentation, served over HTTP, as a phone of the middle range sees them.
// Accessibility, best practices and search engines must be without fault. make test-all
// asks about all five pages and about speed too: nothing may jump. It logs the rest of
// the speed, which depends on the machine and on what runs beside. Other runs ask about
// two pages.
func TestLighthouse(t *testing.T) {
	address := preview(t, harness.ExportSite(t, filepath.Join(outside.Checkout(t), "infra", "docs")).Bundle)
	pages, categories := lighthousePages, "performance,accessibility,best-practices,seo"
	if !outside.Full() {
		pages, categories = []string{"start/quickstart", "api/start-export"}, "accessibility,best-practices,seo"
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			report := lighthouse(t, address+page, categories)
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
			if !outside.Full() {
				return
			}
			if shift := report.Audits["cumulative-layout-shift"].NumericValue; shift > maxShift {
				t.Errorf("the page jumps by %.3f", shift)
			}
			t.Logf("performance %.0f: first words after %s, all after %s", report.Categories["performance"].Score*100,
				report.Audits["first-contentful-paint"].DisplayValue, report.Audits["largest-contentful-paint"].DisplayValue)
		})
	}
}

// lighthouseReport is what tests read of Lighthouse's.
type lighthouseReport struct {
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

// lighthouse asks Lighthouse about a page as a phone of the middle range sees it.
func lighthouse(t testing.TB, address, categories string) lighthouseReport {
	t.Helper()
	chromium := browse.Chromium(t)
	node := outside.Program(t, "node")
	cli := outside.Tool(t, "lighthouse", "lighthouse", "node_modules", "lighthouse", "cli", "index.js")
	out := filepath.Join(t.TempDir(), "report.json")
	for try := 1; ; try++ {
		cmd := exec.CommandContext(t.Context(), node, cli, address, "--quiet", "--output=json", "--output-path="+out,
			"--only-categories="+categories, "--chrome-flags=--headless=new --no-sandbox --disable-gpu --user-data-dir="+t.TempDir())
		cmd.Env = append(os.Environ(), "CHROME_PATH="+chromium)
		cmd.WaitDelay = 10 * time.Second
		b, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		// Lighthouse waits 30 seconds for an answer of the browser, and has no
		// flag for that: on a busy machine it takes longer.
		if try == 5 || !bytes.Contains(b, []byte("exceeded the allotted time")) {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	b, err := os.ReadFile(out)
	var report lighthouseReport
	if err == nil {
		err = json.Unmarshal(b, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// BenchmarkReaderPaints (make bench-reader) prints how soon pages are painted, as medians
// of runs in turn: of the site BINDERY_READER_SITE, else Bindery's documentation, at
// the addresses BINDERY_READER_PAGES, else those of TestLighthouse. Beside them stand
// those of BINDERY_READER_PEER, a folder with the same pages as another tool has
// built them, such as Starlight's dist. The same server sends both, compressed. The
// figures are of this machine, and of what runs beside.
func BenchmarkReaderPaints(t *testing.B) {
	pages, runs := lighthousePages, 5
	if list := os.Getenv("BINDERY_READER_PAGES"); list != "" {
		pages = strings.Split(list, ",")
	}
	if n, err := strconv.Atoi(os.Getenv("BINDERY_READER_RUNS")); err == nil && n > 0 {
		runs = n
	}
	source := cmp.Or(os.Getenv("BINDERY_READER_SITE"), filepath.Join(outside.Checkout(t), "infra", "docs"))
	addresses := []string{hosted(t, harness.Unpack(t, source))}
	if peer := os.Getenv("BINDERY_READER_PEER"); peer != "" {
		addresses = append(addresses, hosted(t, peer))
	}
	audits := [...]string{"first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift"}
	for _, page := range pages {
		measured := make([][len(audits)][]float64, len(addresses))
		for range runs {
			for i, address := range addresses {
				at := page
				if i > 0 && page != "index" {
					at += "/"
				} else if i > 0 {
					at = ""
				}
				report := lighthouse(t, address+at, "performance")
				for k, audit := range audits {
					measured[i][k] = append(measured[i][k], report.Audits[audit].NumericValue)
				}
			}
		}
		for k, audit := range audits {
			line := fmt.Sprintf("%s, %s:", page, audit)
			for i := range measured {
				slices.Sort(measured[i][k])
				line += fmt.Sprintf(" %.4g", measured[i][k][runs/2])
			}
			if len(measured) > 1 && measured[1][k][runs/2] > 0 {
				line += fmt.Sprintf(" (%.2f of the other's)", measured[0][k][runs/2]/measured[1][k][runs/2])
			}
			t.Log(line)
		}
	}
}

// hosted serves a folder as hosts of static files do, text by gzip, until the
// test ends, and returns its address with a slash at the end.
func hosted(t testing.TB, dir string) string {
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Clean("/" + r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		}
		at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
		if _, err := os.Stat(at(name + ".html")); err == nil {
			name += ".html"
		}
		b, err := os.ReadFile(at(name))
		if err != nil || path.Ext(name) == ".woff2" {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(b)
		_ = z.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// preview serves a bundle by `bindery serve` until the test ends, and returns
// its address with a slash at the end.
func preview(t testing.TB, archive string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Bindery(t), "serve", archive, "--addr", "127.0.0.1:0")
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
