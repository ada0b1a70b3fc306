package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestServeImage builds the server's image for two architectures with a bundle
// in it, reads it back as a container's runtime does, and runs the program from
// the layers.
func TestServeImage(t *testing.T) {
	outside.Long(t, "compiles the program for two architectures")
	outside.WatchSources(t)
	dir := t.TempDir()
	bundle := filepath.Join(dir, "site.tar.gz")
	if err := os.WriteFile(bundle, []byte("a bundle"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "image.tar")
	o, err := parse([]string{"serve", "--out", out, "--name", "localhost/serve:1", "--bundle", bundle, "--root", "../.."}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	index := open(t, out, digest)
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var archs []string
	for _, m := range manifest.Manifests {
		archs = append(archs, m.Platform.OS+"/"+m.Platform.Architecture)
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		checkConfig(t, image, m.Platform.Architecture)
		unpack(t, image, root)
		checkProgram(t, filepath.Join(root, "bindery-serve"), m.Platform.Architecture)
		checkRoots(t, filepath.Join(root, rootsFile))
		if got, err := os.ReadFile(filepath.Join(root, "bundle.tar.gz")); err != nil || string(got) != "a bundle" {
			t.Errorf("the bundle in the image: %q, %v", got, err)
		}
		checkFiles(t, root)
		if m.Platform.Architecture == runtime.GOARCH {
			runFromLayers(t, root)
		}
	}
	if !slices.Equal(archs, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("architectures %v", archs)
	}

	// Again, elsewhere: the same digest.
	o.out = filepath.Join(t.TempDir(), "again.tar")
	if again, err := build(t.Context(), o); err != nil || again != digest {
		t.Errorf("built twice: %v and %v, %v", digest, again, err)
	}
}

// open reads an archive as an index of the digest.
func open(t *testing.T, archive string, digest v1.Hash) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	untar(t, f, dir)
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["io.containerd.image.name"] != "localhost/serve:1" {
		t.Errorf("the archive's images: %+v", manifest.Manifests)
	}
	index, err := top.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the image is not valid: %v", err)
	}
	return index
}

func checkConfig(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != arch || config.OS != "linux" || config.Config.User != "65532:65532" ||
		!slices.Equal(config.Config.Entrypoint, []string{"/bindery-serve"}) ||
		!slices.Contains(config.Config.Env, "BINDERY_BUNDLE_URL=file:///bundle.tar.gz") {
		t.Errorf("%s: configuration %+v", arch, config)
	}
	if layers, err := image.Layers(); err != nil || len(layers) != 3 {
		t.Errorf("%s: %d layers, %v", arch, len(layers), err)
	}
}

// unpack lays the layers of an image over each other.
func unpack(t *testing.T, image v1.Image, root string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		data, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		untar(t, data, root)
		data.Close()
	}
}

func untar(t *testing.T, r io.Reader, root string) {
	t.Helper()
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.ModTime.Unix() != 0 {
			t.Errorf("%s: owner %d:%d, changed %s", header.Name, header.Uid, header.Gid, header.ModTime)
		}
		name := filepath.Join(root, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(name, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, header.FileInfo().Mode()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, header.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// checkProgram: for the right machine, and static.
func checkProgram(t *testing.T, file, arch string) {
	t.Helper()
	program, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; program.Machine != want {
		t.Errorf("%s: a program for %s", arch, program.Machine)
	}
	if libraries, err := program.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("%s: it needs %v", arch, libraries)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s: it needs a dynamic loader", arch)
		}
	}
}

func checkRoots(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	constrained := map[string]bool{} // for some names or times alone, which PEM can't state
	for root := range bundle.Roots() {
		constrained[string(root.Certificate)] = root.Constraint != nil
	}
	n := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.IsCA {
			t.Errorf("certificate %d: %v", n, err)
		}
		if constrained[string(block.Bytes)] {
			t.Errorf("certificate %d is trusted for more than it should be", n)
		}
		n++
	}
	if n < 80 {
		t.Errorf("%d certificates", n)
	}
}

// checkFiles: nothing is in an image that nobody put there on purpose.
func checkFiles(t *testing.T, root string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if want := []string{"LICENSE", "bindery-serve", "bundle.tar.gz", rootsFile}; err != nil || !slices.Equal(files, want) {
		t.Errorf("files %v, %v; want %v", files, err, want)
	}
}

