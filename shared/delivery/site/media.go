package site

import (
	"path"
	"strings"
)

// media describes a kind of file.
type media struct {
	contentType []string // as a header's values
	text        bool     // worth compressing
	shown       bool     // by browsers, as a page of its own that may run scripts
}

// mediaTypes are the kinds of files by their ending. The table is the
// program's own: a container image may hold no other, and two hosts must not
// assign one bundle different types.
var mediaTypes = map[string]*media{
	".html":        {[]string{"text/html; charset=utf-8"}, true, true},
	".htm":         {[]string{"text/html; charset=utf-8"}, true, true},
	".md":          {[]string{"text/markdown; charset=utf-8"}, true, false},
	".mdx":         {[]string{"text/markdown; charset=utf-8"}, true, false},
	".txt":         {[]string{"text/plain; charset=utf-8"}, true, false},
	".css":         {[]string{"text/css; charset=utf-8"}, true, false},
	".js":          {[]string{"text/javascript; charset=utf-8"}, true, false},
	".mjs":         {[]string{"text/javascript; charset=utf-8"}, true, false},
	".json":        {[]string{"application/json"}, true, false},
	".jsonl":       {[]string{"application/jsonl"}, true, false},
	".map":         {[]string{"application/json"}, true, false},
	".webmanifest": {[]string{"application/manifest+json"}, true, false},
	".xml":         {[]string{"application/xml"}, true, true},
	".rss":         {[]string{"application/rss+xml"}, true, true},
	".atom":        {[]string{"application/atom+xml"}, true, true},
	".yaml":        {[]string{"application/yaml"}, true, false},
	".yml":         {[]string{"application/yaml"}, true, false},
	".csv":         {[]string{"text/csv; charset=utf-8"}, true, false},
	".svg":         {[]string{"image/svg+xml"}, true, true},
	".ico":         {[]string{"image/x-icon"}, true, false},
	".bmp":         {[]string{"image/bmp"}, true, false},
	".png":         {[]string{"image/png"}, false, false},
	".jpg":         {[]string{"image/jpeg"}, false, false},
	".jpeg":        {[]string{"image/jpeg"}, false, false},
	".gif":         {[]string{"image/gif"}, false, false},
	".webp":        {[]string{"image/webp"}, false, false},
	".avif":        {[]string{"image/avif"}, false, false},
	".mp4":         {[]string{"video/mp4"}, false, false},
	".webm":        {[]string{"video/webm"}, false, false},
	".mov":         {[]string{"video/quicktime"}, false, false},
	".mp3":         {[]string{"audio/mpeg"}, false, false},
	".ogg":         {[]string{"audio/ogg"}, false, false},
	".wav":         {[]string{"audio/wav"}, false, false},
	".woff":        {[]string{"font/woff"}, false, false},
	".woff2":       {[]string{"font/woff2"}, false, false},
	".ttf":         {[]string{"font/ttf"}, true, false},
	".otf":         {[]string{"font/otf"}, true, false},
	".eot":         {[]string{"application/vnd.ms-fontobject"}, true, false},
	".wasm":        {[]string{"application/wasm"}, true, false},
	".pdf":         {[]string{"application/pdf"}, false, false},
	".zip":         {[]string{"application/zip"}, false, false},
	".gz":          {[]string{"application/gzip"}, false, false},
	".tgz":         {[]string{"application/gzip"}, false, false},
}

// otherMedia is the kind of all other files.
var otherMedia = &media{[]string{"application/octet-stream"}, false, false}

func mediaOf(name string) *media {
	if m, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return m
	}
	return otherMedia
}

// ContentType returns the type of a file by its name's ending, the same on every
// machine.
func ContentType(name string) string { return mediaOf(name).contentType[0] }

// IsText reports whether files of a name become much smaller when they are
// compressed.
func IsText(name string) bool { return mediaOf(name).text }
