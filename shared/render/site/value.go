package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Limits of configuration files. They only stop files that no author wrote.
const (
	maxConfigBytes = 64 << 20
	maxConfigDepth = 100
	maxRefs        = 1000
	// maxConfigValues is how many values the files have together, one counted as
	// often as it is referred to: five for each page of the largest site.
	maxConfigValues = 1_000_000
	// maxFindings is how many findings about a configuration are kept; of the
	// others only their number is.
	maxFindings = 50_000
)

// value is a JSON value that knows where it stands.
type value struct {
	file         string
	line, column int
	// One of: nil, bool, number, string, []*value, []member.
	v any
	// asked are the names of fields that a reader looked for in an object; open
	// says that it took them all, whatever they are called. A field that is
	// not among them is one that nobody reads.
	asked []string
	open  bool
}

// number is a number as it is written.
type number string

// member is one member of an object; objects keep the written order.
type member struct {
	key string
	val *value
}

// configReader reads configuration files and collects what is wrong in them.
type configReader struct {
	ctx   context.Context
	fsys  fs.FS
	diags []mdx.Diagnostic
	more  int // findings that are not among diags
	// values is how many values were read, as bytes counts them.
	values int
	refs   int
	// bytes is what was read of configuration files, of one as often as it is
	// referred to.
	bytes int64
	// variables stand in texts as {{name}}.
	variables map[string]string
	// refers are addresses to look at once the site is known.
	refers []referral
	// groups are those whose readers the export lets in; known those that the
	// site names. heads are what pages' heads say of their readers, by source.
	groups []string
	known  map[string]bool
	heads  map[string]access
	// specsGone are the specifications that pages show which are left out.
	specsGone map[string]bool
	// concealed are the parts of the navigation that are left out.
	concealed map[*value]bool
	// told are the capabilities without effect that were reported; headTold and
	// custom are fields of heads that have none or that nobody knows, each with
	// its first place.
	told             map[string]bool
	headTold, custom map[string]*value
}

// referral is an address in the configuration.
type referral struct {
	at    *value
	href  string
	asset bool // a picture or a font, not a link
}

// refer notes an address that should lead somewhere.
func (r *configReader) refer(v *value, href string, asset bool) {
	if href != "" {
		r.refers = append(r.refers, referral{v, href, asset})
	}
}

// maxQuoted bounds, in bytes, what a message repeats of a configuration.
const maxQuoted = 500

// short is a text as messages quote it.
func short(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// top is the beginning of a file, as a place to report.
func top(file string) *value { return &value{file: file, line: 1, column: 1} }

// report adds a diagnostic at a value's place, if there is one.
func (r *configReader) report(v *value, severity mdx.Severity, code, format string, args ...any) {
	if len(r.diags) >= maxFindings {
		r.more++
		return
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = short(s)
		}
	}
	d := mdx.Diagnostic{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...)}
	if v != nil {
		d.File, d.Line, d.Column = v.file, v.line, v.column
	}
	r.diags = append(r.diags, d)
}