// runFromLayers starts the program with the layers as its root where that is
// possible, so that it has nothing else of this machine.
func runFromLayers(t *testing.T, root string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bindery-serve"), "--bundle-url", "file:///bundle.tar.gz", "--data", "/data", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
	cmd.Env = []string{}
	if !inRoot(cmd, root) {
		t.Log("not root: the program runs outside of the layers")
		cmd.Args[2] = "file://" + filepath.Join(root, "bundle.tar.gz")
		cmd.Args[4] = filepath.Join(root, "data")
	}
	out, err := cmd.CombinedOutput()
	// What is in the image is no bundle, and the program says so.
	if code := cmd.ProcessState.ExitCode(); err == nil || code != 5 {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
}

func TestLoopImageHasTheChart(t *testing.T) {
	entries, err := folder("../chart", "chart")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.name)
	}
	for _, want := range []string{"chart/", "chart/Chart.yaml", "chart/values.yaml", "chart/values.schema.json", "chart/templates/deployment.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

func TestUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no image":             {},
		"an image of no one":   {"server", "--out", "x"},
		"no archive":           {"serve"},
		"another architecture": {"serve", "--out", "x", "--arch", "riscv64"},
		"one twice":            {"serve", "--out", "x", "--arch", "amd64,amd64"},
		"a bundle in the loop": {"loop", "--out", "x", "--bundle", "y"},
		"something more":       {"serve", "--out", "x", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
				t.Error("it is taken")
			}
		})
	}
}

// TestPackIsTheSameTwice: a layer is its entries and nothing of this machine.
func TestPackIsTheSameTwice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries := []entry{{name: "a/", mode: 0o755}, {name: "a/b", mode: 0o444, file: file}, {name: "a/c", mode: 0o444, data: []byte("x")}}
	var one, two bytes.Buffer
	if err := pack(&one, entries); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := pack(&two, entries); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || !strings.Contains(one.String(), "hello") {
		t.Error("two layers of the same entries differ")
	}
	if err := pack(io.Discard, []entry{{name: "a", file: filepath.Join(t.TempDir(), "none")}}); err == nil || !strings.Contains(err.Error(), "a: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestChartArtefact packs the chart, puts it into a registry and has helm fetch it
// from there.
func TestChartArtefact(t *testing.T) {
	helm := outside.Program(t, "helm")
	dir := t.TempDir()
	out := filepath.Join(dir, "chart.tar")
	o, err := parse([]string{"chart", "--version", "1.2.3-rc.1", "--name", "ghcr.io/example/charts/bindery:1.2.3-rc.1", "--out", out, "--root", "../.."}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := buildChart(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.out = filepath.Join(t.TempDir(), "again.tar")
	if again, err := buildChart(t.Context(), o); err != nil || again != digest {
		t.Errorf("packed twice: %v and %v, %v", digest, again, err)
	}

	unpacked := t.TempDir()
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	untar(t, f, unpacked)
	store := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer store.Close()
	push(t, layout.Path(unpacked), digest, store.URL+"/v2/charts/bindery", "1.2.3-rc.1")

	pulled := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), helm, args...)
		cmd.Dir = pulled
		cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, said)
		}
		return string(said)
	}
	run("pull", "oci://"+strings.TrimPrefix(store.URL, "http://")+"/charts/bindery", "--version", "1.2.3-rc.1", "--plain-http")
	fetched, err := os.ReadFile(filepath.Join(pulled, "bindery-1.2.3-rc.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if beside, err := os.ReadFile(filepath.Join(dir, "bindery-1.2.3-rc.1.tgz")); err != nil || !bytes.Equal(fetched, beside) {
		t.Errorf("helm fetched %d bytes, the archive has %d, %v", len(fetched), len(beside), err)
	}
	if about := run("show", "chart", "bindery-1.2.3-rc.1.tgz"); !strings.Contains(about, "version: 1.2.3-rc.1\n") || !strings.Contains(about, "appVersion: 1.2.3-rc.1\n") {
		t.Errorf("the chart says:\n%s", about)
	}
	if manifests := run("template", "docs", "bindery-1.2.3-rc.1.tgz", "--set", "staticExport.enabled=true,staticExport.bundleUrl=https://example.com/b.tar.gz"); !strings.Contains(manifests, "ghcr.io/bindery-docs/bindery-serve:1.2.3-rc.1") {
		t.Errorf("the chart has other images than the release's:\n%s", manifests)
	}
	run("lint", "bindery-1.2.3-rc.1.tgz")
}

// push puts a manifest of a layout, and what it names, into a registry.
func push(t *testing.T, from layout.Path, digest v1.Hash, to, tag string) {
	t.Helper()
	send := func(method, address, kind string, data []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Fatalf("%s %s: %s", method, address, response.Status)
		}
	}
	raw, err := from.Bytes(digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range append(manifest.Layers, manifest.Config) {
		data, err := from.Bytes(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		send(http.MethodPost, to+"/blobs/uploads/?digest="+d.Digest.String(), "application/octet-stream", data)
	}
	send(http.MethodPut, to+"/manifests/"+tag, string(manifest.MediaType), raw)
}
