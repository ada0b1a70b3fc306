package browser

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// seen is what a reader meets on a bundle's pages.
type seen struct{ Search, Assistant, Analytics, Playground, Rating bool }

// configured are the flags of a project that configures everything.
var configured = []string{
	"--search", "bundled", "--assistant", "https://assistant.example.com/ask?about=$page", "--analytics-id", "G-PROJECT1",
	"--site-analytics", "--playground", "--feedback", "https://ratings.example.com/r",
}

// unset are the flags that take all of that back.
var unset = []string{"--search", "", "--assistant", "", "--analytics-id", "", "--site-analytics=false", "--playground=false", "--feedback", ""}

// features are the fifteen cells of the table of features by deployment, seen by
// readers: each kind without and with the settings that it may need. Export is
// there in every one, or there would be no bundle to look at. Where the cloud has
// a feature on, but nobody named a service for it, there is nothing to see.
var features = []struct {
	name, kind string
	flags      []string
	want       seen
	hosts      []string // that pages call
	analytics  string   // the id that they count for, empty for none
}{
	{"cloud", "cloud", nil, seen{Search: true, Analytics: true, Playground: true}, []string{"plausible.io", "www.googletagmanager.com"}, "G-SITE1"},
	{"cloud, configured", "cloud", configured, seen{true, true, true, true, true}, []string{"plausible.io", "ratings.example.com", "www.googletagmanager.com"}, "G-PROJECT1"},
	{"client-hosted", "client-hosted", nil, seen{Playground: true}, nil, ""},
	{"client-hosted, configured", "client-hosted", configured, seen{true, true, true, true, true}, []string{"plausible.io", "ratings.example.com", "www.googletagmanager.com"}, "G-PROJECT1"},
	// An id of the project's own is no leave for what the site names.
	{"client-hosted with an id", "client-hosted", []string{"--analytics-id", "GTM-PROJECT2"}, seen{Analytics: true, Playground: true}, []string{"www.googletagmanager.com"}, "GTM-PROJECT2"},
	{"air-gapped", "air-gapped", nil, seen{}, nil, ""},
	{"air-gapped with a search service", "air-gapped", []string{"--search", "https://search.example.com"}, seen{}, nil, ""},
	// The one exception: search that lies in the bundle.
	{"air-gapped, configured", "air-gapped", configured, seen{Search: true, Playground: true}, nil, ""},
}

// TestFeatureTable makes bundles of a site for each kind of deployment, through
// the operator's command and the public API, opens them in a browser that records
// every request, and holds what is seen, what is called and what bindery.json
// says against the table. An air-gapped bundle calls nobody, from a folder
// neither.
func TestFeatureTable(t *testing.T) {
	chromium := browse.Chromium(t)
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	outside.Watch(t, "tests/browser/testdata/features")
	if _, err := u.Command(t, "publish", filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "features"), "--domain", domain); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range features {
		t.Run(c.name, func(t *testing.T) {
			set := slices.Concat([]string{"project", "set", u.Project, "--data", u.Data, "--kind", c.kind}, unset)
			if _, err := u.Command(t, slices.Concat(set, c.flags)...); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			out := filepath.Join(dir, "bundle.tar.gz")
			if _, err := u.Command(t, "export", "--domain", domain, "--out", out); err != nil {
				t.Fatal(err)
			}
			archive, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(dir, "docs")
			harness.Extract(t, archive, root)
			info := infoOf(t, root)
			if was, twice := versions[info.Version]; twice {
				t.Errorf("%s and %s have the version %s", was, c.name, info.Version)
			}
			versions[info.Version] = c.name
			checkInfo(t, info, c.kind, c.want, c.flags)

			server := browse.Policed(t, root, browse.StatedPolicy(t, root))
			got, called := look(t, chromium, server.URL)
			hosts := map[string]bool{}
			for _, address := range called {
				u, err := url.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(address, server.URL) || u.Scheme == "data" {
					continue
				}
				hosts[u.Host] = true
				if id := u.Query().Get("id"); id != "" && id != c.analytics {
					t.Errorf("visits count for %s, want %s", id, c.analytics)
				}
				got.Analytics = got.Analytics || u.Host == "www.googletagmanager.com"
			}
			if got != c.want {
				t.Errorf("readers meet %+v, want %+v", got, c.want)
			}
			if all := slices.Sorted(maps.Keys(hosts)); !slices.Equal(all, c.hosts) {
				t.Errorf("pages call %q, want %q", all, c.hosts)
			}
			if c.kind == "air-gapped" {
				got, called := look(t, chromium, "file://"+root)
				for _, address := range called {
					if !strings.HasPrefix(address, "file://"+root) && !strings.HasPrefix(address, "data:") {
						t.Errorf("from a folder pages call %s", address)
					}
				}
				if got != c.want {
					t.Errorf("from a folder readers meet %+v, want %+v", got, c.want)
				}
			}
		})
	}
	u.Stop(t)
}

