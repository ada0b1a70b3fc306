package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
)

func TestServerFromEnv(t *testing.T) {
	got, err := config.ServerFromEnv(environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.ServerDefaults(), got); diff != "" {
		t.Error("of an empty environment:", diff)
	}
	got, err = config.ServerFromEnv(environment(map[string]string{
		config.BundleURL: "https://a.example/b?c\n", config.BundleURLFile: "/f", config.SourceAPI: "https://api", config.SourceJobID: "exp_1", config.SourceKeyFile: "/key\n", config.SourceAllowHTTP: "true", config.RenewedFile: "/r",
		config.BundleVersion: "1", config.BundleVersionNumber: "true", config.BundleSHA256: "ab",
		config.Ranges: "true", config.Data: "/d", config.Addr: ":1", config.AdminAddr: ":2", config.BasePath: "/docs", config.Refresh: "10m", config.Verify: "2h", config.Keep: "0",
		config.CAFile: "/ca", config.AllowHTTP: "true", config.S3PathStyle: "1", config.TLSCert: "/c", config.TLSKey: "/k", config.H2C: "true",
		config.DrainDelay: "0s", config.DrainTimeout: "1m", config.CacheMiB: "5", config.AccessLog: "false",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Server{
		BundleURL: "https://a.example/b?c", BundleURLFile: "/f", SourceAPI: "https://api", SourceJobID: "exp_1", SourceKeyFile: "/key", SourceAllowHTTP: true, RenewedFile: "/r", BundleVersion: "1", BundleVersionNumber: true, BundleSHA256: "ab", Ranges: true, Data: "/d", Addr: ":1", AdminAddr: ":2",
		BasePath: "/docs", Refresh: 10 * time.Minute, Verify: 2 * time.Hour, CAFile: "/ca", AllowHTTP: true, S3PathStyle: true, TLSCert: "/c", TLSKey: "/k", H2C: true,
		DrainTimeout: time.Minute, CacheMiB: 5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestServerFromEnvRefuses(t *testing.T) {
	for name, values := range map[string][]string{
		config.Refresh: {"10", "soon", "-1m"}, config.Keep: {"-1", "two"}, config.CacheMiB: {"1.5"}, config.AllowHTTP: {"maybe"}, config.AccessLog: {"yes please"},
		config.DrainDelay: {"-1s"}, config.Verify: {"often"},
	} {
		for _, value := range values {
			_, err := config.ServerFromEnv(environment(map[string]string{name: value}))
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}
