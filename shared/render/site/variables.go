package site

import (
	"bytes"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Limits of variables. The second one bounds what their values may add to one
// text, so that no page can unfold into something huge.
const (
	maxVariableName = 128
	maxExpansion    = 4 << 20
)

// Expand replaces {{name}} by the values of Config.Variables. What
// names no variable stays as it is, so that templates of other languages can
// be written. Values are not looked at again.
func (s *Site) Expand(src []byte) []byte { return expandVariables(src, s.Config.Variables) }

// Syntax returns how a source of the site is read, once its variables were put
// into it.
func (s *Site) Syntax(file string) mdx.Options {
	o := mdx.Options{File: file, Dollars: mdx.ClearDollars, Markdown: path.Ext(file) == ".md"}
	if latex := s.Config.Styling.Latex; latex != nil {
		o.Dollars = mdx.DoubleDollars
		if *latex {
			o.Dollars = mdx.SingleDollars
		}
	}
	return o
}

func expandVariables(src []byte, variables map[string]string) []byte {
	if len(variables) == 0 || !bytes.Contains(src, []byte("{{")) {
		return src
	}
	var out []byte
	from, added := 0, 0
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte("{{"))
		if i < 0 {
			break
		}
		start := at + i
		room := src[start+2 : min(len(src), start+2+maxVariableName+2)]
		end := bytes.Index(room, []byte("}}"))
		if end < 0 {
			at = start + 1
			continue
		}
		value, ok := variables[string(bytes.Trim(room[:end], " \t"))]
		if !ok || added+len(value) > maxExpansion {
			at = start + 1
			continue
		}
		out = append(append(out, src[from:start]...), value...)
		added += len(value)
		from = start + 2 + end + 2
		at = from
	}
	if out == nil {
		return src
	}
	return append(out, src[from:]...)
}

// expand is Expand for a text of the configuration or of a page's head.
func (r *configReader) expand(s string) string {
	if len(r.variables) == 0 || !strings.Contains(s, "{{") {
		return s
	}
	return string(expandVariables([]byte(s), r.variables))
}
