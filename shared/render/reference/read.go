package reference

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Reader reads the specifications of one site, each file once. It is not safe
// for concurrent use: the first reading of a site is one goroutine's work.
type Reader struct {
	fsys  fs.FS
	docs  map[string]*document
	specs map[string]*Spec
	diags []mdx.Diagnostic
	said  map[mdx.Diagnostic]bool
	bytes int64
	// looked counts the bytes that IsSpecification has read.
	looked int64
	// found is where references lead: the same stand in many places.
	found map[link]place
	// tooLarge are values that were too large to be shown.
	tooLarge map[*value]bool
	// remotes has files of other hosts; nil asks none.
	remotes Remotes
	// groups are those whose readers are let in, known those that the files
	// name. private are files that hold what is for others.
	groups         []string
	known, private map[string]bool
	audiences      map[*value]Audience // by the lists that name them
	barredIDs      map[string]bool     // of operations that are left out
	told           map[string]bool     // extensions without effect that were reported
	labels         []string            // members of schemas that fields show
}

// NewReader makes a Reader of the files in fsys.
func NewReader(fsys fs.FS) *Reader {
	return &Reader{
		fsys: fsys, docs: map[string]*document{}, specs: map[string]*Spec{}, said: map[mdx.Diagnostic]bool{}, found: map[link]place{}, tooLarge: map[*value]bool{},
		known: map[string]bool{}, audiences: map[*value]Audience{}, barredIDs: map[string]bool{}, private: map[string]bool{}, told: map[string]bool{},
	}
}

// link is a reference and the file it stands in.
type link struct {
	from *document
	ref  string
}

// Limits of all files together.
const (
	// maxBytes is how much of a site's specifications is read: their trees
	// take about ten times that in memory.
	maxBytes = 96 << 20
	// maxLooked is how much is read to find out which files are specifications,
	// where a page does not say in which its operation is.
	maxLooked = 96 << 20
	// maxDiagnostics bounds what is said about a site's specifications.
	maxDiagnostics = 1000
)

// Diagnostics returns what was found since the last call, in the order of its
// finding, and forgets it.
func (r *Reader) Diagnostics() []mdx.Diagnostic {
	out := r.diags
	r.diags = nil
	return out
}

func (r *Reader) report(severity mdx.Severity, code, file string, line int32, format string, args ...any) {
	if len(r.said) >= maxDiagnostics {
		return
	}
	d := mdx.Diagnostic{Severity: severity, Code: code, File: file, Line: int(line), Message: fmt.Sprintf(format, args...)}
	if d.Line > 0 {
		d.Column = 1
	}
	if r.said[d] {
		return
	}
	r.said[d] = true
	r.diags = append(r.diags, d)
}

// document is one file. root is nil where it can't be read.
type document struct {
	file                   string
	root                   *value
	anchors, barredAnchors map[string]*value // $anchor of schemas, of those that are left out too; when first asked for
	problem                string            // why a file of another host is not here
	swagger                bool              // of Swagger 2.0
	// barred are the parts that are left out of values; restricted says that
	// there are some, or values of enums.
	barred     map[*value][]barred
	restricted bool
}

// open reads a file, once. It reports one that can't be read.
func (r *Reader) open(file string) *document {
	if d, ok := r.docs[file]; ok {
		return d
	}
	if Remote(file) {
		r.Fetch(file) // who names it says what is wrong with it
		if d := r.docs[absolute(file)]; d != nil {
			return d
		}
	}
	d := &document{file: file}
	r.docs[file] = d
	fail := func(line int, message string) *document {
		r.report(mdx.Error, "api-unreadable", file, int32(line), "%s", message)
		return d
	}
	info, err := fs.Stat(r.fsys, file)
	switch {
	case err != nil || info.IsDir():
		return fail(0, "the specification is missing")
	case info.Size() > maxFileBytes || r.bytes+info.Size() > maxBytes:
		return fail(0, fmt.Sprintf("the specifications have more than %d MiB", maxBytes>>20))
	}
	r.bytes += info.Size()
	src, err := fs.ReadFile(r.fsys, file)
	if err != nil {
		return fail(0, "the specification can't be read")
	}
	r.parse(d, src)
	return d
}

