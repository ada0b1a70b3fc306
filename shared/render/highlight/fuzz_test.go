package highlight

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRuns: for any bytes the runs cover the code exactly and in order, the HTML
// holds the code, and on valid text the driver gives chroma's own tokens.
func FuzzRuns(f *testing.F) {
	labels := []string{"ts", "jsx", "json", "bash", "python", "go", "yaml", "html", "css", "markdown", "ruby", "http", "powershell", "rust"}
	for i, label := range labels {
		f.Add(i, samples(f)[label])
	}
	f.Add(0, "`${`${'")
	f.Add(2, "\xff\x00\"\\")
	f.Add(3, "cat <<EOF\r\n$(")
	f.Add(9, "---\r\na: b\r\n---\r\n```js\r\n1\r\n```")
	own, stock := New(Options{}), newStock()
	f.Fuzz(func(t *testing.T, which int, code string) {
		label := labels[uint(which)%uint(len(labels))]
		const longest = 2000
		if len(code) > longest {
			t.Skip("long")
		}
		runs := own.Runs(label, code)
		checkRuns(t, code, runs)
		got := string(AppendHTML(nil, code, runs))
		if !strings.Contains(code, "&") {
			checkHTML(t, strings.ReplaceAll(code, "\x00", "\uFFFD"), got)
		}
		if steps, failed := stepsOf(own, label, code); failed || steps > 1_000_000 || !utf8.ValidString(code) {
			return // chroma might take for ever
		}
		if label == "markdown" && (strings.Contains(code, "```") || strings.ContainsRune(code, '\r')) {
			return // any label of any language may follow; front matter may end with CR LF
		}
		compareTokens(t, own, stock, label, code)
	})
}
