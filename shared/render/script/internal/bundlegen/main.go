// Command bundlegen packs the JavaScript libraries that package script runs or
// hands to pages, and makes the rules for formulas of those of Temml. Run it by hand to
// renew one:
//
//	.ci/tools script                                         # npm ci, with a link .cache/script
//	go run ./internal/bundlegen -npm ../../../.cache/script    # in shared/render/script
//
// Versions are pinned by the lock file here.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// stylesFile is where the rules of formulas go, from the folder of package script.
const stylesFile = "../theme/assets/formulas.css"

func main() {
	npm := flag.String("npm", "", "folder that holds node_modules")
	js := flag.String("js", "internal/bundlegen/js", "folder of the entry points")
	out := flag.String("out", ".", "folder of package script")
	flag.Parse()
	if err := run(*npm, *js, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bundlegen:", err)
		os.Exit(1)
	}
}

func run(npm, js, out string) error {
	programs, err := build(npm, js)
	if err != nil {
		return err
	}
	for _, p := range programs {
		n, err := p.write(out)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Printf("%s: %d bytes, %d packed\n", p.Name, len(p.Code), n)
	}
	rules, err := styles(npm)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, stylesFile), rules, 0o644); err != nil {
		return err
	}
	return licences(npm, out)
}
