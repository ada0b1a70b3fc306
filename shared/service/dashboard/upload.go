package dashboard

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

const (
	// maxUpload is the most bytes of a form with files. That is much more than its files
	// may have: only an answer to all of a request reaches every browser, and it names the
	// file that is too large. On AWS, that much never arrives: a synchronous call of a
	// Lambda function takes 6 MB, about 4.5 MB before base64, and API Gateway takes 10 MB.
	// There, the page's script refuses larger files, and the gateway larger requests.
	maxUpload = 16 << 20
	// maxParts is the most parts of a form. Each counts as partBytes of its fields, for its
	// header.
	maxParts  = 100
	partBytes = 256
)

// attachmentsField is the field of a form with files.
const attachmentsField = "attachments"

var errForm = admin.Errorf(admin.CodeInvalid, "the form can't be read")

// readForm reads the form of a request, with the files of routes that take any.
func (q *request) readForm(row route) error {
	err := q.r.ParseForm() // leaves a form in parts alone
	if err == nil && row.files {
		if err = q.readParts(); errors.Is(err, http.ErrNotMultipart) {
			err = nil
		}
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return admin.Errorf(admin.CodeTooLarge, "this is more than %d bytes", row.most())
	}
	if err != nil && admin.CodeOf(err) == admin.CodeInternal {
		return errForm
	}
	return err
}

// most is the most bytes of a request.
func (r route) most() int64 {
	switch {
	case r.files:
		return maxUpload
	case r.json:
		return maxList
	}
	return maxForm
}

// readParts reads a form in parts. It reads one file and one byte more than are allowed,
// so that admin refuses them: see admin.MaxAttachments and admin.MaxAttached.
func (q *request) readParts() error {
	parts, err := q.r.MultipartReader()
	if err != nil {
		return err
	}
	fields, files := maxForm, admin.MaxAttached
	for n := 1; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if _, large := errors.AsType[*http.MaxBytesError](err); large && files < 0 {
			return nil // what was read is refused
		}
		if err != nil {
			return err
		}
		if n > maxParts {
			return admin.Errorf(admin.CodeTooLarge, "it has more than %d parts", maxParts)
		}
		fields -= partBytes + len(part.FormName()) + len(part.FileName())
		switch {
		case fields < 0: // refused below
		case part.FileName() == "":
			value, err := readUpTo(part, fields)
			if err != nil {
				return err
			}
			fields -= len(value)
			q.r.PostForm.Add(part.FormName(), string(value))
			q.r.Form[part.FormName()] = q.r.PostForm[part.FormName()]
		case part.FormName() == attachmentsField && len(q.files) <= admin.MaxAttachments:
			data, err := readUpTo(part, files)
			if err != nil {
				return err
			}
			files -= len(data)
			q.files = append(q.files, admin.Attachment{Name: attachedName(part.FileName()), Data: data})
		}
		if fields < 0 {
			return admin.Errorf(admin.CodeTooLarge, "its fields have more than %d bytes", maxForm)
		}
	}
}

// readUpTo reads a part, and no more of it than one byte too many.
func readUpTo(part *multipart.Part, most int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(part, int64(most)+1))
}

// attachedName turns the name of an uploaded file into one that an attachment may have.
func attachedName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.()-", r):
			return r
		}
		return '_'
	}, name)
	if strings.IndexAny(name, " .()-") == 0 { // names begin with none of these
		return "_" + name[1:]
	}
	return name
}

// upload describes the field for files in a form.
type upload struct {
	Most  int // files
	Bytes int // of all files together
	// Chosen are the names of files that were sent, and must be chosen again.
	Chosen []string
}

func (q *request) upload() upload {
	u := upload{Most: admin.MaxAttachments, Bytes: admin.MaxAttached}
	for _, f := range q.files {
		u.Chosen = append(u.Chosen, f.Name)
	}
	return u
}
