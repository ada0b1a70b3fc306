package s3store_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// roles is an STS whose credentials live for life after the clock's time. It
// notes what it was asked.
type roles struct {
	clock *storetest.Clock
	life  time.Duration

	mu    sync.Mutex
	asked []url.Values
}

func (r *roles) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b, err := io.ReadAll(req.Body)
	values, perr := url.ParseQuery(string(b))
	if err != nil || perr != nil || values.Get("Action") != "AssumeRole" {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, values)
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
		<AccessKeyId>SIGNER%d</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session%[1]d</SessionToken>
		<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
		len(r.asked), r.clock.Time().Add(r.life).UTC().Format(time.RFC3339))
}

const signerRole = "arn:aws:iam::123456789012:role/signer"

// signing makes Objects whose links to read are signed by a role with
// credentials of the given life.
func signing(t *testing.T, life time.Duration) (*s3store.Objects, *storetest.Clock, *roles) {
	t.Helper()
	// A fraction of a second: links are signed at whole ones.
	c := storetest.NewClock(time.Date(2026, 11, 21, 10, 30, 0, 700_000_000, time.UTC))
	r := &roles{clock: c, life: life}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return s3store.New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("OWN", "own", "own"),
	}, s3store.Options{Sources: "sources", Exports: "exports", SignerRole: signerRole, Now: c.Time}), c, r
}

func TestLinkEndsWithItsCredentials(t *testing.T) {
	for _, c := range []struct {
		name           string
		asked, session time.Duration
		want           string // the end of the link
		seconds        string // what it says itself
	}{
		{"as long as was asked for", 10 * time.Minute, time.Hour, "10:40:00", "600"},
		{"an hour, of credentials that live an hour", time.Hour, time.Hour, "11:30:00", "3600"},
		{"longer than its credentials", time.Hour, 15 * time.Minute, "10:45:00", "900"},
		{"much longer than S3 takes", 1000 * time.Hour, 2000 * time.Hour, "10:30:00", "604800"},
		{"a fraction of a second is not promised", 90*time.Second + 999*time.Millisecond, time.Hour, "10:31:30", "90"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, clock, roles := signing(t, c.session)
			link, err := o.PresignGet(t.Context(), "exports/exp_1/bundle.tar.gz", "docs.tar.gz", c.asked)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(link.URL)
			if err != nil {
				t.Fatal(err)
			}
			if got := link.ExpiresAt.Format(time.TimeOnly); got != c.want {
				t.Errorf("the link ends at %s, want %s", got, c.want)
			}
			if link.ExpiresAt.After(clock.Time().Add(c.asked)) || link.ExpiresAt.After(clock.Time().Add(c.session)) {
				t.Errorf("the link ends at %v: later than was asked for, or than its credentials", link.ExpiresAt)
			}
			q := u.Query()
			got := map[string]string{}
			for _, name := range []string{"X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-Credential", "response-content-disposition"} {
				got[name] = q.Get(name)
			}
			if diff := cmp.Diff(map[string]string{
				"X-Amz-Date": "20261121T103000Z", "X-Amz-Expires": c.seconds, "X-Amz-Security-Token": "session1",
				"X-Amz-Credential": "SIGNER1/20261121/eu-west-1/s3/aws4_request", "response-content-disposition": `attachment; filename=docs.tar.gz`,
			}, got); diff != "" {
				t.Error(diff)
			}
			if u.Path != "/exports/exports/exp_1/bundle.tar.gz" {
				t.Errorf("path %s", u.Path)
			}
			if asked := roles.asked[0]; asked.Get("RoleArn") != signerRole || asked.Get("DurationSeconds") != "3600" {
				t.Errorf("asked for %v", asked)
			}
		})
	}
}

// A session signs many links, as long as one for an hour gets most of it.
func TestSessionsAreRenewedEarly(t *testing.T) {
	o, clock, roles := signing(t, time.Hour)
	for i, c := range []struct {
		after    time.Duration
		sessions int
		life     time.Duration
	}{
		{0, 1, time.Hour - 700*time.Millisecond},
		{9 * time.Minute, 1, 51*time.Minute - 700*time.Millisecond},
		{2 * time.Minute, 2, time.Hour - 700*time.Millisecond},
		{3 * time.Hour, 3, time.Hour - 700*time.Millisecond},
	} {
		clock.Advance(c.after)
		link, err := o.PresignGet(t.Context(), "orgs/o/manifests/m", "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(roles.asked) != c.sessions || link.ExpiresAt.Sub(clock.Time()) != c.life {
			t.Errorf("link %d: %d sessions, it lives %v; want %d and %v", i, len(roles.asked), link.ExpiresAt.Sub(clock.Time()), c.sessions, c.life)
		}
	}
}

