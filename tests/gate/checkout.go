package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Variables of the environment for tests (see tests/outside).
const (
	envShared  = "BINDERY_SHARED"
	envDigest  = "BINDERY_SHARED_DIGEST"
	envRequire = "BINDERY_REQUIRE"
	envCache   = "BINDERY_CACHE"
)

// runInClone runs the gate on the commit of the checkout in dir, in a clone in a
// folder that stays the same from run to run. Go's test cache then knows which
// tests a change can't reach: it compares the names, sizes and times of the
// files that a test opened.
func runInClone(ctx context.Context, dir string, out io.Writer) error {
	caller, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if changes, err := git(ctx, caller, "status", "--porcelain"); err != nil {
		return err
	} else if changes != "" {
		return fmt.Errorf("the gate runs on a commit, and these changes are in none:\n%s", changes)
	}
	commit, err := git(ctx, caller, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	folder, err := gateFolder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	held, err := outside.Lock(filepath.Join(folder, "lock"), func() { fmt.Fprintln(out, "waiting for another run of the gate to end") })
	if err != nil {
		return err
	}
	defer held.Close()
	clone := filepath.Join(folder, "checkout")
	if err := updateClone(ctx, caller, clone, commit); err != nil {
		return err
	}
	env, err := cloneEnv(caller, folder, out)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./tests/gate", "ci")
	cmd.Dir, cmd.Env = clone, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd, time.Minute)
	failure := cmd.Run()
	if err := copyReport(clone, caller); err != nil && failure == nil {
		return err
	}
	if failure != nil {
		return fmt.Errorf("the gate did not pass; logs are in %s: %w", filepath.Join(clone, ".cache", "gate", "logs"), failure)
	}
	tree, err := git(ctx, caller, "rev-parse", commit+"^{tree}")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(caller, ".cache", "ci-passed"), []byte(tree+"\n"), 0o644)
}

// gateFolder is where the gate keeps its clone: gate in $BINDERY_CACHE, else in
// bindery in the user's folder for caches.
func gateFolder() (string, error) {
	cache := os.Getenv(envCache)
	if cache == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(user, ".cache")), "bindery")
	}
	return filepath.Abs(filepath.Join(cache, "gate"))
}

// updateClone brings the clone to the commit. Files that do not differ keep their
// times; what the commit does not have is removed, except .cache and bin.
func updateClone(ctx context.Context, caller, clone, commit string) error {
	if _, err := os.Stat(filepath.Join(clone, ".git")); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(clone, 0o755); err != nil {
			return err
		}
		if _, err := git(ctx, clone, "init", "--quiet"); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"fetch", "--quiet", "--update-shallow", "--prune", "--prune-tags", caller, "+HEAD:refs/gate/head", "+refs/tags/*:refs/tags/*"},
		{"checkout", "--quiet", "--force", "--detach", commit},
		{"clean", "--quiet", "-ffdx", "-e", "/.cache", "-e", "/bin"},
	} {
		if _, err := git(ctx, clone, args...); err != nil {
			return err
		}
	}
	return nil
}

// cloneEnv returns what the environment of the gate in the clone adds. The shared
// folder is a link at a fixed place, so that the results of tests that read
// it can be cached; its digest says what is in it.
func cloneEnv(caller, folder string, out io.Writer) ([]string, error) {
	link := filepath.Join(folder, "shared")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	shared := os.Getenv(envShared)
	switch {
	case shared == "":
		shared = filepath.Join(filepath.Dir(caller), "shared")
		if _, err := os.Stat(filepath.Join(shared, "corpora")); err != nil {
			fmt.Fprintln(out, "no shared folder: tests that need it, root or a Docker engine may say that they did not run")
			return []string{envRequire + "=tools", envShared + "="}, nil
		}
	case !filepath.IsAbs(shared):
		shared = filepath.Join(caller, shared)
	}
	if err := os.Symlink(shared, link); err != nil {
		return nil, err
	}
	digest, err := digestOf(shared)
	if err != nil {
		return nil, err
	}
	return []string{envRequire + "=all", envShared + "=" + link, envDigest + "=" + digest}, nil
}

// digestOf returns a digest of the names and contents of all files in a folder.
func digestOf(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %x\n", strings.TrimPrefix(path, dir), sum.Sum(nil))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:32], err
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
