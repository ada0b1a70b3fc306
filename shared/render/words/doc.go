// Package words holds every phrase that Bindery itself writes into a site, in
// every language that it knows: the theme's, the components', those of API
// pages, the search box's and the scripts'. A page whose frame speaks a language
// has components that speak it too.
//
//   - words.tsv: the table, a row a phrase, a column a language; no cell is empty
//   - phrases.go: the phrases by name
//   - words.go: Language, the way from a tag to its column, and the tables that
//     scripts carry
//
// A phrase holds no markup and may be written into HTML as it is. What it leaves
// open (%s, %d) is the same in all languages. A new phrase is a row and a
// constant; a new language is a column, and its name in package export.
package words
