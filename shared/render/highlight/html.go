package highlight

import (
	"bytes"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// AppendHTML appends code as escaped HTML: each run of a class other than Plain
// is a span, <span class="k">…</span>, with the names of CSS. Neighbouring runs
// of one class are one span, also with blanks between them. A span never crosses
// the end of a line, so that lines can be wrapped in elements of their own.
// Quotes are escaped too. NUL becomes U+FFFD; broken UTF-8 is left as it is.
//
// The runs are those of Runs for this code. Runs out of order, or out of the
// code's bounds, are cut to what fits.
func AppendHTML(dst []byte, code string, runs []Run) []byte {
	w := spanWriter{dst: dst}
	at := 0
	for i, run := range runs {
		start, end := max(run.Start, at), min(run.End, len(code))
		if start >= end {
			continue
		}
		class := run.Class
		if class == Plain && i > 0 && i+1 < len(runs) && runs[i-1].Class == runs[i+1].Class && strings.Trim(code[start:end], " \t") == "" {
			class = runs[i-1].Class // blanks between words of one class
		}
		w.write(Plain, code[at:start])
		w.write(class, code[start:end])
		at = end
	}
	w.write(Plain, code[at:])
	w.set(Plain)
	return w.dst
}

// AppendLines appends one HTML fragment for each line of code, without its line
// end, in the form of AppendHTML. A line end at the end of code begins no
// further line; code without any character has no lines.
func (h *Highlighter) AppendLines(dst [][]byte, label, code string) [][]byte {
	if code == "" {
		return dst
	}
	left := AppendHTML(make([]byte, 0, len(code)*3), code, h.Runs(label, code))
	for len(left) > 0 {
		line, rest, _ := bytes.Cut(left, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		dst = append(dst, line[:len(line):len(line)])
		left = rest
	}
	return dst
}

// spanWriter writes text of classes, with a span open where one is needed.
type spanWriter struct {
	dst  []byte
	open Class
}

// set closes the open span and opens that of the class.
func (w *spanWriter) set(class Class) {
	if class >= classCount {
		class = Plain
	}
	if class == w.open {
		return
	}
	if w.open != Plain {
		w.dst = append(w.dst, "</span>"...)
	}
	if class != Plain {
		w.dst = append(w.dst, `<span class="`...)
		w.dst = append(w.dst, classes[class].name...)
		w.dst = append(w.dst, `">`...)
	}
	w.open = class
}

// write appends escaped text of a class. Line ends are outside of all spans.
func (w *spanWriter) write(class Class, text string) {
	for text != "" {
		line, rest, found := text, "", false
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, rest, found = text[:i], text[i+1:], true
		}
		end := ""
		if found {
			end = "\n"
			if strings.HasSuffix(line, "\r") {
				line, end = line[:len(line)-1], "\r\n"
			}
		}
		if line != "" {
			w.set(class)
			w.dst = html.AppendValue(w.dst, line)
		}
		if found {
			w.set(Plain)
			w.dst = append(w.dst, end...)
		}
		text = rest
	}
}
