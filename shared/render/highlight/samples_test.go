package highlight

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/outside"
)

// samples gives the embedded samples by their label, which is the file's name.
func samples(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "*"))
	if err != nil {
		t.Fatal(err)
	}
	bySample := map[string]string{}
	for _, file := range files {
		if filepath.Ext(file) == ".golden" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bySample[filepath.Base(file)] = string(source)
	}
	const fewest = 30
	if len(bySample) < fewest {
		t.Fatalf("found %d samples, want at least %d", len(bySample), fewest)
	}
	return bySample
}

// TestSampleTokens: the driver gives chroma's own tokens on each sample, whole
// and cut off after each of its lines.
func TestSampleTokens(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	own, stock := New(Options{}), newStock()
	for label, code := range samples(t) {
		t.Run(label, func(t *testing.T) {
			for end := range code {
				if code[end] == '\n' {
					compareTokens(t, own, stock, label, code[:end])
				}
			}
			compareTokens(t, own, stock, label, code)
			compareTokens(t, own, stock, label, strings.ReplaceAll(code, "\n", "\r\n"))
			compareTokens(t, own, stock, label, "é"+code+"\u00a0→ 語")
		})
	}
}

// TestSampleHTML: what a page shows of each sample.
func TestSampleHTML(t *testing.T) {
	h := New(Options{})
	for label, code := range samples(t) {
		t.Run(label, func(t *testing.T) {
			got := AppendHTML(nil, code, h.Runs(label, code))
			golden.Same(t, filepath.Join("testdata", "samples", label+".golden"), got)
			checkHTML(t, code, string(got))
		})
	}
}

var (
	spanElement = regexp.MustCompile(`<span class="([a-z])">([^<>\n]*)</span>`)
	anyTag      = regexp.MustCompile(`<[^>]*>`)
)

// checkHTML: the HTML is the escaped code with spans of known classes, none of
// them empty, nested or longer than a line.
func checkHTML(t *testing.T, code, got string) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range classes {
		known[c.name] = c.name != ""
	}
	rest := spanElement.ReplaceAllStringFunc(got, func(s string) string {
		m := spanElement.FindStringSubmatch(s)
		if !known[m[1]] || m[2] == "" {
			t.Errorf("span %q has no known class or no text", s)
		}
		return m[2]
	})
	if strings.ContainsAny(rest, "<>\"") {
		t.Errorf("there is more than spans of one line: %q", anyTag.FindAllString(rest, 3))
	}
	if plain := html.UnescapeString(rest); plain != code && !strings.Contains(code, "&") {
		t.Errorf("the text isn't the code:\n%q\n%q", plain, code)
	}
}
