package tests

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// What readers have: an unpacked bundle, a server that sends it with a policy,
// and a browser.

// unpack exports a site into a folder "docs" of its own.
func unpack(t testing.TB, site string) string {
	t.Helper()
	archive, err := os.ReadFile(exportSite(t, site).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "docs")
	extractWithGo(t, archive, dir)
	return dir
}

// readFile reads a file of an unpacked bundle.
func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// policed serves a folder, every answer under a content security policy, until
// the test ends.
func policed(t *testing.T, dir, policy string) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// browser finds the program, for tests that run where there is time for it.
func browser(t testing.TB) string {
	t.Helper()
	outside.Long(t, "opens pages in a browser")
	return outside.Program(t, "chromium", "chromium-browser", "google-chrome")
}

// newBrowser opens a tab that shares no cookie, cache or storage with any other,
// for a test that needs it no longer than that. The function closes it. All tests
// have one browser for that; with options of its own, a test starts another.
func newBrowser(t testing.TB, chromium string, longest time.Duration, more ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc) {
	t.Helper()
	if len(more) > 0 {
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		ctx, stop := chromedp.NewContext(ctx, startOptions(chromium, t.TempDir(), more...))
		return ctx, func() { stop(); cancel() }
	}
	oneBrowser.Do(func() {
		oneBrowser.ctx, oneBrowser.stop = chromedp.NewContext(context.Background(), startOptions(chromium, filepath.Join(scratch, "browser")))
		oneBrowser.err = chromedp.Do(oneBrowser.ctx)
	})
	if oneBrowser.err != nil {
		t.Fatal(oneBrowser.err)
	}
	ctx, cancel := context.WithTimeout(oneBrowser.ctx, longest)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	return ctx, func() { stop(); cancel() }
}

// oneBrowser is that of all tests. TestMain ends it.
var oneBrowser struct {
	sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

// startOptions start a browser that asks no host by itself.
func startOptions(chromium, dir string, more ...chromedp.ExecAllocatorOption) chromedp.ContextOption {
	return chromedp.WithAllocatorOptions(append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(chromium), chromedp.UserDataDir(dir),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	}, more...)...)
}

// browse opens a tab whose pages have the focus.
func browse(t *testing.T, chromium string) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, stop := newBrowser(t, chromium, 3*time.Minute)
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return ctx, stop
}
