package page

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// What a page is made from, all of it, is here: Key covers what is known before
// the page is read, and Inputs have what the resolver and the writers ask for as
// they go. They ask through this file alone; TestInputsAreAsked holds that.

// Inputs are what a page was made from beside what Renderer.Key covers.
type Inputs struct {
	// Addresses are those that were resolved from the page, Files those that
	// were read or looked for beside its source; both sorted.
	Addresses, Files []string
	// Sum is the digest of what was found there.
	Sum string
	// Unsure is set where that is not all: JavaScript ran, whose work may end at a
	// limit of time or memory.
	Unsure bool
}

// asked collects Inputs.
type asked struct {
	targets map[string]site.Target
	files   map[string]struct{}
}

// target returns what an address on the page points at.
func (t *tree) target(address string) site.Target {
	to := t.r.Site.Resolve(t.page, address)
	if t.r.Digest != nil {
		put(&t.asked.targets, address, to)
	}
	return to
}

// included returns a file that the page includes, or whose names it imports.
func (t *tree) included(file string) *snippet {
	_, again := t.asked.files[file]
	put(&t.asked.files, file, struct{}{})
	sn := t.r.snippet(file)
	if !again {
		t.ignores = append(t.ignores, sn.ignores...)
	}
	return sn
}

// inputsOf returns what a rendered page was made from; the zero Inputs, which are
// never still the same, where nobody asks for them.
func (t *tree) inputsOf() Inputs {
	if t.r.Digest == nil {
		return Inputs{Unsure: true}
	}
	in := Inputs{
		Addresses: slices.Sorted(maps.Keys(t.asked.targets)), Files: slices.Sorted(maps.Keys(t.asked.files)),
		Unsure: t.ran,
	}
	in.Sum = t.r.sum(&in, func(address string) site.Target { return t.asked.targets[address] })
	return in
}

// sum is the digest of what is found at the addresses and in the files of Inputs.
func (r *Renderer) sum(in *Inputs, target func(address string) site.Target) string {
	d := digest{sha256.New()}
	for _, address := range in.Addresses {
		to := target(address)
		d.text(address)
		d.number(int(to.Kind))
		d.text(to.Path)
		d.text(to.Fragment)
		d.text(to.Href)
		if to.Page >= 0 {
			d.text(r.Site.Pages[to.Page].Output)
		}
		switch to.Kind {
		case site.Restricted:
			d.text(r.Site.WhyRestricted(to))
		case site.Missing:
			d.text(r.Site.WhyMissing(to))
		case site.ToFile:
			d.text(r.Site.SourceOf(to.Path))
		}
	}
	for _, file := range in.Files {
		d.text(file)
		d.text(r.Digest(file))
	}
	return string(d.Sum(nil))
}

// Still reports whether a result that was made under the page's Key, in this
// process or another one, is what Render would return. It numbers the pages in
// the result's Links as this site does.
func (r *Renderer) Still(page int, res *Result) bool {
	in := &res.Inputs
	if in.Unsure {
		return false
	}
	pages := make(map[string]int, len(in.Addresses))
	sum := r.sum(in, func(address string) site.Target {
		to := r.Site.Resolve(page, address)
		pages[address] = to.Page
		return to
	})
	if sum != in.Sum {
		return false
	}
	for i := range res.Links {
		ref := &res.Links[i]
		if ref.Page < 0 {
			continue
		}
		at, ok := pages[ref.Raw]
		if !ok {
			return false
		}
		ref.Page = at
	}
	return true
}

// Key is a digest of what a page is made from, as far as that is known before it
// is rendered: its source and front matter, the settings of docs.json that pages
// show, its language, the part of a specification that it shows, and the nodes
// after its text. ok is false for a page that has no source. The digest of the
// program is not in it.
func (r *Renderer) Key(page int, slice *reference.Slice) (key [sha256.Size]byte, ok bool, err error) {
	p := &r.Site.Pages[page]
	d := digest{sha256.New()}
	settings, err := r.settings()
	if err != nil {
		return key, false, err
	}
	d.Write(settings[:])
	if p.From == "" {
		source := r.Digest(p.Source)
		if source == "" {
			return key, false, nil
		}
		d.text(source)
	}
	d.text(r.langOf(page))
	var after any
	if r.After != nil {
		after = r.After(page)
	}
	var shown []byte
	if slice != nil {
		if shown, err = slice.Encode(); err != nil {
			return key, false, fmt.Errorf("page: the key of %s: %w", p.Source, err)
		}
	}
	d.text(string(shown))
	for _, v := range [...]any{p, after} {
		data, err := json.Marshal(v)
		if err != nil {
			return key, false, fmt.Errorf("page: the key of %s: %w", p.Source, err)
		}
		d.text(string(data))
	}
	d.Sum(key[:0])
	return key, true, nil
}

// settingsOf is the digest of what of docs.json and of Options is on pages.
func (r *Renderer) settingsOf() (key [sha256.Size]byte, err error) {
	c := &r.Site.Config
	data, err := json.Marshal([]any{
		r.AirGapped, r.Playground, r.Diagrams != nil, r.Islands != nil, r.Icons != nil, r.Highlighter != nil,
		c.Styling, c.Icons, c.API, c.Variables, c.Fonts,
	})
	if err != nil {
		return key, fmt.Errorf("page: the settings: %w", err)
	}
	return sha256.Sum256(data), nil
}

// digest is a digest of values one after another.
type digest struct{ hash.Hash }

func (d digest) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digest) text(s string) {
	d.number(len(s))
	d.Write([]byte(s))
}
