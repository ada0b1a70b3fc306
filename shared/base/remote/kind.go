package remote

import (
	"bytes"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Kind is what a file is asked for as.
type Kind int

// Kinds of files.
const (
	// Specification is JSON or YAML.
	Specification Kind = iota
	// Asset is a picture, a font, a style sheet or a script.
	Asset
)

// extensions are those of assets by content type.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif",
	"image/svg+xml": ".svg", "image/x-icon": ".ico", "image/vnd.microsoft.icon": ".ico",
	"font/woff2": ".woff2", "font/woff": ".woff", "font/ttf": ".ttf", "font/otf": ".otf",
	"application/font-woff2": ".woff2", "application/font-woff": ".woff", "application/x-font-woff": ".woff",
	"application/x-font-ttf": ".ttf", "application/x-font-otf": ".otf", "font/sfnt": ".ttf",
	"text/css": ".css", "text/javascript": ".js", "application/javascript": ".js", "application/x-javascript": ".js",
}

// named are endings of assets' names, and the extension that each gets.
var named = map[string]string{
	".png": ".png", ".jpg": ".jpg", ".jpeg": ".jpg", ".gif": ".gif", ".webp": ".webp", ".avif": ".avif", ".svg": ".svg", ".ico": ".ico",
	".woff2": ".woff2", ".woff": ".woff", ".ttf": ".ttf", ".otf": ".otf", ".css": ".css", ".js": ".js",
}

// NamesAsset reports whether an address's path ends like the name of an asset.
func NamesAsset(u *url.URL) bool { return named[strings.ToLower(path.Ext(u.Path))] != "" }

// extension returns the extension of a file that came from u with this content
// type, "" where it is nothing that the kind asks for. Servers that don't know
// better say text/plain or application/octet-stream: then the name counts.
func (k Kind) extension(u *url.URL, contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = strings.ToLower(strings.TrimSpace(strings.Split(contentType, ";")[0]))
	}
	vague := media == "" || media == "text/plain" || media == "application/octet-stream" || media == "binary/octet-stream"
	if k == Asset {
		if vague {
			return named[strings.ToLower(path.Ext(u.Path))]
		}
		return extensions[media]
	}
	switch {
	case strings.HasSuffix(media, "json"), strings.HasSuffix(media, "yaml"):
		return path.Ext("." + media[len(media)-4:])
	case vague:
		return ".yaml" // of which JSON is a part
	}
	return ""
}

// marks are what files of an extension begin with; a dot stands for any byte.
var marks = map[string][]string{
	".png": {"\x89PNG\r\n\x1a\n"}, ".jpg": {"\xff\xd8\xff"}, ".gif": {"GIF8"}, ".webp": {"RIFF....WEBP"}, ".avif": {"....ftypavi", "....ftypmif1"},
	".ico": {"\x00\x00\x01\x00"}, ".woff2": {"wOF2"}, ".woff": {"wOFF"}, ".ttf": {"\x00\x01\x00\x00", "true", "ttcf"}, ".otf": {"OTTO"},
}

func begins(data []byte, mark string) bool {
	if len(data) < len(mark) {
		return false
	}
	for i := range len(mark) {
		if mark[i] != '.' && data[i] != mark[i] {
			return false
		}
	}
	return true
}

// live matches what makes a drawing more than a picture where it is opened by itself.
var live = lazy.Regexp(`(?i)<script|javascript:|\son[a-z]+\s*=`)

// asset returns the extension of an asset by its bytes, for what came under the one
// that its content type or its name has. Many servers say of one kind of picture
// that it is another; the problem says of what is neither.
func asset(ext string, data []byte) (string, string) {
	const not = "is not what its content type says"
	switch ext {
	case ".svg":
		switch {
		case !bytes.Contains(data, []byte("<svg")):
			return "", not
		case live().Match(data):
			return "", "is a drawing with a script"
		}
		return ext, ""
	case ".css", ".js":
		head := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
		if bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html")) {
			return "", not
		}
		return ext, ""
	}
	is := func(ext string) bool {
		return slices.ContainsFunc(marks[ext], func(mark string) bool { return begins(data, mark) })
	}
	if is(ext) {
		return ext, ""
	}
	others := []string{".png", ".jpg", ".gif", ".webp", ".avif", ".ico"}
	if !slices.Contains(others, ext) {
		others = []string{".woff2", ".woff", ".ttf", ".otf"}
	}
	if i := slices.IndexFunc(others, is); i >= 0 {
		return others[i], ""
	}
	return "", not
}

// accept is the request's header of this kind.
func (k Kind) accept() string {
	if k == Asset {
		return "image/*, font/*, text/css, text/javascript, application/javascript, */*;q=0.1"
	}
	return "application/json, application/yaml, text/yaml, */*;q=0.5"
}
