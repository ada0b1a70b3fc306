package dashboard_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

const pngHead = "\x89PNG\r\n\x1a\n\x00\x00"

// upload sends a form with files as browsers do: fields and files in pairs of a name, and
// a value or the content. Files have names with "file:" before them.
func (b *browser) upload(path string, pairs ...string) answer {
	b.w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		disposition := `form-data; name="` + pairs[i] + `"`
		if file, ok := strings.CutPrefix(pairs[i], "file:"); ok {
			disposition = `form-data; name="attachments"; filename="` + file + `"`
		}
		part, err := form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}})
		if err == nil {
			_, err = part.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			b.w.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		b.w.t.Fatal(err)
	}
	return b.send(path, &body, "Content-Type", form.FormDataContentType())
}

// The forms that ask an agent and send it a message take files, and the page of the job
// lists those of each message.
func TestFilesAreAttached(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	base := "/org/" + x.ID + "/agents"
	b.get(base+"/new").says(t, "the form", 200, "Files (optional)", "Up to 8 files, 1.0 MiB together.")
	spec := strings.Repeat("a: ä\r\n", 1000) // sent as it is, unlike the prompt
	asked := b.upload(base, "project", x.project.ID, "prompt", "Describe\r\nthis", "file:open\u202fapi (1).yaml", spec, "file:größe.png", pngHead, "file:", "").says(t, "a job with files", 303)
	path := strings.Split(asked.header.Get("Location"), "?")[0]
	page := b.get(path).says(t, "the job", 200, "Describe this open api (1).yaml 6.8 KiB gr__e.png picture, 10 B", "Files (optional)")
	if n := strings.Count(page.body, `class="attached"`); n != 1 {
		t.Errorf("%d lists of files", n)
	}
	b.upload(path+"/message", "prompt", "And this", "file:notes.md", "# Notes").says(t, "a message with a file", 303)
	b.upload(path+"/message", "prompt", "No file", "file:", "").says(t, "a message without files", 303)
	b.post(path+"/message", "prompt", "Not in parts").says(t, "a form without parts", 303)
	page = b.get(path).says(t, "the job", 200, "And this notes.md 7 B", "No file", "Not in parts")
	if n := strings.Count(page.body, `class="attached"`); n != 2 {
		t.Errorf("%d lists of files", n)
	}

	job := path[strings.LastIndex(path, "/")+1:]
	ref := admin.AgentRef{Project: x.project.ID, Job: job, Round: 1}
	messages, err := w.AgentMessages(w.ctx, ref, 0)
	if err != nil || len(messages) != 4 || messages[0].Prompt != "Describe\nthis" {
		t.Fatalf("%+v, %v", messages, err)
	}
	files, err := w.AgentAttachments(w.ctx, ref, messages[0])
	if err != nil || len(files) != 2 || string(files[0].Data) != spec || string(files[1].Data) != pngHead {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// What can't be attached is refused with the name of the file, and the form has what was
// typed.
func TestFilesAreRefused(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	base := "/org/" + x.ID + "/agents"
	asked := b.post(base, "project", x.project.ID, "prompt", "p").says(t, "a job", 303)
	path := strings.Split(asked.header.Get("Location"), "?")[0]
	most := strings.Repeat("x", admin.MaxAttached)
	var nine []string
	for i := range admin.MaxAttachments + 1 {
		nine = append(nine, "file:"+string(rune('a'+i))+".txt", "x")
	}
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"of another kind", []string{"file:a.zip", "PK\x03\x04\x00"}, []string{"The file a.zip is neither text in UTF-8 nor a picture", "choose your files again: a.zip."}},
		{"empty", []string{"file:a.md", ""}, []string{"The file a.md is empty."}},
		{"twice", []string{"file:a.md", "x", "file:a.md", "y"}, []string{"The file a.md is there twice."}},
		{"too many", nine, []string{"A message has at most 8 files."}},
		{"a byte too large", []string{"file:a.md", most + "x"}, []string{"The file a.md is too large: the files of a message may have 1048576 bytes together."}},
		{"cut in a character", []string{"file:a.md", most + "ä"}, []string{"The file a.md is too large"}},
		{"too large together", []string{"file:a.md", most, "file:b.md", "x"}, []string{"The file b.md is too large", "again: a.md, b.md."}},
		{"larger than a form", []string{"file:a.md", strings.Repeat("x", 17<<20)}, []string{"The file a.md is too large"}},
		{"with a long name", []string{"file:" + strings.Repeat("n", 101), "x"}, []string{`nnn…" must have at most 100 letters`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for to, fields := range map[string][]string{
				base:              {"project", x.project.ID, "ref", "next", "model", "local", "draft", "1"},
				path + "/message": nil,
			} {
				refused := b.upload(to, append(append(fields, "prompt", "What I <typed>"), c.files...)...).says(t, to, 400, append(c.want, "What I <typed>", "There is a problem")...)
				if !regexp.MustCompile(`<input id="attachments"[^>]*aria-describedby="attachments-help attachments-error attachments-again" aria-invalid="true">`).MatchString(refused.body) {
					t.Errorf("the field is not marked: %s", refused.body)
				}
				if to == base && (!strings.Contains(refused.body, `value="next"`) || !strings.Contains(refused.body, `value="local" selected`) || !strings.Contains(refused.body, `value="1" checked`)) {
					t.Errorf("the form forgot what was typed: %s", refused.body)
				}
			}
		})
	}
	// A form with another fault names the files that must be chosen again.
	b.upload(base, "project", x.project.ID, "prompt", "p", "ref", "a b", "file:a.md", "x").says(t, "a wrong branch", 400, "Must be the name of a branch", "choose your files again: a.md.")

	long := strings.Repeat("x", 257<<10)
	b.upload(base, "project", x.project.ID, "prompt", long).says(t, "a long field", 413)
	var named []string
	for i := range 90 {
		named = append(named, strings.Repeat("n", 3000)+strconv.Itoa(i), "")
	}
	b.upload(base, named...).says(t, "long names of fields", 413)
	b.upload(base, "file:"+strings.Repeat("n", 257<<10), "x").says(t, "a very long name of a file", 413)
	empty := strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 100)
	for name, c := range map[string]struct {
		more   string
		status int
	}{"a hundred parts": {"", 400}, "a part more": {empty[:len(empty)/100], 413}, "any number of parts": {strings.Repeat(empty, 2000), 413}} {
		b.send(base, strings.NewReader(empty+c.more+"--b--\r\n"), "Content-Type", "multipart/form-data; boundary=b").says(t, name, c.status)
	}
	b.send(base, strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\np"), "Content-Type", "multipart/form-data; boundary=b").says(t, "a form that is cut", 400, "The form can't be read.")
	b.upload("/org/"+x.ID+"/exports", "domain", x.project.Domain, "version", "v", "file:a.md", strings.Repeat("x", 1<<20)).says(t, "a form without files", 400)
	if now, err := w.FindAgentJob(w.ctx, x.project.ID, path[strings.LastIndex(path, "/")+1:]); err != nil || now.Messages != 1 {
		t.Errorf("%d messages, %v", now.Messages, err)
	}
	jobs, _, err := w.ListAgentJobs(w.ctx, w.Operator(x.ID), admin.AgentList{Project: x.project.ID, Limit: 10})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// Files come from the dashboard's own forms, and from those who may ask agents.
func TestFilesOfOthers(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	base := "/org/" + x.ID + "/agents"
	form := "--b\r\nContent-Disposition: form-data; name=\"attachments\"; filename=\"a.md\"\r\n\r\nx\r\n--b--\r\n"
	parts := []string{"Content-Type", "multipart/form-data; boundary=b"}
	w.as(x, "ada", admin.RoleMember).send(base, strings.NewReader(form), append(parts, "Sec-Fetch-Site", "cross-site")...).says(t, "another site", http.StatusForbidden, "sent from another site")
	w.as(x, "vic", admin.RoleViewer).send(base, strings.NewReader(form), parts...).says(t, "a viewer", http.StatusForbidden)
	w.browser().send(base, strings.NewReader(form), parts...).says(t, "nobody", http.StatusUnauthorized)
}
