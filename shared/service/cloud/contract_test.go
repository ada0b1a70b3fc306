package cloud_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretrow"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// The contracts of the ports, unchanged, on local clouds.

func TestStoreContract(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *cloudtest.Cloud{
		"MiniStack": cloudtest.MiniStack,
		"dynoxide":  cloudtest.Dynoxide,
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			s := dynamo.New(c.Config, dynamo.Options{Table: c.Table(t)})
			storetest.Store(t, func(*testing.T) store.Store { return s })
		})
	}
}

// What this package counts as just small enough, DynamoDB takes, with all that
// an item has besides: its limit is 400 KB, names included.
func TestLargestRecords(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *cloudtest.Cloud{
		"MiniStack": cloudtest.MiniStack,
		"dynoxide":  cloudtest.Dynoxide,
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			s := dynamo.New(c.Config, dynamo.Options{Table: c.Table(t)})
			const active = "due"
			largest := 0
			for size := store.MaxRecordBytes - 200; size < store.MaxRecordBytes; size++ {
				r := store.Record{
					Key: store.Key{PK: "p", SK: fmt.Sprint("s", size)}, Value: fmt.Appendf(nil, "%q", strings.Repeat("x", size-2)),
					Active: active, ExpiresAt: time.Now().Add(time.Hour),
				}
				err := s.Write(t.Context(), []store.Record{r}, nil)
				if errors.Is(err, store.ErrTooLarge) {
					break
				}
				if err != nil {
					t.Fatalf("a value of %d bytes: %v", size, err)
				}
				largest = size
				// In steps, and one by one near the limit.
				if size < store.MaxRecordBytes-120 {
					size += 9
				}
			}
			if largest == 0 || store.MaxRecordBytes-largest > 100 {
				t.Errorf("the largest value has %d bytes, of %d", largest, store.MaxRecordBytes)
			}
		})
	}
}

func TestObjectsContract(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	o := s3store.New(c.Config, s3store.Options{Sources: sources, Exports: exports})
	client := &http.Client{Transport: algorithmGate{http.DefaultTransport}}
	storetest.Objects(t, func(*testing.T) (store.Objects, *http.Client) { return o, client })
}

func TestSecretsContract(t *testing.T) {
	c := cloudtest.MiniStack(t)
	records := dynamo.New(c.Config, dynamo.Options{Table: c.Table(t)})
	s := kmsstore.New(c.Config, kmsstore.Options{Key: c.Key(t), Records: records})
	storetest.Secrets(t, s)

	// What is stored is not a secret, and is of no use in another's row.
	mine := store.SecretOwner{Organisation: "org_1", Project: "prj_1"}
	if err := s.Put(t.Context(), mine, []byte("sesame")); err != nil {
		t.Fatal(err)
	}
	rec, err := records.Get(t.Context(), store.Key{PK: secretrow.Partition + "org_1", SK: "prj_1"})
	if err != nil || strings.Contains(string(rec.Value), "sesame") || strings.Contains(string(rec.Value), base64.StdEncoding.EncodeToString([]byte("sesame"))) {
		t.Errorf("the record is %s, %v", rec.Value, err)
	}
	moved := store.Record{Key: store.Key{PK: secretrow.Partition + "org_2", SK: "prj_1"}, Value: rec.Value}
	if err := records.Write(t.Context(), []store.Record{moved}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), store.SecretOwner{Organisation: "org_2", Project: "prj_1"}); err == nil || got != nil {
		t.Errorf("the secret of another organisation is %q, %v", got, err)
	}
}

func TestRunnerContract(t *testing.T) {
	c := cloudtest.MiniStack(t)
	n := 0
	storetest.Runner(t, func(t *testing.T, tasks storetest.Tasks) store.Runner {
		n++
		machine := c.StateMachine(t, fmt.Sprint("export", n), tasks)
		agent := c.AgentMachine(t, fmt.Sprint("agent", n), tasks)
		return sfnrun.New(c.Config, sfnrun.Options{StateMachine: machine, AgentMachine: agent})
	})
}

// algorithmGate does for links what S3 does and MiniStack does not: it refuses
// an algorithm of signatures that there isn't. (MiniStack serves those links
// without looking at their signature.) All else is MiniStack's own.
type algorithmGate struct{ http.RoundTripper }

func (g algorithmGate) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); q.Has("X-Amz-Algorithm") && q.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return &http.Response{
			Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Request: r,
		}, nil
	}
	return g.RoundTripper.RoundTrip(r)
}
