package remote

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// What logs and reports say of an address can't open anything.
func TestShown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no address", "What? An e-mail to a@b.example.", "What? An e-mail to a@b.example."},
		{"nothing to hide", "https://h.example/a.png", "https://h.example/a.png"},
		{"a query", "https://h.example/a.png?token=s", "https://h.example/a.png?…"},
		{"an empty query", "https://h.example/a.png? is", "https://h.example/a.png?… is"},
		{"within a sentence", "leads to https://h.example/a?b=s&c=s, which (https://h.example/?s) is", "leads to https://h.example/a?…, which (https://h.example/?…) is"},
		{"within quotes", `Get "https://h.example/a?b=s": refused`, `Get "https://h.example/a?…": refused`},
		{"without a scheme", "//h.example/a?s", "//h.example/a?…"},
		{"another scheme", "S3://h.example/a?s", "S3://h.example/a?…"},
		{"a user", "https://me@h.example/a", "https://h.example/a"},
		{"a user with a password", "HTTPS://me:s@s@h.example/a@b", "HTTPS://h.example/a@b"},
		{"a query that has an @", "https://h.example?a=me@b", "https://h.example?…"},
		{"a fragment leads to a place", "https://h.example/a#b", "https://h.example/a#b"},
		{"a fragment behind a query", "https://h.example/a?s#b", "https://h.example/a?…"},
	} {
		if got := Shown(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Text from elsewhere does nothing to a terminal, and reads as before where it
// was harmless.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"größer, 日本語, a\u00a0b, é, 👩\u200d💻 ✓": "größer, 日本語, a\u00a0b, é, 👩\u200d💻 ✓",
		`C:\new`:                     `C:\new`,
		"\x1b[2J\x1b]0;x\a":          `\u001b[2J\u001b]0;x\u0007`,
		"a\r\nb\tc\x00\x7f":          `a\r\nb\tc\u0000\u007f`,
		"\u009b31m \u0085":           `\u009b31m \u0085`,
		"\u202egpj.exe \u2066\u200f": `\u202egpj.exe \u2066\u200f`,
		"a\u2028b\ufeff\u00ad":       `a\u2028b\ufeff\u00ad`,
		"\U000e0041":                 `\udb40\udc41`,
		"a\xffb":                     "a\ufffdb",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%+q becomes %+q, want %+q", text, got, want)
		}
	}
}

func FuzzShown(f *testing.F) {
	f.Add("see https://me:pw@h.example/a?b#c, or //h/?x")
	f.Fuzz(func(t *testing.T, text string) {
		got := Shown(text)
		if again := Shown(got); again != got {
			t.Fatalf("%q becomes %q, and that %q", text, got, again)
		}
	})
}

// The log says which host and why, also where a redirect led to, and has none of
// the queries.
func TestLogHasNoQuery(t *testing.T) {
	_, f := newNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "https://example.com/cut?secret=2", http.StatusFound)
		case "/odd":
			w.Header().Set("Location", "https://[example.com/?secret=3")
			w.WriteHeader(http.StatusFound)
		default:
			panic(http.ErrAbortHandler)
		}
	})
	for path, want := range map[string]string{"cut": "https://example.com/cut?…", "moved": "https://example.com/cut?…", "odd": "Location"} {
		var log bytes.Buffer
		f.opt.Log = slog.New(slog.NewTextHandler(&log, nil))
		_, err := f.Get(context.Background(), "https://example.com/"+path+"?secret=1", allowed(), Asset)
		if err == nil {
			t.Fatalf("%s: a file came", path)
		}
		if said := log.String(); !strings.Contains(said, want) || !strings.Contains(said, "host=example.com") || strings.Contains(said, "secret") {
			t.Errorf("%s: the log says %s", path, said)
		}
	}
}
