package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// readers maps folders that hold no package to packages that read their files.
var readers = map[string][]string{
	"events":                 {"functions", "tests/cloud"},
	"infra/chart":            {"tests/chart", "tests/pipelines", "infra/image"},
	"infra/local":            {"tests/cloud"},
	"infra/docs":             {"infra/docs", "tests/rules", "tests/export"},
	"tests/tools":            {"tests/outside", "tests/cloud", "tests/export", "shared/service/cloud"},
	".ci":                    {"tests/outside", "tests/gate"},
	".github":                {"tests/pipelines", "tests/rules"},
	".goreleaser.yaml":       {"tests/release"},
	".pre-commit-hooks.yaml": {"tests/pipelines"},
}

// runAffected runs the tests of the packages that differ from the revision, or
// that import one that does.
func runAffected(ctx context.Context, args []string, out io.Writer) error {
	o, err := testOptions(args)
	if err != nil {
		return err
	}
	if len(o.args) != 1 {
		return usageError("affected takes one revision")
	}
	rev := o.args[0]
	base, err := git(ctx, ".", "merge-base", rev, "HEAD")
	if err != nil {
		return err
	}
	changed, err := git(ctx, ".", "diff", "--name-only", "--no-renames", base)
	if err != nil {
		return err
	}
	untracked, err := git(ctx, ".", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	list, err := packages(ctx, ".")
	if err != nil {
		return err
	}
	names := affected(list, strings.Fields(changed+"\n"+untracked))
	if len(names) == 0 {
		fmt.Fprintf(out, "no test reaches what differs from %s\n", rev)
		return nil
	}
	fmt.Fprintf(out, "%d packages\n", len(names))
	o.args, o.only = nil, setOf(names)
	return runTests(ctx, o, out)
}

// affected returns the packages with tests that the changed files can reach.
func affected(list []pkg, files []string) []string {
	byName := map[string]pkg{}
	for _, p := range list {
		byName[p.name()] = p
	}
	dirty := map[string]bool{}
	everything := false
	for _, file := range files {
		everything = everything || file == "go.mod" || file == "go.sum"
		found := false
		for dir := path.Dir(file); dir != "." && !found; dir = path.Dir(dir) {
			if p, ok := byName[dir]; ok {
				dirty[p.ImportPath], found = true, true
			}
		}
		for folder, names := range readers {
			if file == folder || strings.HasPrefix(file, folder+"/") {
				for _, name := range names {
					dirty[module+"/"+name], found = true, true
				}
			}
		}
		dirty[module+"/tests/rules"] = true // reads every source and page
	}
	reached := reach(list)
	var names []string
	for _, p := range list {
		if !p.hasTests() {
			continue
		}
		hit := everything
		for q := range reached[p.ImportPath] {
			hit = hit || dirty[q]
		}
		if hit {
			names = append(names, p.name())
		}
	}
	slices.Sort(names)
	return names
}
