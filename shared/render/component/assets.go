package component

import _ "embed" // for the two files below

//go:embed component.css
var styles string

//go:embed component.js
var script string

// CSS returns the styles of all components. They use the theme's custom
// properties (colours, radii, spaces, fonts) and define none of them.
func CSS() string { return styles }

// JS returns the script of all components: a classic script that runs once
// the document is there, needs no other, and leaves a page as it is where
// something is missing.
func JS() string { return script }
