package page

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page/internal/imagesize"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// fit readies components and elements for what browsers want of them: the size
// of pictures, the names of frames, how a video is played.
func (s *resolver) fit(n *mdx.Node, inSVG bool) {
	if n.Kind == mdx.Element {
		if c := s.component(n); c != nil {
			if c.Ready != nil {
				c.Ready(s.element(n, c))
			}
		} else if isTag(n.Name) {
			switch name := strings.ToLower(n.Name); {
			case name == "svg" || name == "math":
				inSVG = true
			case inSVG:
			case name == "img":
				s.fitImage(n)
			case isEmbed(name) && !(s.r.AirGapped && s.outside(n)):
				s.fitEmbed(n, name)
			}
		}
		for _, list := range s.slots[n] {
			for _, c := range list {
				s.fit(c, inSVG)
			}
		}
	}
	for _, c := range n.Children {
		s.fit(c, inSVG)
	}
}

// isEmbed reports whether an element of HTML shows what is fetched from an
// address, other than a picture.
func isEmbed(name string) bool {
	switch name {
	case "iframe", "video", "audio", "embed", "object":
		return true
	}
	return false
}

// maxSizes bounds how many pictures' sizes a Renderer keeps.
const maxSizes = 20_000

// sizeCache keeps the sizes of the site's pictures by path.
type sizeCache struct {
	mu sync.Mutex
	m  map[string]imagesize.Size
}

// imageSize returns the size of a picture of the site, the zero Size for one
// whose size can't be told. It is read once for the site.
func (r *Renderer) imageSize(file string) (imagesize.Size, error) {
	r.sizes.mu.Lock()
	size, known := r.sizes.m[file]
	r.sizes.mu.Unlock()
	if known {
		return size, nil
	}
	size, err := readSize(r.FS, file)
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

// sizeOf returns the size of the picture at an address, if it is the site's. A
// fault in reading it goes to the notes.
func (t *tree) sizeOf(to *notes, address string) (imagesize.Size, bool) {
	target := t.target(address)
	if target.Kind != site.ToFile {
		return imagesize.Size{}, false
	}
	file := t.r.Site.SourceOf(target.Path)
	put(&t.asked.files, file, struct{}{})
	size, err := t.r.imageSize(file)
	if err != nil {
		to.fail(err)
	}
	return size, err == nil && size.Width > 0
}

// fitImage readies the attributes of an <img> that its author wrote as an
// element. Its author's width and height win; where there is one of them, the
// other follows from the picture's proportions.
func (s *resolver) fitImage(n *mdx.Node) {
	e := s.element(n, nil)
	address, mode := imageMode(strings.TrimSpace(e.String("src")))
	if mode != "" {
		setAttr(n, "src", address)
		put(&s.modes, n, mode)
	}
	if e.Has("noZoom") || e.Has("nozoom") {
		if e.Bool("noZoom") || e.Bool("nozoom") {
			setAttr(n, "data-bindery-zoom", "off")
		}
		dropAttr(n, "noZoom", "nozoom")
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

// imageMode splits an address from the fragment by which authors say that a
// picture is for light or for dark backgrounds, and returns the class for it.
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

// pixels reads a side's length in pixels, 0 for anything else.
func pixels(s string) int {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "px"), 64)
	if err != nil || !(v >= 1 && v <= 100_000) {
		return 0
	}
	return int(math.Round(v))
}

// scaled returns side × numerator / denominator, at least 1.
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

// styleSource returns an element's style attribute as CSS, also when it was
// written as an object.
func (t *tree) styleSource(n *mdx.Node) string {
	a, ok := n.Attr("style")
	if !ok {
		return ""
	}
	v, _ := component.AttrValue(a)
	if text, ok := v.(string); ok {
		return text
	}
	return t.styleObject(v)
}

// styleObject writes style={{…}} as CSS.
func (t *tree) styleObject(v any) string {
	members, ok := v.(mdx.Object)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, m := range members {
		text, ok := display(m.Value)
		if !ok || text == "" {
			continue
		}
		if f, isNumber := m.Value.(float64); isNumber && f != 0 && !unitless(m.Key) {
			text += "px"
		}
		name := m.Key
		if !strings.HasPrefix(name, "--") {
			name = kebab(name)
			if strings.HasPrefix(name, "ms-") {
				name = "-" + name
			}
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(text)
	}
	return b.String()
}

// unitless reports whether the numbers of a CSS property are not lengths.
func unitless(name string) bool {
	switch name {
	case "animationIterationCount", "aspectRatio", "columnCount", "columns", "fillOpacity", "flex", "flexGrow", "flexShrink",
		"fontWeight", "gridArea", "gridColumn", "gridColumnEnd", "gridColumnStart", "gridRow", "gridRowEnd", "gridRowStart",
		"lineClamp", "lineHeight", "opacity", "order", "orphans", "scale", "strokeOpacity", "strokeWidth", "tabSize", "widows",
		"zIndex", "zoom":
		return true
	}
	return strings.HasPrefix(name, "--")
}

// setAttr sets an attribute of a resolved element, replacing the one of that name.
func setAttr(n *mdx.Node, name, value string) {
	a := mdx.Attr{Kind: mdx.AttrString, Name: name, Value: value, Pos: n.Pos}
	if old, ok := n.Attr(name); ok {
		a.Pos = old.Pos
		dropAttr(n, name)
	}
	n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], a)
}

