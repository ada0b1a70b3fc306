package browser

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// apiSite copies the site "reference" and names the server that its calls go to.
func apiSite(t *testing.T, server string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "reference"))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "shop.yaml")
	spec, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.ReplaceAll(spec, []byte("http://127.0.0.1:9/v1"), []byte(server)), 0o644); err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(dir, "notes.yaml")
	if spec, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	port := server[strings.LastIndexByte(server, ':')+1:]
	port, _, _ = strings.Cut(port, "/")
	if err := os.WriteFile(name, bytes.ReplaceAll(spec, []byte(`"10"`), []byte(`"`+port+`"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// playgroundLook is what a reader finds in the playground.
const playgroundLook = `(() => {
	const p = document.querySelector(".bdy-playground"), r = p && p.querySelector(".bdy-playground-result");
	return {
		Open: !!p && !!p.querySelector("details[open]"),
		Labels: p ? [...p.querySelectorAll("label")].filter(l => l.offsetParent).map(l => l.firstChild.innerText.trim()) : [],
		Command: p && p.querySelector("form pre") ? p.querySelector("form pre").textContent : "",
		Result: r ? r.innerText : "",
		Kept: JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie,
	};
})()`

type playgroundState struct {
	Open                  bool
	Labels                []string
	Command, Result, Kept string
}

// playground is the form on the page that the browser shows, for a reader with a
// keyboard.
type playground struct {
	t   *testing.T
	ctx context.Context
}

func (p playground) press(keys string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(keys)); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for a state and gives it.
func (p playground) until(what string, ok func(playgroundState) bool) (s playgroundState) {
	p.t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var err error
		if s, err = chromedp.Run(p.ctx, chromedp.Evaluate[playgroundState](playgroundLook)); err != nil {
			p.t.Fatal(err)
		}
		if ok(s) {
			return s
		}
	}
	p.t.Fatalf("%s: %+v", what, s)
	return s
}

// do runs a script on the control of the field with this label, among those that
// are shown; without a label, on the only one of the body.
func (p playground) do(label, script string) {
	p.t.Helper()
	ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll(".bdy-playground label")].map(l => [l.firstChild.innerText.trim(), l.querySelector("input, select, textarea")]);
		for (const e of document.querySelectorAll(".bdy-playground [aria-label]:is(input, textarea)")) all.push(["", e]);
		const found = all.find(([name, e]) => name.replace(/ \(.*/, "") === %q && e.offsetParent);
		if (!found) return false;
		const e = found[1];
		%s;
		return true;
	})()`, label, script)))
	if err != nil || !ok {
		p.t.Fatalf("there is no field %q (%v)", label, err)
	}
}

func (p playground) focus(label string) {
	p.t.Helper()
	p.do(label, `e.focus(); if (e.select) e.select()`)
}

// pick picks an option with the arrow keys.
func (p playground) pick(label, option string) {
	p.t.Helper()
	p.focus(label)
	p.press(kb.Home)
	for range 20 {
		if now, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.activeElement.value`)); err != nil || now == option {
			if err != nil {
				p.t.Fatal(err)
			}
			return
		}
		p.press(kb.ArrowDown)
	}
	p.t.Fatalf("%s has no option %q", label, option)
}

// open shows a page and opens the form.
func (p playground) open(address string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(1440, 1000), browse.Navigate(address)); err != nil {
		p.t.Fatal(err)
	}
	p.until("the form is there, closed", func(s playgroundState) bool { return !s.Open && s.Command != "" })
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.querySelector(".bdy-playground summary").focus() || true`)); err != nil {
		p.t.Fatal(err)
	}
	p.press(kb.Enter)
	p.until("Enter opens it", func(s playgroundState) bool { return s.Open })
}

