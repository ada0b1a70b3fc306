// Command icongen packs three icon libraries into the files that package icons
// embeds. It is run by hand when a library is to be renewed:
//
//	npm pack lucide-static @tabler/icons @fortawesome/fontawesome-free
//	# unpack each, then, in shared/render/theme:
//	go run ./internal/icongen -lucide DIR -tabler DIR -fontawesome DIR -out icons/data
//
// Each DIR is the folder that holds the library's package.json.
package main

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/bindery-docs/bindery/shared/render/theme/icons"
)

func main() {
	lucide := flag.String("lucide", "", "folder of lucide-static")
	tabler := flag.String("tabler", "", "folder of @tabler/icons")
	fontawesome := flag.String("fontawesome", "", "folder of @fortawesome/fontawesome-free")
	out := flag.String("out", "icons/data", "folder to write to")
	flag.Parse()
	for _, lib := range []struct {
		name, dir string
		read      func(string) (map[string]string, error)
	}{
		{"lucide", *lucide, readLucide},
		{"tabler", *tabler, readTabler},
		{"fontawesome", *fontawesome, readFontAwesome},
	} {
		if lib.dir == "" {
			continue
		}
		entries, err := lib.read(lib.dir)
		if err == nil {
			err = write(filepath.Join(*out, lib.name+".bin"), entries)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "icongen: %s: %v\n", lib.name, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d names\n", lib.name, len(entries))
	}
}

// write packs entries, sorted by name, in blocks that are compressed each for
// itself, so that one icon costs one block.
func write(file string, entries map[string]string) error {
	names := slices.Sorted(maps.Keys(entries))
	var blocks []icons.Block
	for len(names) > 0 {
		n := min(icons.BlockNames, len(names))
		var raw, packed bytes.Buffer
		for _, name := range names[:n] {
			raw.WriteString(name + "\t" + entries[name] + "\n")
		}
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(raw.Bytes()); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		blocks = append(blocks, icons.Block{First: names[0], Data: packed.Bytes()})
		names = names[n:]
	}
	return os.WriteFile(file, icons.Encode(blocks), 0o644)
}

// An icon of Lucide is stroked, 24 by 24; names that moved are files with the
// same drawing.
func readLucide(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "icons", "*.svg"))
	if err != nil {
		return nil, err
	}
	byBody := map[string]string{}
	out := map[string]string{}
	slices.Sort(files)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		body := inner(string(src))
		if body == "" {
			return nil, fmt.Errorf("%s: no drawing", f)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".svg")
		if first, ok := byBody[body]; ok {
			out[name] = "=" + first
			continue
		}
		byBody[body] = name
		out[name] = "s" + joinPaths(body)
	}
	return out, nil
}

// Tabler has outline and filled drawings; a filled one is "name:filled".
func readTabler(dir string) (map[string]string, error) {
	out := map[string]string{}
	for _, style := range []struct{ file, kind, suffix string }{
		{"tabler-nodes-outline.json", "s", ""},
		{"tabler-nodes-filled.json", "f", ":filled"},
	} {
		src, err := os.ReadFile(filepath.Join(dir, style.file))
		if err != nil {
			return nil, err
		}
		var nodes map[string][][2]json.RawMessage
		if err := json.Unmarshal(src, &nodes); err != nil {
			return nil, err
		}
		for name, parts := range nodes {
			var b strings.Builder
			for _, p := range parts {
				var tag string
				var attrs map[string]string
				if err := json.Unmarshal(p[0], &tag); err != nil {
					return nil, err
				}
				if err := json.Unmarshal(p[1], &attrs); err != nil {
					return nil, err
				}
				if tag != "path" || attrs["d"] == "" || attrs["d"] == "M0 0h24v24H0z" {
					continue
				}
				b.WriteString(`<path d="` + attrs["d"] + `"`)
				for _, a := range []string{"fill", "stroke", "opacity"} {
					if v := attrs[a]; v != "" {
						b.WriteString(" " + a + `="` + v + `"`)
					}
				}
				b.WriteString("/>")
			}
			body := b.String()
			if style.kind == "s" {
				body = joinPaths(body)
			}
			out[name+style.suffix] = style.kind + body
		}
	}
	return out, nil
}

