package reference

import (
	"crypto/sha256"
	_ "embed" // for the two files below
	"encoding/hex"
)

//go:embed reference.css
var styles []byte

//go:embed reference.js
var script []byte

// File is a file that pages of this room load.
type File struct {
	// Path is the file's path in the bundle; it carries the content's hash.
	Path string
	Data []byte
}

// Styles is the style sheet of pages that have content of this room. It uses
// the theme's custom properties and defines none of them.
func Styles() File { return hashed("css", styles) }

// Script is the script of pages with a playground: a classic script that needs
// no other.
func Script() File { return hashed("js", script) }

func hashed(ext string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Path: "bindery/reference." + hex.EncodeToString(sum[:6]) + "." + ext, Data: data}
}
