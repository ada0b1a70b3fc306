// Package imagesize reads the size at which a picture is drawn from its first
// bytes: PNG, JPEG, GIF, WebP, AVIF and SVG. It decodes no picture.
//
//   - imagesize.go: Of, and the formats of pixels
//   - svg.go: drawings
package imagesize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Size is a picture's width and height in CSS pixels, both at least 1.
type Size struct {
	Width, Height int
}

// ErrUnknown is the error of a format that is not known or names no size.
var ErrUnknown = errors.New("imagesize: unknown format or size")

const (
	// maxHead is how many bytes of a file are read at most: a JPEG's size stands
	// after its colour profile and thumbnail.
	maxHead = 1 << 20
	// maxSide bounds what a broken file may claim.
	maxSide = 100_000
)

// Of reads the size of a picture. The error is ErrUnknown, or that of r.
func Of(r io.Reader) (Size, error) {
	h := &head{r: r}
	b := h.upTo(32)
	if h.err != nil {
		return Size{}, h.err
	}
	var s Size
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) && len(b) >= 24:
		s = sized(binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:]))
	case (bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))) && len(b) >= 10:
		s = sized(uint32(binary.LittleEndian.Uint16(b[6:])), uint32(binary.LittleEndian.Uint16(b[8:])))
	case bytes.HasPrefix(b, []byte("RIFF")) && len(b) >= 30 && string(b[8:12]) == "WEBP":
		s = webpSize(b)
	case bytes.HasPrefix(b, []byte{0xff, 0xd8}):
		s = jpegSize(h)
	case len(b) >= 12 && string(b[4:8]) == "ftyp":
		s = avifSize(h)
	default:
		s = svgOf(h)
	}
	switch {
	case h.err != nil:
		return Size{}, h.err
	case s.Width < 1 || s.Height < 1:
		return Size{}, ErrUnknown
	}
	return s, nil
}

func sized(w, h uint32) Size {
	if w > maxSide || h > maxSide {
		return Size{}
	}
	return Size{Width: int(w), Height: int(h)}
}

// head is the beginning of a file, read as far as it is asked for.
type head struct {
	r    io.Reader
	b    []byte
	done bool
	err  error
}

// upTo returns the first n bytes, or all bytes of a shorter file.
func (h *head) upTo(n int) []byte {
	n = min(n, maxHead)
	if n > len(h.b) && !h.done {
		grown := make([]byte, max(n, min(2*len(h.b), maxHead), 4096))
		got := copy(grown, h.b)
		m, err := io.ReadAtLeast(h.r, grown[got:], n-got)
		h.b = grown[:got+m]
		if err != nil {
			h.done = true
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				h.err = err
			}
		}
	}
	return h.b[:min(n, len(h.b))]
}

// at returns n bytes at an offset, nil past the end of the file.
func (h *head) at(offset, n int) []byte {
	if offset < 0 || offset > maxHead || n < 0 || n > maxHead {
		return nil
	}
	b := h.upTo(offset + n)
	if len(b) < offset+n {
		return nil
	}
	return b[offset : offset+n]
}

func webpSize(b []byte) Size {
	switch string(b[12:16]) {
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 1 || b[25] != 0x2a {
			return Size{}
		}
		return sized(uint32(binary.LittleEndian.Uint16(b[26:]))&0x3fff, uint32(binary.LittleEndian.Uint16(b[28:]))&0x3fff)
	case "VP8L":
		if b[20] != 0x2f {
			return Size{}
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return sized(bits&0x3fff+1, bits>>14&0x3fff+1)
	case "VP8X":
		u24 := func(i int) uint32 { return uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 }
		return sized(u24(24)+1, u24(27)+1)
	}
	return Size{}
}

// jpegSize reads the segments up to the frame's header. A picture that its Exif
// data turns to its side is drawn so.
func jpegSize(h *head) Size {
	turned := false
	for at := 2; ; {
		m := h.at(at, 4)
		if m == nil || m[0] != 0xff {
			return Size{}
		}
		marker := m[1]
		switch {
		case marker == 0xff: // filling
			at++
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8:
			at += 2
			continue
		}
		length := int(binary.BigEndian.Uint16(m[2:]))
		switch {
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			f := h.at(at+5, 4)
			if f == nil {
				return Size{}
			}
			s := sized(uint32(binary.BigEndian.Uint16(f[2:])), uint32(binary.BigEndian.Uint16(f)))
			if turned {
				s.Width, s.Height = s.Height, s.Width
			}
			return s
		case marker == 0xe1:
			if data := h.at(at+4, length-2); data != nil {
				turned = turned || onItsSide(data)
			}
		case marker == 0xd9 || marker == 0xda || length < 2:
			return Size{}
		}
		at += 2 + length
	}
}

// onItsSide reports whether Exif data say that the picture is turned by a quarter.
func onItsSide(data []byte) bool {
	data, ok := bytes.CutPrefix(data, []byte("Exif\x00\x00"))
	if !ok || len(data) < 8 {
		return false
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int(order.Uint32(data[4:]))
	if at < 8 || at+2 > len(data) {
		return false
	}
	for n := int(order.Uint16(data[at:])); n > 0; n-- {
		entry := at + 2 + (n-1)*12
		if entry+12 > len(data) {
			continue
		}
		const orientation = 0x0112
		if order.Uint16(data[entry:]) == orientation {
			o := order.Uint16(data[entry+8:])
			return o >= 5 && o <= 8
		}
	}
	return false
}

// avifSize reads the properties of an ISO base media file: the largest image
// extent is that of the picture, the others are of its tiles and its
// transparency.
func avifSize(h *head) Size {
	var best Size
	turned := false
	var walk func(from, to, depth int)
	walk = func(from, to, depth int) {
		for boxes := 0; from+8 <= to && boxes < 1000; boxes++ {
			b := h.at(from, 8)
			if b == nil {
				return
			}
			size, name, header := int(binary.BigEndian.Uint32(b)), string(b[4:]), 8
			switch size {
			case 0:
				size = to - from
			case 1:
				return // a box over 4 GiB
			}
			end := from + size
			if size < header || end > to {
				return
			}
			switch name {
			case "meta":
				header = 12
				fallthrough
			case "iprp", "ipco":
				if depth < 4 {
					walk(from+header, end, depth+1)
				}
			case "ispe":
				if e := h.at(from+12, 8); e != nil {
					s := sized(binary.BigEndian.Uint32(e), binary.BigEndian.Uint32(e[4:]))
					if s.Width*s.Height > best.Width*best.Height {
						best = s
					}
				}
			case "irot":
				if e := h.at(from+8, 1); e != nil {
					turned = e[0]&1 == 1
				}
			case "mdat":
				return
			}
			from = end
		}
	}
	walk(0, maxHead, 0)
	if turned {
		best.Width, best.Height = best.Height, best.Width
	}
	return best
}
