package tests

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// awsCall is a call of AWS that a function made.
type awsCall struct {
	// key is the access key that signed it.
	key string
	// service and actions are those of IAM: a transaction has one for each
	// kind of write in it.
	service string
	actions []string
	// resource is the object's key, where it is one.
	resource string
	// index is the secondary index of a query.
	index string
}

// awsProxy stands between functions and the local cloud. It keeps every call,
// and can refuse some.
type awsProxy struct {
	url string

	mu    sync.Mutex
	calls []awsCall
	// signers are roles by the access keys that were given for them.
	signers map[string]string
	// fault, if not nil, gives the status to answer a call with; 0 lets it pass.
	fault func(awsCall) int
}

// newAWSProxy starts a proxy to target with the certificate of certificate().
func newAWSProxy(t *testing.T, target, cert, key string) *awsProxy {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	raw, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots.AppendCertsFromPEM(raw)
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &awsProxy{signers: make(map[string]string)}
	reverse := &httputil.ReverseProxy{
		// The host is signed, so it stays.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host
		},
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true, MaxIdleConnsPerHost: 64,
		},
		ModifyResponse: p.learn,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // a function that was stopped in a call
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := readCall(r)
		p.mu.Lock()
		p.calls = append(p.calls, call)
		fault := p.fault
		p.mu.Unlock()
		if fault != nil {
			if status := fault(call); status != 0 {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(status)
				return
			}
		}
		reverse.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// setFault refuses calls from now on; nil lets them pass again.
func (p *awsProxy) setFault(fault func(awsCall) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// all gives the calls so far, and the roles that links were signed as.
func (p *awsProxy) all() ([]awsCall, map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	signers := make(map[string]string)
	for k, v := range p.signers {
		signers[k] = v
	}
	return append([]awsCall(nil), p.calls...), signers
}

var (
	credential  = regexp.MustCompile(`Credential=([A-Z0-9]+)/\d+/[a-z0-9-]*/([a-z0-9]+)/`)
	keyInAnswer = regexp.MustCompile(`<AccessKeyId>([A-Z0-9]+)</AccessKeyId>`)
	roleInARN   = regexp.MustCompile(`assumed-role/([A-Za-z0-9-]+)/`)
)

// learn keeps which role an access key was given for.
func (p *awsProxy) learn(r *http.Response) error {
	if c := credential.FindStringSubmatch(r.Request.Header.Get("Authorization")); c == nil || c[2] != "sts" {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	key, role := keyInAnswer.FindSubmatch(body), roleInARN.FindSubmatch(body)
	if key != nil && role != nil {
		p.mu.Lock()
		p.signers[string(key[1])] = string(role[1])
		p.mu.Unlock()
	}
	return nil
}

// readCall tells what a request asks of AWS. Bodies of calls that are not
// about objects are read and put back.
func readCall(r *http.Request) awsCall {
	var call awsCall
	if c := credential.FindStringSubmatch(r.Header.Get("Authorization")); c != nil {
		call.key, call.service = c[1], c[2]
	} else if c := r.URL.Query().Get("X-Amz-Credential"); c != "" {
		call.key, _, _ = strings.Cut(c, "/")
		call.service = "s3"
	}
	if call.service == "s3" {
		call.actions, call.resource = objectCall(r)
		return call
	}
	body, _ := io.ReadAll(r.Body) // what is cut off here, the cloud refuses
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case call.service == "sts":
		form, _ := url.ParseQuery(string(body))
		operation = form.Get("Action")
	case operation == "TransactWriteItems":
		var in struct {
			TransactItems []map[string]json.RawMessage
		}
		_ = json.Unmarshal(body, &in)
		for _, item := range in.TransactItems {
			for kind := range item {
				call.actions = append(call.actions, map[string]string{
					"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem",
				}[kind])
			}
		}
		return call
	case operation == "Query":
		var in struct{ IndexName string }
		_ = json.Unmarshal(body, &in)
		call.index = in.IndexName
	}
	call.actions = []string{operation}
	return call
}

// objectCall tells what a request with the bucket in its path asks of S3.
func objectCall(r *http.Request) (actions []string, key string) {
	_, key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodPost && q.Has("delete"):
		return []string{"DeleteObject"}, key
	case key == "":
		return []string{"ListBucket"}, ""
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		return []string{"AbortMultipartUpload"}, key
	case r.Method == http.MethodDelete:
		return []string{"DeleteObject"}, key
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		return []string{"PutObject"}, key
	}
	return []string{"GetObject"}, key
}

// certificate writes a key and a certificate for 127.0.0.1 that signs itself,
// where deploy.sh looks for them.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
