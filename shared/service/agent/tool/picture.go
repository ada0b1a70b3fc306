package tool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif" // for image.DecodeConfig
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Limits of pictures that a model sees. Requests have room for some tens of megabytes,
// and each request of a round has all its pictures.
const (
	// MaxPicture is the size of the largest file that is shown, in bytes.
	MaxPicture = 1 << 20
	// maxPictures is how many pictures a round shows, maxPictureBytes how many bytes
	// they have together.
	maxPictures     = 20
	maxPictureBytes = 8 << 20
	// maxPixels is the longest side of a picture.
	maxPixels = 8000
)

// Picture is a picture that a result shows.
type Picture struct {
	// Type is image/png, image/jpeg, image/gif or image/webp.
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// pictureTypes are the types of pictures that models see.
var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// isPicture reports whether a path is that of a picture that models may see.
func isPicture(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}

// IsPicture reports whether a file is a picture that read shows, by its path and its
// size in bytes.
func IsPicture(p string, size int64) bool {
	return isPicture(p) && size > 0 && size <= MaxPicture && unreadable(p) == ""
}

// gallery counts the pictures that a round has shown.
type gallery struct {
	seen         bool // the model sees pictures
	count, bytes int
}

func (g *gallery) add(shown []Picture) {
	for _, p := range shown {
		g.count++
		g.bytes += len(p.Data)
	}
}

// TakePictures says whether the model sees pictures. By default it does not.
func (s *Set) TakePictures(yes bool) { s.pictures.seen = yes }

// fileOf returns a file of an area, or with a nil area one of the site's folder that the
// job has not changed.
func (s *Set) fileOf(p string, in *area) (areaFile, bool) {
	if in != nil {
		f, ok := in.files[p]
		return f, ok
	}
	if _, changed := s.tree.changed[p]; changed {
		return areaFile{}, false
	}
	e, ok := s.tree.entries[p]
	return areaFile{e, s.tree.base}, ok
}

// picture shows a picture of a repository.
func (s *Set) picture(p string, f areaFile, in *area) (Result, error) {
	if in != nil {
		p = in.mark + p
	}
	no := func(format string, args ...any) (Result, error) {
		return Result{File: p}, refuse(p+": "+format, args...)
	}
	if reason := unreadable(f.Path); reason != "" {
		return no("%s", reason)
	}
	if !s.pictures.seen {
		return no("is a picture, which this model can't see (%s)", sizeOf(f.Entry))
	}
	has, ok := f.base.(Pictures)
	var data []byte
	if ok {
		data, ok = has.Picture(f.Path)
	}
	if in != nil && in.fetched {
		return no("pictures of fetched commits are not read (%s)", sizeOf(f.Entry))
	}
	if !ok || len(data) > MaxPicture {
		return no("the picture is too large to be shown, or there are too many (%s)", sizeOf(f.Entry))
	}
	return s.show(p, data)
}

// show shows a picture.
func (s *Set) show(p string, data []byte) (Result, error) {
	no := func(format string, args ...any) (Result, error) {
		return Result{File: p}, refuse(p+": "+format, args...)
	}
	if !s.pictures.seen {
		return no("is a picture, which this model can't see (%s)", Plural(len(data), "byte"))
	}
	kind := http.DetectContentType(data)
	width, height := pixels(kind, data)
	switch {
	case !slices.Contains(pictureTypes, kind) || width <= 0 || height <= 0:
		return no("is not a picture that can be read")
	case width > maxPixels || height > maxPixels:
		return no("has %d × %d pixels; a side may have %d", width, height, maxPixels)
	case s.pictures.count >= maxPictures:
		return no("the job has shown %s already, which is as many as it may", Plural(maxPictures, "picture"))
	case s.pictures.bytes+len(data) > maxPictureBytes:
		return no("the job has shown pictures of %d bytes already; with this one they would have more than %d", s.pictures.bytes, maxPictureBytes)
	}
	size := fmt.Sprintf("%d × %d pixels", width, height)
	return Result{
		Text: fmt.Sprintf("%s: a picture of %s, %d bytes\n", p, size, len(data)), File: p, Outcome: size,
		Pictures: []Picture{{kind, data}},
	}, nil
}

// pixels returns the size of a picture, 0 if it can't be read.
func pixels(kind string, data []byte) (width, height int) {
	if kind == "image/webp" {
		return webpPixels(data)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// webpPixels returns the size of a picture in WebP: the first chunk has it, in one of
// three forms.
func webpPixels(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	little := binary.LittleEndian
	switch b := data[20:]; string(data[12:16]) {
	case "VP8X":
		return 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16, 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
	case "VP8L":
		bits := little.Uint32(b[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(little.Uint16(b[6:]) & 0x3fff), int(little.Uint16(b[8:]) & 0x3fff)
	}
	return 0, 0
}
