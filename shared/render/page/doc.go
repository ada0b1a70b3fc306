// Package page turns one page of a site into what a bundle holds of it: the
// HTML of its body, its Markdown copy, its text by heading, its contents and
// the links on it. It goes through these phases; each has a type of its own,
// and uses only what stands above it here.
//
// A page's inputs and outputs:
//
//   - page.go: Renderer, Options and Result
//   - render.go: Render, the way through the phases
//   - notes.go: what a phase has to say: diagnostics, and the error that ends it
//
// The resolver reads a page's source and decides all that its copies have in
// common: snippets are put in place, properties and constants filled in, ids
// given out, pictures measured. The result is the tree, which no one changes
// any more.
//
//   - tree.go: the tree, and what components may ask of it
//   - kinds.go: what is known of a kind of node: how it is resolved, and how it
//     is written in each copy. A new kind is one value in its table
//   - resolve.go: the resolver
//   - expand.go: snippets, constants and attributes put in place
//   - esm.go, scope.go, values.go: what names and expressions stand for
//     (package expr reads and evaluates them)
//   - jsx.go: elements in JavaScript, components that authors declare
//   - island.go: what needs an engine, shown by package island
//   - ids.go: ids of headings and components, and their aliases
//   - reference.go: what pages show of specifications of APIs
//
// Three writers write a tree. That of HTML also collects what is known of a page
// once its HTML is there, such as the links and ids in it: what components show
// of their content, they decide as they are written.
//
//   - html.go: the writer of HTML, and what it offers to components
//   - toplevel.go: the text, and what stands beside it
//   - lead.go: the description, as it stands below the title, and the texts of
//     docs.json
//   - style.go: authors' styles as classes, for a policy that allows no others
//   - policy.go: what a content security policy must allow for the page
//   - updates.go: entries of changelogs, for feeds
//   - markdown.go, text.go: the writers of Markdown and of text
//
// The kinds of nodes, each in all three copies:
//
//   - phrase.go, block.go, list.go, table.go, footnote.go
//   - links.go: links and files, and what the link report needs of them
//   - image.go: pictures and their sizes (internal/imagesize reads them)
//   - math.go: formulas as MathML
//   - code.go, fence.go, notation.go: code blocks, the words after a fence, and
//     the comments in code that mark lines
//   - diagram.go: Mermaid's diagrams as drawings, or left to its own runtime
//   - element.go: components and HTML elements that authors write
//   - tag.go, attribute.go, embed.go: those elements as HTML; videos, frames and
//     other pages within a page
//
// Nothing on a page is fatal: what can't be shown as its author meant it leaves
// a diagnostic and, where a reader would miss it, a notice on the page.
package page
