package theme

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// NotFound is the bundle's 404.html. A server shows it at addresses of any
// depth, so it refers to no file: its style and its script are inline, and home,
// sections and the home page's search are absolute addresses; without home there
// are none.
func (t *Theme) NotFound(home string, sections []Link, search bool) []byte {
	w := words.In(t.cfg.Lang)
	title, text := t.cfg.NotFoundTitle, t.cfg.NotFoundText
	title = cmp.Or(title, w.Say(words.NotFound))
	text = cmp.Or(text, w.Say(words.NotFoundText))
	dst := t.htmlTag(nil, "", "", "", "", "")
	dst = append(dst, `<head><meta charset="utf-8">`...)
	dst = append(dst, t.headSite...)
	dst = append(dst, `<meta name="robots" content="noindex"><title>`...)
	dst = html.AppendText(dst, t.docTitle(title))
	// Without an icon of its own a browser asks for /favicon.ico, which is
	// outside the bundle.
	dst = append(dst, `</title><link rel="icon" href="data:,"><style>`...)
	dst = append(dst, t.plain...)
	dst = append(dst, `</style></head><body>`...)
	if home != "" {
		dst = appendHref(append(dst, `<header><a class="bdy-site"`...), home)
		dst = appendText(dst, `>`, t.cfg.SiteName, `</a></header>`)
	}
	dst = appendText(dst, `<main id="bindery-content"><p class="bdy-code" aria-hidden="true">404</p><h1>`, title, `</h1><p>`)
	dst = html.AppendText(dst, text)
	dst = append(dst, `</p>`...)
	if home == "" {
		return append(dst, "</main></body></html>\n"...)
	}
	if search {
		say := w.Say(words.Search)
		dst = html.AppendAttr(append(dst, `<form role="search"`...), "action", html.Safe(home))
		dst = html.AppendAttr(append(dst, `><input type="search" name="q"`...), "aria-label", say)
		dst = appendText(dst, `><button>`, say, `</button></form>`)
	}
	dst = appendHref(append(dst, `<p><a class="bdy-button"`...), home)
	dst = appendText(dst, `>`, w.Say(words.Home), `</a></p>`)
	if len(sections) > 0 {
		dst = appendLabel(dst, `<nav`, w.Say(words.Navigation), `><ul>`)
		for _, l := range sections {
			dst = appendHref(append(dst, `<li><a`...), l.Href)
			dst = appendText(dst, `>`, l.Label, `</a></li>`)
		}
		dst = append(dst, `</ul></nav>`...)
	}
	dst = append(dst, `</main>`...)
	if search {
		dst = append(append(append(dst, `<script>`...), t.lost...), `</script>`...)
	}
	return append(dst, "</body></html>\n"...)
}

// RedirectPage is a page that leads to another at once, without JavaScript too,
// by which a query and a fragment go along. Root leads to the bundle's root, to is
// relative to the page's own address, or absolute; canonical is the target's
// absolute address, or empty.
func (t *Theme) RedirectPage(root, to, canonical string) []byte {
	w := words.In(t.cfg.Lang)
	to = html.Safe(to)
	dst := t.htmlTag(nil, "", "", "", "", "")
	dst = append(dst, `<head><meta charset="utf-8">`...)
	dst = append(dst, t.headSite...)
	dst = html.AppendAttr(append(dst, `<script`...), "src", root+t.away)
	dst = append(html.AppendAttr(dst, "data-to", to), `></script>`...)
	// In the refresh header's grammar quotes and spaces would end the
	// address; in an address they have an escape.
	dst = append(dst, `<meta http-equiv="refresh"`...)
	dst = html.AppendAttr(dst, "content", "0; url="+refreshEscaper.Replace(to))
	dst = appendText(dst, `><title>`, t.docTitle(w.Say(words.Moved)), `</title>`)
	if canonical != "" {
		dst = appendHref(append(dst, `<link rel="canonical"`...), canonical)
		dst = append(dst, '>')
	} else {
		dst = append(dst, `<meta name="robots" content="noindex">`...)
	}
	dst = append(dst, `<link rel="icon" href="data:,"><style>`...)
	dst = append(dst, t.plain...)
	dst = append(dst, `</style></head><body><main id="bindery-content"><h1>`...)
	dst = append(dst, w.Say(words.Moved)...)
	dst = append(dst, `</h1><p>`...)
	dst = append(dst, w.Say(words.MovedTo)...)
	dst = appendHref(append(dst, ` <a`...), to)
	dst = append(dst, '>')
	dst = html.AppendText(dst, to)
	return append(dst, "</a></p></main></body></html>\n"...)
}

