package imagesize

import (
	"bytes"
	"encoding/hex"
	"errors"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func encoded(t testing.TB, write func(io.Writer, image.Image) error, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, image.NewPaletted(image.Rect(0, 0, w, h), palette.Plan9)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exif puts an orientation, and more bytes than one read holds, before a
// JPEG's first segment.
func exif(picture []byte, orientation byte) []byte {
	data := "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(orientation) + "\x00\x00\x00"
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(data) + 2)}, data...)
	out = append(out, 0xff, 0xe2, 0xff, 0xff)
	out = append(out, make([]byte, 0xfffd)...)
	return append(out, picture[2:]...)
}

func box(name string, content ...string) string {
	c := strings.Join(content, "")
	n := len(c) + 8
	return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + name + c
}

func TestOf(t *testing.T) {
	jpg := encoded(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }, 40, 20)
	avif := box("ftyp", "avif\x00\x00\x00\x00") + box("meta", "\x00\x00\x00\x00", box("hdlr", "x"),
		box("iprp", box("ipco", box("ispe", "\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x40"), box("ispe", "\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x80"))))
	turned := box("ftyp", "avif\x00\x00\x00\x00") + box("meta", "\x00\x00\x00\x00",
		box("iprp", box("ipco", box("ispe", "\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x80"), box("irot", "\x01"))))
	for _, test := range []struct {
		name string
		data []byte
		want Size
	}{
		{"png", encoded(t, png.Encode, 31, 17), Size{Width: 31, Height: 17}},
		{"gif", encoded(t, func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }, 5, 300), Size{Width: 5, Height: 300}},
		{"jpeg", jpg, Size{Width: 40, Height: 20}},
		{"jpeg upright", exif(jpg, 1), Size{Width: 40, Height: 20}},
		{"jpeg turned", exif(jpg, 6), Size{Width: 20, Height: 40}},
		{"webp lossy", unhex(t, "52494646 24000000 57454250 56503820 18000000 300100 9d012a 9001 2c01 0000"), Size{Width: 400, Height: 300}},
		{"webp lossless", unhex(t, "52494646 24000000 57454250 5650384c 18000000 2f 8fc14a00 0000000000"), Size{Width: 400, Height: 300}},
		{"webp extended", unhex(t, "52494646 24000000 57454250 56503858 0a000000 10000000 8f0100 2b0100"), Size{Width: 400, Height: 300}},
		{"avif", []byte(avif), Size{Width: 256, Height: 128}},
		{"avif turned", []byte(turned), Size{Width: 128, Height: 256}},
		{"svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="12px"/>`), Size{Width: 24, Height: 12}},
		{"svg in inches", []byte(`<svg width="1in" height="36pt"/>`), Size{Width: 96, Height: 48}},
		{"svg behind a document type", []byte("\ufeff<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!DOCTYPE svg [ <!ENTITY a \"b\"> ]>\n<!-- x -->\n<svg height='10' width='20'>"), Size{Width: 20, Height: 10}},
		{"svg with a box and a width", []byte(`<svg width="50" viewBox="0,0,100,30">`), Size{Width: 50, Height: 15}},
		{"svg with a box and a height", []byte(`<svg height="15" width="100%" viewBox="0 0 100 30">`), Size{Width: 50, Height: 15}},
		{"svg with a box", []byte(`<svg viewBox="0 0 100 25">`), Size{Width: 1600, Height: 400}},
		{"svg without a size", []byte(`<svg>`), Size{}},
		{"svg of nothing", []byte(`<svg width="0" height="nan" viewBox="0 0 0 0">`), Size{}},
		{"no drawing", []byte(`<html><svg width="1" height="1"/></html>`), Size{}},
		{"cut short", encoded(t, png.Encode, 31, 17)[:20], Size{}},
		{"too large", unhex(t, "89504e470d0a1a0a 0000000d 49484452 7fffffff 7fffffff"), Size{}},
		{"jpeg without a frame", jpg[:20], Size{}},
		{"nothing", nil, Size{}},
		{"text", []byte("hello"), Size{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Of(iotest.OneByteReader(bytes.NewReader(test.data)))
			if got != test.want || (err == nil) != (test.want != Size{}) || err != nil && !errors.Is(err, ErrUnknown) {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the disk is gone")
	if _, err := Of(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// FuzzOf: no bytes make it panic, and what it gives is a size.
func FuzzOf(f *testing.F) {
	f.Add(encoded(f, png.Encode, 3, 4))
	f.Add(exif(encoded(f, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }, 4, 2), 6))
	f.Add([]byte(box("ftyp", "avif") + box("meta", "\x00\x00\x00\x00", box("iprp", box("ipco", box("ispe", "\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x80"))))))
	f.Add([]byte(`<svg width="1e300" height="-1" viewBox="0 0 1e-300 1">`))
	f.Add([]byte("RIFF....WEBPVP8X.............."))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Of(bytes.NewReader(data))
		if err == nil && (s.Width < 1 || s.Height < 1 || s.Width > maxSide || s.Height > maxSide) {
			t.Errorf("%+v", s)
		}
	})
}
