package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDev follows an edit through the whole command, and ends it while a page still
// waits for more.
func TestDev(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "index.mdx")
	for name, text := range map[string]string{"docs.json": `{"name": "Site", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Home\n\n[Away](/nowhere)\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"dev", dir, "--port", "0"}, strings.NewReader(""), stdout, io.Discard, func(string) string { return "" })
	}()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, " is at ")
	address, _, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("it says %q", line)
	}
	for !strings.Contains(line, "1 page checked") { // after the finding
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go io.Copy(io.Discard, out)
	req, err := http.NewRequest("GET", address+"bindery-dev/events?address="+url.QueryEscape("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip, br") // as browsers ask
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Encoding"); got != "" {
		t.Errorf("events are compressed: %s", got)
	}
	events := bufio.NewReader(res.Body)
	event := func(want string) {
		t.Helper()
		for {
			text, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("no event with %q: %v", want, err)
			}
			if strings.Contains(text, want) {
				return
			}
		}
	}
	event("link-missing")
	if err := os.WriteFile(page, []byte("# Home\n\n<b>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	event("mdx-syntax")
	cancel()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestListenNear(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if _, err := listenNear("127.0.0.1", port, true); err == nil {
		t.Error("a port in use was taken")
	}
	next, err := listenNear("127.0.0.1", port, false)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if at := next.Addr().(*net.TCPAddr).Port; at <= port || at >= port+portTries {
		t.Errorf("port %d after %d", at, port)
	}
}
