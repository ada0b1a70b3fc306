package serve

import (
	"path"
	"strings"
)

// media is what is known of a kind of file.
type media struct {
	contentType string
	text        bool // worth compressing
}

// mediaTypes are the kinds of files by their ending. The table is the
// program's own: a container image may hold no other, and two hosts must not
// assign one bundle different types.
var mediaTypes = map[string]media{
	".html":        {"text/html; charset=utf-8", true},
	".htm":         {"text/html; charset=utf-8", true},
	".md":          {"text/markdown; charset=utf-8", true},
	".mdx":         {"text/markdown; charset=utf-8", true},
	".txt":         {"text/plain; charset=utf-8", true},
	".css":         {"text/css; charset=utf-8", true},
	".js":          {"text/javascript; charset=utf-8", true},
	".mjs":         {"text/javascript; charset=utf-8", true},
	".json":        {"application/json", true},
	".jsonl":       {"application/jsonl", true},
	".map":         {"application/json", true},
	".webmanifest": {"application/manifest+json", true},
	".xml":         {"application/xml", true},
	".rss":         {"application/rss+xml", true},
	".atom":        {"application/atom+xml", true},
	".yaml":        {"application/yaml", true},
	".yml":         {"application/yaml", true},
	".csv":         {"text/csv; charset=utf-8", true},
	".svg":         {"image/svg+xml", true},
	".ico":         {"image/x-icon", true},
	".bmp":         {"image/bmp", true},
	".png":         {"image/png", false},
	".jpg":         {"image/jpeg", false},
	".jpeg":        {"image/jpeg", false},
	".gif":         {"image/gif", false},
	".webp":        {"image/webp", false},
	".avif":        {"image/avif", false},
	".mp4":         {"video/mp4", false},
	".webm":        {"video/webm", false},
	".mov":         {"video/quicktime", false},
	".mp3":         {"audio/mpeg", false},
	".ogg":         {"audio/ogg", false},
	".wav":         {"audio/wav", false},
	".woff":        {"font/woff", false},
	".woff2":       {"font/woff2", false},
	".ttf":         {"font/ttf", true},
	".otf":         {"font/otf", true},
	".eot":         {"application/vnd.ms-fontobject", true},
	".wasm":        {"application/wasm", true},
	".pdf":         {"application/pdf", false},
	".zip":         {"application/zip", false},
	".gz":          {"application/gzip", false},
	".tgz":         {"application/gzip", false},
}

func mediaOf(name string) media {
	if m, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return m
	}
	return media{"application/octet-stream", false}
}

// ContentType returns the type of a file by its name's ending, the same on every
// machine.
func ContentType(name string) string { return mediaOf(name).contentType }
