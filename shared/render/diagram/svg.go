package diagram

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// ownColor is a colour of an author's.
var ownColor = regexp.MustCompile(`^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,25}|(?:rgb|hsl)a?\([\d\s.,%/]+\))$`)

func ceil(v float64) int { return int(math.Ceil(v)) }

// textOver is black or white, whichever is read better on a colour; "" where
// the colour's lightness is not known.
func textOver(color string) string {
	hex, ok := strings.CutPrefix(color, "#")
	if !ok {
		if hex, ok = namedColors[strings.ToLower(color)]; !ok {
			return ""
		}
	}
	if len(hex) == 3 || len(hex) == 4 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	if len(hex) < 6 {
		return ""
	}
	v, err := strconv.ParseUint(hex[:6], 16, 32)
	if err != nil {
		return ""
	}
	lin := func(c uint64) float64 {
		f := float64(c&0xff) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	// Relative luminance (WCAG 2.2); at 0.18 black and white are read equally.
	if 0.2126*lin(v>>16)+0.7152*lin(v>>8)+0.0722*lin(v) > 0.18 {
		return "#1b1d22"
	}
	return "#ffffff"
}

// namedColors are the names that diagrams use for fills.
var namedColors = map[string]string{
	"white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00",
	"orange": "ffa500", "purple": "800080", "pink": "ffc0cb", "gray": "808080", "grey": "808080", "lightgray": "d3d3d3",
	"lightgrey": "d3d3d3", "lightblue": "add8e6", "lightgreen": "90ee90", "lightyellow": "ffffe0", "cyan": "00ffff",
	"aqua": "00ffff", "teal": "008080", "navy": "000080", "maroon": "800000", "olive": "808000", "lime": "00ff00",
	"silver": "c0c0c0", "gold": "ffd700", "brown": "a52a2a", "magenta": "ff00ff", "fuchsia": "ff00ff", "violet": "ee82ee",
	"beige": "f5f5dc", "coral": "ff7f50", "salmon": "fa8072", "tomato": "ff6347", "skyblue": "87ceeb", "lavender": "e6e6fa",
}
