package export

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestServices: what a bundle has of services follows from the kind and the
// settings; what is left out, its author is told.
func TestServices(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	const google, plausible = "https://*.googletagmanager.com", "https://plausible.io"
	ours := admin.Settings{Assistant: "https://ai.example/?q=$page", AnalyticsID: "G-OURS", Feedback: "https://rate.example:8443/x"}
	strange := admin.Settings{AnalyticsID: "UA-1"}
	const site = `"feedback":{"thumbsRating":true},"integrations":{"ga4":{"measurementId":"G-SITE"},"plausible":{"domain":"d"},"moon":{"id":"1"},"gtm":{},"hotjar":{"hjid":1,"hjsv":6},"telemetry":{"enabled":true}}`
	for name, c := range map[string]struct {
		kind     admin.Kind
		settings admin.Settings
		config   string
		scripts  []string // sources that scripts may come from
		has      []string // in the analytics script
		lacks    []string
		told     []string // codes, sorted
		page     []string // in a page
	}{
		"nothing, in the cloud": {admin.KindCloud, admin.Settings{}, ``, nil, nil, nil, []string{"feature-unset"}, nil},
		"the site's, in the cloud": {admin.KindCloud, admin.Settings{}, site, []string{google, "https://*.hotjar.com", plausible}, []string{"G-SITE", `"d"`}, []string{"G-OURS"},
			[]string{"config-unsupported", "feature-unset", "integration", "integration-unsupported"}, nil},
		"both, in the cloud": {admin.KindCloud, ours, site, []string{google, "https://*.hotjar.com", plausible}, []string{"G-OURS"}, []string{"G-SITE"},
			[]string{"integration", "integration-unsupported"}, []string{`href="https://ai.example/?q=https%3A%2F%2Fdocs.example%2Fa.md"`, `data-bindery-rating="https://rate.example:8443/x"`}},
		"ratings that no page wants":   {admin.KindClientHosted, ours, ``, []string{google}, []string{"G-OURS"}, nil, nil, []string{`id="assistant-entry"`}},
		"the project's alone":          {admin.KindClientHosted, ours, site, []string{google}, []string{"G-OURS"}, []string{"G-SITE", "plausible"}, []string{"integration-off"}, nil},
		"nothing, client-hosted":       {admin.KindClientHosted, admin.Settings{}, site, nil, nil, nil, []string{"config-unsupported", "integration-off"}, nil},
		"everything, without networks": {admin.KindAirGapped, ours, site, nil, nil, nil, []string{"config-unsupported", "integration-off"}, nil},
		"an id of no service":          {admin.KindClientHosted, strange, ``, nil, nil, nil, []string{"integration"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := openWorldOf(t, t.TempDir(), c.kind, c.settings)
			config := `{"name":"x","navigation":{"pages":["a"]}`
			if c.config != "" {
				config += "," + c.config
			}
			w.publish(t, fstest.MapFS{"docs.json": {Data: []byte(config + "}")}, "a.mdx": {Data: []byte("---\ntitle: A\n---\nText.\n")}})
			files := unpacked(t, w.exported(t, nil))
			var told []string
			for line := range strings.Lines(files["bindery/diagnostics.jsonl"]) {
				_, code, _ := strings.Cut(line, `"code":"`)
				code, _, _ = strings.Cut(code, `"`)
				told = append(told, code)
			}
			slices.Sort(told)
			if !slices.Equal(told, c.told) {
				t.Errorf("the author is told %q, want %q:\n%s", told, c.told, files["bindery/diagnostics.jsonl"])
			}
			script, page := "", files["a.html"]
			for name, text := range files {
				if strings.HasPrefix(name, "bindery/analytics.") {
					script = text
					if !strings.Contains(page, `<script defer src="`+name+`">`) {
						t.Error("the page does not load the analytics script")
					}
				}
			}
			if (script != "") != (c.scripts != nil) || script == "" && strings.Contains(page, "bindery/analytics") {
				t.Errorf("there is a script of %d bytes", len(script))
			}
			for _, part := range c.has {
				if !strings.Contains(script, part) {
					t.Errorf("the script lacks %s: %s", part, script)
				}
			}
			for _, part := range c.lacks {
				if strings.Contains(script, part) {
					t.Errorf("the script has %s: %s", part, script)
				}
			}
			for _, part := range c.page {
				if !strings.Contains(page, part) {
					t.Errorf("the page lacks %s: %s", part, page)
				}
			}
			if asks := strings.Contains(page, "assistant-entry"); asks != (c.settings.Assistant != "" && c.kind != admin.KindAirGapped) {
				t.Errorf("the page has an assistant: %t", asks)
			}
			for _, s := range c.scripts {
				if !strings.Contains(files["bindery.json"], `"`+s+`"`) {
					t.Errorf("the policy lacks %s: %s", s, files["bindery.json"])
				}
			}
			if rates := strings.Contains(page, "data-bindery-rating"); rates != strings.Contains(files["bindery.json"], `"https://rate.example:8443"`) {
				t.Errorf("the page is rated: %t; %s", rates, files["bindery.json"])
			}
		})
	}
}
