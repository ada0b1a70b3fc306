package reference

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Audience is the groups of readers whom an author keeps something for. An
// empty one lets nobody in.
type Audience []string

// String names the groups as messages do.
func (a Audience) String() string {
	const most = 10
	quoted := make([]string, min(len(a), most))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%.100q", a[i])
	}
	switch {
	case len(a) == 0:
		return "no group of readers"
	case len(a) == 1:
		return "the group " + quoted[0]
	case len(a) > most:
		quoted = append(quoted, "…")
	}
	return "the groups " + strings.Join(quoted, ", ")
}

// LetIn names groups of readers: what a specification keeps for one of them is
// read as all else. Without it, everything that is kept for a group is left out.
// It is called before anything is read.
func (r *Reader) LetIn(groups []string) { r.groups = groups }

// Groups returns the groups that the specifications name, sorted.
func (r *Reader) Groups() []string { return slices.Sorted(maps.Keys(r.known)) }

// restriction is the extension by which authors keep a part for groups of
// readers: an object with "groups". The one with "-enum" after its name does so
// with values of an enum.
const restriction = "x-mint"

// restrictedPart is the problem of a reference to what is left out.
const restrictedPart = "leads to what is for other readers"

// barred is a part of a value that is left out: a member of an object, or an
// item of a list, without a key.
type barred struct {
	key  string
	val  *value
	only Audience
}

// audience returns whom a value is kept for, by its own word; out reports that
// those are others than the export lets in.
func (r *Reader) audience(v *value) (only Audience, out bool) {
	x := v.find(restriction)
	g := cmp.Or(x.get("groups"), x.get("metadata").get("groups"))
	if g == nil || g.kind == nullValue {
		return nil, false
	}
	only, known := r.audiences[g]
	if !known {
		only = r.names(g)
		r.audiences[g] = only
	}
	return only, !r.lets(only)
}

// maxAudience is how many groups something may be kept for; others are not let
// in. Aliases make many of one list.
const maxAudience = 100

// names reads a list of groups, or a text with commas between them.
func (r *Reader) names(v *value) (names Audience) {
	var list []string
	if v.kind == stringValue && len(v.text) <= maxRef {
		list = strings.SplitN(v.text, ",", maxAudience+1)
	}
	for _, i := range v.list()[:min(len(v.list()), maxAudience)] {
		list = append(list, i.str())
	}
	for _, g := range list[:min(len(list), maxAudience)] {
		if g = strings.TrimSpace(g); g != "" && !slices.Contains(names, g) {
			names = append(names, g)
			r.known[g] = true
		}
	}
	return names
}

// lets reports whether the export lets in one of the groups.
func (r *Reader) lets(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(r.groups, g) })
}

// barredAt is audience for a value that may be a reference: what it leads to
// counts too. Other files are asked only if outside is set.
func (r *Reader) barredAt(p place, outside bool) (only Audience, out bool) {
	for range maxHops {
		if only, out = r.audience(p.v); out {
			return only, true
		}
		ref := p.v.find("$ref").str()
		if ref == "" || !outside && ref[0] != '#' {
			return nil, false
		}
		next, problem := r.resolve(p.doc, ref)
		if problem != "" {
			return nil, problem == restrictedPart
		}
		p = next
	}
	return nil, false
}

// restrict takes out of a document what is for other readers. With say it is
// reported; messages don't repeat what the parts are called.
func (r *Reader) restrict(d *document, say bool) {
	// What was found before all is taken out must not be found again.
	defer func() {
		clear(r.found)
		d.anchors, d.barredAnchors = nil, nil
	}()
	if only, out := r.audience(d.root); out {
		d.restricted = true
		if say {
			r.report(mdx.Notice, "api-restricted", d.file, d.root.line, "the specification is left out: it is for %s", only)
		}
		r.refersTo(d, d.root, map[*value]bool{})
		d.root = nil
		return
	}
	seen, gone := map[*value]bool{}, map[*value]bool{}
	var walk func(v *value)
	out := func(v *value, key string, line int32, child *value) bool {
		only, out := r.barredAt(place{doc: d, v: child}, false)
		if !out {
			walk(child)
			return false
		}
		if d.barred == nil {
			d.barred = map[*value][]barred{}
		}
		d.restricted = true
		d.barred[v] = append(d.barred[v], barred{key, child, only})
		r.refersTo(d, child, gone)
		r.barIDs(child)
		if say {
			r.report(mdx.Notice, "api-restricted", d.file, line, "what stands here is left out: it is for %s", only)
		}
		return true
	}
	walk = func(v *value) {
		if v == nil || v.kind < listValue || seen[v] {
			return
		}
		seen[v] = true
		if v.kind == listValue {
			v.items = slices.DeleteFunc(v.items, func(i *value) bool { return out(v, "", i.line, i) })
			return
		}
		d.restricted = d.restricted || r.restrictsEnum(v)
		before := len(v.members)
		v.members = slices.DeleteFunc(v.members, func(m member) bool { return out(v, m.key, m.line, m.val) })
		if len(v.members) < before {
			v.index = nil
		}
	}
	walk(d.root)
}

