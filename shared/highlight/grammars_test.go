package highlight

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChromaSamples: the driver gives chroma's tokens on chroma's own samples,
// one or more for nearly every language it has, and on pieces of them, which
// end in the middle of a string, a tag or a word. The samples lie in the
// module's folder and not here; without it the test is skipped.
func TestChromaSamples(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "lexers", "testdata")
	files, globErr := filepath.Glob(filepath.Join(dir, "*.actual"))
	if err != nil || globErr != nil || len(files) == 0 {
		t.Skipf("chroma's samples are not in its module's folder %q: %v", dir, err)
	}
	own, stock := New(Options{}), New(Options{Stock: true})
	var languages, driven int
	for _, file := range files {
		label := strings.TrimSuffix(filepath.Base(file), ".actual")
		lang := own.languages.find(label)
		if lang == nil || lang.lexer == nil {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := string(source)
		const longest = 20_000
		code = code[:min(len(code), longest)]
		languages++
		if lang.load(own.languages.limits.attempt) != nil {
			driven++
		}
		for _, piece := range []string{code, code[:len(code)/2], code[:len(code)/3], code[len(code)/3:], code[len(code)*2/5 : len(code)*3/4]} {
			compareTokens(t, own, stock, label, piece)
			checkRuns(t, piece, own.Runs(label, piece))
		}
	}
	t.Logf("%d samples, %d of them under the own driver", languages, driven)
	const fewest = 120
	if driven < fewest {
		t.Errorf("only %d samples ran under the own driver, want at least %d", driven, fewest)
	}
}
