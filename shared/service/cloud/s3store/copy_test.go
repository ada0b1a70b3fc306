package s3store

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// What is too large for one request is copied in parts, with its type. The parts
// of one that is not there are not begun.
func TestCopyInParts(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	o := New(c.Config, Options{Sources: sources, Exports: exports})
	data := bytes.Repeat([]byte("all that there is\n"), 11<<20/18)
	from, to := job.BundleKey("one"), job.BundleKey("two")
	if _, err := o.Put(t.Context(), from, bytes.NewReader(data), store.PutOptions{ContentType: "application/gzip"}); err != nil {
		t.Fatal(err)
	}
	if err := o.copy(t.Context(), from, to, 1, 5<<20); err != nil {
		t.Fatal(err)
	}
	body, err := o.Get(t.Context(), to, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the copy has %d bytes, not %d, %v", len(got), len(data), err)
	}
	head, err := o.head(t.Context(), to)
	if err != nil || *head.ContentType != "application/gzip" {
		t.Errorf("the copy is %+v, %v", head, err)
	}
	if err := o.copy(t.Context(), job.BundleKey("none"), to, 1, 5<<20); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a copy of nothing: %v", err)
	}
}

// Each object is listed where it was put, whichever bucket that is, and by prefixes
// that both buckets have.
func TestListsOfBothBuckets(t *testing.T) {
	c := cloudtest.MiniStack(t)
	sources, exports := c.Buckets(t)
	o := New(c.Config, Options{Sources: sources, Exports: exports})
	keys := []string{job.BundleKey("one"), admin.KeptPrefix("org_1", "prj_1") + "a", admin.PackPrefix("org_1") + "b"}
	slices.Sort(keys)
	for _, key := range keys {
		if _, err := o.Put(t.Context(), key, strings.NewReader("text"), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range keys {
		for n := range len(key) {
			var want, got []string
			for _, k := range keys {
				if strings.HasPrefix(k, key[:n]) {
					want = append(want, k)
				}
			}
			list, err := o.List(t.Context(), key[:n], "", 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range list {
				got = append(got, info.Key)
			}
			if !slices.Equal(got, want) {
				t.Errorf("below %q are %v, want %v", key[:n], got, want)
			}
		}
	}
}

// The rules of S3: one request copies at most 5 GiB, a part has as much at most
// and 5 MiB at least, and there are 10,000 of them.
func TestCopiesKeepTheRulesOfS3(t *testing.T) {
	if maxCopy > 5<<30 || copyPart > 5<<30 || copyPart < 5<<20 || 5<<40/copyPart > 10_000 {
		t.Errorf("copies of %d bytes, parts of %d", int64(maxCopy), int64(copyPart))
	}
}
