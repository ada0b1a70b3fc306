package page

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInputsAreAsked: what is known of a site and read from it comes to a page
// through inputs.go, which lists it, or is named here with the reason why it is
// among a page's Inputs or in its Key.
func TestInputsAreAsked(t *testing.T) {
	allowed := []string{
		"Site.Config.Styling", "Site.Config.Icons", "Site.Config.API", // Renderer.settingsOf
		"Site.WhyRestricted", "Site.WhyMissing", "Site.SourceOf", // in Inputs.Sum
		"Site.Expand", "Site.Syntax", // follow from Config.Variables and Config.Styling
		"Site.Pages",                                                     // the page itself, all of which is in Key
		"Site.Near", "Site.Language", "Site.DefaultSection", "Site.Home", // Renderer.langOf
	}
	site := regexp.MustCompile(`\bSite\.(?:Config\.)?\w+`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "inputs.go" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			code, _, _ := strings.Cut(line, "//")
			for _, found := range site.FindAllString(code, -1) {
				if !slices.Contains(allowed, found) {
					t.Errorf("%s: %s: a page's Inputs don't have it", file, strings.TrimSpace(line))
				}
			}
			if strings.Contains(code, "Site.Pages[") && !strings.Contains(code, "Site.Pages[page]") && !strings.Contains(code, "Site.Pages[t.page]") {
				t.Errorf("%s: %s: another page than the one that is rendered", file, strings.TrimSpace(line))
			}
			if strings.Contains(code, "r.snippet(") && !strings.HasPrefix(code, "func ") {
				t.Errorf("%s: %s: tree.included notes the file", file, strings.TrimSpace(line))
			}
		}
	}
}
