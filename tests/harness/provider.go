package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// IDProvider is an OpenID provider on this machine. It signs in anybody under the
// name that they type.
type IDProvider struct {
	port   string
	Issuer string
	Secret string
}

// NewIDProvider reserves a port for a provider. Serve starts it.
func NewIDProvider(t *testing.T) IDProvider {
	t.Helper()
	port := outside.Port(t)
	return IDProvider{port: port, Issuer: "http://127.0.0.1:" + port, Secret: "sesame-of-the-dashboard"}
}

// Serve runs the provider until the test ends. It sends people back to redirect, a
// page of the dashboard.
func (p IDProvider) Serve(t *testing.T, redirect string) {
	t.Helper()
	outside.Watch(t, "tests/tools/oidc")
	library := filepath.Dir(filepath.Dir(outside.Tool(t, "an OpenID provider", "oidc", "node_modules", "oidc-provider", "package.json")))
	about, err := json.Marshal(map[string]any{"port": p.port, "client": "bindery", "secret": p.Secret, "redirect": redirect, "groups": map[string][]string{"bob": {"writers"}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), outside.Program(t, "node"), filepath.Join(outside.Checkout(t), "tests", "tools", "oidc", "provider.mjs"), library, string(about))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "listening" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatal("the OpenID provider has ended")
}

// Visitor is a client of the dashboard without JavaScript. It keeps cookies and
// follows redirects.
type Visitor struct {
	*http.Client
	t    *testing.T
	Base string // of the dashboard
}

// Screen is a page that a visitor received.
type Screen struct {
	Status int
	At     *url.URL
	Header http.Header
	Body   string
}

// NewVisitor returns a visitor who has not signed in to the dashboard below base.
func NewVisitor(t *testing.T, base string) *Visitor {
	jar, _ := cookiejar.New(nil) // it has no error
	return &Visitor{&http.Client{Jar: jar, Timeout: time.Minute}, t, base}
}

// Ask sends a request, with a form if it is not nil, and returns the page at the end
// of the redirects.
func (v *Visitor) Ask(method, address string, form url.Values) Screen {
	v.t.Helper()
	if form == nil {
		return v.ask(method, address, nil, "")
	}
	return v.ask(method, address, strings.NewReader(form.Encode()), "application/x-www-form-urlencoded")
}

func (v *Visitor) ask(method, address string, body io.Reader, contentType string) Screen {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, address, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
	}
	res, err := v.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return Screen{res.StatusCode, res.Request.URL, res.Header, string(text)}
}

// See reads a page of the dashboard and checks its status and that it has texts.
func (v *Visitor) See(path string, status int, texts ...string) Screen {
	v.t.Helper()
	return v.holds(v.Ask(http.MethodGet, v.Base+path, nil), path, status, texts...)
}

// Send sends a form of the dashboard: names and values in turn.
func (v *Visitor) Send(path string, status int, pairs ...string) Screen {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.holds(v.Ask(http.MethodPost, v.Base+path, form), path, status)
}

// SendFile is Send for a form with a file in the field attachments.
func (v *Visitor) SendFile(path string, status int, name string, content []byte, pairs ...string) Screen {
	v.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	var err error
	for i := 0; i+1 < len(pairs) && err == nil; i += 2 {
		err = form.WriteField(pairs[i], pairs[i+1])
	}
	if err == nil {
		var part io.Writer
		if part, err = form.CreateFormFile("attachments", name); err == nil {
			_, err = part.Write(content)
		}
	}
	if err = errors.Join(err, form.Close()); err != nil {
		v.t.Fatal(err)
	}
	return v.holds(v.ask(http.MethodPost, v.Base+path, &body, form.FormDataContentType()), path, status)
}

// SendJSON makes a call of the dashboard's scripts and reads its answer into out.
func (v *Visitor) SendJSON(path string, in, out any) {
	v.t.Helper()
	body, err := json.Marshal(in)
	if err == nil {
		s := v.holds(v.ask(http.MethodPost, v.Base+path, bytes.NewReader(body), "application/json"), path, http.StatusOK)
		err = json.Unmarshal([]byte(s.Body), out)
	}
	if err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
}

func (v *Visitor) holds(s Screen, path string, status int, texts ...string) Screen {
	v.t.Helper()
	if s.Status != status {
		v.t.Fatalf("%s: %d, want %d: %s", path, s.Status, status, s.Body)
	}
	for _, text := range texts {
		if !strings.Contains(s.Body, text) {
			v.t.Errorf("%s lacks %q: %s", path, text, s.Body)
		}
	}
	return s
}

var actionOf = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)

// SignIn signs in at the provider and returns the page of the dashboard after that.
func (v *Visitor) SignIn(name, next string) Screen {
	v.t.Helper()
	v.See("/sign-in?next="+url.QueryEscape(next), http.StatusOK, "Sign in")
	return v.provider(name, "/sign-in/start?next="+url.QueryEscape(next))
}

// SignInAgain makes the fresh sign-in that sensitive pages ask for, and returns the
// page of the dashboard after that.
func (v *Visitor) SignInAgain(name, next string) Screen {
	v.t.Helper()
	return v.provider(name, "/sign-in/start?again=1&next="+url.QueryEscape(next))
}

// provider fills in the forms of the provider that a page of the dashboard leads to.
func (v *Visitor) provider(name, start string) Screen {
	v.t.Helper()
	base, err := url.Parse(v.Base)
	if err != nil {
		v.t.Fatal(err)
	}
	s := v.Ask(http.MethodGet, v.Base+start, nil)
	for _, prompt := range []string{"login", "consent"} {
		if prompt == "consent" && s.At.Host == base.Host {
			break // it was given before
		}
		action := actionOf.FindStringSubmatch(s.Body)
		if action == nil {
			v.t.Fatalf("the provider's %s has no form: %d %s %s", prompt, s.Status, s.At, s.Body)
		}
		s = v.Ask(http.MethodPost, html.UnescapeString(action[1]), url.Values{"prompt": {prompt}, "login": {name}, "password": {"any"}})
	}
	return s
}
