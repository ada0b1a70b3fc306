package reference

import (
	"cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// What a specification can make us do. References and aliases let a few bytes
// stand for many parts, each of which may stand for many again, so that no bound
// on depth or breadth alone is one on work: each part that is looked at, however
// it is reached, is counted here, once for its operation and once for its
// specification.
const (
	// maxParts is how many parts a slice has: schemas, the nameless among
	// them, parameters, answers, names in lists.
	maxParts = 6000
	// maxSpecParts is how many parts all slices of a specification have
	// together, besides partsPerByte for each byte of what was read.
	maxSpecParts = 1_000_000
	partsPerByte = 2
	// maxSpecBytes is how many bytes of values and texts all slices of a specification
	// have together, besides bytesPerByte for each byte of what was read. No slice has
	// fewer than fewestBytes.
	maxSpecBytes = 8 << 20
	bytesPerByte = 16
	fewestBytes  = 4 << 10
	// maxSteps is how many nodes a page has of its slice, together with the
	// schemas that were looked at for them; the largest page of a real
	// specification has some ten thousand.
	maxSteps = 200_000
	// maxSpecSteps is how many all pages of a specification have together,
	// besides stepsPerByte for each byte of what was read: they are divided
	// among its operations, none of which gets fewer than fewestSteps.
	maxSpecSteps = 400_000
	stepsPerByte = 16
	fewestSteps  = 800
	// bytesPerStep is how many bytes of descriptions count as one node more.
	bytesPerStep = 8
	// maxMade is how many values and properties are looked at to make up the
	// examples of one page.
	maxMade = 500_000
	// maxMerged is how many members YAML's merge keys bring to one object, and
	// maxFileMerged to all objects of a file, those included that were there.
	maxMerged     = 10_000
	maxFileMerged = 2_000_000
)

// room reports whether another part fits; the first that does not is reported.
func (c *slicer) room(p place) bool {
	c.count++
	if *c.spent++; !c.full() {
		return true
	}
	if c.slice.Cut {
		return false
	}
	c.slice.Cut = true
	if *c.spent > c.r.specParts() || c.bytes >= c.limit && c.limit < maxSliceBytes {
		c.reportWhole()
	} else {
		c.r.report(mdx.Warning, "api-cut", p.doc.file, p.line(), "%s has more than %d parts: deeper ones are left out", c.slice.Key, maxParts)
	}
	return false
}

// reportWhole reports that the slices of the specification have no more room together.
func (c *slicer) reportWhole() {
	c.r.report(mdx.Warning, "api-cut", c.slice.File, 0, "the pages of the specification have very many parts or long texts together, for its size: the rest is left out")
}

// full reports whether nothing more fits: what is left of a list is not looked at.
func (c *slicer) full() bool {
	return c.count > maxParts || c.bytes >= c.limit || *c.spent > c.r.specParts()
}

// each calls fn for each member of the object p, where its reference leads, as
// far as there is room. Extensions are left out.
func (c *slicer) each(p place, fn func(key string, at place)) {
	for _, m := range p.v.fields() {
		at := place{doc: p.doc, v: m.val}
		if !c.room(at) {
			return
		}
		if at, ok := c.r.follow(at); ok {
			c.words(m.key)
			fn(m.key, at)
		}
	}
}

// words takes a text into the slice, as far as there is room: aliases make many
// of one.
func (c *slicer) words(s string) string {
	if c.bytes += len(s); c.bytes > c.limit {
		if c.limit < maxSliceBytes {
			c.reportWhole()
		}
		return ""
	}
	return s
}

// first takes the text of the first of these members that has one.
func (c *slicer) first(v *value, keys ...string) string { return c.words(v.first(keys...)) }

// texts takes the first texts of a list, at most limit.
func (c *slicer) texts(v *value, limit int) []string {
	if v != nil && v.kind == stringValue {
		return []string{c.words(v.text)}
	}
	var out []string
	for _, x := range v.list() {
		if len(out) == limit || c.bytes >= c.limit {
			break
		}
		if c.bytes++; x.str() != "" {
			out = append(out, c.words(x.str()))
		}
	}
	return out
}

// specParts is how many parts the slices of one specification may have.
func (r *Reader) specParts() int { return maxSpecParts + partsPerByte*int(r.bytes) }

// sliceBytes is how many bytes the next slice of a specification may have.
func (r *Reader) sliceBytes(s *Spec) int {
	return max(fewestBytes, min(maxSliceBytes, maxSpecBytes+bytesPerByte*int(r.bytes)-s.bytes))
}

// share is how many steps each page has where they are shared by n operations.
func (r *Reader) share(operations int) int {
	return max(fewestSteps, min(maxSteps, (maxSpecSteps+stepsPerByte*int(r.bytes))/max(operations, 1)))
}

// spend counts steps of the page. It reports whether they fit.
func (b *builder) spend(n int) bool {
	b.steps += n
	b.cut = b.cut || b.full()
	return !b.full()
}

// full reports whether the page has no steps left.
func (b *builder) full() bool { return b.steps > cmp.Or(b.slice.Steps, maxSteps) }

// more marks a place where not everything is shown.
func (b *builder) more() *mdx.Node {
	b.cut = true
	return b.paragraph(b.text("…"))
}
