package cloud_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// lossy is a network that loses the first answer to each request for which
// lose says so: what was asked for has been done, and nobody learns of it.
type lossy struct {
	lose func(*http.Request) bool
	lost atomic.Int64
}

func (l *lossy) Do(r *http.Request) (*http.Response, error) {
	// Read before: sending takes the body.
	lose := l.lose(r)
	res, err := http.DefaultClient.Do(r)
	if err != nil || !lose || !l.lost.CompareAndSwap(0, 1) {
		return res, err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("the request whose answer is lost was refused: %s", res.Status)
	}
	return nil, io.ErrUnexpectedEOF
}

// over gives a cloud's configuration with that network and hasty retries.
func over(cfg aws.Config, client aws.HTTPClient) aws.Config {
	cfg = cfg.Copy()
	cfg.HTTPClient = client
	cfg.Retryer = hasty
	return cfg
}

// hasty is a retryer that waits a moment.
func hasty() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond })
}

func target(suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.Header.Get("X-Amz-Target"), suffix) }
}

// A write whose answer is lost is repeated, and is one write.
func TestLostAnswersOfWrites(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *cloudtest.Cloud{
		"MiniStack": cloudtest.MiniStack,
		"dynoxide":  cloudtest.Dynoxide,
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			table := c.Table(t)
			sound := dynamo.New(c.Config, dynamo.Options{Table: table})
			key := func(sk string) store.Key { return store.Key{PK: "p", SK: sk} }
			put := func(sk string, revision int64) store.Record {
				return store.Record{Key: key(sk), Revision: revision, Value: fmt.Appendf(nil, "%d", revision)}
			}
			for _, step := range []struct {
				name, operation string
				puts            []store.Record
				deletes         []store.Delete
			}{
				{"a new record", "PutItem", []store.Record{put("a", 0)}, nil},
				{"the next revision", "PutItem", []store.Record{put("a", 1)}, nil},
				{"a transaction", "TransactWriteItems", []store.Record{put("a", 2), put("b", 0)}, nil},
				{"a delete with its revision", "TransactWriteItems", nil, []store.Delete{{Key: key("b"), Revision: 1}}},
				{"a delete without condition", "DeleteItem", nil, []store.Delete{{Key: key("b")}}},
			} {
				network := &lossy{lose: target(step.operation)}
				s := dynamo.New(over(c.Config, network), dynamo.Options{Table: table})
				if err := s.Write(t.Context(), step.puts, step.deletes); err != nil {
					t.Errorf("%s: %v", step.name, err)
				}
				if network.lost.Load() != 1 {
					t.Errorf("%s: no answer was lost", step.name)
				}
				for _, p := range step.puts {
					if got, err := sound.Get(t.Context(), p.Key); err != nil || got.Revision != p.Revision+1 {
						t.Errorf("%s: got revision %d, %v; want %d", step.name, got.Revision, err, p.Revision+1)
					}
				}
			}
			// The name of a write is of one write: another with the same content
			// is refused.
			s := dynamo.New(over(c.Config, &lossy{lose: target("PutItem")}), dynamo.Options{Table: table})
			if err := s.Write(t.Context(), []store.Record{put("a", 3)}, nil); err != nil {
				t.Fatal(err)
			}
			var conflict *store.ConflictError
			if err := s.Write(t.Context(), []store.Record{put("a", 3)}, nil); !errors.As(err, &conflict) {
				t.Errorf("a revision that is past: got %v", err)
			}
		})
	}
}

