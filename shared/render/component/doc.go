// Package component holds the components that an MDX page may use without
// importing them: Card, Steps, Tabs and the others. It is a map from names to
// three renderings each (HTML, Markdown, plain text) and knows nothing of
// sites or files: what a rendering needs from outside (links, icons,
// highlighted code, ids, classes for colours) it asks of the page, whose three
// writers HTML, Blocks and Words are in package page.
//
//   - component.go: Component, Registry, Element and its attributes, whose texts
//     are inline Markdown
//   - writer.go: Writer, the HTML a component appends to
//   - markdown.go: Markdown, a writer of Markdown blocks with nested prefixes
//   - text.go: Text, a collector of the words of a page by heading
//   - icons.go: the drawings that components bring themselves
//   - component.css, component.js, assets.go: how they look, and what a browser
//     with JavaScript adds; every component can be read without it
//
// A file for each component or family:
//
//   - accordion.go: Accordion, AccordionGroup
//   - badge.go: Badge
//   - beside.go: RequestExample, ResponseExample, Panel
//   - callout.go: Note, Tip, Warning, Danger, Error, Info, Check, Callout
//   - card.go: Card, Tile
//   - code.go: CodeGroup, CodeBlock
//   - color.go: Color, Color.Row, Color.Item
//   - columns.go: Columns, CardGroup, Column
//   - expandable.go: Expandable
//   - field.go: ParamField, ResponseField
//   - frame.go: Frame
//   - icon.go: Icon
//   - prompt.go: Prompt
//   - repo.go: GitHub.Repo
//   - steps.go: Steps, Step
//   - tabs.go: Tabs, Tab
//   - tooltip.go: Tooltip
//   - tree.go: Tree, FileTree, Tree.Folder, Tree.File
//   - update.go: Update
//   - view.go: View
//   - visibility.go: Visibility
//
// Rules that all of them keep: semantic HTML, no inline event handlers, no
// inline styles (an author's colour becomes a class of the site's style
// sheet), ids only from the page.
package component
