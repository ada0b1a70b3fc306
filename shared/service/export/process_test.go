package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// processWorld names, for a process of TestSameBytesInEveryProcess, the
// installation to export from.
const processWorld = "BINDERY_TEST_WORLD"

// Two processes, one of them with a single processor, give the same bytes for
// one snapshot.
func TestSameBytesInEveryProcess(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	if dir := os.Getenv(processWorld); dir != "" {
		w := openWorld(t, dir)
		sum := sha256.Sum256(w.exported(t, nil))
		fmt.Printf("sum %s\n", hex.EncodeToString(sum[:]))
		return
	}
	origin := t.TempDir()
	w := openWorld(t, origin)
	w.publish(t, sampleSite(150))
	w.close(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for _, processors := range []string{"1", "2", "7"} {
		dir := filepath.Join(t.TempDir(), "world")
		if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), program, "-test.run=^TestSameBytesInEveryProcess$")
		c.Env = append(os.Environ(), processWorld+"="+dir, "GOMAXPROCS="+processors)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, sum, ok := strings.Cut(string(out), "sum ")
		if !ok || len(sum) < 64 {
			t.Fatalf("%s", out)
		}
		if sum = sum[:64]; want == "" {
			want = sum
		}
		if sum != want {
			t.Errorf("with %s processors the bundle is another", processors)
		}
	}
}
