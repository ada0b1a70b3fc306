// Package mdx reads MDX: CommonMark with GitHub's extensions, JSX, expressions
// and import/export statements, YAML front matter and $$ math, into a tree
// whose every node knows its line and column. The grammar is that of remark-mdx
// with remark-gfm, remark-math (no single dollars, unless a site asks) and remark-frontmatter.
//
// # What it offers
//
//   - Parse: a source as a File. What is not MDX stays as visible text and is
//     reported. With Options.Plain, the source is Markdown without MDX; with
//     Options.Markdown it is CommonMark unless it holds MDX (markdown.go).
//   - ParseInline and InlineText: a short text, such as a title, as inlines or as
//     words.
//   - SplitFrontMatter: the YAML block alone, without parsing the rest.
//   - Node, Walk, PlainText, Clone and Unravel: the tree and what is done to it.
//   - EvalLiteral: the value of an attribute that needs no evaluation.
//   - Node.URLPlace and Attr.ValuePlace: where in the source an address stands, for
//     those who change it there (places.go).
//
// # How it works
//
// A parse has three phases. Blocks (block.go, listitem.go, leaf.go, table.go)
// are read line by line into containers and leaves; link definitions and
// footnotes are known when it ends. Inlines (inline.go, codespan.go, link.go,
// emphasis.go, autolink.go) are read from the text of each leaf. Last, tags
// that stand among the same siblings are matched and what stands between them
// becomes their content (matchTags in jsx.go).
//
// Tags (jsx.go) and the JavaScript in them are read through a reader
// (reader.go), which takes further lines as it needs them and leaves out the
// marks of the containers around them. Where an expression or a statement ends
// is found by the scanner of package expr, which does not parse JavaScript: it
// refuses what reads like prose, and lets some wrong JavaScript through. html.go
// reads the tags and comments of plain sources and of CommonMark.
//
// # What it promises
//
// Work grows with the length of the source, whatever is in it: every loop that
// looks at bytes counts its steps, and a test compares the steps of a source
// with those of one twice as long for each of a list of constructs. Nesting is
// bounded. No input makes it panic.
//
// # Where it differs from the reference parser
//
//   - JavaScript that the scanner cannot tell from correct code is accepted, such as
//     types of TypeScript or an element closed by the name of another.
//   - A document that begins with --- and has no second such line is read from
//     there as any other, lists and quotes included.
//   - Plain Markdown has no indented code either, and of HTML only what
//     Options.Tags lets through.
//   - What it refuses is read as far as it can be, and reported: an element that has
//     no content in HTML ends at its tag, a word in angle brackets is text, comments
//     of HTML are left out, and a broken import or export is text up to its blank line.
//   - A task's box counts only at the start of its own item.
package mdx
