package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/bindery-docs/bindery"

// A pkg is a package of the module, as go list shows it.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles                            []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
}

// name is the package's folder from the root of the module.
func (p pkg) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func (p pkg) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// packages lists the packages of the module in the folder.
func packages(ctx context.Context, dir string) ([]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	var errs bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, errs.Bytes())
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
}

// reach maps each package with tests to all packages of the module that its
// tests can run: itself, what it and its tests import, and so on.
func reach(list []pkg) map[string]map[string]bool {
	byPath := map[string]pkg{}
	for _, p := range list {
		byPath[p.ImportPath] = p
	}
	all := map[string]map[string]bool{}
	for _, p := range list {
		seen := map[string]bool{p.ImportPath: true}
		queue := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		for len(queue) > 0 {
			path := queue[0]
			queue = queue[1:]
			if q, ours := byPath[path]; ours && !seen[path] {
				seen[path] = true
				queue = append(queue, q.Imports...)
			}
		}
		all[p.ImportPath] = seen
	}
	return all
}

// concurrent reports whether a package does several things at a time: it has a
// go statement, imports sync, sync/atomic or errgroup, or calls AfterFunc. Its
// short tests run under the race detector.
func concurrent(p pkg) (bool, error) {
	for _, path := range p.Imports {
		if path == "sync" || path == "sync/atomic" || path == "golang.org/x/sync/errgroup" {
			return true, nil
		}
	}
	for _, file := range p.GoFiles {
		src, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return false, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.SelectorExpr:
				found = found || n.Sel.Name == "AfterFunc"
			}
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}

// raced returns the names of the packages with tests that are concurrent.
func raced(list []pkg) ([]string, error) {
	var names []string
	for _, p := range list {
		if !p.hasTests() || strings.HasPrefix(p.name(), "tests/") {
			continue // tests of several packages drive whole programs, built without the detector
		}
		is, err := concurrent(p)
		if err != nil {
			return nil, err
		}
		if is {
			names = append(names, p.name())
		}
	}
	slices.Sort(names)
	return names, nil
}
