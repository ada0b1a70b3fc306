package imagesize

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
)

// svgHead is how far the opening tag of a drawing is looked for: editors put
// comments and a document type before it.
const svgHead = 64 << 10

// fluidWidth is the width that a drawing without one is given: more than there
// is room for, so that a page shrinks it to what there is.
const fluidWidth = 1600

// svgOf reads the opening tag of a drawing.
func svgOf(h *head) Size {
	b := bytes.TrimLeft(bytes.TrimPrefix(h.upTo(512), []byte("\ufeff")), " \t\r\n")
	if len(b) == 0 || b[0] != '<' {
		return Size{}
	}
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(h.upTo(svgHead), []byte("\ufeff"))))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		t, err := d.RawToken()
		if err != nil {
			return Size{}
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local != "svg" {
			return Size{}
		}
		return svgSize(e)
	}
}

func svgSize(e xml.StartElement) Size {
	var width, height, boxWidth, boxHeight float64
	for _, a := range e.Attr {
		if a.Name.Space != "" {
			continue
		}
		switch a.Name.Local {
		case "width":
			width = length(a.Value)
		case "height":
			height = length(a.Value)
		case "viewBox":
			f := strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' || r == '\r' })
			if len(f) == 4 {
				boxWidth, _ = strconv.ParseFloat(f[2], 64)
				boxHeight, _ = strconv.ParseFloat(f[3], 64)
			}
		}
	}
	box := boxWidth > 0 && boxHeight > 0
	switch {
	case width > 0 && height > 0:
	case !box:
		return Size{}
	case width > 0:
		height = width * boxHeight / boxWidth
	case height > 0:
		width = height * boxWidth / boxHeight
	default:
		width, height = fluidWidth, fluidWidth*boxHeight/boxWidth
	}
	w, h := math.Round(width), math.Round(height)
	if !(w >= 1 && h >= 1 && w <= maxSide && h <= maxSide) {
		return Size{}
	}
	return Size{Width: int(w), Height: int(h)}
}

// length reads a length in CSS pixels; 0 for one that depends on its
// surroundings.
func length(s string) float64 {
	s = strings.TrimSpace(s)
	unit := strings.TrimLeft(s, "+0123456789.eE-")
	factor := 1.0
	switch strings.ToLower(unit) {
	case "", "px":
	case "pt":
		factor = 96.0 / 72
	case "pc":
		factor = 16
	case "in":
		factor = 96
	case "cm":
		factor = 96 / 2.54
	case "mm":
		factor = 96 / 25.4
	default:
		return 0
	}
	v, err := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	if err != nil || !(v > 0) {
		return 0
	}
	return v * factor
}
