package page

import (
	"crypto/sha256"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Options are what a Renderer works with. Site and FS are required.
type Options struct {
	Site *site.Site
	// FS holds the site's sources. Reads that fail are errors of Render,
	// missing snippets are diagnostics.
	FS fs.FS
	// Highlighter colours code; nil leaves it plain.
	Highlighter *highlight.Highlighter
	// Icons draws icons; nil draws none.
	Icons component.Icons
	// Registry holds the components; nil means component.Builtin().
	Registry *component.Registry
	// After returns the nodes at the end of the page with this index in
	// Site.Pages, after its footnotes, for HTML and the Markdown copy; they count
	// neither as the page's text nor as its links. Nil: no page has any.
	After func(page int) []*mdx.Node
	// AirGapped is set where readers have no network: what a page would embed
	// from elsewhere is replaced by a notice with a link.
	AirGapped bool
	// Playground lets readers of API pages send requests.
	Playground bool
	// Diagrams draws diagrams; nil shows their source.
	Diagrams Diagrams
	// Formulas draws formulas; nil shows their TeX.
	Formulas Formulas
	// Islands shows what needs JavaScript; nil leaves it out.
	Islands Islands
	// Outside makes Result.Outside.
	Outside bool
	// Digest returns the digest of a file as FS has it, empty if FS has no file of
	// this name. With nil, results have no Inputs, and Key and Still must not be
	// called.
	Digest func(file string) string
	// Log gets what is not an author's business; nil discards it.
	Log *slog.Logger
}

// Renderer renders the pages of one site. It is safe for concurrent use.
type Renderer struct {
	Options
	kinds *kinds
	// fallback is the section beside pages that no folder of the navigation
	// holds, lang the language of pages in none.
	fallback *site.Node
	lang     string
	settings func() ([sha256.Size]byte, error) // their digest
	// attrs are the names of attributes that components understand, of those that
	// authors write.
	attrs map[*component.Component]map[string]struct{}
	// snippets are those that were read, by path.
	snippets sync.Map
	sizes    sizeCache
	slow     slowIslands
}

// Result is one rendered page. Its slices are the caller's.
type Result struct {
	// Lead is the description as inline HTML, with its links resolved.
	Lead []byte
	// HTML is the body of the article, without the title.
	HTML []byte
	// Beside is set where HTML has a column beside the text: panels, examples.
	Beside bool
	// Markdown is the page's Markdown copy, title included.
	Markdown []byte
	// Text is the text by heading.
	Text []component.Section
	// Contents lists the headings of level 2 and 3, and the components that
	// count as such.
	Contents []Heading
	// Updates are the entries of changelogs, in document order.
	Updates []Update
	// IDs are all ids in HTML in document order, aliases included; each is
	// there once.
	IDs []string
	// Links are the links and files that HTML refers to and that belong to
	// the site; links to other sites are left out.
	Links []Ref
	// Outside are the links to other sites, if Options.Outside is set: Path is the
	// address that each leads to.
	Outside []Ref
	// Classes are the class names that the page's author wrote, sorted.
	Classes []string
	// MaybeClasses are words of the page's components that may become class
	// names when a reader does something, sorted. Most are not class names.
	MaybeClasses []string
	// Styles are the rules that stand for authors' style attributes: the CSS
	// declarations of a class by its name. A class means the same on every page;
	// addresses are relative to a file in the bundle's folder "bindery".
	Styles map[string]string
	// Mermaid is set where the page has diagrams that only Mermaid's own runtime
	// draws (script.Runtime).
	Mermaid bool
	// Zoom is set where the page has drawings that may be larger than their
	// place: it needs diagram.Script.
	Zoom bool
	// Math is set where the page has formulas: it needs theme.Math.
	Math bool
	// Reference is set where the page shows a part of a specification: it needs
	// the styles of package reference.
	Reference bool
	// Playground is set where readers can send requests from it: it needs that
	// package's script too.
	Playground bool
	// Script brings the page's components to life, after script.Islands. It is
	// nil where none of them lives.
	Script []byte
	// ScriptPath is the file of the bundle that Script belongs into.
	ScriptPath string
	// Sources are what a content security policy must allow besides 'self'
	// for what the page loads from elsewhere and for its <style> elements, by
	// directive.
	Sources map[string][]string
	// Unrun is set where parts of the page need JavaScript and Options has no
	// Islands: neither all of its ids are known nor all that is wrong with it.
	Unrun bool
	// Diagnostics are what the author should know, in document order. They include
	// those that Ignores silence.
	Diagnostics []mdx.Diagnostic
	// Ignores are the comments that silence findings, of the page and of what it
	// includes.
	Ignores []Ignore
	// Inputs are what the page was made from, for Renderer.Still.
	Inputs Inputs
}

// Heading is an entry of the page's contents.
type Heading struct {
	// Level is 2 or 3.
	Level int    `json:"level"`
	ID    string `json:"id"`
	Text  string `json:"text"`
}

// Ref is a link, or a file that the page loads, within the site.
type Ref struct {
	// Raw is the address as it was written.
	Raw string `json:"raw"`
	// Page is the page linked to, an index into Site.Pages, or -1.
	Page int `json:"page"`
	// Path is the file of the bundle that is meant; for a missing one, what
	// was looked for.
	Path string `json:"path"`
	// Fragment is the id on that page, decoded; "" for none.
	Fragment string `json:"fragment,omitempty"`
	// Missing is set where there is no such page or file. A diagnostic says so
	// already.
	Missing bool `json:"missing,omitempty"`
	// Asset is set for a picture or other file that the page loads from a link.
	Asset bool `json:"asset,omitempty"`
	// File, Line and Column are where the address was written; File is the
	// page's source or a snippet.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}