// TestPlayground fills in the form of a page about a call by the keyboard, sends
// it to a server of the test's own and reads the answer; a server that allows no
// calls from other pages is explained. It works from a folder, and from a server
// with the policy that the bundle states. Secrets are nowhere but in the page.
func TestPlayground(t *testing.T) {
	chromium := browse.Chromium(t)
	var open atomic.Bool
	heard := make(chan string, 10)
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if open.Load() {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Allow-Headers", "*")
			w.Header().Set("Access-Control-Allow-Methods", "*")
			w.Header().Set("Access-Control-Expose-Headers", "*")
		}
		if r.Method == http.MethodOptions {
			return
		}
		body, _ := io.ReadAll(r.Body)
		heard <- fmt.Sprintf("%s %s key=%s %s", r.Method, r.URL, r.Header.Get("X-Key"), body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Left", "41")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, `{"answer": [1, 2]}`)
	}))
	defer echo.Close()
	dir := filepath.Dir(harness.Unpack(t, apiSite(t, echo.URL+"/v1")))
	files, policy := http.FileServer(http.Dir(dir)), browse.StatedPolicy(t, filepath.Join(dir, "docs"))
	if !strings.Contains(policy, "connect-src 'self' "+echo.URL) {
		t.Errorf("the bundle states the policy %q", policy)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	for where, base := range map[string]string{"folder": "file://" + dir, "server": server.URL} {
		t.Run(where, func(t *testing.T) {
			ctx, stop := browse.OpenFocused(t, chromium)
			defer stop()
			p := playground{t, ctx}
			open.Store(true)
			p.open(base + "/docs/lines.html")
			s := p.until("it has fields", func(s playgroundState) bool { return len(s.Labels) > 0 })
			if got := strings.Join(s.Labels, "|"); got != "URL|key|orderId (required)" {
				t.Errorf("the fields are %s", got)
			}
			p.focus("key") // which begins with what the specification says: s3
			p.press(kb.End + "cret")
			p.focus("orderId")
			p.press("o 1")
			s = p.until("the command follows", func(s playgroundState) bool { return strings.Contains(s.Command, "/v1/orders/o%201/lines") })
			if !strings.Contains(s.Command, "--header 'X-Key: <api-key>'") || strings.Contains(s.Command, "s3cret") {
				t.Errorf("the command is %s", s.Command)
			}
			p.press(kb.Enter)
			s = p.until("an answer comes", func(s playgroundState) bool { return strings.Contains(s.Result, "418") })
			for _, part := range []string{" ms", "x-left: 41", "\"answer\": [\n    1,"} {
				if !strings.Contains(s.Result, part) {
					t.Errorf("the answer has no %q: %s", part, s.Result)
				}
			}
			if got := <-heard; !strings.HasPrefix(got, "POST /v1/orders/o%201/lines key=s3cret [") || !strings.Contains(got, `"sku": "A-1"`) {
				t.Errorf("the server hears %s", got)
			}
			if strings.Contains(s.Kept, "s3cret") {
				t.Errorf("the secret is kept: %s", s.Kept)
			}
			browse.KeepPicture(t, ctx, "playground", "light")
			if where == "folder" {
				pureAxe(t, ctx)
			}

			// The other server has a part to fill in.
			p.pick("URL", "https://{region}.shop.example/v1")
			p.focus("region")
			p.press("us")
			s = p.until("another server is asked", func(s playgroundState) bool { return strings.Contains(s.Command, "https://us.shop.example/v1/orders") })
			if got := strings.Join(s.Labels, "|"); got != "URL|region|key|orderId (required)" {
				t.Errorf("the fields of the other server are %s", got)
			}
			p.pick("URL", echo.URL+"/v1")
			p.focus("orderId")
			open.Store(false)
			p.press(kb.Enter)
			s = p.until("a refusal is explained", func(s playgroundState) bool { return strings.Contains(s.Result, "CORS") })
			if strings.Contains(s.Result, "418") {
				t.Errorf("the old answer stays: %s", s.Result)
			}
			for len(heard) > 0 {
				<-heard
			}
		})
	}
}

// pureAxe lets axe-core look at the page as it is.
func pureAxe(t *testing.T, ctx context.Context) {
	t.Helper()
	axe, err := os.ReadFile(outside.Tool(t, "axe-core", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	quiet := strings.Replace(browse.AxeRun, "runOnly:", "preload: false, runOnly:", 1) // it would ask for files that a folder doesn't give
	faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](string(axe)+";"+quiet, chromedp.EvalAwaitPromise))
	if err != nil || faults != "" {
		t.Errorf("%s (%v)", faults, err)
	}
}

// Every kind of page about an API is as good as others: nothing is said on the
// console, and axe-core finds nothing, with everything open and closed: on a desk in
// light and on a phone in dark with make test-all, else in one of these.
func TestReferencePages(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := filepath.Dir(harness.Unpack(t, filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "reference")))
	for i, page := range []string{
		"lines", "line", "api/orders/list-orders", "api/orders/create-order", "api/orders/an-order-was-paid", "api/files/send-a-file", "events/stock", "notes/leave-a-note",
	} {
		t.Run(page, func(t *testing.T) {
			ctx, stop := browse.OpenFocused(t, chromium)
			complaints := browse.Listen(ctx, "file://"+dir+"/docs/")
			for n, look := range []browse.AxeLook{browse.AxeLooks[0], browse.AxeLooks[3]} {
				if !outside.Full() && i%2 != n {
					continue
				}
				scheme := "light"
				if look.Dark {
					scheme = "dark"
				}
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
				}); err != nil {
					t.Fatal(err)
				}
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(look.Width, look.Height), chromedp.Navigate("file://"+filepath.Join(dir, "docs", page+".html"))); err != nil {
					t.Fatal(err)
				}
				pureAxe(t, ctx)
				if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelectorAll("details").forEach(d => { d.open = true; }) || true`)); err != nil {
					t.Fatal(err)
				}
				pureAxe(t, ctx)
				browse.KeepPicture(t, ctx, strings.ReplaceAll(page, "/", "-"), look.Name)
			}
			stop()
			for _, c := range complaints() {
				t.Error(c)
			}
		})
	}
}
