package chart

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/client"
)

// TestLoopKeepsTheKey holds the chart to the rule of the program that the loop
// runs: both refuse the same addresses, which would carry the key in the clear,
// and both take them where the values say so.
func TestLoopKeepsTheKey(t *testing.T) {
	for _, address := range []string{
		"https://bindery.example.com", "https://10.0.0.1", "https://bindery",
		"http://localhost", "http://LOCALHOST:8787", "http://api.localhost/base", "http://localhost.", "http://127.0.0.1:8787", "http://127.8.9.10", "http://[::1]:8787",
		"http://bindery.tools.svc", "http://bindery.tools.svc:8080/base", "http://bindery.tools.svc.cluster.local", "http://bindery.tools.SVC.",
		"http://bindery.example.com", "http://bindery", "http://10.0.0.1", "http://0.0.0.0", "http://[fe80::1]", "http://127.0.0.1.example.com", "http://127.1",
		"http://localhost.example.com", "http://notlocalhost", "http://svc", "http://svc.cluster.local.example.com", "http://bindery.svc.example.com",
		"http://example.com/x.svc", "http://example.com/x.svc/", "http://example.com/x.localhost", "http://example.com:80/.svc:80/",
	} {
		for _, allowed := range []bool{false, true} {
			if allowed && !strings.HasSuffix(address, "bindery.example.com") {
				continue // one address of each kind is enough
			}
			t.Run(fmt.Sprintf("%s %v", address, allowed), func(t *testing.T) {
				t.Parallel()
				values := minimal + fmt.Sprintf("loop: {enabled: true, apiUrl: %q, allowHttp: %v, domain: a.b, apiKeySecret: {name: key}}", address, allowed)
				out, said, err := call(t, values, "template", "docs", folder, "--values", "-")
				_, clientErr := client.New(client.Options{BaseURL: address, Key: "key", AllowHTTP: allowed})
				if refused := errors.Is(clientErr, client.ErrInTheClear); refused != (err != nil) || !refused && clientErr != nil {
					t.Fatalf("the program says %v, helm %v: %s", clientErr, err, said)
				}
				if err != nil && (!strings.Contains(said, "unencrypted; use https://") || !strings.Contains(said, "'/loop/apiUrl'")) {
					t.Errorf("helm says %s", said)
				}
				if err == nil && strings.Contains(out, "--allow-http\n") != allowed {
					t.Errorf("the loop's program is not told whether http is allowed:\n%s", out)
				}
			})
		}
	}
}
