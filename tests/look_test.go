package tests

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// strictPolicy is the content security policy that every page holds; a page
// with a diagram for Mermaid's own runtime needs inline styles besides, as
// bindery.json says.
const strictPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'"

// TestLookInABrowser: utility classes do what they say, drawings are shown in
// light and dark, and Mermaid draws what is left to it, all under the policy.
func TestLookInABrowser(t *testing.T) {
	chromium := program(t, "chromium", "chromium-browser", "google-chrome")
	source := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name":"Look","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["classes","drawn","live"]}}`,
		"classes.mdx": "---\ntitle: Classes\n---\n\n<div id=\"night\" className=\"dark:hidden\">by day</div>\n\n" +
			"<div id=\"wide\" className=\"w-[800px]\">wide</div>\n\n<div id=\"own\" className=\"mine w-[300px]\">own</div>\n",
		"mine.css":  ".mine { width: 123px }\n",
		"drawn.mdx": "---\ntitle: Drawn\n---\n\n```mermaid\ngraph TD\nA[One] --> B[Two]\n```\n\n```mermaid\nsequenceDiagram\nA->>B: Hello\n```\n",
		"live.mdx":  "---\ntitle: Live\n---\n\n```mermaid\npie\n\"left\": 3\n\"right\": 1\n```\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	archive, err := os.ReadFile(exportSite(t, source).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	extractWithGo(t, archive, filepath.Join(dir, "docs"))
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		policy := strictPolicy
		if strings.HasSuffix(r.URL.Path, "/live.html") {
			policy = strings.Replace(policy, "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)
		}
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()

	const (
		width  = `document.getElementById("%").getBoundingClientRect().width`
		shown  = `document.getElementById("night").offsetHeight > 0`
		stroke = `getComputedStyle(document.querySelector(".diagram polyline")).stroke`
	)
	tests := []struct {
		page, look, scheme string
		// script must become true.
		script string
	}{
		{"classes.html", "light", "light", shown},
		{"classes.html", "dark", "dark", "!(" + shown + ")"},
		{"classes.html", "widths", "light", strings.ReplaceAll(width, "%", "wide") + " === 800"},
		{"classes.html", "own styles win", "light", strings.ReplaceAll(width, "%", "own") + " === 123"},
		{"drawn.html", "light", "light", stroke + ` !== "none" && document.querySelectorAll(".diagram svg[role=img]").length === 2`},
		{"drawn.html", "dark", "dark", `(getComputedStyle(document.querySelector(".diagram text")).fill.match(/[0-9.]+/g)[0] > 128)`},
		{"live.html", "light", "light", `document.querySelectorAll(".diagram svg .pieCircle").length === 2`},
		{"live.html", "dark", "dark", `document.querySelectorAll(".diagram svg .pieCircle").length === 2`},
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
	}
	for _, tt := range tests {
		t.Run(tt.page+" "+tt.look, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			ctx, stop := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(options...))
			complaints := listen(ctx, server.URL)
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: tt.scheme}},
			})
			if err == nil {
				err = chromedp.Do(ctx, chromedp.EmulateViewport(1440, 1000), chromedp.Navigate(server.URL+"/docs/"+tt.page))
			}
			if err != nil {
				t.Fatal(err)
			}
			ok := false
			for !ok && err == nil && ctx.Err() == nil {
				if ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool](tt.script)); !ok {
					time.Sleep(50 * time.Millisecond)
				}
			}
			if err != nil || !ok {
				t.Errorf("%s is not true (%v)", tt.script, err)
			}
			keepPicture(t, ctx, "look-"+tt.page, tt.look)
			stop()
			for _, c := range complaints() {
				t.Error(c)
			}
		})
	}
}
