package api

import (
	"math"
	"strconv"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Limits on bodies, in bytes.
const (
	// maxSmallBody holds any start of an export: 64 paths of 256 characters.
	maxSmallBody = 64 << 10
	// maxLargeBody holds the largest list of packs.
	maxLargeBody = 1 << 20
)

// fields reads the members of an object. The first fault is kept; what was not
// asked for is refused.
type fields struct {
	path  string
	value value
	known map[string]bool
	err   error
}

func fieldsOf(path string, v value) *fields {
	f := &fields{path: path, value: v, known: make(map[string]bool)}
	if v.kind != kindObject {
		f.fail(admin.FieldErrorf(fieldName(path), "must be an object, not %s", v.kind))
	}
	return f
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// get finds a member of a kind. A member that is not there is a fault if it is
// required.
func (f *fields) get(name string, k kind, required bool) (value, bool) {
	f.known[name] = true
	path := joined(f.path, name)
	for _, m := range f.value.members {
		if m.name != name {
			continue
		}
		if m.value.kind != k {
			f.fail(admin.FieldErrorf(path, "must be %s, not %s", k, m.value.kind))
			return value{}, false
		}
		return m.value, true
	}
	if required {
		f.fail(admin.FieldErrorf(path, "is required"))
	}
	return value{}, false
}

// text reads a string that is not empty.
func (f *fields) text(name string, required bool) string {
	v, ok := f.get(name, kindString, required)
	if ok && v.text == "" {
		f.fail(admin.FieldErrorf(joined(f.path, name), "is empty"))
	}
	return v.text
}

// number reads a whole number. One that no int64 holds is the nearest: the
// rules refuse it as too large or too small.
func (f *fields) number(name string) int64 {
	v, ok := f.get(name, kindNumber, true)
	if !ok {
		return 0
	}
	n, whole := wholeNumber(v.text)
	if !whole {
		f.fail(admin.FieldErrorf(joined(f.path, name), "must be a whole number"))
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
	for _, m := range f.value.members {
		if !f.known[m.name] {
			f.fail(admin.FieldErrorf(joined(f.path, m.name), "is not a field of this request"))
		}
	}
	return f.err
}

func decodeStartExport(body []byte) (StartExportRequest, error) {
	v, err := parseJSON(body)
	if err != nil {
		return StartExportRequest{}, err
	}
	f := fieldsOf("", v)
	req := StartExportRequest{Domain: f.text("domain", true), Version: f.text("version", false)}
	paths, _ := f.get("paths", kindArray, false)
	for i, item := range paths.items {
		if item.kind != kindString {
			f.fail(admin.FieldErrorf("paths["+strconv.Itoa(i)+"]", "must be %s, not %s", kindString, item.kind))
			break
		}
		req.Paths = append(req.Paths, item.text)
	}
	return req, f.done()
}

func decodeBlob(path string, v value) (Blob, error) {
	f := fieldsOf(path, v)
	if f.err != nil {
		return Blob{}, f.err
	}
	b := Blob{SHA256: f.text("sha256", true), SizeBytes: f.number("sizeBytes")}
	return b, f.done()
}

func decodeCreateSnapshot(body []byte) (CreateSnapshotRequest, error) {
	v, err := parseJSON(body)
	if err != nil {
		return CreateSnapshotRequest{}, err
	}
	f := fieldsOf("", v)
	req := CreateSnapshotRequest{Base: f.text("base", false), Packs: []Blob{}}
	if manifest, ok := f.get("manifest", kindObject, true); ok {
		if req.Manifest, err = decodeBlob("manifest", manifest); err != nil {
			f.fail(err)
		}
	}
	packs, _ := f.get("packs", kindArray, true)
	for i, item := range packs.items {
		b, err := decodeBlob("packs["+strconv.Itoa(i)+"]", item)
		if err != nil {
			f.fail(err)
			break
		}
		req.Packs = append(req.Packs, b)
	}
	return req, f.done()
}
