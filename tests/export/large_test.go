package export

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLargeSitesTakeBoundedMemory: a hundred thousand small files, and one of
// 3 GiB, are published and exported in the memory of a small function. They took
// 190 and 55 MiB. A sample is a tenth of each.
func TestLargeSitesTakeBoundedMemory(t *testing.T) {
	outside.Long(t, "writes some gigabytes")
	files, size := 10_000, int64(300<<20)
	if outside.Full() {
		files, size = 100_000, 3<<30
	}
	for name, c := range map[string]struct {
		make  func(dir string) error
		files int
	}{
		"many files": {func(dir string) error {
			for i := range files {
				folder := filepath.Join(dir, fmt.Sprint("f", i%100))
				if err := os.MkdirAll(folder, 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".txt")), fmt.Append(nil, "text ", i), 0o644); err != nil {
					return err
				}
			}
			return nil
		}, files},
		"one large file": {func(dir string) error {
			file := filepath.Join(dir, "large.bin")
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				return err
			}
			return os.Truncate(file, size)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"docs.json": `{"name": "Large", "navigation": {"pages": ["index"]}}`,
				"index.mdx": "words",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), harness.Bindery(t), "run", dir, "--out", filepath.Join(t.TempDir(), "bundle.tar.gz"), "--json", "--no-cache")
			stdout, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stdout)
			}
			var bundle harness.Exported
			if err := json.Unmarshal(stdout, &bundle); err != nil || bundle.Files < c.files {
				t.Errorf("a bundle of %d files, %v", bundle.Files, err)
			}
			if peak := peakKiB(cmd.ProcessState); peak > 512<<10 {
				t.Errorf("it took %d MiB of memory", peak>>10)
			}
		})
	}
}
