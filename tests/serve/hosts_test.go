//go:build unix

package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// hostedPages are the pages of the site that servers of others serve, by address.
// Each has the links first and up.
var hostedPages = map[string]string{
	"index": "/", "first": "/first", "guides/index": "/guides", "guides/first": "/guides/first",
	"guides/deep/index": "/guides/deep", "guides/deep/last": "/guides/deep/last", "ar/index": "/ar", "ar/first": "/ar/first",
	"both": "/both", "both/index": "/both/",
}

// TestHostsOfOthers serves a bundle by nginx and Caddy, as the documentation says: at the
// root of a domain and below a path. Readers get each page at its address, with and
// without a slash at the end, and every link of it leads where its author meant.
func TestHostsOfOthers(t *testing.T) {
	outside.Long(t, "starts servers")
	for _, base := range []string{"", "/handbook"} {
		source := t.TempDir()
		var nav []string
		for page := range hostedPages {
			nav = append(nav, fmt.Sprintf("%q", page))
			text := fmt.Sprintf("---\ntitle: Page %s\n---\n\n[to first](/guides/first)\n\n[to the index](/guides)\n", page)
			writeFile(t, filepath.Join(source, page+".mdx"), text)
		}
		writeFile(t, filepath.Join(source, "docs.json"), `{"name":"Hosts","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":[`+strings.Join(nav, ",")+`]}}`)
		root := filepath.Join(t.TempDir(), "root")
		bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
		if out, err := exec.Command(harness.Bindery(t), "run", source, "--out", bundle, "--no-cache", "--domain", "docs.example.com", "--base-path", base+"/").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		archive, err := os.ReadFile(bundle)
		if err != nil {
			t.Fatal(err)
		}
		harness.Extract(t, archive, filepath.Join(root, base))
		for name, start := range map[string]func(t *testing.T, root, socket string) (ended <-chan struct{}){"nginx": startNginx, "Caddy": startCaddy} {
			t.Run(name+" "+base, func(t *testing.T) {
				socket := filepath.Join(socketFolder(t), "s")
				ended := start(t, root, socket)
				h := &host{client: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", socket)
				}}}}
				h.wait(t, ended)
				for page, address := range hostedPages {
					h.check(t, base, address, "Page "+page)
					if name, ok := strings.CutSuffix(page, "/index"); ok && page != "both/index" {
						h.check(t, base, address+"/", "Page "+page)
						h.check(t, base, "/"+name+"/index.html", "Page "+page)
					}
					h.check(t, base, "/"+page+".html", "Page "+page)
				}
				if base != "" {
					h.check(t, base, "", "Page index")
				}
				if _, status, _ := h.get(t, "http://host"+base+"/no/such/page"); status != http.StatusNotFound {
					t.Errorf("an unknown address is answered with status %d", status)
				}
			})
		}
	}
}

// host is a server under test.
type host struct{ client *http.Client }

