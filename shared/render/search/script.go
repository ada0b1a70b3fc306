package search

import (
	"crypto/sha256"
	_ "embed" // for the files below
	"encoding/hex"
	"fmt"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"

	"github.com/bindery-docs/bindery/shared/render/words"
)

//go:embed assets/core.js
var coreJS string

//go:embed assets/box.js
var boxJS string

//go:embed assets/opener.js
var openerJS string

//go:embed assets/box.css
var boxCSS string

// CSS are the styles of the field and of the dialog. They use the theme's custom
// properties and define none of them.
func CSS() string { return boxCSS }

// Opener is the script that every page has: it waits for the reader to turn to
// the element "bindery-search" of the page, and fetches the dialog's script, to
// which the element's attribute data-bindery-script leads. It does nothing where there
// is no such element.
func Opener() string { return openerJS }

// Script is the dialog's script, a classic one, with the path that it has in a
// bundle; the path carries the content's hash. The element's attribute
// data-bindery-index leads to the root of the page's index. It knows its words in the
// languages given (BCP 47, as documents name theirs) and in English.
func Script(languages []string) (path string, data []byte, err error) {
	m := minify.New()
	m.AddFunc("text/javascript", js.Minify)
	list := words.Script(languages, words.Results, words.Nothing, words.Found, words.Unavailable, words.Close, words.Select, words.Open)
	data, err = m.Bytes("text/javascript", []byte("(function () {\n\"use strict\";\nvar WORDS = "+list+";\n"+coreJS+"\n"+boxJS+"\n})();\n"))
	if err != nil {
		return "", nil, fmt.Errorf("search: minify the dialog's script: %w", err)
	}
	sum := sha256.Sum256(data)
	return Folder + "box." + hex.EncodeToString(sum[:6]) + ".js", data, nil
}

// Core is the part of Script that asks an index and knows nothing of pages: the
// function Index(root, load) among others. Tests run it without a browser.
func Core() string { return coreJS }
