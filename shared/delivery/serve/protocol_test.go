package serve

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate for 127.0.0.1 and its key into dir.
func certificate(t *testing.T, dir, name string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return cert, key, pool
}

// TestTLS: with a certificate readers speak HTTP/2, and a certificate that is
// replaced is used without a restart.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, pool := certificate(t, dir, "first")
	r := started(t, Options{Link: write(t, edition(t, "1")), TLSCert: cert, TLSKey: key})
	ask := func(pool *x509.CertPool) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get(strings.Replace(r.site, "http://", "https://", 1) + "/")
		if err == nil {
			response.Body.Close()
		}
		return response, err
	}
	response, err := ask(pool)
	if err != nil || response.ProtoMajor != 2 || response.StatusCode != 200 || response.Header.Get("Strict-Transport-Security") == "" {
		t.Fatalf("%+v, error %v", response, err)
	}
	_, _, second := certificate(t, dir, "second")
	later := time.Now().Add(time.Minute) // file systems may have coarse clocks
	if err := os.Chtimes(cert, later, later); err != nil {
		t.Fatal(err)
	}
	if response, err = ask(second); err != nil || response.TLS.PeerCertificates[0].Subject.CommonName != "second" {
		t.Fatalf("the new certificate is not used: %v", err)
	}
	if err := os.WriteFile(cert, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if response, err = ask(second); err != nil || response.TLS.PeerCertificates[0].Subject.CommonName != "second" {
		t.Fatalf("a certificate that can't be read ends the service: %v", err)
	}
}

// TestH2C: HTTP/2 without TLS, where it is asked for alone.
func TestH2C(t *testing.T) {
	for _, on := range []bool{true, false} {
		r := started(t, Options{Link: write(t, edition(t, "1")), H2C: on})
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: protocols}
		response, err := (&http.Client{Transport: transport}).Get(r.site + "/")
		if on && (err != nil || response.ProtoMajor != 2 || response.StatusCode != 200) || !on && err == nil {
			t.Errorf("on %t: %+v, error %v", on, response, err)
		}
		if err == nil {
			response.Body.Close()
		}
		transport.CloseIdleConnections()
	}
}

// TestMetricsFormat: every line is a comment or a sample of a family that was
// announced, and no sample stands twice.
func TestMetricsFormat(t *testing.T) {
	r := started(t, Options{Link: write(t, bundleOf(t, "a\"b\\c\nd", sample(), nil))})
	r.get(t, "/")
	r.get(t, "/missing")
	// A request is counted once its answer is out, which a reader may have by then.
	r.until(t, func(Status) bool {
		return r.metric(t, `bindery_serve_requests_total{code="404"}`) != "" && r.metric(t, `bindery_serve_requests_total{code="200"}`) != ""
	})
	response, err := http.Get(r.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("its type is %q", kind)
	}
	sample := regexp.MustCompile(`^([a-z_]+)((?:\{(?:[a-z0-9]+="(?:[^"\\]|\\.)*",?)*\})?) (?:[0-9.e+-]+|\+Inf)$`)
	families, seen := map[string]bool{}, map[string]bool{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			if families[name] {
				t.Errorf("the family %s stands twice", name)
			}
			families[name] = true
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no sample: %s", line)
			continue
		}
		name := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && families[base] {
				name = base
			}
		}
		if !families[name] || seen[m[1]+m[2]] {
			t.Errorf("not announced, or twice: %s", line)
		}
		seen[m[1]+m[2]] = true
	}
	for _, want := range []string{`bindery_serve_requests_total{code="200"}`, `bindery_serve_requests_total{code="404"}`, `bindery_serve_request_duration_seconds_count`, "bindery_serve_versions"} {
		if !seen[want] {
			t.Errorf("no %s", want)
		}
	}
}
