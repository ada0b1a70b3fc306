// Package page turns one page of a site into what a bundle holds of it: the
// HTML of its body, its Markdown copy, its text by heading, its contents and
// the links on it. A page goes through two phases: the resolver decides all that
// its copies have in common and makes a tree, and three writers write from that
// tree, which they don't change. A file here calls those above it.
//
// What is known of pages and nodes:
//
//   - page.go: Options, Renderer and Result
//   - values.go: names, values and texts
//   - ignore.go: comments by which authors silence findings
//   - notes.go: what a phase has to say: diagnostics, and the error that ends it
//   - kinds.go: what is known of a kind of node: how it is resolved, and how it
//     is written in each copy. A new kind is one value in the table
//   - tree.go: the tree, and what components may ask of it
//
// The resolver puts snippets in place, fills in properties and constants, has
// shown what needs an engine, measures pictures and assigns ids:
//
//   - resolver.go: the resolver, and how it counts and copies nodes
//   - snippet.go: the files that others include, read once for a site
//   - scope.go, esm.go: what names and expressions stand for (package expr reads
//     and evaluates them)
//   - jsx.go: elements in JavaScript, components that authors declare
//   - island.go: what needs an engine, shown by package island
//   - expand.go: snippets, constants and attributes put in place
//   - ids.go: ids of headings and components, and their aliases
//   - foreign.go: what other tools understand, and is text here
//   - fit.go: pictures, videos and frames, made fit for browsers
//   - reference.go: what pages show of specifications of APIs
//   - resolve.go: these steps in order
//
// The writers. That of HTML also collects what is known of a page once its HTML
// is there, such as the links and ids in it: what components show of their
// content, they decide as they are written.
//
//   - html.go, markdown.go, text.go: the writers
//   - policy.go: what a content security policy must allow for the page
//   - links.go: links and files, and what the link report needs of them
//   - style.go: authors' styles as classes, for a policy that allows no others
//   - image.go: pictures and their sizes (internal/imagesize reads them)
//
// The kinds of nodes, each in all three copies; so are links and pictures above:
//
//   - block.go: plain blocks and phrases
//   - list.go, table.go, footnote.go
//   - math.go: formulas as MathML
//   - fence.go, notation.go: the words after a fence, and the comments in code
//     that mark lines
//   - diagram.go: Mermaid's diagrams as drawings, or left to its own runtime
//   - code.go: code blocks
//   - attribute.go, tag.go: HTML elements that authors write
//   - element.go: those and components, and the table of all kinds
//
// Whole pages:
//
//   - outline.go: the parts of a page in one line each, for agents
//   - updates.go: entries of changelogs, for feeds
//   - lead.go: the description, as it stands below the title, and the texts of
//     docs.json
//   - inputs.go: what a page is made from: Key, and what the phases ask for
//   - render.go: the three copies of a page, New and Render
//
// Nothing on a page is fatal: what can't be shown as its author meant it leaves
// a diagnostic and, where a reader would miss it, a notice on the page.
package page
