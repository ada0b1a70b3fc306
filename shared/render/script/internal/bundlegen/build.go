package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

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
	for _, name := range []string{"graph", "elk", "utilities", "islands"} {
		code, err := bundle(npm, js, name)
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
	var mu sync.Mutex                        // files are read at the same time
	left := make(map[int]bool, len(patches)) // patches that found no place yet
	for i := range patches {
		left[i] = true
	}
	result := api.Build(api.BuildOptions{
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
		Plugins: []api.Plugin{{
			Name: "bindery",
			Setup: func(b api.PluginBuild) {
				b.OnResolve(api.OnResolveOptions{Filter: `^beautiful-mermaid/`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
					return api.OnResolveResult{Path: filepath.Join(modules, "beautiful-mermaid/src", strings.TrimPrefix(a.Path, "beautiful-mermaid/"))}, nil
				})
				b.OnResolve(api.OnResolveOptions{Filter: `^elkjs/lib/elk\.bundled\.js$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
					if strings.Contains(a.Importer, "beautiful-mermaid") {
						return api.OnResolveResult{Path: filepath.Join(js, "elk-when-needed.js")}, nil
					}
					return api.OnResolveResult{}, nil
				})
				b.OnLoad(api.OnLoadOptions{Filter: `beautiful-mermaid/src/.*\.ts$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
					src, err := os.ReadFile(a.Path)
					if err != nil {
						return api.OnLoadResult{}, err
					}
					_, file, _ := strings.Cut(filepath.ToSlash(a.Path), "beautiful-mermaid/src/")
					mu.Lock()
					defer mu.Unlock()
					code, err := patch(file, string(src), left)
					return api.OnLoadResult{Contents: &code, Loader: api.LoaderTS}, err
				})
			},
		}},
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	if name == "graph" && len(left) > 0 {
		return nil, fmt.Errorf("%d patches belong to files that were not read", len(left))
	}
	return result.OutputFiles[0].Contents, nil
}

// patch changes one source file.
func patch(file, src string, left map[int]bool) (string, error) {
	for i, p := range patches {
		if p.file != file {
			continue
		}
		if n := strings.Count(src, p.old); n == 0 || n > 1 && !p.all {
			return "", fmt.Errorf("patch %q: its text is there %d times", p.why, n)
		}
		src = strings.ReplaceAll(src, p.old, p.new)
		delete(left, i)
	}
	return src, nil
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

// licences copies those of all libraries.
func licences(npm, out string) error {
	for _, l := range []struct{ library, file string }{
		{"beautiful-mermaid", "LICENSE"}, {"elkjs", "LICENSE.md"}, {"tailwindcss", "LICENSE"}, {"mermaid", "LICENSE"}, {"preact", "LICENSE"},
	} {
		data, err := os.ReadFile(filepath.Join(npm, "node_modules", l.library, l.file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, "licences", l.library+".txt"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
