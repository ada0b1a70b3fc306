package theme

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// rgb is a colour in sRGB, each channel 0 to 1.
type rgb struct{ r, g, b float64 }

// parseHex reads #rgb, #rrggbb and their forms with alpha, which is ignored;
// the # may be missing.
func parseHex(s string) (rgb, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	switch len(s) {
	case 3, 4:
		s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
	case 6, 8:
		s = s[:6]
	default:
		return rgb{}, false
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return rgb{}, false
	}
	return rgb{float64(v>>16) / 255, float64(v>>8&255) / 255, float64(v&255) / 255}, true
}

// mustHex reads a colour of our own tables; a typo makes black, which the
// contrast test finds.
func mustHex(s string) rgb { c, _ := parseHex(s); return c }

func (c rgb) String() string {
	q := func(x float64) int { return int(math.Round(math.Min(1, math.Max(0, x)) * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", q(c.r), q(c.g), q(c.b))
}

// over mixes c with share a over the opaque colour bg.
func (c rgb) over(bg rgb, a float64) rgb {
	return rgb{c.r*a + bg.r*(1-a), c.g*a + bg.g*(1-a), c.b*a + bg.b*(1-a)}
}

func linear(x float64) float64 {
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func gamma(x float64) float64 {
	if x <= 0.0031308 {
		return x * 12.92
	}
	return 1.055*math.Pow(x, 1/2.4) - 0.055
}

// luminance is the relative luminance of WCAG 2.2.
func (c rgb) luminance() float64 {
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio of WCAG 2.2, 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := a.luminance(), b.luminance()
	if la < lb {
		la, lb = lb, la
	}
	return (la + 0.05) / (lb + 0.05)
}

// oklch is a colour in the OKLCH space, where lightness can be changed and the
// hue still looks the same. l is 0 to 1, h in radians.
type oklch struct{ l, c, h float64 }

func (c rgb) oklch() oklch {
	r, g, b := linear(c.r), linear(c.g), linear(c.b)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	ll := 0.2104542553*l + 0.7936177850*m - 0.0040720468*s
	aa := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	bb := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s
	return oklch{ll, math.Hypot(aa, bb), math.Atan2(bb, aa)}
}

// rgb converts back; a colour outside sRGB loses chroma until it fits.
func (o oklch) rgb() rgb {
	for c := o.c; ; c -= 0.005 {
		c = max(c, 0)
		a, b := c*math.Cos(o.h), c*math.Sin(o.h)
		l := o.l + 0.3963377774*a + 0.2158037573*b
		m := o.l - 0.1055613458*a - 0.0638541728*b
		s := o.l - 0.0894841775*a - 1.2914855480*b
		l, m, s = l*l*l, m*m*m, s*s*s
		out := rgb{
			gamma(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
			gamma(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
			gamma(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		}
		const e = 0.0005
		if c == 0 || (out.r > -e && out.r < 1+e && out.g > -e && out.g < 1+e && out.b > -e && out.b < 1+e) {
			clamp := func(x float64) float64 { return math.Min(1, math.Max(0, x)) }
			return rgb{clamp(out.r), clamp(out.g), clamp(out.b)}
		}
	}
}

// readable changes the lightness of c, as little as needed, until its contrast
// with every background is at least ratio. With dark backgrounds it goes
// lighter, with light ones darker. The result is rounded to what CSS will say,
// so the ratio holds for the written colour.
func readable(c rgb, ratio float64, on ...rgb) rgb {
	ok := func(x rgb) bool {
		x = mustHex(x.String())
		return !slices.ContainsFunc(on, func(bg rgb) bool { return contrast(x, bg) < ratio })
	}
	if ok(c) {
		return mustHex(c.String())
	}
	o := c.oklch()
	step := -0.01
	if len(on) > 0 && on[0].luminance() < 0.18 {
		step = 0.01
	}
	for o.l > 0 && o.l < 1 {
		o.l += step
		if x := o.rgb(); ok(x) {
			return mustHex(x.String())
		}
	}
	if step > 0 {
		return rgb{1, 1, 1}
	}
	return rgb{}
}

// contrastText is black or white, whichever reads better on bg.
func contrastText(bg rgb) rgb {
	dark, light := rgb{}, rgb{1, 1, 1}
	if contrast(light, bg) >= 4.5 || contrast(light, bg) >= contrast(dark, bg) {
		return light
	}
	return dark
}
