package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// identityKey is the access key that the identity of these tests has.
const identityKey = "AKIDOFTHETESTS"

// environment clears what the SDK reads, and sets some of it.
func environment(t *testing.T, set map[string]string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for name, value := range set {
		t.Setenv(name, value)
	}
}

// bucket is a store that is as S3 for one object.
type bucket struct {
	origin
	anyone bool // who asks doesn't matter
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
	}
	switch {
	case !b.anyone && !strings.Contains(r.Header.Get("Authorization"), "Credential="+identityKey+"/"):
		fail(403, "AccessDenied")
	case r.URL.Path != "/site-bundles/docs/bundle.tar.gz":
		fail(404, "NoSuchKey")
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != `"`+sum(b.data)[:16]+`"`:
		fail(412, "PreconditionFailed")
	default:
		b.origin.ServeHTTP(w, r)
	}
}

// TestS3Identities: an object is read by whatever identity the process has,
// also by that of a workload.
func TestS3Identities(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("web-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("WebIdentityToken") != "web-token" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>%s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration>`+
			`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, identityKey, end)
	}))
	defer sts.Close()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "web-token" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"AccessKeyId":%q,"SecretAccessKey":"s","Token":"t","Expiration":%q}`, identityKey, end)
	}))
	defer agent.Close()
	for _, c := range []struct {
		name string
		env  map[string]string
		code Code // "" for success
	}{
		{"the environment's", map[string]string{"AWS_ACCESS_KEY_ID": identityKey, "AWS_SECRET_ACCESS_KEY": "s"}, ""},
		{"a service account's role", map[string]string{"AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": sts.URL}, ""},
		{"a pod's", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": agent.URL, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token}, ""},
		{"one that may not read it", map[string]string{"AWS_ACCESS_KEY_ID": "AKIDOFANOTHER", "AWS_SECRET_ACCESS_KEY": "s"}, CodeCredentials},
		{"none", nil, CodeCredentials},
		{"none, and no region", map[string]string{"AWS_REGION": ""}, CodeCredentials},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bucket{origin: origin{data: edition(t, "1")}}
			server := httptest.NewServer(b)
			defer server.Close()
			environment(t, map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": server.URL})
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			options := Options{Link: "s3://site-bundles/docs/bundle.tar.gz", S3PathStyle: true, Agent: "bindery-serve/test"}
			if c.code == "" {
				r := started(t, options)
				r.shows(t, "edition 1")
				if s := r.status(t); s.Source != options.Link {
					t.Errorf("the source is %q", s.Source)
				}
				return
			}
			e, _ := fails(t, options)
			if e.Code != c.code || !strings.Contains(e.Error(), "s3:GetObject") {
				t.Errorf("%s: %v", e.Code, e)
			}
		})
	}
}

// TestS3Trust: a store with a certificate of its own is trusted by
// AWS_CA_BUNDLE as by BINDERY_CA_FILE, and with both.
func TestS3Trust(t *testing.T) {
	server := httptest.NewTLSServer(&bucket{origin: origin{data: edition(t, "1")}})
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	ca := caOf(t, server)
	other, _, _ := certificate(t, t.TempDir(), "another")
	for _, c := range []struct {
		name, bundle, file string
		code               Code // "" for success
	}{
		{"AWS_CA_BUNDLE", ca, "", ""},
		{"BINDERY_CA_FILE", "", ca, ""},
		{"both, by the first", ca, other, ""},
		{"both, by the second", other, ca, ""},
		{"another's", other, "", CodeUnreachable},
		{"none", "", "", CodeUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment(t, map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": identityKey, "AWS_SECRET_ACCESS_KEY": "s"})
			if c.bundle != "" {
				t.Setenv("AWS_CA_BUNDLE", c.bundle)
			}
			source, err := parseSource("s3://site-bundles/docs/bundle.tar.gz", sourceOptions{PathStyle: true, CAFile: c.file})
			if err != nil {
				t.Fatal(err)
			}
			d := newDownloader(t)
			d.attempts = 1
			_, _, err = d.fetch(t.Context(), source, validators{})
			if e := (*Error)(nil); c.code == "" && err != nil || c.code != "" && (!errors.As(err, &e) || e.Code != c.code) {
				t.Errorf("%v, want code %q", err, c.code)
			}
		})
	}
}

// TestS3ComesBack: a store that gives no answer is asked again, and one that
// never gives any is told as that.
func TestS3ComesBack(t *testing.T) {
	var away atomic.Int64 // how many requests it gives no answer
	b := &bucket{origin: origin{data: blob(1000)}, anyone: true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		b.ServeHTTP(w, r)
	}))
	defer server.Close()
	environment(t, map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": identityKey, "AWS_SECRET_ACCESS_KEY": "s"})
	fetch := func() error {
		source, err := parseSource("s3://site-bundles/docs/bundle.tar.gz", sourceOptions{PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = newDownloader(t).fetch(t.Context(), source, validators{})
		return err
	}
	away.Store(2)
	if err := fetch(); err != nil {
		t.Errorf("a store that comes back: %v", err)
	}
	const forever = 1 << 20
	away.Store(forever)
	if err := fetch(); codeOf(err) != CodeUnreachable || forever-away.Load() != 3 {
		t.Errorf("after %d attempts: %v", forever-away.Load(), err)
	}
}

// TestS3Download: broken downloads from S3 go on, and a changed object is not
// joined to what is there.
func TestS3Download(t *testing.T) {
	data := blob(100_000)
	b := &bucket{origin: origin{data: data, cut: 40_000}, anyone: true}
	server := httptest.NewServer(b)
	defer server.Close()
	environment(t, map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": identityKey, "AWS_SECRET_ACCESS_KEY": "s"})
	fetch := func(d *downloader, object string, known validators) ([]byte, validators, error) {
		source, err := parseSource("s3://site-bundles/"+object, sourceOptions{PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
		path, from, err := d.fetch(context.Background(), source, known)
		if err != nil {
			return nil, from, err
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return got, from, nil
	}
	d := newDownloader(t)
	got, from, err := fetch(d, "docs/bundle.tar.gz", validators{})
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
	if diff := cmp.Diff([]string{"", "bytes=40000-", "bytes=80000-"}, b.ranges()); diff != "" {
		t.Error(diff)
	}
	d.forget()
	if _, _, err := fetch(d, "docs/bundle.tar.gz", from); err != errUnchanged {
		t.Errorf("%v", err)
	}
	if _, _, err := fetch(d, "docs/other.tar.gz", validators{}); codeOf(err) != CodeNotFound {
		t.Errorf("%v", err)
	}
	// The object is replaced while it comes.
	d = newDownloader(t)
	d.attempts = 1
	b.set(func() { b.expireAt = len(b.asked) + 1 })
	if _, _, err := fetch(d, "docs/bundle.tar.gz", validators{}); err == nil {
		t.Fatal("it came in one piece")
	}
	second := blob(90_000)
	b.set(func() { b.data, b.cut, b.expireAt = second, 0, 0 })
	d.attempts = 3
	if got, _, err = fetch(d, "docs/bundle.tar.gz", validators{}); err != nil || !bytes.Equal(got, second) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	server.Close()
	if _, _, err := fetch(newDownloader(t), "docs/bundle.tar.gz", validators{}); codeOf(err) != CodeUnreachable || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("%v", err)
	}
}
