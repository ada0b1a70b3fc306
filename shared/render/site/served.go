package site

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// servedTypes are the types of files that the format documents as served, in lower
// case.
var servedTypes = setOf(
	// pictures
	".png", ".jpg", ".jpeg", ".jfif", ".pjpeg", ".pjp", ".apng", ".avif", ".bmp", ".gif", ".ico", ".svg", ".tif", ".tiff", ".webp",
	// video, with its subtitles
	".mp4", ".webm", ".mov", ".m4v", ".ogv", ".avi", ".mkv", ".vtt",
	// audio
	".mp3", ".wav", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".flac", ".wma",
	// data, styles, scripts
	".json", ".yaml", ".yml", ".css", ".js",
	// fonts
	".woff", ".woff2", ".ttf", ".otf", ".eot",
	// documents, data and archives for readers
	".pdf", ".txt", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".odt", ".ods", ".odp", ".csv", ".tsv", ".xml", ".zip",
)

// packageFiles are the manifests and lock files of package managers, in lower case.
var packageFiles = setOf(
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bower.json", "lerna.json",
	"turbo.json", "nx.json", "tsconfig.json", "jsconfig.json", "deno.json", "composer.json", "requirements.txt", "requirements-dev.txt",
	"pubspec.yaml", "conda.yaml", "environment.yml", "packages.config.json",
)

// packageKind is the kind of packageFiles in findings.
const packageKind = "package file"

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// wellKnown reports whether a path is a well-known URI (RFC 8615).
func wellKnown(p string) bool {
	return strings.HasPrefix(p, ".well-known/") || strings.Contains(p, "/.well-known/")
}

// unserved returns the kind of a static file that the format does not serve, such as
// ".py"; "" for a file that it serves.
func unserved(p string) string {
	if wellKnown(p) || slices.Contains(generated[:], p) { // or one of a bundle's own, which the site replaces
		return ""
	}
	name := strings.ToLower(path.Base(p))
	ext := path.Ext(name)
	switch {
	case packageFiles[name] || ext == ".lock" || strings.HasSuffix(name, ".lock.json") || strings.HasSuffix(name, "-lock.json") || strings.HasPrefix(name, "tsconfig.") && ext == ".json":
		return packageKind
	case servedTypes[ext]:
		return ""
	case ext == "" || ext == name || strings.ContainsAny(ext, "*?[]! #"):
		return path.Base(p)
	}
	return path.Ext(p) // as it is written: patterns tell cases apart
}

// patternFor is the line of bindery.yaml that publishes a file.
func patternFor(p string) string {
	if kind := unserved(p); kind != packageKind && strings.HasPrefix(kind, ".") && !hidden(p) {
		return "*" + kind
	}
	return "/" + p
}

// hidden reports whether a file or a folder that it lies in has a name that begins
// with a dot.
func hidden(p string) bool {
	for e := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(e, ".") && e != ".well-known" {
			return true
		}
	}
	return false
}

// leftOut has the files that a bundle leaves out because the format does not serve their
// type, by kind.
type leftOut map[string][]string

func (l leftOut) add(kind, file string) { l[kind] = append(l[kind], file) }

// namedLeftOut is the largest number of names in a finding about files left out.
const namedLeftOut = 3

// report returns a finding for each kind.
func (l leftOut) report() (diags []mdx.Diagnostic) {
	for _, kind := range slices.Sorted(maps.Keys(l)) {
		files := l[kind]
		list := strings.Join(files[:min(len(files), namedLeftOut)], ", ")
		if len(files) > namedLeftOut {
			list += ", …"
		}
		what := fmt.Sprintf("%d files of the type %s are", len(files), kind)
		switch {
		case kind == packageKind && len(files) == 1:
			what = "a file of a package manager is"
		case kind == packageKind:
			what = fmt.Sprintf("%d files of package managers are", len(files))
		case len(files) == 1:
			what = "a file of the type " + kind + " is"
		}
		if !strings.HasPrefix(kind, ".") && kind != packageKind {
			if what = "a file is"; len(files) > 1 {
				what = fmt.Sprintf("%d files are", len(files))
			}
		}
		diags = append(diags, mdx.Diagnostic{Severity: mdx.Notice, Code: "file-left-out", File: files[0],
			Message: fmt.Sprintf("%s left out, as the format does not serve such files: %s. To publish it, add %q below \"publish\" in %s", what, list, patternFor(files[0]), RulesFile)})
	}
	return diags
}

// WhyMissing returns why a target is missing, or a suggestion, as the end of a sentence.
// It returns "" if nothing is known.
func (s *Site) WhyMissing(t Target) string {
	switch _, found := slices.BinarySearch(s.LeftOut, t.Path); {
	case hidden(t.Path):
		return fmt.Sprintf(": hidden files need a line such as %q below \"publish\" in %s", "/"+t.Path, RulesFile)
	case !found:
		if near := s.neighbour(t.Path); near != "" {
			return "; did you mean /" + near + "?"
		}
	default:
		return fmt.Sprintf(", as the format does not serve such files: add %q below \"publish\" in %s to publish it", patternFor(t.Path), RulesFile)
	}
	return ""
}

// neighbour returns the address that is nearest to a missing one, without a slash before
// it, or "".
func (s *Site) neighbour(address string) string {
	x := s.tables()
	for _, ext := range [...]string{".mdx", ".md", ".html"} {
		address = strings.TrimSuffix(address, ext)
	}
	x.meant.Lock()
	defer x.meant.Unlock()
	if near, known := x.meant.known[address]; known {
		return near
	}
	if x.meant.words == nil {
		for i := range s.Pages {
			if !s.Pages[i].Excluded {
				x.meant.words = append(x.meant.words, s.Pages[i].CleanAddress())
			}
		}
		x.meant.words = append(x.meant.words, s.Files...)
		x.meant.known = make(map[string]string)
	}
	near := nearest(strings.ToLower(address), x.meant.words, strings.ToLower)
	x.meant.known[address] = near
	return near
}
