package component

import (
	_ "embed" // for the two files below

	"github.com/bindery-docs/bindery/shared/render/words"
)

//go:embed component.css
var styles string

//go:embed component.js
var script string

// CSS returns the styles of all components. They use the theme's custom
// properties (colours, radii, spaces, fonts) and define none of them.
func CSS() string { return styles }

// JS returns the script of all components: a classic script that runs once
// the document is there, needs no other, and leaves a page as it is where
// something is missing. It knows its words in the languages given (BCP 47, as
// documents name theirs) and in English.
func JS(languages []string) string {
	return script + "(" + words.Script(languages, words.CopyCode, words.Copied, words.ShowAll, words.ShowLess, words.Enlarge, words.Close,
		words.All, words.ExampleTab, words.View, words.Tags, words.Tab) + ");\n"
}
