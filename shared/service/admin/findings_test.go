package admin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestAFindingLargerThanAPage: such as of a link that is a megabyte long. The list
// goes on after it, and has its beginning.
func TestAFindingLargerThanAPage(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.start(x)
	want(t, w.BeginExport(w.ctx, j.ID, plan), "")
	want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
	var lines strings.Builder
	enc := json.NewEncoder(&lines)
	for _, message := range []string{"first", strings.Repeat("x", 3<<20), "last"} {
		if err := enc.Encode(admin.Finding{Severity: "warning", Code: "link-missing", File: "a.mdx", Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.objects.Put(w.ctx, admin.FindingsKey(j.ID), strings.NewReader(lines.String()), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	var got []int
	in := admin.FindingList{Job: j.ID}
	for range 10 {
		found, next, err := w.Findings(w.ctx, x.caller, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			got = append(got, len(f.Message))
		}
		if in.Cursor = next; next == "" {
			break
		}
	}
	if len(got) != 3 || got[0] != 5 || got[1] != 16<<10+len("…") || got[2] != 4 || in.Cursor != "" {
		t.Errorf("messages of %v bytes, and at %q there is more", got, in.Cursor)
	}
}

// TestFindingsOfAnExportThatNeverBegan: cancelled before a step of it ran, it has
// found nothing, and nobody comes to say so.
func TestFindingsOfAnExportThatNeverBegan(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.start(x)
	_, err := w.CancelExport(w.ctx, x.caller, j.ID, "")
	want(t, err, "")
	_, _, err = w.Findings(w.ctx, x.caller, admin.FindingList{Job: j.ID})
	want(t, err, admin.CodeJobRunning) // a step may have found something
	w.Advance(time.Hour)
	found, next, err := w.Findings(w.ctx, x.caller, admin.FindingList{Job: j.ID})
	if err != nil || len(found) != 0 || next != "" {
		t.Errorf("found %v, next %q: %v", found, next, err)
	}
}
