package dashboard

import "testing"

func TestWords(t *testing.T) {
	for agent, want := range map[string]string{
		"": "unknown", "curl/8.5.0": "curl/8.5.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                  "Chrome on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15":         "Safari on macOS",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                        "Firefox on Linux",
	} {
		if got := agentName(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB", 3 << 50: "3072.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 pages", 1: "1 page", 999: "999 pages", 1000: "1\u202f000 pages", 1234567: "1\u202f234\u202f567 pages"} {
		if got := count(n, "page", "pages"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "über alles": "Über alles.", "why?": "Why?", "done…": "Done…", "x.": "X."} {
		if got := sentence(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for address, want := range map[string]string{"https://a.example/x": "https://a.example/x", "ssh://git@a.example/x": "", "javascript:alert(1)": "", "https:": "", "//a.example": ""} {
		if got := web(address); got != want {
			t.Errorf("%q leads to %q, want %q", address, got, want)
		}
	}
}

// Templates are parsed when their page is shown: here is where one that is none
// shows itself.
func TestPagesParse(t *testing.T) {
	d, err := New(Options{URL: "https://docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.pages) < 20 {
		t.Errorf("there are %d pages", len(d.pages))
	}
	for name, parse := range d.pages {
		if _, err := parse(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, a := range d.assets {
		if a.mime == "" {
			t.Errorf("%s has no type", name)
		}
	}
}