// IsSpecification reports whether a file is one of OpenAPI, Swagger 2.0 or
// AsyncAPI. Of others nothing is reported, and nothing is kept.
func (r *Reader) IsSpecification(file string) bool {
	if d, ok := r.docs[file]; ok {
		return d.names()
	}
	info, err := fs.Stat(r.fsys, file)
	if err != nil || info.IsDir() || info.Size() > maxFileBytes || r.bytes+info.Size() > maxBytes || r.looked+info.Size() > maxLooked {
		return false
	}
	r.looked += info.Size()
	src, err := fs.ReadFile(r.fsys, file)
	if err != nil || !slices.ContainsFunc(dialects[:], func(name string) bool { return bytes.Contains(src, []byte(name)) }) {
		return false
	}
	root, err := parse(src)
	if err != nil || !(&document{root: root}).names() {
		return false
	}
	return r.open(file).names()
}

// dialects are the members by which a specification says which it is.
var dialects = [...]string{"openapi", "swagger", "asyncapi"}

// names reports whether a document has the version of a specification. A site's
// configuration has members of the same names, but without a version.
func (d *document) names() bool {
	return slices.ContainsFunc(dialects[:], func(name string) bool {
		version := d.root.first(name)
		return version != "" && '0' <= version[0] && version[0] <= '9'
	})
}

// parse reads a document's tree, and reports what can't be read.
func (r *Reader) parse(d *document, src []byte) {
	root, err := parse(src)
	if err != nil {
		line := 0
		if f, ok := errors.AsType[*fault](err); ok {
			line = f.line
		}
		r.report(mdx.Error, "api-unreadable", d.file, int32(line), "%s", err.Error())
		return
	}
	if d.swagger = isSwagger(root); d.swagger {
		root = fromSwagger(root)
	}
	if d.root = root; bytes.Contains(src, []byte(restriction)) {
		r.restrict(d, true)
	}
}

// place is a value and the file it stands in; references are relative to it.
// id names it in a slice: file and pointer, for what a reference led to.
type place struct {
	doc *document
	v   *value
	id  string
}

func (p place) get(key string) place { return place{doc: p.doc, v: p.v.get(key)} }

func (p place) line() int32 {
	if p.v == nil {
		return 0
	}
	return p.v.line
}

// maxHops is how many references one reference may lead through.
const maxHops = 32

// maxRef is how long a reference may be, in bytes.
const maxRef = 4 << 10

// follow goes where a value's $ref leads, and on; a value without one stays.
// ok is false, and the fault is reported, where it leads nowhere.
//
// What is for other readers is nowhere, without a report: it has one already.
func (r *Reader) follow(p place) (place, bool) {
	for range maxHops {
		if _, out := r.audience(p.v); out {
			return place{}, false
		}
		ref := p.v.get("$ref")
		if ref == nil || ref.kind != stringValue {
			return p, true
		}
		next, problem := r.resolve(p.doc, ref.text)
		if problem == restrictedPart {
			return place{}, false
		}
		if problem != "" {
			r.report(mdx.Error, "api-ref", p.doc.file, ref.line, "the reference %q %s", refShown(ref.text), problem)
			return place{}, false
		}
		p = next
	}
	r.report(mdx.Error, "api-ref", p.doc.file, p.line(), "references lead in a circle")
	return place{}, false
}

// refShown is a reference as reports have it: not too long, and without a query,
// which may be a token of the host that has the file.
func refShown(ref string) string {
	file, pointer, marked := strings.Cut(ref[:min(len(ref), 500)], "#")
	if name, _, asked := strings.Cut(file, "?"); asked {
		file = name + "?…"
	}
	if marked {
		file += "#" + pointer
	}
	return file
}

// Remote reports whether the name of a specification is the address of another
// host.
func Remote(name string) bool {
	return strings.Contains(name, "://") || strings.HasPrefix(name, "//")
}

// resolve finds what a reference in a file points at. The problem, if any,
// says why it can't, as the end of a sentence; of restrictedPart, what it is
// comes with it.
func (r *Reader) resolve(from *document, ref string) (place, string) {
	if p, again := r.found[link{from, ref}]; again {
		return p, ""
	}
	hops := 0
	p, problem := r.lead(from, ref, &hops)
	if problem == "" {
		r.found[link{from, ref}] = p
	}
	return p, problem
}

