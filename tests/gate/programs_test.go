package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestLink links two programs of a small module, of which one has the renderer, and
// holds which are linked again after a change.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module "+module+"\n\ngo 1.26\n")
	write(t, dir, "shared/service/export/export.go", "package export\n\nvar sources string\n\nfunc Name() string { return sources }\n")
	write(t, dir, "cmd/export/main.go", "package main\n\nimport \""+renderer+"\"\n\nfunc main() { print(export.Name()) }\n")
	write(t, dir, "cmd/other/main.go", "package main\n\nfunc main() { print(1) }\n")
	t.Chdir(dir)
	b := build{patterns: []string{"./cmd/..."}, arch: runtime.GOARCH, place: func(name string) string { return filepath.Join("programs", name) }}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, c := range []struct {
		name    string
		change  func()
		ldflags string
		// linked and replaced say what becomes of the programs export and other.
		linked, replaced map[string]bool
	}{
		{"the first time", func() {}, "-s -w -buildid= -X " + renderer + ".sources=1", map[string]bool{"export": true, "other": true}, map[string]bool{"export": true, "other": true}},
		{"nothing changed", func() {}, "-s -w -buildid= -X " + renderer + ".sources=1", nil, nil},
		{"another renderer", func() {}, "-s -w -buildid= -X " + renderer + ".sources=2", map[string]bool{"export": true}, map[string]bool{"export": true}},
		{"other flags", func() {}, "-buildid= -X " + renderer + ".sources=2", map[string]bool{"export": true, "other": true}, map[string]bool{"export": true, "other": true}},
		{
			"a package of one", func() { write(t, dir, "cmd/other/main.go", "package main\n\nfunc main() { print(2) }\n") },
			"-buildid= -X " + renderer + ".sources=2", map[string]bool{"other": true}, map[string]bool{"other": true},
		},
		{
			"a program is gone", func() { _ = os.Remove("bin/programs/export") },
			"-buildid= -X " + renderer + ".sources=2", map[string]bool{"export": true}, map[string]bool{"export": true},
		},
		{
			"another key of an equal program", func() { write(t, dir, "bin/.keys/programs/other", "unknown") },
			"-buildid= -X " + renderer + ".sources=2", map[string]bool{"other": true}, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.change()
			var out bytes.Buffer
			if err := b.link(context.Background(), "bin", c.ldflags, &out); err != nil {
				t.Fatal(err)
			}
			want := ""
			if n := len(c.linked); n > 0 {
				want = "linking " + string('0'+rune(n)) + " programs for " + runtime.GOARCH + "\n"
			}
			if out.String() != want {
				t.Errorf("it prints %q, want %q", out.String(), want)
			}
			for _, name := range []string{"export", "other"} {
				file := filepath.Join("bin", "programs", name)
				if fresh := !stat(t, file).ModTime().Equal(old); fresh != c.replaced[name] {
					t.Errorf("%s was replaced: %t", name, fresh)
				}
				if err := os.Chtimes(file, old, old); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if left, err := filepath.Glob("bin/.linking-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	write(t, dir, "cmd/other/main.go", "package main\n\nfunc main() { print(nothing) }\n")
	if err := b.link(context.Background(), "bin", "", &bytes.Buffer{}); err == nil || !bytes.Contains([]byte(err.Error()), []byte("nothing")) {
		t.Errorf("of a program that does not compile it says %v", err)
	}
}
