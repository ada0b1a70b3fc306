package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compile builds a program of the checkout, static, for Linux on arch, and
// returns its file in dir.
func compile(ctx context.Context, o order, pkg, arch, dir string) (string, error) {
	file := filepath.Join(dir, arch+"-"+filepath.Base(pkg))
	return file, goCommand(ctx, o.root, target(arch), "build", "-trimpath", "-buildvcs=false", "-ldflags="+o.ldflags, "-o", file, pkg)
}

// compileModule builds a program of another module at a version. Its
// dependencies are its own, none of the checkout's.
func compileModule(ctx context.Context, module, arch, dir string) (string, error) {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	// `go install` has no flag for where to: it is GOPATH/bin, or a folder of
	// the architecture in it.
	path := filepath.Join(dir, "gopath-"+arch)
	env := append(target(arch), "GOPATH="+path, "GOMODCACHE="+strings.TrimSpace(string(cache)), "GOBIN=")
	if err := goCommand(ctx, dir, env, "install", "-trimpath", "-ldflags=-s -w", module); err != nil {
		return "", err
	}
	name, _, _ := strings.Cut(filepath.Base(module), "@")
	for _, file := range []string{filepath.Join(path, "bin", "linux_"+arch, name), filepath.Join(path, "bin", name)} {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("go install %s left no program", module)
}

func target(arch string) []string {
	return []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch, "GOFLAGS=", "GOWORK=off"}
}

func goCommand(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	return nil
}
