package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// apiKey must be in requests to the API and nowhere else.
const apiKey = "bnd_5ec7e7" + secret

// linkAPI is an API that makes links.
type linkAPI struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(w http.ResponseWriter) // one after the other; the last one from then on
	asked   []string
}

func newLinkAPI(t testing.TB, answers ...func(w http.ResponseWriter)) *linkAPI {
	a := &linkAPI{answers: answers}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *linkAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	a.asked = append(a.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
	a.answers[0](w)
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
}

func (a *linkAPI) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

func answer(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// fresh is the answer with a link to a bundle.
func fresh(link string, data []byte, version string) func(http.ResponseWriter) {
	return answer(200, `{"jobId": "exp_1", "bundleUrl": "`+link+`", "version": "`+version+`", "sha256": "`+sum(data)+`"}`)
}

// renewal is where an API is, with a key.
func renewal(t testing.TB, api string) Renewal {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(apiKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Renewal{API: api, Job: "exp_1", KeyFile: file}
}

// TestFreshLink: a server with an empty volume and a link that has ended asks the
// API for a fresh one, whatever the address says for "ended"; one whose link is good
// asks nobody.
func TestFreshLink(t *testing.T) {
	data := edition(t, "1")
	for _, c := range []struct {
		name   string
		status int
		asks   int
	}{{"good", 0, 0}, {"expired", 403, 1}, {"gone", 410, 1}, {"not there", 404, 1}, {"broken", 500, 1}} {
		t.Run(c.name, func(t *testing.T) {
			ended, good := newOrigin(t, data), newOrigin(t, data)
			ended.status = c.status
			api := newLinkAPI(t, fresh(good.link(), data, "1"))
			r := started(t, Options{Link: ended.link(), Renew: renewal(t, api.URL+"/base/"), Version: "1", SHA256: sum(data)})
			r.shows(t, "edition 1")
			if s := r.status(t); s.State != "serving" {
				t.Errorf("%+v", s)
			}
			asked := api.requests()
			if len(asked) != c.asks || c.asks > 0 && asked[0] != "POST /base/v1/static-export/jobs/exp_1/bundle Bearer "+apiKey+" " {
				t.Errorf("the API was asked %q", asked)
			}
			if len(ended.requests()) == 0 {
				t.Error("the bundle's address was not tried first")
			}
			r.quiet(t)
		})
	}
}

// TestFreshLinkInFile: a link that another program renews is tried once the address is
// refused, if it leads to the same place.
func TestFreshLinkInFile(t *testing.T) {
	data := edition(t, "1")
	text := func(link string) string {
		return fmt.Sprintf(`{"jobId": "exp_1", "bundleUrl": %q, "renewedAt": "2026-01-01T00:00:00Z"}`, link)
	}
	o, other := newOrigin(t, data), newOrigin(t, data)
	o.status = 403
	for name, file := range map[string]string{
		"missing": "", "empty": " ", "no JSON": "x", "without a link": "{}", "the same link": text(o.link()),
		"another bundle": text(other.link()), "no address": text("ftp://x"),
	} {
		t.Run(name, func(t *testing.T) {
			renewed := filepath.Join(t.TempDir(), "renewed")
			if file != "" {
				if err := os.WriteFile(renewed, []byte(file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, r := fails(t, Options{Link: o.link(), Renew: Renewal{File: renewed}})
			if e.Code != CodeLinkExpired || len(other.requests()) > 0 {
				t.Errorf("%v, %d requests elsewhere", e, len(other.requests()))
			}
			r.quiet(t)
		})
	}
	t.Run("fresh", func(t *testing.T) {
		renewed := filepath.Join(t.TempDir(), "renewed")
		if err := os.WriteFile(renewed, []byte(text(o.link()+"&fresh=yes")), 0o600); err != nil {
			t.Fatal(err)
		}
		o.set(func() { o.needs = "fresh=yes" })
		r := started(t, Options{Link: o.link(), Renew: Renewal{File: renewed}, Version: "1", SHA256: sum(data)})
		r.shows(t, "edition 1")
		if s := r.status(t); s.State != "serving" {
			t.Errorf("%+v", s)
		}
		r.quiet(t)
	})
	t.Run("and an API", func(t *testing.T) {
		renew := renewal(t, "https://api.example")
		renew.File = "x"
		if e, _ := fails(t, Options{Link: o.link(), Renew: renew}); e.Code != CodeUsage {
			t.Error(e)
		}
	})
}

// TestFreshLinkLater: an API that is busy is asked again, and a link that ends during
// the download is renewed where it stopped.
func TestFreshLinkLater(t *testing.T) {
	data := edition(t, "1")
	o := newOrigin(t, data)
	o.cut, o.expireAt = len(data)/2, 1
	api := newLinkAPI(t, answer(503, ""), answer(429, `{"error": "slower"}`), func(w http.ResponseWriter) {
		o.set(func() { o.cut, o.expireAt = 0, 0 })
		fresh(o.link()+"&again", data, "1")(w)
	})
	r := started(t, Options{Link: o.link(), Renew: renewal(t, api.URL)})
	r.shows(t, "edition 1")
	asked := o.requests()
	if last := asked[len(asked)-1].Get("Range"); last == "" {
		t.Errorf("the download began anew: %v", asked)
	}
	if n := len(api.requests()); n != 3 {
		t.Errorf("the API was asked %d times", n)
	}
	r.quiet(t)
}

// TestNoFreshLink: what keeps a server without a bundle, for each answer of the API,
// and what is not taken from it.
func TestNoFreshLink(t *testing.T) {
	data := edition(t, "1")
	good := newOrigin(t, data)
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		change func(*Options)
		code   Code
		says   string
	}{
		"no key":               {answer(401, `{"error": "this admin key was revoked"}`), nil, CodeCredentials, "this admin key was revoked"},
		"a lesser key":         {answer(403, `{"error": "lacks the scope \u001b[31m"}`), nil, CodeCredentials, "scope bundle"},
		"another's job":        {answer(404, `{"error": "no such job"}`), nil, CodeNotFound, "BINDERY_SOURCE_JOB_ID"},
		"no bundle yet":        {answer(409, ""), nil, CodeNotFound, "status 409"},
		"a bundle that went":   {answer(410, `{"error": "the bundle was removed"}`), nil, CodeNotFound, "Export the site again"},
		"broken":               {answer(500, "<html>"), nil, CodeUnreachable, "status 500"},
		"a redirect":           {answer(307, ""), nil, CodeUnreachable, "status 307"},
		"another service":      {answer(200, "<html>hello</html>"), nil, CodeUnreachable, "without one"},
		"no link":              {answer(200, `{"bundleUrl": ""}`), nil, CodeUnreachable, "without one"},
		"a file":               {answer(200, `{"bundleUrl": "file:///etc/passwd"}`), nil, CodeUnreachable, "without one"},
		"a link that is none":  {answer(200, `{"bundleUrl": "https://"}`), nil, CodeUsage, "no host"},
		"a link that ended":    {fresh(good.link()+"x", data, "1"), func(o *Options) { good.set(func() { good.status = 403 }) }, CodeLinkExpired, "status 403"},
		"another digest":       {fresh(good.link(), data, "1"), func(o *Options) { o.SHA256 = sum(nil) }, CodeDigest, "expected e3b0c442"},
		"another version":      {fresh(good.link(), data, "1"), func(o *Options) { o.Version = "2" }, CodeVersion, `"2" was requested`},
		"in the clear":         {fresh("http://store.example/b", data, "1"), nil, CodeUsage, "not encrypted"},
		"no API":               {answer(200, ""), func(o *Options) { o.Renew.API = "" }, CodeUsage, "BINDERY_SOURCE_API"},
		"no job":               {answer(200, ""), func(o *Options) { o.Renew.Job = "" }, CodeUsage, "BINDERY_SOURCE_JOB_ID"},
		"a job that is a path": {answer(200, ""), func(o *Options) { o.Renew.Job = "../x" }, CodeUsage, "BINDERY_SOURCE_JOB_ID"},
		"no file of the key":   {answer(200, ""), func(o *Options) { o.Renew.KeyFile = "/nowhere/key" }, CodeUsage, "BINDERY_SOURCE_KEY_FILE"},
		"an API in the clear":  {answer(200, ""), func(o *Options) { o.Renew.API = "http://api.example" }, CodeUsage, "BINDERY_SOURCE_ALLOW_HTTP"},
		"a password":           {answer(200, ""), func(o *Options) { o.Renew.API = "https://me:" + secret + "@api.example" }, CodeUsage, "BINDERY_SOURCE_API"},
		"an API that is none":  {answer(200, ""), func(o *Options) { o.Renew.API = "api.example" }, CodeUsage, "BINDERY_SOURCE_API"},
	} {
		t.Run(name, func(t *testing.T) {
			good.set(func() { good.status = 0 })
			ended := newOrigin(t, nil)
			ended.status = 403
			options := Options{Link: ended.link(), Renew: renewal(t, newLinkAPI(t, c.answer).URL)}
			if c.change != nil {
				c.change(&options)
			}
			e, r := fails(t, options)
			if e.Code != c.code || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%s: %v, want %s with %q", e.Code, e, c.code, c.says)
			}
			if strings.Contains(e.Error(), "\x1b") || strings.Contains(r.log.String(), "passwd") {
				t.Errorf("what the API says is shown as it is: %q\n%s", e, r.log)
			}
			r.quiet(t)
		})
	}
}

// TestPinnedOfAnotherPlace: a version on the volume does not pass for what another
// address leads to. The same version there is taken; where nobody can say, the volume's
// is shown.
func TestPinnedOfAnotherPlace(t *testing.T) {
	first := newOrigin(t, edition(t, "1"))
	for name, c := range map[string]struct {
		data   []byte
		status int
		code   Code // with which it ends
	}{
		"another version":  {data: edition(t, "2"), code: CodeVersion},
		"no bundle":        {data: []byte("hello"), code: CodeRefused},
		"the same version": {data: edition(t, "1")},
		"an ended link":    {status: 403},
		"a broken host":    {status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			volume := t.TempDir()
			r := started(t, Options{Link: first.link(), Data: volume, Version: "1"})
			r.stop()
			<-r.ended
			other := newOrigin(t, c.data)
			other.status = c.status
			o := Options{Link: other.link(), Data: volume, Version: "1"}
			if c.code != "" {
				if e, _ := fails(t, o); e.Code != c.code {
					t.Errorf("%s: %v, want %s", e.Code, e, c.code)
				}
				return
			}
			r = started(t, o)
			r.shows(t, "edition 1")
			asked := len(other.requests())
			if asked == 0 {
				t.Error("the other address was not asked")
			}
			if r.stop(); c.status != 0 {
				return
			}
			<-r.ended
			started(t, o).shows(t, "edition 1") // its place is known by now
			if len(other.requests()) != asked {
				t.Error("it was fetched again")
			}
		})
	}
}