// read parses one file and replaces {"$ref": "path"} by other files.
func (r *configReader) read(file string, above []string) (*value, error) {
	info, err := fs.Stat(r.fsys, file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxConfigBytes {
		return nil, &ConfigError{File: file, Message: fmt.Sprintf("the file has more than %d MiB", maxConfigBytes>>20)}
	}
	if r.bytes += info.Size(); r.bytes > maxConfigBytes {
		return nil, &ConfigError{File: file, Message: fmt.Sprintf("the configuration has more than %d MiB, with the files that it refers to each time that it does", maxConfigBytes>>20)}
	}
	data, err := fs.ReadFile(r.fsys, file)
	if err != nil {
		return nil, err
	}
	v, err := parseJSON(file, data, maxConfigValues-r.values)
	if err != nil {
		return nil, err
	}
	r.values += v.count()
	return r.deref(v, append(above, file))
}

// count returns how many values a value is, with all that it holds.
func (v *value) count() int {
	n := 1
	for _, item := range v.list() {
		n += item.count()
	}
	for _, m := range v.members() {
		n += m.val.count()
	}
	return n
}

// parseJSON reads a whole file, of less than limit values. The error is a
// *ConfigError.
func parseJSON(file string, data []byte, limit int) (*value, error) {
	v, err := json.Parse(data, json.Options{Depth: maxConfigDepth, Values: max(limit, 1), Lenient: true})
	if e, ok := errors.AsType[*json.Error](err); ok {
		message := "this is not JSON: " + e.Message
		switch {
		case e.Deep:
			message = fmt.Sprintf("nested deeper than %d levels", maxConfigDepth)
		case e.Many:
			message = fmt.Sprintf("the configuration has more than %d values, with the files that it refers to each time that it does", maxConfigValues)
		case e.Cut:
			message = "the file ends too early: a bracket or a quote is not closed"
		}
		return nil, &ConfigError{File: file, Line: e.Line, Column: e.Column, Message: message}
	}
	return newValue(file, v), err
}

// newValue takes a value apart: of a large file there is never twice as much.
// Strings are in NFC, as the names of a site's files are.
func newValue(file string, from *json.Value) *value {
	v := &value{file: file, line: from.Line, column: from.Column}
	switch from.Kind {
	case json.Object:
		members := make([]member, len(from.Members))
		for i, m := range from.Members {
			members[i] = member{m.Name, newValue(file, m.Value)}
			from.Members[i].Value = nil
		}
		v.v = members
	case json.Array:
		items := make([]*value, len(from.Items))
		for i, item := range from.Items {
			items[i] = newValue(file, item)
			from.Items[i] = nil
		}
		v.v = items
	case json.String:
		v.v = norm.NFC.String(from.Text)
	case json.Number:
		v.v = number(from.Text)
	case json.Bool:
		v.v = from.Text == "true"
	}
	return v
}

// deref replaces references to other files; above are the files that led here.
func (r *configReader) deref(v *value, above []string) (*value, error) {
	switch x := v.v.(type) {
	case []*value:
		for i := range x {
			d, err := r.deref(x[i], above)
			if err != nil {
				return nil, err
			}
			x[i] = d
		}
	case []member:
		for i := range x {
			d, err := r.deref(x[i].val, above)
			if err != nil {
				return nil, err
			}
			x[i].val = d
		}
		ref := v.get("$ref")
		target, ok := ref.text()
		if !ok || strings.HasPrefix(target, "#") {
			return v, nil
		}
		if strings.Contains(target, "://") || strings.HasPrefix(target, "//") {
			r.report(ref, mdx.Error, "config-ref-address", "$ref leads to an address, which is not fetched; name a file of the site")
			if len(x) == 1 { // what stands beside it is read as it is
				v = &value{file: v.file, line: v.line, column: v.column}
			}
			return v, nil
		}
		file := path.Join(path.Dir(v.file), target)
		if strings.HasPrefix(target, "/") {
			file = strings.TrimPrefix(path.Clean(target), "/")
		}
		for _, a := range above {
			if a == file {
				r.report(ref, mdx.Error, "config-ref", "%s refers to itself", file)
				return &value{file: v.file, line: v.line, column: v.column}, nil
			}
		}
		if r.refs++; r.refs > maxRefs {
			return nil, &ConfigError{File: v.file, Message: fmt.Sprintf("more than %d references to other files", maxRefs)}
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		other, err := r.read(file, above)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			r.report(ref, mdx.Error, "config-ref", "there is no file %s", file)
			return &value{file: v.file, line: v.line, column: v.column}, nil
		}
		if err != nil {
			return nil, err
		}
		if theirs, ok := other.v.([]member); ok && len(x) > 1 {
			other.v = merged(x, theirs)
		}
		return other, nil
	}
	return v, nil
}

// merged returns the members of a file that a reference leads to, with those
// beside the reference, which win.
func merged(beside, theirs []member) []member {
	ours := make(map[string]bool, len(beside))
	for _, m := range beside {
		ours[m.key] = true
	}
	all := make([]member, 0, len(theirs)+len(beside))
	for _, m := range theirs {
		if !ours[m.key] {
			all = append(all, m)
		}
	}
	for _, m := range beside {
		if m.key != "$ref" {
			all = append(all, m)
		}
	}
	return all
}

// The readers below take nil for a value that is not there.

// get returns a member of an object, the last of that name, or nil.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	if _, ok := v.v.([]member); ok && !slices.Contains(v.asked, key) {
		v.asked = append(v.asked, key)
	}
	for i := len(v.members()) - 1; i >= 0; i-- {
		if m := v.members()[i]; m.key == key && m.val.v != nil {
			return m.val
		}
	}
	return nil
}

