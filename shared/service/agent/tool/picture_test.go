package tool

import (
	"bytes"
	"encoding/json"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// album is a repository with pictures.
type album struct {
	memory
	pictures map[string][]byte
}

func (a album) Picture(p string) ([]byte, bool) {
	b, ok := a.pictures[p]
	return b, ok
}

// drawn is a picture of a size, as PNG.
func drawn(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read shows pictures to a model that sees them, and says why it shows one not.
func TestPictures(t *testing.T) {
	var jpg, moving bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 30, 20)), nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&moving, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		t.Fatal(err)
	}
	webp := func(chunk string, head ...byte) []byte {
		return append([]byte("RIFF\x20\x00\x00\x00WEBP"+chunk+"\x10\x00\x00\x00"), append(head, make([]byte, 16)...)...)
	}
	small := drawn(t, 120, 80)
	base := album{memory{"docs/docs.json": "{}"}, map[string][]byte{
		"docs/a.png": small, "docs/b.jpg": jpg.Bytes(), "docs/c.gif": moving.Bytes(), "docs/x.webp": webp("VP8X", 0, 0, 0, 0, 99, 0, 0, 49, 0, 0), "docs/l.webp": webp("VP8L", 0x2f, 9, 0xc0, 0x01, 0),
		"docs/y.webp": webp("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 5, 0, 4, 0), "docs/wrong.png": []byte("<svg onload=alert(1)>"), "docs/cut.png": small[:20], "docs/wide.png": drawn(t, 8001, 1), "src/d.png": small, ".x/e.png": small,
	}}
	for p := range base.pictures {
		base.memory[p] = "binary"
	}
	base.memory["docs/none.png"] = "binary"
	for _, c := range []struct {
		path, want, kind string
		blind            bool
	}{
		{path: "a.png", want: "a.png: a picture of 120 × 80 pixels, ", kind: "image/png"},
		{path: "b.jpg", want: "of 30 × 20 pixels", kind: "image/jpeg"},
		{path: "c.gif", want: "of 3 × 2 pixels", kind: "image/gif"},
		{path: "x.webp", want: "of 100 × 50 pixels", kind: "image/webp"},
		{path: "l.webp", want: "of 10 × 8 pixels", kind: "image/webp"},
		{path: "y.webp", want: "of 5 × 4 pixels", kind: "image/webp"},
		{path: "repo:src/d.png", want: "repo:src/d.png: a picture of 120 × 80", kind: "image/png"},
		{path: "a.png", blind: true, want: "is a picture, which this model can't see"},
		{path: "wrong.png", want: "is not a picture that can be read"},
		{path: "cut.png", want: "is not a picture that can be read"},
		{path: "wide.png", want: "has 8001 × 1 pixels; a side may have 8000"},
		{path: "none.png", want: "too large to be shown"},
		{path: "repo:.x/e.png", want: "begins with a dot"},
	} {
		s := outsideSet(t, base)
		s.TakePictures(!c.blind)
		r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "`+c.path+`"}`))
		if r.IsError != (c.kind == "") || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: %s", c.path, r.Text)
		}
		if c.kind != "" && (len(r.Pictures) != 1 || r.Pictures[0].Type != c.kind) || c.kind == "" && len(r.Pictures) > 0 {
			t.Errorf("%s: %d pictures", c.path, len(r.Pictures))
		}
	}
	// A round shows so many, also after it was loaded again.
	s := outsideSet(t, base)
	s.TakePictures(true)
	for i := range maxPictures + 1 {
		r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "a.png"}`))
		if i < maxPictures/2 { // another process goes on
			again := outsideSet(t, base)
			again.TakePictures(true)
			for range i + 1 {
				again.Recall("read", json.RawMessage(`{"path": "a.png"}`), r)
			}
			s = again
		}
		if refused := strings.Contains(r.Text, "has shown 20 pictures already"); refused != (i == maxPictures) || refused != r.IsError {
			t.Errorf("picture %d: %s", i, r.Text)
		}
	}
	s = outsideSet(t, base)
	s.TakePictures(true)
	s.Recall("read", nil, Result{Pictures: []Picture{{Data: make([]byte, maxPictureBytes)}}})
	if r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "a.png"}`)); !r.IsError || !strings.Contains(r.Text, "they would have more than") {
		t.Error(r.Text)
	}
}
