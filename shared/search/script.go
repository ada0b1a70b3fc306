package search

import _ "embed" // for the files below

//go:embed assets/core.js
var coreJS string

//go:embed assets/box.js
var boxJS string

//go:embed assets/box.css
var boxCSS string

// CSS are the styles of the search box. They use the theme's custom properties
// and define none of them.
func CSS() string { return boxCSS }

// JS is the script of the search box, a classic one. It opens the dialog of the
// element "bindery-search" of the page, whose attribute data-index leads to the
// root of the page's index, and does nothing where there is no such element.
func JS() string {
	return "(function () {\n\"use strict\";\n" + coreJS + "\n" + boxJS + "\n})();\n"
}

// Core is the part of JS that asks an index and knows nothing of pages: the
// function Index(root, load) among others. Tests run it without a browser.
func Core() string { return coreJS }