// An object that is written once is, though the answer is lost.
func TestLostAnswersOfUploads(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	opt := s3store.Options{Sources: sources, Exports: exports}
	sound := s3store.New(c.Config, opt)
	for _, upload := range []struct {
		name string
		size int
		lose func(*http.Request) bool
	}{
		{"whole", 1000, func(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Query().Get("uploadId") == "" }},
		{"a part", 20 << 20, func(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Query().Has("partNumber") }},
		{"the end of one in parts", 20 << 20, func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") }},
	} {
		t.Run(upload.name, func(t *testing.T) {
			network := &lossy{lose: upload.lose}
			o := s3store.New(over(c.Config, network), opt)
			key := "orgs/o/" + strings.ReplaceAll(upload.name, " ", "-")
			data := bytes.Repeat([]byte("0123456789"), upload.size/10)
			info, err := o.Put(t.Context(), key, bytes.NewReader(data), store.PutOptions{IfAbsent: true})
			if err != nil || info.Size != int64(len(data)) {
				t.Errorf("got %+v, %v", info, err)
			}
			if network.lost.Load() != 1 {
				t.Error("no answer was lost")
			}
			if got, err := sound.Stat(t.Context(), key); err != nil || got.Size != int64(len(data)) {
				t.Errorf("there is %+v, %v", got, err)
			}
			if _, err := o.Put(t.Context(), key, bytes.NewReader(data), store.PutOptions{IfAbsent: true}); !errors.Is(err, store.ErrExists) {
				t.Errorf("a second time: got %v, want ErrExists", err)
			}
		})
	}
}

// Uploads in parts: of many one wins, digests hold, and what fails leaves no
// parts behind.
func TestUploadsInParts(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	o := s3store.New(c.Config, s3store.Options{Sources: sources, Exports: exports})
	data := func(b byte) []byte { return bytes.Repeat([]byte{b}, 17<<20) }
	put := func(ctx context.Context, key string, r io.Reader, opt store.PutOptions) error {
		_, err := o.Put(ctx, key, r, opt)
		return err
	}

	var (
		wg     sync.WaitGroup
		wins   atomic.Int64
		winner atomic.Int64
	)
	for w := range byte(4) {
		wg.Go(func() {
			switch err := put(t.Context(), "orgs/once", bytes.NewReader(data(w)), store.PutOptions{IfAbsent: true}); {
			case err == nil:
				wins.Add(1)
				winner.Store(int64(w))
			case !errors.Is(err, store.ErrExists):
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d of 4 writers won", wins.Load())
	}
	r, err := o.Get(t.Context(), "orgs/once", 17<<20-1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || len(b) != 1 || int64(b[0]) != winner.Load() {
		t.Errorf("the object is of writer %v, %v; writer %d won", b, err, winner.Load())
	}
	_ = r.Close()

	sum := sha256.Sum256(data('x'))
	digest := hex.EncodeToString(sum[:])
	if err := put(t.Context(), "orgs/right", bytes.NewReader(data('x')), store.PutOptions{SHA256: strings.ToUpper(digest)}); err != nil {
		t.Errorf("the right digest: %v", err)
	}
	if info, err := o.Stat(t.Context(), "orgs/right"); err != nil || info.SHA256 != digest {
		t.Errorf("got the digest %q, %v; want %q", info.SHA256, err, digest)
	}
	if err := put(t.Context(), "orgs/wrong", bytes.NewReader(data('y')), store.PutOptions{SHA256: digest}); !errors.Is(err, store.ErrDigest) {
		t.Errorf("a wrong digest: got %v", err)
	}
	broken := errors.New("the source broke")
	if err := put(t.Context(), "orgs/broken", io.MultiReader(bytes.NewReader(data('z')), failing{broken}), store.PutOptions{}); !errors.Is(err, broken) {
		t.Errorf("a broken source: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := put(ctx, "orgs/ended", io.MultiReader(bytes.NewReader(data('e')), ending(cancel)), store.PutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: got %v", err)
	}
	for _, key := range []string{"orgs/wrong", "orgs/broken", "orgs/ended"} {
		if _, err := o.Stat(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", key, err)
		}
	}
	client := s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
	left, err := client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &sources})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range left.Uploads {
		t.Errorf("parts of %s are left", aws.ToString(u.Key))
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// ending is a reader that ends a context, and goes on for ever.
type ending context.CancelFunc

func (e ending) Read(p []byte) (int, error) {
	e()
	return len(p), nil
}

// Keys are in the bucket that their first element names, and what both may
// hold is listed in both.
func TestObjectsAreInTwoBuckets(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	o := s3store.New(c.Config, s3store.Options{Sources: sources, Exports: exports})
	keys := []string{"a", "exports", "exports-b/x", "exports/a", "exports/b", "orgs/a", "z"}
	for _, key := range keys {
		if _, err := o.Put(t.Context(), key, strings.NewReader(key), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	client := s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
	for bucket, want := range map[string]string{sources: "[a exports exports-b/x orgs/a z]", exports: "[exports/a exports/b]"} {
		out, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range out.Contents {
			got = append(got, *c.Key)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s holds %v, want %s", bucket, got, want)
		}
	}
	for _, l := range []struct {
		prefix, after string
		limit         int
		want          string
	}{
		{"", "", 0, fmt.Sprint(keys)},
		{"", "a", 3, "[exports exports-b/x exports/a]"},
		{"exports", "", 0, "[exports exports-b/x exports/a exports/b]"},
		{"exports", "exports/a", 1, "[exports/b]"},
		{"exports/", "", 0, "[exports/a exports/b]"},
		{"exports-", "", 0, "[exports-b/x]"},
		{"o", "", 0, "[orgs/a]"},
	} {
		list, err := o.List(t.Context(), l.prefix, l.after, l.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, i := range list {
			got = append(got, i.Key)
		}
		if fmt.Sprint(got) != l.want {
			t.Errorf("%q after %q, at most %d: got %v, want %s", l.prefix, l.after, l.limit, got, l.want)
		}
	}
	if err := o.Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if list, err := o.List(t.Context(), "", "", 0); err != nil || len(list) != 0 {
		t.Errorf("left are %v, %v", list, err)
	}
}

// Each port tells what passes from what does not: the first are errors of code
// "temporary", after retries; the others come at once and have no code.
func TestKindsOfErrors(t *testing.T) {
	answer := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-amz-json") {
				w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, `{"__type": %q, "message": "no"}`, code)
				return
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			body := fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") { // STS
				body = "<ErrorResponse>" + body + "</ErrorResponse>"
			}
			_, _ = io.WriteString(w, body)
		}
	}
	for _, kind := range []struct {
		name      string
		handler   http.HandlerFunc
		temporary bool
		requests  int64
	}{
		{"throttled", answer(400, "ThrottlingException"), true, 3},
		{"over its throughput", answer(400, "ProvisionedThroughputExceededException"), true, 3},
		{"slow down", answer(503, "SlowDown"), true, 3},
		{"out of order", answer(500, "InternalError"), true, 3},
		{"hung up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, 3},
		{"denied", answer(403, "AccessDenied"), false, 1},
		{"not valid", answer(400, "ValidationException"), false, 1},
	} {
		t.Run(kind.name, func(t *testing.T) {
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				kind.handler(w, r)
			}))
			t.Cleanup(server.Close)
			cfg := aws.Config{
				Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: hasty,
			}
			s := dynamo.New(cfg, dynamo.Options{Table: "t"})
			o := s3store.New(cfg, s3store.Options{Sources: "a", Exports: "b", SignerRole: "arn:aws:iam::123456789012:role/signer"})
			r := sfnrun.New(cfg, sfnrun.Options{StateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:export"})
			record := store.Record{Key: store.Key{PK: "p", SK: "s"}, Value: []byte(`1`)}
			for name, call := range map[string]func(ctx context.Context) error{
				"get":   func(ctx context.Context) error { _, err := s.Get(ctx, record.Key); return err },
				"query": func(ctx context.Context) error { _, err := s.Query(ctx, store.Query{PK: "p"}); return err },
				"put":   func(ctx context.Context) error { return s.Write(ctx, []store.Record{record}, nil) },
				"transaction": func(ctx context.Context) error {
					return s.Write(ctx, []store.Record{record}, []store.Delete{{Key: store.Key{PK: "p", SK: "t"}}})
				},
				"delete": func(ctx context.Context) error { return s.Write(ctx, nil, []store.Delete{{Key: record.Key}}) },
				"put object": func(ctx context.Context) error {
					_, err := o.Put(ctx, "k", strings.NewReader("x"), store.PutOptions{})
					return err
				},
				"put large object": func(ctx context.Context) error {
					_, err := o.Put(ctx, "k", bytes.NewReader(make([]byte, 9<<20)), store.PutOptions{})
					return err
				},
				"get object":    func(ctx context.Context) error { _, err := o.Get(ctx, "k", 0, -1); return err },
				"list objects":  func(ctx context.Context) error { _, err := o.List(ctx, "orgs/", "", 0); return err },
				"delete object": func(ctx context.Context) error { return o.Delete(ctx, "k") },
				"link":          func(ctx context.Context) error { _, err := o.PresignGet(ctx, "k", "", time.Minute); return err },
				"start":         func(ctx context.Context) error { return r.Start(ctx, store.WorkflowExport, "n", []byte(`{}`)) },
				"status":        func(ctx context.Context) error { _, err := r.Status(ctx, store.WorkflowExport, "n"); return err },
				"stop":          func(ctx context.Context) error { return r.Stop(ctx, store.WorkflowExport, "n", "") },
			} {
				requests.Store(0)
				err := call(t.Context())
				coded, ok := errors.AsType[store.Coded](err)
				if err == nil || ok != kind.temporary || ok && coded.Code() != "temporary" {
					t.Errorf("%s: got %v", name, err)
				}
				if ok && strings.Contains(coded.SafeMessage(), server.URL) {
					t.Errorf("%s: callers are told %q", name, coded.SafeMessage())
				}
				if got := requests.Load(); got != kind.requests {
					t.Errorf("%s: %d requests, want %d", name, got, kind.requests)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := call(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, context ended: got %v", name, err)
				}
			}
		})
	}
}

// A connection that breaks within an object is something that passes.
func TestBrokenObject(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "only this")
	}))
	t.Cleanup(server.Close)
	o := s3store.New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
	}, s3store.Options{Sources: "a", Exports: "b"})
	r, err := o.Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	coded, ok := errors.AsType[store.Coded](err)
	if !ok || coded.Code() != "temporary" || string(b) != "only this" {
		t.Errorf("got %q, %v", b, err)
	}
}

// Calls of a function's invocation carry the trace that it belongs to, so that
// X-Ray shows them below it.
func TestCallsCarryTheTrace(t *testing.T) {
	const trace = "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1"
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "getexport") // as Lambda and its runtime set them
	t.Setenv("_X_AMZN_TRACE_ID", trace)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("X-Amzn-Trace-Id"))
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: hasty,
	}
	for name, call := range map[string]func() error{
		"records": func() error {
			_, err := dynamo.New(cfg, dynamo.Options{Table: "t"}).Get(t.Context(), store.Key{PK: "p", SK: "s"})
			return err
		},
		"objects": func() error {
			_, err := s3store.New(cfg, s3store.Options{Sources: "a", Exports: "b"}).Stat(t.Context(), "k")
			return err
		},
		"executions": func() error {
			return sfnrun.New(cfg, sfnrun.Options{StateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:export"}).
				Start(t.Context(), store.WorkflowExport, "exp_1", []byte(`{}`))
		},
	} {
		got = nil
		if err := call(); err == nil {
			t.Errorf("%s: a refused call is no error", name)
		}
		if len(got) != 1 || got[0] != trace {
			t.Errorf("%s: the calls have the traces %q", name, got)
		}
	}
}
