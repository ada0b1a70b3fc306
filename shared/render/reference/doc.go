// Package reference reads specifications of APIs, OpenAPI 3.0 and 3.1 and
// AsyncAPI 2 and 3, and makes of each operation the nodes of a page.
//
//	tree.go        JSON and YAML as values that know their line and keep their order
//	read.go        Reader: files, and references within and between them
//	remote.go      specifications on other hosts, where they may be read
//	restrict.go    what is for other readers than the export lets in, left out
//	hidden.go      the same in examples, samples and lists of names
//	spec.go        Spec, Operation and Key: what a specification has pages for
//	budget.go      what a specification can make us do
//	slice.go       Slice: all that one page shows, cut out of the specification
//	cut.go         parameters, bodies, answers and links of a slice
//	schema.go      schemas of a slice: names kept, circles closed
//	allof.go       the parts of allOf, joined
//	asyncapi.go    channels and messages
//	example.go     values of schemas, the author's or made up
//	xml.go         those values as XML
//	request.go     a call: address, headers, body
//	form.go        fields of a form, and the parts that are sent of them
//	sample.go      calls in curl, JavaScript, Python and Go
//	markdown.go    descriptions, CommonMark with HTML, as nodes
//	nodes.go       Content: a slice as nodes of a page
//	fields.go      parameters and properties as nested fields
//	answers.go     responses, callbacks, messages and examples
//	components.go  the components of those nodes that authors don't have
//	model.go       what the playground's script knows of a call
//	assets.go      the styles and the script
//
// A Reader belongs to the step that plans an export: it reads each file once,
// checks nothing that readers would not see, reports what leads nowhere, and
// asks no other host itself: it is given copies, if any (Remotes). Slices are
// small and complete in themselves, so that the steps that render never read a
// specification.
//
// The tree is this package's own, on a YAML parser and encoding/json: the
// libraries that model OpenAPI in Go types lose the order of properties, know
// one of the versions only, or resolve all of a large file to show a part.
//
// Everything is bounded: sizes of files, depth, parts of a slice and of all
// slices of a specification, steps and fields of a page, sizes of examples. What
// is cut ends with "…" and is reported. No file makes it panic.
package reference
