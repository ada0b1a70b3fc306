package analytics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// full has settings for every service.
func full() Services {
	return Services{
		"amplitude": {"apiKey": "amp1"}, "clarity": {"projectId": "cl1"}, "fathom": {"siteId": "FATHOM"}, "ga4": {"measurementId": "G-1"},
		"gtm": {"tagId": "GTM-1"}, "heap": {"appId": "123"}, "hotjar": {"hjid": "12", "hjsv": "6"}, "mixpanel": {"projectToken": "mix1"},
		"pirsch": {"id": "pi1"}, "plausible": {"domain": "docs.example.com"}, "posthog": {"apiKey": "phc_1"}, "segment": {"key": "seg1"},
	}
}

// browser runs a script as a page of an address would, and gives the addresses of
// the scripts that it loads.
func browser(t *testing.T, code []byte, protocol string, stored map[string]string) (loaded []string, vm *goja.Runtime) {
	t.Helper()
	vm = goja.New()
	set := func(name string, v any) {
		if err := vm.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	set("append", func(src string, attributes map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			src += fmt.Sprintf(" %s=%s", name, attributes[name])
		}
		loaded = append(loaded, src)
	})
	set("stored", stored)
	set("protocol", protocol)
	_, err := vm.RunString(`var window = this, location = { protocol: protocol }, document = {
	createElement: function () { var a = {}; return { a: a, setAttribute: function (n, v) { a[n] = v; } }; },
	head: { appendChild: function (e) { append(e.src, e.a); } }
};
if (stored) var localStorage = { getItem: function (k) { return k in stored ? stored[k] : null; } };`)
	if err == nil {
		_, err = vm.RunString(string(code))
	}
	if err != nil {
		t.Fatalf("%v in %s", err, code)
	}
	return loaded, vm
}

// TestEachService: a service's script loads that service from a host that its
// policy allows, as configured, and nothing else.
func TestEachService(t *testing.T) {
	want := map[string]string{
		"amplitude": "https://cdn.amplitude.com/script/amp1.js",
		"clarity":   "https://www.clarity.ms/tag/cl1",
		"fathom":    "https://cdn.usefathom.com/script.js data-site=FATHOM",
		"ga4":       "https://www.googletagmanager.com/gtag/js?id=G-1",
		"gtm":       "https://www.googletagmanager.com/gtm.js?id=GTM-1",
		"heap":      "https://cdn.heapanalytics.com/js/heap-123.js",
		"hotjar":    "https://static.hotjar.com/c/hotjar-12.js?sv=6",
		"mixpanel":  "https://cdn.mxpnl.com/libs/mixpanel-2-latest.min.js",
		"pirsch":    "https://api.pirsch.io/pa.js data-code=pi1 id=pianjs",
		"plausible": "https://plausible.io/js/script.js data-domain=docs.example.com",
		"posthog":   "https://us-assets.i.posthog.com/static/array.js crossorigin=anonymous",
		"segment":   "https://cdn.segment.com/analytics.js/v1/seg1/analytics.min.js",
	}
	all := full()
	if got, known := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(providers())); !slices.Equal(got, known) || len(all) != len(known) {
		t.Fatalf("tested are %q, known are %q", got, known)
	}
	for name := range want {
		t.Run(name, func(t *testing.T) {
			script, problems, err := Build(Services{name: all[name]})
			if err != nil || len(problems) > 0 || script == nil {
				t.Fatalf("%v %v", problems, err)
			}
			loaded, _ := browser(t, script.Data, "https:", nil)
			if len(loaded) != 1 || loaded[0] != want[name] {
				t.Errorf("it loads %q, want %q", loaded, want[name])
			}
			host, _, _ := strings.Cut(strings.TrimPrefix(want[name], "https://"), "/")
			allowed := slices.ContainsFunc(script.Sources["script-src"], func(s string) bool {
				s = strings.TrimPrefix(s, "https://")
				return s == host || strings.HasPrefix(s, "*.") && strings.HasSuffix(host, s[1:])
			})
			if !allowed {
				t.Errorf("the policy %v does not allow %s", script.Sources, host)
			}
			if loaded, _ = browser(t, script.Data, "file:", nil); len(loaded) > 0 {
				t.Errorf("a folder loads %q", loaded)
			}
		})
	}
}

// TestAll: all services together, and what their policy says; golden, because
// the policy of every page hangs on it.
func TestAll(t *testing.T) {
	script, problems, err := Build(full())
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v %v", problems, err)
	}
	again, _, _ := Build(full())
	if !bytes.Equal(script.Data, again.Data) || script.Path != again.Path {
		t.Error("the same settings give other bytes")
	}
	if loaded, _ := browser(t, script.Data, "https:", nil); len(loaded) != len(full()) {
		t.Errorf("it loads %q", loaded)
	}
	got, err := json.MarshalIndent(script.Sources, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, filepath.Join("testdata", "sources.json"), append(got, '\n'))
}

func TestWhatIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		services Services
		problem  string // of the one service, "" for none
		loads    bool
	}{
		"nothing":                 {nil, "", false},
		"no setting":              {Services{"ga4": {}}, "it has no measurementId", false},
		"one value":               {Services{"ga4": {"": "G-1"}}, "", true},
		"an unknown service":      {Services{"moon": {"id": "1"}}, "a bundle knows no service of this name", false},
		"markup":                  {Services{"ga4": {"measurementId": "</script>"}}, "its measurementId does not look like one", false},
		"an end of the string":    {Services{"gtm": {"tagId": `"+alert(1)+"`}}, "its tagId does not look like one", false},
		"a host in disguise":      {Services{"plausible": {"domain": "a", "server": "evil.example/x?"}}, "its server does not look like one", false},
		"an address with a query": {Services{"posthog": {"apiKey": "a", "apiHost": "https://a.example/x?y"}}, "its apiHost does not look like one", false},
		"plain http":              {Services{"posthog": {"apiKey": "a", "apiHost": "http://a.example"}}, "its apiHost does not look like one", false},
		"a source in a host":      {Services{"posthog": {"apiKey": "a", "apiHost": "https://a.example;script-src"}}, "its apiHost does not look like one", false},
		"a very long id":          {Services{"ga4": {"measurementId": strings.Repeat("a", 400)}}, "its measurementId does not look like one", false},
		"telemetry and consent":   {Services{"telemetry": {"enabled": "true"}, "cookies": {"key": "a", "value": "b"}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			script, problems, err := Build(c.services)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range problems {
				got += p.Reason
			}
			if got != c.problem || (script != nil) != c.loads {
				t.Errorf("problem %q, want %q; loads %t", got, c.problem, script != nil)
			}
		})
	}
}

// TestConsent: where a site asks readers, only those that agreed are counted.
func TestConsent(t *testing.T) {
	script, _, err := Build(Services{"ga4": {"measurementId": "G-1"}, "cookies": {"key": `a"</script>`, "value": "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stored map[string]string
		loads  int
	}{
		"agreed":     {map[string]string{`a"</script>`: "yes"}, 1},
		"refused":    {map[string]string{`a"</script>`: "no"}, 0},
		"not asked":  {map[string]string{}, 0},
		"no storage": {nil, 0},
	} {
		if loaded, _ := browser(t, script.Data, "https:", c.stored); len(loaded) != c.loads {
			t.Errorf("%s: it loads %q", name, loaded)
		}
	}
}

// TestPostHog: its options reach the library, which looks for them.
func TestPostHog(t *testing.T) {
	script, _, err := Build(Services{"posthog": {"apiKey": "phc_1", "apiHost": "https://t.example.com", "sessionRecording": "false"}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, vm := browser(t, script.Data, "http:", nil)
	if len(loaded) != 1 || !strings.HasPrefix(loaded[0], "https://t.example.com/static/array.js") || !slices.Contains(script.Sources["connect-src"], "https://t.example.com") {
		t.Errorf("it loads %q with %v", loaded, script.Sources)
	}
	v, err := vm.RunString("JSON.stringify(window.posthog._i)")
	if err != nil || v.String() != `[["phc_1",{"api_host":"https://t.example.com","disable_session_recording":true},"posthog"]]` {
		t.Errorf("%v %v", v, err)
	}
}

// TestPostHogPath: PostHog behind a path of the author's own server.
func TestPostHogPath(t *testing.T) {
	for _, host := range []string{"https://a.example/ingest", "https://a.example/ingest/", "https://a.example:8443/x/y-z"} {
		script, _, err := Build(Services{"posthog": {"apiKey": "phc_1", "apiHost": host}})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		u, path, _ := strings.Cut(strings.TrimPrefix(host, "https://"), "/")
		origin := "https://" + u
		loaded, _ := browser(t, script.Data, "https:", nil)
		if want := origin + "/" + strings.TrimSuffix(path, "/") + "/static/array.js"; len(loaded) != 1 || !strings.HasPrefix(loaded[0], want) || !slices.Contains(script.Sources["script-src"], origin) {
			t.Errorf("%s: it loads %q with %v, want %s", host, loaded, script.Sources, want)
		}
	}
	script, _, err := Build(Services{"posthog": {"apiKey": "phc_1", "apiHost": "https://us.i.posthog.com/"}})
	if err != nil || !slices.Contains(script.Sources["script-src"], "https://*.posthog.com") {
		t.Errorf("%v, %v", script, err)
	}
}

func TestOfID(t *testing.T) {
	for id, want := range map[string]string{"G-1": "ga4", "GTM-1": "gtm", "phc_1": "posthog", "UA-1": "", "": ""} {
		got := ""
		for name := range OfID(id) {
			got = name
		}
		if got != want {
			t.Errorf("%q is of %q, want %q", id, got, want)
		}
	}
}

// FuzzBuild: whatever stands in a setting stays data.
func FuzzBuild(f *testing.F) {
	f.Add("ga4", "measurementId", "G-1", "key")
	f.Add("posthog", "apiHost", "https://x.example", "</script><!--")
	f.Fuzz(func(t *testing.T, service, key, value, consent string) {
		script, _, err := Build(Services{service: {key: value, "domain": "d", "apiKey": "k"}, "cookies": {"key": consent, "value": value}})
		if err != nil {
			t.Fatal(err)
		}
		if script == nil {
			return
		}
		if _, err := goja.Compile("", string(script.Data), true); err != nil {
			t.Fatalf("%v in %s", err, script.Data)
		}
		for _, sources := range script.Sources {
			for _, s := range sources {
				if strings.ContainsAny(s, " ;,'\"") {
					t.Errorf("the source %q", s)
				}
			}
		}
	})
}
