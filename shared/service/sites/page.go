package sites

import (
	_ "embed"
	"net/http"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// pageSource is a page of Bindery's own, with $TITLE and $TEXT in its places.
//
//go:embed page.html
var pageSource string

// page answers with a page of Bindery's own. A link is where the reader can go on; empty
// for none.
func page(w http.ResponseWriter, r *http.Request, status int, title, text, link string) {
	var b []byte
	if text != "" {
		b = append(html.AppendText(append(b, "<p>"...), text), "</p>\n"...)
	}
	if link != "" {
		b = append(html.AppendAttr(append(b, "<p><a"...), "href", link), ">Open the dashboard</a></p>\n"...)
	}
	body := strings.NewReplacer("$TITLE", string(html.AppendText(nil, title)), "$TEXT", string(b)).Replace(pageSource)
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body)) // the reader may be gone
	}
}
