package page

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// maxSources bounds the sources of one directive on a page. It is more than a
// policy names, so that one page of so many has the policy allow them all.
const maxSources = 200

// maxPicks bounds the sources of one server with variables that readers pick.
const maxPicks = 32

// allow notes that a content security policy must allow a source besides
// 'self' for the page to look as its author meant (Content Security Policy
// Level 3, section 6).
func (w *htmlWriter) allow(directive, source string) {
	if source == "" || len(w.result.Sources[directive]) >= maxSources || slices.Contains(w.result.Sources[directive], source) {
		return
	}
	put(&w.result.Sources, directive, append(w.result.Sources[directive], source))
}

// allowLoading notes what loading address for an element asks of the policy.
func (w *htmlWriter) allowLoading(n *mdx.Node, address string) {
	w.allow(directiveOf(n), origin(address))
}

// directiveOf is the directive that governs what an element loads.
func directiveOf(n *mdx.Node) string {
	if n.Kind != mdx.Element {
		return "img-src"
	}
	switch strings.ToLower(n.Name) {
	case "iframe":
		return "frame-src"
	case "video":
		return "media-src"
	case "audio", "track":
		return "media-src"
	case "source":
		if _, set := n.Attr("srcSet"); set {
			return "img-src"
		}
		if _, set := n.Attr("srcset"); set {
			return "img-src"
		}
		return "media-src"
	case "embed", "object":
		return "object-src"
	case "script":
		return "script-src"
	}
	return "img-src"
}

// allowStyle notes that the text of a <style> must be allowed, by its hash.
func (w *htmlWriter) allowStyle(text string) {
	sum := sha256.Sum256([]byte(text))
	w.allow("style-src", "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
}