// Font Awesome's drawings are filled and of different widths; a key is
// "name:style". Its older names come from its own lists.
func readFontAwesome(dir string) (map[string]string, error) {
	src, err := os.ReadFile(filepath.Join(dir, "metadata", "icon-families.json"))
	if err != nil {
		return nil, err
	}
	var meta map[string]struct {
		Aliases struct{ Names []string }
		SVGs    map[string]map[string]struct {
			ViewBox [4]float64
			Path    json.RawMessage
		}
	}
	if err := json.Unmarshal(src, &meta); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, icon := range meta {
		for style, svg := range icon.SVGs["classic"] {
			var path string
			if err := json.Unmarshal(svg.Path, &path); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name+":"+style] = fmt.Sprintf("v%g %g %g %g|<path d=%q/>", svg.ViewBox[0], svg.ViewBox[1], svg.ViewBox[2], svg.ViewBox[3], path)
		}
	}
	alias := func(old, name, style string) {
		for _, s := range []string{"solid", "regular", "brands"} {
			if style != "" && s != style {
				continue
			}
			if _, ok := out[name+":"+s]; !ok {
				continue
			}
			if _, taken := out[old+":"+s]; !taken {
				out[old+":"+s] = "=" + name + ":" + s
			}
		}
	}
	for name, icon := range meta {
		for _, old := range icon.Aliases.Names {
			alias(old, name, "")
		}
	}
	if src, err = os.ReadFile(filepath.Join(dir, "metadata", "shims.yml")); err != nil {
		return nil, err
	}
	var shims map[string]struct{ Name, Prefix string }
	if err := yaml.Unmarshal(src, &shims); err != nil {
		return nil, err
	}
	for _, old := range slices.Sorted(maps.Keys(shims)) {
		s := shims[old]
		name := cmp.Or(s.Name, old)
		// Version 4 had one drawing a name, whatever style it has now.
		style := cmp.Or(map[string]string{"far": "regular", "fab": "brands"}[s.Prefix], "solid")
		for _, as := range []string{"solid", "regular", "brands"} {
			key := name + ":" + style
			if _, ok := out[key]; !ok {
				break
			}
			if _, taken := out[old+":"+as]; !taken && (as == style || as == "solid") {
				out[old+":"+as] = "=" + key
			}
		}
	}
	return out, nil
}

var (
	outer   = regexp.MustCompile(`(?s)<svg[^>]*>(.*)</svg>`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	between = regexp.MustCompile(`>\s+<`)
	closing = regexp.MustCompile(`\s*/>`)
	onePath = regexp.MustCompile(`^<path d="([^"]*)"/>`)
	moveTo  = regexp.MustCompile(`^m\s*(-?(?:\d+\.?\d*|\.\d+))[\s,]*(-?(?:\d+\.?\d*|\.\d+))\s*`)
)

// inner is the drawing inside an SVG file, without spaces between elements.
func inner(svg string) string {
	m := outer.FindStringSubmatch(comment.ReplaceAllString(svg, ""))
	if m == nil {
		return ""
	}
	s := strings.TrimSpace(between.ReplaceAllString(m[1], "><"))
	return closing.ReplaceAllString(s, "/>")
}

// joinPaths makes one path of neighbouring stroked paths. Each must then begin
// with an absolute move: a leading relative one is absolute anyway, but what
// follows its first pair is relative.
func joinPaths(body string) string {
	var b strings.Builder
	var d []string
	flush := func() {
		if len(d) > 0 {
			b.WriteString(`<path d="` + strings.Join(d, "") + `"/>`)
			d = nil
		}
	}
	for body != "" {
		if m := onePath.FindStringSubmatch(body); m != nil {
			p := m[1]
			if mv := moveTo.FindStringSubmatch(p); mv != nil {
				rest := p[len(mv[0]):]
				if rest != "" && strings.ContainsAny(rest[:1], "0123456789.-") {
					rest = "l" + rest
				}
				p = "M" + mv[1] + " " + mv[2] + rest
			}
			d = append(d, p)
			body = body[len(m[0]):]
			continue
		}
		flush()
		i := strings.IndexByte(body, '>') + 1
		b.WriteString(body[:i])
		body = body[i:]
	}
	flush()
	return b.String()
}
