package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// ruleName is a class in a selector of Temml's style sheet.
var ruleName = regexp.MustCompile(`\.(?:tml-)?([a-z][a-z0-9-]*)`)

// styles makes the rules for what formulas.js writes of Temml's style sheet for the
// font STIX Two Math. Classes have our beginning, and the rules that name fonts
// are left out: package theme has its own.
func styles(npm string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(npm, "node_modules/temml/dist/Temml-STIX2.css"))
	if err != nil {
		return nil, err
	}
	result := api.Transform(string(data), api.TransformOptions{Loader: api.LoaderCSS, LegalComments: api.LegalCommentsNone})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("%v", result.Errors)
	}
	var b strings.Builder
	skip := false
	for line := range strings.Lines(string(result.Code)) {
		head := strings.HasSuffix(line, "{\n")
		switch {
		case line == "@font-face {\n":
			skip = true
		case skip:
			skip = line != "}\n"
			continue
		case strings.Contains(line, "font-family: STIX2"):
			continue
		}
		if skip {
			continue
		}
		if head && !strings.HasPrefix(strings.TrimSpace(line), "@") || strings.HasSuffix(line, ",\n") && !strings.Contains(line, ":") {
			line = ruleName.ReplaceAllString(line, ".bdy-tml-$1")
		}
		b.WriteString(strings.ReplaceAll(line, "tmlEqnNo", "bdy-equation"))
	}
	// As Temml's own inline style says; browsers keep the one that they know.
	b.WriteString("math.bdy-tml-display {\n  display: block;\n  display: block math;\n}\n")
	// The number of an equation stands at the margin.
	b.WriteString("semantics:has(.bdy-tml-tageqn, .bdy-tml-eqn) {\n  width: 100%;\n}\n")
	b.WriteString(".bdy-tml-tageqn > mtd:last-child, mtd:has(> .bdy-tml-eqn) {\n  text-align: right;\n  text-align: -webkit-right;\n}\n")
	min := api.Transform(b.String(), api.TransformOptions{Loader: api.LoaderCSS, MinifyWhitespace: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone})
	if len(min.Errors) > 0 {
		return nil, fmt.Errorf("%v", min.Errors)
	}
	licence, err := os.ReadFile(filepath.Join(npm, "node_modules/temml/LICENSE"))
	if err != nil {
		return nil, err
	}
	return append([]byte("/*! Rules of Temml\n"+string(licence)+"*/\n"), min.Code...), nil
}
