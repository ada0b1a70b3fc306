package remote

import (
	"mime"
	"net/url"
	"path"
	"strings"
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

// accept is the request's header of this kind.
func (k Kind) accept() string {
	if k == Asset {
		return "image/*, font/*, text/css, text/javascript, application/javascript, */*;q=0.1"
	}
	return "application/json, application/yaml, text/yaml, */*;q=0.5"
}
