// Package component holds the components that an MDX page may use without
// importing them: Card, Steps, Tabs and the others. It is a map from names to
// three renderings each (HTML, Markdown, plain text) and knows nothing of
// sites or files: what a rendering needs from outside (links, icons,
// highlighted code, ids) it asks of Services, which package page implements.
//
//   - component.go: Component, Registry, Element and its attributes
//   - writer.go: Writer, the HTML a component appends to, and escaping
//   - markdown.go: Markdown, a writer of Markdown blocks with nested prefixes
//   - text.go: Text, a collector of the words of a page by heading
//   - card.go, callout.go, steps.go, tabs.go, code.go, disclosure.go, field.go,
//     media.go, inline.go, tree.go, update.go, audience.go: the components
//   - component.css, component.js: how they look, and what a browser with
//     JavaScript adds; every component can be read without it
//
// Rules that all of them keep: semantic HTML, no inline event handlers, inline
// styles only from authors or as custom properties, ids only from Services.
package component
