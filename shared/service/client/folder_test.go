package client

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolderLeavesOutWhatIsIgnored(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"docs.json": "{}", "index.mdx": "# Hello", "guides/start.mdx": "# Start", "guides/logo.svg": "<svg/>",
		".mintignore": "drafts/\n*.draft.mdx\n!.well-known/\n!guides/README.md\n",
		"README.md":   "x", "guides/README.md": "kept", "LICENSE.md": "x", "CHANGELOG.md": "x", "sub/CONTRIBUTING.md": "x",
		".git/config": "x", ".github/a.yml": "x", ".env": "x", "node_modules/a/index.js": "x", "guides/node_modules/b.js": "x",
		"drafts/a.mdx": "x", "guides/b.draft.mdx": "x", ".well-known/security.txt": "kept",
	})
	f, err := openFolder(t.Context(), dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for _, file := range f.Files {
		got = append(got, file.Path)
		in, err := f.Open(file.Path)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(in)
		in.Close()
		if int64(len(data)) != file.Size {
			t.Errorf("%s has %d bytes, not %d", file.Path, len(data), file.Size)
		}
	}
	want := []string{".well-known/security.txt", "docs.json", "guides/README.md", "guides/logo.svg", "guides/start.mdx", "index.mdx"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.Bytes != 30 {
		t.Errorf("%d bytes", f.Bytes)
	}
}

// All that is wrong is said at once, each with its place.
func TestFolderFaults(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows can't have most of these names")
	}
	outside := t.TempDir()
	writeFiles(t, outside, map[string]string{"secret.txt": "x"})
	tests := []struct {
		name  string
		files map[string]string
		links map[string]string // name → target
		want  []string
	}{
		{"no site", map[string]string{"index.mdx": "x", "sub/docs.json": "{}"}, nil,
			[]string{"docs.json: the folder has no docs.json and no mint.json, so it is not a documentation site"}},
		{"names", map[string]string{"docs.json": "{}", "a?.mdx": "x", "sub/con.mdx": "x", "bindery.json": "{}"}, nil, []string{
			"a?.mdx: the name contains '?', which can't be in file names on Windows",
			`bindery.json: names at the root that begin with "bindery" are kept for the bundle's own files`,
			`sub/con.mdx: "con" is the name of a device on Windows`,
		}},
		{"case", map[string]string{"docs.json": "{}", "Guide.mdx": "1", "guide.mdx": "2"}, nil,
			[]string{"guide.mdx: the name differs from Guide.mdx only by case"}},
		{"normal forms", map[string]string{"docs.json": "{}", "cafe\u0301.mdx": "1", "caf\u00e9.mdx": "2"}, nil,
			[]string{"café.mdx: the path appears twice"}},
		{"links", map[string]string{"docs.json": "{}", "real/a.mdx": "x", ".git/config": "token"}, map[string]string{
			"ok.mdx": "real/a.mdx", "okdir": "real", "out.txt": outside + "/secret.txt", "up": "../..", "nowhere": "missing",
			"round": ".", "real/loop": "../real", "git.txt": ".git/config", ".hidden": outside,
		}, []string{
			"git.txt: the symbolic link points to a hidden file",
			"nowhere: the symbolic link points to nothing",
			"okdir/loop: the symbolic link points to a folder that contains it",
			"out.txt: the symbolic link points outside the folder",
			"real/loop: the symbolic link points to a folder that contains it",
			"round: the symbolic link points to a folder that contains it",
			"up: the symbolic link points outside the folder",
		}},
		{"several at once", map[string]string{"a|b": "1", "B": "2", "b": "3"}, map[string]string{"x": "/etc/passwd"}, []string{
			"a|b: the name contains '|', which can't be in file names on Windows",
			"b: the name differs from B only by case",
			"docs.json: the folder has no docs.json and no mint.json, so it is not a documentation site",
			"x: the symbolic link points outside the folder",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, test.files)
			for name, target := range test.links {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := openFolder(t.Context(), dir, nil, nil)
			var folder *folderError
			if !errors.As(err, &folder) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(test.want, strings.Split(folder.Faults.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
			var one *snapshot.PathError
			if !errors.As(err, &one) {
				t.Error("errors.As finds no *snapshot.PathError")
			}
		})
	}
	t.Run("no such folder", func(t *testing.T) {
		if _, err := openFolder(t.Context(), filepath.Join(t.TempDir(), "missing"), nil, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("links that stay inside are followed", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"docs.json": "{}", "real/a.mdx": "text"})
		for name, target := range map[string]string{"copy.mdx": "real/a.mdx", "again": "real", "absolute.mdx": filepath.Join(dir, "real", "a.mdx")} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := openFolder(t.Context(), dir, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, name := range []string{"copy.mdx", "again/a.mdx", "absolute.mdx", "real/a.mdx"} {
			in, err := f.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(in)
			in.Close()
			if string(data) != "text" {
				t.Errorf("%s is %q", name, data)
			}
		}
		if len(f.Files) != 5 {
			t.Errorf("files: %v", f.Files)
		}
	})
}

// What is small is published as it was when the folder was looked through; a large
// file is read again, and a change of it is found then.
func TestFolderHoldsSmallFiles(t *testing.T) {
	dir := t.TempDir()
	large := strings.Repeat("x", maxHeldFile+1)
	write(t, dir, map[string]string{"docs.json": "{}", "empty.mdx": "", "small.mdx": "before", "edge.mdx": large[:maxHeldFile], "large.mdx": large})
	f, err := openFolder(t.Context(), dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, file := range f.Files {
		data, err := os.ReadFile(filepath.Join(dir, file.Path))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); file.SHA256 != hex.EncodeToString(sum[:]) || file.Size != int64(len(data)) {
			t.Errorf("%s: %d bytes, digest %s", file.Path, file.Size, file.SHA256)
		}
	}
	write(t, dir, map[string]string{"small.mdx": "after", "edge.mdx": "after", "large.mdx": "after"})
	for name, want := range map[string]string{"docs.json": "{}", "empty.mdx": "", "small.mdx": "before", "edge.mdx": large[:maxHeldFile], "large.mdx": "after"} {
		in, err := f.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil || string(data) != want {
			t.Errorf("%s has %d bytes, error %v; want %d", name, len(data), err, len(want))
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}