// wait returns once the server answers.
func (h *host) wait(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := h.client.Get("http://host/")
		if err == nil {
			res.Body.Close()
			return
		}
		select {
		case <-ended:
			t.Fatal("the server ended")
		default:
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

var (
	refresh  = regexp.MustCompile(`http-equiv="refresh" content="0; url=([^"]*)"`)
	titleOf  = regexp.MustCompile(`<h1[^>]*>(?:<[^>]*>)*([^<]*)`)
	anyLink  = regexp.MustCompile(`<(a|link|script|img)\b[^>]*? (?:href|src)="([^"]*)"`)
	linkText = regexp.MustCompile(`href="([^"]*)"[^>]*>(to first|to the index)<`)
)

// get follows redirects, those of pages too, and returns where they end.
func (h *host) get(t *testing.T, address string) (at *url.URL, status int, body string) {
	t.Helper()
	for range 5 {
		res, err := h.client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		at, status, body = res.Request.URL, res.StatusCode, string(data)
		to := refresh.FindStringSubmatch(body)
		if to == nil {
			return at, status, body
		}
		next, err := at.Parse(to[1])
		if err != nil {
			t.Fatal(err)
		}
		address = next.String()
	}
	t.Fatalf("%s leads on and on", address)
	return nil, 0, ""
}

// check looks at the page that readers get at an address.
func (h *host) check(t *testing.T, base, address, title string) {
	t.Helper()
	at, status, body := h.get(t, "http://host"+base+address)
	got := titleOf.FindStringSubmatch(body)
	if status != http.StatusOK || got == nil || got[1] != title {
		t.Errorf("%s: status %d, title %q, want %q", base+address, status, got, title)
		return
	}
	for _, m := range anyLink.FindAllStringSubmatch(body, -1) {
		to, err := at.Parse(m[2])
		if err != nil || m[2] == "" || to.Host != at.Host || strings.HasPrefix(m[2], "data:") {
			continue
		}
		if _, status, _ := h.get(t, to.String()); status != http.StatusOK || !strings.HasPrefix(to.Path, base+"/") {
			t.Errorf("%s: <%s> leads to %s: status %d", base+address, m[1], to.Path, status)
		}
	}
	links := linkText.FindAllStringSubmatch(body, -1)
	if len(links) != 2 {
		t.Errorf("%s has the links %q", base+address, links)
	}
	for _, m := range links {
		to, err := at.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"to first": "Page guides/first", "to the index": "Page guides/index"}[m[2]]
		if _, _, body := h.get(t, to.String()); titleOf.FindStringSubmatch(body)[1] != want {
			t.Errorf("%s: the link %q leads to %s", base+address, m[2], to.Path)
		}
	}
}

// documented returns a block of code of the page about servers, with a server's
// address and folder in place of the example's.
func documented(t *testing.T, begin string, replace ...string) string {
	t.Helper()
	page := harness.Read(t, filepath.Join(outside.Checkout(t), "infra", "docs", "export", "serve.mdx"))
	_, block, ok := strings.Cut(page, "```"+begin+"\n")
	block, _, _ = strings.Cut(block, "```")
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(block, replace[i]) {
			ok = false
		}
		block = strings.ReplaceAll(block, replace[i], replace[i+1])
	}
	if !ok {
		t.Fatalf("the documentation has no block %s with %q:\n%s", begin, replace, block)
	}
	return block
}

func startNginx(t *testing.T, root, socket string) <-chan struct{} {
	nginx := outside.Program(t, "nginx", "/usr/sbin/nginx")
	dir := t.TempDir()
	server := documented(t, "nginx", "listen 8080", "listen unix:"+socket, "/srv/docs", root)
	config := "daemon off; pid " + dir + "/pid; error_log stderr;\nevents {}\nhttp {\n  access_log off;\n  types { text/html html; text/css css; text/javascript js; }\n"
	if os.Geteuid() == 0 {
		config = "user root;\n" + config
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		config += "  " + kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	file := filepath.Join(dir, "nginx.conf")
	writeFile(t, file, config+server+"}\n")
	return startHost(t, nginx, "-p", dir, "-c", file)
}

func startCaddy(t *testing.T, root, socket string) <-chan struct{} {
	caddy := outside.Program(t, "caddy")
	file := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, file, "{\n  admin off\n  auto_https off\n}\n"+
		documented(t, "text Caddyfile", ":8080 {\n", "http:// {\n  bind unix/"+socket+"\n", "/srv/docs", root))
	return startHost(t, caddy, "run", "--config", file, "--adapter", "caddyfile")
}

// startHost runs a server until the test ends.
func startHost(t *testing.T, program string, args ...string) <-chan struct{} {
	t.Helper()
	cmd := exec.Command(program, args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it says is in the log
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		log.Close()
		if t.Failed() {
			t.Logf("%s says:\n%s", program, harness.Read(t, log.Name()))
		}
	})
	return ended
}

// socketFolder is a folder with a short name: a socket's address has at most 104 bytes.
func socketFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
