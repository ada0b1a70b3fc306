package api

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Limits on bodies, in bytes.
const (
	// maxSmallBody holds any start of an export: 64 paths of 256 characters, and
	// 32 groups of 64.
	maxSmallBody = 64 << 10
	// maxLargeBody holds the largest list of packs, and the longest prompt with all
	// its characters escaped and as many files as it may have.
	maxLargeBody = 2 << 20
)

// maxDepth is more than any body of ours is deep.
const maxDepth = 8

// bodyField is the name of the field that is the whole body.
const bodyField = "body"

func fieldName(path string) string {
	if path == "" {
		return bodyField
	}
	return path
}

// fields reads the members of an object. The first fault is kept; what was not
// asked for is refused.
type fields struct {
	*json.Fields
	err error
}

func fieldsOf(v *json.Value) *fields {
	f := &fields{Fields: v.Fields()}
	if v.Kind != json.Object {
		f.fail(admin.FieldErrorf(fieldName(v.Path()), "must be an object, not %s", v.Kind))
	}
	return f
}

// parse reads a body.
func parse(body []byte) (*fields, error) {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return nil, admin.FieldErrorf(bodyField, "is empty; it must be a JSON object")
	}
	v, err := json.Parse(body, json.Options{Depth: maxDepth})
	if e, ok := errors.AsType[*json.Error](err); ok {
		return nil, admin.FieldErrorf(fieldName(e.Path), "%s (at byte %d of the body)", e.Message, e.Offset)
	}
	return fieldsOf(v), err
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// get finds a member of a kind. A member that is not there is a fault if it is
// required; what is returned then is empty.
func (f *fields) get(name string, k json.Kind, required bool) (v *json.Value, ok bool) {
	v = f.Take(name)
	switch {
	case v == nil && required:
		f.fail(admin.FieldErrorf(json.Join(f.Path(), name), "is required"))
	case v != nil && v.Kind != k:
		f.fail(admin.FieldErrorf(v.Path(), "must be %s, not %s", k, v.Kind))
	case v != nil:
		return v, true
	}
	return &json.Value{}, false
}

// text reads a string that is not empty.
func (f *fields) text(name string, required bool) string {
	v, ok := f.get(name, json.String, required)
	if ok && v.Text == "" {
		f.fail(admin.FieldErrorf(v.Path(), "is empty"))
	}
	return v.Text
}

// texts reads a list of strings that need not be there.
func (f *fields) texts(name string) (out []string) {
	list, _ := f.get(name, json.Array, false)
	for _, item := range list.Items {
		if item.Kind != json.String {
			f.fail(admin.FieldErrorf(item.Path(), "must be %s, not %s", json.String, item.Kind))
			break
		}
		out = append(out, item.Text)
	}
	return out
}

// number reads a whole number. One that no int64 holds is the nearest: the
// rules refuse it as too large or too small.
func (f *fields) number(name string) int64 {
	v, ok := f.get(name, json.Number, true)
	if !ok {
		return 0
	}
	n, whole := wholeNumber(v.Text)
	if !whole {
		f.fail(admin.FieldErrorf(v.Path(), "must be a whole number"))
	}
	return n
}

// wholeNumber reads a JSON number. 1.0 and 1e3 are whole numbers too, as JSON
// Schema has it.
func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	x, _ := strconv.ParseFloat(text, 64) // out of range is infinite
	switch {
	case x != math.Trunc(x) && !math.IsInf(x, 0):
		return 0, false
	case x >= math.MaxInt64:
		return math.MaxInt64, true
	case x <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(x), true
}

// done returns the first fault, or that of a member nobody asked for.
func (f *fields) done() error {
	if name, unknown := f.Unknown(); unknown {
		f.fail(admin.FieldErrorf(json.Join(f.Path(), name), "is not a field of this request"))
	}
	return f.err
}

func decodeStartExport(body []byte) (StartExportRequest, error) {
	f, err := parse(body)
	if err != nil {
		return StartExportRequest{}, err
	}
	req := StartExportRequest{Domain: f.text("domain", true), Version: f.text("version", false)}
	req.Paths, req.Groups = f.texts("paths"), f.texts("groups")
	fresh, _ := f.get("fresh", json.Bool, false)
	goLive, _ := f.get("goLive", json.Bool, false)
	req.GoLive = goLive.Text == "true"
	req.Fresh, req.Have = fresh.Text == "true", f.text("have", false)
	return req, f.done()
}

func decodeStartAgentJob(body []byte) (StartAgentJobRequest, error) {
	f, err := parse(body)
	if err != nil {
		return StartAgentJobRequest{}, err
	}
	req := StartAgentJobRequest{Prompt: f.text("prompt", true), Ref: f.text("ref", false), Model: f.text("model", false)}
	draft, _ := f.get("asDraft", json.Bool, false)
	req.AsDraft = draft.Text == "true"
	req.Attachments = f.attachments()
	return req, f.done()
}

func decodeMessage(body []byte) (MessageRequest, error) {
	f, err := parse(body)
	if err != nil {
		return MessageRequest{}, err
	}
	req := MessageRequest{Prompt: f.text("prompt", true), Attachments: f.attachments()}
	return req, f.done()
}

// attachments reads the files of a message.
func (f *fields) attachments() (all []Attachment) {
	list, _ := f.get("attachments", json.Array, false)
	if list == nil {
		return nil
	}
	for _, item := range list.Items {
		one := fieldsOf(item)
		a := Attachment{Name: one.text("name", true)}
		text := one.text("data", true)
		if one.err == nil {
			var err error
			if a.Data, err = base64.StdEncoding.DecodeString(text); err != nil {
				one.fail(admin.FieldErrorf(json.Join(one.Path(), "data"), "is not base64"))
			}
		}
		if err := one.done(); err != nil {
			f.fail(err)
			return nil
		}
		all = append(all, a)
	}
	return all
}

// decodeText reads a body that has one text and nothing else.
func decodeText(body []byte, name string) (string, error) {
	f, err := parse(body)
	if err != nil {
		return "", err
	}
	text := f.text(name, true)
	return text, f.done()
}

func decodeCreateWebhook(body []byte) (CreateWebhookRequest, error) {
	f, err := parse(body)
	if err != nil {
		return CreateWebhookRequest{}, err
	}
	req := CreateWebhookRequest{URL: f.text("url", true), Events: f.texts("events")}
	return req, f.done()
}

func decodeBlob(v *json.Value) (Blob, error) {
	f := fieldsOf(v)
	if f.err != nil {
		return Blob{}, f.err
	}
	b := Blob{SHA256: f.text("sha256", true), SizeBytes: f.number("sizeBytes")}
	return b, f.done()
}

func decodeCreateSnapshot(body []byte) (CreateSnapshotRequest, error) {
	f, err := parse(body)
	if err != nil {
		return CreateSnapshotRequest{}, err
	}
	req := CreateSnapshotRequest{Base: f.text("base", false), Packs: []Blob{}}
	if manifest, ok := f.get("manifest", json.Object, true); ok {
		if req.Manifest, err = decodeBlob(manifest); err != nil {
			f.fail(err)
		}
	}
	packs, _ := f.get("packs", json.Array, true)
	for _, item := range packs.Items {
		b, err := decodeBlob(item)
		if err != nil {
			f.fail(err)
			break
		}
		req.Packs = append(req.Packs, b)
	}
	return req, f.done()
}
