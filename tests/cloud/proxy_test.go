package cloud

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// right is a call of AWS as IAM sees it: what is done, and to what.
type right struct {
	// action is "service:Action".
	action string
	// resource is an ARN; in a policy it may have wildcards.
	resource string
}

// awsCall is a call of AWS that a function made.
type awsCall struct {
	// signer is the access key that signed it.
	signer string
	// service and operation are those of the API: one operation may need
	// several rights, as a transaction does, or several objects' deletion.
	service, operation string
	rights             []right
	// object is the object's key, where the call is about one.
	object string
	// part: a part of an upload in parts.
	part bool
}

// does tells whether the call needs the right to do action.
func (c awsCall) does(action string) bool {
	return slices.ContainsFunc(c.rights, func(r right) bool { return r.action == action })
}

// refuse is an answer that the SDK does not try again.
const refuse = http.StatusNotImplemented

// Where everything is on the local cloud.
const (
	localRegion  = "us-east-1"
	localAccount = "000000000000"
)

// awsProxy stands between functions and the local cloud. It keeps every call,
// can refuse some, and can have answers tell of another time.
type awsProxy struct {
	url string

	mu    sync.Mutex
	calls []awsCall
	// roles are roles by the access keys that were given for them.
	roles map[string]string
	// fault, if not nil, gives the status to answer a call with; 0 lets it pass.
	fault func(awsCall) int
	// more has what addFault added.
	more map[int]func(awsCall) int
	// meddle, if not nil, answers calls in place of forward, or has it answer.
	meddle func(call awsCall, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc)
	// edit, if not nil, changes the bodies of answers that are no objects.
	edit func(call awsCall, body []byte) []byte
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
	p := &awsProxy{roles: make(map[string]string)}
	reverse := &httputil.ReverseProxy{
		// The host is signed, so it stays.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host
		},
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true, MaxIdleConnsPerHost: 64,
		},
		ModifyResponse: p.answered,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // a function that was stopped in a call
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := readCall(r)
		p.mu.Lock()
		p.calls = append(p.calls, call)
		faults, meddle := slices.Collect(maps.Values(p.more)), p.meddle
		if p.fault != nil {
			faults = append(faults, p.fault)
		}
		p.mu.Unlock()
		for _, fault := range faults {
			if status := fault(call); status != 0 {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(status)
				return
			}
		}
		r = r.WithContext(context.WithValue(r.Context(), calling{}, call))
		if meddle != nil {
			meddle(call, w, r, reverse.ServeHTTP)
			return
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

// addFault refuses calls from now on, beside what setFault does, until remove.
func (p *awsProxy) addFault(fault func(awsCall) int) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more == nil {
		p.more = map[int]func(awsCall) int{}
	}
	n := len(p.more)
	for p.more[n] != nil {
		n++
	}
	p.more[n] = fault
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.more, n)
	}
}

// setMeddle has something answer calls from now on; nil lets them pass again.
func (p *awsProxy) setMeddle(meddle func(awsCall, http.ResponseWriter, *http.Request, http.HandlerFunc)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meddle = meddle
}

// setEdit changes answers from now on; nil leaves them as they are again.
func (p *awsProxy) setEdit(edit func(awsCall, []byte) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edit = edit
}

// all gives the calls so far, and the roles that links were signed as.
func (p *awsProxy) all() (calls []awsCall, roles map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls), maps.Clone(p.roles)
}

var (
	credential  = regexp.MustCompile(`Credential=([A-Z0-9]+)/\d+/[a-z0-9-]*/([a-z0-9]+)/`)
	keyInAnswer = regexp.MustCompile(`<AccessKeyId>([A-Z0-9]+)</AccessKeyId>`)
	roleInARN   = regexp.MustCompile(`assumed-role/([A-Za-z0-9-]+)/`)
)

// calling is the key of a request's call in its context.
type calling struct{}

