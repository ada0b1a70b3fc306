// Package page turns one page of a site into what a bundle holds of it: the
// HTML of its body, its Markdown copy, its text by heading, its contents and
// the links on it. All of them come from one resolved tree: the page's source,
// parsed, with snippets put in place, properties and constants filled in and
// ids given out.
//
//   - page.go: Renderer and Result, the way through the steps below
//   - state.go: one page on that way, and its diagnostics
//   - expand.go: snippets, constants and attributes put in place
//   - esm.go, scope.go, values.go: what names and expressions stand for
//     (package expr reads and evaluates them)
//   - jsx.go: elements in JavaScript, components that authors declare
//   - island.go: what needs an engine, shown by package island
//   - ids.go: ids of headings and components, and their aliases
//   - toplevel.go: the text, and what stands beside it
//   - kinds.go: what is known of a kind of node: how it is resolved and written.
//     A new kind is one value in its table
//   - phrase.go, block.go, list.go, table.go, footnote.go, element.go: the kinds
//     of nodes, each with its HTML, Markdown and text; so are links.go,
//     image.go, math.go and code.go below
//   - tag.go, attribute.go: HTML elements that authors write
//   - html.go: the tree as HTML
//   - style.go: authors' styles as classes, for a policy that allows no others
//   - policy.go: what a content security policy must allow for the page
//   - image.go: pictures and their sizes (internal/imagesize reads them)
//   - reference.go: what pages show of specifications of APIs
//   - embed.go: videos, frames and other pages within a page
//   - code.go, fence.go, notation.go: code blocks, the words after a fence, and
//     the comments in code that mark lines
//   - diagram.go: Mermaid's diagrams as drawings, or left to its own runtime
//   - math.go: formulas as MathML
//   - links.go: links and files, and what the link report needs of them
//   - updates.go: entries of changelogs, for feeds
//   - lead.go: the description, as it stands below the title, and the texts of
//     docs.json
//   - markdown.go, text.go: the tree as Markdown and as text
//   - services.go: what components ask of the page
//
// Nothing on a page is fatal: what can't be shown as its author meant it leaves
// a diagnostic and, where a reader would miss it, a notice on the page.
package page
