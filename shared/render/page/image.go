package page

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page/internal/imagesize"
)

func registerImages(k *kinds) {
	k[mdx.Image] = kind{
		form: formPhrase, html: (*htmlWriter).image, text: addValue,
		phrase: func(w *markdownWriter, b []byte, n *mdx.Node) []byte { return w.image(b, n.Value, n.URL) },
	}
}

// image appends a picture of Markdown.
func (w *htmlWriter) image(b []byte, n *mdx.Node) []byte {
	b = append(b, "<img"...)
	address, mode := imageMode(n.URL)
	if src := w.asset(n, n.Pos, address); src != "" {
		b = html.AppendAttr(b, "src", src)
	}
	b = html.AppendAttr(b, "alt", n.Value)
	if n.Title != "" {
		b = html.AppendAttr(b, "title", n.Title)
	}
	if mode != "" {
		b = html.AppendAttr(b, "class", mode)
	}
	if size, ok := w.sizeOf(&w.notes, address); ok {
		b = appendSize(b, size.Width, size.Height)
	}
	return append(w.appendLoading(b, false), '>')
}

func (w *markdownWriter) image(b []byte, alt, src string) []byte {
	b = append(b, "!["...)
	b = component.AppendMarkdown(b, strings.Join(strings.Fields(alt), " "))
	b = append(b, "]("...)
	b = append(b, markdownAddress(w.r.site.Resolve(w.page, src).Href)...)
	return append(b, ')')
}

// maxSizes bounds how many pictures' sizes a Renderer keeps.
const maxSizes = 20_000

// sizeCache keeps the sizes of the site's pictures by path.
type sizeCache struct {
	mu sync.Mutex
	m  map[string]imagesize.Size
}

// imageSize gives the size of a picture of the site, the zero Size for one
// whose size can't be told. It is read once for the site.
func (r *Renderer) imageSize(file string) (imagesize.Size, error) {
	r.sizes.mu.Lock()
	size, known := r.sizes.m[file]
	r.sizes.mu.Unlock()
	if known {
		return size, nil
	}
	size, err := readSize(r.fs, file)
	if err != nil {
		return size, err
	}
	r.sizes.mu.Lock()
	defer r.sizes.mu.Unlock()
	if r.sizes.m == nil || len(r.sizes.m) >= maxSizes {
		r.sizes.m = map[string]imagesize.Size{}
	}
	r.sizes.m[file] = size
	return size, nil
}

func readSize(fsys fs.FS, file string) (imagesize.Size, error) {
	f, err := fsys.Open(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return imagesize.Size{}, nil
	}
	if err != nil {
		return imagesize.Size{}, fmt.Errorf("read %s: %w", file, err)
	}
	defer f.Close()
	size, err := imagesize.Of(f)
	if err != nil && !errors.Is(err, imagesize.ErrUnknown) {
		return imagesize.Size{}, fmt.Errorf("read %s: %w", file, err)
	}
	return size, nil
}

// imageMode splits an address from the fragment by which authors say that a
// picture is for light or for dark backgrounds, and gives the class for it.
func imageMode(address string) (rest, class string) {
	i := strings.LastIndexByte(address, '#')
	if i < 0 {
		return address, ""
	}
	switch address[i+1:] {
	case "gh-dark-mode-only", "only-dark":
		return address[:i], "only-dark"
	case "gh-light-mode-only", "only-light":
		return address[:i], "only-light"
	}
	return address, ""
}

func appendSize(b []byte, width, height int) []byte {
	b = append(b, ` width="`...)
	b = strconv.AppendInt(b, int64(width), 10)
	b = append(b, `" height="`...)
	b = strconv.AppendInt(b, int64(height), 10)
	return append(b, '"')
}

// appendLoading says when a picture is loaded: the page's first one at once,
// because it may well be what the reader sees first. own tells that the author
// said it.
func (w *htmlWriter) appendLoading(b []byte, own bool) []byte {
	w.images++
	if w.images > 1 && !own {
		b = append(b, ` loading="lazy"`...)
	}
	return append(b, ` decoding="async"`...)
}

