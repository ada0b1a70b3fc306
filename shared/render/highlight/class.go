package highlight

// Class is what a stretch of code is, as far as a theme colours it.
type Class uint8

// The classes. Plain is identifiers, punctuation, white space and everything
// that has no other class.
const (
	Plain Class = iota
	Comment
	String
	Number
	Keyword
	Constant // true, null, self, escapes in strings
	Operator
	Function // declared, called, built in
	Type
	Tag       // of a markup language
	Attribute // of a tag; keys of JSON, YAML and the like; properties of CSS
	Inserted  // a line that a diff adds
	Deleted   // a line that a diff removes
	Heading
	Emphasis
	Strong
	classCount
)

// classInfo is how HTML and CSS show a class.
type classInfo struct {
	name  string // the value of the class attribute in HTML
	style string // the part of the CSS variable after --hl-
	light string // text colour on light backgrounds; "" inherits
	dark  string // on dark ones
	extra string // further declarations
}

// classes is the one table of what classes look like. Every colour has a
// contrast of at least 4.5:1, the bound of WCAG 2.2 criterion 1.4.3, on the
// code backgrounds that css_test.go lists.
var classes = [classCount]classInfo{
	Plain:     {},
	Comment:   {name: "c", style: "comment", light: "#57606a", dark: "#949da7", extra: "font-style:italic"},
	String:    {name: "s", style: "string", light: "#0a3069", dark: "#a5d6ff"},
	Number:    {name: "n", style: "number", light: "#0550ae", dark: "#79c0ff"},
	Keyword:   {name: "k", style: "keyword", light: "#b3242f", dark: "#ff7b72"},
	Constant:  {name: "o", style: "constant", light: "#0550ae", dark: "#79c0ff"},
	Operator:  {name: "p", style: "operator", light: "#9a3412", dark: "#ffb38a"},
	Function:  {name: "f", style: "function", light: "#7a3ec8", dark: "#d2a8ff"},
	Type:      {name: "t", style: "type", light: "#8a4600", dark: "#ffa657"},
	Tag:       {name: "g", style: "tag", light: "#116329", dark: "#7ee787"},
	Attribute: {name: "a", style: "attribute", light: "#0b5a80", dark: "#8bd0f0"},
	Inserted:  {name: "i", style: "inserted", light: "#116329", dark: "#7ee787"},
	Deleted:   {name: "d", style: "deleted", light: "#a40e26", dark: "#ffa198"},
	Heading:   {name: "h", style: "heading", light: "#0550ae", dark: "#79c0ff", extra: "font-weight:600"},
	Emphasis:  {name: "e", extra: "font-style:italic"},
	Strong:    {name: "b", extra: "font-weight:600"},
}
