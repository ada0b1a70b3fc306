package browse

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestLostRequestsAreMadeAgain: a page is loaded again until it and its files came, and a
// link that leads to it is used once. A server that sends nothing stands in for a network
// that changes.
func TestLostRequestsAreMadeAgain(t *testing.T) {
	const gaveUp = "net::ERR_EMPTY_RESPONSE"
	chromium := Chromium(t)
	for _, c := range []struct {
		name             string
		page, css, later int // requests that are lost
	}{{"none", 0, 0, 0}, {"the page", 3, 0, 0}, {"its styles", 0, 3, 0}, {"both", 4, 5, 0}, {"a script that comes later", 0, 0, 3}} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[r.URL.Path]++
				lost := asked[r.URL.Path] <= map[string]int{"/page": c.page, "/a.css": c.css, "/later.js": c.later}[r.URL.Path]
				mu.Unlock()
				if lost {
					panic(http.ErrAbortHandler)
				}
				switch r.URL.Path {
				case "/link":
					http.Redirect(w, r, "/page", http.StatusSeeOther)
				case "/page":
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte(`<!doctype html><link rel=stylesheet href=a.css><p id=x>x</p><script>setTimeout(() => import("/later.js"), 200)</script>`))
				case "/a.css":
					w.Header().Set("Content-Type", "text/css")
					_, _ = w.Write([]byte("#x { width: 123px }"))
				case "/later.js":
					w.Header().Set("Content-Type", "text/javascript")
					_, _ = w.Write([]byte(`document.getElementById("x").title = "later"`))
				}
			}))
			defer server.Close()
			ctx, stop := Open(t, chromium)
			defer stop()
			if err := chromedp.Do(ctx, navigate(server.URL+"/link", gaveUp)); err != nil {
				t.Fatal(err)
			}
			if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.getElementById("x").getBoundingClientRect().width === 123`)); !ok {
				t.Errorf("the page is not whole: %v", err)
			}
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if err := until(ctx, `document.getElementById("x").title === "later"`, gaveUp); err != nil {
				t.Error(err)
			}
			if asked["/link"] != 1 {
				t.Errorf("the link was used %d times", asked["/link"])
			}
		})
	}
}