func dropAttr(n *mdx.Node, names ...string) {
	n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a mdx.Attr) bool { return slices.Contains(names, a.Name) })
}

// fitEmbed gives a video, a frame or another page within the page what its
// author left out: a name, a way to play it, and loading when it is needed.
func (s *resolver) fitEmbed(n *mdx.Node, name string) {
	e := s.element(n, nil)
	has := func(names ...string) bool {
		return slices.ContainsFunc(n.Attrs, func(a mdx.Attr) bool { return slices.Contains(names, strings.ToLower(a.Name)) })
	}
	addSwitch := func(name string) {
		n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], mdx.Attr{Kind: mdx.AttrBool, Name: name, Pos: n.Pos})
	}
	switch name {
	case "iframe":
		// Standard long since, or the style sheet's.
		dropAttr(n, "webkitallowfullscreen", "mozallowfullscreen", "webkitAllowFullScreen", "mozAllowFullScreen", "frameborder", "frameBorder")
		if !has("loading") {
			setAttr(n, "loading", "lazy")
		}
		fallthrough
	case "embed", "object":
		if strings.TrimSpace(e.String("title")) == "" && !has("aria-label", "aria-hidden") {
			setAttr(n, "title", s.embedTitle(embedAddress(e)))
		}
	case "video", "audio":
		plays := has("autoplay") && (e.Bool("autoPlay") || e.Bool("autoplay"))
		if !has("controls") && !plays {
			addSwitch("controls")
		}
		if !has("preload") && !plays {
			setAttr(n, "preload", "metadata")
		}
		if name == "video" && plays && !has("playsinline") {
			addSwitch("playsinline")
		}
	}
}

// embedAddress is what an element embeds: its own address, or that of the
// first source in it.
func embedAddress(e *component.Element) string {
	if address := cmp.Or(strings.TrimSpace(e.String("src")), strings.TrimSpace(e.String("data"))); address != "" {
		return address
	}
	for _, c := range e.Flat() {
		if c.Kind == mdx.Element && c.Name == "source" {
			return strings.TrimSpace(component.NewElement(c, nil, nil).String("src"))
		}
	}
	return ""
}

// embedTitle names what its author gave no title, for readers who can't see
// it: by its host.
func (t *tree) embedTitle(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return t.say(words.Embedded)
}

// outside reports whether an element embeds something of another host.
func (t *tree) outside(n *mdx.Node) bool {
	return t.target(embedAddress(t.element(n, nil))).Kind == site.External
}
