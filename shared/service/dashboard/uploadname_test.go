package dashboard

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// attachedName turns the name of an uploaded file into one that an attachment may have.
func FuzzAttachedName(f *testing.F) {
	for name, want := range map[string]string{
		"notes.md": "notes.md", "Screenshot 2026-03-14 at 9.00.00\u202fAM (1).png": "Screenshot 2026-03-14 at 9.00.00 AM (1).png",
		".env": "_env", " a": "_a", "größe\n.md": "gr__e .md", "\xff": "_",
	} {
		if got := attachedName(name); got != want {
			f.Errorf("%q is %q, want %q", name, got, want)
		}
		f.Add(name)
	}
	form := regexp.MustCompile(admin.AttachmentPattern)
	f.Fuzz(func(t *testing.T, name string) {
		if got := attachedName(name); name != "" && !form.MatchString(got) {
			t.Errorf("%q is %q", name, got)
		} else if attachedName(got) != got {
			t.Errorf("%q changes again", got)
		}
	})
}

// Whatever a form in parts has, its fields have at most maxForm bytes together, and of its
// files one file and one byte more than are allowed are read.
func FuzzReadParts(f *testing.F) {
	part := func(disposition, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	file := part(`name="attachments"; filename="a.md"`, "x")
	f.Add(part(`name="prompt"`, "Describe this") + file + "--b--\r\n")
	f.Add(strings.Repeat(file, admin.MaxAttachments+2) + "--b--\r\n")
	f.Add(strings.Repeat(part(`name=""`, ""), maxParts+1))
	f.Add("--b\r\nContent-Disposition: form-data; name*=utf-8''%e2\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=ZZ\r\n--b--")
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.Body = http.MaxBytesReader(nil, r.Body, maxUpload)
		q := &request{r: r}
		err := q.readForm(route{files: true})
		if code := admin.CodeOf(err); err != nil && code != admin.CodeInvalid && code != admin.CodeTooLarge {
			t.Errorf("it ends with %v", err)
		}
		fields, parts, bytes := 0, 0, 0
		for name, values := range r.PostForm {
			for _, v := range values {
				fields, parts = fields+len(name)+len(v), parts+1
			}
		}
		for _, a := range q.files {
			bytes += len(a.Data)
		}
		if err == nil && fields > maxForm || parts+len(q.files) > maxParts || len(q.files) > admin.MaxAttachments+1 || bytes > admin.MaxAttached+1 {
			t.Errorf("%d bytes in %d fields, %d bytes in %d files, %v", fields, parts, bytes, len(q.files), err)
		}
	})
}
