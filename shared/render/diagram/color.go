package diagram

import (
	"math"
	"strconv"
	"strings"
)

// color is one of an author's, each part and how much of what lies below it shows,
// 0 to 1.
type color struct{ r, g, b, clear float64 }

// The pages' own grounds, near enough, in light and dark.
var whitePage, darkPage = color{1, 1, 1, 0}, color{0.07, 0.08, 0.1, 0}

// Contrasts, as WCAG 2.2 counts them: from which a text is left in the author's
// colour, and a line.
const (
	textContrast = 3.0
	lineContrast = 1.6
)

// colorOf reads a colour; ok is false where its lightness is not known.
func colorOf(s string) (c color, ok bool) {
	s = strings.ToLower(s)
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return hexColor(hex)
	}
	if hex, ok := namedColors[s]; ok {
		return hexColor(hex)
	}
	name, rest, found := strings.Cut(s, "(")
	if !found {
		return c, false
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" ,/)\t", r) })
	if len(parts) != 3 && len(parts) != 4 {
		return c, false
	}
	var v [4]float64
	v[3] = 1
	for i, p := range parts {
		whole := 1.0
		number, percent := strings.CutSuffix(p, "%")
		switch {
		case percent:
			whole = 100
		case i < 3 && strings.HasPrefix(name, "rgb"):
			whole = 255
		case i == 0:
			whole = 360
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return c, false
		}
		v[i] = max(0, min(n/whole, 1))
	}
	if strings.HasPrefix(name, "rgb") {
		return color{v[0], v[1], v[2], 1 - v[3]}, true
	}
	part := func(n float64) float64 {
		k := math.Mod(n+12*v[0], 12)
		return v[2] - float64(v[1]*min(v[2], 1-v[2]))*max(-1, min(k-3, 9-k, 1))
	}
	return color{part(0), part(8), part(4), 1 - v[3]}, true
}

