package export

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestArchiveReadsBackWholeWithEveryReader unpacks one bundle with five
// programs that share no code and compares every file with the bundle's own
// list. An archive of many gzip members is legal, but readers have been seen
// to stop in the middle of one without a word.
func TestArchiveReadsBackWholeWithEveryReader(t *testing.T) {
	bundle := harness.ExportSite(t, filepath.Join(outside.Checkout(t), "infra", "docs"))
	archive, err := os.ReadFile(bundle.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	if got := harness.Digest(archive); got != bundle.SHA256 {
		t.Errorf("the archive's digest is %s, the API said %s", got, bundle.SHA256)
	}
	if int64(len(archive)) != bundle.SizeBytes {
		t.Errorf("the archive has %d bytes, the API said %d", len(archive), bundle.SizeBytes)
	}

	readers := []struct {
		name    string
		extract func(t *testing.T, into string)
	}{
		{"go", func(t *testing.T, into string) { harness.Extract(t, archive, into) }},
		{"gnu tar", func(t *testing.T, into string) {
			harness.Run(t, outside.Program(t, "tar"), "-xzf", bundle.Bundle, "-C", into)
		}},
		{"bsdtar", func(t *testing.T, into string) {
			harness.Run(t, outside.Program(t, "bsdtar"), "-xzf", bundle.Bundle, "-C", into)
		}},
		{"busybox", func(t *testing.T, into string) {
			harness.Run(t, outside.Program(t, "busybox"), "tar", "-xzf", bundle.Bundle, "-C", into)
		}},
		{"python", func(t *testing.T, into string) {
			harness.Run(t, outside.Program(t, "python3"), "-c",
				"import sys, tarfile; tarfile.open(sys.argv[1], 'r:gz').extractall(sys.argv[2])", bundle.Bundle, into)
		}},
	}
	for _, reader := range readers {
		t.Run(reader.name, func(t *testing.T) {
			dir := t.TempDir()
			reader.extract(t, dir)
			compareWithList(t, dir)
		})
	}
	t.Run("sha256sum", func(t *testing.T) {
		out, err := exec.Command(outside.Program(t, "sha256sum"), bundle.Bundle).Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(out), bundle.SHA256+" ") {
			t.Errorf("sha256sum says %s, the API said %s", out, bundle.SHA256)
		}
	})
}

// compareWithList checks that dir holds what bindery/files.jsonl lists, no
// more and no less.
func compareWithList(t *testing.T, dir string) {
	t.Helper()
	list, err := os.Open(filepath.Join(dir, "bindery", "files.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	// The lists and the description can't list themselves.
	unlisted := map[string]bool{"bindery.json": true, "bindery/files.jsonl": true, "bindery/diagnostics.jsonl": true}
	listed := map[string]bool{}
	lines := bufio.NewScanner(list)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct {
			Path, SHA256 string
			Size         int64
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		listed[entry.Path] = true
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(entry.Path)))
		if err != nil {
			t.Error(err)
			continue
		}
		if harness.Digest(data) != entry.SHA256 || int64(len(data)) != entry.Size {
			t.Errorf("%s is not what the list says", entry.Path)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(listed) < 20 || !listed["index.html"] || !listed["404.html"] {
		t.Errorf("the list has only %d files", len(listed))
	}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, file)
		rel = filepath.ToSlash(rel)
		if !listed[rel] && !unlisted[rel] {
			t.Errorf("%s is in the archive but not in its list", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