// lead is resolve on the way of a reference. All references on that way count
// together: each may lead through many, which lead through many more.
func (r *Reader) lead(from *document, ref string, hops *int) (place, string) {
	if *hops++; *hops > maxHops {
		return place{}, "leads in a circle"
	}
	if len(ref) > maxRef {
		return place{}, "is too long"
	}
	file, fragment, _ := strings.Cut(ref, "#")
	doc := from
	if file != "" {
		if address, remote := remoteFile(from.file, file); remote {
			if problem := r.Fetch(address); problem == notAsked {
				return place{}, "leads to another host, which is not asked"
			} else if problem != "" {
				return place{}, "leads to " + address + ", which " + problem
			}
			doc = r.docs[address]
		} else {
			name, err := url.PathUnescape(file)
			if err != nil {
				return place{}, "is not a path"
			}
			if strings.HasPrefix(name, "/") {
				name = strings.TrimLeft(name, "/")
			} else {
				name = path.Join(path.Dir(from.file), name)
			}
			if !fs.ValidPath(name) {
				return place{}, "leads out of the site"
			}
			doc = r.open(name)
		}
	}
	if doc.root == nil && doc.restricted {
		return place{}, restrictedPart
	}
	if doc.root == nil {
		return place{}, "leads to a file that can't be read"
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		pointer = fragment
	}
	p := place{doc: doc, v: doc.root, id: doc.file + "#" + pointer}
	if pointer == "" {
		return p, ""
	}
	if pointer[0] != '/' {
		if p.v = doc.anchor(pointer); p.v == nil {
			if doc.barsAnchor(pointer) {
				return place{}, restrictedPart
			}
			return place{}, "names an anchor that does not exist"
		}
		return p, ""
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if ref := p.v.get("$ref"); ref != nil && ref.kind == stringValue { // a pointer may lead through references
			through, problem := r.lead(p.doc, ref.text, hops)
			if problem != "" {
				return place{}, problem
			}
			p.doc, p.v = through.doc, through.v
		}
		if b, out := p.doc.barredMember(p.v, step); out {
			return place{doc: p.doc, v: b.val}, restrictedPart
		}
		if p.v = p.v.at(step); p.v == nil {
			return place{}, "leads nowhere"
		}
	}
	return p, ""
}

// at returns a member of an object or an item of a list, nil for none.
func (v *value) at(step string) *value {
	if v.kind == objectValue {
		return v.get(step)
	}
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.list()) {
		return v.items[i]
	}
	return nil
}

func (d *document) anchor(name string) *value {
	if d.anchors == nil {
		d.anchors = map[string]*value{}
		collectAnchors(d.root, d.anchors, map[*value]bool{})
	}
	return d.anchors[name]
}

// barsAnchor reports whether what is left out has an anchor.
func (d *document) barsAnchor(name string) bool {
	if d.barredAnchors == nil {
		d.barredAnchors = map[string]*value{}
		seen := map[*value]bool{}
		for _, list := range d.barred {
			for _, b := range list {
				collectAnchors(b.val, d.barredAnchors, seen)
			}
		}
	}
	return d.barredAnchors[name] != nil
}

// collectAnchors puts the schemas below v that have an $anchor into anchors, the
// first of each name.
func collectAnchors(v *value, anchors map[string]*value, seen map[*value]bool) {
	if v == nil || v.kind < listValue || seen[v] {
		return
	}
	seen[v] = true
	if a := v.get("$anchor").str(); a != "" && anchors[a] == nil {
		anchors[a] = v
	}
	for _, i := range v.items {
		collectAnchors(i, anchors, seen)
	}
	for _, m := range v.members {
		collectAnchors(m.val, anchors, seen)
	}
}

// nameOf is what a reference calls what it points at: the last part of its
// pointer, or its file's name.
func nameOf(id string) string {
	file, pointer, _ := strings.Cut(id, "#")
	name := cmp.Or(pointer[strings.LastIndexByte(pointer, '/')+1:], strings.TrimSuffix(path.Base(file), path.Ext(file)))
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}