func TestNoLinkWithoutLife(t *testing.T) {
	o, _, _ := signing(t, time.Hour)
	for _, life := range []time.Duration{0, -time.Hour, 999 * time.Millisecond} {
		if link, err := o.PresignGet(t.Context(), "orgs/a", "", life); err == nil {
			t.Errorf("a life of %v: %+v", life, link)
		}
	}
	o, _, _ = signing(t, -time.Minute)
	if link, err := o.PresignGet(t.Context(), "orgs/a", "", time.Hour); err == nil {
		t.Errorf("credentials that have ended: %+v", link)
	}
}

// What an upload link promises is signed as headers: length, digest, and that
// nothing is there.
func TestUploadLinkSignsWhatItPromises(t *testing.T) {
	o, _, roles := signing(t, time.Hour)
	sum := sha256.Sum256([]byte("hello"))
	for _, c := range []struct {
		size   int64
		signed string
	}{
		{5, "content-length;host;if-none-match;x-amz-checksum-sha256"},
		// A length of zero is no header; the digest of nothing stands for it.
		{0, "host;if-none-match;x-amz-checksum-sha256"},
	} {
		link, err := o.PresignPut(t.Context(), "orgs/o/packs/p", c.size, hex.EncodeToString(sum[:]), 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link.URL)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if got := q.Get("X-Amz-SignedHeaders"); got != c.signed {
			t.Errorf("%d bytes: signed are %q, want %q", c.size, got, c.signed)
		}
		if diff := cmp.Diff(http.Header{
			"If-None-Match": {"*"}, "X-Amz-Checksum-Sha256": {base64.StdEncoding.EncodeToString(sum[:])},
		}, link.Header); diff != "" {
			t.Error(diff)
		}
		for name := range q {
			if l := strings.ToLower(name); strings.Contains(l, "checksum") || strings.Contains(l, "sdk") {
				t.Errorf("the parameter %s stands for a header", name)
			}
		}
		if want := "10:35:00"; q.Get("X-Amz-Expires") != "300" || link.ExpiresAt.Format(time.TimeOnly) != want {
			t.Errorf("it lives %s seconds, until %v", q.Get("X-Amz-Expires"), link.ExpiresAt)
		}
	}
	// The role that reads does not sign it.
	if len(roles.asked) != 0 {
		t.Errorf("asked for %v", roles.asked)
	}
}

// On a cloud that holds permissions, a link can do what the role can that
// signed it, and no more.
func TestLinksOfARole(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	account := map[string]string{"AWS": "arn:aws:iam::" + cloudtest.Account + ":root"}
	reader := c.Role(t, "reader", account, []string{"s3:GetObject"}, "arn:aws:s3:::"+exports+"/*")
	o := s3store.New(c.Config, s3store.Options{Sources: sources, Exports: exports, SignerRole: reader, UploadSignerRole: reader})
	for _, key := range []string{"exports/e/bundle", "orgs/o/packs/p"} {
		if _, err := o.Put(t.Context(), key, strings.NewReader("data"), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	send := func(method string, link store.Link, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, link.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(req.Header, link.Header)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	for key, want := range map[string]int{"exports/e/bundle": http.StatusOK, "orgs/o/packs/p": http.StatusForbidden} {
		link, err := o.PresignGet(t.Context(), key, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(link.ExpiresAt); left < 58*time.Minute || left > time.Hour {
			t.Errorf("the link to read %s ends in %v", key, left)
		}
		if status, body := send(http.MethodGet, link, ""); status != want {
			t.Errorf("read %s: %d %s, want %d", key, status, body, want)
		}
	}
	sum := sha256.Sum256([]byte("upload"))
	link, err := o.PresignPut(t.Context(), "exports/e/upload", 6, hex.EncodeToString(sum[:]), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := send(http.MethodPut, link, "upload"); status != http.StatusForbidden {
		t.Errorf("write as a role that reads: %d %s", status, body)
	}
}
