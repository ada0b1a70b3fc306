package site

import "encoding/hex"

// Key has everything that the bytes and the headers of an answer depend on: the same key
// is the same answer. An ETag is a key as text, so that every storage gives the same
// tag to the same file under the same policy.
type Key struct {
	// Sum is the fingerprint of the plain file.
	Sum Fingerprint
	// Policy is the policy's digest; zero where it makes no difference.
	Policy PolicyDigest
	// Encoding is the form.
	Encoding Encoding
}

// keyOf returns the key of an answer. A browser that is told that its copy is still
// good may show it under the policy that the copy came with, so pages with another policy are
// other answers. Files with a digest in their names are loaded by pages, run by the
// policy of the page, and are never asked for again: they are the same under every policy,
// unless they can be shown alone.
func keyOf(f *Facts, p *Policy, e Encoding) Key {
	k := Key{Sum: f.Sum, Encoding: e}
	if !f.hashed || f.kind.shown {
		k.Policy = p.digest
	}
	return k
}

// etag is the strong tag of the answer.
func (k Key) etag() string {
	b := make([]byte, 0, 64)
	b = append(b, '"')
	b = hex.AppendEncode(b, k.Sum[:])
	if k.Policy != (PolicyDigest{}) {
		b = append(b, '-')
		b = hex.AppendEncode(b, k.Policy[:])
	}
	b = append(b, k.Encoding.tagSuffix()...)
	return string(append(b, '"'))
}
