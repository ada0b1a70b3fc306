package script

import (
	"crypto/sha256"
	_ "embed" // for the script below
	"encoding/hex"
	"sync"
)

//go:embed start.js
var start []byte

// CSS returns the styles of what stands around components that live.
func CSS() string { return islandStyles }

// islandStyles: these elements mark places and have no box of their own.
// What is kept for later stands on the page where scripts don't run.
const islandStyles = "bindery-island,bindery-live,bindery-frame,bindery-hole,bindery-content{display:contents}\n" +
	"@media (scripting:enabled){bindery-content[data-kept]{display:none}}\n"

// File is a file for the bundle.
type File struct {
	// Path is the file's path in the bundle; it carries the content's hash.
	Path string
	Data []byte
}

// Runtime returns the scripts that pages with diagrams that only Mermaid draws
// load, in order: Mermaid itself, a megabyte compressed, and what starts it.
// Both are classic scripts, which run from a folder too. Mermaid writes styles
// into its drawings: a content security policy must allow inline styles.
func Runtime() ([]File, error) { return mermaid() }

var mermaid = sync.OnceValues(func() ([]File, error) {
	code, err := unpack("mermaid")
	if err != nil {
		return nil, err
	}
	licence, err := data.ReadFile("licences/mermaid.txt")
	if err != nil {
		return nil, err
	}
	head := append(append([]byte("/*! Mermaid\n"), licence...), "*/\n"...)
	return []File{named("mermaid", append(head, code...)), named("diagrams", start)}, nil
})

// Islands returns the script that pages with living components load before their
// own: Preact, and what links it to the components that the export drew
// (package island).
func Islands() (File, error) { return islands() }

var islands = sync.OnceValues(func() (File, error) {
	code, err := unpack("islands")
	if err != nil {
		return File{}, err
	}
	licence, err := data.ReadFile("licences/preact.txt")
	if err != nil {
		return File{}, err
	}
	head := append(append([]byte("/*! Preact\n"), licence...), "*/\n"...)
	return named("islands", append(head, code...)), nil
})

func named(stem string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{"bindery/" + stem + "." + hex.EncodeToString(sum[:6]) + ".js", data}
}
