package admin

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Limits of files that are attached to messages.
const (
	// MaxAttachments is how many files a message may have, MaxAttached how many bytes
	// they may have together.
	MaxAttachments = 8
	MaxAttached    = 1 << 20
	// maxJobAttached limits the total size of the files of a job in bytes.
	maxJobAttached = 4 << 20
	// attachedPiece is how many bytes of a file one record has: 256 KiB are 350 KB of
	// JSON.
	attachedPiece = 256 << 10
	// MaxAttachmentName is the longest name of a file, in characters.
	MaxAttachmentName = 100
)

// AttachmentPattern matches the names of attached files; the API's document has it, too.
const AttachmentPattern = `^[A-Za-z0-9_][A-Za-z0-9_. ()-]*$`

var attachmentForm = lazy.Regexp(AttachmentPattern)

// Attachment is a file that a caller attaches to a message: text, or a picture.
type Attachment struct {
	Name string
	Data []byte
}

// AgentAttachment describes a file of a message.
type AgentAttachment struct {
	Name string `json:"name"`
	Size int    `json:"size"` // in bytes
	// Picture is set for a picture; others are text.
	Picture bool `json:"picture,omitempty"`
}

// attachedRow is a piece of a file.
type attachedRow struct {
	Data []byte `json:"data"`
}

// attachedTypes are the types of files that are no text.
var attachedTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// isAttachedPicture reports whether a file is a picture by its beginning.
func isAttachedPicture(b []byte) bool {
	return slices.Contains(attachedTypes, http.DetectContentType(b))
}

func checkAttachments(all []Attachment) error {
	const field = "attachments"
	if len(all) > MaxAttachments {
		return FieldErrorf(field, "a message has at most %d files", MaxAttachments)
	}
	total := 0
	var names []string
	for _, a := range all {
		total += len(a.Data)
		switch {
		case len(a.Name) > MaxAttachmentName || !attachmentForm().MatchString(a.Name):
			return FieldErrorf(field, "the name of the file %s must have at most %d letters, digits, spaces and . _ ( ) -, and begin with a letter or digit", strconv.Quote(cutText(a.Name, MaxAttachmentName)), MaxAttachmentName)
		case total > MaxAttached: // first: the dashboard has no more of a larger file
			return FieldErrorf(field, "the file %s is too large: the files of a message may have %d bytes together", a.Name, MaxAttached)
		case slices.Contains(names, a.Name):
			return FieldErrorf(field, "the file %s is there twice", a.Name)
		case len(a.Data) == 0:
			return FieldErrorf(field, "the file %s is empty", a.Name)
		case !isAttachedPicture(a.Data) && (!utf8.Valid(a.Data) || bytes.IndexByte(a.Data, 0) >= 0):
			return FieldErrorf(field, "the file %s is neither text in UTF-8 nor a picture (PNG, JPEG, GIF or WebP)", a.Name)
		}
		names = append(names, a.Name)
	}
	return nil
}

// attach adds files to the message that tx writes next. It returns CodeInvalid if the
// job would have too many bytes of them.
func (tx *agentTx) attach(all []Attachment) ([]AgentAttachment, error) {
	var out []AgentAttachment
	for k, a := range all {
		if tx.job.Attached += len(a.Data); tx.job.Attached > maxJobAttached {
			return nil, FieldErrorf("attachments", "the file %s is too large: the files of all messages of a job may have %d bytes together", a.Name, maxJobAttached)
		}
		out = append(out, AgentAttachment{Name: a.Name, Size: len(a.Data), Picture: isAttachedPicture(a.Data)})
		piece := 0
		for part := range slices.Chunk(a.Data, attachedPiece) {
			tx.put(agentAttachedKey(tx.job.ID, tx.job.Messages+1, k, piece), 0, attachedRow{part})
			piece++
		}
	}
	return out, nil
}

// AgentAttachments reads the files of a message, in their order. It returns
// CodeJobNotActive if the job is final or in another round.
func (s *Service) AgentAttachments(ctx context.Context, ref AgentRef, m AgentMessage) ([]Attachment, error) {
	if _, err := s.agentAt(ctx, ref); err != nil {
		return nil, err
	}
	var out []Attachment
	for k, a := range m.Attachments {
		first := agentAttachedKey(ref.Job, m.N, k, 0)
		rows, err := all[attachedRow](ctx, s, store.Query{PK: first.PK, Prefix: first.SK[:len(first.SK)-len("00")]})
		if err != nil {
			return nil, err
		}
		file := Attachment{Name: a.Name}
		for _, r := range rows {
			file.Data = append(file.Data, r.Data...)
		}
		if len(file.Data) != a.Size {
			return nil, Errorf(CodeInternal, "the file %s of message %d has %d bytes, not %d", a.Name, m.N, len(file.Data), a.Size)
		}
		out = append(out, file)
	}
	return out, nil
}

// forgottenAtOnce is how many pieces one transaction removes.
const forgottenAtOnce = 50

// forgetAttachments removes the files of an archived job's messages; their names stay.
func (s *Service) forgetAttachments(ctx context.Context, j AgentJob) error {
	if j.Attached == 0 {
		return nil
	}
	first := agentAttachedKey(j.ID, 0, 0, 0)
	var rows []store.Record
	err := list(ctx, s, store.Query{PK: first.PK, Prefix: first.SK[:len("attached#")]}, func(rec store.Record, _ struct{}) error {
		rows = append(rows, store.Record{Key: rec.Key, Revision: rec.Revision})
		return nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(rows, forgottenAtOnce) {
		var b batch
		for _, rec := range part {
			b.remove(rec.Key, rec.Revision)
		}
		if err := s.write(ctx, &b); err != nil {
			return err
		}
	}
	_, err = s.agentChange(ctx, j.Project, j.ID, func(tx *agentTx) error {
		tx.job.Attached, tx.quiet = 0, true
		return nil
	})
	return err
}
