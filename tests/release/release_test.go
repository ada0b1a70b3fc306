package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/buildid"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// What the test's releases say of themselves.
const (
	releaseVersion = "0.0.1-test"
	releaseCommit  = "0123456789012345678901234567890123456789"
	releaseDate    = "2026-11-23T12:00:00Z"
)

// TestRelease builds what `make release` does for this system, compares its
// programs with those of `make build`, and installs it from a server of files. make
// test-all builds it twice and compares the two.
func TestRelease(t *testing.T) {
	if os.Getenv("BINDERY_RELEASE") == "" {
		t.Skip("not run: make test-release does")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the install script is for shells")
	}
	first := buildRelease(t)
	sums := harness.Read(t, filepath.Join(first, "checksums.txt"))
	if outside.Full() {
		if again := harness.Read(t, filepath.Join(buildRelease(t), "checksums.txt")); again != sums {
			t.Errorf("two releases of one commit differ:\n%s\nand\n%s", sums, again)
		}
	}
	archive := "bindery_" + releaseVersion + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	for _, name := range []string{archive, "install.sh", bill(archive)} {
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("checksums.txt lacks %s:\n%s", name, sums)
		}
	}
	checkArchive(t, filepath.Join(first, archive))
	checkBill(t, filepath.Join(first, bill(archive)))
	installRelease(t, first, archive, sums)
}

// bill is the file with the bill of materials of what an archive holds.
func bill(archive string) string { return strings.TrimSuffix(archive, ".tar.gz") + ".cdx.json" }