// answered looks at an answer: it keeps which role an access key was given
// for, notes the right that an answer is owed to, and lets edit change it.
func (p *awsProxy) answered(r *http.Response) error {
	call, _ := r.Request.Context().Value(calling{}).(awsCall)
	if call.service == "s3" && call.object != "" {
		if bucket, _, ok := strings.Cut(strings.TrimPrefix(call.rights[0].resource, "arn:aws:s3:::"), "/"); ok && r.StatusCode == http.StatusNotFound && call.does("s3:GetObject") {
			// S3 says that an object is not there only to who may list the
			// bucket; others are told that it is forbidden.
			p.mu.Lock()
			p.calls = append(p.calls, awsCall{signer: call.signer, service: "s3", operation: "told", rights: []right{{"s3:ListBucket", "arn:aws:s3:::" + bucket}}})
			p.mu.Unlock()
		}
		return nil
	}
	p.mu.Lock()
	edit := p.edit
	p.mu.Unlock()
	if call.service != "sts" && edit == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if call.service == "sts" {
		key, role := keyInAnswer.FindSubmatch(body), roleInARN.FindSubmatch(body)
		if key != nil && role != nil {
			p.mu.Lock()
			p.roles[string(key[1])] = string(role[1])
			p.mu.Unlock()
		}
	}
	if edit != nil {
		if changed := edit(call, body); !bytes.Equal(changed, body) {
			body = changed
			r.Header.Del("X-Amz-Crc32") // of the answer as it was
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			r.ContentLength = int64(len(body))
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// readCall tells what a request asks of AWS. Bodies that are no objects are
// read and put back.
func readCall(r *http.Request) awsCall {
	var call awsCall
	if c := credential.FindStringSubmatch(r.Header.Get("Authorization")); c != nil {
		call.signer, call.service = c[1], c[2]
	} else if c := r.URL.Query().Get("X-Amz-Credential"); c != "" {
		call.signer, _, _ = strings.Cut(c, "/")
		call.service = "s3"
	}
	var body []byte
	if call.service != "s3" || r.Method == http.MethodPost {
		body, _ = io.ReadAll(r.Body) // what is cut off here, the cloud refuses
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	switch call.service {
	case "s3":
		call.ofObjects(r, body)
	case "sts":
		form, _ := url.ParseQuery(string(body))
		call.operation = form.Get("Action")
		call.rights = []right{{"sts:" + call.operation, form.Get("RoleArn")}}
	default:
		_, call.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		call.ofRecords(r.URL.Path, body)
	}
	return call
}

// ofRecords sets what a call of DynamoDB, of Step Functions, for a secret or of a
// function needs.
func (c *awsCall) ofRecords(path string, body []byte) {
	var in struct {
		TableName, IndexName          string
		StateMachineArn, ExecutionArn string
		SecretId, KeyId               string
		TransactItems                 []map[string]struct{ TableName string }
	}
	_ = json.Unmarshal(body, &in) // what is no JSON, the cloud refuses
	table := func(name string) string {
		return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", localRegion, localAccount, name)
	}
	for _, item := range in.TransactItems {
		for kind, at := range item {
			action := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}[kind]
			c.rights = append(c.rights, right{"dynamodb:" + action, table(at.TableName)})
		}
	}
	switch {
	case len(c.rights) > 0:
	case c.service == "lambda":
		name, _ := strings.CutSuffix(strings.TrimPrefix(path, "/2015-03-31/functions/"), "/invocations")
		c.operation = "Invoke"
		c.rights = []right{{"lambda:InvokeFunction", fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", localRegion, localAccount, name)}}
	case c.service == "states":
		c.rights = []right{{"states:" + c.operation, in.StateMachineArn + in.ExecutionArn}}
	case c.service == "secretsmanager", c.service == "kms":
		c.rights = []right{{c.service + ":" + c.operation, in.SecretId + in.KeyId}}
	case in.IndexName != "":
		c.rights = []right{{c.service + ":" + c.operation, table(in.TableName) + "/index/" + in.IndexName}}
	default:
		c.rights = []right{{c.service + ":" + c.operation, table(in.TableName)}}
	}
}

// ofObjects tells what a request with the bucket in its path needs of S3.
// Beginning, parts and end of an upload in parts are all PutObject.
func (c *awsCall) ofObjects(r *http.Request, body []byte) {
	if r.Method == http.MethodOptions { // a browser's question before an upload needs no right
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	c.object = key
	c.part = r.Method == http.MethodPut && q.Has("partNumber")
	on := func(action, key string) {
		c.operation = action
		arn := "arn:aws:s3:::" + bucket
		if key != "" {
			arn += "/" + key
		}
		c.rights = append(c.rights, right{"s3:" + action, arn})
	}
	if source := r.Header.Get("X-Amz-Copy-Source"); source != "" { // a copy reads what it copies
		c.rights = append(c.rights, right{"s3:GetObject", "arn:aws:s3:::" + strings.TrimPrefix(source, "/")})
	}
	switch {
	case r.Method == http.MethodPost && q.Has("delete"):
		var in struct{ Object []struct{ Key string } }
		_ = xml.Unmarshal(body, &in)
		for _, o := range in.Object {
			on("DeleteObject", o.Key)
		}
	case key == "":
		on("ListBucket", "")
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		on("AbortMultipartUpload", key)
	case r.Method == http.MethodDelete:
		on("DeleteObject", key)
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		on("PutObject", key)
	default:
		on("GetObject", key)
	}
}

// counter counts from many goroutines.
type counter struct {
	mu   sync.Mutex
	n    int
	seen map[string]bool
}

func (c *counter) add() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// once tells whether it is asked for name for the first time.
func (c *counter) once(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[name] {
		return false
	}
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	c.seen[name] = true
	return true
}

// closeOnce gives what closes a channel, however often it is called.
func closeOnce(c chan struct{}) func() {
	return sync.OnceFunc(func() { close(c) })
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
