// Package buildid computes the digest of the sources that a package of this
// module is built from: what tells one build's output from another's, wherever,
// how and from which commit it was built.
//
//	buildid.go  Digest, Files and Here
//	sum         prints a digest, for builds that put it into their programs
package buildid

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Digest returns 32 hexadecimal digits that stand for the sources of a package
// in the checkout root: Go files and embedded files of the package and of every
// package of the module that it imports, and the versions of the module's
// dependencies. pkg is a folder, relative to root. Tests, and packages that it
// does not import, do not count.
//
// Files are chosen as for linux/arm64, which Lambda functions run on, whatever
// this machine is: a digest computed on a laptop equals that of a deployment.
// The errors are those of reading files, and of Go files that do not parse.
func Digest(root, pkg string) (string, error) {
	digest, _, err := digestOf(root, pkg)
	return digest, err
}

// digestOf returns the digest of pkg and the time of its newest source.
func digestOf(root, pkg string) (digest string, newest time.Time, err error) {
	files, err := Files(root, pkg)
	if err != nil {
		return "", newest, err
	}
	h := sha256.New()
	for _, name := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err != nil {
			return "", newest, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", newest, err
		}
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(data))
	}
	requires, err := required(root)
	if err != nil {
		return "", newest, err
	}
	for _, line := range requires {
		fmt.Fprintln(h, line)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), newest, nil
}

// Files returns the files that Digest reads of packages, sorted, with slashes
// and relative to root.
func Files(root, pkg string) ([]string, error) {
	module, err := moduleOf(root)
	if err != nil {
		return nil, err
	}
	target := build.Default
	target.GOOS, target.GOARCH, target.CgoEnabled, target.BuildTags = "linux", "arm64", false, nil
	seen, files := map[string]bool{}, map[string]bool{}
	for open := []string{path.Clean(filepath.ToSlash(pkg))}; len(open) > 0; {
		dir := open[0]
		open = open[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		p, err := target.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, name := range p.GoFiles {
			files[path.Join(dir, name)] = true
		}
		for _, pattern := range p.EmbedPatterns {
			if err := addEmbedded(files, root, dir, pattern); err != nil {
				return nil, err
			}
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
				open = append(open, ours)
			}
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// addEmbedded adds the files of a go:embed pattern, chosen as the go command
// does: files of a folder but for those that begin with a dot or an underscore,
// which the prefix "all:" lets in.
func addEmbedded(files map[string]bool, root, dir, pattern string) error {
	pattern, all := strings.CutPrefix(pattern, "all:")
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), filepath.FromSlash(pattern)))
	if err != nil {
		return fmt.Errorf("%s: go:embed %s: %w", dir, pattern, err)
	}
	for _, start := range found {
		err := filepath.WalkDir(start, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"); hidden && !all && file != start {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if d.Type().IsRegular() {
				rel, err := filepath.Rel(root, file)
				if err != nil {
					return err
				}
				files[filepath.ToSlash(rel)] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Here returns the digest of pkg in the checkout that the running program was
// built from. It reports false where there is none, as for a program that was
// copied to another machine or built with -trimpath, and where a source is newer
// than the program: then the sources no longer say what the program is.
func Here(pkg string) (digest string, ok bool) {
	_, self, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(self) {
		return "", false
	}
	program, err := os.Executable()
	if err != nil {
		return "", false
	}
	built, err := os.Stat(program)
	if err != nil {
		return "", false
	}
	digest, newest, err := digestOf(filepath.Join(filepath.Dir(self), "..", "..", ".."), pkg)
	return digest, err == nil && !newest.After(built.ModTime())
}

// moduleOf returns the path of the module in root.
func moduleOf(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(data) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "module "); ok {
			return strings.Trim(name, ` "`), nil
		}
	}
	return "", errors.New("go.mod names no module")
}

// required returns the lines of go.mod that name versions, without comments,
// sorted. All of them count, those of tests alone too: which modules a package
// is built from only the go command knows, and a program may have to ask where
// there is none.
func required(root string) ([]string, error) {
	f, err := os.Open(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "//")
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0] == "require" {
			fields = fields[1:]
		}
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") || slices.Contains(fields, "=>") {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	slices.Sort(lines)
	return lines, nil
}