// fitImage readies the attributes of an <img> that its author wrote as an
// element. Its author's width and height win; where there is one of them, the
// other follows from the picture's proportions.
func (s *resolver) fitImage(n *mdx.Node) {
	e := s.element(n, nil)
	address, mode := imageMode(strings.TrimSpace(e.String("src")))
	if mode != "" {
		setAttr(n, "src", address)
		if s.modes == nil {
			s.modes = map[*mdx.Node]string{}
		}
		s.modes[n] = mode
	}
	if e.Has("noZoom") || e.Has("nozoom") {
		if e.Bool("noZoom") || e.Bool("nozoom") {
			setAttr(n, "data-zoom", "off")
		}
		dropAttr(n, "noZoom")
		dropAttr(n, "nozoom")
	}
	size, ok := s.sizeOf(&s.notes, address)
	if !ok {
		return
	}
	width, height := e.String("width"), e.String("height")
	w, h := pixels(width), pixels(height)
	var sizes strings.Builder
	for _, side := range [...]struct {
		name, value string
		pixels      int
	}{{"width", width, w}, {"height", height, h}} {
		// A share of the room, or a length of another unit, is a matter of
		// style: as an attribute it would hide the picture's proportions.
		if v := strings.TrimSpace(side.value); v != "" && side.pixels == 0 {
			sizes.WriteString(side.name + ":" + v + ";")
		}
	}
	switch {
	case w > 0 && h > 0:
	case w > 0:
		h = scaled(w, size.Height, size.Width)
	case h > 0:
		w = scaled(h, size.Width, size.Height)
	default:
		w, h = size.Width, size.Height
		if own := s.styleSource(n); heightAlone(e.String("className")+" "+e.String("class"), sizes.String()+own) {
			// Else the attribute would be the width, whatever the height is.
			sizes.WriteString("width:auto;")
		}
	}
	if sizes.Len() > 0 {
		setAttr(n, "style", sizes.String()+s.styleSource(n))
	}
	setAttr(n, "width", strconv.Itoa(w))
	setAttr(n, "height", strconv.Itoa(h))
}

// pixels reads a side's length in pixels, 0 for anything else.
func pixels(s string) int {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "px"), 64)
	if err != nil || !(v >= 1 && v <= 100_000) {
		return 0
	}
	return int(math.Round(v))
}

// scaled gives side × numerator / denominator, at least 1.
func scaled(side, numerator, denominator int) int {
	return max(1, int(math.Round(float64(side)*float64(numerator)/float64(denominator))))
}

// heightAlone reports whether classes or declarations set a picture's height and
// leave its width to follow from it.
func heightAlone(classes, style string) bool {
	width, height := false, false
	for class := range strings.FieldsSeq(classes) {
		class = class[strings.LastIndexByte(class, ':')+1:]
		switch {
		case strings.HasPrefix(class, "w-") || strings.HasPrefix(class, "size-"):
			width = true
		case strings.HasPrefix(class, "h-") && class != "h-auto" || strings.HasPrefix(class, "max-h-"):
			height = true
		}
	}
	for _, d := range css.Declarations(style) {
		switch d.Name {
		case "width":
			width = true
		case "height", "max-height":
			height = height || d.Value != "auto"
		}
	}
	return height && !width
}

// setAttr gives a resolved element an attribute, in the place of one that it
// has.
func setAttr(n *mdx.Node, name, value string) {
	a := mdx.Attr{Kind: mdx.AttrString, Name: name, Value: value, Pos: n.Pos}
	if old, ok := n.Attr(name); ok {
		a.Pos = old.Pos
		dropAttr(n, name)
	}
	n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], a)
}

func dropAttr(n *mdx.Node, name string) {
	n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a mdx.Attr) bool { return a.Name == name })
}