func (v *value) members() []member {
	if v == nil {
		return nil
	}
	m, _ := v.v.([]member)
	return m
}

// fields returns all members of an object whose names are the author's own.
func (v *value) fields() []member {
	if v != nil {
		v.open = true
	}
	return v.members()
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	l, _ := v.v.([]*value)
	return l
}

func (v *value) text() (string, bool) {
	if v == nil {
		return "", false
	}
	s, ok := v.v.(string)
	return s, ok
}

// kind names the JSON type for messages.
func (v *value) kind() string {
	switch v.v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case number:
		return "a number"
	case string:
		return "a string"
	case []*value:
		return "a list"
	}
	return "an object"
}

// str reads a string; a number or boolean is taken as it is written.
func (r *configReader) str(v *value) string {
	if v == nil {
		return ""
	}
	switch x := v.v.(type) {
	case string:
		return r.expand(x)
	case number:
		return string(x)
	case bool:
		return fmt.Sprint(x)
	}
	r.report(v, mdx.Warning, "config-type", "expected a string, found %s", v.kind())
	return ""
}

// boolean reads true and false, also as strings.
func (r *configReader) boolean(v *value) bool {
	if v == nil {
		return false
	}
	switch x := v.v.(type) {
	case bool:
		return x
	case string:
		if x == "true" || x == "false" {
			return x == "true"
		}
	}
	r.report(v, mdx.Warning, "config-type", "expected true or false, found %s", v.kind())
	return false
}

// maybe reads true and false; nil where the value is not there.
func (r *configReader) maybe(v *value) *bool {
	if v == nil {
		return nil
	}
	b := r.boolean(v)
	return &b
}

// oneOf reads one of some words. Another one is reported and left out.
func (r *configReader) oneOf(v *value, words ...string) string {
	s := r.str(v)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	for _, w := range words {
		if strings.EqualFold(w, s) {
			return w
		}
	}
	hint := ""
	if near := Nearest(s, words); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	r.report(v, mdx.Warning, "config-value", "%q is not one of %s%s", s, strings.Join(words, ", "), hint)
	return ""
}

// object reports whether v is an object, and warns when it is another thing.
func (r *configReader) object(v *value) bool {
	if v == nil {
		return false
	}
	if _, ok := v.v.([]member); ok {
		return true
	}
	r.report(v, mdx.Warning, "config-type", "expected an object, found %s", v.kind())
	return false
}

// section returns an object among an object's members, nil for all else.
func (r *configReader) section(v *value, key string) *value {
	if x := v.get(key); r.object(x) {
		return x
	}
	return nil
}

// items reads a list, and warns when it is another thing.
func (r *configReader) items(v *value) []*value {
	if v == nil {
		return nil
	}
	l, ok := v.v.([]*value)
	if !ok {
		r.report(v, mdx.Warning, "config-type", "expected a list, found %s", v.kind())
	}
	return l
}

// strings reads a list of strings, or one string.
func (r *configReader) strings(v *value) []string {
	if v == nil {
		return nil
	}
	if _, ok := v.text(); ok {
		return []string{r.str(v)}
	}
	var out []string
	for _, i := range r.items(v) {
		if s := r.str(i); s != "" {
			out = append(out, s)
		}
	}
	return out
}
