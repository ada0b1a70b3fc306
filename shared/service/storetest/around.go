package storetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Call is one call of a port.
type Call struct {
	// Name says which, such as "Store.Get pk sk" or "Objects.Put key".
	Name string
	// Body is what an Objects.Put reads, nil for other calls. It may be replaced
	// before the call is made.
	Body io.Reader
	// Answer is what an Objects.Get returned, nil for other calls and where it
	// failed. It may be replaced after the call was made.
	Answer io.ReadCloser
}

// Around stands around the calls of a port: do makes the call, and what Around
// returns is what the caller gets. An error of its own takes the place of the
// call's result.
type Around func(ctx context.Context, call *Call, do func(context.Context) error) error

// run makes one call with a result.
func run[T any](ctx context.Context, around Around, name string, fn func(context.Context) (T, error)) (T, error) {
	var v T
	err := around(ctx, &Call{Name: name}, func(ctx context.Context) (err error) {
		v, err = fn(ctx)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// AroundStore returns s with each call made through around.
func AroundStore(s store.Store, around Around) store.Store { return &aroundStore{s, around} }

type aroundStore struct {
	s      store.Store
	around Around
}

func (w *aroundStore) Get(ctx context.Context, key store.Key) (store.Record, error) {
	return run(ctx, w.around, fmt.Sprintf("Store.Get %s %s", key.PK, key.SK), func(ctx context.Context) (store.Record, error) { return w.s.Get(ctx, key) })
}

func (w *aroundStore) Query(ctx context.Context, q store.Query) (store.Page, error) {
	return run(ctx, w.around, fmt.Sprintf("Store.Query %s %s", q.PK, q.Prefix), func(ctx context.Context) (store.Page, error) { return w.s.Query(ctx, q) })
}

func (w *aroundStore) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	var keys []store.Key
	for _, p := range puts {
		keys = append(keys, p.Key)
	}
	for _, d := range deletes {
		keys = append(keys, d.Key)
	}
	return w.around(ctx, &Call{Name: fmt.Sprintf("Store.Write %v", keys)}, func(ctx context.Context) error { return w.s.Write(ctx, puts, deletes) })
}

// AroundObjects returns o with each call made through around.
func AroundObjects(o store.Objects, around Around) store.Objects { return &aroundObjects{o, around} }

type aroundObjects struct {
	o      store.Objects
	around Around
}

func (w *aroundObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	var info store.ObjectInfo
	call := &Call{Name: "Objects.Put " + key, Body: r}
	err := w.around(ctx, call, func(ctx context.Context) (err error) {
		info, err = w.o.Put(ctx, key, call.Body, opt)
		return err
	})
	if err != nil {
		return store.ObjectInfo{}, err
	}
	return info, nil
}

func (w *aroundObjects) BeginUpload(ctx context.Context, key string, partBytes int64, opt store.PutOptions) (string, error) {
	return run(ctx, w.around, "Objects.BeginUpload "+key, func(ctx context.Context) (string, error) { return w.o.BeginUpload(ctx, key, partBytes, opt) })
}

func (w *aroundObjects) UploadPart(ctx context.Context, key, upload string, n int, data []byte) (store.Part, error) {
	return run(ctx, w.around, fmt.Sprintf("Objects.UploadPart %s %d", key, n), func(ctx context.Context) (store.Part, error) {
		return w.o.UploadPart(ctx, key, upload, n, data)
	})
}

func (w *aroundObjects) CompleteUpload(ctx context.Context, key, upload string, parts []store.Part, sha256 string) (store.ObjectInfo, error) {
	return run(ctx, w.around, "Objects.CompleteUpload "+key, func(ctx context.Context) (store.ObjectInfo, error) {
		return w.o.CompleteUpload(ctx, key, upload, parts, sha256)
	})
}

func (w *aroundObjects) AbortUpload(ctx context.Context, key, upload string) error {
	return w.around(ctx, &Call{Name: "Objects.AbortUpload " + key}, func(ctx context.Context) error { return w.o.AbortUpload(ctx, key, upload) })
}

func (w *aroundObjects) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	call := &Call{Name: "Objects.Get " + key}
	err := w.around(ctx, call, func(ctx context.Context) (err error) {
		call.Answer, err = w.o.Get(ctx, key, offset, length)
		return err
	})
	if err != nil {
		return nil, err
	}
	return call.Answer, nil
}

func (w *aroundObjects) Stat(ctx context.Context, key string) (store.ObjectInfo, error) {
	return run(ctx, w.around, "Objects.Stat "+key, func(ctx context.Context) (store.ObjectInfo, error) { return w.o.Stat(ctx, key) })
}

func (w *aroundObjects) Copy(ctx context.Context, from, to string) error {
	return w.around(ctx, &Call{Name: "Objects.Copy " + from + " " + to}, func(ctx context.Context) error { return w.o.Copy(ctx, from, to) })
}

func (w *aroundObjects) List(ctx context.Context, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	return run(ctx, w.around, "Objects.List "+prefix, func(ctx context.Context) ([]store.ObjectInfo, error) { return w.o.List(ctx, prefix, after, limit) })
}

func (w *aroundObjects) Delete(ctx context.Context, keys ...string) error {
	return w.around(ctx, &Call{Name: fmt.Sprintf("Objects.Delete %v", keys)}, func(ctx context.Context) error { return w.o.Delete(ctx, keys...) })
}

func (w *aroundObjects) PresignGet(ctx context.Context, key, filename string, life time.Duration) (store.Link, error) {
	return run(ctx, w.around, "Objects.PresignGet "+key, func(ctx context.Context) (store.Link, error) { return w.o.PresignGet(ctx, key, filename, life) })
}

func (w *aroundObjects) PresignPut(ctx context.Context, key string, size int64, sha256 string, life time.Duration) (store.Link, error) {
	return run(ctx, w.around, "Objects.PresignPut "+key, func(ctx context.Context) (store.Link, error) {
		return w.o.PresignPut(ctx, key, size, sha256, life)
	})
}

// AroundTransport returns t with each request made through around, for servers
// that stand where a port does. What comes of an answer's body is the caller's.
func AroundTransport(t http.RoundTripper, around Around) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		// The clone's context is the call's own.
		return run(r.Context(), around, "HTTP."+r.Method+" "+r.URL.Path, func(ctx context.Context) (*http.Response, error) { return t.RoundTrip(r.Clone(ctx)) })
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// AroundRunner returns r with each call made through around.
func AroundRunner(r store.Runner, around Around) store.Runner { return &aroundRunner{r, around} }

type aroundRunner struct {
	r      store.Runner
	around Around
}

func (w *aroundRunner) Start(ctx context.Context, workflow, name string, input []byte) error {
	return w.around(ctx, &Call{Name: "Runner.Start " + name}, func(ctx context.Context) error { return w.r.Start(ctx, workflow, name, input) })
}

func (w *aroundRunner) Status(ctx context.Context, workflow, name string) (store.Execution, error) {
	return run(ctx, w.around, "Runner.Status "+name, func(ctx context.Context) (store.Execution, error) { return w.r.Status(ctx, workflow, name) })
}

func (w *aroundRunner) Stop(ctx context.Context, workflow, name, reason string) error {
	return w.around(ctx, &Call{Name: "Runner.Stop " + name}, func(ctx context.Context) error { return w.r.Stop(ctx, workflow, name, reason) })
}
