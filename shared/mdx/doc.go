// Package mdx reads MDX: CommonMark with GitHub's extensions, JSX, expressions
// and import/export statements, YAML front matter and $$ math, into a tree
// whose every node knows its line and column.
package mdx
