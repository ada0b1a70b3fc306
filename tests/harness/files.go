package harness

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Extract unpacks a bundle with Go's own readers.
func Extract(t testing.TB, archive []byte, into string) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !filepath.IsLocal(h.Name) {
			t.Fatalf("unsafe name %q", h.Name)
		}
		file := filepath.Join(into, h.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TooLarge returns the name of an archive of a few bytes that declares a file of 100 GiB.
func TooLarge(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar.gz")
	var raw bytes.Buffer
	z := gzip.NewWriter(&raw)
	err := tar.NewWriter(z).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "index.html", Size: 100 << 30, Mode: 0o644})
	if err = errors.Join(err, z.Close(), os.WriteFile(name, raw.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return name
}

// Run runs a program and returns its output. The test fails if the program does.
func Run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
	return out
}

// Digest returns the SHA-256 of data in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Exists reports whether a file or folder has this name.
func Exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Unpack exports a site, unpacks its bundle into a new folder and returns the path
// of the folder "docs" in it.
func Unpack(t testing.TB, site string) string {
	t.Helper()
	archive, err := os.ReadFile(ExportSite(t, site).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "docs")
	Extract(t, archive, dir)
	return dir
}

// ReadFile reads a file of an unpacked bundle.
func ReadFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Read returns the content of a file.
func Read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// LastBytes returns the end of a long text.
func LastBytes(s string) string {
	const most = 3000
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}
