package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// StatedPolicy returns the content security policy that a bundle must work under: its
// own files, and the hosts that its bindery.json lists.
func StatedPolicy(t *testing.T, dir string) string {
	t.Helper()
	var info bundle.Info
	data, err := os.ReadFile(filepath.Join(dir, "bindery.json"))
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		t.Fatal(err)
	}
	policy := "default-src 'self'"
	for _, directive := range slices.Sorted(maps.Keys(info.Sources)) {
		policy += "; " + directive + " 'self' " + strings.Join(info.Sources[directive], " ")
	}
	return policy
}

// networkChanged is Chromium's error for requests that it gives up when the addresses of
// the machine change.
const networkChanged = "net::ERR_NETWORK_CHANGED"

// Navigate opens a page and waits until it and its files are loaded. It loads the page
// again if the browser gave up a request because another test changed the machine's
// network: the page that redirects led to, since a link may work once.
func Navigate(url string) chromedp.Action[chromedp.Void] { return navigate(url, networkChanged) }

func navigate(url, gaveUp string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		lost, err := lostRequests(within, gaveUp)
		if err != nil {
			return none, err
		}
		var mu sync.Mutex
		at := url // where redirects have led
		err = chromedp.Listen(within, func(event any) {
			if e, ok := event.(*network.EventRequestWillBeSent); ok && e.Type == network.ResourceTypeDocument && string(e.RequestID) == string(e.LoaderID) {
				mu.Lock()
				defer mu.Unlock()
				at = e.Request.URL
			}
		})
		if err != nil {
			return none, err
		}
		for range 20 {
			mu.Lock()
			next := at
			mu.Unlock()
			none, err = chromedp.Navigate(next)(ctx, t)
			if err != nil && !strings.Contains(err.Error(), gaveUp) {
				return none, err
			}
			// The load that Navigate has seen may be that of the error page before.
			for err == nil && lost.Load() == 0 && ctx.Err() == nil {
				if ok, err := chromedp.Evaluate[bool](loaded)(ctx, t); err == nil && ok {
					return none, nil
				}
				time.Sleep(10 * time.Millisecond)
			}
			lost.Store(0)
		}
		return none, cmp.Or(err, ctx.Err())
	}
}

// loaded is true on a page that came with all its files, and is no error of the browser.
const loaded = `document.readyState === "complete" && location.protocol !== "chrome-error:"`

// Until waits until a script is true; an exception of the script counts as false. It
// loads the page again if the browser gave up a request because another test changed
// the machine's network.
func Until(ctx context.Context, script string) error { return until(ctx, script, networkChanged) }

func until(ctx context.Context, script, gaveUp string) error {
	lost, err := lostRequests(ctx, gaveUp)
	if err != nil {
		return err
	}
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
		switch {
		case ok:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s is not true (%w)", script, err)
		case lost.Swap(0) > 0:
			if err := chromedp.Do(ctx, chromedp.Reload()); err != nil {
				return err
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// lostRequests counts the requests that end with an error, until ctx ends.
func lostRequests(ctx context.Context, text string) (*atomic.Int32, error) {
	var lost atomic.Int32
	return &lost, chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*network.EventLoadingFailed); ok && e.ErrorText == text {
			lost.Add(1)
		}
	})
}

// Listen collects the browser's errors and warnings until ctx ends. The function that
// it returns waits for that and returns the list. Requests that the browser gave up
// because the machine's network changed are left out: see [Navigate] and [Until].
func Listen(ctx context.Context, within string) func() []string {
	var mu sync.Mutex
	var wrong []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, fmt.Sprintf(format, args...))
	}
	var wg sync.WaitGroup
	lost, err := lostRequests(ctx, networkChanged)
	if err != nil {
		note("%v", err)
	}
	console := chromedp.Console(ctx)
	failed := chromedp.Events(ctx, network.LoadingFailed)
	sent := chromedp.Events(ctx, network.RequestWillBeSent)
	wg.Go(func() {
		for m, err := range console {
			if err != nil {
				return
			}
			switch m.Type {
			case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
				// A script sees only that a request failed, not why.
				if !strings.Contains(m.Text, networkChanged) && (lost.Load() == 0 || !strings.Contains(m.Text, "Failed to fetch")) {
					note("console: %s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line)
				}
			}
		}
	})
	wg.Go(func() {
		for e, err := range failed {
			switch {
			case err != nil:
				return
			case e.ErrorText == networkChanged:
			case lost.Load() > 0 && e.ErrorText == "net::ERR_ABORTED": // loading again ends what is on its way
			default:
				note("failed request: %s", e.ErrorText)
			}
		}
	})
	wg.Go(func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			if url := e.Request.URL; !strings.HasPrefix(url, within) && !strings.HasPrefix(url, "data:") {
				note("a request to another place: %s", url)
			}
		}
	})
	return func() []string {
		wg.Wait()
		return wrong
	}
}

// KeepPicture writes a screenshot into the folder $BINDERY_SCREENSHOTS, if it is set.
func KeepPicture(t *testing.T, ctx context.Context, picture, look string) {
	t.Helper()
	dir := os.Getenv("BINDERY_SCREENSHOTS")
	if dir == "" || picture == "" {
		return
	}
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Error(err)
		return
	}
	name := strings.NewReplacer("/", "_", ".html", "").Replace(picture) + "-" + look + ".png"
	if err := os.WriteFile(filepath.Join(dir, name), shot, 0o644); err != nil {
		t.Error(err)
	}
}

// Policed serves a folder until the test ends. Every response has the content security
// policy.
func Policed(t *testing.T, dir, policy string) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// Chromium returns the path of Chromium. It skips the test under -short.
func Chromium(t testing.TB) string {
	t.Helper()
	outside.Long(t, "opens pages in a browser")
	return outside.Program(t, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
}

// longest ends a tab whose test hangs.
const longest = 15 * time.Minute

// Open opens a tab that shares no cookie, cache or storage with another tab, and
// returns a function that closes it. All tests share one browser. A test that gives
// options starts a browser of its own.
func Open(t testing.TB, chromium string, more ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc) {
	t.Helper()
	if len(more) > 0 {
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		ctx, stop := chromedp.NewContext(ctx, startOptions(chromium, t.TempDir(), more...))
		return ctx, func() { stop(); cancel() }
	}
	oneBrowser.Do(func() {
		oneBrowser.ctx, oneBrowser.stop = chromedp.NewContext(context.Background(), startOptions(chromium, filepath.Join(harness.Scratch(), "browser")))
		harness.AtEnd(oneBrowser.stop)
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

// oneBrowser is the browser that tests share. harness.Main ends it.
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

// OpenFocused opens a tab whose pages have the focus.
func OpenFocused(t *testing.T, chromium string) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, stop := Open(t, chromium)
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return ctx, stop
}
