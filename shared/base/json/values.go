package json

import (
	"bufio"
	"io"
	"iter"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Values returns the values that r holds one after another, as lists of ours do,
// a line each (JSON Lines). A member must have exactly the name of a field and may
// not stand twice; one that T has no field for is passed over. The first error,
// which may be r's own, ends them; a value that r cuts short is
// io.ErrUnexpectedEOF.
//
// A value is scanned once. encoding/json scans it three times, which was most of
// the time of reading lists of many small values.
func Values[T any](r io.Reader) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		dec := jsontext.NewDecoder(bufio.NewReaderSize(r, 64<<10))
		for {
			v := new(T)
			if err := jsonv2.UnmarshalDecode(dec, v); err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
