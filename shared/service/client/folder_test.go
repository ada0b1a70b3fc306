package client

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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
	f, err := openFolder(t.Context(), dir, nil, nil, nil)
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
		{"a folder that can't be read as one", map[string]string{"docs.json/a": "x"}, nil,
			[]string{"docs.json: the folder has no docs.json and no mint.json, so it is not a documentation site"}},
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
			_, err := openFolder(t.Context(), dir, nil, nil, nil)
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
		if _, err := openFolder(t.Context(), filepath.Join(t.TempDir(), "missing"), nil, nil, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("what can't be read is left out", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"docs.json": "{}", "real/a.mdx": "x", ".git/config": "token", "cafe\u0301.mdx": "1", "caf\u00e9.mdx": "2"})
		for name, target := range map[string]string{
			"ok.mdx": "real/a.mdx", "okdir": "real", "out.txt": outside + "/secret.txt", "up": "../..", "nowhere": "missing",
			"round": ".", "real/loop": "../real", "git.txt": ".git/config", ".hidden": outside,
		} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := openFolder(t.Context(), dir, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var files, refused []string
		for _, file := range f.Files {
			files = append(files, file.Path)
		}
		for _, r := range f.Refused {
			refused = append(refused, r.Path+": "+r.Reason)
		}
		if diff := cmp.Diff([]string{"café.mdx", "docs.json", "ok.mdx", "okdir/a.mdx", "real/a.mdx"}, files); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{
			"café.mdx: another file has the same name in Unicode normal form C",
			"git.txt: the symbolic link points to a hidden file",
			"nowhere: the symbolic link points to nothing",
			"okdir/loop: the symbolic link points to a folder that contains it",
			"out.txt: the symbolic link points outside the folder",
			"real/loop: the symbolic link points to a folder that contains it",
			"round: the symbolic link points to a folder that contains it",
			"up: the symbolic link points outside the folder",
		}, refused); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("names that not every disk can carry", func(t *testing.T) {
		dir := t.TempDir()
		names := []string{"16:30.mdx", "a...", "a?.mdx", "aux.mdx", "docs.json", "back\\slash.mdx", "line\nend.mdx", "Guide.mdx", "guide.mdx"}
		for _, name := range append(names, "bad\xffbyte.mdx") {
			writeFiles(t, dir, map[string]string{name: "{}"})
		}
		f, err := openFolder(t.Context(), dir, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got []string
		for _, file := range f.Files {
			got = append(got, file.Path)
		}
		want := append(names, "bad\ufffdbyte.mdx")
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the files of the caller, and hidden ones that the site publishes", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{
			"docs.json": "{}", "bundle.tar.gz": "x", "sub/bundle.tar.gz": "x", ".env.example": "x", ".env": "x", ".config/a.txt": "x", ".config/b.bin": "x",
			"bindery.yaml": "publish:\n  - .env.example\n  - .config/*.txt\n  - .secret\n", ".mintignore": ".secret\n", ".secret": "x",
		})
		f, err := openFolder(t.Context(), dir, []string{filepath.Join(dir, "bundle.tar.gz"), filepath.Join(dir, "sub/../none")}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got []string
		for _, file := range f.Files {
			got = append(got, file.Path)
		}
		if diff := cmp.Diff([]string{".config/a.txt", ".env.example", "bindery.yaml", "docs.json", "sub/bundle.tar.gz"}, got); diff != "" {
			t.Error(diff)
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
		f, err := openFolder(t.Context(), dir, nil, nil, nil)
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
// What the system does not let us read is left out, and stops nothing.
func TestFolderLeavesOutWhatIsClosed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "x", "own.mdx": "x", "closed.mdx": "x", "closed/b.mdx": "x"})
	withoutRoot(t, dir)
	for name, mode := range map[string]os.FileMode{"own.mdx": 0o600, "closed.mdx": 0, "closed": 0} {
		name := filepath.Join(dir, name)
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(name, 0o700) })
	}
	if _, err := os.ReadFile(filepath.Join(dir, "closed.mdx")); err == nil {
		t.Fatal("a file of mode 0 can be read")
	}
	f, err := openFolder(t.Context(), dir, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files, refused []string
	for _, file := range f.Files {
		files = append(files, file.Path)
	}
	for _, r := range f.Refused {
		refused = append(refused, r.Path+": "+r.Reason)
	}
	if diff := cmp.Diff([]string{"a.mdx", "docs.json", "own.mdx"}, files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"closed: it can't be read: permission denied", "closed.mdx: it can't be read: permission denied"}, refused); diff != "" {
		t.Error(diff)
	}
}

// A file that was found and can't be read stops a publish: the error names each, why,
// and how to do without it.
func TestFolderNamesWhatFailsHalfWay(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "x", "images/b.png": "x", "c.mdx": "x"})
	w, err := newWalk(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.root.Close()
	f, paths, err := w.look()
	if err != nil {
		t.Fatal(err)
	}
	f.Files = make([]snapshot.File, len(paths))
	for i, path := range paths {
		f.Files[i].Path = path
	}
	for _, name := range []string{"images/b.png", "c.mdx"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "images", "b.png"), 0o755); err != nil { // reading one fails
		t.Fatal(err)
	}
	if err := w.digest(f, nil, nil); err != nil {
		t.Fatal(err)
	}
	got := (&folderError{Dir: "site", Faults: w.sortedFaults()}).Error()
	want := regexp.MustCompile(`^site can't be published:
  "?c\.mdx"?: it was there and is gone: publish again when the folder is at rest
  "?images/b\.png"?: it can't be read: [^\n]+; to publish without it, add the line /images/b\.png to \.mintignore$`)
	if !want.MatchString(got) {
		t.Errorf("the error is %s", got)
	}
}

func TestFolderHoldsSmallFiles(t *testing.T) {
	dir := t.TempDir()
	large := strings.Repeat("x", maxHeldFile+1)
	write(t, dir, map[string]string{"docs.json": "{}", "empty.mdx": "", "small.mdx": "before", "edge.mdx": large[:maxHeldFile], "large.mdx": large})
	f, err := openFolder(t.Context(), dir, nil, nil, nil)
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
