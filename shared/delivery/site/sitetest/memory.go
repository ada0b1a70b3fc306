package sitetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// Memory is a version of a site in memory. It has its files as an archive would: exact
// redirects are found with the files of an address, pages that only lead to the page
// beside their folder are left out, small files are compressed when they are asked for,
// and large ones have parts that are compared each for itself.
type Memory struct {
	files     map[string]*memoryFile
	exact     map[string][]bundle.Redirect
	addresses address.Site[*memoryFile]
	policy    *site.Policy

	mu       sync.Mutex
	err      error
	reads    map[string]int
	gate     chan struct{}
	released bool
}

// memoryPart is the size of the parts of a file.
const memoryPart = 1 << 20

// memoryLarge is the size from which on the compressed form has its own length.
const memoryLarge = 100 << 10

// NewMemory returns a version with files, by name, and the redirects and the policy of a
// description.
func NewMemory(t testing.TB, files map[string]string, info *bundle.Info) *Memory {
	t.Helper()
	m := &Memory{files: map[string]*memoryFile{}, exact: map[string][]bundle.Redirect{}, policy: site.NewPolicy(info), reads: map[string]int{}}
	for name, text := range files {
		data := []byte(text)
		stub := strings.HasSuffix(name, ".html") && address.IsStub(data)
		if dir, index := strings.CutSuffix(name, "/index.html"); index && stub {
			if _, beside := files[dir+".html"]; beside {
				continue
			}
		}
		f := &memoryFile{of: m, facts: site.NewFacts(name, int64(len(data)), site.FingerprintOf(data)), stub: stub}
		f.forms[site.Identity] = newMemoryForm(data)
		if site.IsText(name) {
			f.forms[site.Gzip] = newMemoryForm(zip(data))
			f.facts.Lengths[site.Gzip] = site.Unknown
			if len(data) > memoryLarge {
				f.facts.Lengths[site.Gzip] = int64(len(f.forms[site.Gzip].data))
			}
		}
		m.files[name] = f
	}
	var patterns []bundle.Redirect
	for _, r := range info.Redirects {
		from := redirect.Parse(r.From)
		if _, wild := redirect.Compile(from.Path); wild || from.Optional {
			patterns = append(patterns, r)
			continue
		}
		m.exact[from.Path] = append(m.exact[from.Path], r)
	}
	redirects, err := address.NewRedirects(patterns)
	if err != nil {
		t.Fatal(err)
	}
	m.addresses = address.Site[*memoryFile]{
		Look: func(_ context.Context, name string) (address.Place[*memoryFile], error) {
			return address.Place[*memoryFile]{
				Plain: m.files[name], Page: m.files[name+".html"], Index: m.files[strings.TrimPrefix(name+"/index.html", "/")],
				Redirects: m.exact[name],
			}, m.failure()
		},
		Stub:      func(_ context.Context, f *memoryFile) (bool, error) { return f.stub, nil },
		Redirects: redirects,
	}
	return m
}

func zip(data []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // fails for unknown levels only
	_, _ = w.Write(data)                              // into memory
	_ = w.Close()
	return out.Bytes()
}

// Fail has everything that is read fail with an error from now on; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *Memory) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Hold has reads of files wait until the function that it returns is called.
func (m *Memory) Hold() (let func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gate := make(chan struct{})
	m.gate = gate
	return func() { close(gate) }
}

// Reads counts the reads of a file, in any form.
func (m *Memory) Reads(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads[name]
}

// read counts a read, and fails if the storage does.
func (m *Memory) read(name string) error {
	m.mu.Lock()
	m.reads[name]++
	gate := m.gate
	m.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return m.failure()
}

// Damage changes the byte at an offset of each form of a file, from its end if the
// offset is negative.
func (m *Memory) Damage(t testing.TB, name string, offset int64) {
	t.Helper()
	f := m.files[name]
	if f == nil {
		t.Fatalf("there is no %s", name)
	}
	for _, form := range f.forms {
		if form == nil {
			continue
		}
		at := offset
		if at < 0 {
			at += int64(len(form.data))
		}
		form.data[min(at, int64(len(form.data))-1)] ^= 1
	}
}

// Find is site.Version's.
func (m *Memory) Find(ctx context.Context, path, rawQuery string) (address.Found[site.File], error) {
	found, err := m.addresses.Find(ctx, path, rawQuery)
	out := address.Found[site.File]{To: found.To, Permanent: found.Permanent}
	if found.File != nil {
		out.File = found.File
	}
	return out, err
}

// NotFound is site.Version's.
func (m *Memory) NotFound(context.Context) (site.File, error) {
	if f := m.files["404.html"]; f != nil {
		return f, m.failure()
	}
	return nil, m.failure()
}

// Policy is site.Version's.
func (m *Memory) Policy() *site.Policy { return m.policy }

// Release is site.Version's.
func (m *Memory) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.released = true
}

// memoryFile is a file in memory.
type memoryFile struct {
	of    *Memory
	facts site.Facts
	forms [site.Encodings]*memoryForm
	stub  bool
}

// Facts is site.File's.
func (f *memoryFile) Facts() *site.Facts { return &f.facts }

// Read is site.File's.
func (f *memoryFile) Read(_ context.Context, e site.Encoding) ([]byte, error) {
	if err := f.of.read(f.facts.Name); err != nil {
		return nil, err
	}
	form := f.forms[e]
	for i := range form.sums {
		if site.FingerprintOf(form.part(i)) != form.sums[i] {
			return nil, fmt.Errorf("%s: %w", f.facts.Name, site.ErrDamaged)
		}
	}
	return bytes.Clone(form.data), nil
}

// Open is site.File's.
func (f *memoryFile) Open(_ context.Context, e site.Encoding) (site.Form, error) {
	if f.facts.Lengths[e] == site.Unknown {
		return nil, errors.New("a form of an unknown length is read as a whole")
	}
	return &openMemory{f, f.forms[e]}, f.of.failure()
}

// memoryForm is one form of a file, in parts with a fingerprint each.
type memoryForm struct {
	data []byte
	sums []site.Fingerprint
}

func newMemoryForm(data []byte) *memoryForm {
	f := &memoryForm{data: data}
	for i := 0; i*memoryPart < len(data); i++ {
		f.sums = append(f.sums, site.FingerprintOf(f.part(i)))
	}
	return f
}

func (f *memoryForm) part(i int) []byte {
	return f.data[i*memoryPart : min(len(f.data), (i+1)*memoryPart)]
}

// openMemory is a form that is open.
type openMemory struct {
	file *memoryFile
	form *memoryForm
}

func (o *openMemory) Size() int64 { return int64(len(o.form.data)) }

func (o *openMemory) Part(_ context.Context, offset int64) (part []byte, begin int64, err error) {
	if offset >= o.Size() {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if err := o.file.of.read(o.file.facts.Name); err != nil {
		return nil, 0, err
	}
	i := int(offset / memoryPart)
	if site.FingerprintOf(o.form.part(i)) != o.form.sums[i] {
		return nil, 0, fmt.Errorf("%s: %w", o.file.facts.Name, site.ErrDamaged)
	}
	return bytes.Clone(o.form.part(i)), int64(i) * memoryPart, nil
}

func (o *openMemory) Close() error { return nil }
