package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A build says how a group of programs is linked.
type build struct {
	// patterns are what go list is asked for.
	patterns []string
	arch     string
	tags     string
	// place returns where a program lies in the folder, from its name.
	place func(name string) string
}

// builds lists the programs that tests start: the command and the server as a
// release has them, and every function as it is deployed, for this machine and
// for AWS.
func builds() []build {
	functions := func(arch string) build {
		return build{[]string{"./functions/..."}, arch, "lambda.norpc,nethttpomithttp2", func(name string) string {
			return filepath.Join("functions-"+arch, name, "bootstrap")
		}}
	}
	list := []build{
		{[]string{"./infra/cmd/..."}, runtime.GOARCH, "", func(name string) string { return name }},
		functions(runtime.GOARCH),
	}
	if runtime.GOARCH != "arm64" {
		list = append(list, functions("arm64"))
	}
	return list
}

// renderer is the package that renders; only programs that link it have
// the digest of its sources.
const renderer = module + "/shared/service/export"

// runPrograms links the programs of builds into a folder. A program is linked
// anew only if a package in it, or a flag, has changed; its file is replaced only
// if it differs. So tests that open it stay in Go's test cache.
func runPrograms(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gate programs", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("to", "bin/programs", "folder")
	ldflags := flags.String("ldflags", "", "flags for the linker")
	if err := flags.Parse(args); err != nil {
		return usageError(err.Error())
	}
	// The CDK app is run with go run by several steps at the same time: each would
	// compile the CDK, which takes minutes.
	if _, err := (build{arch: runtime.GOARCH}).goCommand(ctx, "list", "-export", "-deps", "./infra"); err != nil {
		return err
	}
	for _, b := range builds() {
		if err := b.link(ctx, *dir, *ldflags, out); err != nil {
			return err
		}
	}
	return nil
}

// A listed is a package as go list shows it.
type listed struct {
	ImportPath, Name, BuildID string
	Deps                      []string
}

// keyFile is the file with the key of the main package at the path. It is not
// beside the program: what is there is deployed with it.
func (b build) keyFile(dir, path string) string {
	return filepath.Join(dir, ".keys", b.place(filepath.Base(path)))
}

func (b build) link(ctx context.Context, dir, ldflags string, out io.Writer) error {
	mains, err := b.keys(ctx, ldflags)
	if err != nil {
		return err
	}
	var stale []string
	for path, key := range mains {
		file := filepath.Join(dir, b.place(filepath.Base(path)))
		if old, err := os.ReadFile(b.keyFile(dir, path)); err != nil || string(old) != key {
			stale = append(stale, path)
		} else if _, err := os.Stat(file); err != nil {
			stale = append(stale, path)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	slices.Sort(stale)
	fmt.Fprintf(out, "linking %d programs for %s\n", len(stale), b.arch)
	fresh, err := os.MkdirTemp(mkdir(dir), ".linking-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	args := slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-tags", b.tags, "-o", fresh + string(filepath.Separator)}, stale)
	if _, err := b.goCommand(ctx, args...); err != nil {
		return err
	}
	for _, path := range stale {
		name := filepath.Base(path)
		file := filepath.Join(dir, b.place(name))
		if err := replace(filepath.Join(fresh, name), file); err != nil {
			return err
		}
		key := b.keyFile(dir, path)
		mkdir(filepath.Dir(key))
		if err := os.WriteFile(key, []byte(mains[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// keys maps the import paths of main packages to digests of what they are linked
// from.
func (b build) keys(ctx context.Context, ldflags string) (map[string]string, error) {
	args := slices.Concat([]string{"list", "-deps", "-export", "-trimpath", "-buildvcs=false", "-tags", b.tags, "-json=ImportPath,Name,BuildID,Deps"}, b.patterns)
	text, err := b.goCommand(ctx, args...)
	if err != nil {
		return nil, err
	}
	all := map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[l.ImportPath] = l
	}
	// Without the digest of the renderer's sources.
	plain, _, _ := strings.Cut(ldflags, "-X "+renderer)
	keys := map[string]string{}
	for path, l := range all {
		if l.Name != "main" {
			continue
		}
		flags := plain
		if slices.Contains(l.Deps, renderer) {
			flags = ldflags
		}
		h := sha256.New()
		fmt.Fprintln(h, runtime.Version(), b.arch, flags, l.BuildID)
		for _, dep := range l.Deps {
			fmt.Fprintln(h, dep, all[dep].BuildID)
		}
		keys[path] = fmt.Sprintf("%x", h.Sum(nil))
	}
	return keys, nil
}

func (b build) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+b.arch)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// replace moves a file to another's place, unless they are equal.
func replace(from, to string) error {
	fresh, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, fresh) {
		return nil
	}
	return os.Rename(from, filepath.Join(mkdir(filepath.Dir(to)), filepath.Base(to)))
}

// mkdir makes a folder, if it can be made, and returns its name.
func mkdir(dir string) string {
	_ = os.MkdirAll(dir, 0o755) // whatever comes next fails with the reason
	return dir
}