// infoOf reads a bundle's description.
func infoOf(t *testing.T, root string) (info bundle.Info) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "bindery.json"))
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// checkInfo holds a bundle's description against what was configured: the cells
// of the table, and the settings.
func checkInfo(t *testing.T, info bundle.Info, kind string, want seen, flags []string) {
	t.Helper()
	cells := map[string]bool{
		"search": want.Search, "assistant": want.Assistant || kind == "cloud", "analytics": want.Analytics, "playground": want.Playground, "export": true,
	}
	if info.Deployment != kind || !maps.Equal(info.Features, cells) {
		t.Errorf("bindery.json says %s and %v, want %s and %v", info.Deployment, info.Features, kind, cells)
	}
	for i, flag := range flags {
		if !strings.HasPrefix(flag, "--") && !strings.Contains(string(info.Settings), flag) {
			t.Errorf("bindery.json does not have what %s says: %s", flags[i-1], info.Settings)
		}
	}
	if len(flags) == 0 && info.Settings != nil {
		t.Errorf("bindery.json has settings that nobody made: %s", info.Settings)
	}
}

// look opens each page of the site in a browser that knows no host but this one,
// rates it where it asks for that, and gives what there is and what was called.
func look(t *testing.T, chromium, base string) (got seen, called []string) {
	t.Helper()
	ctx, stop := browse.Open(t, chromium, chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	defer stop()
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var complaints []string
	sent, console := chromedp.Events(ctx, network.RequestWillBeSent), chromedp.Console(ctx)
	wg.Go(func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			mu.Lock()
			called = append(called, e.Request.URL)
			mu.Unlock()
		}
	})
	wg.Go(func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if strings.Contains(m.Text, "Content Security Policy") || m.Type == chromedp.ConsoleException {
				mu.Lock()
				complaints = append(complaints, m.Text)
				mu.Unlock()
			}
		}
	})
	for _, page := range []string{"index.html", "changelog.html", "orders.html"} {
		// A rating that can't be sent can be given again; that tells that its call
		// is over.
		const met = `(async () => {
	const has = s => !!document.querySelector(s), rate = document.querySelector(".bdy-rating button");
	if (rate) {
		rate.click();
		while (rate.getAttribute("aria-pressed") !== "false") await new Promise(r => setTimeout(r, 20));
	}
	const ask = document.querySelector("#assistant-entry");
	return { Search: has("#bindery-search button"), Assistant: !!ask, Playground: has(".bdy-playground"), Rating: !!rate, Href: ask ? ask.href : "", Feed: has("link[type='application/rss+xml']") };
})()`
		if err := chromedp.Do(ctx, browse.Navigate(base+"/"+page)); err != nil {
			t.Fatal(err)
		}
		state, err := chromedp.Run(ctx, chromedp.Evaluate[struct {
			seen
			Href string
			Feed bool
		}](met, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		if page == "index.html" {
			got = state.seen
		}
		got.Playground = got.Playground || state.Playground
		if state.Search != got.Search || state.Assistant != got.Assistant || state.Rating != got.Rating {
			t.Errorf("%s has %+v, the first page %+v", page, state.seen, got)
		}
		if state.Assistant && !strings.HasSuffix(state.Href, url.QueryEscape("/"+strings.TrimSuffix(page, ".html")+".md")) {
			t.Errorf("on %s the assistant is asked at %s", page, state.Href)
		}
		if state.Feed != (page == "changelog.html") {
			t.Errorf("%s names a feed: %t", page, state.Feed)
		}
	}
	stop()
	wg.Wait()
	for _, c := range complaints {
		t.Error(c)
	}
	return got, called
}
