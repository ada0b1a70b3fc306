package export

import (
	"bytes"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// keptHeads are the heads of a site's pages, by the digests of their files.
type keptHeads struct {
	steps *Steps
	kept  *kept.Store
	fs    *snapshot.FS
	known map[string][]byte
	now   map[string][]byte // of this export's pages
	fresh bool              // one of now is not known
}

// recallHeads gets the heads that are kept; nil where nothing is.
func (s *Steps) recallHeads(values *kept.Store, fsys *snapshot.FS) *keptHeads {
	if values == nil {
		return nil
	}
	h := &keptHeads{steps: s, kept: values, fs: fsys, now: make(map[string][]byte)}
	if data, ok := values.Get(s.keyOf("heads", nil)); ok && kept.Read(data, &h.known) != nil {
		h.known = nil
	}
	return h
}

// loader returns the heads as Load takes them.
func (h *keptHeads) loader() site.Heads {
	if h == nil {
		return nil
	}
	return h
}

// Head satisfies site.Heads.
func (h *keptHeads) Head(source string) ([]byte, bool) {
	entry, ok := h.fs.Entry(source)
	if !ok {
		return nil, false
	}
	yaml, ok := h.known[entry.SHA256]
	if ok {
		h.now[entry.SHA256] = yaml
	}
	return yaml, ok
}

// Keep satisfies site.Heads.
func (h *keptHeads) Keep(source string, yaml []byte) {
	if entry, ok := h.fs.Entry(source); ok {
		h.now[entry.SHA256], h.fresh = bytes.Clone(yaml), true
	}
}

// finish keeps the heads of this export.
func (h *keptHeads) finish() {
	if h != nil && (h.fresh || len(h.now) < len(h.known)) {
		h.kept.Put(h.steps.keyOf("heads", nil), kept.Append(nil, h.now))
	}
}
