package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write renderer.sum anew")

const sumFile = "renderer.sum"

// TestRendererSum: renderer.sum tells of the code that is here. One that tells
// of other code would let two renderers pass for one.
func TestRendererSum(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command")
	}
	want := sumOfCode(t)
	if *update {
		if err := os.WriteFile(sumFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(rendererSum, "\n")); diff != "" {
		t.Errorf("%s is of other code; write it anew with go test ./shared/service/export -run RendererSum -update\n%s", sumFile, diff)
	}
}

// A renderer is told from another, and is the same each time it is asked.
func TestRendererDigest(t *testing.T) {
	if r := Renderer(); len(r) != 32 || r != Renderer() {
		t.Errorf("%q", r)
	}
}

// sumOfCode is what renderer.sum has to say: for the processor and system that
// functions run on, whatever this machine is.
func sumOfCode(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module,GoFiles,EmbedFiles", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir     string
			Standard            bool
			Module              *struct{ Path, Version, Dir string }
			GoFiles, EmbedFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Standard:
		case p.Module == nil:
			t.Fatalf("%s is of no module", p.ImportPath)
		case p.Module.Version != "":
			lines = append(lines, p.Module.Path+" "+p.Module.Version)
		default:
			lines = append(lines, strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")+" "+digestOf(t, p.Dir, slices.Concat(p.GoFiles, p.EmbedFiles)))
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// digestOf is the digest of files, which are named from dir.
func digestOf(t *testing.T, dir string, files []string) string {
	t.Helper()
	slices.Sort(files)
	h := sha256.New()
	for _, name := range slices.Compact(files) {
		if name == sumFile {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(name), sha256.Sum256(b))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
