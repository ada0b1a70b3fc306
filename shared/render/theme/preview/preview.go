// Package preview draws the pictures that services show beside a link to a page
// (Open Graph's og:image): a site's name and the part of it that a page is in,
// beside a bar in the site's colour. It imports no other room.
//
// The same Card makes the same bytes on every machine: glyphs are far below the
// size from which the rasteriser calculates in floating point, and colours are
// mixed in whole numbers.
package preview

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// width and height are a picture's size in pixels, the one that services ask
// for.
const (
	width  = 1200
	height = 630
)

// design is raised where pictures change: the name of a picture follows from
// its card and this, so that no service keeps an old one under a new name.
const design = 1

// Card is what a picture says.
type Card struct {
	// Name is the site's name. Letters that the font lacks (it has Latin, Greek
	// and Cyrillic) are left to Domain.
	Name   string
	Domain string
	// Section is the part of the site, or empty. One that the font can't show
	// is left out.
	Section string
	// Color is the colour of the bar as CSS hex; another text means grey.
	Color string
	// Dark draws light words on a dark ground.
	Dark bool
}

// Path is the picture's path in a bundle.
func (c Card) Path() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %q %q %t", design, c.Name, c.Domain, c.Section, c.Color, c.Dark))
	return "bindery/og/" + hex.EncodeToString(sum[:8]) + ".png"
}

// Layout, in pixels.
const (
	margin    = 96
	barWidth  = 24
	nameSize  = 84
	nameLines = 3
	nameStep  = 100
	lowSize   = 40
	lowStep   = 52
	lowLines  = 2
	shades    = 64 // of the words' colour, for their edges
)

// Pen draws cards. It is for one goroutine.
type Pen struct {
	font      *opentype.Font
	name, low font.Face
	words     *image.Alpha
}

// NewPen prepares the font.
func NewPen() (*Pen, error) {
	f, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	p := &Pen{font: f, words: image.NewAlpha(image.Rect(0, 0, width, height))}
	for _, face := range []struct {
		to   *font.Face
		size float64
	}{{&p.name, nameSize}, {&p.low, lowSize}} {
		if *face.to, err = opentype.NewFace(f, &opentype.FaceOptions{Size: face.size, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return nil, fmt.Errorf("preview: %w", err)
		}
	}
	return p, nil
}

// Draw returns the card as a PNG file.
func (p *Pen) Draw(c Card) ([]byte, error) {
	clear(p.words.Pix)
	name, low := plain(c.Name), plain(c.Section)
	if name == "" || !p.covers(name) {
		name = plain(c.Domain)
	}
	if !p.covers(low) {
		low = ""
	}
	foot := ""
	if c.Domain != name {
		foot = plain(c.Domain)
	}
	const left, space = margin + barWidth + 48, width - 2*margin - barWidth - 48
	lines := wrap(p.name, name, space, nameLines)
	y := margin + nameSize
	for _, line := range lines {
		p.write(p.name, line, left, y)
		y += nameStep
	}
	y += lowSize - nameStep + lowStep
	for _, line := range wrap(p.low, low, space, lowLines) {
		p.write(p.low, line, left, y)
		y += lowStep
	}
	p.write(p.low, first(wrap(p.low, foot, space, 1)), left, height-margin)

	ground, ink := color.RGBA{255, 255, 255, 255}, color.RGBA{17, 24, 39, 255}
	if c.Dark {
		ground, ink = color.RGBA{15, 17, 23, 255}, color.RGBA{243, 244, 246, 255}
	}
	colors := make(color.Palette, 0, shades+1)
	for i := range shades {
		colors = append(colors, mix(ground, ink, i))
	}
	colors = append(colors, parse(c.Color))
	out := image.NewPaletted(image.Rect(0, 0, width, height), colors)
	for i, a := range p.words.Pix {
		out.Pix[i] = a / (256 / shades)
	}
	for y := margin; y < height-margin; y++ {
		row := out.Pix[y*out.Stride:]
		for x := margin; x < margin+barWidth; x++ {
			row[x] = shades
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, out); err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	return b.Bytes(), nil
}

func (p *Pen) covers(text string) bool {
	for _, r := range text {
		if r == ' ' {
			continue
		}
		if i, err := p.font.GlyphIndex(nil, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}

func (p *Pen) write(face font.Face, line string, x, y int) {
	d := font.Drawer{Dst: p.words, Src: image.Opaque, Face: face, Dot: fixed.P(x, y)}
	d.DrawString(line)
}

// maxText is how many bytes of a text are looked at; no picture shows more.
const maxText = 400

// plain makes a text one line of a bounded length.
func plain(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return strings.Join(strings.Fields(s), " ")
}

// wrap breaks a text into lines of at most width pixels. What has no room is
// cut, with an ellipsis.
func wrap(face font.Face, text string, width, most int) []string {
	var lines []string
	fits := func(s string) bool { return font.MeasureString(face, s) <= fixed.I(width) }
	line := ""
	words := strings.Fields(text)
	for i, w := range words {
		with := w
		if line != "" {
			with = line + " " + w
		}
		if fits(with) {
			line = with
			continue
		}
		if line != "" {
			if len(lines)+1 == most {
				return append(lines, cut(line, fits))
			}
			lines = append(lines, line)
		}
		line = w
		if !fits(w) {
			line = cut(w, fits)
			if len(lines)+1 == most || i+1 < len(words) {
				return append(lines, line)
			}
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut shortens a text until it fits with an ellipsis after it.
func cut(s string, fits func(string) bool) string {
	r := []rune(s)
	for len(r) > 0 {
		if t := strings.TrimRight(string(r), " ") + "…"; fits(t) {
			return t
		}
		r = r[:len(r)-1]
	}
	return ""
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// mix is a colour between two: at 0 the first one, at shades-1 the second.
func mix(a, b color.RGBA, at int) color.RGBA {
	one := func(x, y uint8) uint8 { return uint8((int(x)*(shades-1-at) + int(y)*at) / (shades - 1)) }
	return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 255}
}

// parse reads #rgb and #rrggbb, also with alpha, which is ignored.
func parse(s string) color.RGBA {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	switch len(s) {
	case 3, 4:
		s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
	case 8:
		s = s[:6]
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 6 {
		return color.RGBA{107, 114, 128, 255}
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}
