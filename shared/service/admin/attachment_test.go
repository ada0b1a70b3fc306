package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

const pngHead = "\x89PNG\r\n\x1a\n\x00\x00"

// Files of messages are read as they were sent, each by the steps of its own job.
func TestAttachments(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	large := admin.Attachment{Name: "large spec (1).yaml", Data: bytes.Repeat([]byte("a: ä\n"), 120_000)} // of three records
	picture := admin.Attachment{Name: "a.png", Data: []byte(pngHead)}
	j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "see", Attachments: []admin.Attachment{large, picture}})
	if err != nil {
		t.Fatal(err)
	}
	ref := j.Current()
	in, err := w.AgentRound(w.ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	want := []admin.AgentAttachment{{Name: large.Name, Size: len(large.Data)}, {Name: "a.png", Size: len(pngHead), Picture: true}}
	if got := in.Messages[0].Attachments; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	files, err := w.AgentAttachments(w.ctx, ref, in.Messages[0])
	if err != nil || len(files) != 2 || !bytes.Equal(files[0].Data, large.Data) || files[1].Name != "a.png" || !bytes.Equal(files[1].Data, picture.Data) {
		t.Errorf("%d files, %v", len(files), err)
	}
	// A message has files of its own.
	if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: j.ID, Prompt: "and this", Attachments: []admin.Attachment{{Name: "a.png", Data: []byte("other")}}}); err != nil {
		t.Fatal(err)
	}
	more, err := w.AgentMessages(w.ctx, ref, 1)
	if err != nil || len(more) != 1 {
		t.Fatal(more, err)
	}
	if files, err = w.AgentAttachments(w.ctx, ref, more[0]); err != nil || len(files) != 1 || string(files[0].Data) != "other" {
		t.Errorf("%+v, %v", files, err)
	}
	// The same call again is the same job, and a call with other files is another one.
	once := admin.StartAgentJob{Project: other.project.ID, Prompt: "p", IdempotencyKey: "k", Attachments: []admin.Attachment{picture}}
	first, err := w.StartAgentJob(w.ctx, other.caller, once)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.StartAgentJob(w.ctx, other.caller, once); err != nil || again.ID != first.ID {
		t.Errorf("%s, %v", again.ID, err)
	}
	once.Attachments = nil
	if _, err := w.StartAgentJob(w.ctx, other.caller, once); admin.CodeOf(err) != admin.CodeKeyReused {
		t.Errorf("without its file: %v", err)
	}
}

