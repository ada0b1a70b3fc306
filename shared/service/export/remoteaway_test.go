package export

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// A host that is not there is given up on: each of its files could take as long
// as one may.
func TestHostsThatAreAway(t *testing.T) {
	h := newHosts(t, nil)
	asked := make(chan string, 1000)
	fetcher := remote.New(remote.Options{Resolver: h, Dial: func(context.Context, string, string) (net.Conn, error) {
		asked <- "once"
		return nil, errors.New("secret of the network")
	}})
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "![x](https://example.com/%02d.png)\n", i)
	}
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: "example.com"})
	w.publish(t, fstest.MapFS{"docs.json": {Data: []byte(`{"name":"x","navigation":{"pages":["index"]}}`)}, "index.mdx": {Data: []byte(b.String())}})
	files := unpacked(t, w.exported(t, func(o *Options) { o.Fetcher = fetcher }))
	if n := len(asked); n == 0 || n > 2*(maxUnreached+remoteParallel) {
		t.Errorf("the host was asked %d times", n)
	}
	report := files[bundle.DiagnosticsPath]
	if n := strings.Count(report, "others of its host could not be fetched"); n < 100-maxUnreached-remoteParallel || strings.Contains(report, "secret") {
		t.Errorf("%d files are not asked for: %.600s", n, report)
	}
	if strings.Count(files["index.html"], "https://example.com/") < 100 {
		t.Error("pictures do not stay where they are")
	}
}