// buildRelease builds the release of this system alone and returns its folder: one
// in the checkout, as that of `make release`.
func buildRelease(t *testing.T) string {
	t.Helper()
	goreleaser := outside.Tool(t, "goreleaser", "bin", "goreleaser")
	checkout := outside.Checkout(t)
	outside.WatchSources(t)
	outside.Watch(t, "LICENSE", "infra/install.sh", "infra/sbom")
	if err := os.MkdirAll(filepath.Join(checkout, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	dist, err := os.MkdirTemp(filepath.Join(checkout, "bin"), "dist-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dist) })
	config := harness.Read(t, filepath.Join(checkout, ".goreleaser.yaml"))
	for from, to := range map[string]string{
		"goos: [linux, darwin, windows]": "goos: [" + runtime.GOOS + "]", "goarch: [amd64, arm64]": "goarch: [" + runtime.GOARCH + "]", "dist: bin/dist": "dist: bin/" + filepath.Base(dist),
	} {
		if !strings.Contains(config, from) {
			t.Fatalf("the configuration has no %q", from)
		}
		config = strings.Replace(config, from, to, 1)
	}
	file := filepath.Join(t.TempDir(), "goreleaser.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	renderer, err := buildid.Digest(checkout, "shared/service/export")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goreleaser, "release", "--config", file, "--clean", "--snapshot", "--skip=publish", "--parallelism=2")
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "BINDERY_VERSION="+releaseVersion, "BINDERY_RENDERER="+renderer, "BINDERY_CHECKOUT="+checkout,
		"BINDERY_DIST="+dist,
		"BINDERY_COMMIT="+releaseCommit, "BINDERY_DATE="+releaseDate, "BINDERY_TIMESTAMP=1795435200", "BINDERY_EXTRA=infra/install.sh")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("goreleaser: %v\n%s", err, out)
	}
	return dist
}

// checkArchive looks at what an archive holds and at what its program says of
// itself.
func checkArchive(t *testing.T, file string) {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uname != "root" || strings.Contains(h.Name, "bindery") && h.Mode&0o777 != 0o755 {
			t.Errorf("%s: of %s, mode %o", h.Name, h.Uname, h.Mode)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	built := t.TempDir()
	if out, err := exec.Command("make", "--no-print-directory", "-C", outside.Checkout(t), "build", "BUILD="+built+"/",
		"VERSION="+releaseVersion, "COMMIT="+releaseCommit, "DATE="+releaseDate).CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	for _, name := range []string{"bindery", "bindery-serve"} {
		if harness.Digest([]byte(harness.Read(t, filepath.Join(built, name)))) != harness.Digest([]byte(harness.Read(t, filepath.Join(dir, name)))) {
			t.Errorf("%s of the release is not that of make build", name)
		}
	}
	slices.Sort(names)
	if want := []string{"LICENSE", "bindery", "bindery-serve"}; !slices.Equal(names, want) {
		t.Errorf("the archive has %v, not %v", names, want)
	}
	out, err := exec.Command(filepath.Join(dir, "bindery"), "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	if said["version"] != releaseVersion || len(said["commit"].(string)) != 40 || said["date"] == "" {
		t.Errorf("the program says %s", out)
	}
	renderer, err := buildid.Digest(outside.Checkout(t), "shared/service/export")
	if err != nil {
		t.Fatal(err)
	}
	if program := harness.Read(t, filepath.Join(dir, "bindery")); !strings.Contains(program, renderer) || strings.Contains(program, outside.Checkout(t)) {
		t.Error("the program lacks the digest of its renderer, or has the path of the checkout")
	}
}

// checkBill looks for what must be among the parts of the program.
func checkBill(t *testing.T, file string) {
	t.Helper()
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal([]byte(harness.Read(t, file)), &bill); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, c := range bill.Components {
		has[c.Name] = c.Version != "" && strings.HasPrefix(c.PURL, "pkg:")
	}
	for _, name := range []string{"std", "github.com/spf13/cobra", "mermaid"} {
		if !has[name] {
			t.Errorf("%s of %d parts in the bill lacks %s", bill.BOMFormat, len(has), name)
		}
	}
}

// installRelease has the install script fetch a release from a server that has
// it, and one whose archive was changed.
func installRelease(t *testing.T, dist, archive, sums string) {
	script := filepath.Join(outside.Checkout(t), "infra", "install.sh")
	sum := harness.Digest([]byte(sums))
	bad := t.TempDir()
	for name, data := range map[string]string{"checksums.txt": sums, archive: harness.Read(t, filepath.Join(dist, archive))[1:]} {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/latest/download/", http.StripPrefix("/latest/download/", http.FileServer(http.Dir(dist))))
	mux.Handle("/download/v1/", http.StripPrefix("/download/v1/", http.FileServer(http.Dir(dist))))
	mux.Handle("/download/bad/", http.StripPrefix("/download/bad/", http.FileServer(http.Dir(bad))))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, c := range []struct {
		name string
		args []string
		want string // of a refusal
	}{
		{"the newest", nil, ""},
		{"a version, pinned", []string{"--version", "v1", "--checksums", sum}, ""},
		{"another pin", []string{"--version", "v1", "--checksums", strings.Repeat("0", 64)}, "nothing was installed"},
		{"another archive", []string{"--version", "bad"}, "nothing was installed"},
		{"no such version", []string{"--version", "v2"}, "can't be fetched"},
		{"no such flag", []string{"--verson", "v2"}, "what is --verson?"},
		{"no value", []string{"--version"}, "needs a value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temp, dir := t.TempDir(), filepath.Join(t.TempDir(), "bin")
			cmd := exec.Command("sh", append([]string{script, "--base", server.URL, "--dir", dir}, c.args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			var there []string
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				there = append(there, e.Name())
			}
			if c.want == "" && (err != nil || !slices.Equal(there, []string{"bindery", "bindery-serve"}) || !strings.Contains(out.String(), "bindery "+releaseVersion)) {
				t.Errorf("%v, installed %v\n%s", err, there, &out)
			}
			if c.want != "" && (err == nil || len(there) > 0 || !strings.Contains(out.String(), c.want)) {
				t.Errorf("it ends with %v and leaves %v\n%s", err, there, &out)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("%v is left behind, %v", left, err)
			}
		})
	}
}

// The scripts that users and pipelines run keep to POSIX's shell.
func TestScriptsKeepToTheShell(t *testing.T) {
	shellcheck := outside.Program(t, "shellcheck")
	outside.Watch(t, "infra/install.sh")
	if out, err := exec.Command(shellcheck, filepath.Join(outside.Checkout(t), "infra", "install.sh")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
