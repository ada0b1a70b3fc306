package main

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// --allow-host may stand several times, and an empty one takes nothing away from
// those beside it; a name that can't be a host's is refused where it is written.
func TestAllowHostFlag(t *testing.T) {
	var s admin.Settings
	h := &hostsFlag{settings: &s}
	for _, v := range []string{"", "B.example", "*.a.example", "b.example:443,c.example:8443"} {
		if err := h.Set(v); err != nil {
			t.Fatal(err)
		}
	}
	if want := "*.a.example,b.example,c.example:8443"; s.AllowHosts != want || h.String() != want {
		t.Errorf("the hosts are %q, want %q", s.AllowHosts, want)
	}
	// What no export asks is refused here, where the operator sees it.
	for _, v := range []string{"https://a.example/", "10.0.0.1", "files.internal", "*.svc.cluster.local", "a.localhost", "nas.home.arpa:8443"} {
		if err := h.Set(v); err == nil {
			t.Errorf("%s is taken for a host of the internet", v)
		}
	}
	if want := "*.a.example,b.example,c.example:8443"; s.AllowHosts != want {
		t.Errorf("the hosts are %q, want %q", s.AllowHosts, want)
	}
	if (&hostsFlag{}).String() != "" {
		t.Error("the default is not empty")
	}
}
