package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/klauspost/compress/zstd"
)

// program is one packed file.
type program struct {
	Name string
	Code []byte
}

// maxPacked keeps every file of the repository under a megabyte.
const maxPacked = 1 << 20

// build makes the programs from the libraries under npm and the entry points
// in js. The same input gives the same bytes.
func build(npm, js string) ([]program, error) {
	npm, err := filepath.Abs(npm)
	if err != nil {
		return nil, err
	}
	// The order of modules follows their paths, which esbuild resolves.
	if npm, err = filepath.EvalSymlinks(npm); err != nil {
		return nil, err
	}
	if js, err = filepath.Abs(js); err != nil {
		return nil, err
	}
	var programs []program
	for _, name := range []string{"utilities", "islands", "formulas"} {
		code, err := bundle(npm, js, name)
		if err == nil && name == "formulas" {
			code, err = minified(name, code)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		programs = append(programs, program{name, code})
	}
	// Mermaid's own build for pages is a classic script already.
	code, err := os.ReadFile(filepath.Join(npm, "node_modules/mermaid/dist/mermaid.min.js"))
	if err != nil {
		return nil, err
	}
	return append(programs, program{"mermaid", code}), nil
}

// bundle makes one classic script of an entry point and all that it imports.
func bundle(npm, js, name string) ([]byte, error) {
	modules := filepath.Join(npm, "node_modules")
	options := api.BuildOptions{
		EntryPoints:       []string{filepath.Join(js, name+".js")},
		AbsWorkingDir:     npm,
		NodePaths:         []string{modules},
		Bundle:            true,
		Format:            api.FormatIIFE,
		Platform:          api.PlatformNeutral,
		MainFields:        []string{"module", "main"},
		Target:            api.ESNext,
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsNone, // the licences lie beside the data
		Charset:           api.CharsetASCII,
		Loader:            map[string]api.Loader{".css": api.LoaderText},
		TsconfigRaw:       "{}",
	}
	if name == "formulas" {
		// What is counted is minified after that.
		options.MinifyWhitespace, options.MinifySyntax, options.MinifyIdentifiers = false, false, false
		options.Supported = map[string]bool{"arrow": false}
		options.Plugins = []api.Plugin{{Name: "lexer", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: `^\./Lexer$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
				return api.OnResolveResult{Path: filepath.Join(js, "lexer.js")}, nil
			})
		}}}
	}
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	return result.OutputFiles[0].Contents, nil
}

// minified writes counts into a program and makes it short.
func minified(name string, code []byte) ([]byte, error) {
	code, err := counted(name+".js", code)
	if err != nil {
		return nil, err
	}
	result := api.Transform("(() => {\n"+string(code)+"})();\n", api.TransformOptions{
		Target: api.ESNext, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone, Charset: api.CharsetASCII,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	return result.Code, nil
}

// write packs a program into out.
func (p program) write(out string) (int, error) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(p.Code); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if b.Len() > maxPacked {
		return 0, fmt.Errorf("%d bytes packed are too many", b.Len())
	}
	return b.Len(), os.WriteFile(filepath.Join(out, "data", p.Name+".js.zst"), b.Bytes(), 0o644)
}

// heading is the comment that a file begins with, which names its authors.
func heading(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		if bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("temml")) {
			return append(bytes.TrimSpace(b.Bytes()), '\n'), nil
		}
		b.Write(line)
	}
	return nil, fmt.Errorf("%s has no code", file)
}

// licences copies those of all libraries.
func licences(npm, out string) error {
	for _, l := range []struct{ library, file string }{
		{"tailwindcss", "LICENSE"}, {"mermaid", "LICENSE"}, {"preact", "LICENSE"}, {"temml", "LICENSE"},
	} {
		data, err := os.ReadFile(filepath.Join(npm, "node_modules", l.library, l.file))
		if err != nil {
			return err
		}
		if l.library == "temml" {
			for _, plugin := range []string{"mhchem", "physics"} {
				head, err := heading(filepath.Join(npm, "node_modules/temml/contrib", plugin, plugin+".js"))
				if err != nil {
					return err
				}
				data = append(append(data, '\n'), head...)
			}
		}
		if err := os.WriteFile(filepath.Join(out, "licences", l.library+".txt"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
