package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func (b *bench) hugo() string { return filepath.Join(b.tools, "hugo") }

func (b *bench) pagefind() string {
	return filepath.Join(b.work, "npm", "pagefind", "node_modules", ".bin", "pagefind")
}

// run runs a command to its end and returns what it and its children took.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (took, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return took{}, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, last(string(out), 800))
	}
	return took{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(began)}, nil
}

// last is the end of a text, n bytes at most.
func last(s string, n int) string { return s[max(0, len(s)-n):] }

// hugoSite lays a set out as a site of Hugo.
func (b *bench) hugoSite(ctx context.Context, s set, site string) error {
	if err := os.RemoveAll(site); err != nil {
		return err
	}
	sidebar, err := os.ReadFile(filepath.Join(s.dir, "sidebar.json"))
	if err != nil {
		return err
	}
	styles, err := exec.CommandContext(ctx, b.hugo(), "gen", "chromastyles", "--style=github").Output()
	return errors.Join(err,
		os.CopyFS(site, os.DirFS(filepath.Join(b.shared, "peers", "templates", "hugo"))),
		os.CopyFS(filepath.Join(site, "content"), os.DirFS(filepath.Join(s.dir, "docs"))),
		writeFile(filepath.Join(site, "data", "sidebar.json"), sidebar),
		writeFile(filepath.Join(site, "static", "chroma.css"), styles))
}

func writeFile(path string, data []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
}

// runHugo builds a site anew, with its navigation cached: its fastest way.
func (b *bench) runHugo(ctx context.Context, site string) (took, error) {
	for _, old := range []string{"public", "resources", ".hugo_build.lock", ".cache"} {
		if err := os.RemoveAll(filepath.Join(site, old)); err != nil {
			return took{}, err
		}
	}
	return run(ctx, site, []string{"HUGO_PARAMS_NAV=cached", "HUGO_CACHEDIR=" + filepath.Join(site, ".cache")}, b.hugo(), "build")
}

// runRest does with Hugo's site what else an export does: an index for search,
// and one compressed archive.
func (b *bench) runRest(ctx context.Context, site string) (took, error) {
	index, err := run(ctx, site, nil, b.pagefind(), "--site", "public")
	if err != nil {
		return took{}, err
	}
	pack, err := run(ctx, site, nil, "sh", "-c", "tar -cf - public | gzip -5 >public.tar.gz")
	return index.plus(pack), err
}

// runBindery exports a set: it packs, publishes, exports, compresses and checks.
func (b *bench) runBindery(ctx context.Context, s set) (took, error) {
	site := filepath.Join(b.work, "sites", "bindery-"+s.name)
	if err := os.RemoveAll(site); err != nil {
		return took{}, err
	}
	sidebar, err := os.ReadFile(filepath.Join(s.dir, "sidebar.json"))
	if err != nil {
		return took{}, err
	}
	config, err := docsJSON(sidebar)
	if err != nil {
		return took{}, err
	}
	if err := errors.Join(os.CopyFS(site, os.DirFS(filepath.Join(s.dir, "docs"))), writeFile(filepath.Join(site, "docs.json"), config)); err != nil {
		return took{}, err
	}
	cache := filepath.Join(b.work, "kept") // an export that is a site's first
	if err := os.RemoveAll(cache); err != nil {
		return took{}, err
	}
	return run(ctx, b.work, nil, b.bindery, "run", site, "--cache", cache, "--out", filepath.Join(b.work, "bundle.tar.gz"))
}

// nodeTools prepares the tools on Node that are installed and returns their
// names. They know the whole corpus alone: their blocks are coloured, and never
// drawn.
func (b *bench) nodeTools(ctx context.Context, s set) (names []string) {
	if s.name != "1x" && s.name != "4x" || !b.node.MatchString(s.name) {
		return nil
	}
	for _, name := range []string{"docusaurus", "starlight", "vitepress"} {
		if _, err := os.Stat(filepath.Join(b.work, "npm", name, "node_modules")); err != nil {
			if s.name == "1x" {
				b.skip(name, errors.New("not installed; .ci/tools peers installs it"))
			}
			continue
		}
		if _, err := b.peers(ctx, "prepare", name, s.name); err != nil {
			b.skip(name+" on "+s.name, err)
			continue
		}
		names = append(names, name)
	}
	return names
}

// runNode builds a prepared site anew.
func (b *bench) runNode(ctx context.Context, name string, s set) (took, error) {
	args := []string{"run", name, s.name, "--runs", "1"}
	if name == "docusaurus" {
		args = append(args, "--env", "FASTER=1") // its fastest way
	}
	out, err := b.peers(ctx, args...)
	if err != nil {
		return took{}, err
	}
	var seconds struct{ Wall, CPU float64 }
	if err := json.Unmarshal(out, &seconds); err != nil {
		return took{}, err
	}
	of := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return took{of(seconds.CPU), of(seconds.Wall)}, nil
}

// peers runs the program of the shared folder that knows the tools on Node.
func (b *bench) peers(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "python3", append([]string{filepath.Join(b.shared, "peers", "bench.py")}, args...)...)
	cmd.Env = append(os.Environ(), "PEERS_DIR="+b.work)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, last(strings.TrimSpace(string(out)), 300))
	}
	return out, nil
}
