package css

import "strings"

// maxColor is the longest colour, in bytes.
const maxColor = 64

// Color returns s as a colour that can stand in a rule: a name, a hexadecimal
// colour (also where s lacks its #), a function such as rgb(), or a custom
// property, which may be written as its name alone. It returns "" for all else,
// which might carry more declarations.
func Color(s string) string {
	if s = strings.TrimSpace(s); len(s) > maxColor {
		return ""
	}
	digits, letters := strings.TrimPrefix(s, "#"), strings.Trim(s, asciiLetters)
	switch len(digits) {
	case 3, 4, 6, 8:
		if strings.Trim(digits, "0123456789abcdefABCDEF") == "" {
			return "#" + digits
		}
	}
	switch name, args, function := strings.Cut(s, "("); {
	case letters == "":
		return s
	case strings.HasPrefix(s, "--") && strings.Trim(s, wordLetters) == "":
		return "var(" + s + ")"
	case function && isColorFunction(strings.ToLower(name)):
		if args, closed := strings.CutSuffix(args, ")"); closed && strings.Trim(args, wordLetters+" ,.%/") == "" {
			return s
		}
	}
	return ""
}

const (
	asciiLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordLetters  = asciiLetters + "0123456789-"
)

// isColorFunction reports whether a function of CSS returns a colour.
func isColorFunction(name string) bool {
	switch name {
	case "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "var":
		return true
	}
	return false
}