// barIDs notes the names of the operation, or of the operations of an entry of
// paths, that is left out.
func (r *Reader) barIDs(v *value) {
	note := func(op *value) {
		if id := op.find("operationId").str(); id != "" {
			r.barredIDs[id] = true
		}
	}
	note(v)
	for _, method := range methods {
		note(v.find(method))
	}
}

// restrictsEnum reports whether an object has values of an enum that are for
// other readers.
func (r *Reader) restrictsEnum(v *value) bool {
	return slices.ContainsFunc(v.find(restriction+"-enum").fields(), func(m member) bool { return !r.lets(r.names(m.val)) })
}

// barredEnum reports whether a value of an object's enum is for other readers.
func (r *Reader) barredEnum(v, item *value) bool {
	only := v.find(restriction + "-enum").get(item.str())
	return only != nil && only.kind != nullValue && !r.lets(r.names(only))
}

// refersTo notes the files that a part refers to: what is left out may stand in
// them. seen are the values that were looked at before.
func (r *Reader) refersTo(d *document, v *value, seen map[*value]bool) {
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || v.kind < listValue || seen[v] {
			return
		}
		seen[v] = true
		if file, _, _ := strings.Cut(v.find("$ref").str(), "#"); file != "" && !Remote(file) && !Remote(d.file) {
			if name, err := url.PathUnescape(file); err == nil {
				file = name
			}
			if !strings.HasPrefix(file, "/") {
				file = "/" + path.Join(path.Dir(d.file), file)
			}
			r.private[strings.TrimPrefix(path.Clean(file), "/")] = true
		}
		for _, i := range v.items {
			walk(i)
		}
		for _, m := range v.members {
			walk(m.val)
		}
	}
	walk(v)
}

// Look finds out whether a file of the site holds something that is for other
// readers, also one that no page
// names. The error is the file system's.
func (r *Reader) Look(file string) error {
	if d := r.docs[file]; d != nil && d.root != nil {
		return nil
	}
	info, err := fs.Stat(r.fsys, file)
	if err != nil || info.Size() > maxFileBytes {
		return err
	}
	src, err := fs.ReadFile(r.fsys, file)
	if err != nil || !bytes.Contains(src, []byte(restriction)) {
		return err
	}
	d := &document{file: file}
	if d.root, err = parse(src); err != nil {
		// It may hold anything, and a reader that is less strict can read it.
		d.restricted = bytes.Contains(src, []byte("groups")) || bytes.Contains(src, []byte(restriction+"-enum"))
	} else {
		r.restrict(d, false)
	}
	if d.restricted {
		r.private[file] = true
	}
	return nil
}

// RestrictedFiles returns, sorted, the files of the site that hold what is for
// other readers, among those that were read or looked at, and the files that
// only such parts refer to, as far as that is known: all that they refer to.
func (r *Reader) RestrictedFiles() []string {
	for _, d := range r.docs {
		if d.restricted && !Remote(d.file) {
			r.private[d.file] = true
		}
	}
	return slices.Sorted(maps.Keys(r.private))
}

// Restricted returns whom an operation, a channel or a schema is kept for; ok
// is false for one that is not left out, and for one that does not exist.
func (s *Spec) Restricted(key Key) (only Audience, ok bool) {
	if key.Kind == KindSchema {
		b, ok := s.doc.barredMember(s.schemas, key.Path)
		return b.only, ok
	}
	only, ok = s.restricted[key.folded()]
	return only, ok
}

// barredMember finds a member that is left out of an object.
func (d *document) barredMember(v *value, key string) (barred, bool) {
	list := d.left(v)
	i := slices.IndexFunc(list, func(b barred) bool { return b.key == key })
	if i < 0 {
		return barred{}, false
	}
	return list[i], true
}

// left returns what is left out of a value, of no document nothing.
func (d *document) left(v *value) []barred {
	if d == nil {
		return nil
	}
	return d.barred[v]
}

// bar notes that an operation has no page because it is for others.
func (s *Spec) bar(key Key, only Audience) {
	s.restricted[key.folded()] = only
}

// barItem notes that no call of an entry of paths, webhooks or channels has a
// page.
func (s *Spec) barItem(name string, kind Kind, only Audience) {
	for _, method := range methods {
		s.bar(keyOf(name, method, kind), only)
	}
}

// barItems notes the entries of paths, webhooks or channels that are left out.
func (s *Spec) barItems(list place, kind Kind) {
	for _, b := range list.doc.left(list.v) {
		s.barItem(b.key, kind, b.only)
	}
}

// keyOf is the key of a call of an entry of that name.
func keyOf(name, method string, kind Kind) Key {
	if kind != KindOperation {
		method = ""
	}
	return Key{Kind: kind, Method: strings.ToUpper(method), Path: name}
}