var refreshEscaper = strings.NewReplacer(`"`, "%22", `'`, "%27", " ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D")

// PolicySources are what a content security policy must allow besides 'self',
// by directive: what stands inside the pages that stand alone, by its hash; the
// empty icon of sites that have none; and the hosts that the site's settings
// name for its logo, icons, backgrounds, fonts and ratings.
func (t *Theme) PolicySources() map[string][]string {
	hash := func(text string) []string {
		sum := sha256.Sum256([]byte(text))
		return []string{"'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
	}
	sources := map[string][]string{"style-src": hash(t.plain), "script-src": hash(t.lost), "img-src": {"data:"}}
	allow := func(directive string, addresses ...string) {
		for _, address := range addresses {
			u, err := url.Parse(html.Safe(address))
			if err != nil || u.Scheme == "" || u.Host == "" {
				continue
			}
			if source := strings.ToLower(u.Scheme + "://" + u.Host); !slices.Contains(sources[directive], source) {
				sources[directive] = append(sources[directive], source)
			}
		}
	}
	c := &t.cfg
	allow("img-src", c.Logo.Light, c.Logo.Dark, c.Favicon, c.FaviconDark, c.BackgroundImage, c.BackgroundImageDark)
	allow("connect-src", c.Ratings)
	allow("font-src", c.Fonts.Body.Source, c.Fonts.Heading.Source)
	return sources
}

// plainTokens are the colours that plainCSS uses.
var plainTokens = [...]string{"bg", "text", "title", "link", "primary", "on-primary", "focus"}

// plainCSS styles the pages that stand alone. They follow the system's
// appearance, because they carry no script.
func plainCSS(cfg *Config) string {
	var b strings.Builder
	vars := func(dark bool) {
		p := newPalette(cfg.Colors, dark)
		b.WriteString(":root{")
		for _, name := range plainTokens {
			b.WriteString("--c-" + name + ":" + p.get(name).String() + ";")
		}
		b.WriteString("}")
	}
	vars(cfg.Appearance == "dark")
	if cfg.Appearance != "dark" && cfg.Appearance != "light" {
		b.WriteString("@media(prefers-color-scheme:dark){")
		vars(true)
		b.WriteString("}")
	}
	b.WriteString("body{font-family:" + sansStack + "}")
	b.WriteString(`
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:grid;place-items:center;padding:2rem;background:var(--c-bg);color:var(--c-text);line-height:1.65}
main{max-width:32rem;text-align:center}
h1{margin:0 0 .75rem;font-size:1.75rem;line-height:1.25;letter-spacing:-.02em;color:var(--c-title)}
p{margin:0 0 1.25rem;overflow-wrap:anywhere}
.bdy-code{margin:0 0 .5rem;font-weight:600;color:var(--c-link);letter-spacing:.08em}
a{color:var(--c-link)}
header{position:absolute;top:1.25rem;inset-inline-start:2rem}
.bdy-site{font-weight:650;color:var(--c-title);text-decoration:none}
form{display:flex;gap:.5rem;margin:0 0 1.25rem}
input,form button{font:inherit;padding:.4rem .8rem;border:1px solid currentColor;border-radius:.5rem;background:none;color:inherit}
input{flex:1;min-width:0}
ul{display:flex;flex-wrap:wrap;justify-content:center;gap:.5rem 1.25rem;margin:0;padding:0;list-style:none}
li a{display:inline-block;padding:.2rem 0}
.bdy-button{display:inline-block;padding:.5rem 1.1rem;border-radius:.5rem;background:var(--c-primary);color:var(--c-on-primary);text-decoration:none;font-weight:550}
:focus-visible{outline:2px solid var(--c-focus);outline-offset:2px}
`)
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	// What can't be made smaller works as it is.
	if s, err := m.String("text/css", b.String()); err == nil {
		return s
	}
	return b.String()
}
