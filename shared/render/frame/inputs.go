package frame

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"reflect"

	"github.com/bindery-docs/bindery/shared/render/site"
)

// Digest returns a digest of all that a page's document, its feed, its part of
// llms-full.txt and its part of a search index show beside the page's Result, the
// date of its source and whether Full has room for it: the features, and the whole
// site but for the sizes of sources. The same digest means the same pages under the
// same numbers.
func (v *Views) Digest() (digest [sha256.Size]byte, err error) {
	sum := sha256.New()
	out := bufio.NewWriterSize(sum, 32<<10)
	enc := json.NewEncoder(out)
	if err := enc.Encode([]any{v.features, v.Full() != nil}); err != nil {
		return digest, err
	}
	whole := reflect.ValueOf(v.site).Elem()
	for i := range whole.NumField() {
		field := whole.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		value := whole.Field(i).Interface()
		if pages, ok := value.([]site.Page); ok {
			for _, p := range pages {
				p.Size = 0
				if err := enc.Encode(&p); err != nil {
					return digest, err
				}
			}
			continue
		}
		if err := enc.Encode(value); err != nil {
			return digest, err
		}
	}
	if err := out.Flush(); err != nil {
		return digest, err
	}
	sum.Sum(digest[:0])
	return digest, nil
}