// What can't be attached is refused with the reason, and nothing is started.
func TestAttachmentsAreRefused(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	file := func(name, data string) admin.Attachment { return admin.Attachment{Name: name, Data: []byte(data)} }
	megabyte := strings.Repeat("x", admin.MaxAttached)
	var nine []admin.Attachment
	for i := range admin.MaxAttachments + 1 {
		nine = append(nine, file(fmt.Sprintf("%d.txt", i), "x"))
	}
	for _, c := range []struct {
		files []admin.Attachment
		want  string
	}{
		{nine, "attachments: a message has at most 8 files"},
		{[]admin.Attachment{file("a.txt", "x"), file("a.txt", "y")}, "attachments: the file a.txt is there twice"},
		{[]admin.Attachment{file("a.txt", "")}, "attachments: the file a.txt is empty"},
		{[]admin.Attachment{file("a.zip", "PK\x03\x04\x00")}, "attachments: the file a.zip is neither text"},
		{[]admin.Attachment{file("a.txt", "\xff")}, "attachments: the file a.txt is neither text"},
		{[]admin.Attachment{file("../a.txt", "x")}, `attachments: the name of the file "../a.txt" must`},
		{[]admin.Attachment{file(".env", "x")}, `attachments: the name of the file ".env" must`},
		{[]admin.Attachment{file(strings.Repeat("n", 101), "x")}, `nnn…" must have at most 100`},
		{[]admin.Attachment{file("a", megabyte), file("b", "x")}, "attachments: the file b is too large: the files of a message may have 1048576 bytes"},
	} {
		_, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p", Attachments: c.files})
		if admin.CodeOf(err) != admin.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	j := w.agent(x)
	for i := range 5 {
		_, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: j.ID, Prompt: "p", Attachments: []admin.Attachment{file("a", megabyte)}})
		if wrong := admin.CodeOf(err) == admin.CodeInvalid && strings.Contains(err.Error(), "of all messages of a job may have"); wrong != (i == 4) || !wrong && err != nil {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if now := w.agentNow(j); now.Messages != 5 {
		t.Errorf("%d messages", now.Messages)
	}
}

// Files stay until their job is archived, and go then, however that was done.
func TestAttachmentsGoWithTheirJob(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name    string
		archive func(w *world, x tenant, j admin.AgentJob) error
	}{
		{"by a call", func(w *world, x tenant, j admin.AgentJob) error {
			_, err := w.ArchiveAgentJob(w.ctx, x.caller, j.Project, j.ID, "")
			return err
		}},
		{"by age", func(w *world, _ tenant, _ admin.AgentJob) error { w.Advance(91 * day); return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			j, other := w.agent(x), w.agent(x)
			var files []admin.Attachment
			for n := range admin.MaxAttachments {
				files = append(files, admin.Attachment{Name: fmt.Sprint(n), Data: []byte("x")})
			}
			for range 8 { // more files than one transaction removes
				if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: "see", Attachments: files}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: other.ID, Prompt: "see", Attachments: files}); err != nil {
				t.Fatal(err)
			}
			pass := func(want int) {
				t.Helper()
				for range 2 {
					if err := w.ArchiveAgents(w.ctx, nil); err != nil {
						t.Fatal(err)
					}
				}
				for id, want := range map[string]int{j.ID: want, other.ID: len(files)} {
					page, err := w.store.Query(w.ctx, store.Query{PK: "agent#" + id, Prefix: "attached#"})
					if err != nil || len(page.Records) != want {
						t.Errorf("%d files are left, want %d (%v)", len(page.Records), want, err)
					}
				}
			}
			if err := w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""); err != nil {
				t.Fatal(err)
			}
			w.Advance(day)
			pass(8 * len(files))
			if err := c.archive(w, x, j); err != nil {
				t.Fatal(err)
			}
			pass(0)
			if now := w.agentNow(j); now.Status != admin.AgentArchived || !now.UpdatedAt.Equal(now.ArchivedAt) {
				t.Errorf("the job is %s, changed at %s", now.Status, now.UpdatedAt)
			}
			// Nothing is left to do for the job.
			page, err := w.store.Query(w.ctx, store.Query{Index: store.ByActive, Prefix: "agentdone#"})
			if err != nil || len(page.Records) != 0 {
				t.Errorf("the index has %d jobs, %v", len(page.Records), err)
			}
		})
	}
}

// A job that can't be changed doesn't hold up those after it, and has its turn in the
// next call.
func TestArchivingGoesOn(t *testing.T) {
	fails := ""
	w := newWorld(t, func(o *admin.Options) {
		o.Store = storetest.AroundStore(o.Store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
			if fails != "" && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, fails) {
				fails = ""
				return &store.ConflictError{}
			}
			return do(ctx)
		})
	})
	x := w.tenant("docs.example.com")
	var jobs []admin.AgentJob
	for _, archive := range []bool{true, true, false} {
		j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "see", Attachments: []admin.Attachment{{Name: "a", Data: []byte("x")}}})
		if err == nil {
			err = w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, "")
		}
		if err == nil && archive {
			_, err = w.ArchiveAgentJob(w.ctx, x.caller, j.Project, j.ID, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	w.Advance(91 * 24 * time.Hour)
	for pass, want := range [][]int{{1, 0, 1}, {0, 0, 0}} {
		if pass == 0 {
			fails = "{agent#" + jobs[0].ID + " attached#"
		}
		err := w.ArchiveAgents(w.ctx, nil)
		_, conflict := errors.AsType[*store.ConflictError](err)
		if failed := conflict && strings.Contains(err.Error(), jobs[0].ID); failed != (pass == 0) || !failed && err != nil {
			t.Errorf("call %d: %v", pass+1, err)
		}
		for i, j := range jobs {
			page, err := w.store.Query(w.ctx, store.Query{PK: "agent#" + j.ID, Prefix: "attached#"})
			if err != nil || len(page.Records) != want[i] || w.agentNow(j).Status != admin.AgentArchived {
				t.Errorf("call %d: job %d is %s and has %d files, want %d (%v)", pass+1, i+1, w.agentNow(j).Status, len(page.Records), want[i], err)
			}
		}
	}
}
