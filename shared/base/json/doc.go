// Package json reads JSON exactly: a value knows where it stands, objects keep
// the order of their members, and a name is only the name that is written.
//
//	value.go      Value: a tree with places, paths and pointers; Fields
//	parse.go      Parse: text → Value, strict or as lenient as encoding/json
//	unmarshal.go  Unmarshal: text → Go value, without the folding of names
//	values.go     Values: many small values, one after another, into Go values
//
// encoding/json is too kind for what strangers write: it takes "Domain" for
// "domain", the last of two members of one name, and replaces bytes that are
// not UTF-8 silently. What is strict here follows RFC 8259 as I-JSON narrows it
// (RFC 7493): one member for each name, no lone surrogates.
package json