func hexColor(hex string) (c color, ok bool) {
	if len(hex) == 3 || len(hex) == 4 {
		long := make([]byte, 0, 8)
		for i := range len(hex) {
			long = append(long, hex[i], hex[i])
		}
		hex = string(long)
	}
	if len(hex) == 6 {
		hex += "ff"
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 8 {
		return c, false
	}
	part := func(shift int) float64 { return float64(v>>shift&0xff) / 255 }
	return color{part(24), part(16), part(8), 1 - part(0)}, true
}

// luminance is the relative luminance of WCAG 2.2.
func (c color) luminance() float64 {
	lin := func(f float64) float64 {
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return float64(0.2126*lin(c.r)) + float64(0.7152*lin(c.g)) + float64(0.0722*lin(c.b))
}

// contrast is that of two colours without what shines through them, 1 to 21.
func contrast(a, b color) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// textOver is black or white, whichever is read better on a colour; "" where
// the colour's lightness is not known, or the page's shines through.
func textOver(fill string) string {
	c, ok := colorOf(fill)
	switch {
	case !ok || c.clear > 0.4:
		return ""
	case c.luminance() > 0.18: // at it black and white are read equally
		return "#1b1d22"
	}
	return "#ffffff"
}

// ink is the colour of a text over a fill of the author's: the author's if it can be
// read there, or else black or white; "" is the theme's. An author's colour over
// the theme's fill would be lost in one of light and dark.
func (l look) ink() string {
	if l.fill == "" || l.fill == "none" || l.fill == "transparent" {
		return ""
	}
	over := textOver(l.fill)
	if l.color == "" {
		return over
	}
	fill, known := colorOf(l.fill)
	text, readable := colorOf(l.color)
	if known && readable && (fill.clear > 0.4 || contrast(fill, text) < textContrast) {
		return over
	}
	return l.color
}

// namedColors are CSS's names of colours.
var namedColors = map[string]string{
	"aliceblue": "f0f8ff", "antiquewhite": "faebd7", "aqua": "00ffff", "aquamarine": "7fffd4", "azure": "f0ffff", "beige": "f5f5dc",
	"bisque": "ffe4c4", "black": "000000", "blanchedalmond": "ffebcd", "blue": "0000ff", "blueviolet": "8a2be2", "brown": "a52a2a",
	"burlywood": "deb887", "cadetblue": "5f9ea0", "chartreuse": "7fff00", "chocolate": "d2691e", "coral": "ff7f50",
	"cornflowerblue": "6495ed", "cornsilk": "fff8dc", "crimson": "dc143c", "cyan": "00ffff", "darkblue": "00008b", "darkcyan": "008b8b",
	"darkgoldenrod": "b8860b", "darkgray": "a9a9a9", "darkgreen": "006400", "darkgrey": "a9a9a9", "darkkhaki": "bdb76b",
	"darkmagenta": "8b008b", "darkolivegreen": "556b2f", "darkorange": "ff8c00", "darkorchid": "9932cc", "darkred": "8b0000",
	"darksalmon": "e9967a", "darkseagreen": "8fbc8f", "darkslateblue": "483d8b", "darkslategray": "2f4f4f", "darkslategrey": "2f4f4f",
	"darkturquoise": "00ced1", "darkviolet": "9400d3", "deeppink": "ff1493", "deepskyblue": "00bfff", "dimgray": "696969",
	"dimgrey": "696969", "dodgerblue": "1e90ff", "firebrick": "b22222", "floralwhite": "fffaf0", "forestgreen": "228b22",
	"fuchsia": "ff00ff", "gainsboro": "dcdcdc", "ghostwhite": "f8f8ff", "gold": "ffd700", "goldenrod": "daa520", "gray": "808080",
	"green": "008000", "greenyellow": "adff2f", "grey": "808080", "honeydew": "f0fff0", "hotpink": "ff69b4", "indianred": "cd5c5c",
	"indigo": "4b0082", "ivory": "fffff0", "khaki": "f0e68c", "lavender": "e6e6fa", "lavenderblush": "fff0f5", "lawngreen": "7cfc00",
	"lemonchiffon": "fffacd", "lightblue": "add8e6", "lightcoral": "f08080", "lightcyan": "e0ffff", "lightgoldenrodyellow": "fafad2",
	"lightgray": "d3d3d3", "lightgreen": "90ee90", "lightgrey": "d3d3d3", "lightpink": "ffb6c1", "lightsalmon": "ffa07a",
	"lightseagreen": "20b2aa", "lightskyblue": "87cefa", "lightslategray": "778899", "lightslategrey": "778899",
	"lightsteelblue": "b0c4de", "lightyellow": "ffffe0", "lime": "00ff00", "limegreen": "32cd32", "linen": "faf0e6", "magenta": "ff00ff",
	"maroon": "800000", "mediumaquamarine": "66cdaa", "mediumblue": "0000cd", "mediumorchid": "ba55d3", "mediumpurple": "9370db",
	"mediumseagreen": "3cb371", "mediumslateblue": "7b68ee", "mediumspringgreen": "00fa9a", "mediumturquoise": "48d1cc",
	"mediumvioletred": "c71585", "midnightblue": "191970", "mintcream": "f5fffa", "mistyrose": "ffe4e1", "moccasin": "ffe4b5",
	"navajowhite": "ffdead", "navy": "000080", "oldlace": "fdf5e6", "olive": "808000", "olivedrab": "6b8e23", "orange": "ffa500",
	"orangered": "ff4500", "orchid": "da70d6", "palegoldenrod": "eee8aa", "palegreen": "98fb98", "paleturquoise": "afeeee",
	"palevioletred": "db7093", "papayawhip": "ffefd5", "peachpuff": "ffdab9", "peru": "cd853f", "pink": "ffc0cb", "plum": "dda0dd",
	"powderblue": "b0e0e6", "purple": "800080", "rebeccapurple": "663399", "red": "ff0000", "rosybrown": "bc8f8f", "royalblue": "4169e1",
	"saddlebrown": "8b4513", "salmon": "fa8072", "sandybrown": "f4a460", "seagreen": "2e8b57", "seashell": "fff5ee", "sienna": "a0522d",
	"silver": "c0c0c0", "skyblue": "87ceeb", "slateblue": "6a5acd", "slategray": "708090", "slategrey": "708090", "snow": "fffafa",
	"springgreen": "00ff7f", "steelblue": "4682b4", "tan": "d2b48c", "teal": "008080", "thistle": "d8bfd8", "tomato": "ff6347",
	"turquoise": "40e0d0", "violet": "ee82ee", "wheat": "f5deb3", "white": "ffffff", "whitesmoke": "f5f5f5", "yellow": "ffff00",
	"yellowgreen": "9acd32",
}
