package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/render/theme/fonts"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	path       string // with the digest of its content
	mime       string
	body, gzip []byte // gzip is nil where it saves nothing
}

// fontFile has the theme's letters, as far as our own words need them.
const fontFile = "source-sans-3-latin.woff2"

// brand are the colours of the product's documentation.
var brand = theme.Colors{Primary: "#0f766e", Light: "#2dd4bf", Dark: "#0f766e"}

// loadAssets returns the assets by their names. Where only text can be served, the
// style sheet has the font in it, and nothing is compressed.
func loadAssets(textOnly bool) (map[string]asset, error) {
	all := map[string]asset{}
	font, err := fonts.Read(fontFile)
	if err != nil {
		return nil, err
	}
	letters := "data:font/woff2;base64," + base64.StdEncoding.EncodeToString(font)
	if !textOnly {
		a := newAsset("font.woff2", font, false)
		all["font.woff2"], letters = a, strings.Replace(a.path, "/assets", "..", 1)
	}
	files, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		body, err := assetFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := path.Base(file)
		if name == "dashboard.css" {
			body = append([]byte(":root{"+theme.Properties(brand, false)+"}@media (prefers-color-scheme:dark){:root{"+theme.Properties(brand, true)+
				"}}@font-face{font-family:\"Bindery Sans\";src:url("+letters+");font-weight:"+fonts.Weights+";font-display:swap}\n"), body...)
		}
		all[name] = newAsset(name, body, !textOnly)
	}
	return all, nil
}

// types are the assets' types. Package mime would read a system's lists first.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
}

func newAsset(name string, body []byte, compress bool) asset {
	sum := sha256.Sum256(body)
	a := asset{path: "/assets/" + hex.EncodeToString(sum[:8]) + "/" + name, mime: types[path.Ext(name)], body: body}
	if !compress {
		return a
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = w.Write(body)                                  // a bytes.Buffer takes everything
	_ = w.Close()
	if b.Len() < len(body) {
		a.gzip = b.Bytes()
	}
	return a
}

// asset serves a file under the digest of its content, for ever.
func (d *Dashboard) asset(w http.ResponseWriter, r *http.Request) {
	a, ok := d.assets[r.PathValue("name")]
	if !ok || a.path != r.URL.Path {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.mime)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := a.body
	if a.gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.gzip
	}
	_, _ = w.Write(body) // nobody is there any more to read that it failed
}
